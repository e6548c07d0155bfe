"""Which project, and which entity, a caller means; shared by the services of this capability."""

from collections.abc import Sequence
from datetime import datetime

from graphiti_pkm.capabilities.projects.metadata import shown_metadata
from graphiti_pkm.capabilities.projects.models import EntryView
from graphiti_pkm.capabilities.projects.ports import GraphProjects
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.facts.rules import is_current, known_from
from graphiti_pkm.core.facts.statuses import HAS_STATUS, SUPERSEDED, keys_of_meaning, same_meaning, status_word, word_of
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.identity.uuids import resolve_within
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.projects import ProjectFilter, ProjectRow, ProjectStatus
from graphiti_pkm.core.model.queries import EntityFilter, Window
from graphiti_pkm.core.model.records import Entity, Entry, Episode
from graphiti_pkm.core.model.times import check_period, iso
from graphiti_pkm.core.reading.candidates import Candidates, checked_text
from graphiti_pkm.core.reading.reader import Reader
from graphiti_pkm.core.reading.views import clipped, shown_validity
from graphiti_pkm.errors import InvalidInput, NotFound

PROJECT = "Project"
"""The type of an entity that is a project."""
ACTIVE: ProjectStatus = "active"
STATUSES: tuple[ProjectStatus, ...] = ("active", "archived", "completed")
_LISTED = 5
_MENTIONED = 200
"""Entities that all entries of an answer mention."""
_STATUSES_EACH = 10
_SUPERSEDED = 3
"""What is superseded, shown of one entry."""
_NAME = 200
_SHOWN = 100


def status_shown(word: str | None) -> str:
    """One of the three if it means the same, such as done; else the word itself. Without one a project is active."""
    if not word:
        return ACTIVE
    return next((one for one in STATUSES if same_meaning(one, word)), clipped(status_word(word), _SHOWN))


def entry_view(episode: Episode, entry: Entry, content: str | None, **more: object) -> EntryView:
    """An entry with the excerpt chosen for an answer."""
    is_whole = content == episode.content
    shown: dict[str, object] = {
        "entry_id": episode.uuid,
        "type": entry.type,
        "timestamp": iso(episode.valid_at),
        "content": content,
        "content_truncated": None if is_whole else True,
        "content_chars": None if is_whole else len(episode.content),
        "project_id": entry.project_uuid,
        "metadata": shown_metadata(entry.metadata),
        "confidential": True if episode.confidential else None,
        "corrected": True if episode.corrected else None,
    }
    return EntryView.model_validate({**shown, **more})


class ProjectLookups(Reader):
    """Base class of the services of this capability."""

    def __init__(self, context: Context, groups: Groups, stored: GraphProjects) -> None:
        super().__init__(context, groups)
        self._stored = stored
        self._candidates = Candidates(context.graph, context.embedder, self._persons)

    def _period(self, after: str | None, before: str | None) -> tuple[datetime | None, datetime | None]:
        """The instants between which entries are asked for. Raises InvalidInput if nothing can lie between them."""
        first, end = self._instant("after", after), self._instant("before", before)
        check_period(first, end, ("after", "before"), "timestamp")
        return first, end

    async def _superseded(self, episodes: Sequence[Episode], group: str) -> dict[str, list[str]]:
        """By entry: what it mentions that has been superseded since, without what it says so of itself."""
        uuids, now = [one.uuid for one in episodes], self._context.now()
        found, _ = await self._graph.episodes.episode_entities(uuids, [group], Window(limit=_MENTIONED))
        if not found:
            return {}
        over = EntityFilter(
            group_ids=(group,), uuids=tuple(one.uuid for one in found), status=(keys_of_meaning(SUPERSEDED), now)
        )
        entities, _ = await self._graph.records.entity_page(over, Window(limit=_MENTIONED))
        pairs = [(uuid, one.uuid) for uuid in uuids for one in entities]
        mentioned = await self._graph.records.mentioned(pairs)
        told = [(one.uuid, HAS_STATUS) for one in entities]
        statuses = await self._graph.facts.facts_with_relation(group, told, _STATUSES_EACH)
        shown: dict[str, list[str]] = {}
        for entity, facts in zip(entities, statuses, strict=True):
            status = next(
                (one for one in facts if is_current(one, now) and same_meaning(word_of(one), SUPERSEDED)), None
            )
            since = known_from(status) if status else None
            if status is None or since is None:
                continue
            said = clipped(f"{word_of(status)} ({shown_validity(status, self._context.settings.zone)})", _SHOWN)
            for one in episodes:
                if one.valid_at < since and one.uuid not in status.episodes and (one.uuid, entity.uuid) in mentioned:
                    shown.setdefault(one.uuid, []).append(f"{clipped(entity.name, _SHOWN)}: {said}")
        return {uuid: lines[:_SUPERSEDED] for uuid, lines in shown.items()}

    async def _rows(
        self, uuids: Sequence[str], group_ids: Sequence[str], now: datetime | None = None
    ) -> list[ProjectRow]:
        """The projects among these uuids, at most as many as are given."""
        if not uuids:
            return []
        wanted = ProjectFilter(
            group_ids=tuple(group_ids), now=now or self._context.now(), uuids=tuple(dict.fromkeys(uuids))
        )
        return list((await self._stored.projects(wanted, Window(limit=len(uuids)))).projects)

    async def _project(self, caller: Caller, text: str, group_id: str | None) -> ProjectRow:
        """The project of this name in the group, else with this uuid in any group of the caller.

        Raises NotFound with near names.
        """
        group = self._groups.one(caller, group_id)
        named = EntityFilter(group_ids=(group,))
        holders = (await self._candidates.named([checked_text("project", text)], named))[text]
        rows = await self._rows([one.uuid for one in holders], [group])
        if not rows and not holders:
            groups = await self._groups.visible(caller) if group_id is None else (group,)
            try:
                uuid = await resolve_within(self._graph, groups, "entity", text)
            except (InvalidInput, NotFound):
                uuid = None
            found = await self._graph.records.get_entities([uuid], groups) if uuid else []
            rows = await self._rows([one.uuid for one in found], groups) if found else []
        if not rows:
            raise NotFound(await self._no_project(text, holders, group))
        return rows[0]

    async def _no_project(self, text: str, holders: Sequence[Entity], group: str) -> str:
        if holders:
            return f"{clipped(holders[0].name, _NAME)!r} is known, but no project: create_project makes it one."
        known = EntityFilter(group_ids=(group,), labels=(PROJECT,))
        near = (await self._candidates.similar([text], known)).get(text, [])
        wanted = ProjectFilter(group_ids=(group,), now=self._context.now())
        page = await self._stored.projects(wanted, Window(limit=_LISTED))
        all_of_them = [f"{clipped(row.name, _NAME)} ({row.project.uuid[:8]})" for row in page.projects]
        if near:
            return f"No project {text[:_SHOWN]!a}. Near: {', '.join(near)}."
        if all_of_them:
            return f"No project {text[:_SHOWN]!a}. The newest are {', '.join(all_of_them)}; list_projects has all."
        return f"No project {text[:_SHOWN]!a}: this group has none. create_project makes one."

    async def _group(self, caller: Caller, project: str | None, group_id: str | None) -> tuple[str, ProjectRow | None]:
        """The group to read or write, which is the project's own, and the project."""
        if project is None:
            return self._groups.one(caller, group_id), None
        row = await self._project(caller, project, group_id)
        return row.project.group_id, row
