"""The reading use cases over fakes, with the shortcuts that their tests share."""

import json
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from tests.corpus import embeddings
from tests.fakes import FakeClock, FakeEmbedder, FakeGraph, FakeJournal, FakeLocks

from graphiti_pkm.capabilities.explore.assembly import WALKS_PART
from graphiti_pkm.capabilities.explore.paths import Paths
from graphiti_pkm.capabilities.explore.service import Exploring
from graphiti_pkm.capabilities.explore.sources import Sources
from graphiti_pkm.capabilities.forget.deleting import Deleting
from graphiti_pkm.capabilities.forget.service import Forgetting
from graphiti_pkm.capabilities.history.assembly import CHANGE_LISTS
from graphiti_pkm.capabilities.history.changes import Changes
from graphiti_pkm.capabilities.history.retiring import Retiring
from graphiti_pkm.capabilities.history.updating import Updating
from graphiti_pkm.capabilities.search.assembly import FLAGS, NEIGHBOURS
from graphiti_pkm.capabilities.search.episodes import EpisodeSearch
from graphiti_pkm.capabilities.search.service import Searching
from graphiti_pkm.capabilities.status.service import Status
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.core.model.answers import Answer, Page
from graphiti_pkm.core.model.records import WriteIntent
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.storage.commit import Committer
from graphiti_pkm.storage.jobs import Jobs
from graphiti_pkm.storage.usage import USAGE, UsageQueue

A_PAGE = TypeVar("A_PAGE", bound=Page)

_UUID = re.compile(r'"([0-9a-f]{8})-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}(?=")')
UNKNOWN = "00000000-0000-4000-8000-000000000000"


class World:
    """One store with everything that reads it; ``caller`` is the local one."""

    def __init__(self, **settings: object) -> None:
        self.graph = FakeGraph()
        self.embedder = FakeEmbedder()
        self.clock = FakeClock()
        self.journal = FakeJournal(self.clock)
        self.locks = FakeLocks()
        self.settings = Settings.model_validate({"data_dir": Path("/data"), **settings})
        self.usage = UsageQueue(self.journal.usage, self.graph.part(USAGE), records=self.settings.fitness != "off")
        context = Context(
            self.graph, self.journal, self.embedder, self.locks, self.settings, self.clock, usage=self.usage
        )
        self.groups = Groups(self.graph, self.settings)
        self.exploring = Exploring(context, self.groups)
        neighbours = self.graph.part(NEIGHBOURS)
        walks, lists = self.graph.part(WALKS_PART), self.graph.part(CHANGE_LISTS)
        self.searching = Searching(context, self.groups, neighbours, self.graph.part(FLAGS))
        self.episode_search = EpisodeSearch(context, self.groups, neighbours)
        self.sources = Sources(context, self.groups, walks)
        self.paths = Paths(context, self.groups, walks)
        self.changes = Changes(context, self.groups, lists)
        self.retiring = Retiring(
            context, self.groups, Committer(context), Updating(context, self.groups, Committer(context))
        )
        self.deleting = Deleting(context, self.groups, Committer(context))
        self.forgetting = Forgetting(context, self.groups, Committer(context))
        self.jobs = Jobs(context, Committer(context))
        self.status = Status(context, self.groups, elapsed=self.clock.seconds)
        self.caller = LOCAL

    async def given(self, *writes: WriteIntent) -> None:
        """What the store holds, with embeddings."""
        for write in writes:
            await self.graph.writer.apply(write, await embeddings(write, self.embedder))


async def all_pages(
    ask: Callable[[str | None], Awaitable[A_PAGE]], between: Callable[[], Awaitable[None]] | None = None
) -> list[A_PAGE]:
    """Every page of a call, with something happening between two of them."""
    pages = [await ask(None)]
    while pages[-1].next_cursor:
        if between:
            await between()
        pages.append(await ask(pages[-1].next_cursor))
    return pages


def text_of(answer: Answer) -> str:
    """Compact JSON as the edge prints it: no nulls, uuids cut short, nothing that holds for the whole answer."""
    data = answer.model_dump(exclude_none=True)
    for item in (
        item for value in data.values() if isinstance(value, list) for item in value if isinstance(item, dict)
    ):
        asked = {"out": "source_node", "in": "target_node"}.get(item.get("direction", ""))
        for name in ("group_id", "kind", *((f"{asked}_uuid", f"{asked}_name") if asked else ())):
            item.pop(name, None)
    return _UUID.sub(r'"\1', json.dumps(data, ensure_ascii=False, separators=(",", ":")))
