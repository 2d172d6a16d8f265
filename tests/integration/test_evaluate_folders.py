"""Folders are read as they are meant, and what cannot be used is named with its file and line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pgfuse.errors import InvalidInput
from pgfuse.evaluate import documents
from pgfuse.evaluate.folders import Folder, read_folder, read_relevance
from pgfuse.evaluate.judged import from_folder
from tests.judged_folder import VECTORS, write_lines

pytest_plugins = ("tests.judged_fixtures",)

Change = Callable[[Path], object]


def profile(_record: object) -> str:
    return "p"


def test_turns_become_memories_of_their_conversation(folder: Path) -> None:
    read = read_folder(folder, VECTORS)
    named = documents.profile_namer(read, documents.profile_key(read, None))
    grouped = documents.memories(read, named)
    assert [name.split("/")[1] for name in grouped] == ["c1", "c2"]
    assert all(name.startswith("eval:tiny-") for name in grouped)
    first = next(iter(grouped.values()))[1]
    assert first["content"] == "Bob: I thought about cooking again, remark number 1 on cooking of mine."
    assert (first["external_id"], first["session_id"], first["position"]) == ("c1/1", "c1/1", 1)
    assert (first["granularity"], first["metadata"]["speaker"]) == ("turn", "Bob")
    assert first["occurred_at"] == "2024-01-01T10:00:00"
    assert read.document_vectors is not None
    assert np.array_equal(first["embeddings"]["vec_full"], read.document_vectors[1])


@pytest.mark.parametrize("header", ["", "query-id\tcorpus-id\tscore\n"])
@pytest.mark.parametrize("line", ["q1\td1\t2\n", "q1 0 d1 2\n", "q1\td1\t2.0\n"])
def test_judgments_with_or_without_a_header(tmp_path: Path, header: str, line: str) -> None:
    (tmp_path / "qrels.tsv").write_text(f"{header}{line}\nq1\td2\t-1\n")
    assert read_relevance(tmp_path / "qrels.tsv") == {"q1": {"d1": 2, "d2": 0}}


def test_a_beir_folder_as_published(tmp_path: Path) -> None:
    write_lines(tmp_path / "corpus.jsonl", [{"_id": "d1", "title": "Boats", "text": "They float."}])
    write_lines(tmp_path / "queries.jsonl", [{"_id": "q1", "text": "what floats?", "metadata": {}}])
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\n")
    read = read_folder(tmp_path)
    assert documents.profile_key(read, None) is None
    assert documents.memories(read, profile)["p"][0]["content"] == "Boats\nThey float."
    assert from_folder(read, profile).questions[0].text == "what floats?"


def remove(name: str) -> Change:
    return lambda path: (path / name).unlink()


def write(name: str, text: str) -> Change:
    return lambda path: (path / name).write_text(text)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (remove("corpus.jsonl"), r"corpus\.jsonl does not exist"),
        (remove("queries.jsonl"), r"queries\.jsonl does not exist"),
        (remove("qrels.tsv"), r"qrels\.tsv does not exist"),
        (remove("corpus.tiny.npy"), r"corpus\.tiny\.npy does not exist; vectors that are there: none"),
        (write("corpus.jsonl", '{"id": "a", "text": "x"}\n{oops\n'), r"corpus\.jsonl, line 2: not JSON"),
        (write("corpus.jsonl", '{"id": "a"}\n'), r'line 1: must be an object with "id" and "text"'),
        (write("corpus.jsonl", '{"text": "x"}\n'), r'line 1: has neither "id" nor "_id"'),
        (write("corpus.jsonl", '{"id": 1, "text": "x"}\n\n{"_id": "1", "text": "y"}\n'), r"line 3: the id '1'"),
        (write("qrels.tsv", "q\td\trel\nq1\td1\n"), r"qrels\.tsv, line 2: 'q1 d1' is not a judgment"),
        (write("corpus.tiny.npy", "no array"), r"is not a numpy array"),
        (write("queries.jsonl", '{"id": "q", "text": "x", "conv": "c1"}\n'), r"queries\.tiny\.npy has the shape"),
    ],
)
def test_what_cannot_be_used_is_named(folder: Path, change: Change, said: str) -> None:
    change(folder)
    with pytest.raises(InvalidInput, match=said):
        read_folder(folder, VECTORS)


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="is not a folder"):
        read_folder(tmp_path / "nowhere")


def test_a_profile_key_that_a_line_lacks(folder: Path) -> None:
    with pytest.raises(InvalidInput, match="'team' is missing"):
        documents.profile_key(read_folder(folder), "team")


def judged_notes(folder: Folder, *exclude: str) -> tuple[str, ...]:
    return from_folder(folder, profile, exclude).notes


def test_oddities_are_noted(folder: Path) -> None:
    with (folder / "corpus.jsonl").open("a") as file:
        file.write('{"id": "empty", "text": " ", "conv": "c1"}\n')
    with (folder / "queries.jsonl").open("a") as file:
        file.write('{"id": "unjudged", "text": "x", "conv": "c1"}\n')
    with (folder / "qrels.tsv").open("a") as file:
        file.write("c1/q0\tnowhere\t1\nstrange\tc1/0\t1\n")
    assert judged_notes(read_folder(folder), "Ann", "Zoe") == (
        "no query has the category 'Zoe'",
        "1 judgments name a document that is not in the corpus; it counts as not found",
        "1 judged queries are not in queries.jsonl",
        "1 documents without text are left out",
        "1 of 9 queries have no relevant document and are left out",
    )


@pytest.mark.parametrize("text", ["", "query\tdoc\trel\n", "c1/q0\tc1/0\t0\n"])
def test_no_judgments_at_all(folder: Path, text: str) -> None:
    (folder / "qrels.tsv").write_text(text)
    with pytest.raises(InvalidInput, match="none of the 16 queries has a relevant document"):
        from_folder(read_folder(folder), profile)
