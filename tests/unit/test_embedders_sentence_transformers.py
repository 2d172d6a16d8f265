"""The sentence-transformers provider, against a stand-in with the library's own signatures.

The library needs PyTorch, which is too large to install for a unit test.
"""

import sys
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest

from pgfuse.embedders import Embedder, embed_documents, embed_query, load
from pgfuse.errors import EmbedderError

DIM = 3


class OldSentenceTransformer:
    """As in releases 3 and 4."""

    prompts: ClassVar[dict[str, str]] = {}

    def __init__(self, model_name_or_path: str | None = None, *, device: str | None = None) -> None:
        if model_name_or_path == "missing":
            raise OSError("missing is not a local folder")
        self.device = device
        self.seen: list[tuple[str, list[str]]] = []

    def get_sentence_embedding_dimension(self) -> int | None:
        return DIM

    def encode(
        self,
        sentences: list[str],
        prompt_name: str | None = None,
        prompt: str | None = None,
        batch_size: int = 32,
        show_progress_bar: bool | None = None,
        convert_to_numpy: bool = True,
        *,
        task: str = "encode",
    ) -> Any:
        assert (prompt_name, batch_size, show_progress_bar, convert_to_numpy) == (None, 32, False, True)
        self.seen.append((task, [f"{prompt or ''}{text}" for text in sentences]))
        return np.full((len(sentences), DIM), len(prompt or ""), dtype=np.float32)


class NewSentenceTransformer(OldSentenceTransformer):
    """As since release 5, where queries and documents have methods of their own."""

    prompts: ClassVar[dict[str, str]] = {"query": "", "document": ""}

    def get_embedding_dimension(self) -> int | None:
        return None

    def get_sentence_embedding_dimension(self) -> int | None:
        raise FutureWarning("renamed")

    def encode_query(self, inputs: list[str], **options: Any) -> Any:
        return self.encode(inputs, task="query", **options)

    def encode_document(self, inputs: list[str], **options: Any) -> Any:
        return self.encode(inputs, task="document", **options)


class PromptedSentenceTransformer(NewSentenceTransformer):
    prompts: ClassVar[dict[str, str]] = {"query": "ask: ", "passage": "tell: "}


def loaded(monkeypatch: pytest.MonkeyPatch, kind: type[OldSentenceTransformer], model: str, **options: Any) -> Embedder:
    monkeypatch.setitem(sys.modules, "sentence_transformers", SimpleNamespace(SentenceTransformer=kind))
    monkeypatch.setattr("pgfuse.embedders.registry._loaded", {})
    return load(f"sentence-transformers:{model}", **options)


def seen(embedder: Any) -> list[tuple[str, list[str]]]:
    model: OldSentenceTransformer = embedder._model
    embed_documents(embedder, ["a", "b"])
    embed_query(embedder, "q")
    return model.seen[-2:]


def test_queries_and_documents_are_encoded_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = loaded(monkeypatch, NewSentenceTransformer, "all-MiniLM-L6-v2")
    assert (embedder.name, embedder.dim) == ("sentence-transformers:all-MiniLM-L6-v2", DIM)
    assert seen(embedder) == [("document", ["a", "b"]), ("query", ["q"])]


def test_older_releases_encode_both_the_same_way(monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = loaded(monkeypatch, OldSentenceTransformer, "all-MiniLM-L6-v2")
    assert embedder.dim == DIM
    assert seen(embedder) == [("encode", ["a", "b"]), ("encode", ["q"])]


@pytest.mark.parametrize("kind", [OldSentenceTransformer, NewSentenceTransformer])
def test_a_model_known_to_need_prefixes_gets_them(
    kind: type[OldSentenceTransformer], monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = loaded(monkeypatch, kind, "intfloat/e5-small-v2")
    assert [texts for _, texts in seen(embedder)] == [["passage: a", "passage: b"], ["query: q"]]


def test_the_models_own_prompts_come_before_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = loaded(monkeypatch, PromptedSentenceTransformer, "intfloat/e5-small-v2")
    assert seen(embedder) == [("document", ["tell: a", "tell: b"]), ("query", ["ask: q"])]


def test_prefixes_given_come_before_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = loaded(monkeypatch, PromptedSentenceTransformer, "e5-small", query_prefix="", document_prefix="doc: ")
    assert seen(embedder) == [("document", ["doc: a", "doc: b"]), ("query", ["q"])]


def test_further_options_go_to_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    embedder: Any = loaded(monkeypatch, NewSentenceTransformer, "any", device="cpu")
    assert embedder._model.device == "cpu"
    with pytest.raises(EmbedderError, match="unexpected keyword argument 'colour'"):
        loaded(monkeypatch, NewSentenceTransformer, "any", colour="red")


def test_a_model_that_is_not_there_is_an_embedder_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(EmbedderError, match=r"could not be loaded. OSError: missing is not a local folder"):
        loaded(monkeypatch, NewSentenceTransformer, "missing")
