"""Extraction by a model: what a job asks for, what the model found, and the queue that loses neither.

A job is one reading of one episode. Its result becomes one write (``WriteKind.EXTRACT``) whose uuid is the job's, so
that a repeated job finds its write in the journal and ends. Everything a model answered is kept with the job until it
ends, by a hash of what was asked: a job that is taken up again pays for nothing twice.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, Protocol

from pydantic import Field

from graphiti_pkm.core.model.records import ExtractJob, ExtractTask, Record
from graphiti_pkm.errors import BudgetSpent

ExtractionState = Literal["queued", "running", "done", "failed", "cancelled"]

MAX_ATTEMPTS = 8
"""Failed attempts of a job; with the last one it is failed."""
LOST = "whoever worked on it did not come back"
LOST_REMEDY = (
    f"{MAX_ATTEMPTS} processes ended while they worked on it: see their log, then `graphiti-pkm queue retry --all`."
)


class Usage(Record):
    """What model calls cost."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            calls=self.calls + other.calls,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
        )


class Budget(Record):
    """The most that may be spent; None is no limit. A day is one of the setting ``timezone``."""

    calls_per_day: int | None = None
    tokens_per_day: int | None = None
    calls_per_episode: int | None = None
    tokens_per_episode: int | None = None

    def check(self, of_day: Usage, of_episode: Usage) -> None:
        """Whether another call may be made after these. Raises BudgetSpent."""
        limits = (
            ("llm_calls_per_day", self.calls_per_day, of_day.calls),
            ("llm_tokens_per_day", self.tokens_per_day, of_day.tokens),
            ("llm_calls_per_episode", self.calls_per_episode, of_episode.calls),
            ("llm_tokens_per_episode", self.tokens_per_episode, of_episode.tokens),
        )
        for setting, most, spent in limits:
            if most is None or spent < most:
                continue
            if setting.endswith("day"):
                raise BudgetSpent(
                    f"the day's budget for the model is spent ({setting} = {most})",
                    f"It goes on by itself tomorrow; sooner with a higher {setting}, a restart and "
                    "`graphiti-pkm queue retry --all`.",
                    is_of_day=True,
                )
            raise BudgetSpent(
                f"this episode's budget for the model is spent ({setting} = {most})",
                f"Start the server with a higher {setting}, then `graphiti-pkm queue retry --all`: "
                "what was paid for is not paid again.",
                is_of_day=False,
            )


class ExtractionTask(Record):
    """What a model is asked to read: an episode that the graph holds."""

    group_id: str
    episode_uuid: str
    excluded_entity_types: tuple[str, ...] = ()
    instructions: str = ""
    previous_episode_uuids: tuple[str, ...] | None = None
    """Episodes to be read as context; None: the latest before it."""
    supplied_facts: tuple[str, ...] = ()
    """Texts of the facts that the episode supports already, told by the caller: the model need not find them again."""
    person: str = "me"
    """What whoever tells the episode is called."""


class ExtractedEntity(Record):
    """An entity as the model names it; ``uuid`` is that of the group's entity it was recognised as, if any."""

    uuid: str
    name: str
    is_known: bool
    """Whether the graph held it when the model was asked."""
    label: str | None = None
    summary: str = ""
    summary_before: str = ""
    """As the model was shown it: a summary that someone changed meanwhile stands."""
    attributes: dict[str, object] = Field(default_factory=dict)


class ExtractedFact(Record):
    """A fact between two extracted entities; ``is_known``: one the graph held, told again by this episode."""

    uuid: str
    source_uuid: str
    target_uuid: str
    relation: str
    text: str
    is_known: bool
    valid_at: datetime | None = None
    invalid_at: datetime | None = None
    attributes: dict[str, object] = Field(default_factory=dict)


class ExtractedEnding(Record):
    """A fact that the model takes to be contradicted by another: at least one of them is an extracted one."""

    fact_uuid: str
    by_uuid: str
    """The one that begins where it ends: of the graph, if what was extracted is older."""
    invalid_at: datetime


class Extraction(Record):
    """What a model found in one episode; nothing of it is in the graph yet."""

    entities: tuple[ExtractedEntity, ...] = ()
    facts: tuple[ExtractedFact, ...] = ()
    endings: tuple[ExtractedEnding, ...] = ()
    left_out: int = 0
    """Names and facts of the model that are not among these, as nothing can be made of them."""


class ModelLedger(Protocol):
    """What every model call of one job goes through: kept answers first, then the budget."""

    async def recorded(self, request_hash: str) -> str | None:
        """The answer to a request of this job that was paid for before."""
        ...

    async def allow(self) -> None:
        """Before a call is made. Raises BudgetSpent."""
        ...

    async def record(self, request_hash: str, answer: str | None, usage: Usage) -> None:
        """After it: what it cost, and the answer, on disk when this returns; None for one that cannot be used."""
        ...


class Extractor(Protocol):
    """A model that reads episodes, with Graphiti's pipeline before it."""

    @property
    def model(self) -> str: ...

    async def extract(self, task: ExtractionTask, ledger: ModelLedger) -> Extraction:
        """Read one episode; writes nothing to the graph.

        Raises:
            ModelUnavailable: it cannot be reached, or asks to wait: try again, not before ``retry_after`` seconds.
            ModelRefused: asking again is of no use before someone has changed something: key, model name, content.
            ModelNonsense: its answer does not fit, nor does the repaired one; another attempt may.
            BudgetSpent: by the ledger.
            NotFound: the episode is not there (any more).
            Unavailable: the database does not answer.
        """
        ...


class ClaimedExtraction(Record):
    """A job that this process works on, as long as it keeps its lease."""

    id: int
    group_id: str
    job: ExtractJob
    attempts: int
    """Attempts that failed before."""


class ExtractionRecord(Record):
    """A job as it is shown."""

    id: int
    group_id: str
    episode_uuid: str
    job_uuid: str
    task: ExtractTask = "episode"
    state: ExtractionState
    attempts: int = 0
    reason: str = ""
    """Why it failed, or waits; holds nothing of the memory."""
    remedy: str = ""
    """What to do about it."""
    queued_at: datetime
    not_before: datetime
    finished_at: datetime | None = None
    usage: Usage = Usage()
    answer: dict[str, object] = Field(default_factory=dict)
    """What its write stored (``ExtractionAnswer``), once it is done; empty after something of it was forgotten."""


class ExtractionQueue(Protocol):
    """Durable jobs of all groups: one at a time and in order within a group, whoever works on them."""

    async def enqueue(self, group_id: str, jobs: Sequence[ExtractJob]) -> list[int]:
        """Add jobs beside those that ``Journal.append`` adds with a write; returns their ids."""
        ...

    async def claim(self, owner: str, lease_seconds: float) -> ClaimedExtraction | None:
        """Lease the oldest job that may start; None while paused.

        A group's job waits for every older one of its group that is queued, be it for later, or running. A lease that
        ran out is a failed attempt; after ``MAX_ATTEMPTS`` of them the job is failed. Its write may not be in the graph
        yet: finish the group's writes under its lock before reading the episode.

        Args:
            owner: stands for this one claim, so another for each: a write that forgets takes a running job away and
                queues it again, perhaps for the same process.
            lease_seconds: how long it is held without a ``heartbeat``.
        """
        ...

    async def heartbeat(self, job_id: int, owner: str, lease_seconds: float) -> bool:
        """Prolong the lease; False if it is another's, the job was cancelled, or something of its group forgotten.

        Asked under the group's lock before its write is journalled, so that no such result is written.
        """
        ...

    async def finish(self, job_id: int, owner: str) -> bool:
        """Done, its kept answers go; False, and nothing changed, if the lease is another's."""
        ...

    async def put_back(
        self, job_id: int, owner: str, reason: str, delay_seconds: float, *, counts: bool, remedy: str = ""
    ) -> bool:
        """Queue it again for later; ``counts``: as a failed attempt, of which the last fails it."""
        ...

    async def fail(self, job_id: int, owner: str, reason: str, remedy: str) -> bool:
        """Failed for good; its kept answers stay for a retry."""
        ...

    async def drop(self, job_id: int, owner: str, reason: str) -> bool:
        """Cancelled by the worker: its episode is gone."""
        ...

    async def find(self, job_ids: Sequence[int]) -> list[ExtractionRecord]:
        """Those jobs, by id; unknown ones are left out."""
        ...

    async def former(self, job_id: int) -> ExtractionRecord | None:
        """The latest done job of the same episode before this one."""
        ...

    async def of_episodes(self, episode_uuids: Sequence[str]) -> list[ExtractionRecord]:
        """The latest job of each episode that has one."""
        ...

    async def of_jobs(self, job_uuids: Sequence[str]) -> list[ExtractionRecord]:
        """The jobs of these uuids; unknown ones are left out."""
        ...

    async def page(
        self, states: Sequence[ExtractionState], group_ids: Sequence[str] | None, limit: int, before_id: int | None
    ) -> list[ExtractionRecord]:
        """Jobs in those states, newest first; ``group_ids`` None: of all groups."""
        ...

    async def sizes(self, group_ids: Sequence[str] | None) -> dict[ExtractionState, int]:
        """How many jobs there are in each state."""
        ...

    async def retry(self, job_ids: Sequence[int]) -> int:
        """Queue failed and cancelled jobs again, and waiting ones at once; returns how many."""
        ...

    async def cancel(self, job_ids: Sequence[int]) -> int:
        """Cancel queued and running jobs; what a running one has not written yet is dropped. Returns how many.

        A job whose write is journalled is past that.
        """
        ...

    async def pause(self, *, paused: bool) -> None:
        """Stop claiming, or go on, in every process; what runs ends."""
        ...

    async def paused(self) -> bool: ...

    async def spent(self, day: str | None) -> Usage:
        """What all jobs cost on a day, as ``YYYY-MM-DD``; None: so far."""
        ...

    def ledger(self, job_id: int, budget: Budget, day: str) -> ModelLedger:
        """The kept answers and the budget of a job that this queue has claimed.

        It keeps answers as long as that claim holds. Calls allowed here and not recorded yet count as spent until
        they are, or the claim ends.
        """
        ...
