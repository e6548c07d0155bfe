"""Sagas that Graphiti made: the chain of their episodes is read along its edges."""

from tests.builders import GROUP, OTHER_GROUP, a_write, an_episode

from graphiti_pkm.capabilities.search.assembly import NEIGHBOURS
from graphiti_pkm.core.model.places import Steps
from graphiti_pkm.storage.graph.queries.values import Query
from graphiti_pkm.storage.graph.store import GraphStore

_CHAIN = """UNWIND $pairs AS pair MATCH (a:Episodic {uuid: pair[0]}) MATCH (b:Episodic {uuid: pair[1]})
MERGE (a)-[:NEXT_EPISODE]->(b)"""


async def test_steps_go_along_the_saga_and_never_into_another_group(falkor_graph: GraphStore) -> None:
    first, second, third, alone = (an_episode(text) for text in ("first", "second", "third", "alone"))
    foreign = an_episode("foreign", group_id=OTHER_GROUP)
    await falkor_graph.writer.apply(a_write(first, second, third, alone, foreign), {})
    pairs = [(first, second), (second, third), (third, foreign)]
    database = await falkor_graph.database()
    await database.write(Query("chain", _CHAIN, {"pairs": [[a.uuid, b.uuid] for a, b in pairs]}))

    asked = [each.uuid for each in (first, second, third, alone, foreign)]
    assert await falkor_graph.part(NEIGHBOURS).saga_steps(asked, [GROUP]) == {
        first.uuid: Steps(next=second.uuid),
        second.uuid: Steps(previous=first.uuid, next=third.uuid),
        third.uuid: Steps(previous=second.uuid),
    }
