"""What the server was asked and what it answered."""

import hashlib
from collections import deque
from http import HTTPStatus

from pydantic import BaseModel, Field
from tests.scripted_model.faults import Fault
from tests.scripted_model.model_request import ModelRequest
from tests.scripted_model.replies import Reply

KEPT_REQUESTS = 500


class Tally(BaseModel):
    """Calls of one kind and what they cost; calls that end in an error cost nothing."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


class Stats(BaseModel):
    """Counts since the server started, or since ``ScriptedModel.forget_counts``."""

    calls: int = 0
    by_schema: dict[str, Tally] = Field(default_factory=dict)
    by_hash: dict[str, Tally] = Field(default_factory=dict)
    """Of each request, by ``ModelRequest.hash``."""
    answered: dict[str, int] = Field(default_factory=dict)
    """How often each request got a usable answer: more than once has been paid for more than once."""
    by_mode: dict[str, int] = Field(default_factory=dict)
    statuses: dict[int, int] = Field(default_factory=dict)
    faults: dict[str, int] = Field(default_factory=dict)
    in_flight: int = 0
    in_flight_max: int = 0
    authorizations: list[str] = Field(default_factory=list)
    """SHA-256 of every authorization header that came, never the header."""
    script_errors: list[str] = Field(default_factory=list)

    @property
    def tokens(self) -> int:
        return sum(tally.prompt_tokens + tally.completion_tokens for tally in self.by_schema.values())


class Counter:
    """Counts; the caller holds a lock."""

    def __init__(self) -> None:
        self.stats = Stats()
        self.requests: deque[ModelRequest] = deque(maxlen=KEPT_REQUESTS)

    def forget(self) -> None:
        """Count from nothing; what is in flight stays so."""
        self.stats = Stats(in_flight=self.stats.in_flight, in_flight_max=self.stats.in_flight)
        self.requests.clear()

    def came(self, request: ModelRequest, authorization: str | None) -> None:
        stats = self.stats
        self.requests.append(request)
        stats.calls += 1
        stats.by_mode[request.mode] = stats.by_mode.get(request.mode, 0) + 1
        for tally in self._tallies(request):
            tally.calls += 1
        if authorization is not None:
            digest = hashlib.sha256(authorization.encode()).hexdigest()
            stats.authorizations = sorted({*stats.authorizations, digest})

    def went(self, request: ModelRequest, reply: Reply, fault: Fault | None) -> None:
        stats = self.stats
        stats.statuses[reply.status] = stats.statuses.get(reply.status, 0) + 1
        if fault is not None:
            stats.faults[fault.kind] = stats.faults.get(fault.kind, 0) + 1
        if reply.status == HTTPStatus.OK and (fault is None or fault.kind == "delay"):
            stats.answered[request.hash] = stats.answered.get(request.hash, 0) + 1
        usage = reply.body.get("usage", {})
        for tally in self._tallies(request):
            tally.prompt_tokens += usage.get("prompt_tokens", usage.get("input_tokens", 0))
            tally.completion_tokens += usage.get("completion_tokens", usage.get("output_tokens", 0))

    def entered(self) -> None:
        self.stats.in_flight += 1
        self.stats.in_flight_max = max(self.stats.in_flight_max, self.stats.in_flight)

    def left(self) -> None:
        self.stats.in_flight -= 1

    def _tallies(self, request: ModelRequest) -> tuple[Tally, Tally]:
        by_schema = self.stats.by_schema.setdefault(request.schema_name, Tally())
        return by_schema, self.stats.by_hash.setdefault(request.hash, Tally())
