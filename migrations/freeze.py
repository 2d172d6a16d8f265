"""Copies `sql/` into the folder of an unreleased revision and writes the checksums of all frozen files.

`python migrations/freeze.py 0001_initial` copies and writes SHA256SUMS; `--check` exits with 1 when a frozen file
differs from it.
"""

import hashlib
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SQL = ROOT / "sql"
VERSIONS = ROOT / "migrations" / "versions"
SUMS = VERSIONS / "SHA256SUMS"


def order() -> list[str]:
    """The files of `sql/` in the order they are run."""
    lines = (SQL / "order.txt").read_text().splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def copy(revision: str) -> None:
    """Replace the frozen copies of one revision by the files of `sql/`."""
    target = VERSIONS / revision
    shutil.rmtree(target, ignore_errors=True)
    for name in [*order(), "order.txt"]:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(SQL / name, target / name)


def sums() -> str:
    """One line of checksum and name for every frozen file, as `sha256sum` prints them."""
    files = sorted(path for path in VERSIONS.glob("*/**/*") if path.suffix in (".sql", ".txt"))
    return "".join(f"{checksum(path)}  {path.relative_to(VERSIONS).as_posix()}\n" for path in files)


def checksum(path: Path) -> str:
    """The file's content as SHA-256."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def main(arguments: list[str]) -> int:
    if arguments == ["--check"]:
        return int(sums() != SUMS.read_text())
    for revision in arguments:
        copy(revision)
    SUMS.write_text(sums())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
