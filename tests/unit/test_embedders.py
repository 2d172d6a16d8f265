"""Embedders by name, as functions and as objects, and the checks on what they return."""

import functools
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from pgfuse.embedders import (
    DEFAULT,
    Embedder,
    FunctionEmbedder,
    Vectors,
    as_embedder,
    embed_documents,
    embed_query,
    is_loadable,
    load,
)
from pgfuse.embedders import registry as registry_module
from pgfuse.errors import EmbedderError, EmbeddingMismatch, InvalidInput, PgfuseError

TEXTS = ["one", "three", "seven"]


class Lengths:
    """Embeds a text as its length and its number of vowels."""

    name = "lengths"
    dim = 2

    def embed(self, texts: Sequence[str], /) -> Vectors:
        return np.array([[len(text), sum(text.count(vowel) for vowel in "aeiou")] for text in texts], dtype=np.float32)


class Asymmetric(Lengths):
    def embed_query(self, text: str, /) -> Vectors:
        return -self.embed([text]).reshape(-1)


def lengths(texts: list[str]) -> list[list[float]]:
    return [[float(len(text)), 1.0] for text in texts]


def test_documents_are_float32_rows_in_order() -> None:
    vectors = embed_documents(Lengths(), TEXTS)
    assert vectors.dtype == np.float32
    assert vectors.tolist() == [[3, 2], [5, 2], [5, 2]]


def test_no_documents_give_no_rows() -> None:
    assert embed_documents(Lengths(), []).shape == (0, 2)


def test_a_query_is_embedded_as_a_document_unless_the_embedder_knows_better() -> None:
    assert embed_query(Lengths(), "one").tolist() == [3, 2]
    assert embed_query(Asymmetric(), "one").tolist() == [-3, -2]


def test_an_object_with_name_dim_and_embed_is_an_embedder() -> None:
    embedder = Asymmetric()
    assert isinstance(embedder, Embedder)
    assert as_embedder(embedder) is embedder


def test_zero_vectors_pass() -> None:
    zero = FunctionEmbedder(lambda texts: np.zeros((len(texts), 3)))
    assert not embed_documents(zero, TEXTS).any()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e300, None])
def test_what_is_not_finite_is_refused_with_its_position(value: Any) -> None:
    broken = FunctionEmbedder(lambda _: [[1.0, 2.0], [1.0, value], [3.0, 4.0]], name="broken")
    with pytest.raises(EmbedderError, match="'broken' returned NaN or infinity for text 1 of 3"):
        embed_documents(broken, TEXTS)


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (lambda _: [[1.0, 2.0]], EmbedderError, "returned 1 vectors for 3 texts"),
        (lambda _: [[1.0, 2.0], [1.0], [2.0]], EmbedderError, "did not return one list of numbers a text"),
        (lambda _: ["a", "b", "c"], EmbedderError, "did not return one list of numbers a text"),
        (lambda _: [1.0, 2.0, 3.0], EmbedderError, r"an array of shape \(3,\)"),
        (lambda _: 1 / 0, EmbedderError, "failed with ZeroDivisionError: division by zero"),
        (lambda _: [[1.0]] * 3, EmbeddingMismatch, "vectors of 1 dimensions; its dim is 2"),
    ],
)
def test_a_wrong_answer_is_refused(function: Any, error: type[PgfuseError], message: str) -> None:
    with pytest.raises(error, match=message):
        embed_documents(FunctionEmbedder(function, name="wrong", dim=2), TEXTS)


def test_a_wrong_query_vector_is_refused() -> None:
    class Wrong(Lengths):
        def embed_query(self, text: str, /) -> list[float]:
            return [1.0, 2.0, float(len(text))]

    with pytest.raises(EmbeddingMismatch, match="vectors of 3 dimensions; its dim is 2"):
        embed_query(Wrong(), "one")


@pytest.mark.parametrize(("texts", "message"), [("one", "not one string"), (["one", 2], "item 1 is int")])
def test_only_lists_of_text_are_embedded(texts: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        embed_documents(Lengths(), texts)


def test_a_function_becomes_an_embedder_named_after_itself() -> None:
    embedder = as_embedder(lengths)
    assert embedder.name == f"callable:{__name__}.lengths"
    assert embedder.dim == 2
    assert embed_documents(embedder, TEXTS).tolist() == [[3, 1], [5, 1], [5, 1]]


def test_generators_and_partials_are_functions_too() -> None:
    def stream(width: int, texts: list[str]) -> Any:
        return (np.full(width, len(text)) for text in texts)

    embedder = as_embedder(functools.partial(stream, 3))
    assert embedder.name.endswith("test_generators_and_partials_are_functions_too.<locals>.stream")
    assert embed_documents(embedder, TEXTS).shape == (3, 3)


def test_a_callable_object_gives_its_own_name_and_dim() -> None:
    class Model:
        name = "house-model"
        dim = 2

        def __call__(self, texts: list[str]) -> list[list[float]]:
            return lengths(texts)

    embedder = as_embedder(Model())
    assert (embedder.name, embedder.dim) == ("house-model", 2)


def test_the_dimension_of_a_function_is_probed_once_and_only_when_asked() -> None:
    calls: list[list[str]] = []

    def counted(texts: list[str]) -> list[list[float]]:
        calls.append(texts)
        return lengths(texts)

    unprobed = as_embedder(counted)
    embed_documents(unprobed, TEXTS)
    assert (unprobed.dim, calls) == (2, [TEXTS])
    probed = as_embedder(counted)
    assert (probed.dim, probed.dim, len(calls)) == (2, 2, 2)


async def coroutine(texts: list[str]) -> list[list[float]]:
    return lengths(texts)


class Nameless:
    def embed(self, texts: Sequence[str]) -> Vectors:
        return np.zeros((len(texts), 1), dtype=np.float32)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "is a NoneType; it must be an embedder's name"),
        (7, "is a int"),
        (Lengths, "the class Lengths; give an instance"),
        (coroutine, "an async function"),
        (Nameless(), r"Nameless has embed\(\) but no name or dim"),
        ("word2vec", "No embedder is called 'word2vec'"),
    ],
)
def test_anything_else_is_refused(value: object, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        as_embedder(value)


def test_asking_whether_it_is_an_embedder_does_not_evaluate_its_dimension() -> None:
    class Remote(Nameless):
        name = "remote"

        @property
        def dim(self) -> int:
            raise AssertionError("asked the server")

    assert as_embedder(Remote()).name == "remote"


@pytest.mark.parametrize(
    ("name", "loadable"),
    [
        ("wordllama", True),
        ("openai:text-embedding-3-small", True),
        ("openai:nomic-embed-text:latest", True),
        ("sentence-transformers:intfloat/e5-small-v2", True),
        ("model2vec:/models/potion", True),
        ("openai", False),
        ("openai:", False),
        ("openai: ", False),
        ("wordllama:large", False),
        ("my own vectors", False),
        ("", False),
        (None, False),
    ],
)
def test_names_that_can_be_loaded(name: Any, loadable: bool) -> None:
    assert is_loadable(name) is loadable


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(InvalidInput) as caught:
        load("openai")
    for form in ("wordllama", "sentence-transformers:<model>", "openai:<model>", "model2vec:<path>"):
        assert form in str(caught.value)


def test_a_name_is_loaded_once_for_the_same_options(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry_module, "_loaded", {})
    name = "openai:any"
    first = load(name, base_url="http://a", api_key="key")
    assert load(name, api_key="key", base_url="http://a") is first
    assert load(name, base_url="http://b", api_key="key") is not first


def test_a_changed_environment_is_not_answered_from_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://a")
    first = load("openai:any")
    assert load("openai:any") is first
    monkeypatch.setenv("OPENAI_BASE_URL", "http://b")
    assert load("openai:any") is not first


def test_options_may_hold_lists_and_dicts_but_nothing_unhashable() -> None:
    key = registry_module._frozen({"a": [1, {"b": 2}]})
    assert key == registry_module._frozen({"a": [1, {"b": 2}]})
    with pytest.raises(InvalidInput, match="cannot be a set"):
        load(DEFAULT, weights={1, 2})


def test_an_unknown_option_is_answered_with_the_known_ones() -> None:
    with pytest.raises(InvalidInput, match="Its options: base_url, api_key, dimensions"):
        load("openai:any", url="http://a")
    with pytest.raises(InvalidInput, match="Its options: none"):
        load(DEFAULT, size=3)


@pytest.mark.parametrize(
    ("name", "package", "extra"),
    [
        ("wordllama", "wordllama", "embedded"),
        ("openai:any", "httpx2", "openai"),
        ("model2vec:any", "model2vec", "model2vec"),
        ("sentence-transformers:any", "sentence_transformers", "sentence-transformers"),
    ],
)
def test_a_missing_package_is_answered_with_the_extra(
    name: str, package: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry_module, "_loaded", {})
    _hide(monkeypatch, package)
    with pytest.raises(PgfuseError, match=rf"needs the package {package}.*pip install 'pgfuse\[{extra}\]'"):
        load(name)


def _hide(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    for module in ("openai", "server"):
        monkeypatch.delitem(sys.modules, f"pgfuse.embedders.{module}", raising=False)
    monkeypatch.setitem(sys.modules, package, None)


def test_nothing_heavy_is_imported_before_it_is_used() -> None:
    heavy = {"wordllama", "model2vec", "sentence_transformers", "httpx2", "tokenizers", "torch", "openai", "alembic"}
    code = "import sys, pgfuse.embedders; print(*sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert heavy.isdisjoint(shown.stdout.split())


def test_a_model_that_fails_to_load_is_an_embedder_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: Any) -> None:
        raise OSError("weights are damaged")

    monkeypatch.setattr(registry_module, "_loaded", {})
    monkeypatch.setattr("pgfuse.embedders.wordllama.WordLlamaEmbedder", fail)
    with pytest.raises(EmbedderError, match=r"'wordllama' could not be loaded. OSError: weights are damaged"):
        load(DEFAULT)
