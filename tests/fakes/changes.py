"""Reads of the fake graph about what became of facts."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from tests.fakes.part import FakePart
from tests.fakes.search import cosine
from tests.fakes.tables import Key, falling, iso

from graphiti_pkm.core.model.changes import ChangeFilter, ChangePage
from graphiti_pkm.core.model.queries import EpisodeHit, Window
from graphiti_pkm.core.model.records import Fact, RecordedChange


class FakeChanges(FakePart):
    """The port ``GraphChanges``."""

    async def fact_changes(
        self, fact_uuids: Sequence[str], group_ids: Sequence[str], limit_each: int
    ) -> dict[str, list[RecordedChange]]:
        db = await self._db()
        newest = sorted(db.changes.values(), key=lambda change: change.recorded_at)[::-1]
        return {
            uuid: [one for one in newest if one.fact_uuid == uuid and one.group_id in group_ids][:limit_each]
            for uuid in fact_uuids
        }

    async def replacements(self, fact_uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, str]:
        events = await self.fact_changes(fact_uuids, group_ids, 100)
        endings = {
            uuid: next((one.replaced_by for one in listed if one.kind in {"retired", "voided"}), None)
            for uuid, listed in events.items()
        }
        return {uuid: by for uuid, by in endings.items() if by}

    async def reasons(self, group_id: str, limit: int) -> dict[str, str]:
        db = await self._db()
        own = [change for change in db.changes.values() if change.group_id == group_id]
        newest = sorted(own, key=lambda change: (falling(iso(change.recorded_at)), change.uuid))
        return dict([(change.uuid, change.reason) for change in newest if change.reason][:limit])


class FakeChangeLists(FakePart):
    """The port ``GraphChangeLists``."""

    async def changes(self, wanted: ChangeFilter, window: Window) -> ChangePage:
        db = await self._db()
        stored = [(change, db.change_ends.get(change.uuid, ())) for change in db.changes.values()]
        added = [(_addition(fact), (fact.source_uuid, fact.target_uuid)) for fact in db.facts.values()]
        notes = {one.uuid: one.valid_at for one in db.episodes.values() if one.group_id in wanted.group_ids}
        facts = {one.uuid: one for one in db.facts.values() if one.group_id in wanted.group_ids}
        fitting = {
            _key(change, change.recorded_at if wanted.told_since is None else told): change
            for change, ends in (*stored, *added)
            if _fits(change, ends, wanted)
            and _is_told(told := notes.get(_cause(change, facts) or "", change.recorded_at), wanted)
        }
        after = None if window.after is None else _order(window.after)
        keys = sorted((key for key in fitting if after is None or _order(key) > after), key=_order)[: window.limit]
        return ChangePage(changes=tuple(fitting[key] for key in keys), keys=tuple(keys), total=len(fitting))

    async def last_writes(self, group_ids: Sequence[str]) -> dict[str, datetime]:
        db = await self._db()
        return {group: db.recorded[group] for group in group_ids if group in db.recorded}

    async def openings(self, episode_uuids: Sequence[str], group_ids: Sequence[str], chars: int) -> dict[str, str]:
        return {
            one.uuid: one.content[:chars] for one in await self._graph.records.get_episodes(episode_uuids, group_ids)
        }

    async def nearest_sentences(
        self, pairs: Sequence[tuple[str, str]], group_ids: Sequence[str], chars: int
    ) -> dict[tuple[str, str], EpisodeHit]:
        db = await self._db()
        found = {}
        for fact_uuid, episode_uuid in pairs:
            fact = db.facts.get(fact_uuid)
            if fact is None or fact.group_id not in group_ids or fact_uuid not in db.vectors:
                continue
            hits = [
                EpisodeHit(cosine=cosine(db.vectors[fact_uuid], db.vectors[part.uuid]), start=part.start, end=part.end)
                for part in db.passages.values()
                if part.episode_uuid == episode_uuid
                and db.episodes[episode_uuid].group_id in group_ids
                and part.start < chars
                and part.uuid in db.vectors
            ]
            if hits:
                found[fact_uuid, episode_uuid] = min(hits, key=lambda hit: (-hit.cosine, hit.start))
        return found


def _addition(fact: Fact) -> RecordedChange:
    return RecordedChange(
        uuid=fact.uuid,
        fact_uuid=fact.uuid,
        kind="added",
        episode_uuid=next(iter(fact.episodes), None),
        recorded_at=fact.created_at,
        group_id=fact.group_id,
    )


def _fits(change: RecordedChange, ends: tuple[str, ...], wanted: ChangeFilter) -> bool:
    return (
        change.group_id in wanted.group_ids
        and wanted.since <= change.recorded_at <= wanted.recorded_until
        and (wanted.until is None or change.recorded_at < wanted.until)
        and (wanted.entity_uuid is None or wanted.entity_uuid in ends)
        and (not wanted.kinds or change.kind in wanted.kinds)
        and all(
            change.recorded_at > at[change.group_id] if name == "seen" else change.recorded_at <= at[change.group_id]
            for name, at in wanted.bounds
        )
    )


def _is_told(at: datetime, wanted: ChangeFilter) -> bool:
    since, until = wanted.told_since, wanted.told_until
    return (since is None or since <= at) and (until is None or at < until)


def _cause(change: RecordedChange, facts: Mapping[str, Fact]) -> str | None:
    """The episode that told it; of a fact that was retired by hand, the first one of what took its place."""
    by = facts.get(change.replaced_by or "") if change.kind == "retired" and change.fact_uuid in facts else None
    return change.episode_uuid or next(iter(by.episodes if by else ()), None)


def _key(change: RecordedChange, at: datetime) -> Key:
    return (iso(at), int(change.kind == "added"), change.uuid)


def _order(key: Key) -> tuple[object, ...]:
    return (falling(str(key[0])), *key[1:])
