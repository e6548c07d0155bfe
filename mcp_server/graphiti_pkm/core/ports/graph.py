"""The graph: named parts that every capability may ask, each a port that a store has to implement.

Every method is bounded: it takes a limit, or a list the caller has already bounded. Group ids here are stored ids and
narrow every read, also those by uuid. Readers return no embedding. Order is part of each contract; ``tests/contracts``
run on the fake and on every database. What only one capability asks stands in the ``ports.py`` of that capability.
"""

from collections.abc import Sequence
from datetime import datetime, tzinfo
from typing import Literal, Protocol

from graphiti_pkm.core.health import WriteCheck
from graphiti_pkm.core.model.places import Place, Stretch
from graphiti_pkm.core.model.queries import (
    Companion,
    EntityFilter,
    EpisodeFilter,
    EpisodeHit,
    EpisodePage,
    FactCounts,
    FactFilter,
    FactPage,
    GroupSize,
    NameBook,
    NewestOf,
    ReadingSeries,
    TimelineSummary,
    VectorIndex,
    Window,
)
from graphiti_pkm.core.model.records import (
    Entity,
    Episode,
    Fact,
    Name,
    Origin,
    Passage,
    RecordedChange,
    Vector,
    Vectors,
    WriteIntent,
)
from graphiti_pkm.core.model.saga_records import Saga, SagaMembers
from graphiti_pkm.core.model.stems import EpisodeWords
from graphiti_pkm.core.ports.comparing import GraphComparison
from graphiti_pkm.core.ports.documents import GraphDocuments
from graphiti_pkm.core.ports.effects import Effect
from graphiti_pkm.core.ports.embedding import GraphEmbeddings

RecordKind = Literal["entity", "fact", "episode"]


class GraphRecords(Protocol):
    """Records by uuid, by name and by group."""

    async def groups(self) -> list[str]:
        """Stored ids of all groups that hold something, sorted."""
        ...

    async def find_uuids(self, kind: RecordKind, prefix: str, group_ids: Sequence[str], limit: int) -> list[str]:
        """Uuids that start with ``prefix`` (a whole uuid is its own prefix), sorted, at most ``limit``."""
        ...

    async def origins(self, kind: RecordKind, uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, Origin]:
        """Who made these records; those of older versions, and those that Graphiti wrote, are left out."""
        ...

    async def get_entities(self, uuids: Sequence[str], group_ids: Sequence[str]) -> list[Entity]:
        """In the order given; unknown ones are left out. One that was merged into another stands for the other."""
        ...

    async def former_uuids(self, group_id: str) -> dict[str, str]:
        """The uuids of all entities of a group that were merged into others, each with the one that it means now."""
        ...

    async def get_episodes(self, uuids: Sequence[str], group_ids: Sequence[str]) -> list[Episode]:
        """In the order given; unknown ones are left out."""
        ...

    async def get_facts(self, uuids: Sequence[str], group_ids: Sequence[str]) -> list[Fact]:
        """In the order given, with names of both ends; unknown ones are left out."""
        ...

    async def get_names(self, keys: Sequence[str]) -> dict[str, Name]:
        """Names by key; keys hold the group. Falls back to Graphiti entities of that exact name without one."""
        ...

    async def aliases(self, entity_uuids: Sequence[str], limit_each: int) -> dict[str, list[str]]:
        """Aliases of each entity, and other spellings of its names, in alphabetical order."""
        ...

    async def mentioned(self, pairs: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
        """Which of these episodes mention which of these entities."""
        ...

    async def apart(self, pairs: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
        """Which of these pairs are kept apart (``EntityState.apart``)."""
        ...

    async def name_book(self, group_id: str, known_version: int | None) -> NameBook | None:
        """All linkable names of a group for mention linking, or None if ``known_version`` is still current."""
        ...

    async def entity_support(self, entity_uuids: Sequence[str]) -> dict[str, tuple[int, int]]:
        """(number of mentions, number of facts, voided ones included) of each entity."""
        ...

    async def group_sizes(self, group_ids: Sequence[str]) -> dict[str, GroupSize]:
        """How many episodes, entities and facts each group holds."""
        ...

    async def entity_page(self, wanted: EntityFilter, window: Window) -> tuple[list[Entity], int]:
        """Entities under the filter by name, then uuid, with their total."""
        ...


class GraphFacts(Protocol):
    """Bounded lists of facts, as they are or as they were known."""

    async def connections(self, entity_uuid: str, wanted: FactFilter, window: Window) -> FactPage:
        """Facts of an entity, in either direction: current first, then newest valid_at, created_at, then uuid.

        Current at ``as_of``, else ``known_at``, else ``now``: what only possibly held at ``as_of`` comes after.
        ``window.newest`` False: oldest first, by valid_at (unknown start: reference_time), created_at, then uuid.
        """
        ...

    async def group_facts(self, wanted: FactFilter, window: Window) -> FactPage:
        """All facts under the filter, in the orders of ``connections``."""
        ...

    async def reading_series(
        self, entity_uuid: str | None, wanted: FactFilter, zone: str, limit: int, months: int
    ) -> list[ReadingSeries]:
        """Of the readings that ``connections`` (``group_facts`` without an entity) lists: those with most readings.

        Voided ones do not count. ``months``: how many means there are at most; ``zone`` names a time zone.
        """
        ...

    async def facts_under(self, uuids: Sequence[str], wanted: FactFilter) -> list[Fact]:
        """The given facts that pass the filter, in the order given, with their values at ``known_at``."""
        ...

    async def first_fact(
        self, entity_uuid: str | None, group_ids: Sequence[str], relations: Sequence[str]
    ) -> datetime | None:
        """The earliest date of a fact that is not voided: its start, else when recorded; of an entity, or of all."""
        ...

    async def record_start(self, group_ids: Sequence[str]) -> datetime | None:
        """When the first episode of these groups was recorded."""
        ...

    async def newest_record(self, group_ids: Sequence[str]) -> datetime | None:
        """The time of the newest write into these groups; ahead of the clock if that was set back."""
        ...

    async def fact_counts(self, entity_uuid: str, wanted: FactFilter, neighbours: int, kinds: int) -> FactCounts:
        """Facts under the same filter: per neighbour, and per kind and relation, or measure; most first, then by name.

        Counts per neighbour add up to the page's total without observations, which join an entity to nothing.
        ``neighbours`` and ``kinds``: how many there are at most.
        """
        ...

    async def newest_facts(
        self,
        entity_uuids: Sequence[str],
        group_ids: Sequence[str],
        now: datetime,
        limit_each: int,
        *,
        status: NewestOf = "current",
    ) -> dict[str, list[Fact]]:
        """States of each entity that are current, or that have ended, newest first; or its readings as a measure."""
        ...

    async def voided(self, fact_uuids: Sequence[str], group_ids: Sequence[str]) -> set[str]:
        """Which of these were voided."""
        ...

    async def facts_with_relation(
        self, group_id: str, pairs: Sequence[tuple[str, str]], limit_each: int
    ) -> list[list[Fact]]:
        """Facts for each (source uuid, relation as stored), not voided, newest created first."""
        ...

    async def facts_between(self, group_id: str, pairs: Sequence[tuple[str, str]], limit_each: int) -> list[list[Fact]]:
        """Facts for each (source uuid, target uuid), any relation, not voided, newest created first."""
        ...

    async def relations(self, group_id: str, limit: int) -> dict[str, int]:
        """Relation names of a group with how often each is used, most used first."""
        ...

    async def measures(self, group_id: str, source_uuid: str | None, limit: int) -> dict[str, int]:
        """Measure names of the readings of one entity, or of all, with their counts, most used first."""
        ...

    async def readings(self, group_id: str, source_uuid: str, measure_key: str, limit: int) -> tuple[list[Fact], int]:
        """The newest readings of one series, oldest first, and how many there are."""
        ...

    async def episode_facts(self, episode_uuid: str, group_ids: Sequence[str], limit: int) -> list[Fact]:
        """Facts this episode supports, alone or with others."""
        ...

    async def facts_of_episodes(self, episode_uuids: Sequence[str], group_ids: Sequence[str], limit: int) -> list[Fact]:
        """Facts that any of these episodes supports, newest created first; one scan of the group for all."""
        ...

    async def retired_by_episode(self, episode_uuid: str, group_ids: Sequence[str], limit: int) -> list[Fact]:
        """Facts that this episode ended or voided, whether or not they are so still, newest created first."""
        ...

    async def retired_by_fact(self, fact_uuid: str, group_ids: Sequence[str], limit: int) -> list[Fact]:
        """Facts whose place this fact took, as ``retired_by_episode``."""
        ...


class GraphEpisodes(Protocol):
    """Episodes in time: by entity, by group, and what they mention."""

    async def timeline(self, entity_uuid: str, wanted: EpisodeFilter, window: Window) -> EpisodePage:
        """Episodes that mention an entity. ``window.newest`` True: newest first; False: oldest first.

        Of one valid_at in the order they were recorded, newest or oldest first alike; then by uuid.
        """
        ...

    async def timeline_summary(self, entity_uuid: str, wanted: EpisodeFilter, zone: tzinfo) -> TimelineSummary:
        """First and last mention, how many there are, and enough to count them by month in ``zone``."""
        ...

    async def mentioned_with(self, entity_uuid: str, wanted: EpisodeFilter, newest: int, limit: int) -> list[Companion]:
        """Other entities in the newest episodes that mention this one, most often first, then by name."""
        ...

    async def recent_episodes(self, wanted: EpisodeFilter, window: Window) -> EpisodePage:
        """Episodes of groups by valid_at, in the order of ``window.newest``."""
        ...

    async def episode_entities(
        self, episode_uuids: Sequence[str], group_ids: Sequence[str], window: Window
    ) -> tuple[list[Entity], int]:
        """Distinct entities mentioned by the episodes, by name then uuid, with their total."""
        ...

    async def passages(self, episode_uuid: str, without_vector: bool, limit: int) -> list[Passage]:
        """Passages of an episode by offset."""
        ...

    async def episode_places(self, uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, Place]:
        """Positions of these episodes; unknown ones and those of other groups are left out."""
        ...

    async def same_text(self, stretch: Stretch, content: str) -> str | None:
        """Uuid of the first recorded episode of a period with exactly this content."""
        ...

    async def own_mentions(self, entity_uuids: Sequence[str], limit_each: int) -> dict[str, list[str]]:
        """Uuids of the episodes that mention each entity on their own, at most ``limit_each``.

        Without those that a back link connected later. Entities without any are left out.
        """
        ...


class GraphSearch(Protocol):
    """Full text and vectors: hits by uuid, best first."""

    async def search_entities(self, terms: Sequence[str], wanted: EntityFilter, limit: int) -> dict[str, float]:
        """Full-text hits in names, aliases and summaries: uuid to an unbounded score, best first.

        Terms (``names.search_terms``, ``beginning_term``) weigh by how rare they are in these groups; then the newest.
        """
        ...

    async def search_facts(self, terms: Sequence[str], wanted: FactFilter, limit: int) -> dict[str, float]:
        """Full-text hits in relation names, texts and quotes of facts, filtered in the query."""
        ...

    async def fact_texts(self, uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, str]:
        """Sentence, relation, both names and quote of each fact, as one text; those of other groups are left out.

        Of a quote the first ``COMPARED_QUOTE`` characters, and none that is its sentence.
        """
        ...

    async def search_episodes(self, terms: Sequence[str], wanted: EpisodeFilter, limit: int) -> dict[str, float]:
        """Full-text hits in names and contents of episodes; terms may be those of ``names.part_terms``."""
        ...

    async def episode_words(
        self, uuids: Sequence[str], stems: Sequence[str], parts: Sequence[str], group_ids: Sequence[str]
    ) -> dict[str, EpisodeWords]:
        """How often name and content of each episode have these stems (``core.model.stems``), and its position.

        ``parts``: stems that are also counted inside of other words. Unknown episodes, and those of other groups, are
        left out.
        """
        ...

    async def episodes_holding(self, terms: Sequence[str], wanted: EpisodeFilter) -> dict[str, int]:
        """How many episodes have each of these words (``names.search_terms``); 0 is left out.

        Of the filter, groups and ``recorded_until`` count.
        """
        ...

    async def episode_cosines(self, vector: Vector, uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, float]:
        """The cosine of each episode's nearest passage; those without a vector, or of other groups, are left out."""
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

    async def episodes_naming(
        self,
        group_id: str,
        name: str,
        before: datetime,
        after: str | None,
        limit: int,
        *,
        only_linking: bool = False,
    ) -> list[Episode]:
        """Episodes whose text may hold ``name`` (a superset of the exact rule), by uuid, after ``after``.

        ``only_linking``: without entries whose names are not to be linked.
        """
        ...


class GraphChanges(Protocol):
    """What became of facts."""

    async def fact_changes(
        self, fact_uuids: Sequence[str], group_ids: Sequence[str], limit_each: int
    ) -> dict[str, list[RecordedChange]]:
        """The newest events of each fact, newest first (of one write, the last first); without the addition."""
        ...

    async def replacements(self, fact_uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, str]:
        """Uuids of the facts that replaced these when they last ended; facts without one are left out."""
        ...

    async def reasons(self, group_id: str, limit: int) -> dict[str, str]:
        """Reasons that callers gave for changes, by the uuid of the change, newest recorded first."""
        ...


class GraphSagas(Protocol):
    """Sagas and the chains of their episodes."""

    async def find_sagas(self, group_id: str, uuids: Sequence[str], name: str) -> list[Saga]:
        """Sagas with these uuids and those of exactly this name, oldest first, at most ten."""
        ...

    async def listed(self, group_id: str, window: Window) -> list[Saga]:
        """The sagas of a group, by name and uuid, which are the key."""
        ...

    async def latest_of_saga(self, saga_uuid: str) -> str | None:
        """The episode that a new one follows: the latest in time; of several, the last recorded."""
        ...

    async def episodes_of_saga(self, saga_uuid: str, recorded_after: datetime | None, limit: int) -> list[Episode]:
        """Episodes of the saga in its group, in the order recorded, oldest first."""
        ...

    async def sagas_of_episodes(
        self, episode_uuids: Sequence[str], group_ids: Sequence[str], without: Sequence[str]
    ) -> list[SagaMembers]:
        """Sagas that contain any of the episodes, by uuid; their other episodes are those not in ``without``.

        First and last are so in time; of several at one time, by when they were recorded.
        """
        ...

    async def links_around(self, episode_uuids: Sequence[str]) -> list[tuple[str, str]]:
        """All links from and to the episodes, as previous and next, in order of their uuids."""
        ...


class GraphVectors(Protocol):
    """The indexes for searches by meaning."""

    async def vector_indexes(self) -> tuple[VectorIndex, ...]:
        """The indexes for searches by meaning, complete or not; small groups need none."""
        ...


class GraphWriter(WriteCheck, Protocol):
    """Applies whole intents."""

    async def apply(self, intent: WriteIntent, vectors: Vectors) -> None:
        """Write the whole intent and its marker into the graph; idempotent.

        A write whose marker is there is left alone: repeating it brings neither older values nor anything
        forgotten back. A name stays with its first holder, as first spelt, and gathers spellings. A record without a
        vector keeps the one it has. What hangs on a record that is not there (mention, fact, passage, update) is left
        out.

        Raises:
            Unavailable: the database could not be reached or died; the intent may be partly there.
            WriteFailed: the database refused the write; nothing of it is there.
        """
        ...

    def effect(self, intent: WriteIntent, vectors: Vectors) -> Effect | None:
        """What the journal runs in its own transaction, if the graph lies in the journal's file; else None."""
        ...

    async def applied(self, write_uuids: Sequence[str]) -> set[str]:
        """The writes whose marker is in the graph."""
        ...

    async def wait_durable(self) -> bool:
        """True once everything written so far is on disk (WAITAOF, or the commit itself)."""
        ...


class Graph(Protocol):
    """The parts by name, and what concerns the graph as a whole."""

    @property
    def records(self) -> GraphRecords: ...
    @property
    def facts(self) -> GraphFacts: ...
    @property
    def episodes(self) -> GraphEpisodes: ...
    @property
    def search(self) -> GraphSearch: ...
    @property
    def changes(self) -> GraphChanges: ...
    @property
    def sagas(self) -> GraphSagas: ...
    @property
    def documents(self) -> GraphDocuments: ...
    @property
    def embeddings(self) -> GraphEmbeddings: ...
    @property
    def comparison(self) -> GraphComparison: ...
    @property
    def vectors(self) -> GraphVectors: ...
    @property
    def writer(self) -> GraphWriter: ...

    async def ready(self) -> bool:
        """True when range and full-text indexes answer."""
        ...

    async def clear(self) -> None:
        """Remove the whole graph with all markers, and build the indexes again (for rebuild)."""
        ...

    async def erase(self) -> bool:
        """Rewrite the database's file without deleted data; True when done.

        False: not done, try again later. Raises Unavailable.
        """
        ...

    async def close(self) -> None: ...
