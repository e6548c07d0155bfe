"""Shared by answers that list facts: the state of knowledge asked for, series of readings, earliest evidence."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import TypeAlias

from graphiti_pkm.core.facts.amounts import SECONDS, TIME, amount_of
from graphiti_pkm.core.facts.readings import measures_in
from graphiti_pkm.core.identity.near_relations import Relations
from graphiti_pkm.core.model.answers import FactView, SeriesView
from graphiti_pkm.core.model.date_phrases import words_at
from graphiti_pkm.core.model.names import measure_key, name_key
from graphiti_pkm.core.model.queries import FactFilter, FactPage, ReadingPoint, ReadingSeries, Window
from graphiti_pkm.core.model.records import Entity, Fact
from graphiti_pkm.core.model.times import show_time
from graphiti_pkm.core.reading.reader import RELATIONS, Reader, Start
from graphiti_pkm.core.reading.views import clipped
from graphiti_pkm.core.waiting import in_thread

ReadFacts: TypeAlias = Callable[[FactFilter, Window], Awaitable[FactPage]]

_MEASURES = 1_000
"""Measures of a group that are looked through, the most used."""
_OLDEST_KEY = 3
"""Parts of a sort key for oldest-first order; otherwise there are four."""
_MOST_SERIES = 5
_MOST_MEANS = 60
_PLACES = 2
_NAME = 200
_NAMES = 20
"""Other names of a measure under which its readings are found."""
_RELATION = 60
_ONLY_PLANNED = "; nothing is known to have held then, only what was planned"
_SHOWN = 10
"""Relations listed in an empty answer."""


@dataclass(frozen=True)
class Known:
    """Which state of the record is read: the present one, or that of an instant."""

    at: datetime | None = None
    by_reference_time: bool = False
    note: str | None = None


@dataclass(frozen=True)
class Listed:
    """A page of facts; ``is_series``: oldest first, because it lists readings."""

    page: FactPage
    is_series: bool = False


class FactLists(Reader):
    """Base class of the use cases that list facts."""

    async def _known(self, known_at: str | None, group_ids: Sequence[str], now: datetime) -> Known:
        """Raises InvalidInput."""
        at = self._instant("known_at", known_at)
        if at is None or at >= now:
            return Known()
        began = await self._graph.facts.record_start(group_ids)
        if began is not None and began <= at:
            return Known(at)
        begins = f"The record begins {show_time(began, self._context.settings.zone)}; " if began else ""
        return Known(
            at,
            by_reference_time=True,
            note=f"{begins}known_at is before that, so facts count from their reference_time.",
        )

    async def _measures_called(self, group_ids: Sequence[str], entity: Entity) -> tuple[str, ...]:
        """Measures of readings that an entity is, as stored: those named as it is or was."""
        aliases, measures = await asyncio.gather(
            self._graph.records.aliases([entity.uuid], _NAMES), self._measures(group_ids)
        )
        keys = set(map(measure_key, (entity.name, *aliases[entity.uuid])))
        return tuple(text for text in measures if measure_key(text) in keys)

    async def _measures_in(self, query: str, group_ids: Sequence[str]) -> tuple[str, ...]:
        """Measures that a query names, as stored, by their own word or another name of the measure."""
        measures = await self._measures(group_ids)
        called = defaultdict[str, set[str]](set)
        for text in measures:
            called[text].add(text)
        keys = {name_key(group, text): text for group in group_ids for text in measures}
        held = {one.entity_uuid: keys[key] for key, one in (await self._graph.records.get_names(list(keys))).items()}
        entities = await self._graph.records.get_entities(list(held), group_ids)
        aliases = await self._graph.records.aliases(list(held), _NAMES)
        for uuid, name in (*((one.uuid, one.name) for one in entities), *_pairs(aliases)):
            called[name].add(held[uuid])
        found = {text for name in await in_thread(measures_in, query, called) for text in called[name]}
        return tuple(sorted({text for text in measures if measure_key(text) in set(map(measure_key, found))}))

    async def _measures(self, group_ids: Sequence[str]) -> list[str]:
        found: dict[str, None] = {}
        for group in group_ids:
            found.update(dict.fromkeys(await self._graph.facts.measures(group, None, _MEASURES)))
        return list(found)

    async def _listed(self, read: ReadFacts, wanted: FactFilter, limit: int, start: Start) -> Listed:
        """One fact more than a page: current ones first, then the newest; readings always oldest first."""
        is_later = start.after is not None
        if wanted.asks_open:
            return Listed(await read(wanted, Window(limit=limit + 1, after=start.after, newest=False)))
        if asks_for_readings(wanted) or (is_later and len(start.after or ()) == _OLDEST_KEY):
            return Listed(await read(wanted, Window(limit=limit + 1, after=start.after, newest=False)), is_series=True)
        page = await read(wanted, Window(limit=limit + 1, after=start.after))
        if page.facts and not is_later and all(fact.kind == "reading" for fact in page.facts):
            readings = wanted.model_copy(update={"kinds": ("reading",)})
            oldest = await read(readings, Window(limit=limit + 1, newest=False))
            if oldest.total == page.total:
                return Listed(oldest, is_series=True)
        return Listed(page)

    async def _series(
        self, listed: Listed, entity_uuid: str | None, wanted: FactFilter, start: Start
    ) -> list[SeriesView] | None:
        """What is shown of the series on page one of a list of readings."""
        if not listed.is_series or not listed.page.facts or start.after is not None:
            return None
        zone = self._context.settings.zone
        read = self._graph.facts.reading_series
        found = await read(entity_uuid, wanted, zone.key, _MOST_SERIES, _MOST_MEANS)
        units = Counter((one.source_uuid, measure_key(one.measure)) for one in found)
        shown = [one for one in found if one.readings > 1 or units[one.source_uuid, measure_key(one.measure)] > 1]
        return [_series_view(one, zone) for one in shown] or None

    async def _evidence(self, entity: Entity | None, group_ids: Sequence[str], relations: Sequence[str]) -> str:
        """For an empty answer: the earliest date with data, so that the next question can ask for it."""
        if relations and (existing := await self._existing(group_ids, relations)):
            return existing
        uuid = entity.uuid if entity else None
        first = await self._graph.facts.first_fact(uuid, group_ids, relations) if relations else None
        named = f"{relations[0]} " if first and len(relations) == 1 else ""
        first = first or await self._graph.facts.first_fact(uuid, group_ids, ())
        if first is None:
            return ""
        about = f"about {clipped(entity.name, _NAME)}" if entity else "here"
        return f"; the first {named}fact {about} is of {show_time(first, self._context.settings.zone)}"

    def _of_starts(self, wanted: FactFilter) -> str:
        """For an empty answer of what began within dates: how to ask for what held."""
        asked = wanted.valid_after or wanted.valid_before
        return "; valid_after and valid_before ask when facts began, as_of asks what held" if asked else ""

    async def _before_plans(self, facts: Sequence[Fact], wanted: FactFilter, read: ReadFacts) -> str:
        """For an answer of what held at an instant that has plans alone: that it has, and what had ended by then."""
        planned = only_planned(facts, wanted)
        return planned and planned + await self._newest_ended(read, wanted)

    async def _newest_ended(self, read: ReadFacts, wanted: FactFilter) -> str:
        """For an answer of what held at an instant that names none: the newest fact that had ended by then."""
        over = ended_of(wanted)
        facts = (await read(over, Window(limit=1))).facts if over else ()
        return self._said_ended(facts, "had ended")

    def _said_ended(self, facts: Sequence[Fact], label: str) -> str:
        return f"; {label}: {self._views.sentence(facts[0])}" if facts else ""

    async def _existing(self, group_ids: Sequence[str], asked: Sequence[str]) -> str:
        """If no relation given exists: the existing ones, similar ones first, then the most used."""
        uses: Counter[str] = Counter()
        for group in group_ids:
            uses.update(await self._graph.facts.relations(group, RELATIONS))
        if not uses or any(name in uses for name in asked):
            return ""
        near = await in_thread(_near, asked, uses)
        by_use = sorted(uses, key=lambda name: (-uses[name], name))
        names = list(dict.fromkeys([*near, *by_use]))
        shown = ", ".join(clipped(name, _RELATION) for name in names[:_SHOWN])
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        are = "is no relation" if len(asked) == 1 else "are no relations"
        return f"; {', '.join(clipped(one, _RELATION) for one in asked[:_SHOWN])} {are} here, but {shown}{more}"


def _pairs(aliases: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
    return [(uuid, name) for uuid, names in aliases.items() for name in names]


def _near(asked: Sequence[str], uses: Mapping[str, int]) -> list[str]:
    relations = Relations(uses)
    return [name for one in asked for name in relations.near(one, is_plan=False)]


def asks_for_readings(wanted: FactFilter) -> bool:
    """Whether a list is one of readings, or of a measure: such lists are told in the order of time."""
    return bool(wanted.kinds == ("reading",) or wanted.status == "reading" or wanted.measures or wanted.own_measures)


def only_planned(facts: Sequence[Fact], wanted: FactFilter) -> str:
    """What is said if an answer of what held at an instant has plans alone."""
    return "" if not wanted.asks_due_plans or any(fact.kind != "plan" for fact in facts) else _ONLY_PLANNED


def ended_of(wanted: FactFilter) -> FactFilter | None:
    """The filter for what had ended by the instant of a filter for what held then; None if it is for something else."""
    asks_current = wanted.as_of is not None or wanted.only_current or wanted.status == "current"
    if not asks_current or wanted.status not in {None, "current"} or wanted.known_at is not None:
        return None
    return wanted.model_copy(update={"status": "ended", "only_current": False})


def series_note(facts: Sequence[Fact], total: int | None, views: Sequence[FactView]) -> str:
    """States the order, which differs from other answers, and what no series counts; ``views``: of these facts."""
    of = "" if total is None else f"of {total} "
    what = "reading(s)" if all(fact.kind == "reading" for fact in facts) else "fact(s)"
    measures = {measure_key(fact.measure or ""): fact.measure for fact in facts if fact.kind == "reading"}
    name = next(iter(measures.values())) if len(measures) == 1 else None
    voided = sum(view.status == "voided" for view in views)
    wrong = f", {voided} of them voided" if voided else ""
    return f"Found {len(facts)} {of}{what}{f' of {clipped(name, _NAME)}' if name else ''}{wrong}, oldest first"


def in_series_order(facts: Sequence[Fact]) -> list[Fact]:
    """The same facts, but with the readings of each series in the order of time, at the places that they had."""
    series: defaultdict[tuple[str, str], list[Fact]] = defaultdict(list)
    for fact in facts:
        if _is_reading(fact):
            series[_series_of(fact)].append(fact)
    ordered = {key: iter(sorted(found, key=read_at)) for key, found in series.items()}
    return [next(ordered[_series_of(fact)]) if _is_reading(fact) else fact for fact in facts]


def read_at(fact: Fact) -> tuple[datetime, datetime, str]:
    """For sorting readings by time."""
    return (fact.valid_at or fact.reference_time or fact.created_at, fact.created_at, fact.uuid)


def _series_view(series: ReadingSeries, zone: tzinfo) -> SeriesView:
    def shown(point: ReadingPoint | None) -> str | None:
        if point is None:
            return None
        public = ", not public" if point.confidential else ""
        at = words_at(point.at, point.words, zone) or show_time(point.at, zone)
        return f"{clipped(told(point.value, point.unit), _NAME)} ({at}{public})"

    last = amount_of(series.last.value, series.last.unit)
    scale = SECONDS.get(last.unit or "", 1.0) if last and series.kind == TIME else 1.0
    return SeriesView(
        source=clipped(series.source_name, _NAME),
        measure=clipped(series.measure, _NAME),
        unit=last.unit if last else None,
        readings=series.readings,
        first=shown(series.first) or "",
        last=shown(series.last) or "",
        least=shown(series.least),
        most=shown(series.most),
        mean={month: round(mean / scale, _PLACES) for month, mean in reversed(series.means)} or None,
        without_number=(series.readings - series.numbers) or None if series.numbers else None,
    )


def told(value: str | None, unit: str | None) -> str:
    """A value with its unit."""
    return " ".join(part for part in (value, unit) if part)


def _is_reading(fact: Fact) -> bool:
    """Corrected ones do not count: they come after what corrected them."""
    return fact.kind == "reading" and not fact.voided


def _series_of(fact: Fact) -> tuple[str, str]:
    return (fact.source_uuid, measure_key(fact.measure or ""))


def joined(*notes: str | None) -> str | None:
    """Notes as one text."""
    return " ".join(note for note in notes if note) or None
