"""Merges of two entities of the fake graph."""

from collections.abc import Sequence

from tests.fakes.part import FakePart
from tests.fakes.tables import Tables

from graphiti_pkm.core.model.merges import MergeHead, MergeSizes, Moved
from graphiti_pkm.core.model.records import (
    BECAUSE_OF,
    Deletions,
    Entity,
    Fact,
    Mention,
    Merge,
    Name,
    Project,
    WriteIntent,
    WriteKind,
)
from graphiti_pkm.core.model.redaction import redacted_merge


def begin_merge(db: Tables, intent: WriteIntent) -> None:
    merge = intent.merge
    if merge is None:
        return
    if merge.undoes and merge.is_last:
        db.former.pop(merge.removed_uuid, None)
        for uuid in merge.former:
            if db.former.get(uuid) == merge.kept_uuid:
                db.former[uuid] = merge.removed_uuid
    elif not merge.undoes and merge.place == 0:
        db.names = {key: one for key, one in db.names.items() if one.entity_uuid != merge.removed_uuid}
        db.book_versions[intent.group_id] = next(db.versions)


def finish_merge(db: Tables, intent: WriteIntent) -> None:
    merge = intent.merge
    if merge is None:
        return
    is_there = {merge.kept_uuid, merge.removed_uuid} <= db.entities.keys()
    if is_there:
        _move(db, merge)
    if merge.undoes:
        if is_there:
            db.apart |= set(merge.apart)
        db.merges.pop((merge.uuid, merge.place), None)
        db.undone.add(merge.uuid)
    elif is_there:
        _take_out(db, intent, merge)


def finish_split(db: Tables, intent: WriteIntent) -> None:
    """Events of facts go where these went; quotes make room for what they become."""
    if intent.kind is not WriteKind.SPLIT:
        return
    for instance in intent.instances:
        db.instances.pop(instance.uuid, None)
    own = {one.uuid: db.facts[one.uuid] for one in intent.facts if one.uuid in db.facts}
    for uuid, change in db.changes.items():
        if change.fact_uuid in own:
            db.change_ends[uuid] = (own[change.fact_uuid].source_uuid, own[change.fact_uuid].target_uuid)


def _take_out(db: Tables, intent: WriteIntent, merge: Merge) -> None:
    for uuid in merge.facts:
        db.facts.pop(uuid, None)
        db.vectors.pop(uuid, None)
    for episode in merge.mentions:
        db.mentions.pop((episode, merge.removed_uuid), None)
    db.merges[merge.uuid, merge.place] = (intent, merge)
    if not merge.is_last:
        return
    removed = merge.removed_uuid
    group = db.entities.pop(removed).group_id
    db.vectors.pop(removed, None)
    for table in (db.projects, db.qualities):
        table.pop(removed, None)
    db.apart = {pair for pair in db.apart if removed not in pair}
    db.mentions = {pair: one for pair, one in db.mentions.items() if removed not in pair}
    db.former = {uuid: merge.kept_uuid if now == removed else now for uuid, now in db.former.items()}
    db.former[removed] = merge.kept_uuid
    db.former_groups[removed] = group


def _move(db: Tables, merge: Merge) -> None:
    ends = (merge.removed_uuid, merge.kept_uuid)
    before, after = ends[::-1] if merge.undoes else ends
    moved = merge.moved
    for field, uuids in (("source_uuid", moved.sources), ("target_uuid", moved.targets)):
        for uuid in uuids:
            fact = db.facts.get(uuid)
            if fact is not None and getattr(fact, field) == before:
                db.facts[uuid] = fact.model_copy(update={field: after})
    for place, uuids in enumerate((moved.change_sources, moved.change_targets)):
        for uuid in uuids:
            held = list(db.change_ends.get(uuid, ("", "")))
            if held[place] == before:
                held[place] = after
                db.change_ends[uuid] = (held[0], held[1])
    _move_around(db, moved, before, after)


def _move_around(db: Tables, moved: Moved, before: str, after: str) -> None:
    for uuid in moved.causes:
        fact = db.facts.get(uuid)
        if fact is not None and fact.cause_uuid == before:
            db.facts[uuid] = fact.model_copy(update={"attributes": {**fact.attributes, BECAUSE_OF: after}})
    for episode in moved.mentions:
        mention = db.mentions.pop((episode, before), None)
        if mention is not None:
            db.mentions.setdefault((episode, after), mention.model_copy(update={"entity_uuid": after}))
    for uuid in moved.entries:
        entry = db.entries.get(uuid)
        if entry is not None and entry.project_uuid == before and after in db.projects:
            db.entries[uuid] = entry.model_copy(update={"project_uuid": after})
    for uuid in moved.evidence:
        instance = db.instances.get(uuid)
        if instance is not None and instance.entity_uuid == before:
            db.instances[uuid] = instance.model_copy(update={"entity_uuid": after})


def forget_merges(db: Tables, forgetting: WriteIntent) -> None:
    if forgetting.forgets is not None:
        db.merges = {key: (intent, redacted_merge(merge, forgetting)) for key, (intent, merge) in db.merges.items()}


def delete_merges(db: Tables, deletions: Deletions) -> None:
    gone = {*deletions.entities}
    db.merges = {
        key: (intent, merge)
        for key, (intent, merge) in db.merges.items()
        if gone.isdisjoint((merge.kept_uuid, merge.removed_uuid)) and intent.group_id not in deletions.groups
    }
    db.former = {
        uuid: now
        for uuid, now in db.former.items()
        if gone.isdisjoint((uuid, now)) and db.former_groups.get(uuid) not in deletions.groups
    }


class FakeMerging(FakePart):
    """The port ``GraphMerging``."""

    async def sizes(self, kept_uuid: str, removed_uuid: str) -> MergeSizes:
        db = await self._db()
        both = {kept_uuid, removed_uuid}
        facts = {uuid: [one for one in db.facts.values() if uuid in _ends(one)] for uuid in both}
        times = [one.created_at for held in facts.values() for one in held]
        times += [
            one.recorded_at
            for uuid, one in db.changes.items()
            if one.fact_uuid in both or not both.isdisjoint(db.change_ends.get(uuid, ()))
        ]
        kept, removed = (sum(entity == uuid for _, entity in db.mentions) for uuid in (kept_uuid, removed_uuid))
        return MergeSizes(
            facts=(len(facts[kept_uuid]), len(facts[removed_uuid])),
            mentions=(kept, removed),
            entries=sum(one.project_uuid == removed_uuid for one in db.entries.values()),
            pair=sum(_ends(one) == both for one in db.facts.values()),
            newest=max(times, default=None),
        )

    async def facts(self, entity_uuid: str, limit: int, after: str = "") -> list[Fact]:
        db = await self._db()
        found = [db.named(one) for uuid, one in sorted(db.facts.items()) if entity_uuid in _ends(one) and uuid > after]
        return found[:limit]

    async def facts_like(self, entity_uuid: str, facts: Sequence[Fact], limit: int) -> list[Fact]:
        db = await self._db()
        ends = {entity_uuid}.union(*map(_ends, facts))
        relations, starts = {one.relation for one in facts}, {one.valid_at for one in facts}
        found = [
            db.named(one)
            for _, one in sorted(db.facts.items())
            if entity_uuid in _ends(one) and _ends(one) <= ends and one.relation in relations and one.valid_at in starts
        ]
        return found[:limit]

    async def open_facts(
        self, entity_uuid: str, others: Sequence[str], relations: Sequence[str], limit: int
    ) -> list[Fact]:
        db = await self._db()
        found = [
            db.named(one)
            for _, one in sorted(db.facts.items())
            if one.is_open
            and (
                (one.source_uuid == entity_uuid and (one.target_uuid in others or one.relation in relations))
                or (one.target_uuid == entity_uuid and one.source_uuid in others)
            )
        ]
        return found[:limit]

    async def mentions(self, entity_uuid: str, limit: int, after: str = "") -> list[Mention]:
        db = await self._db()
        own = sorted((episode, one) for (episode, entity), one in db.mentions.items() if entity == entity_uuid)
        return [one for episode, one in own if episode > after][:limit]

    async def mentions_in(self, entity_uuid: str, episode_uuids: Sequence[str]) -> list[Mention]:
        db = await self._db()
        return [one for pair, one in sorted(db.mentions.items()) if pair[1] == entity_uuid and pair[0] in episode_uuids]

    async def entries(self, project_uuid: str, limit: int) -> list[str]:
        db = await self._db()
        return sorted(uuid for uuid, one in db.entries.items() if one.project_uuid == project_uuid)[:limit]

    async def evidence(self, entity_uuid: str, limit: int) -> list[str]:
        held = sorted((await self._db()).instances.items())
        return [uuid for uuid, one in held if one.entity_uuid == entity_uuid][:limit]

    async def project(self, uuid: str) -> Project | None:
        return (await self._db()).projects.get(uuid)

    async def pinning(self, entity_uuid: str, group_id: str, limit: int) -> list[Project]:
        held = sorted((await self._db()).projects.items())
        return [one for _, one in held if one.group_id == group_id and entity_uuid in one.pins][:limit]

    async def caused(self, entity_uuid: str, group_id: str, limit: int) -> list[str]:
        db = await self._db()
        found = (uuid for uuid, one in db.facts.items() if one.cause_uuid == entity_uuid and one.group_id == group_id)
        return sorted(found)[:limit]

    async def change_ends(self, entity_uuid: str, limit: int) -> tuple[list[str], list[str]]:
        db = await self._db()
        sources = [uuid for uuid, ends in db.change_ends.items() if ends[0] == entity_uuid]
        targets = [uuid for uuid, ends in db.change_ends.items() if ends[1] == entity_uuid]
        return sources[:limit], targets[:limit]

    async def names(self, entity_uuid: str) -> list[Name]:
        db = await self._db()
        return [one for _, one in sorted(db.names.items()) if one.entity_uuid == entity_uuid]

    async def apart(self, entity_uuid: str) -> list[tuple[str, str]]:
        return sorted(pair for pair in (await self._db()).apart if entity_uuid in pair)

    async def heads(self, entity_uuid: str | None, group_ids: Sequence[str] | None, limit: int) -> list[MergeHead]:
        db = await self._db()
        found: dict[str, list[tuple[WriteIntent, Merge]]] = {}
        for intent, merge in db.merges.values():
            is_of_it = entity_uuid in (None, merge.kept_uuid, merge.removed_uuid)
            if is_of_it and (group_ids is None or intent.group_id in group_ids):
                found.setdefault(merge.uuid, []).append((intent, merge))
        heads = [
            MergeHead(
                uuid=uuid,
                group_id=parts[0][0].group_id,
                kept_uuid=parts[0][1].kept_uuid,
                removed_uuid=parts[0][1].removed_uuid,
                recorded_at=min(intent.recorded_at for intent, _ in parts),
                parts=max(merge.place for _, merge in parts) + 1,
                is_whole=any(merge.is_last for _, merge in parts),
                is_undone=uuid in db.undone,
            )
            for uuid, parts in found.items()
        ]
        if entity_uuid is None:
            heads = [one for one in heads if not one.is_whole or one.is_undone]
        heads.sort(key=lambda one: one.uuid)
        heads.sort(key=lambda one: one.recorded_at, reverse=True)
        return heads[:limit]

    async def part(self, merge_uuid: str, place: int) -> Merge | None:
        held = (await self._db()).merges.get((merge_uuid, place))
        return None if held is None else held[1]


def current(db: Tables, uuids: Sequence[str]) -> dict[str, Entity]:
    """By the uuid asked for, also that of a merged one."""
    found = {uuid: db.entities.get(uuid) or db.entities.get(db.former.get(uuid, "")) for uuid in uuids}
    return {uuid: entity for uuid, entity in found.items() if entity is not None}


def _ends(fact: Fact) -> set[str]:
    return {fact.source_uuid, fact.target_uuid}
