"""Copies what entities have besides: projects, reviews, and the types and summaries that the target lacks."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from graphiti_pkm.capabilities.curation.ports import GraphCuration
from graphiti_pkm.capabilities.projects.ports import GraphProjects
from graphiti_pkm.capabilities.staging.copying import Copying
from graphiti_pkm.capabilities.staging.counting import Found
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.model.projects import ProjectFilter
from graphiti_pkm.core.model.queries import Window
from graphiti_pkm.core.model.records import Entity, Project, Quality
from graphiti_pkm.core.model.redaction import FORGOTTEN

_PAGE = 500
_REVIEW = Quality.model_fields.keys() - {"uuid", "group_id", "similar_to", "found_with", "checks", "approved_at"}
"""What somebody said of an entity; the rest is what checks found in its own group."""


class _Side(NamedTuple):
    """Some entities of one group, by uuid."""

    entities: dict[str, Entity]
    projects: dict[str, Project]
    qualities: dict[str, Quality]


class Besides:
    """Of one copy, after all its entities, since projects pin them; both locks are held."""

    def __init__(self, context: Context, copying: Copying, stored: tuple[GraphCuration, GraphProjects]) -> None:
        self._context = context
        self._graph = context.graph
        self._copying = copying
        self._curation, self._projects = stored
        self.differing = Found()
        """Entities of which the target has something else, which stays."""
        self.staying: set[str] = set()
        """Those there, with what they pin, which no move removes."""

    async def bring(self) -> None:
        """Give the target's entities what they lack, and find those that differ. Raises as ``Committer.commit``."""
        copying = self._copying
        uuids = list(copying.entities)
        for start in range(0, len(uuids), _PAGE):
            some = uuids[start : start + _PAGE]
            own = list(dict.fromkeys(copying.entities[one] for one in some))
            there, here = await self._read(some, copying.source), await self._read(own, copying.target)
            lacking = self._lacking(some, there, here)
            if any(lacking):
                intent = await copying.intent(())
                fields = {kind: tuple(records.values()) for kind, records in lacking._asdict().items()}
                projects = tuple(
                    one.model_copy(update={"created_at": intent.recorded_at}) for one in lacking.projects.values()
                )
                await copying.commit(intent.model_copy(update={**fields, "projects": projects}))
                here = await self._read(own, copying.target) if copying.writes else _with(here, lacking)
            for uuid in some:
                if what := ", ".join(self._other(uuid, there, here)):
                    self.staying.update((uuid, *(there.projects[uuid].pins if uuid in there.projects else ())))
                    self.differing.add(f"{there.entities[uuid].name}: {what}")

    async def _read(self, uuids: Sequence[str], group: str) -> _Side:
        wanted = ProjectFilter(group_ids=(group,), now=self._context.now(), uuids=tuple(uuids))
        rows = (await self._projects.projects(wanted, Window(limit=len(uuids)))).projects
        return _Side(
            {one.uuid: one for one in await self._graph.records.get_entities(uuids, [group])},
            {row.project.uuid: row.project for row in rows},
            dict(await self._curation.qualities(uuids, [group])),
        )

    def _lacking(self, uuids: Sequence[str], there: _Side, here: _Side) -> _Side:
        """What the target's entities get, as it will be there. Of two that are one there, the first gives it."""
        copying, found = self._copying, _Side({}, {}, {})
        for uuid in uuids:
            own = copying.entities[uuid]
            place = {"uuid": own, "group_id": copying.target}
            if own in here.entities and own not in copying.gone.resaid:
                one, before = there.entities[uuid], found.entities.get(own, here.entities[own])
                if (filled := _filled(before, one)) != before:
                    found.entities[own] = filled
            if uuid in there.projects and own not in here.projects and own not in found.projects:
                pins = self._pins(there.projects[uuid])
                found.projects[own] = there.projects[uuid].model_copy(update={**place, "pins": pins})
            if uuid in there.qualities and _said(there.qualities[uuid]) and own not in found.qualities:
                checked = here.qualities.get(own) or Quality(**place)
                if not _said(checked):
                    said = {name: getattr(there.qualities[uuid], name) for name in _REVIEW}
                    found.qualities[own] = checked.model_copy(update=said)
        return found

    def _pins(self, project: Project) -> tuple[str, ...]:
        entities = self._copying.entities
        return tuple(dict.fromkeys(entities[pin] for pin in project.pins if pin in entities))

    def _other(self, uuid: str, there: _Side, here: _Side) -> Iterator[str]:
        """What an entity there has that is not here."""
        own = self._copying.entities[uuid]
        if own not in here.entities:  # only a preview has not made it
            return
        one, other = there.entities[uuid], here.entities[own]
        is_told = bool(one.summary) and one.summary != FORGOTTEN and not one.summary_by_model
        if is_told and one.summary != other.summary:
            yield "its summary"
        if project := there.projects.get(uuid):
            held = here.projects.get(own)
            is_whole = set(project.pins) <= self._copying.entities.keys()
            pins = set(self._pins(project))
            if held is None or not is_whole or held.metadata != project.metadata or not pins.issubset(held.pins):
                yield "its metadata or pins as a project"
        told, held_review = there.qualities.get(uuid), here.qualities.get(own)
        said = _said(told) if told else {}
        if any(getattr(held_review, name, None) != value for name, value in said.items() if value != FORGOTTEN):
            yield "its review"


def _filled(here: Entity, there: Entity) -> Entity:
    """With the type and the summary of the other, as far as it has none."""
    changes: dict[str, object] = {}
    if here.label is None:
        changes["label"] = there.label
    if not here.summary and there.summary != FORGOTTEN:
        changes |= {"summary": there.summary, "summary_by_model": there.summary_by_model}
    return here.model_copy(update=changes)


def _said(review: Quality) -> dict[str, object]:
    return {name: value for name in _REVIEW if (value := getattr(review, name)) is not None}


def _with(side: _Side, more: _Side) -> _Side:
    return _Side(side.entities | more.entities, side.projects | more.projects, side.qualities | more.qualities)
