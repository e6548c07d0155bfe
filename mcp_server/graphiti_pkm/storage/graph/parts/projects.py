"""Projects and entries: what the capability projects asks."""

from collections.abc import Sequence

from graphiti_pkm.core.model.projects import ProjectFilter, ProjectPage, ProjectRow
from graphiti_pkm.core.model.queries import Window
from graphiti_pkm.core.model.records import Entry, Project
from graphiti_pkm.core.model.relevance import RelevanceFilter, RelevanceParts, Relevant, RelevantPart
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

    async def relevant(
        self, wanted: RelevanceFilter, primary: Window | None, secondary: Window | None
    ) -> RelevanceParts:
        windows = ((True, primary), (False, secondary))
        pages = [queries_projects.relevant(wanted, one, is_primary=part) for part, one in windows if one is not None]
        counted, *found = await self._read(queries_projects.relevance_totals(wanted), *pages)
        totals = {row["is_primary"]: (row["total"], row["below"]) for row in counted}
        parts = []
        for part, window in windows:
            total, below = totals.get(part, (0, 0))
            rows = found.pop(0) if window is not None else []
            parts.append(RelevantPart(entities=tuple(map(_relevant, rows)), total=total, below=below))
        most = max((row["most"] for row in counted), default=0)
        return RelevanceParts(primary=parts[0], secondary=parts[1], most_mentions=most)

    async def projects_of(self, entity_uuids: Sequence[str], group_id: str) -> dict[str, list[str]]:
        if not entity_uuids:
            return {}
        found = await self._rows(queries_projects.projects_of(entity_uuids, group_id))
        names = {row["uuid"]: list(row["names"]) for row in found}
        return {uuid: names.get(uuid, []) for uuid in entity_uuids}

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


def _relevant(row: Row) -> Relevant:
    entity = mapping.entity(row)
    return Relevant(
        uuid=entity.uuid,
        name=entity.name,
        label=entity.label,
        mentions=row["mentions"],
        connections=row["connections"],
        last_active=mapping.instant(row["last"]) if row["last"] else None,
        is_pinned=row["is_pinned"],
        score=row["score"],
    )
