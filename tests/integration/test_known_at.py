"""What was known at an instant in data that Graphiti wrote, and how the queries find it."""

from tests.builders import GROUP, a_fact, a_write, an_entity, at

from graphiti_pkm.domain.queries import FactFilter, Window
from graphiti_pkm.graph.queries_values import Query
from graphiti_pkm.graph.store import FalkorStore

RETIRED = at(2026, 2)


async def test_what_graphiti_retired_was_open_until_it_expired(falkor_graph: FalkorStore) -> None:
    """Graphiti leaves no change, and no kind on its facts."""
    sarah = an_entity("Sarah")
    fact = a_fact(sarah, sarah, valid_at=at(2025), invalid_at=at(2026), expired_at=RETIRED)
    await falkor_graph.apply(a_write(sarah, fact), {})
    await (await falkor_graph._db()).write(
        Query("as Graphiti", "MATCH ()-[e:RELATES_TO {uuid: $uuid}]->() SET e.kind = NULL", {"uuid": fact.uuid})
    )
    wanted = FactFilter(group_ids=(GROUP,), now=at(2026, 6))
    for known_at, expected in ((at(2026, 1, 15), (None, None)), (RETIRED, (fact.invalid_at, fact.expired_at))):
        asked = wanted.model_copy(update={"known_at": known_at})
        (known,) = (await falkor_graph.connections(sarah.uuid, asked, Window(limit=5))).facts
        assert (known.invalid_at, known.expired_at) == expected
        assert known.valid_at == fact.valid_at
