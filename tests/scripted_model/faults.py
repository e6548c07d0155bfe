"""What goes wrong, and when: at certain calls, now and then in a storm, or always for certain texts.

Nothing here is left to chance: whether a storm strikes depends on its seed, on what is asked and on how often that was
asked before, never on the order in which parallel calls arrive.
"""

import random
from collections import Counter
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, Field
from tests.scripted_model.model_request import ModelRequest

FaultKind = Literal[
    "delay",  # the right answer, late by ``seconds``
    "rate_limited",  # 429, Retry-After in seconds
    "rate_limited_date",  # 429, Retry-After as a date
    "server_error",  # 500
    "unavailable",  # 503, Retry-After in seconds
    "disconnect",  # half of the answer, then the connection is closed
    "hang",  # the head of an answer and nothing after it, until the client or ``ScriptedModel.release`` ends it
    "refusal",  # the model declines and quotes what it declines
    "content_filter",  # the answer was held back, as ``finish_reason`` says
    "truncated",  # half of the JSON, ``finish_reason`` length
    "wrong_shape",  # JSON of another shape
    "not_json",  # prose
    "empty",  # no content
    "unauthorized",  # 401, with the key in its message, as some servers do
    "unknown_model",  # 404
    "too_long",  # 400, the context is too small
]

FAULT_KINDS: tuple[FaultKind, ...] = get_args(FaultKind)

PASSING_KINDS: tuple[FaultKind, ...] = (
    *("delay", "rate_limited", "rate_limited_date", "server_error", "unavailable", "disconnect"),
    *("truncated", "wrong_shape", "not_json", "empty"),
)
"""After which asking again is of use, and of which a client learns at once."""


class Fault(BaseModel):
    """One thing that goes wrong."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: FaultKind
    seconds: float = 1.0
    """Of a delay; of Retry-After."""


class ScheduledFault(Fault):
    """At certain calls, counted from 1: of one schema, or of all if none is named ("embeddings" is one as well)."""

    calls: tuple[int, ...]
    schema_name: str | None = None


class PermanentFault(Fault):
    """Whenever the text in question holds ``contains``; earlier episodes in the same prompt do not count."""

    contains: str = ""
    schema_name: str | None = None


class Storm(BaseModel):
    """A share of all calls fails; never more than ``max_repeats`` times the same request."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seed: int = 1
    rate: float = Field(ge=0, le=1)
    kinds: tuple[FaultKind, ...] = PASSING_KINDS
    max_repeats: int = 2
    seconds: float = 0.0
    """Of delays and of Retry-After."""
    embeddings: bool = False
    """Whether it strikes embeddings too."""


class FaultPlan(BaseModel):
    """Everything that goes wrong; permanent faults come first, then scheduled ones, then the storm."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    permanent: tuple[PermanentFault, ...] = ()
    scheduled: tuple[ScheduledFault, ...] = ()
    storm: Storm | None = None


class Schedule:
    """A plan being carried out; not for use by two threads at once."""

    def __init__(self, plan: FaultPlan) -> None:
        self.plan = plan
        self._calls: Counter[str | None] = Counter()
        self._asked: Counter[str] = Counter()
        self._struck: Counter[str] = Counter()

    def next(self, request: ModelRequest) -> Fault | None:
        """What goes wrong with this call; counts it."""
        name = request.schema_name
        self._calls[None] += 1
        self._calls[name] += 1
        self._asked[request.hash] += 1
        for permanent in self.plan.permanent:
            if permanent.schema_name in (None, name) and permanent.contains in request.subject:
                return permanent
        for scheduled in self.plan.scheduled:
            if scheduled.schema_name in (None, name) and self._calls[scheduled.schema_name] in scheduled.calls:
                return scheduled
        return self._of_storm(request)

    def _of_storm(self, request: ModelRequest) -> Fault | None:
        storm = self.plan.storm
        if storm is None or (request.endpoint == "embeddings" and not storm.embeddings):
            return None
        chance = random.Random(f"{storm.seed}:{request.hash}:{self._asked[request.hash]}")  # noqa: S311
        if chance.random() >= storm.rate or self._struck[request.hash] >= storm.max_repeats:
            return None
        self._struck[request.hash] += 1
        return Fault(kind=chance.choice(storm.kinds), seconds=storm.seconds)
