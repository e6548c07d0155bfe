"""``flag_for_review``, ``clear_flag``, ``list_flagged`` and ``set_confidence``."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import uuid4

from graphiti_pkm.capabilities.curation.models import FlaggedResponse, QualityResponse, QualityView
from graphiti_pkm.capabilities.curation.ports import GraphCuration
from graphiti_pkm.capabilities.curation.requests import MAX_REASON, ClearFlag, FlagForReview, ListFlagged, SetConfidence
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.change_kinds import ReviewChange
from graphiti_pkm.core.model.curation import FlaggedFilter
from graphiti_pkm.core.model.quality_checks import is_told_at
from graphiti_pkm.core.model.queries import Window
from graphiti_pkm.core.model.records import Entity, FactChange, Origin, Quality, WriteIntent, WriteKind
from graphiti_pkm.core.model.request_checks import check_text
from graphiti_pkm.core.model.times import iso
from graphiti_pkm.core.reading.paging import FLAGGED, budget, fit
from graphiti_pkm.core.reading.reader import Reader
from graphiti_pkm.core.reading.views import clipped, item_sizes
from graphiti_pkm.errors import InvalidInput
from graphiti_pkm.storage.commit import Committer

_NAME = 200
_SHOWN_UUID = 8

Change = Callable[[Quality, datetime], Quality]
"""What is said of an entity from now on; the time is that of the write."""


@dataclass(frozen=True)
class Changed:
    """An entity, and what was and is said of it."""

    entity: Entity
    before: Quality
    after: Quality


class Said(Reader):
    """What is said of an entity: a record beside it, changed in a write of its own."""

    def __init__(self, context: Context, groups: Groups, stored: GraphCuration, committer: Committer) -> None:
        super().__init__(context, groups)
        self._stored = stored
        self._committer = committer

    async def _changed(self, caller: Caller, entity_uuid: str, change: Change) -> Changed:
        """Change what is said of an entity; what is the same afterwards is not written. Raises NotFound, NotAllowed."""
        caller.must_write("Nothing was changed.")
        anchor = await self._anchor(caller, entity_uuid, None)
        async with self._committer.changing(anchor) as entity:
            group = entity.group_id
            held = (await self._stored.qualities([entity.uuid], [group])).get(entity.uuid)
            before = held or Quality(uuid=entity.uuid, group_id=group)
            at = await self._committer.time(group, self._context.now())
            after = change(before, at)
            if after != before:
                await self._committer.commit(intent_of([after], group, at), {})
        return Changed(entity, before, after)


class Reviews(Said):
    """Flags and confidence."""

    async def flag_for_review(self, caller: Caller, request: FlagForReview) -> QualityResponse:
        """Raises InvalidInput, NotFound: nothing was changed."""
        reason = said("reason", request.reason)

        def flagged(now: Quality, at: datetime) -> Quality:
            if now.is_flagged and now.flag_reason == reason:
                return now
            return now.model_copy(update=flag_of(reason, caller, at))

        return await self._change(caller, request.entity_uuid, flagged, "Flagged {name} for review.")

    async def clear_flag(self, caller: Caller, request: ClearFlag) -> QualityResponse:
        """Raises InvalidInput, NotFound: nothing was changed."""
        note = said("note", request.note)

        def cleared(now: Quality, at: datetime) -> Quality:
            if not now.is_flagged:
                return now
            flag = {"flag_reason": None, "flagged_at": None, "flagged_by": None, "similar_to": ()}
            return now.model_copy(update={**flag, "note": note, "cleared_at": at, "cleared_by": caller.principal})

        return await self._change(
            caller, request.entity_uuid, cleared, "Cleared the flag of {name}.", "{name} is not flagged"
        )

    async def set_confidence(self, caller: Caller, request: SetConfidence) -> QualityResponse:
        """Raises InvalidInput, NotFound: nothing was changed."""
        reason, confidence = said("reason", request.reason), request.confidence

        def rated(now: Quality, at: datetime) -> Quality:
            if (now.confidence, now.confidence_reason) == (confidence, reason):
                return now
            checks = tuple(check for check in now.checks if check != "low-confidence")
            rating = {"confidence": confidence, "confidence_reason": reason, "checks": checks}
            return now.model_copy(update={**rating, "confidence_at": at, "confidence_by": caller.principal})

        return await self._change(
            caller, request.entity_uuid, rated, f"The confidence of {{name}} is {confidence:g} now."
        )

    async def list_flagged(self, caller: Caller, request: ListFlagged) -> FlaggedResponse:
        """Flagged entities, the last flagged first; of likely duplicates each pair stands at the first of both only."""
        groups = self._groups.searched(caller, request.group_ids)
        start = self._start(caller, request, request.cursor, group_ids=groups)
        wanted = FlaggedFilter(group_ids=groups, recorded_until=start.recorded_until)
        page = await self._stored.flagged(wanted, Window(limit=request.limit + 1, after=start.after))
        rows = page.rows[: request.limit]
        alike = sorted({uuid for row in rows for uuid in row.quality.similar_to})
        others = await self._names(alike, groups)
        held = await self._stored.qualities(alike, groups) if alike else {}
        made = await self._graph.records.origins("entity", [row.entity.uuid for row in rows], groups)
        views = [
            self._view(row.entity, _untold(row.quality, held, wanted.recorded_until), others, made.get(row.entity.uuid))
            for row in rows
        ]
        kept = fit(item_sizes(views, groups), budget((FLAGGED, request.limit)))
        more = kept < len(page.rows)
        return FlaggedResponse(
            message=f"{kept} of {page.total} flagged." if page.total else "Nothing is flagged.",
            total=page.total,
            returned=kept,
            truncated=more,
            next_cursor=await self._next(start, page.keys[kept - 1] if more else None, groups),
            scope=await self._scope(caller, groups, empty=not page.total),
            flagged=views[:kept],
        )

    async def _change(
        self, caller: Caller, entity_uuid: str, change: Change, done: str, unchanged: str = "It is so already"
    ) -> QualityResponse:
        found = await self._changed(caller, entity_uuid, change)
        entity, before, after, group = found.entity, found.before, found.after, found.entity.group_id
        message = done if after != before else f"{unchanged}; nothing was changed."
        made = await self._graph.records.origins("entity", [entity.uuid], [group])
        view = self._view(entity, after, await self._names(after.similar_to, [group]), made.get(entity.uuid))
        return QualityResponse(message=message.format(name=repr(view.name)), changed=after != before, **dict(view))

    async def _names(self, uuids: Sequence[str], group_ids: Sequence[str]) -> Mapping[str, str]:
        found = await self._graph.records.get_entities(sorted(set(uuids)), group_ids) if uuids else []
        return {one.uuid: one.name for one in found}

    def _view(self, entity: Entity, quality: Quality, others: Mapping[str, str], made: Origin | None) -> QualityView:
        """``others``: names of entities that it may be the same as; those that are gone are left out."""
        similar = [uuid for uuid in quality.similar_to if uuid in others]
        return QualityView(
            entity_uuid=entity.uuid,
            name=clipped(entity.name, _NAME),
            type=entity.label,
            created_by=made.created_by if made else None,
            source_type=made.source_type if made else None,
            flagged=quality.is_flagged,
            reason=quality.flag_reason,
            flagged_at=_time(quality.flagged_at),
            flagged_by=quality.flagged_by,
            similar_to=[f"{clipped(others[uuid], _NAME)} ({uuid[:_SHOWN_UUID]})" for uuid in similar] or None,
            note=quality.note,
            cleared_at=_time(quality.cleared_at),
            cleared_by=quality.cleared_by,
            confidence=quality.confidence,
            confidence_reason=quality.confidence_reason,
            confidence_at=_time(quality.confidence_at),
            confidence_by=quality.confidence_by,
            group_id=self._groups.public(entity.group_id),
        )


def _untold(one: Quality, held: Mapping[str, Quality], until: datetime | None) -> Quality:
    """Without entities at which the list says already that it may be the same; ``held``: what is said of these."""
    left = (uuid for uuid in one.similar_to if uuid not in held or not is_told_at(one, held[uuid], until))
    return one.model_copy(update={"similar_to": tuple(left)})


def flag_of(reason: str, caller: Caller, at: datetime) -> dict[str, object]:
    """The fields of a flag that a caller sets."""
    return {"flag_reason": reason, "flagged_at": at, "flagged_by": caller.principal, "approved_at": None}


def intent_of(qualities: Sequence[Quality], group_id: str, at: datetime) -> WriteIntent:
    """The write of what is said of entities from now on."""
    return WriteIntent(
        uuid=str(uuid4()),
        group_id=group_id,
        kind=WriteKind.CURATE,
        recorded_at=at,
        qualities=tuple(qualities),
        changes=tuple(event for one in qualities for event in _events(one, at)),
    )


def _events(now: Quality, at: datetime) -> Iterator[FactChange]:
    """What this write, the one of this time, says of an entity."""
    rating = f"{now.confidence:g}: {now.confidence_reason}" if now.confidence is not None else None
    bias = f"{now.bias:+g}: {now.bias_reason}" if now.bias is not None else None
    said_then: tuple[tuple[ReviewChange, datetime | None, str | None, str | None], ...] = (
        ("flagged", now.flagged_at, now.flag_reason, now.flagged_by),
        ("cleared", now.cleared_at, now.note, now.cleared_by),
        ("rated", now.confidence_at, rating, now.confidence_by),
        ("biased", now.bias_at, bias, now.bias_by),
    )
    for kind, when, reason, by in said_then:
        if when == at:
            yield FactChange(uuid=str(uuid4()), fact_uuid=now.uuid, kind=kind, recorded_at=at, reason=reason, caller=by)


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else iso(moment)


def said(field: str, text: str) -> str:
    """The text as it is stored. Raises InvalidInput."""
    check_text(text, field)
    words = " ".join(text.split())
    if not words or len(words) > MAX_REASON:
        raise InvalidInput(f"{field} needs 1 to {MAX_REASON} characters. Nothing was changed.")
    return words
