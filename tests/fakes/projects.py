"""Projects and entries of the fake graph."""

from collections.abc import Collection, Sequence
from datetime import UTC, datetime

from tests.fakes.part import FakePart
from tests.fakes.tables import Tables, falling, holds_at, is_current, iso

from graphiti_pkm.core.facts.statuses import word_of
from graphiti_pkm.core.model.names import normalise_name
from graphiti_pkm.core.model.projects import ProjectFilter, ProjectPage, ProjectRow
from graphiti_pkm.core.model.queries import Window
from graphiti_pkm.core.model.records import Entry, Fact, Forgetting, Project, WriteIntent
from graphiti_pkm.core.model.redaction import NO_METADATA
from graphiti_pkm.core.model.relevance import SCALE, RelevanceFilter, RelevanceParts, Relevant, RelevantPart, terms_of


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

    async def relevant(
        self, wanted: RelevanceFilter, primary: Window | None, secondary: Window | None
    ) -> RelevanceParts:
        rows, most = _scored(await self._db(), wanted)
        parts = []
        for is_primary, window in ((True, primary), (False, secondary)):
            part = sorted((one for one in rows if (one.mentions > 0) == is_primary), key=_order)
            passing = [one for one in part if one.score >= wanted.threshold]
            shown = [] if window is None else [one for one in passing if _is_after(one, window)][: window.limit]
            parts.append(RelevantPart(entities=tuple(shown), total=len(passing), below=len(part) - len(passing)))
        return RelevanceParts(primary=parts[0], secondary=parts[1], most_mentions=most)

    async def projects_of(self, entity_uuids: Sequence[str], group_id: str) -> dict[str, list[str]]:
        db = await self._db()
        return {
            uuid: sorted(
                {db.entities[one].name for one in _projects_of(db, uuid) if db.entities[one].group_id == group_id}
            )[:10]
            for uuid in entity_uuids
        }

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


def _projects_of(db: Tables, entity_uuid: str) -> set[str]:
    held = (db.entries.get(episode) for episode, entity in db.mentions if entity == entity_uuid)
    return {one.project_uuid for one in held if one is not None and one.project_uuid is not None}


def _is_named(db: Tables, uuid: str) -> bool:
    names = [name for name in db.names.values() if name.entity_uuid == uuid]
    return not names or any(name.is_linkable for name in names)


def _is_link(fact: Fact, wanted: RelevanceFilter, until: datetime) -> bool:
    return (
        fact.source_uuid != fact.target_uuid
        and fact.group_id == wanted.group_id
        and fact.kind != "plan"
        and not fact.voided
        and fact.created_at <= until
        and (fact.expired_at is None or fact.expired_at > until)
        and holds_at(fact, wanted.now)
    )


def _mentioned(db: Tables, wanted: RelevanceFilter, until: datetime) -> dict[str, list[datetime]]:
    """When the entries of the project that mention each entity happened."""
    dates: dict[str, list[datetime]] = {}
    for (episode, entity), mention in db.mentions.items():
        entry, written = db.entries.get(episode), max(mention.created_at, db.episodes[episode].created_at)
        is_own = entry is not None and entry.project_uuid == wanted.project_uuid and entity != wanted.project_uuid
        if is_own and written <= until and _is_named(db, entity):
            dates.setdefault(entity, []).append(db.episodes[episode].valid_at)
    return dates


def _linked(
    db: Tables, wanted: RelevanceFilter, until: datetime, own: Collection[str]
) -> dict[str, dict[str, datetime]]:
    """The entities of the project that each entity is linked with, and since when."""
    links: dict[str, dict[str, datetime]] = {}
    for fact in db.facts.values():
        if _is_link(fact, wanted, until):
            at = min(fact.valid_at or fact.reference_time or fact.created_at, wanted.now)
            for one, other in ((fact.source_uuid, fact.target_uuid), (fact.target_uuid, fact.source_uuid)):
                if other in own:
                    links.setdefault(one, {})[other] = max(at, links.get(one, {}).get(other, at))
    return links


def _scored(db: Tables, wanted: RelevanceFilter) -> tuple[list[Relevant], int]:
    until = wanted.recorded_until or datetime.max.replace(tzinfo=UTC)
    dates = _mentioned(db, wanted, until)
    links = _linked(db, wanted, until, dates.keys())
    most = max(map(len, dates.values()), default=0)
    rows = []
    for uuid in {*dates, *links, *wanted.pins} & db.entities.keys():
        entity, seen, linked = db.entities[uuid], dates.get(uuid, []), links.get(uuid, {})
        held = _projects_of(db, uuid)
        is_archived = bool(held) and held <= set(wanted.archived)
        is_pinned = uuid in wanted.pins
        if entity.group_id != wanted.group_id or uuid == wanted.project_uuid or not _is_named(db, uuid):
            continue
        if not seen and not is_pinned and wanted.archived and is_archived:
            continue
        last = max((*seen, *linked.values()), default=None)
        days = None if last is None else (wanted.now - last).total_seconds() / 86_400
        terms = terms_of(len(seen), most, len(linked), days, is_pinned=is_pinned)
        rows.append(
            Relevant(
                uuid=uuid,
                name=entity.name,
                label=entity.label,
                mentions=len(seen),
                connections=len(linked),
                last_active=last,
                is_pinned=is_pinned,
                score=round(terms.score * SCALE),
            )
        )
    return rows, most


def _order(one: Relevant) -> tuple[int, str, str]:
    return (-one.score, one.name, one.uuid)


def _is_after(one: Relevant, window: Window) -> bool:
    if window.after is None:
        return True
    score, name, uuid = window.after
    return _order(one) > (-int(score), str(name), str(uuid))
