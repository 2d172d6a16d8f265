-- Reads the postings of the rarest terms within a budget, and those of the others only where these do not fill the pool. What was not read
-- is made up for from the texts of the best candidates, so a score always counts all the words. A memory's text costs about what 40 postings
-- do: where fewer memories are allowed than that, only their texts are read.
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
    reach CONSTANT bigint := 4 * greatest(budget, 40000);
    k1 CONSTANT float8 := (_settings ->> 'bm25_k1')::float8;
    b CONSTANT float8 := (_settings ->> 'bm25_b')::float8;
    flat CONSTANT float8 := k1 * (1 - b);
    per_word CONSTANT float8 := k1 * b / greatest(_asked.words / _asked.docs, 1e-9::float8);
    found pgfuse.candidates := _found;
    listed bigint[] := _allowed;
    afford record;
    more record;
    read int;
    cut_short boolean := false;
    others bigint[];
BEGIN
    IF NOT any_word THEN
        listed := pgfuse.lexical_matches(_profile, _scope, _filters, _asked.languages, _asked.queries, most_matches);
        cut_short := cardinality(listed) >= most_matches;
    END IF;
    SELECT * INTO afford FROM pgfuse.affordable_terms(_profile, _asked.terms, _asked.docs, budget);
    IF 40 * cardinality(listed) < afford.entries THEN
        read := 0;
        found.ids := listed;
    ELSE
        read := afford.affordable;
        SELECT p.ids, p.scores INTO found.ids, found.scores FROM pgfuse.read_postings(_profile, _scope, _filters, listed,
            afford.terms[:read], afford.idfs[:read], flat, per_word, reach, CASE WHEN read < cardinality(afford.terms) THEN 4 * _most ELSE _most END) p;
        cut_short := cut_short OR afford.reading > reach;
        IF read < cardinality(afford.terms) AND coalesce(cardinality(found.ids), 0) < _most THEN
            SELECT p.ids, array_fill(0::float8, ARRAY[cardinality(p.ids)]) AS scores INTO more FROM pgfuse.read_postings(_profile, _scope, _filters, listed,
                afford.terms[read + 1:], afford.idfs[read + 1:], flat, per_word, reach, 4 * _most) p;
            found.ids := found.ids || more.ids;
            found.scores := found.scores || more.scores;
            cut_short := cut_short OR afford.entries - afford.reading > reach;
        END IF;
    END IF;
    IF read < cardinality(afford.terms) OR cut_short THEN
        SELECT array_agg(t.id), array_agg(t.score) INTO found.ids, found.scores
        FROM (SELECT d.memory_id AS id, d.score + coalesce(u.score, 0) AS score
              FROM pgfuse.bm25_documents(_profile, found.ids, _asked, afford.terms[read + 1:], afford.idfs[read + 1:], flat, per_word) d
              LEFT JOIN (SELECT f.id, max(f.score) AS score FROM unnest(found.ids, found.scores) AS f (id, score) GROUP BY f.id) u ON u.id = d.memory_id
              WHERE d.score + coalesce(u.score, 0) > 0
              ORDER BY round((d.score + coalesce(u.score, 0)) * 1e9::float8) DESC, d.memory_id LIMIT _most) t;
    END IF;
    others := ARRAY(SELECT a.id FROM unnest(_also) AS a (id) EXCEPT SELECT i.id FROM unnest(found.ids) AS i (id));
    IF others <> '{}' THEN
        SELECT array_agg(a.id), array_agg(CASE WHEN any_word OR a.id IN (SELECT unnest(listed)) THEN coalesce(d.score, 0) ELSE 0 END)
        INTO found.also_ids, found.also_scores
        FROM unnest(others) AS a (id)
        LEFT JOIN pgfuse.bm25_documents(_profile, others, _asked, afford.terms, afford.idfs, flat, per_word) d ON d.memory_id = a.id;
    END IF;
    found.complete := coalesce(cardinality(found.ids), 0) >= _most OR NOT cut_short;
    found.detail := jsonb_build_object('terms', cardinality(_asked.terms), 'terms_left_out', cardinality(afford.terms) - CASE WHEN read = 0 THEN cardinality(afford.terms) ELSE read END);
    RETURN found;
END
$$;
