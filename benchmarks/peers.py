"""Other ways to the same answer, each with the same documents and vectors in a database of peers' own.

Every peer is a function from a query to the ids of documents; each embeds the query itself, and fetches no more rows
a route than it needs for ten.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
from sqlalchemy import make_url

from benchmarks.embedding import Vectors
from benchmarks.progress import say
from pgfuse import embedders
from pgfuse.vectors import to_binary, to_text

TOP_K = 10
HNSW = {"hnsw_m": 16, "hnsw_ef_construction": 64, "hnsw_ef_search": 40, "hnsw_dist_method": "vector_cosine_ops"}
SCHEMA = """
CREATE EXTENSION IF NOT EXISTS vector;
CREATE TABLE documents (
    id bigint PRIMARY KEY, name text NOT NULL, content text NOT NULL, embedding vector(256) NOT NULL,
    fts tsvector GENERATED ALWAYS AS (to_tsvector('english', content)) STORED)
"""
INDEXES = (
    "CREATE INDEX ON documents USING gin (fts)",
    "CREATE INDEX ON documents USING hnsw (embedding vector_cosine_ops)",
)
COPY = "COPY documents (id, name, content, embedding) FROM STDIN (FORMAT BINARY)"
# as Supabase's guide to hybrid search has it
HYBRID_SEARCH = """
CREATE FUNCTION hybrid_search(
    query_text text, query_embedding vector(256), match_count int,
    full_text_weight float = 1, semantic_weight float = 1, rrf_k int = 50
) RETURNS SETOF documents LANGUAGE sql AS $$
WITH full_text AS (
    SELECT id, row_number() OVER (ORDER BY ts_rank_cd(fts, websearch_to_tsquery(query_text)) DESC) AS rank_ix
    FROM documents WHERE fts @@ websearch_to_tsquery(query_text)
    ORDER BY rank_ix LIMIT least(match_count, 30) * 2
), semantic AS (
    SELECT id, row_number() OVER (ORDER BY embedding <=> query_embedding) AS rank_ix
    FROM documents ORDER BY rank_ix LIMIT least(match_count, 30) * 2
)
SELECT documents.* FROM full_text FULL OUTER JOIN semantic ON full_text.id = semantic.id
JOIN documents ON coalesce(full_text.id, semantic.id) = documents.id
ORDER BY coalesce(1.0 / (rrf_k + full_text.rank_ix), 0.0) * full_text_weight
    + coalesce(1.0 / (rrf_k + semantic.rank_ix), 0.0) * semantic_weight DESC
LIMIT least(match_count, 30)
$$
"""
HYBRID_CALL = "SELECT name, content FROM hybrid_search(%s, %s::vector, 10)"
WORDS = """
SELECT name, content FROM documents, plainto_tsquery('english', %s) query
WHERE fts @@ query ORDER BY ts_rank_cd(fts, query) DESC LIMIT 20
"""
NEAREST = "SELECT name, content FROM documents ORDER BY embedding <=> %s::vector LIMIT 20"
LANGCHAIN_ROWS = """
INSERT INTO langchain (langchain_id, content, embedding, content_tsv, langchain_metadata)
SELECT gen_random_uuid(), content, embedding, to_tsvector('pg_catalog.english', content),
    json_build_object('name', name)
FROM documents
"""
LLAMA_ROWS = """
INSERT INTO data_llama (text, metadata_, node_id, embedding)
SELECT content, json_build_object('name', name), name, embedding FROM documents
"""
Ask = Callable[[str], list[str]]


@contextmanager
def peers(url: str, documents: Sequence[tuple[str, str]], vectors: Vectors) -> Iterator[dict[str, Ask]]:
    """Load the documents into an empty database for every peer, and hand their ways to ask out."""
    with psycopg.connect(url, autocommit=True) as conn:
        _load(conn, documents, vectors)
        say("loading langchain-postgres and llama-index")
        langchain, llama = langchain_peer(url, conn), llama_index_peer(url, conn)
        conn.execute("VACUUM ANALYZE")
        yield {
            "langchain-postgres": langchain,
            "llama-index": llama,
            "two queries, fused by the client": lambda query: _two_queries(conn, query),
            "Supabase hybrid_search": lambda query: _hybrid_search(conn, query),
        }


def _load(conn: psycopg.Connection[Any], documents: Sequence[tuple[str, str]], vectors: Vectors) -> None:
    say(f"loading {len(documents):,} documents for the peers")
    conn.execute(SCHEMA)
    with conn.cursor() as cursor, cursor.copy(COPY) as copy:
        copy.set_types(("int8", "text", "text", "bytea"))
        for number, ((name, content), vector) in enumerate(zip(documents, vectors, strict=True), 1):
            if vector.any():
                copy.write_row((number, name, content, to_binary(vector)))
    for statement in (*INDEXES, HYBRID_SEARCH):
        conn.execute(statement)


def embed_query(query: str) -> Any:
    """The query's vector, from the model that everybody uses here."""
    return embedders.embed_query(embedders.load(), query)


def _hybrid_search(conn: psycopg.Connection[Any], query: str) -> list[str]:
    return [row[0] for row in conn.execute(HYBRID_CALL, (query, to_text(embed_query(query)))).fetchall()]


def _two_queries(conn: psycopg.Connection[Any], query: str) -> list[str]:
    words = conn.execute(WORDS, (query,)).fetchall()
    near = conn.execute(NEAREST, (to_text(embed_query(query)),)).fetchall()
    return fuse([[row[0] for row in words], [row[0] for row in near]])


def fuse(rankings: Sequence[Sequence[Any]], k: int = 60) -> list[Any]:
    """The best by reciprocal ranks."""
    scores: dict[Any, float] = {}
    for ranking in rankings:
        for rank, one in enumerate(ranking, 1):
            scores[one] = scores.get(one, 0.0) + 1 / (k + rank)
    return sorted(scores, key=lambda one: -scores[one])[:TOP_K]


def langchain_peer(url: str, conn: psycopg.Connection[Any]) -> Ask:
    """langchain-postgres' PGVectorStore in hybrid mode, with both of its indexes."""
    from langchain_core.embeddings import Embeddings
    from langchain_postgres import PGEngine, PGVectorStore
    from langchain_postgres.v2.hybrid_search_config import HybridSearchConfig, reciprocal_rank_fusion
    from langchain_postgres.v2.indexes import HNSWIndex

    class Wordllama(Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return [self.embed_query(text) for text in texts]

        def embed_query(self, text: str) -> list[float]:
            return embed_query(text).tolist()

    def config() -> HybridSearchConfig:  # one a call: it keeps the words of the first query that it sees
        return HybridSearchConfig(
            tsv_column="content_tsv",
            fusion_function=reciprocal_rank_fusion,
            primary_top_k=TOP_K,
            secondary_top_k=TOP_K,
        )

    engine = PGEngine.from_connection_string(url=_with_driver(url, "psycopg"))
    engine.init_vectorstore_table("langchain", 256, hybrid_search_config=config())
    conn.execute(LANGCHAIN_ROWS)
    store = PGVectorStore.create_sync(engine, Wordllama(), "langchain", hybrid_search_config=config())
    store.apply_vector_index(HNSWIndex(name="langchain_hnsw"))
    store.apply_hybrid_search_index()

    def ask(query: str) -> list[str]:
        found = store.similarity_search(query, k=TOP_K, hybrid_search_config=config())
        return [document.metadata["name"] for document in found]

    return ask


def llama_index_peer(url: str, conn: psycopg.Connection[Any]) -> Ask:
    """llama-index' PGVectorStore in hybrid mode; it joins the two lists without fusing them."""
    from llama_index.core.vector_stores.types import VectorStoreQuery, VectorStoreQueryMode
    from llama_index.vector_stores.postgres import PGVectorStore

    store = PGVectorStore(
        connection_string=_with_driver(url, "psycopg2"),  # with another it cannot set hnsw.ef_search
        async_connection_string=_with_driver(url, "asyncpg"),
        table_name="llama",
        schema_name="public",
        embed_dim=256,
        hybrid_search=True,
        text_search_config="english",
        hnsw_kwargs=dict(HNSW),
    )
    store._initialize()
    conn.execute("DROP INDEX data_llama_embedding_idx")
    conn.execute(LLAMA_ROWS)
    conn.execute("CREATE INDEX data_llama_embedding_idx ON data_llama USING hnsw (embedding vector_cosine_ops)")

    def ask(query: str) -> list[str]:
        asked = VectorStoreQuery(
            query_embedding=embed_query(query).tolist(),
            query_str=query,
            similarity_top_k=TOP_K,
            sparse_top_k=TOP_K,
            mode=VectorStoreQueryMode.HYBRID,
        )
        return list(store.query(asked).ids)

    return ask


def _with_driver(url: str, driver: str) -> str:
    return make_url(url).set(drivername=f"postgresql+{driver}").render_as_string(hide_password=False)
