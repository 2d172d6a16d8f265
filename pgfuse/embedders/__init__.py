"""Embedders turn texts into vectors: one provider to a module, loaded only when it is used."""

from pgfuse.embedders.function import FunctionEmbedder
from pgfuse.embedders.prefixes import Prefixes, prefixes_for
from pgfuse.embedders.protocol import Embedder, Vectors
from pgfuse.embedders.registry import DEFAULT, is_loadable, load
from pgfuse.embedders.resolve import as_embedder
from pgfuse.embedders.vectors import embed_documents, embed_query

__all__ = [
    "DEFAULT",
    "Embedder",
    "FunctionEmbedder",
    "Prefixes",
    "Vectors",
    "as_embedder",
    "embed_documents",
    "embed_query",
    "is_loadable",
    "load",
    "prefixes_for",
]
