"""BEIR-style folders: corpus.jsonl, queries.jsonl, qrels.tsv, and vectors beside them."""

import csv
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgfuse.errors import InvalidInput
from pgfuse.lines import Line

Record = dict[str, Any]
Vectors = NDArray[np.float32]
Relevance = dict[str, dict[str, int]]

QRELS = ("qrels.tsv", "qrels/test.tsv", "qrels/dev.tsv", "qrels/train.tsv")


@dataclass(frozen=True)
class Folder:
    """What a folder holds; `lines` are the corpus as it stands, `documents` the same lines read."""

    path: Path
    lines: list[Line]
    documents: list[Record]
    queries: list[Record]
    relevance: Relevance
    document_vectors: Vectors | None = None
    query_vectors: Vectors | None = None


def read_folder(path: Path, vectors: str | None = None) -> Folder:
    """Read a folder; InvalidInput says which file or line cannot be used, and why."""
    if not path.is_dir():
        raise InvalidInput(f"{path} is not a folder; give one with corpus.jsonl, queries.jsonl and qrels.tsv.")
    lines = list(_lines(_existing(path, "corpus.jsonl")))
    documents = _records(path / "corpus.jsonl", lines)
    queries = _records(path / "queries.jsonl", list(_lines(_existing(path, "queries.jsonl"))))
    return Folder(
        path=path,
        lines=lines,
        documents=documents,
        queries=queries,
        relevance=read_relevance(_existing(path, *QRELS)),
        document_vectors=_vectors(path, f"corpus.{vectors}.npy", len(documents)) if vectors else None,
        query_vectors=_vectors(path, f"queries.{vectors}.npy", len(queries)) if vectors else None,
    )


def identifier(record: Record) -> str:
    """The id of a document or query; BEIR's own files call it _id."""
    return str(record["id"] if record.get("id") is not None else record["_id"])


def _existing(folder: Path, *names: str) -> Path:
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise InvalidInput(f"{folder / names[0]} does not exist; a folder needs corpus.jsonl, queries.jsonl and qrels.tsv.")


def _lines(path: Path) -> Iterator[Line]:
    for number, text in enumerate(path.read_bytes().splitlines(), start=1):
        if text.strip():
            yield Line(number, 0, text.removeprefix(b"\xef\xbb\xbf"))


def _records(path: Path, lines: list[Line]) -> list[Record]:
    records = [_record(path, line) for line in lines]
    seen: set[str] = set()
    for line, record in zip(lines, records, strict=True):
        if identifier(record) in seen:
            raise InvalidInput(f"{path}, line {line.number}: the id {identifier(record)!r} stands there twice.")
        seen.add(identifier(record))
    return records


def _record(path: Path, line: Line) -> Record:
    try:
        record = json.loads(line.text or b"")
    except ValueError as error:
        raise InvalidInput(f"{path}, line {line.number}: not JSON: {error}.") from error
    if not isinstance(record, dict) or not isinstance(record.get("text"), str):
        raise InvalidInput(f'{path}, line {line.number}: must be an object with "id" and "text".')
    if record.get("id") is None and record.get("_id") is None:
        raise InvalidInput(f'{path}, line {line.number}: has neither "id" nor "_id".')
    return record


def read_relevance(path: Path) -> Relevance:
    """Judgments from a file of query, document and relevance (or TREC's four columns), with or without a header."""
    relevance: Relevance = {}
    with path.open(newline="", encoding="utf-8-sig") as file:
        for number, raw in enumerate(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE), start=1):
            row = raw if len(raw) > 1 else " ".join(raw).split()
            if not row or (number == 1 and not _is_number(row[-1])):
                continue
            query, document, grade = _judgment(path, number, row)
            relevance.setdefault(query, {})[document] = grade
    return relevance


def _judgment(path: Path, number: int, row: list[str]) -> tuple[str, str, int]:
    if len(row) not in (3, 4) or not _is_number(row[-1]):
        raise InvalidInput(
            f"{path}, line {number}: {' '.join(row)!r:.100} is not a judgment; it must be query, document and "
            "relevance, with tabs between them."
        )
    return row[0].strip(), row[-2].strip(), max(0, int(float(row[-1])))


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _vectors(folder: Path, name: str, count: int) -> Vectors:
    path = folder / name
    if not path.is_file():
        known = sorted(other.name.split(".")[1] for other in folder.glob("corpus.*.npy"))
        raise InvalidInput(f"{path} does not exist; vectors that are there: {', '.join(known) or 'none'}.")
    try:
        vectors = np.load(path, allow_pickle=False)
    except ValueError as error:
        raise InvalidInput(f"{path} is not a numpy array: {error}.") from error
    if vectors.ndim != 2 or len(vectors) != count:
        raise InvalidInput(f"{path} has the shape {vectors.shape}; it must have {count} rows, one a line beside it.")
    return np.asarray(vectors, dtype=np.float32)
