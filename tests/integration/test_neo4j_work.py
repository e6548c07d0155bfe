"""How often Neo4j is asked for one answer, and how much it looks up: counted, never timed."""

from dataclasses import dataclass
from datetime import timedelta

import pytest
from tests.builders import DAY_ONE, a_fact, a_mention, a_name, a_write, an_entity, an_episode
from tests.fakes import FakeClock, FakeEmbedder, FakeJournal, FakeLocks
from tests.integration.watched_database import WatchedDatabase, watched

from graphiti_pkm.capabilities.explore.requests import GetEntityConnections, GetEntityTimeline
from graphiti_pkm.capabilities.explore.service import Exploring
from graphiti_pkm.capabilities.remember.service import Writing
from graphiti_pkm.capabilities.search.assembly import NEIGHBOURS
from graphiti_pkm.capabilities.search.requests import SearchNodes
from graphiti_pkm.capabilities.search.service import Searching
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.core.model.requests import AddMemory
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.storage.commit import Committer
from graphiti_pkm.storage.graph.store import GraphStore

GROUP = "default"
FACTS, EPISODES, NEIGHBOURS_OF_HUB = 300, 60, 20
CREED, WHITEHALL = an_entity("Mr Creed", group_id=GROUP), an_entity("Whitehall", group_id=GROUP)
HUB = an_entity("Hub", group_id=GROUP)


@dataclass(frozen=True)
class Server:
    """One server over a watched Neo4j."""

    database: WatchedDatabase
    exploring: Exploring
    searching: Searching
    writing: Writing

    async def tell(self, name: str, place: str) -> None:
        fact = {"source": name, "relation": "MET_AT", "target": place, "fact": f"{name} was met at {place}."}
        body = f"A long enough note of {name} at {place}."
        await self.writing.add_memory(LOCAL, AddMemory.model_validate({"episode_body": body, "facts": [fact]}))

    def taken(self) -> tuple[int, int]:
        """Rounds, and queries, since the last time."""
        rounds, self.database.rounds = self.database.rounds, 0
        reads, writes = self.database.taken()
        return rounds, len(reads) + len(writes)


@pytest.fixture
async def server(neo4j_graph: GraphStore) -> Server:
    others = [an_entity(f"Other {i}", group_id=GROUP) for i in range(NEIGHBOURS_OF_HUB)]
    episodes = [an_episode(f"Entry {i}", group_id=GROUP) for i in range(EPISODES)]
    facts = [
        a_fact(HUB, others[i % NEIGHBOURS_OF_HUB], text=f"Fact {i}", valid_at=DAY_ONE + timedelta(hours=i))
        for i in range(FACTS)
    ]
    mentions = [a_mention(one, HUB) for one in episodes]
    named = [CREED, WHITEHALL, HUB, *others]
    await neo4j_graph.writer.apply(
        a_write(*named, *map(a_name, named), *episodes, *facts, *mentions, group_id=GROUP), {}
    )
    database = await watched(neo4j_graph)
    context = Context(neo4j_graph, FakeJournal(), FakeEmbedder(), FakeLocks(), Settings(backend="neo4j"), FakeClock())
    groups = Groups(neo4j_graph, context.settings)
    return Server(
        database,
        Exploring(context, groups),
        Searching(context, groups, neo4j_graph.part(NEIGHBOURS)),
        Writing(context, groups, Committer(context)),
    )


async def test_connections_ask_five_times_and_look_at_each_fact_of_a_hub_twice(server: Server) -> None:
    server.database.taken()

    request = GetEntityConnections(entity_uuid=HUB.uuid, max_connections=5)
    answer = await server.exploring.get_entity_connections(LOCAL, request)

    assert (answer.total, answer.kinds, answer.truncated) == (FACTS, {"state": {"KNOWS": FACTS}}, True)
    of_all = [one for one in server.database.reads if one.name.startswith(("connections", "neighbours"))]
    assert server.taken() == (5, 11)
    assert [one.name for one in of_all] == ["connections", "neighbours and kinds"]
    assert await server.database.work(of_all) < 11 * FACTS


async def test_a_timeline_asks_four_times(server: Server) -> None:
    server.database.taken()

    answer = await server.exploring.get_entity_timeline(LOCAL, GetEntityTimeline(entity_uuid=HUB.uuid))

    assert (answer.total, answer.truncated) == (EPISODES, True)
    assert server.taken() == (4, 6)


async def test_entities_are_shown_with_one_query_of_each_kind(server: Server) -> None:
    server.database.taken()

    found = await server.searching.search_nodes(LOCAL, SearchNodes(query="other", max_nodes=10))

    asked = [query.name for query in server.database.reads]
    assert (len(found.nodes), asked.count("newest facts")) == (10, 2)  # current ones and plans
    assert asked.count("aliases") <= 2


async def test_a_note_about_known_names_asks_for_them_once(server: Server) -> None:
    await server.tell("Mr Creed", "Whitehall")
    await server.tell("Mr Creed", "Whitehall")
    server.taken()

    await server.tell("Mr Creed", "Whitehall")

    asked = [query.name for query in server.database.reads]
    assert asked.count("names") == 1
    rounds, queries = server.taken()
    assert rounds <= 6
    assert queries <= 13
