"""Extraction by a model: the task of a job, the result, and a durable queue.

A job extracts from one episode. Its result becomes one write (``WriteKind.EXTRACT``) with the job's uuid, so that a
repeated job finds its write in the journal and ends. All answers of the model are kept with the job until it ends, by a
hash of the request: a resumed job never pays twice.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, Protocol, Self

from pydantic import Field

from graphiti_pkm.core.model.job_records import ExtractJob, ExtractTask
from graphiti_pkm.core.model.records import Record
from graphiti_pkm.errors import BudgetSpent
from graphiti_pkm.settings.loader import Settings

ExtractionState = Literal["queued", "running", "done", "failed", "cancelled"]

MAX_ATTEMPTS = 8
"""Failed attempts after which a job fails."""
LOST = "whoever worked on it did not come back"
LOST_REMEDY = (
    f"{MAX_ATTEMPTS} processes ended while they worked on it: see their log, then `graphiti-pkm queue retry --all`."
)


class Usage(Record):
    """The cost of model calls."""

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


NO_JOB = 0
"""For the ledger of a call that is answered at once."""


class Budget(Record):
    """The spending limits; None is no limit. A day is in the zone of the setting ``timezone``."""

    calls_per_day: int | None = None
    tokens_per_day: int | None = None
    calls_per_episode: int | None = None
    tokens_per_episode: int | None = None

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """The configured limits."""
        return cls(
            calls_per_day=settings.llm_calls_per_day,
            tokens_per_day=settings.llm_tokens_per_day,
            calls_per_episode=settings.llm_calls_per_episode,
            tokens_per_episode=settings.llm_tokens_per_episode,
        )

    def check(self, of_day: Usage, of_episode: Usage) -> None:
        """Check that another call may be made. Raises BudgetSpent."""
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
    """The task of a model: an episode of the graph to be read."""

    group_id: str
    episode_uuid: str
    excluded_entity_types: tuple[str, ...] = ()
    instructions: str = ""
    previous_episode_uuids: tuple[str, ...] | None = None
    """Episodes to read as context; None: the latest before it."""
    supplied_facts: tuple[str, ...] = ()
    """Texts of the facts that the caller gave with the episode: the model need not find them again."""
    person: str = "me"
    """The name of the episode's author."""


class ExtractedEntity(Record):
    """An entity in the model's words; ``uuid`` is that of the entity it was recognised as, if any."""

    uuid: str
    name: str
    is_known: bool
    """Whether the graph contained it when the model was asked."""
    label: str | None = None
    summary: str = ""
    summary_before: str = ""
    """The summary the model was shown; one changed meanwhile is kept."""
    attributes: dict[str, object] = Field(default_factory=dict)


class ExtractedFact(Record):
    """A fact between two extracted entities; ``is_known``: an existing fact that this episode repeats."""

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
    """A fact that the model considers contradicted by another; at least one of the two was extracted."""

    fact_uuid: str
    by_uuid: str
    """The fact that begins where it ends: one of the graph, if the extracted one is older."""
    invalid_at: datetime


class Extraction(Record):
    """What a model found in one episode; nothing of it is in the graph yet."""

    entities: tuple[ExtractedEntity, ...] = ()
    facts: tuple[ExtractedFact, ...] = ()
    endings: tuple[ExtractedEnding, ...] = ()
    left_out: int = 0
    """Names and facts of the model that were dropped as unusable."""


class ModelLedger(Protocol):
    """Every model call of a job goes through it: kept answers first, then the budget."""

    async def recorded(self, request_hash: str) -> str | None:
        """The kept answer to an earlier request of this job."""
        ...

    async def allow(self) -> None:
        """Allow a call before it is made. Raises BudgetSpent."""
        ...

    async def record(self, request_hash: str, answer: str | None, usage: Usage) -> None:
        """Record a call: its cost, and the answer, durably; None for an unusable answer."""
        ...


class Extractor(Protocol):
    """A model that reads episodes through Graphiti's pipeline."""

    @property
    def model(self) -> str: ...

    async def extract(self, task: ExtractionTask, ledger: ModelLedger) -> Extraction:
        """Read one episode; does not write to the graph.

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
    """A job that this process has leased."""

    id: int
    group_id: str
    job: ExtractJob
    attempts: int
    """Earlier failed attempts."""


class ExtractionRecord(Record):
    """A job for display."""

    id: int
    group_id: str
    episode_uuid: str
    job_uuid: str
    task: ExtractTask = "episode"
    state: ExtractionState
    attempts: int = 0
    reason: str = ""
    """Why it failed or waits; contains nothing of the memory."""
    remedy: str = ""
    """What to do about it."""
    queued_at: datetime
    not_before: datetime
    finished_at: datetime | None = None
    usage: Usage = Usage()
    answer: dict[str, object] = Field(default_factory=dict)
    """What its write stored (``ExtractionAnswer``); empty after something of it was forgotten."""


class ExtractionQueue(Protocol):
    """Durable jobs of all groups: within a group one at a time and in order, whichever process works on them."""

    async def enqueue(self, group_id: str, jobs: Sequence[ExtractJob]) -> list[int]:
        """Add jobs besides those that ``Journal.append`` adds with a write; returns their ids."""
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
        """Renew the lease; False if it was lost, the job was cancelled, or something of its group was forgotten.

        Asked under the group's lock before its write is journalled, so that no such result is written.
        """
        ...

    async def finish(self, job_id: int, owner: str) -> bool:
        """Mark as done and remove its kept answers; False, with no change, if the lease was lost."""
        ...

    async def put_back(
        self, job_id: int, owner: str, reason: str, delay_seconds: float, *, counts: bool, remedy: str = ""
    ) -> bool:
        """Queue it again for later; ``counts``: as a failed attempt, the last of which fails the job."""
        ...

    async def fail(self, job_id: int, owner: str, reason: str, remedy: str) -> bool:
        """Fail it for good; its kept answers stay for a retry."""
        ...

    async def drop(self, job_id: int, owner: str, reason: str) -> bool:
        """Cancel it on behalf of its worker, because its episode was deleted."""
        ...

    async def find(self, job_ids: Sequence[int]) -> list[ExtractionRecord]:
        """Jobs by id; unknown ones are left out."""
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
        """Queue failed, cancelled and delayed jobs again, to start at once; returns how many."""
        ...

    async def cancel(self, job_ids: Sequence[int]) -> int:
        """Cancel queued and running jobs; what a running one has not written yet is dropped. Returns how many.

        A job whose write is journalled is past that.
        """
        ...

    async def pause(self, *, paused: bool) -> None:
        """Pause or resume claiming in every process; running jobs continue."""
        ...

    async def paused(self) -> bool: ...

    async def spent(self, day: str | None) -> Usage:
        """Cost of all jobs on a day (``YYYY-MM-DD``); None: in total."""
        ...

    def ledger(self, job_id: int, budget: Budget, day: str) -> ModelLedger:
        """The kept answers and the budget of a job that this queue has claimed.

        It keeps answers as long as that claim holds. Calls allowed here and not recorded yet count as spent until
        they are, or the claim ends. For ``NO_JOB`` nothing is kept, and the cost counts for the day.
        """
        ...
