"""How relevant an entity is to a project: four terms from 0 to 1, computed for the instant that is asked about.

They are computed when they are read, because a stored score would be wrong the next day.
"""

import math
from datetime import datetime
from typing import NamedTuple

from graphiti_pkm.core.model.record import Record

MENTIONS, CONNECTIONS, ACTIVITY, PIN = 0.4, 0.3, 0.2, 0.1
"""The weights of the terms."""
HALF_OF_CONNECTIONS = 5
"""So many connections to entities of the project give half of the term."""
HALF_LIFE_DAYS = 30.0
SCALE = 1_000_000
"""Scores are compared as whole millionths, so that both stores sort alike."""


class Terms(NamedTuple):
    """The terms of a score."""

    mentions: float
    connections: float
    activity: float
    pin: float

    @property
    def score(self) -> float:
        """From 0 to 1."""
        weighed = (
            MENTIONS * self.mentions,
            CONNECTIONS * self.connections,
            ACTIVITY * self.activity,
            PIN * self.pin,
        )
        return round(math.fsum(weighed) * SCALE) / SCALE


def terms_of(mentions: int, most: int, connections: int, days: float | None, *, is_pinned: bool) -> Terms:
    """``most``: the mentions of the entity that the project mentions most; ``days``: since the last activity."""
    return Terms(
        mentions=math.log1p(mentions) / math.log1p(most) if most else 0.0,
        connections=connections / (connections + HALF_OF_CONNECTIONS),
        activity=0.0 if days is None else 0.5 ** (max(days, 0.0) / HALF_LIFE_DAYS),
        pin=float(is_pinned),
    )


class RelevanceFilter(Record):
    """What is asked about the entities of one project."""

    project_uuid: str
    group_id: str
    now: datetime
    recorded_until: datetime | None = None
    threshold: int
    """In millionths; a score that equals it passes."""
    pins: tuple[str, ...] = ()
    archived: tuple[str, ...] = ()
    """Projects whose entities, unless the project or another one mentions them too, are left out."""


class Relevant(Record):
    """An entity with what its score is made of."""

    uuid: str
    name: str
    label: str | None
    mentions: int
    connections: int
    last_active: datetime | None
    is_pinned: bool
    score: int
    """In millionths."""


class RelevantPart(Record):
    """Entities that the project mentions, or those that it does not."""

    entities: tuple[Relevant, ...] = ()
    """By score, then name, then uuid."""
    total: int = 0
    """How many pass the threshold."""
    below: int = 0


class RelevanceParts(Record):
    """Both parts."""

    primary: RelevantPart
    secondary: RelevantPart
    most_mentions: int
