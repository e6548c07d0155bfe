"""The contract of the bookmarks' port: python contract.py (fake | sqlite) DIRECTORY."""

import asyncio
import sys
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from graphiti_pkm.capabilities.bookmarks.assembly import BOOKMARK_PART
from tests.builders import GROUP, a_fact, a_name, a_write, an_entity, an_episode
from tests.fakes import FakeGraph
from tests.fakes.graph import PARTS
from tests.fakes.part import FakePart

from graphiti_pkm.core.model.records import Deletions
from graphiti_pkm.storage.graph.sqlite.store import SqliteGraph
from graphiti_pkm.storage.journal.connection import MEMORY, JournalFile


class FakeBookmarks(FakePart):
    """The port ``BookmarkPort``."""

    async def bookmarks(self, group_ids: Sequence[str], limit: int) -> tuple[list[dict[str, Any]], int]:
        db = await self._db()
        facts = [
            fact
            for fact in db.facts.values()
            if fact.relation == "BOOKMARKED" and fact.group_id in group_ids and fact.expired_at is None
        ]
        facts.sort(key=lambda fact: fact.uuid)
        facts.sort(key=lambda fact: fact.created_at, reverse=True)
        found = [
            {
                "entity_uuid": fact.target_uuid,
                "name": db.entities[fact.target_uuid].name,
                "note": fact.text,
                "fact_uuid": fact.uuid,
            }
            for fact in facts[:limit]
        ]
        return found, len(facts)


def store_of(kind: str, directory: Path) -> Any:
    if kind == "fake":
        return FakeGraph(parts={**PARTS, BOOKMARK_PART.cypher: FakeBookmarks})
    return SqliteGraph(JournalFile(directory, name=MEMORY))


async def hold(graph: Any) -> None:
    me, berlin, paris = an_entity("me"), an_entity("Berlin"), an_entity("Paris")
    episode = an_episode("Come back to both.")
    older = a_fact(me, berlin, "BOOKMARKED", text="Berlin once more", episodes=(episode.uuid,))
    newer = a_fact(
        me,
        paris,
        "BOOKMARKED",
        text="Paris too",
        episodes=(episode.uuid,),
        created_at=older.created_at + timedelta(hours=1),
    )
    other = a_fact(me, paris, "VISITED", text="Paris", episodes=(episode.uuid,))
    await graph.writer.apply(a_write(me, berlin, paris, a_name(paris), episode, older, newer, other), {})
    part = graph.part(BOOKMARK_PART)
    newest = {"entity_uuid": paris.uuid, "name": "Paris", "note": "Paris too", "fact_uuid": newer.uuid}
    found, total = await part.bookmarks([GROUP], 1)
    assert ([dict(one) for one in found], total) == ([newest], 2)
    assert [one["name"] for one in (await part.bookmarks([GROUP], 9))[0]] == ["Paris", "Berlin"]
    found, total = await part.bookmarks(["someone-else"], 9)
    assert (list(found), total) == ([], 0)
    await graph.writer.apply(a_write(deletions=Deletions(facts=(newer.uuid,))), {})
    assert [one["name"] for one in (await part.bookmarks([GROUP], 9))[0]] == ["Berlin"]
    await graph.close()


if __name__ == "__main__":
    asyncio.run(hold(store_of(sys.argv[1], Path(sys.argv[2]))))
