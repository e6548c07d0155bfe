"""The fake graph: its parts, and writes and faults here."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from tests.fakes import refusals
from tests.fakes.changes import FakeChangeLists, FakeChanges
from tests.fakes.curation import FakeCuration, add_qualities, delete_qualities, forget_qualities
from tests.fakes.documents import FakeDocuments, add_documents, delete_documents, forget_documents
from tests.fakes.embeddings import FakeEmbeddings, give
from tests.fakes.merging import FakeMerging, begin_merge, delete_merges, finish_merge, finish_split, forget_merges
from tests.fakes.neighbours import FakeNeighbours
from tests.fakes.observations import FakeObservations
from tests.fakes.part import FakePart
from tests.fakes.projects import FakeProjects, add_projects, delete_projects, forget_metadata
from tests.fakes.reads import FakeEpisodes, FakeFacts, FakeRecords
from tests.fakes.sagas import FakeCommunities, FakeSagas, add_sagas, delete_sagas, forget_communities
from tests.fakes.search import FakeSearch
from tests.fakes.shared_extraction_jobs import share
from tests.fakes.tables import Tables
from tests.fakes.usage import FakeGraphUsage, delete_counters
from tests.fakes.walks import FakeWalks

from graphiti_pkm.core.identity.backlinks import back_link
from graphiti_pkm.core.model.queries import VectorIndex
from graphiti_pkm.core.model.records import (
    Deletions,
    Entity,
    Episode,
    Fact,
    FactChange,
    Forgetting,
    Mention,
    Name,
    NewVectors,
    RecordedChange,
    RemainingNames,
    Vectors,
    WriteIntent,
)
from graphiti_pkm.core.model.redaction import FORGOTTEN, redacted_change
from graphiti_pkm.errors import PkmError, Unavailable, WriteFailed
from graphiti_pkm.storage.graph.graph_part import GraphPart
from graphiti_pkm.storage.graph.parts.change_lists import ChangeLists
from graphiti_pkm.storage.graph.parts.communities import Communities
from graphiti_pkm.storage.graph.parts.curation import Curation
from graphiti_pkm.storage.graph.parts.merging import CypherMerging
from graphiti_pkm.storage.graph.parts.neighbours import Neighbours
from graphiti_pkm.storage.graph.parts.observations import Observations
from graphiti_pkm.storage.graph.parts.projects import Projects
from graphiti_pkm.storage.graph.parts.usage import GraphUsagePart
from graphiti_pkm.storage.graph.parts.walks import Walks

Fault = Literal["before", "halfway", "after"]


PARTS: Mapping[object, type[FakePart]] = {
    Walks: FakeWalks,
    Neighbours: FakeNeighbours,
    ChangeLists: FakeChangeLists,
    Communities: FakeCommunities,
    Observations: FakeObservations,
    Projects: FakeProjects,
    Curation: FakeCuration,
    CypherMerging: FakeMerging,
    GraphUsagePart: FakeGraphUsage,
}
"""Which fake stands for a part that a capability makes."""


class FakeComparison(FakePart):
    """The port ``GraphComparison``."""

    async def write_count(self) -> int:
        return len((await self._db()).writes)

    async def writes_after(self, uuid: str, limit: int) -> list[str]:
        return sorted(one for one in (await self._db()).writes if one > uuid)[:limit]

    async def episode_count(self) -> int:
        return len((await self._db()).episodes)

    async def episodes_after(self, uuid: str, limit: int) -> list[str]:
        return sorted(one for one in (await self._db()).episodes if one > uuid)[:limit]

    async def existing_episodes(self, uuids: Sequence[str]) -> set[str]:
        return set(uuids) & (await self._db()).episodes.keys()


class FakeVectors(FakePart):
    """The port ``GraphVectors``."""

    async def vector_indexes(self) -> tuple[VectorIndex, ...]:
        await self._db()
        return self._graph.indexes


class FakeGraph:
    """The port ``Graph`` in dicts.

    Faults: ``is_down`` for all calls, ``is_durable`` False for ``wait_durable``, ``fail_next_apply`` for the next
    writes in turn, ``refused`` for writes that are refused whenever they come.
    """

    def __init__(self, server: str | None = None, parts: Mapping[object, type[FakePart]] = PARTS) -> None:
        """``server``: who writes, if others write into its tables too. ``parts``: which fake stands for which class."""
        self.tables = Tables()
        self.is_down = False
        """True: every call raises Unavailable."""
        self.records = FakeRecords(self)
        self.facts = FakeFacts(self)
        self.episodes = FakeEpisodes(self)
        self.search = FakeSearch(self)
        self.changes = FakeChanges(self)
        self.sagas = FakeSagas(self)
        self.documents = FakeDocuments(self)
        self.embeddings = FakeEmbeddings(self)
        self.comparison = FakeComparison(self)
        self.vectors = FakeVectors(self)
        self._parts = parts
        self.server = server
        self.is_durable = True
        self.erased = 0
        """How often its own file was made anew."""
        self.is_ready = True
        self.is_closed = False
        self.refuses: str | None = None
        """What ``refusal`` answers."""
        self.indexes: tuple[VectorIndex, ...] = ()
        self.refused: set[str] = set()
        """Uuids of writes that ``apply`` refuses with WriteFailed every time."""
        self.attempts: list[str] = []
        """Uuids of the writes given to ``apply``, in order, failed ones included."""
        self._faults: list[tuple[PkmError, Fault]] = []

    @property
    def writer(self) -> "FakeGraph":
        """The port ``GraphWriter``: what it refuses is set on the graph."""
        return self

    def part(self, part: GraphPart[Any]) -> Any:
        """What stands for the classes of a part."""
        return self._parts[part.cypher](self)

    async def _db(self) -> Tables:
        await asyncio.sleep(0)
        if self.is_down:
            raise Unavailable("The database does not answer.")
        return self.tables

    def fail_next_apply(self, error: PkmError | None = None, when: Fault = "before") -> None:
        """The next apply raises: before it stores anything, halfway without the marker, or after all of it."""
        self._faults.append((error or Unavailable("The database died."), when))

    async def apply(self, intent: WriteIntent, vectors: Vectors) -> None:
        db = await self._db()
        self.attempts.append(intent.uuid)
        if intent.uuid in self.refused:
            raise WriteFailed("The database refused the write; nothing of it is kept.")
        error, when = self._faults.pop(0) if self._faults else (None, None)
        if error is not None and when == "before":
            raise error
        refusals.check(intent, vectors, db.dimension)
        if intent.uuid not in db.writes:
            _add_nodes(db, intent, vectors)
            if error is not None and when == "halfway":
                raise error
            _add_facts(db, intent, vectors)
            _add_around_episodes(db, intent, vectors)
            finish_merge(db, intent)
            finish_split(db, intent)
            add_documents(db, intent)
            give(db, intent.new_vectors or NewVectors(), vectors)
            add_sagas(db, intent, vectors)
            _forget(db, intent.forgets or Forgetting())
            _forget_updates(db, intent)
            forget_merges(db, intent)
            if self.server is not None:
                share(db, intent, self.server)
            _delete(db, intent.deletions)
            db.recorded[intent.group_id] = max(intent.recorded_at, db.recorded.get(intent.group_id, intent.recorded_at))
            db.writes.append(intent.uuid)
        if error is not None:
            raise error

    def effect(self, intent: WriteIntent, vectors: Vectors) -> None:  # noqa: ARG002 no journal's file holds it
        return

    async def applied(self, write_uuids: Sequence[str]) -> set[str]:
        db = await self._db()
        return set(write_uuids) & set(db.writes)

    async def refusal(self) -> str | None:
        return self.refuses

    async def wait_durable(self) -> bool:
        await self._db()
        return self.is_durable

    async def erase(self) -> bool:
        await self._db()
        self.erased += self.is_durable
        return self.is_durable

    async def clear(self) -> None:
        db = await self._db()
        self.tables = Tables(versions=db.versions)

    async def ready(self) -> bool:
        return self.is_ready and not self.is_down

    async def close(self) -> None:
        self.is_closed = True


def _add_nodes(db: Tables, intent: WriteIntent, vectors: Vectors) -> None:
    if intent.origin is not None:
        db.origins.setdefault((intent.group_id, intent.recorded_at), intent.origin)
    for episode in intent.episodes:
        known = db.episodes.get(episode.uuid)
        corrected = episode.corrected or (known is not None and known.corrected)
        confidential = episode.confidential or (known is not None and known.confidential)
        kept = {"corrected": corrected, "confidential": confidential}
        db.episodes[episode.uuid] = episode.model_copy(update=kept)
    begin_merge(db, intent)
    for entity in intent.entities:
        if entity.uuid not in db.former:
            db.entities[entity.uuid] = entity
            _keep_vector(db, entity.uuid, vectors)
    add_projects(db, intent)
    add_qualities(db, intent)
    for change in intent.changes:
        for name in change.entity_before.names if change.entity_before else ():
            if name.key in db.names and db.names[name.key].entity_uuid == change.fact_uuid:
                del db.names[name.key]
                db.book_versions[name.group_id] = next(db.versions)
    for name in intent.names:
        if name.entity_uuid not in db.former:
            _claim(db, name)


_KEPT = ("quote", "quote_start", "quote_end", "quote_episode_uuid", "reference_time")
"""What an update leaves as it is where it says nothing."""


def _add_facts(db: Tables, intent: WriteIntent, vectors: Vectors) -> None:
    for fact in intent.facts:
        if fact.source_uuid in db.entities and fact.target_uuid in db.entities:
            db.facts[fact.uuid] = fact
            _keep_vector(db, fact.uuid, vectors)
    for update in intent.fact_updates:
        if update.uuid in db.facts:
            values = {field: value for field, value in update if value is not None or field not in _KEPT}
            attributes = db.facts[update.uuid].attributes | update.attributes
            values["attributes"] = {name: value for name, value in attributes.items() if value is not None}
            db.facts[update.uuid] = db.facts[update.uuid].model_copy(update=values)
    for change in intent.changes:
        db.changes[change.uuid] = RecordedChange(**dict(change), group_id=intent.group_id)
        if fact := db.facts.get(change.fact_uuid):
            db.change_ends[change.uuid] = (fact.source_uuid, fact.target_uuid)
        elif change.is_of_entity:
            db.change_ends[change.uuid] = (change.fact_uuid, "")


def _add_around_episodes(db: Tables, intent: WriteIntent, vectors: Vectors) -> None:
    for mention in intent.mentions:
        _mention(db, mention)
    for change in intent.changes:
        _settle(db, change)
    for passage in intent.passages:
        if passage.episode_uuid in db.episodes:
            db.passages[passage.uuid] = passage
            _keep_vector(db, passage.uuid, vectors)
    for uuids, corrected in ((intent.corrected_episodes, True), (intent.uncorrected_episodes, False)):
        for uuid in uuids:
            if uuid in db.episodes:
                db.episodes[uuid] = db.episodes[uuid].model_copy(update={"corrected": corrected})


def _mention(db: Tables, mention: Mention) -> None:
    pair = (mention.episode_uuid, mention.entity_uuid)
    if pair[0] in db.episodes and pair[1] in db.entities and pair not in db.apart:
        db.mentions.setdefault(pair, mention)


def _settle(db: Tables, change: FactChange) -> None:
    """The differences and mentions of an update."""
    before, after, uuid = change.entity_before, change.entity_after, change.fact_uuid
    if before is None or after is None:
        return
    db.change_ends[change.uuid] = (uuid, uuid)
    there = db.entities.keys() | db.episodes.keys()
    db.apart -= set(before.apart(uuid))
    db.apart |= {pair for pair in after.apart(uuid) if there.issuperset(pair)}
    for episode in {*before.linked, *after.unlinked} - {*after.linked}:
        db.mentions.pop((episode, uuid), None)
    for episode in after.linked:
        _mention(db, back_link(uuid, episode, change.recorded_at))


def _keep_vector(db: Tables, uuid: str, vectors: Vectors) -> None:
    if uuid in vectors:
        db.vectors[uuid] = vectors[uuid]


def _claim(db: Tables, name: Name) -> None:
    """The first holder of a key stays."""
    holder = db.names.get(name.key)
    if holder is not None and holder.entity_uuid == name.entity_uuid:
        spellings = {*holder.spellings, *name.spellings, name.text} - {holder.text}
        name = name.model_copy(update={"text": holder.text, "spellings": tuple(sorted(spellings))})
    if holder is None or (holder.entity_uuid == name.entity_uuid and holder != name):
        db.names[name.key] = name
        db.book_versions[name.group_id] = next(db.versions)


def _forget(db: Tables, told: Forgetting) -> None:
    for left in told.episodes:
        if left.uuid in db.episodes:
            db.episodes[left.uuid] = db.episodes[left.uuid].model_copy(update=dict(left))
    for uuid in told.facts:
        db.facts.pop(uuid, None)
        db.vectors.pop(uuid, None)
    db.changes = {uuid: one for uuid, one in db.changes.items() if one.fact_uuid not in told.facts}
    for uuid, change in db.changes.items():
        if change.replaced_by in told.facts:
            db.changes[uuid] = change.model_copy(update={"reason": None, "replaced_by": None})
        elif uuid in told.reasons:
            db.changes[uuid] = change.model_copy(update={"reason": FORGOTTEN})
    for uuid in told.passages:
        db.passages.pop(uuid, None)
        db.vectors.pop(uuid, None)
    forget_documents(db, told)
    for pair in told.mentions:
        db.mentions.pop(pair, None)
    forget_communities(db, told)
    forget_metadata(db, told)
    forget_qualities(db, told)
    for left in told.names:
        _forget_names(db, left)


def _forget_updates(db: Tables, intent: WriteIntent) -> None:
    for uuid, change in db.changes.items() if intent.forgets else ():
        left = redacted_change(change, change.group_id, intent)
        db.changes[uuid] = RecordedChange(**dict(left))


def _forget_names(db: Tables, left: RemainingNames) -> None:
    keys = {name.key for name in left.names}
    for name in [one for one in db.names.values() if one.entity_uuid == left.entity_uuid and one.key not in keys]:
        del db.names[name.key]
        db.book_versions[name.group_id] = next(db.versions)


def _delete(db: Tables, deletions: Deletions) -> None:
    delete_merges(db, deletions)
    for group in deletions.groups:
        _clear(db, group)
    for uuid in deletions.episodes:
        db.episodes.pop(uuid, None)
        for passage in [p.uuid for p in db.passages.values() if p.episode_uuid == uuid]:
            del db.passages[passage]
            db.vectors.pop(passage, None)
    for uuid in deletions.entities:
        db.entities.pop(uuid, None)
        db.vectors.pop(uuid, None)
        for name in [name for name in db.names.values() if name.entity_uuid == uuid]:
            del db.names[name.key]
            db.book_versions[name.group_id] = next(db.versions)
    gone = {
        fact.uuid
        for fact in db.facts.values()
        if fact.uuid in deletions.facts or not {fact.source_uuid, fact.target_uuid} <= db.entities.keys()
    }
    for uuid in gone:
        del db.facts[uuid]
        db.vectors.pop(uuid, None)
    for uuid, change in db.changes.items():
        if change.fact_uuid in gone:
            db.changes[uuid] = change.model_copy(update={"reason": None})
    _forget_updates_of(db, deletions.entities)
    there = db.entities.keys() | db.episodes.keys()
    db.apart = {pair for pair in db.apart if there.issuperset(pair)}
    db.mentions = {
        (episode, entity): mention
        for (episode, entity), mention in db.mentions.items()
        if episode in db.episodes and entity in db.entities
    }
    delete_sagas(db, deletions)
    delete_projects(db)
    delete_qualities(db)
    delete_counters(db)
    delete_documents(db, deletions)


def _forget_updates_of(db: Tables, entity_uuids: Sequence[str]) -> None:
    for uuid, change in db.changes.items():
        if change.fact_uuid in entity_uuids:
            nothing = dict.fromkeys(("reason", "entity_before", "entity_after"))
            db.changes[uuid] = change.model_copy(update=nothing)
            db.change_ends.pop(uuid, None)


def _clear(db: Tables, group_id: str) -> None:
    """Everything of a group; ``_delete`` takes what hangs on it."""
    held: dict[str, Episode | Entity | Fact] = {**db.episodes, **db.entities, **db.facts}
    gone = {uuid for uuid, record in held.items() if record.group_id == group_id}
    db.passages = {uuid: one for uuid, one in db.passages.items() if one.episode_uuid not in gone}
    db.episodes = {uuid: one for uuid, one in db.episodes.items() if uuid not in gone}
    db.entities = {uuid: one for uuid, one in db.entities.items() if uuid not in gone}
    db.names = {key: one for key, one in db.names.items() if one.group_id != group_id}
    db.origins = {key: one for key, one in db.origins.items() if key[0] != group_id}
    db.changes = {uuid: one for uuid, one in db.changes.items() if one.group_id != group_id}
    ends = db.entities.keys()
    db.facts = {
        uuid: one for uuid, one in db.facts.items() if uuid not in gone and {one.source_uuid, one.target_uuid} <= ends
    }
    records = db.passages.keys() | db.entities.keys() | db.facts.keys() | db.communities.keys()
    db.vectors = {uuid: vector for uuid, vector in db.vectors.items() if uuid in records}
    db.book_versions[group_id] = next(db.versions)
