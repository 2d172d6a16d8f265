-- Reads the postings of the rarest terms within a budget. Where those do not fill the pool, once more with all terms and a larger budget.
CREATE FUNCTION pgfuse.lexical_bm25(
    _profile text, _scope pgfuse.scope, _filters text, _allowed bigint[], _settings jsonb, _most int, _also bigint[],
    _found pgfuse.candidates, _languages regconfig[], _queries tsquery[], _terms bigint[], _docs float8, _words float8
) RETURNS pgfuse.candidates
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path FROM CURRENT
AS $$
DECLARE
    budget CONSTANT int := 40000;
    any_word CONSTANT boolean := _settings ->> 'lexical_match' = 'any';
    lazily CONSTANT boolean := any_word AND _filters <> '' AND _allowed IS NULL;
    k1 CONSTANT float8 := (_settings ->> 'bm25_k1')::float8;
    b CONSTANT float8 := (_settings ->> 'bm25_b')::float8;
    flat CONSTANT float8 := k1 * (1 - b);
    per_word CONSTANT float8 := k1 * b / greatest(_words / _docs, 1e-9::float8);
    found pgfuse.candidates := _found;
    listed bigint[] := _allowed;
    reach int := 2 * budget;
    affordable bigint[];
    idfs float8[];
    left_out bigint;
    matches_read boolean := true;
BEGIN
    IF NOT any_word THEN
        listed := pgfuse.lexical_matches(_profile, _scope, _filters, _languages, _queries, budget);
        matches_read := cardinality(listed) < budget;
    END IF;
    SELECT t.terms, t.idfs, t.left_out INTO affordable, idfs, left_out FROM pgfuse.affordable_terms(_profile, _terms, _docs, budget) t;
    LOOP
        WITH scored AS MATERIALIZED (
            SELECT d.memory_id, d.score, d.entries FROM pgfuse.bm25(_profile, affordable, idfs, flat, per_word, reach) d
        ), best AS MATERIALIZED (
            SELECT s.memory_id, s.score FROM scored s
            WHERE listed IS NULL OR s.memory_id IN (SELECT unnest(listed))
            ORDER BY round(s.score * 1e9::float8) DESC, s.memory_id
            LIMIT CASE WHEN lazily THEN NULL ELSE _most END
        )
        SELECT (SELECT array_agg(t.memory_id) FROM best t), (SELECT array_agg(t.score) FROM best t),
               (SELECT array_agg(a.id) FROM unnest(_also) AS a (id)),
               (SELECT array_agg(CASE WHEN any_word OR a.id = ANY (listed) THEN coalesce(s.score, 0) ELSE 0 END)
                FROM unnest(_also) AS a (id) LEFT JOIN scored s ON s.memory_id = a.id),
               matches_read AND (SELECT coalesce(sum(s.entries), 0) < reach FROM scored s)
        INTO found.ids, found.scores, found.also_ids, found.also_scores, found.complete;
        IF lazily THEN
            EXECUTE 'SELECT array_agg(x.id), array_agg(x.score) FROM (SELECT u.id, u.score FROM unnest($3, $4) AS u (id, score)
                WHERE EXISTS (SELECT FROM pgfuse.memories m WHERE m.profile_id = $1 AND m.id = u.id' || _filters || ' OFFSET 0) LIMIT $5) x'
                INTO found.ids, found.scores USING _profile, _scope, found.ids, found.scores, _most;
        END IF;
        EXIT WHEN left_out = 0 OR cardinality(found.ids) >= _most;
        reach := 10 * budget;
        SELECT t.terms, t.idfs, t.left_out INTO affordable, idfs, left_out FROM pgfuse.affordable_terms(_profile, _terms, _docs, NULL) t;
    END LOOP;
    found.detail := jsonb_build_object('terms', cardinality(_terms), 'terms_left_out', left_out);
    RETURN found;
END
$$;
