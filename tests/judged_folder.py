"""A small judged collection on disk: two conversations about a few subjects, with vectors of eight dimensions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

SUBJECTS = ("sailing", "cooking", "chess", "gardening", "violin", "physics", "football", "painting")
SPEAKERS = ("Ann", "Bob")
VECTORS = "tiny"


def write_lines(path: Path, records: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


def documents(conversation: str) -> list[dict[str, Any]]:
    """Three turns about each subject."""
    return [
        {
            "id": f"{conversation}/{number}",
            "text": f"I thought about {subject} again, remark number {turn} on {subject} of mine.",
            "conv": conversation,
            "session": turn,
            "turn": place,
            "role": SPEAKERS[place % 2],
            "time": f"2024-01-0{turn}T10:00:00",
        }
        for number, (turn, place, subject) in enumerate(
            (turn, place, subject) for turn in (1, 2, 3) for place, subject in enumerate(SUBJECTS)
        )
    ]


def vectors(records: list[dict[str, Any]], *, noise: float) -> NDArray[np.float32]:
    """A direction a subject, with noise."""
    generator = np.random.default_rng(7)
    rows = [[float(subject in str(record["text"])) for subject in SUBJECTS] for record in records]
    return (np.array(rows) + noise * generator.normal(size=(len(rows), len(SUBJECTS)))).astype(np.float32)


def write_folder(path: Path, *, noise: float = 0.3) -> Path:
    """The folder: each query asks for a subject inside one conversation, and its three turns answer it."""
    corpus = [document for conversation in ("c1", "c2") for document in documents(conversation)]
    queries: list[dict[str, Any]] = [
        {"id": f"{conv}/q{number}", "text": f"what about {subject}?", "conv": conv, "category": SPEAKERS[number % 2]}
        for conv in ("c1", "c2")
        for number, subject in enumerate(SUBJECTS)
    ]
    judged = [
        f"{query['id']}\t{document['id']}\t1"
        for query in queries
        for document in corpus
        if document["conv"] == query["conv"] and str(query["text"]).split()[2].rstrip("?") in str(document["text"])
    ]
    path.mkdir(parents=True, exist_ok=True)
    write_lines(path / "corpus.jsonl", corpus)
    write_lines(path / "queries.jsonl", queries)
    (path / "qrels.tsv").write_text("\n".join(["query\tdoc\trel", *judged]) + "\n")
    np.save(path / f"corpus.{VECTORS}.npy", vectors(corpus, noise=noise))
    np.save(path / f"queries.{VECTORS}.npy", vectors(queries, noise=noise))
    return path
