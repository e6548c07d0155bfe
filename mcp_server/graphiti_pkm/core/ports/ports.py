"""What the services need from the outside: graph, journal, embedder, locks.

Every method is bounded: it takes a limit, or a list the service has already bounded. Group ids here are stored ids.
Readers return no embedding. Order is part of each contract; ``tests/contracts`` run on the fake and the real database.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Literal, Protocol

from graphiti_pkm.core.health import WriteCheck
from graphiti_pkm.core.model.queries import (
    EntityFilter,
    EpisodeFilter,
    EpisodeHit,
    EpisodePage,
    FactFilter,
    GroupSize,
    NameBook,
    TimelineSummary,
    VectorIndex,
    Window,
)
from graphiti_pkm.core.model.records import (
    Entity,
    Episode,
    Fact,
    Job,
    Name,
    Passage,
    Vector,
    Vectors,
    WriteIntent,
)
from graphiti_pkm.core.ports.changes import GraphChanges
from graphiti_pkm.core.ports.comparing import GraphComparing, JournalComparing
from graphiti_pkm.core.ports.embedding import GraphEmbedding, JournalEmbedding
from graphiti_pkm.core.ports.erasing import JournalErasing
from graphiti_pkm.core.ports.fact_lists import GraphFacts
from graphiti_pkm.core.ports.neighbours import GraphNeighbours
from graphiti_pkm.core.ports.rebuilding import JournalRebuilding
from graphiti_pkm.core.ports.sagas import GraphSagas
from graphiti_pkm.core.ports.walks import GraphWalks

RecordKind = Literal["entity", "fact", "episode"]


class GraphReader(GraphFacts, Protocol):
    """Bounded reads; group_ids narrow every one of them, also those by uuid."""

    async def groups(self) -> list[str]:
        """Stored ids of all groups that hold something, sorted."""
        ...

    async def find_uuids(self, kind: RecordKind, prefix: str, group_ids: Sequence[str], limit: int) -> list[str]:
        """Uuids that start with ``prefix`` (a whole uuid is its own prefix), sorted, at most ``limit``."""
        ...

    async def get_entities(self, uuids: Sequence[str], group_ids: Sequence[str]) -> list[Entity]:
        """In the order asked; unknown ones are left out."""
        ...

    async def get_episodes(self, uuids: Sequence[str], group_ids: Sequence[str]) -> list[Episode]:
        """In the order asked; unknown ones are left out."""
        ...

    async def get_facts(self, uuids: Sequence[str], group_ids: Sequence[str]) -> list[Fact]:
        """In the order asked, with endpoint names; unknown ones are left out."""
        ...

    async def get_names(self, keys: Sequence[str]) -> dict[str, Name]:
        """Names by key; keys hold the group. Falls back to Graphiti entities of that exact name without one."""
        ...

    async def aliases(self, entity_uuids: Sequence[str], limit_each: int) -> dict[str, list[str]]:
        """Aliases of each entity, and other spellings of its names, in alphabetical order."""
        ...

    async def name_book(self, group_id: str, known_version: int | None) -> NameBook | None:
        """All linkable names of a group for mention linking, or None if ``known_version`` is still current."""
        ...

    async def relations(self, group_id: str, limit: int) -> dict[str, int]:
        """Relation names of a group with how often each is used, most used first."""
        ...

    async def measures(self, group_id: str, source_uuid: str, limit: int) -> dict[str, int]:
        """Measure names of the readings of one entity with their counts, most used first."""
        ...

    async def entity_page(self, wanted: EntityFilter, window: Window) -> tuple[list[Entity], int]:
        """Entities under the filter by name, then uuid, with their total."""
        ...

    async def timeline(self, entity_uuid: str, wanted: EpisodeFilter, window: Window) -> EpisodePage:
        """Episodes that mention an entity. ``window.newest`` True: newest first; False: oldest first.

        Of one valid_at in the order they were recorded, newest or oldest first alike; then by uuid.
        """
        ...

    async def timeline_summary(self, entity_uuid: str, wanted: EpisodeFilter, zone: tzinfo) -> TimelineSummary:
        """First and last mention, how many there are, and enough to count them by month in ``zone``."""
        ...

    async def recent_episodes(self, wanted: EpisodeFilter, window: Window) -> EpisodePage:
        """Episodes of groups by valid_at, newest first."""
        ...

    async def episode_entities(
        self, episode_uuids: Sequence[str], group_ids: Sequence[str], window: Window
    ) -> tuple[list[Entity], int]:
        """Distinct entities mentioned by the episodes, by name then uuid, with their total."""
        ...

    async def episode_facts(self, episode_uuid: str, group_ids: Sequence[str], limit: int) -> list[Fact]:
        """Facts this episode supports, alone or with others."""
        ...

    async def facts_of_episodes(self, episode_uuids: Sequence[str], group_ids: Sequence[str], limit: int) -> list[Fact]:
        """Facts that any of these episodes supports, newest created first: one reading of the group for all."""
        ...

    async def retired_by_episode(self, episode_uuid: str, group_ids: Sequence[str], limit: int) -> list[Fact]:
        """Facts that this episode ended or voided, whether or not they are so still, newest created first."""
        ...

    async def retired_by_fact(self, fact_uuid: str, group_ids: Sequence[str], limit: int) -> list[Fact]:
        """Facts whose place this fact took, as ``retired_by_episode``."""
        ...

    async def entity_support(self, entity_uuids: Sequence[str]) -> dict[str, tuple[int, int]]:
        """(number of mentions, number of facts, voided ones included) of each entity."""
        ...

    async def passages(self, episode_uuid: str, without_vector: bool, limit: int) -> list[Passage]:
        """Passages of an episode by offset."""
        ...

    async def readings(self, group_id: str, source_uuid: str, measure_key: str, limit: int) -> tuple[list[Fact], int]:
        """The newest readings of one series, oldest first, and how many there are."""
        ...

    async def episodes_naming(
        self, group_id: str, name: str, before: datetime, after: str | None, limit: int
    ) -> list[Episode]:
        """Episodes whose text may hold ``name`` (a superset of the exact rule), by uuid, after ``after``."""
        ...

    async def search_entities(self, terms: Sequence[str], wanted: EntityFilter, limit: int) -> dict[str, float]:
        """Full-text hits in names, aliases and summaries: uuid to an unbounded score, best first.

        Terms (``names.search_terms``, ``beginning_term``) weigh by how rare they are in these groups; then the newest.
        """
        ...

    async def search_facts(self, terms: Sequence[str], wanted: FactFilter, limit: int) -> dict[str, float]:
        """Full-text hits in relation names and fact texts, filtered in the query."""
        ...

    async def search_episodes(self, terms: Sequence[str], wanted: EpisodeFilter, limit: int) -> dict[str, float]:
        """Full-text hits in names and contents of episodes; terms may be those of ``names.part_terms``."""
        ...

    async def nearest_entities(self, vector: Vector, wanted: EntityFilter, limit: int) -> dict[str, float]:
        """Nearest names: uuid to exact raw cosine, best first; a large group's may be found through an index."""
        ...

    async def nearest_facts(self, vector: Vector, wanted: FactFilter, limit: int) -> dict[str, float]:
        """Nearest facts, as ``nearest_entities``."""
        ...

    async def nearest_episodes(self, vector: Vector, wanted: EpisodeFilter, limit: int) -> dict[str, EpisodeHit]:
        """Episodes by their best passage, best first."""
        ...

    async def fact_distances(self, center_uuid: str, entity_uuids: Sequence[str]) -> dict[str, int]:
        """Hops (0 to 2) from an entity to others over facts; unreachable ones are left out."""
        ...

    async def group_sizes(self, group_ids: Sequence[str]) -> dict[str, GroupSize]:
        """How many episodes, entities and facts each group holds."""
        ...


class GraphWriter(WriteCheck, Protocol):
    """Applies whole intents."""

    async def apply(self, intent: WriteIntent, vectors: Vectors) -> None:
        """Put the whole intent and its marker into the graph; harmless when repeated.

        A write whose marker is there is left alone: repeating it brings neither older values nor anything
        forgotten back. A name stays with its first holder, as first spelt, and gathers spellings. A record without a
        vector keeps the one it has. What hangs on a record that is not there (mention, fact, passage, update) is left
        out.

        Raises:
            Unavailable: the database could not be reached or died; the intent may be partly there.
            WriteFailed: the database refused the write; nothing of it is there.
        """
        ...

    async def applied(self, write_uuids: Sequence[str]) -> set[str]:
        """Those writes whose marker the graph holds."""
        ...

    async def wait_durable(self) -> bool:
        """True once everything written so far is on disk (WAITAOF, or the commit itself)."""
        ...

    async def erase(self) -> bool:
        """Make the database's own file anew, so that nothing is in it that the graph does not hold; True once it is.

        False: not done, try again later. Raises Unavailable.
        """
        ...

    async def clear(self) -> None:
        """Remove the whole graph with all markers, and build the indexes anew (for rebuild)."""
        ...


class GraphReads(GraphReader, GraphNeighbours, GraphSagas, GraphWalks, GraphChanges, GraphComparing, Protocol):
    """All that is asked of it."""


class Graph(GraphReads, GraphEmbedding, GraphWriter, Protocol):
    """All of them, with what status and start-up need."""

    async def ready(self) -> bool:
        """True when range and full-text indexes answer."""
        ...

    async def vector_indexes(self) -> tuple[VectorIndex, ...]:
        """The indexes for searches by meaning, complete or not; small groups need none."""
        ...

    async def close(self) -> None: ...


class Embedder(Protocol):
    """Turns text into unit vectors; concurrent calls are batched together."""

    @property
    def model(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    async def available(self) -> bool:
        """False when there are no weights: the product then works by full text alone."""
        ...

    async def embed(self, texts: Sequence[str], patience: float | None = None) -> list[Vector]:
        """One vector a text, in order. Raises Unavailable: no weights, or a service does not answer as it should.

        ``patience``: seconds after which a service counts as not answering, as somebody waits.
        """
        ...

    async def problem(self) -> str | None:
        """Why there are no vectors now, and what to do about it; None while there are, as far as is known."""
        ...


class JournalRow(Protocol):
    """One write as the journal keeps it."""

    @property
    def seq(self) -> int: ...
    @property
    def intent(self) -> WriteIntent: ...
    @property
    def vectors(self) -> Vectors: ...


class Journal(JournalComparing, JournalErasing, JournalEmbedding, JournalRebuilding, WriteCheck, Protocol):
    """The second copy of every write. All methods are quick local SQLite calls, run off the event loop."""

    async def append(
        self, intent: WriteIntent, vectors: Vectors, request_hash: str, answer: Mapping[str, object]
    ) -> int:
        """Commit the intent, its jobs and its answer (state ``intent``) durably; returns its sequence number.

        Raises:
            WriteFailed: it cannot be written, or the job that it is of was cancelled.
            ConflictingContent: another memory in force has the uuid of its episode.

        With ``forgets`` every earlier row of the group loses the same in the same transaction (``domain.redaction``),
        failed ones too; a row that lost something has neither request hash nor answer afterwards.
        """
        ...

    async def written(self, write_uuid: str) -> None:
        """The graph has it, perhaps not on disk yet (state ``written``)."""
        ...

    async def withdraw(self, write_uuid: str) -> None:
        """The graph refused it and nothing of it is kept; its jobs go as well."""
        ...

    async def fail(self, write_uuid: str, reason: str) -> None:
        """Set aside after repeated refusals; shown by status, never replayed by itself."""
        ...

    async def begin_attempt(self, write_uuid: str) -> int:
        """Before an unfinished write is applied again; returns how many attempts never ended, this one included."""
        ...

    async def end_attempt(self, write_uuid: str) -> None:
        """The attempt ended, in whatever way: it is not what ends processes."""
        ...

    async def unfinished(self, group_id: str | None) -> Sequence[JournalRow]:
        """Rows in state ``intent``, oldest first."""
        ...

    async def written_until_now(self) -> list[str]:
        """Write uuids in state ``written``, oldest first (at most 1,000)."""
        ...

    async def applied(self, write_uuids: Sequence[str]) -> None:
        """The graph holds them on disk (state ``applied``)."""
        ...

    async def newest_uuids(self, limit: int) -> list[str]:
        """Uuids of the newest rows that the graph should hold (``written`` or ``applied``), newest first."""
        ...

    async def find(self, write_uuids: Sequence[str]) -> Sequence[JournalRow]:
        """Those writes, in order; unknown and failed ones are left out."""
        ...

    async def backup(self, path: Path) -> None:
        """Write a consistent copy of the whole journal to a new file while writers go on."""
        ...

    async def verify_backup(self, path: Path) -> int:
        """How many rows a backup holds, after checking that ``restore`` would take it.

        Raises:
            InvalidInput: there is no such file, or it is no backup of a journal.
            DamagedStore: it is damaged.
            NewerSchema: a newer version wrote it.
        """
        ...

    async def restore(self, path: Path, *, drops_unknown: bool = False, former: str = "") -> int:
        """Replace all rows by those of a backup, checked first, and mark a rebuild, in one step; how many rows."""
        ...

    async def rows(self, after_seq: int, limit: int) -> Sequence[JournalRow]:
        """Rows that are not withdrawn or failed, in order: the input of a rebuild."""
        ...

    async def receipt(self, episode_uuid: str) -> tuple[str, dict[str, object]] | None:
        """Request hash and answer of the add_memory in force for this episode: not failed, not deleted since."""
        ...

    async def steering(self, episode_uuid: str) -> dict[str, object]:
        """What the same add_memory said about how a model should read it; empty if nothing, or if it is not there."""
        ...

    async def episode_count(self) -> int:
        """How many added episodes are in force: not failed, not deleted since."""
        ...

    async def damage(self) -> str | None:
        """What is broken in the file and what to do, or None; looked for now and then, in large files by no call."""
        ...

    async def counts(self) -> dict[str, int]:
        """Rows by state and jobs by state (``jobs_queued``, ``jobs_running``, ``jobs_failed``)."""
        ...

    async def claim_job(self, owner: str, lease_seconds: float) -> tuple[int, str, Job] | None:
        """Lease the oldest waiting job: (id, group id, job); an expired lease counts as waiting."""
        ...

    async def finish_job(self, job_id: int) -> None:
        """Done. This, ``advance_job`` and ``retry_job`` do nothing once the lease is another's."""
        ...

    async def advance_job(self, job_id: int, job: Job, delay_seconds: float = 0) -> None:
        """Keep progress and put the job back into the queue, with all its attempts."""
        ...

    async def retry_job(self, job_id: int, reason: str, delay_seconds: float) -> None:
        """Put back after a failure; after 8 attempts it is failed and shown by status."""
        ...

    async def pending_links(self, entity_uuids: Sequence[str]) -> set[str]:
        """Those entities with a back-link job that is not done."""
        ...
