"""What is said of entities of the fake graph."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import TypeVar

from tests.fakes.part import FakePart
from tests.fakes.tables import Tables, falling, iso

from graphiti_pkm.core.model.curation import FlaggedFilter, FlaggedPage, FlaggedRow, QualityCounts, QualityFilter
from graphiti_pkm.core.model.quality_checks import SIMILAR, is_told_at
from graphiti_pkm.core.model.queries import Window
from graphiti_pkm.core.model.records import Entity, Forgetting, Quality, WriteIntent
from graphiti_pkm.core.model.redaction import redacted_quality


def add_qualities(db: Tables, intent: WriteIntent) -> None:
    for quality in intent.qualities:
        if quality.uuid in db.entities:
            db.qualities[quality.uuid] = quality.model_copy(update={"group_id": db.entities[quality.uuid].group_id})


def forget_qualities(db: Tables, told: Forgetting) -> None:
    for uuid in told.qualities:
        if uuid in db.qualities:
            db.qualities[uuid] = redacted_quality(db.qualities[uuid])


def delete_qualities(db: Tables) -> None:
    """Those whose entity is gone."""
    db.qualities = {uuid: one for uuid, one in db.qualities.items() if uuid in db.entities}


def _is_told(db: Tables, one: Quality, until: datetime | None) -> bool:
    """Whether all that a flag for likeness says is said at others."""
    others = [uuid for uuid in one.similar_to if uuid in db.entities]
    told = [uuid in db.qualities and is_told_at(one, db.qualities[uuid], until) for uuid in others]
    return one.flag_reason == SIMILAR and bool(told) and all(told)


class FakeCuration(FakePart):
    """The port ``GraphCuration``."""

    async def qualities(self, entity_uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, Quality]:
        db = await self._db()
        found = {uuid: db.qualities[uuid] for uuid in entity_uuids if uuid in db.qualities}
        return {uuid: one for uuid, one in found.items() if one.group_id in group_ids}

    async def flagged(self, wanted: FlaggedFilter, window: Window) -> FlaggedPage:
        db = await self._db()
        until = wanted.recorded_until
        dated = [
            (iso(one.flagged_at), one)
            for one in db.qualities.values()
            if one.group_id in wanted.group_ids
            and one.flagged_at is not None
            and (until is None or one.flagged_at <= until)
            and not _is_told(db, one, until)
        ]
        dated.sort(key=lambda pair: (falling(pair[0]), pair[1].uuid))
        after = window.after
        shown = [
            (at, one)
            for at, one in dated
            if after is None or (falling(at), one.uuid) > (falling(str(after[0])), str(after[1]))
        ][: window.limit]
        return FlaggedPage(
            rows=tuple(FlaggedRow(quality=one, entity=db.entities[one.uuid]) for _, one in shown),
            keys=tuple((at, one.uuid) for at, one in shown),
            total=len(dated),
        )

    async def quality_counts(self, wanted: QualityFilter) -> QualityCounts:
        db = await self._db()
        said = [one for one in db.qualities.values() if one.group_id in wanted.group_ids]
        held = {uuid for uuid, one in db.entities.items() if one.group_id in wanted.group_ids}
        low = [one.uuid for one in said if one.confidence is not None and one.confidence < wanted.below]
        made = [db.origins.get((db.entities[uuid].group_id, db.entities[uuid].created_at)) for uuid in low]
        creators = Counter(
            one.created_by for one in made if one is not None and one.created_by.startswith(wanted.creator_prefix)
        )
        return QualityCounts(
            entities=len(held),
            flagged=sum(one.is_flagged for one in said),
            rated=sum(one.confidence is not None for one in said),
            low=len(low),
            orphans=len(held & _alone(db)),
            creators=tuple(sorted(creators.items(), key=lambda pair: (-pair[1], pair[0])))[: wanted.limit],
            creators_total=len(creators),
        )

    async def orphans(self, group_id: str, window: Window, among: Sequence[str] | None = None) -> list[Entity]:
        db = await self._db()
        alone = _alone(db) if among is None else _alone(db) & set(among)
        return _page([one for one in db.entities.values() if one.group_id == group_id and one.uuid in alone], window)

    async def rated_below(self, group_id: str, confidence: float, window: Window) -> list[Quality]:
        db = await self._db()
        said = [one for one in db.qualities.values() if one.group_id == group_id]
        return _page([one for one in said if one.confidence is not None and one.confidence < confidence], window)

    async def made_since(self, group_id: str, since: datetime, window: Window) -> list[Entity]:
        db = await self._db()
        return _page(
            [one for one in db.entities.values() if one.group_id == group_id and one.created_at >= since], window
        )


def _alone(db: Tables) -> set[str]:
    used = {entity for _, entity in db.mentions} | db.projects.keys()
    used |= {uuid for fact in db.facts.values() for uuid in (fact.source_uuid, fact.target_uuid)}
    used |= {one.entity_uuid for one in db.instances.values()}
    names = list(db.names.values())
    unnamed = {one.entity_uuid for one in names} - {one.entity_uuid for one in names if one.is_linkable}
    return db.entities.keys() - used - unnamed


_R = TypeVar("_R", Entity, Quality)


def _page(records: list[_R], window: Window) -> list[_R]:
    (after,) = window.after or ("",)
    return sorted((one for one in records if one.uuid > str(after)), key=lambda one: one.uuid)[: window.limit]
