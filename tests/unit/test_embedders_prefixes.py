"""The prefixes of models that need them."""

import pytest

from pgfuse.embedders import Prefixes, prefixes_for

SEARCHING = "Represent this sentence for searching relevant passages: "


@pytest.mark.parametrize(
    ("model", "query", "document"),
    [
        ("intfloat/e5-small-v2", "query: ", "passage: "),
        ("intfloat/multilingual-e5-large", "query: ", "passage: "),
        ("/models/E5-base", "query: ", "passage: "),
        ("BAAI/bge-small-en-v1.5", SEARCHING, ""),
        ("BAAI/bge-m3", "", ""),
        ("nomic-embed-text:latest", "search_query: ", "search_document: "),
        ("mixedbread-ai/mxbai-embed-large-v1", SEARCHING, ""),
        ("Snowflake/snowflake-arctic-embed-m", SEARCHING, ""),
        ("Snowflake/snowflake-arctic-embed-l-v2.0", "query: ", ""),
        ("embeddinggemma", "task: search result | query: ", "title: none | text: "),
        ("all-MiniLM-L6-v2", "", ""),
        ("text-embedding-3-small", "", ""),
        ("some-bge5-thing", "", ""),
    ],
)
def test_a_model_is_known_by_its_name(model: str, query: str, document: str) -> None:
    assert prefixes_for(model) == Prefixes(query, document)


@pytest.mark.parametrize("model", ["intfloat/multilingual-e5-large-instruct", "Qwen/Qwen3-Embedding-0.6B"])
def test_instruction_models_get_an_instruction_for_queries_only(model: str) -> None:
    prefixes = prefixes_for(model)
    assert prefixes.query.startswith("Instruct: ")
    assert prefixes.query.rstrip().endswith("Query:")
    assert prefixes.document == ""


def test_what_is_given_takes_the_place_of_what_is_known() -> None:
    known = prefixes_for("e5-small")
    assert known.replaced(None, None) == known
    assert known.replaced("", "text: ") == Prefixes("", "text: ")
