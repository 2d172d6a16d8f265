"""`make bench`: measure pgfuse beside other ways to do the same, on one server, in one run; the gates fail the run."""

import argparse
import importlib
import sys
from pathlib import Path

from benchmarks import results, server
from benchmarks.bench import Bench
from benchmarks.progress import say

PARTS = ("fusion", "lexical", "recall", "dense", "growth")
ROWS = {False: 1_000_000, True: 50_000}


def main() -> int:
    """Run the parts, print and save what they found, and return 1 when a gate is missed."""
    given = _arguments()
    held = True
    with server.started(quick=given.quick) as url:
        machine = server.describe(url)
        bench = Bench(url, given.data, given.out, given.quick, given.rows or ROWS[given.quick])
        for part in given.parts:
            say(f"part {part}")
            report = importlib.import_module(f"benchmarks.{part}").measure(bench)
            results.publish(report, machine | {"quick": given.quick}, given.out)
            held = held and report.held
    return 0 if held else 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--parts", type=_parts, default=PARTS, help=f"some of {','.join(PARTS)}, with commas")
    parser.add_argument("--data", type=_folder, help="a folder with scifact, cranfield and locomo_dev")
    parser.add_argument("--quick", action="store_true", help="small sizes: a look, not the figures that count")
    parser.add_argument("--rows", type=int, help="rows of the largest table")
    parser.add_argument("--out", type=Path, default=results.FOLDER, help="where JSON, plots and vectors are kept")
    return parser.parse_args()


def _parts(text: str) -> list[str]:
    parts = text.split(",")
    unknown = [part for part in parts if part not in PARTS]
    if unknown:
        raise argparse.ArgumentTypeError(f"{unknown[0]!r} is not a part; parts are {', '.join(PARTS)}")
    return parts


def _folder(text: str) -> Path:
    path = Path(text)
    if not (path / "scifact" / "corpus.jsonl").is_file():
        raise argparse.ArgumentTypeError(f"{path} has no scifact/corpus.jsonl")
    return path


if __name__ == "__main__":
    sys.exit(main())
