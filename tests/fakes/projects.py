"""Projects and entries of the fake graph."""

from collections.abc import Sequence

from tests.fakes.part import FakePart
from tests.fakes.tables import Tables, falling, is_current, iso

from graphiti_pkm.core.facts.statuses import word_of
from graphiti_pkm.core.model.names import normalise_name
from graphiti_pkm.core.model.projects import ProjectFilter, ProjectPage, ProjectRow
from graphiti_pkm.core.model.queries import Window
from graphiti_pkm.core.model.records import Entry, Forgetting, Project, WriteIntent
from graphiti_pkm.core.model.redaction import NO_METADATA


def add_projects(db: Tables, intent: WriteIntent) -> None:
    for project in intent.projects:
        if project.uuid in db.entities:
            db.projects[project.uuid] = project
    for entry in intent.entries:
        if entry.uuid in db.episodes:
            held = db.projects.get(entry.project_uuid or "")
            is_held = held is not None and held.group_id == entry.group_id
            db.entries[entry.uuid] = entry if is_held else entry.model_copy(update={"project_uuid": None})


def forget_metadata(db: Tables, told: Forgetting) -> None:
    for uuid in told.metadata:
        if uuid in db.projects:
            db.projects[uuid] = db.projects[uuid].model_copy(update={"metadata": NO_METADATA})
        if uuid in db.entries:
            db.entries[uuid] = db.entries[uuid].model_copy(update={"metadata": NO_METADATA})


def delete_projects(db: Tables) -> None:
    """Those whose entity or episode is gone."""
    db.projects = {uuid: one for uuid, one in db.projects.items() if uuid in db.entities}
    db.entries = {
        uuid: one if one.project_uuid in db.projects else one.model_copy(update={"project_uuid": None})
        for uuid, one in db.entries.items()
        if uuid in db.episodes
    }


class FakeProjects(FakePart):
    """The port ``GraphProjects``."""

    async def projects(self, wanted: ProjectFilter, window: Window) -> ProjectPage:
        db = await self._db()
        found = [_row(db, one, wanted) for one in db.projects.values() if _fits(one, wanted)]
        if wanted.statuses is not None:
            found = [one for one in found if normalise_name(one.status or "") in wanted.statuses]
        found.sort(key=lambda one: (falling(iso(one.project.created_at)), one.project.uuid))
        keys = [(iso(one.project.created_at), one.project.uuid) for one in found]
        total, first = len(found), 0
        if window.after is not None:
            created_at, uuid = (str(part) for part in window.after)
            first = sum((falling(at), one) <= (falling(created_at), uuid) for at, one in keys)
        last = first + window.limit
        return ProjectPage(projects=tuple(found[first:last]), keys=tuple(keys[first:last]), total=total)

    async def entries(self, episode_uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, Entry]:
        db = await self._db()
        found = (db.entries[uuid] for uuid in episode_uuids if uuid in db.entries)
        return {one.uuid: one for one in found if one.group_id in group_ids}


def _fits(project: Project, wanted: ProjectFilter) -> bool:
    return (
        project.group_id in wanted.group_ids
        and (wanted.uuids is None or project.uuid in wanted.uuids)
        and (wanted.recorded_until is None or project.created_at <= wanted.recorded_until)
    )


def _row(db: Tables, project: Project, wanted: ProjectFilter) -> ProjectRow:
    statuses = [
        fact
        for fact in db.facts.values()
        if fact.source_uuid == project.uuid
        and fact.relation == "HAS_STATUS"
        and is_current(fact, wanted.now, wanted.recorded_until)
        and (wanted.recorded_until is None or fact.created_at <= wanted.recorded_until)
    ]
    statuses.sort(key=lambda fact: (falling(iso(fact.valid_at)), falling(iso(fact.created_at)), fact.uuid))
    entity = db.entities[project.uuid]
    dates = [db.episodes[uuid].valid_at for uuid, one in db.entries.items() if one.project_uuid == project.uuid]
    return ProjectRow(
        project=project,
        name=entity.name,
        description=entity.summary,
        status=word_of(db.named(statuses[0])) if statuses else None,
        entries=len(dates),
        last_entry=max(dates, default=None),
    )
