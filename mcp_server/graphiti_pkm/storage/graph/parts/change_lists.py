"""Changes of facts in lists, with the words around each: what the capability history asks."""

from collections.abc import Sequence
from datetime import datetime

from graphiti_pkm.core.model.changes import ChangeFilter, ChangePage
from graphiti_pkm.core.model.queries import EpisodeHit, Window
from graphiti_pkm.core.model.records import RecordedChange
from graphiti_pkm.storage.graph import mapping
from graphiti_pkm.storage.graph.parts.part import Part
from graphiti_pkm.storage.graph.queries import changes as queries_changes
from graphiti_pkm.storage.graph.queries.values import Row


class ChangeLists(Part):
    """The port ``GraphChangeLists``."""

    async def changes(self, wanted: ChangeFilter, window: Window) -> ChangePage:
        newest = queries_changes.recent(wanted, window)
        pages = [page for page, _ in queries_changes.changes(newest, window)]
        whole = queries_changes.changes(wanted, window)
        found = await self._read(*pages, *(total for _, total in whole))
        rows, totals = _merged(found[: len(pages)], window.limit), found[len(pages) :]
        if len(rows) < window.limit and newest != wanted:
            rows = _merged(await self._read(*(page for page, _ in whole)), window.limit)
        return ChangePage(
            changes=tuple(map(_change, rows)),
            keys=tuple((row["at"], row["rank"], row["id"]) for row in rows),
            total=sum(total[0]["total"] for total in totals),
        )

    async def last_writes(self, group_ids: Sequence[str]) -> dict[str, datetime]:
        found = await self._rows(queries_changes.last_writes(group_ids))
        return {row["group_id"]: mapping.instant(row["at"]) for row in found}

    async def openings(self, episode_uuids: Sequence[str], group_ids: Sequence[str], chars: int) -> dict[str, str]:
        found = await self._rows(queries_changes.openings(episode_uuids, group_ids, chars))
        return {row["uuid"]: row["text"] for row in found}

    async def nearest_sentences(
        self, pairs: Sequence[tuple[str, str]], group_ids: Sequence[str], chars: int
    ) -> dict[tuple[str, str], EpisodeHit]:
        found = await self._rows(queries_changes.nearest_sentences(pairs, group_ids, chars))
        return {
            (row["fact"], row["episode"]): EpisodeHit(cosine=row["cosine"], start=row["start"], end=row["end"])
            for row in found
        }


def _merged(pages: Sequence[Sequence[Row]], limit: int) -> list[Row]:
    """The newest of several sources."""
    rows = sorted((row for page in pages for row in page), key=lambda row: (row["rank"], row["id"]))
    return sorted(rows, key=lambda row: str(row["at"]), reverse=True)[:limit]


def _change(row: Row) -> RecordedChange:
    return mapping.change({field: value for field, value in row.items() if field not in {"at", "rank", "id"}})
