"""Model2Vec, with a model small enough to be made on the spot."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pgfuse.embedders import embed_documents, embed_query, load
from pgfuse.errors import EmbedderError

model2vec = pytest.importorskip("model2vec")

VOCABULARY = {"[UNK]": 0, "cat": 1, "dog": 2, "database": 3}
VECTORS = np.array([[0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 4]], dtype=np.float32)


@pytest.fixture
def path(tmp_path: Path) -> str:
    tokenizers: Any = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(VOCABULARY, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    model2vec.StaticModel(VECTORS, tokenizer).save_pretrained(tmp_path / "tiny")
    return str(tmp_path / "tiny")


def test_a_saved_model_is_loaded_and_averages_its_words(path: str) -> None:
    embedder = load(f"model2vec:{path}")
    assert (embedder.name, embedder.dim) == (f"model2vec:{path}", 3)
    expected = [VECTORS[1], (VECTORS[1] + VECTORS[2]) / 2, VECTORS[3]]
    np.testing.assert_allclose(embed_documents(embedder, ["cat", "cat dog", "database"]), expected)
    np.testing.assert_allclose(embed_query(embedder, "dog"), VECTORS[2])


def test_unknown_words_give_a_zero_vector(path: str) -> None:
    assert not embed_documents(load(f"model2vec:{path}"), ["", "unheard of"]).any()


def test_threads_share_it(path: str) -> None:
    embedder = load(f"model2vec:{path}", batch_size=2)
    with ThreadPoolExecutor(8) as pool:
        for vectors in pool.map(lambda _: embed_documents(embedder, ["cat", "dog", "cat"] * 20), range(50)):
            np.testing.assert_allclose(vectors[:2], VECTORS[1:3])


def test_a_folder_without_a_model_is_an_embedder_error(tmp_path: Path) -> None:
    with pytest.raises(EmbedderError, match="could not be loaded"):
        load(f"model2vec:{tmp_path}")
