"""``create_entry`` and ``get_entry_context``."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from graphiti_pkm.capabilities.projects.lookups import ProjectLookups, entry_view
from graphiti_pkm.capabilities.projects.metadata import read_metadata
from graphiti_pkm.capabilities.projects.models import EntryContextResponse, EntryResponse, EntryView, ReadingStatus
from graphiti_pkm.capabilities.projects.ports import GraphProjects
from graphiti_pkm.capabilities.projects.requests import CreateEntry, GetEntryContext
from graphiti_pkm.capabilities.remember.service import Addition, Writing
from graphiti_pkm.capabilities.remember.write_plan import WritePlan
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.identity.uuids import resolve_within
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.answers import AddMemoryResponse
from graphiti_pkm.core.model.counted import counted
from graphiti_pkm.core.model.queries import EntityFilter, EntryFilter, EpisodeFilter, Window
from graphiti_pkm.core.model.records import Entity, Entry, Episode
from graphiti_pkm.core.model.requests import AddMemory
from graphiti_pkm.core.progress import Progress, no_progress
from graphiti_pkm.core.reading.candidates import checked_text
from graphiti_pkm.core.reading.paging import CONTENT, ENTRIES, budget, clip_json, fit
from graphiti_pkm.core.reading.views import clipped, item_sizes
from graphiti_pkm.errors import InvalidInput, NotFound

_NAME = 200
_CANDIDATES = 5
_UNREAD = frozenset({"failed", "cancelled"})


@dataclass(frozen=True)
class _Meant:
    """The entity that a caller named, or those that may be meant."""

    entity: Entity | None
    candidates: list[str]


class Entries(ProjectLookups):
    """An entry is an episode with a record beside it."""

    def __init__(self, context: Context, groups: Groups, stored: GraphProjects, writing: Writing) -> None:
        super().__init__(context, groups, stored)
        self._writing = writing

    async def create_entry(
        self, caller: Caller, request: CreateEntry, progress: Progress = no_progress
    ) -> EntryResponse:
        """Store a text as ``add_memory`` does, in a project or alone. Raises as ``add_memory``, and NotFound."""
        caller.must_write("Nothing was stored.")
        if not request.content.strip():
            raise InvalidInput("content is blank; send the text. Nothing was stored.")
        metadata = read_metadata(request.metadata)
        self._instant("timestamp", request.timestamp)
        try:
            group, project = await self._group(caller, request.project_id, request.group_id)
        except NotFound as error:
            raise NotFound(f"{error.message} Nothing was stored.") from None
        self._groups.refuse_unnamed(caller, group, request.group_id)
        project_uuid = project.project.uuid if project else None

        async def records(plan: WritePlan) -> Mapping[str, object]:
            if project_uuid is not None and not await self._rows([project_uuid], [group]):
                raise NotFound("The project was deleted meanwhile. Nothing was stored.")
            entry = Entry(
                uuid=plan.episode.uuid,
                group_id=group,
                type=request.type,
                project_uuid=project_uuid,
                metadata=metadata,
                links_names=request.extract_entities,
            )
            return {"entries": (entry,)}

        written = AddMemory(
            episode_body=request.content,
            group_id=self._groups.name_for(caller, group),
            reference_time=request.timestamp,
            entities=request.entities,
            facts=request.facts,
            wait_seconds=request.wait_seconds,
        )
        addition = Addition(records, links_names=request.extract_entities, is_read=request.extract_entities)
        stored = await self._writing.add_memory(caller, written, progress, addition)
        is_read = self._writing.has_model and request.extract_entities
        found = stored.extraction.entities if stored.extraction else []
        named = {one.uuid: one for one in (*stored.entities, *found)}
        return EntryResponse(
            message=stored.message,
            entry_id=stored.episode_uuid,
            status=_status(stored) if is_read else "processed",
            project_id=project_uuid,
            timestamp=stored.valid_at,
            entities=list(named.values()),
            retired=stored.retired,
            needs_attention=stored.needs_attention,
        )

    async def get_entry_context(self, caller: Caller, request: GetEntryContext) -> EntryContextResponse:
        """Entries that mention an entity: the newest, oldest of them first; the cursor pages to older ones."""
        group, project = await self._group(caller, request.project_id, request.group_id)
        after, before = self._period(request.after, request.before)
        meant = await self._meant(caller, request.entity_name, group, is_only=request.group_id or request.project_id)
        if meant.entity is None:
            return await self._unknown(caller, meant, request.entity_name, group)
        entity, project_uuid = meant.entity, project.project.uuid if project else None
        groups = (entity.group_id,)
        start = self._start(
            caller,
            request,
            request.cursor,
            entity_name=entity.uuid,
            group_id=groups,
            project_id=project_uuid,
            after=after,
            before=before,
        )
        wanted = EpisodeFilter(
            group_ids=groups,
            recorded_until=start.recorded_until,
            valid_after=after,
            valid_before=before,
            entries=EntryFilter(project_uuid=project_uuid),
        )
        limit, chars = request.limit, request.max_content_chars
        page = await self._graph.episodes.timeline(
            entity.uuid, wanted, Window(limit=limit + 1, after=start.after, newest=True)
        )
        episodes = page.episodes[:limit]
        held = await self._stored.entries([one.uuid for one in episodes], groups)
        room = budget((ENTRIES, limit), (CONTENT, chars))
        over = await self._superseded(episodes, entity.group_id)
        views = list(self._views_of(episodes, held, over, chars, room // 2))
        kept = fit(item_sizes(views, groups), room)
        more = kept < len(page.episodes)
        return EntryContextResponse(
            message=await self._context_message(entity, kept, page.total, is_filtered=bool(project or after or before)),
            total=page.total,
            returned=kept,
            truncated=more,
            next_cursor=await self._next(start, page.keys[kept - 1] if more else None, groups),
            scope=await self._scope(caller, groups, empty=not page.total),
            entity=clipped(entity.name, _NAME),
            entity_uuid=entity.uuid,
            entries=views[:kept][::-1],
        )

    async def _context_message(self, entity: Entity, count: int, total: int, *, is_filtered: bool) -> str:
        name = clipped(entity.name, _NAME)
        if total:
            return f"{count} of {counted(total, 'entry')} that mention {name}"
        mentions, _ = (await self._graph.records.entity_support([entity.uuid])).get(entity.uuid, (0, 0))
        others = f"; {mentions} episode(s) do, see get_entity_timeline" if mentions else ""
        return f"No entry{' under these filters' if is_filtered else ''} mentions {name}{others}."

    async def _meant(self, caller: Caller, text: str, group: str, *, is_only: object) -> _Meant:
        """By name or alias in the group, else by uuid in any group of the caller, unless one is given."""
        wanted = EntityFilter(group_ids=(group,))
        found = (await self._candidates.named([checked_text("entity_name", text)], wanted))[text]
        if not found:
            groups = (group,) if is_only else await self._groups.visible(caller)
            try:
                uuid = await resolve_within(self._graph, groups, "entity", text)
                found = await self._graph.records.get_entities([uuid], groups)
            except (InvalidInput, NotFound):
                found = []
        if len(found) == 1:
            return _Meant(found[0], [])
        if found:
            return _Meant(None, [f"{clipped(one.name, _NAME)} ({one.uuid})" for one in found[:_CANDIDATES]])
        return _Meant(None, (await self._candidates.similar([text], wanted)).get(text, []))

    async def _unknown(self, caller: Caller, meant: _Meant, text: str, group: str) -> EntryContextResponse:
        hint = "one of candidates may be meant" if meant.candidates else "no name is near"
        return EntryContextResponse(
            message=f"No one entity is called {text!a}; {hint}.",
            total=0,
            returned=0,
            truncated=False,
            scope=await self._scope(caller, [group], empty=True),
            candidates=meant.candidates or None,
            entries=[],
        )

    def _views_of(
        self,
        episodes: Collection[Episode],
        held: Mapping[str, Entry],
        over: Mapping[str, list[str]],
        max_chars: int,
        max_size: int,
    ) -> Iterator[EntryView]:
        for episode in episodes:
            content = clip_json(episode.content[:max_chars], max_chars, max_size)
            shown = content if max_chars else None
            yield entry_view(episode, held[episode.uuid], shown, superseded=over.get(episode.uuid))


def _status(stored: AddMemoryResponse) -> ReadingStatus:
    """How far a model has read the entry."""
    if stored.extraction is None:
        return "queued"
    if stored.extraction.state == "done":
        return "processed"
    return "failed" if stored.extraction.state in _UNREAD else "queued"
