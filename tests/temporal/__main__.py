"""Run the temporal suite against a memory server: ``python -m tests.temporal [--adapter module:Class]``."""

import argparse
import asyncio
import importlib
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.temporal.adapter import Adapter
from tests.temporal.runner import Outcome, run_all
from tests.temporal.scenario import Scenario, load
from tests.temporal.score import as_json, failures, summary, table

OURS = "tests.temporal.ours:GraphitiPkm"


def main() -> int:
    """0 if every scenario passed."""
    parser = argparse.ArgumentParser(prog="python -m tests.temporal", description=__doc__)
    parser.add_argument("--adapter", default=OURS, metavar="MODULE:CLASS", help=f"default: {OURS}")
    parser.add_argument("--only", default="", metavar="TEXT", help="only scenarios whose id or topic contains it")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every verdict there as well")
    parser.add_argument("--until-noticed", action="store_true", help="stop once one has passed and one has failed")
    options = parser.parse_args()
    logging.getLogger("graphiti_pkm").setLevel(logging.ERROR)
    adapter = _adapter(options.adapter)
    scenarios = [one for one in load() if options.only in one.id or options.only in one.topic]
    outcomes = asyncio.run(_run(adapter, scenarios, until_noticed=options.until_noticed))
    print(f"{table(adapter.name, outcomes)}\n\n{summary(outcomes)}")  # noqa: T201 a command line speaks
    if told := failures(outcomes):
        print(f"\n{told}")  # noqa: T201 same
    if options.json:
        options.json.write_text(as_json(adapter.name, outcomes), encoding="utf-8")
    return 0 if all(outcome.verdict == "passed" for outcome in outcomes) else 1


def _adapter(name: str) -> Adapter:
    module, _, kind = name.partition(":")
    made = getattr(importlib.import_module(module), kind)()
    assert isinstance(made, Adapter), f"{name} is no tests.temporal.adapter.Adapter"
    return made


async def _run(adapter: Adapter, scenarios: Sequence[Scenario], *, until_noticed: bool) -> list[Outcome]:
    async with adapter:
        return await run_all(adapter, scenarios, until_noticed=until_noticed)


if __name__ == "__main__":
    sys.exit(main())
