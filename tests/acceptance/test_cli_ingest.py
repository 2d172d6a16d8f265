"""`pgfuse ingest` and `pgfuse export`: files in, files out, and what is said about them."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.acceptance.commands import error, invoke, invoke_json

COMMAND = [sys.executable, "-W", "error", "-c", "from pgfuse.cli import main; main()"]


def write(path: Path, *records: Any) -> str:
    path.write_text("".join((record if isinstance(record, str) else json.dumps(record)) + "\n" for record in records))
    return str(path)


def memories(url: str, columns: str = "profile_id, external_id, content") -> list[Any]:
    with psycopg.connect(url) as connection:
        return connection.execute(f"SELECT {columns} FROM pgfuse.memories ORDER BY id").fetchall()


def test_a_file_and_the_same_again(db: str, tmp_path: Path) -> None:
    file = write(tmp_path / "a.jsonl", {"content": "one", "external_id": "1"}, {"content": "two", "profile_id": "q"})
    said = invoke(db, "ingest", file, "--profile", "p").stdout
    assert said.startswith("Read 2 lines in ")
    assert said.endswith(": 2 new, 0 changed, 0 unchanged, 0 failed.\n")
    summary = invoke_json(db, "ingest", file, "--profile", "p")
    assert set(summary) == {"read", "new", "changed", "unchanged", "failed", "seconds", "rows_per_second", "failures"}
    assert (summary["read"], summary["new"], summary["unchanged"]) == (2, 0, 2)
    assert [row[0] for row in memories(db)] == ["p", "q"]


def test_standard_input(db: str) -> None:
    assert invoke_json(db, "ingest", "-", "--profile", "p", text=b'{"content": "piped \xc3\xa4"}\n')["new"] == 1
    assert memories(db, "content") == [("piped ä",)]


def test_a_beir_folder(db: str, tmp_path: Path) -> None:
    write(tmp_path / "corpus.jsonl", {"_id": "d1", "title": "T", "text": "body", "metadata": {}, "url": "u"})
    write(tmp_path / "queries.jsonl", {"_id": "q1", "text": "not a memory"})
    assert invoke_json(db, "ingest", str(tmp_path), "--profile", "p")["new"] == 1
    assert memories(db, "external_id, content, metadata") == [("d1", "T\nbody", {"url": "u"})]


def test_bad_lines_and_their_numbers(db: str, tmp_path: Path) -> None:
    file = write(tmp_path / "a.jsonl", {"content": "good"}, "{oops", {"content": ""}, {"content": "also good"})
    result = invoke(db, "ingest", file, "--profile", "p", code=1)
    assert "2 new, 0 changed, 0 unchanged, 2 failed." in result.stdout
    assert "Line 2: the line is not JSON" in result.stderr
    assert "Line 3: content is empty" in result.stderr
    summary = invoke_json(db, "ingest", file, "--profile", "p", code=1)
    assert [failure["line"] for failure in summary["failures"]] == [2, 3]
    assert len(memories(db)) == 2


def test_very_many_bad_lines_are_only_counted(db: str, tmp_path: Path) -> None:
    file = write(tmp_path / "a.jsonl", *["{"] * 150)
    result = invoke(db, "ingest", file, "--profile", "p", code=1)
    assert result.stderr.count("Line ") == 100
    assert "Further lines that fail are only counted." in result.stderr
    assert "150 failed" in result.stdout


def test_strict_stops(db: str, tmp_path: Path) -> None:
    file = write(tmp_path / "a.jsonl", {"content": "good"}, "{oops", {"content": "never read"})
    assert "Line 2: the line is not JSON" in error(db, "ingest", file, "--profile", "p", "--strict")
    assert memories(db) == []


def test_what_cannot_be_read(db: str, empty_db: str, tmp_path: Path) -> None:
    assert "cannot be read: No such file" in error(db, "ingest", str(tmp_path / "none.jsonl"), "--profile", "p", code=2)
    assert "corpus.jsonl cannot be read" in error(db, "ingest", str(tmp_path), "--profile", "p", code=2)
    file = write(tmp_path / "a.jsonl", {"content": "good"})
    assert "pass --profile" in invoke(db, "ingest", file, code=1).stderr
    assert "pgfuse migrate" in error(empty_db, "ingest", file, "--profile", "p")


def test_a_space_of_a_model_that_cannot_be_loaded(make_db: Any, tmp_path: Path) -> None:
    url = make_db(dim=3, model="their own")
    file = write(tmp_path / "a.jsonl", *({"content": f"text {n}"} for n in range(3)))
    result = invoke(url, "ingest", file, "--profile", "p")
    assert result.stderr.count("Note: ") == 1
    assert "missing from the vector routes" in result.stderr


def test_plain_lines_without_a_terminal_and_no_warnings(db: str, tmp_path: Path) -> None:
    """The script itself, in a pipe."""
    file = write(tmp_path / "a.jsonl", *({"content": f"text {n}"} for n in range(20)))
    environment = os.environ | {"PGFUSE_DATABASE_URL": db}
    done = subprocess.run(
        [*COMMAND, "ingest", file, "-p", "p"], env=environment, check=True, capture_output=True, text=True
    )
    assert "20 new" in done.stdout
    assert "\x1b" not in done.stdout + done.stderr
    assert "Warning" not in done.stderr


def test_progress_on_a_terminal_and_off_it(db: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pgfuse.ingest.BATCH_LINES", 5)
    monkeypatch.setattr("pgfuse.cli.progress.LINE_SECONDS", 0.0)
    file = write(tmp_path / "a.jsonl", *({"content": f"text {n}"} for n in range(20)))
    plain = invoke(db, "ingest", file, "--profile", "p").stderr
    assert "Ingesting: 5 lines, " in plain
    assert "s left" in plain
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "━" in invoke(db, "ingest", file, "--profile", "p").stderr


def test_export_and_back(db: str, tmp_path: Path) -> None:
    records = [{"content": f"text {n}", "external_id": str(n), "facets": {"likes": "ä"}} for n in range(3)]
    invoke(db, "ingest", write(tmp_path / "in.jsonl", *records), "--profile", "p")
    out = tmp_path / "out.jsonl"
    assert f"Exported 3 memories to {out}." in invoke(db, "export", "--profile", "p", "--out", str(out)).stderr
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".part"] == []
    printed = invoke(db, "export", "--profile", "p")
    assert printed.stdout == out.read_text(encoding="utf-8")
    assert "Exported 3 memories." in printed.stderr
    assert invoke_json(db, "ingest", str(out), "--profile", "p")["unchanged"] == 3
    assert invoke_json(db, "ingest", str(out), "--profile", "copy")["new"] == 3
    assert (
        len(json.loads(invoke(db, "export", "--profile", "p", "--vectors").stdout.splitlines()[0])["embeddings"]) == 2
    )


def test_export_that_cannot_be_written(db: str, empty_db: str, tmp_path: Path) -> None:
    out = str(tmp_path / "no" / "such" / "folder.jsonl")
    assert "cannot be written" in error(db, "export", "--profile", "p", "--out", out, code=2)
    assert invoke(db, "export", "--profile", "nobody").stdout == ""
    assert "pgfuse migrate" in error(empty_db, "export", "--profile", "p")
