"""A keyless add_memory with three entities and three facts, against embedding the same text alone."""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from tests.benchmarks.measuring import Figure, Side, Target, in_turn, ms
from tests.benchmarks.texts import journal
from tests.benchmarks.world import call, client_of, memory

from graphiti_pkm.core.model.passages import split_passages
from graphiti_pkm.embedding.local.local import LocalEmbedder

ROUNDS = 60
_MIDDLE = (600, 1_400)
"""Characters of the journal entries used: those around the median of 780."""
_PLACES = ("Berlin", "Porto", "Ghent", "Turin")

Note = dict[str, Any]


async def figures() -> list[Figure]:
    """The other side has a model of its own, so that neither finds the other's vectors in its cache."""
    async with memory() as opened, client_of(opened) as client:
        alone = LocalEmbedder(opened.context.settings)
        await alone.embed(["ready"])

        async def add(note: Note) -> None:
            await call(client, "add_memory", **note)

        async def embed(note: Note) -> None:
            await alone.embed([note["episode_body"][s.start : s.end] for s in split_passages(note["episode_body"])])

        found = []
        entries = [entry.text for entry in journal() if _MIDDLE[0] <= len(entry.text) <= _MIDDLE[1]]
        for what, make, aim in (
            ("one line about known names", _line_about_known, 3.5),
            ("one line about new names", _line_about_new, 3.5),
            ("a journal entry", lambda number: _entry(entries, number), 2.0),
        ):
            sides = {"ours": _over(add, make), "alone": _over(embed, make)}
            taken = await in_turn(sides, ROUNDS, warm_up=10)
            ours, theirs = taken["ours"].p50, taken["alone"].p50
            name = f"add_memory through MCP, 3 entities and 3 facts, {what}"
            found.append(Figure(name, ms(ours), ms(theirs), ours / theirs, Target("<=", aim)))
        await alone.close()
        return found


def _over(do: Callable[[Note], Any], make: Callable[[int], Note]) -> Side:
    numbers = itertools.count()

    async def side() -> None:
        await do(make(next(numbers)))

    return side


def _line_about_known(number: int) -> Note:
    place = _PLACES[number % len(_PLACES)]
    return {
        "episode_body": f"Sarah told Tom at meeting {number} in {place} that the harbour project needs a new plan.",
        "entities": [{"name": "Sarah", "type": "Person"}, {"name": "Tom", "type": "Person"}, {"name": place}],
        "facts": [
            _fact("Sarah", "TALKED_TO", "Tom", f"Sarah talked to Tom at meeting {number}.", kind="event"),
            _fact("Tom", "WORKS_IN", place, f"Tom works in {place} since meeting {number}."),
            _fact("Sarah", "PLANS_IN", place, f"Sarah wants to plan stage {number} in {place}.", kind="plan"),
        ],
    }


def _line_about_new(number: int) -> Note:
    name, place = f"Person{number}", f"Town{number}"
    return {
        "episode_body": f"{name} told Tom at a long meeting in {place} that the harbour project needs a new plan.",
        "entities": [{"name": name, "type": "Person"}, {"name": f"Team{number}", "type": "Team"}, {"name": place}],
        "facts": [
            _fact(name, "TALKED_TO", f"Team{number}", f"{name} talked to Team{number} at length.", kind="event"),
            _fact(name, "WORKS_IN", place, f"{name} works in {place} now."),
            _fact(f"Team{number}", "MEETS_IN", place, f"Team{number} meets in {place} every week."),
        ],
    }


def _entry(entries: Sequence[str], number: int) -> Note:
    return {
        "episode_body": entries[number % len(entries)],
        "entities": [{"name": "Will Hewer", "type": "Person"}, {"name": "Sir W. Batten"}, {"name": "Deptford"}],
        "facts": [
            _fact("me", "MET", "Sir W. Batten", f"I met Sir W. Batten on day {number}.", kind="event"),
            _fact("Will Hewer", "WENT_TO", "Deptford", f"Will Hewer went to Deptford on day {number}.", kind="event"),
            _fact("Sir W. Batten", "SPOKE_WITH", "Will Hewer", f"Sir W. Batten asked Will Hewer, day {number}."),
        ],
    }


def _fact(source: str, relation: str, target: str, text: str, **more: str) -> dict[str, str]:
    return {"source": source, "relation": relation, "target": target, "fact": text, **more}
