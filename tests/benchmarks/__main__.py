"""Run benchmarks and print their table: ``python -m tests.benchmarks [name …] [--quick] [--backend B] [--write]``."""

import argparse
import asyncio
import importlib
import inspect
import logging
import os
from pathlib import Path
from time import perf_counter

from tests.benchmarks.measuring import Figure
from tests.benchmarks.report import machine, page, table

from graphiti_pkm.settings.loader import leave_processors

NAMES = (
    "hub",
    "merging",
    "traversal",
    "walks",
    "adding",
    "classic",
    "projects",
    "fitness",
    "extraction",
    "local_model",
    "documents",
    "ingest",
    "hints",
    "staging",
    "startup",
    "cold",
    "footprint",
    "reasoning_engine",
    "reasoning_labels",
    "reasoning_memory",
    "retrieval",
    "naming",
    "searching",
    "vectors",
    "people",
    "neo4j",
)
BACKENDS = ("embedded", "neo4j")
PAGE = Path(__file__).resolve().parents[2] / "DOCS" / "benchmarks.md"


def main() -> None:
    """Every figure stands beside the other side of its ratio, measured in the same run."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"of {', '.join(NAMES)}; all without any")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name} (only with all of them)")
    parser.add_argument("--quick", action="store_true", help="only as much as shows that it runs, where there is less")
    parser.add_argument("--backend", choices=BACKENDS, default=BACKENDS[0], help="database, where there is a choice")
    options = parser.parse_args()
    if unknown := set(options.names) - set(NAMES):
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    if options.write and (options.names or options.quick or options.backend != BACKENDS[0]):
        parser.error("--write wants all benchmarks, whole, on the embedded database")
    leave_processors()  # as a server does; the benchmarks import NumPy later
    logging.basicConfig(level=logging.WARNING)
    logging.getLogger("graphiti_pkm").setLevel(logging.WARNING)
    figures: list[Figure] = []
    load = os.getloadavg()[0]
    for name in options.names or NAMES:
        begun = perf_counter()
        find = importlib.import_module(f"tests.benchmarks.{name}").figures
        chosen = {key: value for key, value in vars(options).items() if key in inspect.signature(find).parameters}
        found: list[Figure] = asyncio.run(find(**chosen))
        print(f"\n{name}, {perf_counter() - begun:.0f} s\n\n{table(found)}", flush=True)  # noqa: T201 a command line speaks
        figures += found
    print(f"\n{machine(load)}")  # noqa: T201 same
    if options.write:
        PAGE.write_text(page(figures, load), encoding="utf-8")


if __name__ == "__main__":
    main()
