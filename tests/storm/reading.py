"""What is read in a storm of extractions: notes in the scripted model's language, and what became of them in words."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from tests.scripted_model import FaultKind, FaultPlan, PermanentFault, Storm
from tests.scripted_model.faults import PASSING_KINDS
from tests.storm.dump import Dump

EPISODES = 300
GROUPS = tuple(f"reader-{number}" for number in range(8))
PERMANENT: dict[FaultKind, str] = {
    "refusal": "Nobody may read this of the vault",
    "content_filter": "Nobody may read this of the cellar",
    "unauthorized": "Nobody may read this of the attic",
    "unknown_model": "Nobody may read this of the stables",
    "too_long": "Nobody may read this of the chapel",
}
"""By what always goes wrong with it, the words of an episode of each group but the last three."""

_BEGIN = datetime(2024, 1, 1, tzinfo=UTC)
_PEOPLE = ("Anna Berg", "Tom Vance", "Priya Nair", "Jon Baker", "Eva Lind", "Sam Reed")
_FIRMS = ("Globex Inc", "Initech", "Umbrella Labs", "Acme")
_PROJECTS = ("Project Heron", "Night Train", "Data Lake")
_TOWNS = ("Berlin", "Porto", "New York")


def faults(rate: float) -> FaultPlan:
    """A share of all calls goes wrong in passing, five episodes for good."""
    permanent = tuple(PermanentFault(kind=kind, contains=words) for kind, words in PERMANENT.items())
    storm = Storm(seed=11, rate=rate, kinds=(*PASSING_KINDS, "hang")) if rate else None
    return FaultPlan(permanent=permanent, storm=storm)


def unreadable() -> dict[str, FaultKind]:
    """Uuids of the episodes that end as failed, with what goes wrong."""
    return {note(number)["uuid"]: kind for number, kind in zip(_unreadable_numbers(), PERMANENT, strict=True)}


def note(number: int) -> dict[str, Any]:
    """The arguments of one add_memory, the same for the same number; those of a group are a day apart."""
    draw = random.Random(f"reading {number}")  # noqa: S311 any story does
    one, other = draw.sample(_PEOPLE, 2)
    day = _BEGIN + timedelta(days=number)
    said = [
        f"{one} WORKS_AT {draw.choice(_FIRMS)} since {day:%Y-%m-%d}.",
        f"{one} WORKS_WITH {other}.",
        f"We spoke of [[{draw.choice(_PROJECTS)}]].",
    ]
    if draw.random() < 0.3:
        said.append(f"{other} LIVES_IN {draw.choice(_TOWNS)} since {day - timedelta(days=40):%Y-%m-%d}.")
    if number in _unreadable_numbers():
        said = [f"{list(PERMANENT.values())[_unreadable_numbers().index(number)]}. {one} HIDES_IN {number} Hill Road."]
    return {
        "uuid": str(uuid5(NAMESPACE_URL, f"reading/{number}")),
        "name": f"Note {number}",
        "episode_body": " ".join(said),
        "group_id": GROUPS[number % len(GROUPS)],
        "reference_time": day.isoformat(),
    }


def _unreadable_numbers() -> tuple[int, ...]:
    return tuple(100 + place for place in range(len(PERMANENT)))


@dataclass(frozen=True)
class Read:
    """What a graph holds, in words: no uuid and no time of the record, so that two runs can be compared."""

    entities: tuple[str, ...]
    facts: tuple[str, ...]
    mentions: tuple[str, ...]

    def differences(self, other: "Read") -> list[str]:
        """What only one of both holds, or another number of times; at most thirty lines."""
        return [
            *_unlike("entity", self.entities, other.entities),
            *_unlike("fact", self.facts, other.facts),
            *_unlike("mention", self.mentions, other.mentions),
        ][:30]


def read(graph: Dump) -> Read:
    """Entities with type and summary, facts with interval and episodes, mentions; each as often as it is there."""
    names = {one["uuid"]: f"{one['group_id']} {one['name']}" for one in graph.of("entity")}
    notes = {one["uuid"]: one["name"] for one in graph.of("episode")}
    told_in: dict[str, list[str]] = {}
    for one in graph.of("fact_episode"):
        told_in.setdefault(one["fact_uuid"], []).append(notes[one["episode_uuid"]])
    return Read(
        entities=tuple(sorted(f"{names[one['uuid']]} {one['label']} {one['summary']}" for one in graph.of("entity"))),
        facts=tuple(
            sorted(
                f"{names[one['source_uuid']]} {one['relation']} {names[one['target_uuid']]}: {one['text']} "
                f"[{one['valid_at']}, {one['invalid_at']}) voided {one['voided']} "
                f"expired {one['expired_at'] is not None} {sorted(told_in.get(one['uuid'], []))}"
                for one in graph.of("fact")
            )
        ),
        mentions=tuple(sorted(f"{notes[episode]}: {names[entity]}" for episode, entity in graph.mentions())),
    )


def _unlike(what: str, one: tuple[str, ...], other: tuple[str, ...]) -> Iterator[str]:
    for text in sorted({*one, *other}):
        if one.count(text) != other.count(text):
            yield f"{what} {text}: {one.count(text)} and {other.count(text)} times"
