"""Sections of a document have one time. Lists show them in its order, in copies too, whatever page they stand on."""

from pathlib import Path
from typing import Literal

from tests.integration.test_documents import ingest, opened, written

from graphiti_pkm.bootstrap import Memory
from graphiti_pkm.capabilities.explore.requests import GetEntityTimeline, GetEpisodes
from graphiti_pkm.capabilities.explore.tools import EXPLORING
from graphiti_pkm.capabilities.remember.tools import WRITING
from graphiti_pkm.capabilities.sources.ingesting import Given
from graphiti_pkm.capabilities.sources.tools import INGESTING
from graphiti_pkm.capabilities.staging.migrating import Migration
from graphiti_pkm.capabilities.staging.tools import MIGRATING, SNAPSHOTS
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.core.model.requests import AddMemory
from graphiti_pkm.storage.snapshots.files import snapshot_path

PARTS = 25
"""More than the 20 episodes of one write of a copy."""
WRITERS = ("Tom", "Ada", "Bo")
GUIDE = "".join(f"## Part {one}\n\n{WRITERS[one % 3]} wrote it with Kim.\n\n" for one in range(PARTS))
WHOLE = [f"guide: Part {one}" for one in range(PARTS)]


async def tell(memory: Memory, group: str) -> str:
    """Who wrote it; the uuid of Kim."""
    named = [{"name": name, "type": "Person"} for name in (*WRITERS, "Kim")]
    told = {"episode_body": "Kim came.", "entities": named, "group_id": group, "reference_time": "2020-01-01"}
    stored = await memory.services[WRITING].add_memory(LOCAL, AddMemory.model_validate(told))
    return next(one.uuid for one in stored.entities if one.name == "Kim")


async def listed(memory: Memory, order: Literal["newest", "oldest"], group: str = "default") -> list[str]:
    """The sections as get_episodes shows them, in pages of four."""
    found: list[str] = []
    cursor = None
    while True:
        asked = GetEpisodes(group_ids=[group], order=order, max_episodes=4, max_content_chars=0, cursor=cursor)
        page = await memory.services[EXPLORING].get_episodes(LOCAL, asked)
        found += [one.name for one in page.episodes if one.name.startswith("guide")]
        if (cursor := page.next_cursor) is None:
            return found


async def windows(memory: Memory, kim: str, order: Literal["newest_window", "oldest_first"]) -> list[list[str]]:
    """The sections on each page of the timeline of an entity that all of them mention."""
    found: list[list[str]] = []
    cursor = None
    while True:
        asked = GetEntityTimeline(entity_uuid=kim, order=order, max_episodes=4, max_content_chars=0, cursor=cursor)
        page = await memory.services[EXPLORING].get_entity_timeline(LOCAL, asked)
        found.append([one.name for one in page.episodes if one.name.startswith("guide")])
        if (cursor := page.next_cursor) is None:
            return found


async def test_lists_and_windows_show_sections_in_the_order_of_the_document(tmp_path: Path) -> None:
    async with opened(tmp_path / "data") as memory:
        kim = await tell(memory, "default")
        await ingest(memory, tmp_path / "root", guide=GUIDE)
        assert await listed(memory, "newest") == await listed(memory, "oldest") == WHOLE
        forwards = await windows(memory, kim, "oldest_first")
        assert [one for page in forwards for one in page] == WHOLE
        backwards = await windows(memory, kim, "newest_window")
        assert backwards[0] == WHOLE[-4:], "the newest window is the end of the document"
        assert [one for page in reversed(backwards) for one in page] == WHOLE
        await memory.recovery.rebuilding.rebuild(lambda _done, _total: None)
        assert await listed(memory, "newest") == WHOLE


async def test_copies_of_sections_are_in_their_order(tmp_path: Path) -> None:
    """Also if each comes with another entity, and some of them in a later write."""
    data, root = tmp_path / "data", tmp_path / "root"
    async with opened(data) as memory:
        await tell(memory, "default_staging")
        written(root, {"guide": GUIDE})
        given = [Given(root / "guide.md", "guide")]
        async for done in memory.services[INGESTING].ingest(LOCAL, given, root, "default_staging"):
            assert done.outcome == "new"
        how = {"source": "default_staging", "has_facts": True, "has_episodes": True}
        some = Migration(target="default", concepts=WRITERS, is_checked=True, **how)
        report = await memory.services[MIGRATING].migrate(LOCAL, some)
        assert report.attached.documents == 1
        assert await listed(memory, "newest") == await listed(memory, "oldest") == WHOLE
        await memory.services[MIGRATING].migrate(LOCAL, Migration(target="default_archive", **how))
        assert await listed(memory, "newest", "default_archive") == WHOLE
        await memory.services[SNAPSHOTS].take(LOCAL, "default_staging", "one")
        file = str(snapshot_path(data, "default_staging", "one"))
        await memory.services[SNAPSHOTS].restore(LOCAL, "elsewhere", file, confirm=True)
        assert await listed(memory, "newest", "elsewhere") == WHOLE
