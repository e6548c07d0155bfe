"""``unmerge_entities``: what was merged becomes two entities again; and finishing what was interrupted."""

import asyncio
import logging
from collections.abc import Sequence
from time import perf_counter
from uuid import uuid4

from graphiti_pkm.capabilities.curation import merge_plan
from graphiti_pkm.capabilities.curation.merging import MOST_MERGES, Merging, shown_entity
from graphiti_pkm.capabilities.curation.models import MergeResponse
from graphiti_pkm.capabilities.curation.ports import GraphCuration, GraphMerging
from graphiti_pkm.capabilities.curation.requests import UnmergeEntities
from graphiti_pkm.capabilities.curation.reviews import said
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.facts.history import MOST_EVENTS
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.identity.uuids import resolve_within, unknown
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.job_records import EmbedMissingJob, Job
from graphiti_pkm.core.model.merges import MergeHead
from graphiti_pkm.core.model.records import (
    Archive,
    EntityState,
    FactChange,
    Merge,
    Project,
    Quality,
    Vectors,
    WriteIntent,
    WriteKind,
)
from graphiti_pkm.core.reading.views import clipped
from graphiti_pkm.core.waiting import wait_for_any
from graphiti_pkm.embedding.write_vectors import embed_by_text
from graphiti_pkm.errors import InvalidInput, PkmError
from graphiti_pkm.storage.commit import Committer

_log = logging.getLogger(__name__)

_MOST_EMBEDDED = 1_000
"""Sentences that come back and are embedded before the lock; a job embeds the others."""
_NAME, _LISTED = 200, 8
_UNFINISHED = 20
_POLL_SECONDS = 60.0


class Unmerging:
    """Undoes merges, the last part first, and finishes merges and undoings that a process left half done."""

    def __init__(
        self,
        context: Context,
        groups: Groups,
        reviews: GraphCuration,
        stored: GraphMerging,
        committer: Committer,
        merging: Merging,
    ) -> None:
        self._context = context
        self._graph = context.graph
        self._groups = groups
        self._reviews = reviews
        self._stored = stored
        self._committer = committer
        self._merging = merging

    async def unmerge_entities(self, caller: Caller, request: UnmergeEntities) -> MergeResponse:
        """Make two of what was merged.

        Raises InvalidInput, NotFound: it was not merged, or another merge has to be undone first.
        """
        caller.must_write("Nothing was changed.")
        reason = said("reason", request.reason)
        visible = await self._groups.visible(caller)
        uuid = await resolve_within(self._graph, visible, "entity", request.remove_uuid)
        head = await self._to_undo(uuid, visible)
        vectors = await self._vectors(head)
        async with self._committer.writing(head.group_id):
            head = await self._to_undo(uuid, visible)
            if not head.is_whole and not head.is_undone:
                await self._merging.go_on(head)
                head = await self._to_undo(uuid, visible)
            facts, mentions = await self._undo(head, caller.principal, reason, vectors)
        kept, removed = await self._graph.records.get_entities([head.kept_uuid, uuid], [head.group_id])
        name, other = clipped(removed.name, _NAME), clipped(kept.name, _NAME)
        return MergeResponse(
            message=f"{name!r} is an entity of its own again, beside {other!r}. What was told of either since the "
            f"merge stays with {other!r}.",
            status="unmerged",
            kept=shown_entity(kept),
            removed=shown_entity(removed),
            facts_moved=facts,
            mentions_moved=mentions,
            needs_attention=[],
            group_id=self._groups.public(head.group_id),
        )

    async def finish_periodically(self, stop: asyncio.Event) -> None:
        """Finish merges and undoings that a process left half done; a background loop."""
        while not stop.is_set():
            try:
                await self.finish_all()
            except PkmError as error:
                _log.warning("unfinished merges wait: %s", error.code)
            await wait_for_any(stop, seconds=_POLL_SECONDS)

    async def finish_all(self) -> None:
        """Finish what is unfinished now."""
        for head in await self._stored.heads(None, None, _UNFINISHED):
            async with self._committer.writing(head.group_id):
                left = [
                    one
                    for one in await self._stored.heads(head.removed_uuid, [head.group_id], MOST_MERGES)
                    if one.uuid == head.uuid
                ]
                for one in left:
                    if one.is_undone:
                        await self._undo(one, None, None, {})
                    elif not one.is_whole:
                        await self._merging.go_on(one)

    async def _to_undo(self, uuid: str, group_ids: Sequence[str]) -> MergeHead:
        """The merge that took the entity out. Raises InvalidInput, NotFound."""
        heads = await self._stored.heads(uuid, group_ids, MOST_MERGES)
        mine = next((one for one in heads if one.removed_uuid == uuid), None)
        if mine is None:
            if not heads and not await self._graph.records.get_entities([uuid], group_ids):
                raise unknown("entity", uuid)
            gone = ", ".join(one.removed_uuid for one in heads[:_LISTED])
            hint = f" Merged into it, the last first: {gone}. Give one of these." if gone else ""
            raise InvalidInput(f"{uuid} was not merged into another entity.{hint}")
        others = await self._stored.heads(mine.kept_uuid, [mine.group_id], MOST_MERGES)
        later = next((one for one in others if one.recorded_at > mine.recorded_at), None)
        if later is not None:
            raise InvalidInput(
                f"{later.removed_uuid} was merged into {later.kept_uuid} after that. Undo this one first."
            )
        return mine

    async def _vectors(self, head: MergeHead) -> Vectors:
        """Of what comes back, computed before the lock; without a model a job makes them later."""
        texts: dict[str, str] = {}
        for place in range(head.parts):
            part = await self._stored.part(head.uuid, place)
            if part is not None and len(texts) < _MOST_EMBEDDED:
                texts |= {one.uuid: one.name for one in part.archive.entities if one.uuid == head.removed_uuid}
                texts |= {one.uuid: one.text for one in part.archive.facts if one.uuid in part.facts}
        made = await embed_by_text(self._context.embedder, list(dict.fromkeys(texts.values()))) or {}
        return {uuid: made[text] for uuid, text in texts.items() if text in made}

    async def _undo(
        self, head: MergeHead, principal: str | None, reason: str | None, vectors: Vectors
    ) -> tuple[int, int]:
        """All parts, the last first; returns how many facts and mentions went back."""
        facts = mentions = 0
        for place in reversed(range(head.parts)):
            began = perf_counter()
            part = await self._stored.part(head.uuid, place)
            if part is None:
                continue
            intent = await self._undoing(head, part)
            if part.is_last:
                intent = await self._with_entities(head, intent, principal, reason)
            written = {*(one.uuid for one in intent.entities), *(one.uuid for one in intent.facts)}
            own = {uuid: vectors[uuid] for uuid in written if uuid in vectors}
            back = written & {head.removed_uuid, *part.facts}
            jobs: tuple[Job, ...] = (EmbedMissingJob(),) if back - own.keys() else ()
            await self._committer.commit(intent.model_copy(update={"jobs": jobs}), own)
            facts += len(part.moved.facts.union(part.facts))
            mentions += len(part.moved.mentions) + len(part.mentions)
            if place:
                await self._merging.rest(began)
        return facts, mentions

    async def _undoing(self, head: MergeHead, part: Merge) -> WriteIntent:
        joined = [one.uuid for one in part.archive.facts if one.uuid not in part.facts]
        found = await self._graph.records.get_facts(joined, [head.group_id]) if joined else []
        return WriteIntent(
            uuid=str(uuid4()),
            group_id=head.group_id,
            kind=WriteKind.UNMERGE,
            recorded_at=await self._committer.time(head.group_id, self._context.now()),
            facts=tuple(merge_plan.facts_back(part, {one.uuid: one for one in found})),
            mentions=part.archive.mentions,
            merge=part.model_copy(update={"undoes": True, "archive": Archive()}),
        )

    async def _with_entities(
        self, head: MergeHead, intent: WriteIntent, principal: str | None, reason: str | None
    ) -> WriteIntent:
        """The first write of an undoing: both entities with their names, and the event."""
        first = await self._stored.part(head.uuid, 0)
        (now,) = await self._graph.records.get_entities([head.kept_uuid], [head.group_id])
        archived = {one.uuid: one for one in first.archive.entities} if first else {}
        removed, before = archived.get(head.removed_uuid), archived.get(head.kept_uuid)
        if first is None or removed is None or before is None:
            raise InvalidInput("what the merge kept of the entity was forgotten.")
        kept = merge_plan.kept_back(now, before, removed)
        events = (await self._graph.changes.fact_changes([kept.uuid], [head.group_id], MOST_EVENTS))[kept.uuid]
        event = next((one for one in events if one.uuid == head.uuid), None)
        given = event.entity_after if event and event.entity_after else EntityState(name=kept.name)
        keys = {one.key for one in first.archive.names}
        names = [one for one in await self._stored.names(kept.uuid) if one.key in keys and one.is_alias]
        reviews = {one.uuid: one for one in first.archive.qualities}
        qualities = [reviews[removed.uuid]] if removed.uuid in reviews else []
        if kept.uuid in reviews:
            held = (await self._reviews.qualities([kept.uuid], [head.group_id])).get(kept.uuid)
            said_now = held or Quality(uuid=kept.uuid, group_id=head.group_id)
            review = merge_plan.review_back(said_now, reviews[kept.uuid], removed.uuid)
            qualities += [] if review == said_now else [review]
        change = FactChange(
            uuid=str(uuid4()),
            fact_uuid=kept.uuid,
            kind="unmerged",
            recorded_at=intent.recorded_at,
            replaced_by=removed.uuid,
            reason=reason,
            caller=principal,
            entity_before=merge_plan.state_of(now).model_copy(
                update={"names": tuple(names), "not_same_as": given.not_same_as, "unlinked": given.unlinked}
            ),
            entity_after=merge_plan.state_of(kept),
        )
        return intent.model_copy(
            update={
                "entities": (kept, removed),
                "names": first.archive.names,
                "projects": tuple(
                    [await self._project(one, removed.uuid, kept.uuid) for one in first.archive.projects]
                ),
                "qualities": tuple(qualities),
                "changes": (change,),
            }
        )

    async def _project(self, before: Project, removed_uuid: str, kept_uuid: str) -> Project:
        """The project of the removed entity as it was; of another, which has it pinned, the pins."""
        now = None if before.uuid == removed_uuid else await self._stored.project(before.uuid)
        return before if now is None else merge_plan.pins_back(now, before, removed_uuid, kept_uuid)
