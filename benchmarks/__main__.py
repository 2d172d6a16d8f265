"""`make bench`: what fusion, MMR and ingest cost, each in one run on a server of its own; the gates fail the run."""

import sys

from benchmarks import fusion, results


def main() -> int:
    """Run the benchmarks, print and save the figures, and return 1 when a gate is missed."""
    figures = fusion.measure()
    results.show(figures)
    results.save(figures, "fusion")
    return 0 if all(figure.held for figure in figures) else 1


sys.exit(main())
