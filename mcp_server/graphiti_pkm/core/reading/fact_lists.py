"""Shared by answers that list facts: the state of knowledge asked for, series of readings, earliest evidence."""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from graphiti_pkm.core.identity.near_relations import Relations
from graphiti_pkm.core.model.queries import FactFilter, FactPage, Window
from graphiti_pkm.core.model.records import Entity, Fact
from graphiti_pkm.core.model.times import show_time
from graphiti_pkm.core.reading.reader import RELATIONS, Reader, Start
from graphiti_pkm.core.reading.views import clipped
from graphiti_pkm.core.waiting import in_thread

ReadFacts: TypeAlias = Callable[[FactFilter, Window], Awaitable[FactPage]]

_SERIES = 2
"""The fewest readings that are a series."""
_OLDEST_KEY = 3
"""Parts of a sort key for oldest-first order; otherwise there are four."""
_NAME = 200
_RELATION = 60
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
    """A page of facts; ``measure`` is set if all facts under the filter are readings of one series."""

    page: FactPage
    measure: str | None = None


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

    async def _listed(self, read: ReadFacts, wanted: FactFilter, limit: int, start: Start) -> Listed:
        """One fact more than a page: current ones first, then the newest; readings of a series oldest first."""
        newest = start.after is None or len(start.after) != _OLDEST_KEY
        page = await read(wanted, Window(limit=limit + 1, after=start.after, newest=newest))
        if not newest:
            return Listed(page, next((fact.measure for fact in page.facts), ""))
        series = series_of(page.facts) if start.after is None else None
        if series is not None:
            readings = wanted.model_copy(update={"series": series})
            oldest = await read(readings, Window(limit=limit + 1, newest=False))
            if oldest.total == page.total:
                return Listed(oldest, oldest.facts[0].measure)
        return Listed(page)

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


def _near(asked: Sequence[str], uses: Mapping[str, int]) -> list[str]:
    relations = Relations(uses)
    return [name for one in asked for name in relations.near(one, is_plan=False)]


def series_of(facts: Sequence[Fact]) -> tuple[str, str] | None:
    """Source and measure, if all facts are readings of one series."""
    found = {(fact.source_uuid, (fact.measure or "").lower()) for fact in facts}
    is_one = len(facts) >= _SERIES and len(found) == 1 and all(fact.kind == "reading" for fact in facts)
    return found.pop() if is_one else None


def series_note(count: int, total: int | None, measure: str) -> str:
    """States the order, which differs from other answers."""
    of = "" if total is None else f"of {total} "
    return f"Found {count} {of}reading(s) of {clipped(measure, _NAME)}, oldest first"


def joined(*notes: str | None) -> str | None:
    """Notes as one text."""
    return " ".join(note for note in notes if note) or None
