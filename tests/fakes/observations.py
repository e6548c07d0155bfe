"""Observations of the fake graph, and the relations between its entities."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime

from tests.fakes.part import FakePart
from tests.fakes.tables import Tables, is_current

from graphiti_pkm.core.facts.observations import POSITION, is_observation, type_of
from graphiti_pkm.core.model.records import Fact


class FakeObservations(FakePart):
    """The port ``GraphObservations``."""

    async def known_observations(self, group_id: str, wanted: Sequence[tuple[str, str]]) -> list[Fact]:
        db = await self._db()
        return [
            db.named(fact)
            for fact in _observations(db)
            if fact.group_id == group_id
            and (fact.source_uuid, fact.text) in wanted
            and fact.expired_at is None
            and not fact.voided
        ]

    async def observations(
        self, entity_uuids: Sequence[str], group_ids: Sequence[str], now: datetime, limit_each: int
    ) -> dict[str, tuple[list[str], int]]:
        db = await self._db()
        found: defaultdict[str, list[str]] = defaultdict(list)
        for fact in _observations(db):
            if fact.source_uuid in entity_uuids and fact.group_id in group_ids and is_current(fact, now):
                found[fact.source_uuid].append(fact.text)
        return {uuid: (texts[:limit_each], len(texts)) for uuid, texts in found.items()}

    async def observed(self, fact_uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, str]:
        db = await self._db()
        found = (one for one in _observations(db) if one.uuid in fact_uuids and one.group_id in group_ids)
        return {one.uuid: one.source_uuid for one in found}

    async def names(self, entity_uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, str]:
        db = await self._db()
        found = (db.entities[uuid] for uuid in entity_uuids if uuid in db.entities)
        return {one.uuid: one.name for one in found if one.group_id in group_ids}

    async def relations(
        self, entity_uuids: Sequence[str], group_ids: Sequence[str], now: datetime, limit: int, *, within: bool
    ) -> tuple[list[Fact], int]:
        db = await self._db()
        found = [
            fact
            for fact in _relations(db, group_ids, now)
            if (all if within else any)(uuid in entity_uuids for uuid in (fact.source_uuid, fact.target_uuid))
        ]
        found.sort(key=lambda fact: fact.uuid)
        found.sort(key=lambda fact: fact.created_at, reverse=True)
        return [db.named(fact) for fact in found[:limit]], len(found)

    async def relation_counts(
        self, entity_uuids: Sequence[str], group_ids: Sequence[str], now: datetime
    ) -> dict[str, int]:
        db = await self._db()
        ends = [{fact.source_uuid, fact.target_uuid} for fact in _relations(db, group_ids, now)]
        counts = {uuid: sum(uuid in pair for pair in ends) for uuid in entity_uuids}
        return {uuid: count for uuid, count in counts.items() if count}

    async def of_type(self, words: Sequence[str], group_ids: Sequence[str], limit: int) -> list[str]:
        db = await self._db()
        found = [
            one
            for one in db.entities.values()
            if one.group_id in group_ids and one.label is not None and one.label.lower() in words
        ]
        found.sort(key=lambda one: one.uuid)
        found.sort(key=lambda one: one.created_at, reverse=True)
        return [one.uuid for one in found[:limit]]

    async def holding(self, text: str, group_ids: Sequence[str], now: datetime, limit: int) -> tuple[list[str], int]:
        db = await self._db()
        observed = {
            fact.source_uuid
            for fact in _observations(db)
            if text in fact.text.lower() and fact.group_id in group_ids and is_current(fact, now)
        }
        found = [
            one
            for one in db.entities.values()
            if one.group_id in group_ids
            and (text in one.name.lower() or text in type_of(one).lower() or one.uuid in observed)
        ]
        found.sort(key=lambda one: (one.created_at, one.name, one.uuid))
        return [one.uuid for one in found[:limit]], len(found)


def _observations(db: Tables) -> list[Fact]:
    """All of them, oldest first, then in the order of their call."""
    found = [fact for fact in db.facts.values() if is_observation(fact)]
    return sorted(found, key=lambda fact: (fact.created_at, int(str(fact.attributes.get(POSITION, 0))), fact.uuid))


def _relations(db: Tables, group_ids: Sequence[str], now: datetime) -> list[Fact]:
    return [
        fact
        for fact in db.facts.values()
        if fact.group_id in group_ids and not is_observation(fact) and is_current(fact, now)
    ]
