"""What the clients of a storm tell: the same few names in many spellings, each note with a token of its own."""

import random
from typing import Any

GROUPS = ("storm-a", "storm-b")
_FIRST = ("Sarah", "Tom", "Ann", "Priya", "Jon", "Eva")
_LAST = ("Miller", "Baker", "Lee", "Nair")
PEOPLE = tuple(f"{first} {last}" for first in _FIRST for last in _LAST)
PROJECTS = ("Project Atlas", "Blue Harbor", "Data Lake", "Night Train", "Copper Kettle", "Winter Garden")
CITIES = ("Berlin", "New York", "Porto", "Sankt Gallen")
HOME = "LIVES_IN"
"""Each fact of this relation replaces the current one, so that of each person at most one is current."""


def token(client: str, number: int) -> str:
    """Stands in the body of one note only."""
    return f"storm-{client}-{number}"


def note(client: str, number: int) -> dict[str, Any]:
    """The arguments of one add_memory; the same for the same client and number."""
    draw = random.Random(f"{client} {number}")  # noqa: S311 any story does
    one, other = draw.sample(PEOPLE, 2)
    project, city = draw.choice(PROJECTS), draw.choice(CITIES)
    facts: list[dict[str, Any]] = [
        {"source": _spelt(draw, one), "relation": "WORKS_ON", "target": _spelt(draw, project)},
        {"source": one, "relation": "MET", "target": other, "kind": "event", "fact": f"{one} met {other}, {number}."},
    ]
    if draw.random() < 0.3:
        facts.append({"source": other, "relation": HOME, "target": _spelt(draw, city), "replaces": "current"})
    return {
        "name": f"Note {number} of {client}",
        "episode_body": (
            f"{one} met {other} about {project} ({token(client, number)}). "
            f"They want to go on in {city}. Nobody was late."
        ),
        "group_id": draw.choice(GROUPS),
        "entities": [
            {"name": _spelt(draw, one), "type": "Person"},
            {"name": _spelt(draw, other), "type": "Person"},
            {"name": _spelt(draw, project), "type": "Project"},
        ],
        "facts": facts,
    }


def _spelt(draw: random.Random, name: str) -> str:
    """One of the spellings that normalise alike."""
    return draw.choice((name, name, name.replace(" ", "-"), name.upper(), name.lower().replace(" ", "_")))
