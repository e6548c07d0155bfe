"""The list of metrics, and the port for counting.

No person, group, uuid or text is ever a label: a label takes one of a few values defined in the code.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from graphiti_pkm.core.model.record import Record

PREFIX = "graphiti_pkm_"
Kind: TypeAlias = Literal["counter", "histogram", "gauge"]


@dataclass(frozen=True)
class Measure:
    """One metric. Its help text is also in the table of DOCS/operations.md."""

    name: str
    kind: Kind
    help: str
    labels: tuple[str, ...] = ()

    @property
    def full_name(self) -> str:
        """The name that scrapers see."""
        return PREFIX + self.name + ("_total" if self.kind == "counter" else "")


CALLS = Measure("calls", "counter", "Calls of tools, resources and prompts, by how they ended.", ("tool", "outcome"))
CALL_SECONDS = Measure("call_seconds", "histogram", "How long they took, in seconds.", ("tool",))
CALLS_UNDER_WAY = Measure("calls_under_way", "gauge", "Calls that are being answered now.")
REFUSED = Measure("refused_connections", "counter", "Requests turned away before they were a call.", ("reason",))
DATABASE_SECONDS = Measure(
    "database_seconds",
    "histogram",
    "Time of queries sent together, in seconds; what was tried again included.",
    ("kind",),
)
DATABASE_ERRORS = Measure(
    "database_errors", "counter", "Queries not answered: unavailable or refused.", ("kind", "reason")
)
DATABASE_UNDER_WAY = Measure("database_queries_under_way", "gauge", "Queries that have a connection or wait for one.")
DATABASE_RETURNS = Measure("database_returns", "counter", "Times the database was back after it had been away.")
EMBEDDED_TEXTS = Measure("embedded_texts", "counter", "Texts that vectors were asked for.")
EMBEDDING_SECONDS = Measure("embedding_seconds", "histogram", "Time of an asking, waiting included, in seconds.")
EMBEDDING_ERRORS = Measure("embedding_errors", "counter", "Askings that failed.")
CACHED_TEXTS = Measure("embedding_cached_texts", "counter", "Texts whose vector was still known.")

DATABASE_UP = Measure("database_up", "gauge", "1 if the database answers, else 0.")
DATABASE_CONNECTIONS = Measure(
    "database_connections_limit", "gauge", "Connections to Neo4j that a process opens at most."
)
WRITES = Measure("journal_writes", "gauge", "Writes in the journal: intent ones are not in the graph yet.", ("state",))
JOBS = Measure("jobs", "gauge", "Jobs of the server's own.", ("state",))
EXTRACTIONS = Measure("extractions", "gauge", "Episodes that a model reads, is to read or has read.", ("state",))
OLDEST = Measure("oldest_open_seconds", "gauge", "Age of the oldest that is not done; 0 if nothing waits.", ("what",))
FAILED_ATTEMPTS = Measure("failed_attempts", "gauge", "Failed attempts at what is not done.", ("what",))
MODEL_CALLS = Measure("model_calls", "counter", "Calls of the model that reads episodes, by all servers ever.")
MODEL_TOKENS = Measure("model_tokens", "counter", "Its tokens, likewise.", ("kind",))

COUNTED: tuple[Measure, ...] = (
    CALLS,
    CALL_SECONDS,
    CALLS_UNDER_WAY,
    REFUSED,
    DATABASE_SECONDS,
    DATABASE_ERRORS,
    DATABASE_UNDER_WAY,
    DATABASE_RETURNS,
    EMBEDDED_TEXTS,
    EMBEDDING_SECONDS,
    EMBEDDING_ERRORS,
    CACHED_TEXTS,
)
"""Counted as it happens, in each process."""
LOOKED_UP: tuple[Measure, ...] = (
    DATABASE_UP,
    DATABASE_CONNECTIONS,
    WRITES,
    JOBS,
    EXTRACTIONS,
    OLDEST,
    FAILED_ATTEMPTS,
    MODEL_CALLS,
    MODEL_TOKENS,
)
"""Collected on request; the same in every process of a data directory."""


class Metrics(Protocol):
    """Counts. Never fails or blocks; labels are given in the order of the measure."""

    def add(self, measure: Measure, amount: float, *labels: str) -> None:
        """Add to a counter; a gauge may also decrease."""
        ...

    def observe(self, measure: Measure, seconds: float, *labels: str) -> None:
        """One duration into a histogram."""
        ...


class Uncounted:
    """Counts nothing, because no metrics are requested."""

    def add(self, measure: Measure, amount: float, *labels: str) -> None:
        """Nothing."""

    def observe(self, measure: Measure, seconds: float, *labels: str) -> None:
        """Nothing."""


UNCOUNTED = Uncounted()


@dataclass(frozen=True)
class Sample:
    """The collected value of a measure."""

    measure: Measure
    value: float
    labels: tuple[str, ...] = ()


class Backlog(Record):
    """The journal's open work: ages in seconds (0: none), and failed attempts."""

    oldest_write: float = 0
    oldest_job: float = 0
    oldest_extraction: float = 0
    job_attempts: int = 0
    extraction_attempts: int = 0


class JournalBacklog(Protocol):
    """The journal's part of the metrics."""

    async def backlog(self) -> Backlog:
        """Of all groups."""
        ...


class Counted(Metrics, Protocol):
    """Metrics that can be shown."""

    @property
    def content_type(self) -> str: ...

    def text(self, found: Sequence[Sample]) -> bytes:
        """The counted metrics, with those just collected."""
        ...
