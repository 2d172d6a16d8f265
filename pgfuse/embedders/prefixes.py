"""The words some models want in front of queries and documents.

A model trained with such prefixes ranks visibly worse without them. Each entry follows the model's own card.
"""

import re
from typing import NamedTuple


class Prefixes(NamedTuple):
    """What is written before a query and before a document."""

    query: str = ""
    document: str = ""

    def replaced(self, query: str | None, document: str | None) -> "Prefixes":
        """Return these prefixes with those given in their place; an empty one means none."""
        return Prefixes(self.query if query is None else query, self.document if document is None else document)


SEARCHING = Prefixes("Represent this sentence for searching relevant passages: ")
INSTRUCT = Prefixes("Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: ")

# The first pattern found in the lower-case model name counts.
KNOWN = (
    (r"(^|[/_-])e5-.*instruct", INSTRUCT),
    (r"(^|[/_-])e5-", Prefixes("query: ", "passage: ")),
    (r"bge-(small|base|large)-en", SEARCHING),
    (r"bge-(small|base|large)-zh", Prefixes("为这个句子生成表示以用于检索相关文章\N{FULLWIDTH COLON}")),
    (r"nomic-embed-text|modernbert-embed", Prefixes("search_query: ", "search_document: ")),
    (r"mxbai-embed-large", SEARCHING),
    (r"arctic-embed(2|.*v2)", Prefixes("query: ")),
    (r"arctic-embed", SEARCHING),
    (r"embeddinggemma", Prefixes("task: search result | query: ", "title: none | text: ")),
    (r"qwen3-embedding", INSTRUCT),
)


def prefixes_for(model: str) -> Prefixes:
    """Return the prefixes of a model by its name; none for a model not known."""
    name = model.lower()
    return next((prefixes for pattern, prefixes in KNOWN if re.search(pattern, name)), Prefixes())
