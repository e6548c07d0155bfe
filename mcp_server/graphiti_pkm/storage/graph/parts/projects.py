"""Projects and entries: what the capability projects asks."""

from collections.abc import Sequence

from graphiti_pkm.core.model.projects import ProjectFilter, ProjectPage, ProjectRow
from graphiti_pkm.core.model.queries import Window
from graphiti_pkm.core.model.records import Entry, Project
from graphiti_pkm.storage.graph import mapping
from graphiti_pkm.storage.graph.parts.part import Part
from graphiti_pkm.storage.graph.queries import projects as queries_projects
from graphiti_pkm.storage.graph.queries.values import Row


class Projects(Part):
    """The port ``GraphProjects``."""

    async def projects(self, wanted: ProjectFilter, window: Window) -> ProjectPage:
        page, total = await self._read(*queries_projects.projects(wanted, window))
        return ProjectPage(
            projects=tuple(map(_row, page)),
            keys=tuple((row["created_at"], row["uuid"]) for row in page),
            total=total[0]["total"],
        )

    async def entries(self, episode_uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, Entry]:
        if not episode_uuids:
            return {}
        found = await self._rows(queries_projects.entries(episode_uuids, group_ids))
        return {row["uuid"]: Entry.model_validate(row) for row in found}


def _row(row: Row) -> ProjectRow:
    project = Project(
        uuid=row["uuid"],
        group_id=row["group_id"],
        metadata=row["metadata"],
        pins=tuple(row["pins"]),
        created_at=mapping.instant(row["created_at"]),
    )
    return ProjectRow(
        project=project,
        name=row["name"],
        description=row["summary"],
        status=row["status"],
        entries=row["entries"],
        last_entry=mapping.instant(row["last_entry"]) if row["last_entry"] else None,
    )
