"""What a benchmark asks the database: single routes, and the same answers computed without any index."""

DENSE = """
SELECT id, score FROM pgfuse.search_dense(
    profile_id => %(profile)s, embedding => %(vector)s::vector, route => %(route)s, max_rows => 64)
"""

LEXICAL = "SELECT id, score FROM pgfuse.search_lexical(profile_id => %(profile)s, query => %(query)s, max_rows => 64)"

# the addition keeps the planner from an index that gives about the right order
EXACT_DENSE = """
SELECT v.memory_id, 1 - (v.embedding <=> %(vector)s::vector) AS score FROM pgfuse.vectors v
WHERE v.profile_id = %(profile)s AND v.space_id = %(space)s AND v.route = %(route)s
ORDER BY (v.embedding <=> %(vector)s::vector) + 0, v.memory_id LIMIT 64
"""

# every memory of the profile is read and scored: BM25 as the README has it
EXACT_BM25 = """
WITH documents AS MATERIALIZED (
    SELECT m.id, m.language, m.fts, pgfuse.word_count(m.fts)::float8 AS words
    FROM pgfuse.memories m WHERE m.profile_id = %(profile)s
), profile AS (
    SELECT count(*)::float8 AS docs, greatest(avg(d.words), 1e-9) AS words FROM documents d
), found AS MATERIALIZED (
    SELECT d.id, d.language, l.lexeme, d.words,
           least(1023, cardinality(l.positions) + 2 * cardinality(array_positions(l.weights, 'A')))::float8 AS tf
    FROM documents d CROSS JOIN LATERAL unnest(d.fts) l
    WHERE l.lexeme IN (SELECT q.lexeme FROM unnest(to_tsvector(d.language, left(%(query)s, 100000))) q)
), terms AS (
    SELECT f.language, f.lexeme, ln(1 + (p.docs - count(*) + 0.5) / (count(*) + 0.5)) AS idf
    FROM found f CROSS JOIN profile p GROUP BY f.language, f.lexeme, p.docs
)
SELECT f.id, sum(t.idf * f.tf / (f.tf + s.k1 * (1 - s.b + s.b * f.words / p.words))) AS score
FROM (SELECT %(k1)s::float8 AS k1, %(b)s::float8 AS b) s CROSS JOIN profile p
CROSS JOIN found f JOIN terms t USING (language, lexeme)
GROUP BY f.id ORDER BY score DESC, f.id LIMIT 10
"""
