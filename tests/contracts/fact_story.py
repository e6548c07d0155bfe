"""Facts between two people, asked for in every way that lists facts."""

from datetime import datetime
from typing import Any

from tests.builders import a_fact, a_write, an_entity, at

from graphiti_pkm.capabilities.explore.assembly import WALKS_PART
from graphiti_pkm.core.model.queries import FactFilter, FactPage, Window
from graphiti_pkm.core.model.records import Fact
from graphiti_pkm.core.ports.graph import Graph

NOW = at(2026, 6)
PAGE = Window(limit=300)


def wanted(**fields: Any) -> FactFilter:
    return FactFilter(**{"group_ids": ("t1",), "now": NOW, **fields})


class Story:
    """Sarah and Tom, and what became of facts between them."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.sarah, self.tom = an_entity("Sarah"), an_entity("Tom")
        self.made = False

    async def put(self, *records: Any) -> None:
        people = () if self.made else (self.sarah, self.tom)
        self.made = True
        await self.graph.writer.apply(a_write(*people, *records), {})

    def fact(self, text: str, **fields: Any) -> Fact:
        return a_fact(self.sarah, self.tom, **{"text": text, "valid_at": at(2025), **fields})

    async def page(self, **fields: Any) -> FactPage:
        """The same from the entity, from its other end, and from the group."""
        asked = wanted(**fields)
        page = await self.graph.facts.connections(self.sarah.uuid, asked, PAGE)
        assert page.total == len(page.facts)
        assert await self.graph.facts.connections(self.tom.uuid, asked, PAGE) == page
        assert await self.graph.facts.group_facts(asked, PAGE) == page
        uuids = [fact.uuid for fact in reversed(page.facts)]
        assert await self.graph.facts.facts_under([*uuids, "nothing"], asked) == list(reversed(page.facts))
        around = await self.graph.part(WALKS_PART).neighbourhood([self.sarah.uuid], asked, 1, 9, 300)
        assert list(around.facts) == [fact for fact in page.facts if not fact.voided]
        assert around.facts_total == len(around.facts)
        assert [entity.name for entity, _ in around.entities] == ["Tom"] * bool(around.facts)
        assert (
            sum(one.facts for one in (await self.graph.facts.fact_counts(self.sarah.uuid, asked, 10, 1)).neighbours)
            == page.total
        )
        return page

    async def texts(self, **fields: Any) -> list[str]:
        return [fact.text for fact in (await self.page(**fields)).facts]

    async def known(self, known_at: datetime, **fields: Any) -> Fact:
        """The only fact, as it was known."""
        (fact,) = (await self.page(known_at=known_at, **fields)).facts
        return fact
