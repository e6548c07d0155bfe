"""The parts of the store that core asks for, over the functions of this folder."""

import asyncio
import logging
import sqlite3
from collections.abc import Sequence
from datetime import datetime, tzinfo

from graphiti_pkm.core.health import LastWrite
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
    newest_under,
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
from graphiti_pkm.core.ports.effects import Effect
from graphiti_pkm.core.ports.embedding import EmbeddingSize, TextToEmbed
from graphiti_pkm.core.ports.graph import RecordKind
from graphiti_pkm.core.waiting import wait_for_any
from graphiti_pkm.errors import ConfigurationError, PkmError, Unavailable
from graphiti_pkm.storage.graph.sqlite import (
    changes,
    embeddings,
    episode_stems,
    episodes,
    facts,
    lookups,
    merging,
    sagas,
    series,
    vectors,
    words,
    writing,
)
from graphiti_pkm.storage.graph.sqlite.part import OpenFile, SqlitePart
from graphiti_pkm.storage.graph.sqlite.values import as_list

_log = logging.getLogger(__name__)

_EPISODES = 50
"""Whose words are counted in one transaction: writes wait for it."""
_BETWEEN_SECONDS = 0.05
_RETRY_SECONDS = 60.0


class Records(SqlitePart):
    """The port ``GraphRecords``."""

    async def groups(self) -> list[str]:
        return await self._file.read(lookups.groups)

    async def find_uuids(self, kind: RecordKind, prefix: str, group_ids: Sequence[str], limit: int) -> list[str]:
        return await self._file.read(lambda db: lookups.uuids(db, kind, prefix, group_ids, limit))

    async def origins(self, kind: RecordKind, uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, Origin]:
        return await self._file.read(lambda db: lookups.origins(db, kind, uuids, group_ids))

    async def get_entities(self, uuids: Sequence[str], group_ids: Sequence[str]) -> list[Entity]:
        return await self._file.read(lambda db: lookups.entities(db, uuids, group_ids))

    async def former_uuids(self, group_id: str) -> dict[str, str]:
        return await self._file.read(lambda db: merging.former(db, group_id))

    async def get_episodes(self, uuids: Sequence[str], group_ids: Sequence[str]) -> list[Episode]:
        return await self._file.read(lambda db: episodes.by_uuids(db, uuids, group_ids))

    async def get_facts(self, uuids: Sequence[str], group_ids: Sequence[str]) -> list[Fact]:
        return await self._file.read(lambda db: facts.by_uuids(db, uuids, group_ids))

    async def get_names(self, keys: Sequence[str]) -> dict[str, Name]:
        return await self._file.read(lambda db: lookups.names(db, keys))

    async def aliases(self, entity_uuids: Sequence[str], limit_each: int) -> dict[str, list[str]]:
        return await self._file.read(lambda db: {uuid: lookups.aliases(db, uuid, limit_each) for uuid in entity_uuids})

    async def mentioned(self, pairs: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
        return await self._file.read(lambda db: lookups.mentioned(db, pairs))

    async def apart(self, pairs: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
        return await self._file.read(lambda db: lookups.apart(db, pairs))

    async def name_book(self, group_id: str, known_version: int | None) -> NameBook | None:
        return await self._file.read(lambda db: lookups.name_book(db, group_id, known_version))

    async def entity_support(self, entity_uuids: Sequence[str]) -> dict[str, tuple[int, int]]:
        return await self._file.read(lambda db: lookups.entity_support(db, entity_uuids))

    async def group_sizes(self, group_ids: Sequence[str]) -> dict[str, GroupSize]:
        return await self._file.read(lambda db: {group: lookups.group_size(db, group) for group in group_ids})

    async def entity_page(self, wanted: EntityFilter, window: Window) -> tuple[list[Entity], int]:
        return await self._file.read(lambda db: lookups.entity_page(db, wanted, window))


class Facts(SqlitePart):
    """The port ``GraphFacts``."""

    async def connections(self, entity_uuid: str, wanted: FactFilter, window: Window) -> FactPage:
        return await self._file.read(lambda db: facts.connections(db, entity_uuid, wanted, window))

    async def group_facts(self, wanted: FactFilter, window: Window) -> FactPage:
        return await self._file.read(lambda db: facts.group_facts(db, wanted, window))

    async def reading_series(
        self, entity_uuid: str | None, wanted: FactFilter, zone: str, limit: int, months: int
    ) -> list[ReadingSeries]:
        return await self._file.read(lambda db: series.reading_series(db, entity_uuid, wanted, zone, limit, months))

    async def facts_under(self, uuids: Sequence[str], wanted: FactFilter) -> list[Fact]:
        return await self._file.read(lambda db: facts.under(db, uuids, wanted))

    async def first_fact(
        self, entity_uuid: str | None, group_ids: Sequence[str], relations: Sequence[str]
    ) -> datetime | None:
        return await self._file.read(lambda db: facts.first_fact(db, entity_uuid, group_ids, relations))

    async def record_start(self, group_ids: Sequence[str]) -> datetime | None:
        return await self._file.read(lambda db: episodes.record_start(db, group_ids))

    async def newest_record(self, group_ids: Sequence[str]) -> datetime | None:
        return await self._file.read(lambda db: episodes.newest_record(db, group_ids))

    async def fact_counts(self, entity_uuid: str, wanted: FactFilter, neighbours: int, kinds: int) -> FactCounts:
        return await self._file.read(
            lambda db: FactCounts(
                neighbours=tuple(facts.neighbour_counts(db, entity_uuid, wanted, neighbours)),
                kinds=tuple(facts.kind_counts(db, entity_uuid, wanted, kinds)),
            )
        )

    async def newest_facts(
        self,
        entity_uuids: Sequence[str],
        group_ids: Sequence[str],
        now: datetime,
        limit_each: int,
        *,
        status: NewestOf = "current",
    ) -> dict[str, list[Fact]]:
        wanted = newest_under(group_ids, now, status)
        window = Window(limit=limit_each)
        return await self._file.read(
            lambda db: {uuid: list(facts.connections(db, uuid, wanted, window).facts) for uuid in entity_uuids}
        )

    async def voided(self, fact_uuids: Sequence[str], group_ids: Sequence[str]) -> set[str]:
        return await self._file.read(lambda db: facts.voided(db, fact_uuids, group_ids))

    async def facts_with_relation(
        self, group_id: str, pairs: Sequence[tuple[str, str]], limit_each: int
    ) -> list[list[Fact]]:
        found = "fact f WHERE f.source_uuid = :source AND f.relation = :other AND f.group_id = :group AND NOT f.voided"
        return await self._of_pairs(found, group_id, pairs, limit_each)

    async def facts_between(self, group_id: str, pairs: Sequence[tuple[str, str]], limit_each: int) -> list[list[Fact]]:
        found = (
            "fact f WHERE f.source_uuid = :source AND f.target_uuid = :other AND f.group_id = :group AND NOT f.voided"
        )
        return await self._of_pairs(found, group_id, pairs, limit_each)

    async def _of_pairs(
        self, found: str, group_id: str, pairs: Sequence[tuple[str, str]], limit_each: int
    ) -> list[list[Fact]]:
        return await self._file.read(
            lambda db: [
                facts.newest_created(db, found, {"source": source, "other": other, "group": group_id}, limit_each)
                for source, other in pairs
            ]
        )

    async def relations(self, group_id: str, limit: int) -> dict[str, int]:
        return await self._file.read(lambda db: lookups.relations(db, group_id, limit))

    async def measures(self, group_id: str, source_uuid: str | None, limit: int) -> dict[str, int]:
        return await self._file.read(lambda db: lookups.measures(db, group_id, source_uuid, limit))

    async def readings(self, group_id: str, source_uuid: str, measure_key: str, limit: int) -> tuple[list[Fact], int]:
        return await self._file.read(lambda db: lookups.readings(db, group_id, source_uuid, measure_key, limit))

    async def episode_facts(self, episode_uuid: str, group_ids: Sequence[str], limit: int) -> list[Fact]:
        return await self.facts_of_episodes([episode_uuid], group_ids, limit)

    async def facts_of_episodes(self, episode_uuids: Sequence[str], group_ids: Sequence[str], limit: int) -> list[Fact]:
        found = """json_each(:episodes) u JOIN fact_episode x ON x.episode_uuid = u.value
          JOIN fact f ON f.uuid = x.fact_uuid WHERE f.group_id IN (SELECT value FROM json_each(:groups))"""
        parameters: dict[str, object] = {"episodes": as_list(episode_uuids), "groups": as_list(group_ids)}
        return await self._file.read(lambda db: facts.newest_created(db, found, parameters, limit))

    async def retired_by_episode(self, episode_uuid: str, group_ids: Sequence[str], limit: int) -> list[Fact]:
        return await self._file.read(lambda db: changes.retired_by(db, "episode_uuid", episode_uuid, group_ids, limit))

    async def retired_by_fact(self, fact_uuid: str, group_ids: Sequence[str], limit: int) -> list[Fact]:
        return await self._file.read(lambda db: changes.retired_by(db, "replaced_by", fact_uuid, group_ids, limit))


class Episodes(SqlitePart):
    """The port ``GraphEpisodes``."""

    async def timeline(self, entity_uuid: str, wanted: EpisodeFilter, window: Window) -> EpisodePage:
        wanted = wanted.model_copy(update={"entity_uuid": entity_uuid})
        return await self._file.read(lambda db: episodes.page(db, wanted, window))

    async def timeline_summary(self, entity_uuid: str, wanted: EpisodeFilter, zone: tzinfo) -> TimelineSummary:
        wanted = wanted.model_copy(update={"entity_uuid": entity_uuid})
        return await self._file.read(lambda db: episodes.timeline_summary(db, wanted, zone))

    async def mentioned_with(self, entity_uuid: str, wanted: EpisodeFilter, newest: int, limit: int) -> list[Companion]:
        wanted = wanted.model_copy(update={"entity_uuid": entity_uuid})
        return await self._file.read(lambda db: episodes.mentioned_with(db, wanted, newest, limit))

    async def recent_episodes(self, wanted: EpisodeFilter, window: Window) -> EpisodePage:
        return await self._file.read(lambda db: episodes.page(db, wanted, window))

    async def episode_entities(
        self, episode_uuids: Sequence[str], group_ids: Sequence[str], window: Window
    ) -> tuple[list[Entity], int]:
        return await self._file.read(lambda db: episodes.entities(db, episode_uuids, group_ids, window))

    async def passages(self, episode_uuid: str, without_vector: bool, limit: int) -> list[Passage]:
        return await self._file.read(
            lambda db: lookups.passages(db, episode_uuid, limit, without_vector=without_vector)
        )

    async def episode_places(self, uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, Place]:
        return await self._file.read(lambda db: episodes.places(db, uuids, group_ids))

    async def same_text(self, stretch: Stretch, content: str) -> str | None:
        return await self._file.read(lambda db: episodes.same_text(db, stretch, content))

    async def own_mentions(self, entity_uuids: Sequence[str], limit_each: int) -> dict[str, list[str]]:
        found = await self._file.read(
            lambda db: {uuid: episodes.own_mentions(db, uuid, limit_each) for uuid in entity_uuids}
        )
        return {uuid: mentions for uuid, mentions in found.items() if mentions}


class Searches(SqlitePart):
    """The port ``GraphSearch``."""

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
        return await self._file.read(
            lambda db: words.episodes_naming(db, group_id, name, before, after, limit, only_linking=only_linking)
        )

    async def search_entities(self, terms: Sequence[str], wanted: EntityFilter, limit: int) -> dict[str, float]:
        return await self._file.read(lambda db: words.search_entities(db, terms, wanted, limit))

    async def search_facts(self, terms: Sequence[str], wanted: FactFilter, limit: int) -> dict[str, float]:
        return await self._file.read(lambda db: words.search_facts(db, terms, wanted, limit))

    async def fact_texts(self, uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, str]:
        return await self._file.read(lambda db: facts.texts(db, uuids, group_ids))

    async def search_episodes(self, terms: Sequence[str], wanted: EpisodeFilter, limit: int) -> dict[str, float]:
        return await self._file.read(lambda db: words.search_episodes(db, terms, wanted, limit))

    async def episode_words(
        self, uuids: Sequence[str], stems: Sequence[str], parts: Sequence[str], group_ids: Sequence[str]
    ) -> dict[str, EpisodeWords]:
        return await self._file.read(lambda db: episode_stems.episode_words(db, uuids, stems, parts, group_ids))

    async def episodes_holding(self, terms: Sequence[str], wanted: EpisodeFilter) -> dict[str, int]:
        return await self._file.read(lambda db: words.episodes_holding(db, terms, wanted))

    async def episode_cosines(self, vector: Vector, uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, float]:
        return await self._file.read(lambda db: vectors.episode_cosines(db, self._cache, vector, uuids, group_ids))

    async def nearest_entities(self, vector: Vector, wanted: EntityFilter, limit: int) -> dict[str, float]:
        return await self._file.read(lambda db: vectors.nearest_entities(db, self._cache, vector, wanted, limit))

    async def nearest_facts(self, vector: Vector, wanted: FactFilter, limit: int) -> dict[str, float]:
        return await self._file.read(lambda db: vectors.nearest_facts(db, self._cache, vector, wanted, limit))

    async def nearest_episodes(self, vector: Vector, wanted: EpisodeFilter, limit: int) -> dict[str, EpisodeHit]:
        return await self._file.read(lambda db: vectors.nearest_episodes(db, self._cache, vector, wanted, limit))


class Changes(SqlitePart):
    """The port ``GraphChanges``."""

    async def fact_changes(
        self, fact_uuids: Sequence[str], group_ids: Sequence[str], limit_each: int
    ) -> dict[str, list[RecordedChange]]:
        return await self._file.read(
            lambda db: {uuid: changes.of_fact(db, uuid, group_ids, limit_each) for uuid in fact_uuids}
        )

    async def replacements(self, fact_uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, str]:
        return await self._file.read(lambda db: changes.replacements(db, fact_uuids, group_ids))

    async def reasons(self, group_id: str, limit: int) -> dict[str, str]:
        return await self._file.read(lambda db: changes.reasons(db, group_id, limit))


class Sagas(SqlitePart):
    """The port ``GraphSagas``."""

    async def find_sagas(self, group_id: str, uuids: Sequence[str], name: str) -> list[Saga]:
        return await self._file.read(lambda db: sagas.find(db, group_id, uuids, name))

    async def listed(self, group_id: str, window: Window) -> list[Saga]:
        return await self._file.read(lambda db: sagas.listed(db, group_id, window))

    async def latest_of_saga(self, saga_uuid: str) -> str | None:
        return await self._file.read(lambda db: sagas.latest(db, saga_uuid))

    async def episodes_of_saga(self, saga_uuid: str, recorded_after: datetime | None, limit: int) -> list[Episode]:
        return await self._file.read(lambda db: sagas.episodes(db, saga_uuid, recorded_after, limit))

    async def sagas_of_episodes(
        self, episode_uuids: Sequence[str], group_ids: Sequence[str], without: Sequence[str]
    ) -> list[SagaMembers]:
        return await self._file.read(lambda db: sagas.holding(db, episode_uuids, group_ids, without))

    async def links_around(self, episode_uuids: Sequence[str]) -> list[tuple[str, str]]:
        return await self._file.read(lambda db: sagas.links(db, episode_uuids))


class Embeddings(SqlitePart):
    """The port ``GraphEmbeddings``."""

    async def embedding(self) -> tuple[str, int] | None:
        return await self._file.read(embeddings.recorded)

    async def record_embedding(self, model: str, dimension: int) -> None:
        await self._file.write(lambda db: embeddings.record(db, model, dimension))

    async def change_embedding(self, model: str, dimension: int) -> None:
        await self._file.write(lambda db: embeddings.change(db, model, dimension))
        self._cache.forget()

    async def remove_vectors(self, limit: int) -> int:
        return await self._file.write(lambda db: embeddings.remove(db, limit))

    async def without_vector(self, group_id: str, limit: int) -> list[TextToEmbed]:
        return await self._file.read(lambda db: embeddings.missing(db, group_id, limit))

    async def vectors_of(self, uuids: Sequence[str], group_ids: Sequence[str]) -> Vectors:
        return await self._file.read(lambda db: embeddings.of(db, uuids, group_ids))

    async def embedding_size(self, *, only_missing: bool) -> EmbeddingSize:
        return await self._file.read(lambda db: embeddings.size(db, only_missing=only_missing))


class Comparison(SqlitePart):
    """The port ``GraphComparison``."""

    async def write_count(self) -> int:
        return await self._file.read(lambda db: _count(db, "applied_write"))

    async def writes_after(self, uuid: str, limit: int) -> list[str]:
        return await self._file.read(lambda db: _after(db, "applied_write", uuid, limit))

    async def episode_count(self) -> int:
        return await self._file.read(lambda db: _count(db, "episode"))

    async def episodes_after(self, uuid: str, limit: int) -> list[str]:
        return await self._file.read(lambda db: _after(db, "episode", uuid, limit))

    async def existing_episodes(self, uuids: Sequence[str]) -> set[str]:
        text = "SELECT e.uuid FROM json_each(?) u JOIN episode e ON e.uuid = u.value"
        return await self._file.read(lambda db: {row[0] for row in db.execute(text, (as_list(dict.fromkeys(uuids)),))})


class Indexes(SqlitePart):
    """The port ``GraphVectors``: vectors are scanned exactly, so there are no indexes of them.

    What searches by words read of each episode is added here to episodes that an earlier version stored.
    """

    settle_seconds = 5.0
    """Seconds after a start that are left to searches."""

    async def vector_indexes(self) -> tuple[VectorIndex, ...]:
        return ()

    async def maintain_indexes(self, stop: asyncio.Event) -> None:
        """Add what is missing, a few episodes at a time so that writes go on between; then there is nothing to do."""
        await wait_for_any(stop, seconds=self.settle_seconds)
        missing = True
        while missing and not stop.is_set():
            pause = _BETWEEN_SECONDS
            try:
                missing = await self._file.read(episode_stems.is_any_missing) and await self._fill()
            except PkmError as error:
                _log.warning("the words of earlier episodes have to wait: %s", error.code)
                pause = _RETRY_SECONDS
            await wait_for_any(stop, seconds=pause)

    async def _fill(self) -> bool:
        return await self._file.write(lambda db: episode_stems.fill(db, _EPISODES)) == _EPISODES


class Writer(SqlitePart):
    """The port ``GraphWriter``."""

    def __init__(self, opened: OpenFile) -> None:
        super().__init__(opened)
        self._last_write = LastWrite(self._try_to_write, self._file.silence)

    async def apply(self, intent: WriteIntent, vectors: Vectors) -> None:
        try:
            await self._file.write(lambda db: writing.apply(db, intent, vectors))
        except (Unavailable, ConfigurationError) as error:
            self._last_write.ended(error.message)
            raise
        self._last_write.ended(None)

    def effect(self, intent: WriteIntent, vectors: Vectors) -> Effect:
        return lambda db: self._file.within(db, lambda prepared: writing.apply(prepared, intent, vectors))

    async def applied(self, write_uuids: Sequence[str]) -> set[str]:
        return await self._file.read(lambda db: writing.applied(db, write_uuids))

    async def refusal(self) -> str | None:
        return await self._last_write.refusal()

    async def _try_to_write(self, _was_refused: bool) -> str | None:
        try:
            await self._file.write(lambda db: db.execute("INSERT OR REPLACE INTO graph_meta VALUES ('probe', '')"))
        except PkmError as error:
            return error.message
        return None

    async def wait_durable(self) -> bool:
        """Returns at once: a commit is on disk when it returns."""
        return True


def _count(db: sqlite3.Connection, table: str) -> int:
    (count,) = db.execute(f"SELECT count(*) FROM {table}").fetchone()
    return int(count)


def _after(db: sqlite3.Connection, table: str, uuid: str, limit: int) -> list[str]:
    return [
        row[0] for row in db.execute(f"SELECT uuid FROM {table} WHERE uuid > ? ORDER BY uuid LIMIT ?", (uuid, limit))
    ]
