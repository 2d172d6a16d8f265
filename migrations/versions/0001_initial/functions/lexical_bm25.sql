-- Reads the postings of the rarest terms within a budget, and those of the others only where these do not fill the pool. What was not read
-- is made up for from the texts of the best candidates, so a score always counts all the words. A memory's text costs about what 40 postings
-- do (400 where the query is long): where fewer memories are allowed than that, only their texts are read. A term most of whose entries are
-- taken back is read to the end: the last entries tell which of the first still hold.
CREATE FUNCTION pgfuse.lexical_bm25(
    _profile text, _scope pgfuse.scope, _filters text, _allowed bigint[], _settings jsonb, _most int, _also bigint[],
    _found pgfuse.candidates, _asked pgfuse.lexical_query
) RETURNS pgfuse.candidates
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path FROM CURRENT
AS $$
DECLARE
    any_word CONSTANT boolean := _settings ->> 'lexical_match' = 'any';
    most_matches CONSTANT int := 40000;
    budget CONSTANT bigint := greatest(CASE WHEN _asked.docs <= 20000 THEN 40000 ELSE 10000 END, 40::bigint * _most);
    reach bigint := 4 * greatest(budget, 40000);
    k1 CONSTANT float8 := (_settings ->> 'bm25_k1')::float8;
    b CONSTANT float8 := (_settings ->> 'bm25_b')::float8;
    flat CONSTANT float8 := k1 * (1 - b);
    per_word CONSTANT float8 := k1 * b / greatest(_asked.words / _asked.docs, 1e-9::float8);
    found pgfuse.candidates := _found;
    listed bigint[] := _allowed;
    afford record;
    best record;
    text_cost int;
    read int;
    all_read boolean;
    cut_short boolean := false;
BEGIN
    IF NOT any_word THEN
        listed := pgfuse.lexical_matches(_profile, _scope, _filters, _asked.languages, _asked.queries, most_matches);
        cut_short := cardinality(listed) >= most_matches;
    END IF;
    afford := pgfuse.affordable_terms(_profile, _asked.terms, _asked.docs, budget);
    IF afford.wasteful THEN
        reach := NULL;
    END IF;
    text_cost := CASE WHEN cardinality(afford.terms) > 64 THEN 400 ELSE 40 END;
    IF text_cost * cardinality(listed)::bigint < afford.entries THEN
        read := 0;
        found.ids := listed;
    ELSE
        read := afford.affordable;
        cut_short := cut_short OR coalesce(afford.reading > reach, false);
    END IF;
    all_read := read = cardinality(afford.terms) AND NOT cut_short;
    IF read > 0 THEN
        best := pgfuse.read_postings(_profile, _scope, _filters, listed, afford.terms[:read], afford.idfs[:read], flat, per_word, reach,
            CASE WHEN all_read THEN _most ELSE 2 * _most END, CASE WHEN all_read THEN _also END);
        found.ids := best.ids;
        found.scores := best.scores;
        found.also_ids := best.also_ids;
        found.also_scores := best.also_scores;
        IF read < cardinality(afford.terms) AND coalesce(cardinality(found.ids), 0) < _most THEN
            best := pgfuse.read_postings(_profile, _scope, _filters, listed, afford.terms[read + 1:], afford.idfs[read + 1:], flat, per_word, reach, 2 * _most);
            found.ids := found.ids || best.ids;
            found.scores := found.scores || array_fill(0::float8, ARRAY[coalesce(cardinality(best.ids), 0)]);
            cut_short := cut_short OR coalesce(afford.entries - afford.reading > reach, false);
        END IF;
    END IF;
    IF NOT all_read OR (found.also_ids IS NULL AND _also <> '{}') THEN
        found := pgfuse.bm25_completed(_profile, CASE WHEN NOT any_word THEN listed END, _most, _also, found, _asked, afford.terms, afford.idfs, read, flat, per_word);
    END IF;
    found.complete := coalesce(cardinality(found.ids), 0) >= _most OR NOT cut_short;
    found.detail := jsonb_build_object('terms', cardinality(_asked.terms), 'terms_left_out', CASE WHEN read = 0 THEN 0 ELSE cardinality(afford.terms) - read END);
    RETURN found;
END
$$;
