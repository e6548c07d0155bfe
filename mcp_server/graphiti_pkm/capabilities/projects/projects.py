"""``create_project``, ``update_project`` and ``list_projects``."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from uuid import uuid4

from graphiti_pkm.capabilities.projects.lookups import ACTIVE, PROJECT, ProjectLookups, status_shown
from graphiti_pkm.capabilities.projects.metadata import read_metadata, shown_metadata
from graphiti_pkm.capabilities.projects.models import ProjectListResponse, ProjectResponse, ProjectView
from graphiti_pkm.capabilities.projects.ports import GraphProjects
from graphiti_pkm.capabilities.projects.requests import MAX_PINS, CreateProject, ListProjects, UpdateProject
from graphiti_pkm.capabilities.remember.service import Addition, Writing
from graphiti_pkm.capabilities.remember.write_plan import WritePlan
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.facts.rules import is_current
from graphiti_pkm.core.facts.statuses import HAS_STATUS, keys_of_meaning
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.identity.uuids import resolve_within
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.answers import AddMemoryResponse, Attention
from graphiti_pkm.core.model.names import display_name, name_key
from graphiti_pkm.core.model.projects import ProjectFilter, ProjectRow
from graphiti_pkm.core.model.queries import EntityFilter, Window
from graphiti_pkm.core.model.records import Entity, Project, WriteIntent, WriteKind
from graphiti_pkm.core.model.requests import AddMemory, EntityInput, FactInput
from graphiti_pkm.core.model.times import iso
from graphiti_pkm.core.reading.candidates import checked_text
from graphiti_pkm.core.reading.paging import PROJECTS, budget, fit
from graphiti_pkm.core.reading.views import clipped, item_sizes
from graphiti_pkm.errors import InvalidInput, NotFound
from graphiti_pkm.storage.commit import Committer

SOURCE = "projects"
"""Where the episodes come from that say what a project is and how it stands."""
_NAME = 200
_DESCRIPTION = 2_000


_IS_ACTIVE = f" It is {ACTIVE}."
"""The words of the default status: it stays when the description goes, because it names somebody forgotten."""


class _ExistsError(Exception):
    """Somebody made the project meanwhile."""


class _HasStatusError(Exception):
    """The entity has a status, so the default is not written."""


class Projects(ProjectLookups):
    """A project is an entity with a record beside it; its status is a fact, its description the summary."""

    def __init__(
        self, context: Context, groups: Groups, stored: GraphProjects, writing: Writing, committer: Committer
    ) -> None:
        super().__init__(context, groups, stored)
        self._writing = writing
        self._committer = committer

    async def create_project(self, caller: Caller, request: CreateProject) -> ProjectResponse:
        """Make a project; one of that name is returned as it is, and an entity that has a status keeps it.

        Raises InvalidInput: something else has the name, or the metadata do not do; nothing was stored.
        """
        caller.must_write("Nothing was stored.")
        name = display_name(checked_text("name", request.name))
        if not name:
            raise InvalidInput("name is blank; give the project a name. Nothing was stored.")
        metadata = read_metadata(request.metadata)
        group = self._groups.one(caller, request.group_id)
        if (known := await self._of_name(name, group)) is not None:
            return await self._known(known)

        async def records(plan: WritePlan) -> Mapping[str, object]:
            entity = plan.resolved[0].entity
            if entity.label != PROJECT:
                raise InvalidInput(
                    f"{clipped(entity.name, _NAME)!r} is {_article(entity.label)} ({entity.uuid[:8]}), and one name is "
                    "one entity. Give the project a fuller name. Nothing was stored."
                )
            if await self._rows([entity.uuid], [group]):
                raise _ExistsError
            if plan.facts.results and _has_status(plan, entity.uuid, self._context.now()):
                raise _HasStatusError
            project = Project(uuid=entity.uuid, group_id=group, metadata=metadata, created_at=plan.episode.created_at)
            return {"projects": (project,)}

        description = (request.description or "").strip()
        written = AddMemory(
            episode_body=f"Project {name}{f': {_sentence(description)}' if description else '.'}{_IS_ACTIVE}",
            name=f"Project {name}",
            group_id=self._groups.name_for(caller, group),
            source_description=SOURCE,
            entities=[EntityInput(name=name, type=PROJECT, summary=description or None)],
            facts=[FactInput(source=name, relation=HAS_STATUS, value=ACTIVE, fact=f"{name} is {ACTIVE}.")],
        )
        try:
            stored, had_status = await self._made(caller, written, Addition(records, is_read=False))
        except _ExistsError:
            known = await self._of_name(name, group)
            if known is None:
                raise NotFound("The project was made and deleted meanwhile. Nothing was stored.") from None
            return await self._known(known)
        (row,) = await self._rows([stored.entities[0].uuid], [group])
        message = _what_was_made(row, is_new=stored.entities[0].outcome == "created", had_status=had_status)
        return await self._response(row, message, created_new=True, attention=stored.needs_attention)

    async def update_project(self, caller: Caller, request: UpdateProject) -> ProjectResponse:
        """Change what is given.

        Raises:
            InvalidInput: nothing is given, or something of it cannot be; nothing was changed.
            NotFound: no such project, or no such entity to pin; nothing was changed.
        """
        caller.must_write("Nothing was stored.")
        metadata = None if request.metadata is None else read_metadata(request.metadata)
        row = await self._project(caller, request.project, request.group_id)
        group, uuid = row.project.group_id, row.project.uuid
        description = (request.description or "").strip() or None
        if description == row.description:
            description = None
        status = request.status if request.status != status_shown(row.status) else None
        pin = [one.uuid for one in await self._entities(request.pin or (), group)]
        unpin = {one.uuid for one in await self._entities(request.unpin or (), group)}
        if both := unpin.intersection(pin):
            raise InvalidInput(
                f"{len(both)} of the entities are in pin and in unpin: send each in one. Nothing was changed."
            )
        given = (request.description, request.status, request.metadata, request.pin, request.unpin)
        if not any(one is not None for one in given):
            raise InvalidInput("Nothing to change: give description, metadata, status, pin or unpin.")

        async def changed() -> Project:
            """The record as it is now, with what is given. Asked under the group's lock."""
            found = await self._rows([uuid], [group])
            if not found:
                raise NotFound("The project was deleted meanwhile. Nothing was changed.")
            old = found[0].project
            pins = tuple(one for one in dict.fromkeys((*old.pins, *pin)) if one not in unpin)
            if len(pins) > MAX_PINS:
                raise InvalidInput(
                    f"A project has at most {MAX_PINS} pinned entities; unpin some. Nothing was changed."
                )
            return old.model_copy(update={"metadata": old.metadata if metadata is None else metadata, "pins": pins})

        attention: Sequence[Attention] = ()
        if description is None and status is None:
            is_changed = await self._write_record(group, changed)
        else:
            written = self._said(row, description, status)

            async def records(_: WritePlan) -> Mapping[str, object]:
                return {"projects": (await changed(),)}

            stored = await self._writing.add_memory(caller, written, addition=Addition(records, is_read=False))
            attention, is_changed = stored.needs_attention, True
        (row,) = await self._rows([uuid], [group])
        message = f"Updated project {clipped(row.name, _NAME)!r}." if is_changed else "It is so already."
        return await self._response(row, message, created_new=False, attention=attention)

    async def list_projects(self, caller: Caller, request: ListProjects) -> ProjectListResponse:
        """Projects, newest created first."""
        groups = self._groups.searched(caller, request.group_ids)
        start = self._start(caller, request, request.cursor, group_ids=groups)
        statuses = None
        if request.status is not None:
            statuses = (*keys_of_meaning(request.status), *([""] if request.status == ACTIVE else []))
        wanted = ProjectFilter(group_ids=groups, now=start.now, recorded_until=start.recorded_until, statuses=statuses)
        page = await self._stored.projects(wanted, Window(limit=request.limit + 1, after=start.after))
        views = await self._views_of(page.projects[: request.limit])
        kept = fit(item_sizes(views, groups), budget((PROJECTS, request.limit)))
        more = kept < len(page.projects)
        kind = f"{request.status} project" if request.status else "project"
        return ProjectListResponse(
            message=f"{kept} of {page.total} {kind}(s)" if page.total else f"No {kind}; create_project makes one.",
            total=page.total,
            returned=kept,
            truncated=more,
            next_cursor=await self._next(start, page.keys[kept - 1] if more else None, groups),
            scope=await self._scope(caller, groups, empty=not page.total),
            projects=views[:kept],
        )

    async def _of_name(self, name: str, group: str) -> ProjectRow | None:
        key = name_key(group, name)
        held = (await self._graph.records.get_names([key])).get(key)
        rows = await self._rows([held.entity_uuid], [group]) if held else []
        return rows[0] if rows else None

    async def _entities(self, given: Sequence[str], group: str) -> list[Entity]:
        """Those with these names or uuids. Raises NotFound for the first that is none."""
        wanted = EntityFilter(group_ids=(group,))
        named = await self._candidates.named([checked_text("pin", one) for one in given], wanted) if given else {}
        entities = []
        for text in given:
            found = named[text]
            if not found:
                try:
                    uuid = await resolve_within(self._graph, [group], "entity", text)
                    found = await self._graph.records.get_entities([uuid], [group])
                except (InvalidInput, NotFound):
                    found = []
            if not found:
                near = (await self._candidates.similar([text], wanted)).get(text, [])
                hint = f" Near: {', '.join(near)}." if near else ""
                raise NotFound(f"No entity {text[:100]!a} to pin or unpin.{hint} Nothing was changed.")
            entities.append(found[0])
        return entities

    def _said(self, row: ProjectRow, description: str | None, status: str | None) -> AddMemory:
        """The note that a change of description or status leaves."""
        name = row.name
        body = f"Project {name}{f': {_sentence(description)}' if description else '.'}"
        facts = []
        if status:
            body = f"{body} It is {status}." if description else f"Project {name} is {status}."
            now = iso(self._context.now())
            facts.append(
                FactInput(source=name, relation=HAS_STATUS, value=status, fact=f"{name} is {status}.", valid_at=now)
            )
        return AddMemory(
            episode_body=body,
            name=f"Project {name}",
            group_id=self._groups.public(row.project.group_id),
            source_description=SOURCE,
            entities=[EntityInput(name=name, type=PROJECT, summary=description)],
            facts=facts,
        )

    async def _write_record(self, group: str, changed: Callable[[], Awaitable[Project]]) -> bool:
        """The record alone, in a write of its own; False if it is so already."""
        async with self._committer.writing(group):
            project = await changed()
            (before,) = await self._rows([project.uuid], [group])
            if before.project == project:
                return False
            intent = WriteIntent(
                uuid=str(uuid4()),
                group_id=group,
                kind=WriteKind.UPDATE_PROJECT,
                recorded_at=await self._committer.time(group, self._context.now()),
                projects=(project,),
            )
            await self._committer.commit(intent, {})
        return True

    async def _made(self, caller: Caller, written: AddMemory, addition: Addition) -> tuple[AddMemoryResponse, bool]:
        """Store it, without the default status if the entity has one; whether it has."""
        try:
            return await self._writing.add_memory(caller, written, addition=addition), False
        except _HasStatusError:
            alone = written.model_copy(
                update={"facts": [], "episode_body": written.episode_body.removesuffix(_IS_ACTIVE)}
            )
            return await self._writing.add_memory(caller, alone, addition=addition), True

    async def _known(self, row: ProjectRow) -> ProjectResponse:
        message = (
            f"Project {clipped(row.name, _NAME)!r} is there already and stays as it is; update_project changes it."
        )
        return await self._response(row, message, created_new=False)

    async def _response(
        self, row: ProjectRow, message: str, *, created_new: bool, attention: Sequence[Attention] = ()
    ) -> ProjectResponse:
        (view,) = await self._views_of([row])
        return ProjectResponse(message=message, created_new=created_new, needs_attention=list(attention), **dict(view))

    async def _views_of(self, rows: Sequence[ProjectRow]) -> list[ProjectView]:
        pins = {uuid for row in rows for uuid in row.project.pins}
        groups = list({row.project.group_id for row in rows})
        names = {one.uuid: one.name for one in await self._graph.records.get_entities(sorted(pins), groups)}
        return [self._view(row, names) for row in rows]

    def _view(self, row: ProjectRow, names: Mapping[str, str]) -> ProjectView:
        return ProjectView(
            project_id=row.project.uuid,
            name=clipped(row.name, _NAME),
            description=clipped(row.description, _DESCRIPTION),
            status=status_shown(row.status),
            created=iso(row.project.created_at),
            metadata=shown_metadata(row.project.metadata),
            entries=row.entries,
            last_entry=iso(row.last_entry) if row.last_entry else None,
            pinned=[clipped(names[uuid], _NAME) for uuid in row.project.pins if uuid in names] or None,
            group_id=self._groups.public(row.project.group_id),
        )


def _what_was_made(row: ProjectRow, *, is_new: bool, had_status: bool) -> str:
    name = clipped(row.name, _NAME)
    made = f"Created project {name!r}." if is_new else f"Made {name!r}, which was known, a project."
    return f"{made} It is {status_shown(row.status)}, as before." if had_status else made


def _has_status(plan: WritePlan, uuid: str, now: datetime) -> bool:
    """Whether an entity has a status now, or the plan changes a fact that was known."""
    known = [one for one in plan.world.with_relation(uuid, [HAS_STATUS]) if not plan.world.is_new(one.uuid)]
    return bool(plan.retirements.changes or plan.world.updates) or any(is_current(one, now) for one in known)


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


def _article(label: str | None) -> str:
    return f"of type {label}" if label else "something else"
