"""What was known at an instant in data that Graphiti wrote, and how the queries find it."""

from pathlib import Path

import redis
from tests.builders import GROUP, a_fact, a_write, an_entity, an_episode, at, new_uuid
from tests.falkor import graph_name

from graphiti_pkm.core.model.queries import EntityFilter, FactFilter, Window
from graphiti_pkm.storage.graph.queries import facts as queries_facts
from graphiti_pkm.storage.graph.queries import read as queries_read
from graphiti_pkm.storage.graph.queries.values import Query
from graphiti_pkm.storage.graph.store import GraphStore

RETIRED = at(2026, 2)


async def test_what_graphiti_retired_was_open_until_it_expired(falkor_graph: GraphStore) -> None:
    """Graphiti leaves no change, and no kind on its facts."""
    sarah = an_entity("Sarah")
    fact = a_fact(sarah, sarah, valid_at=at(2025), invalid_at=at(2026), expired_at=RETIRED)
    await falkor_graph.writer.apply(a_write(sarah, fact), {})
    await (await falkor_graph.database()).write(
        Query("as Graphiti", "MATCH ()-[e:RELATES_TO {uuid: $uuid}]->() SET e.kind = NULL", {"uuid": fact.uuid})
    )
    wanted = FactFilter(group_ids=(GROUP,), now=at(2026, 6))
    for known_at, expected in ((at(2026, 1, 15), (None, None)), (RETIRED, (fact.invalid_at, fact.expired_at))):
        asked = wanted.model_copy(update={"known_at": known_at})
        (known,) = (await falkor_graph.facts.connections(sarah.uuid, asked, Window(limit=5))).facts
        assert (known.invalid_at, known.expired_at) == expected
        assert known.valid_at == fact.valid_at


async def test_what_was_known_and_what_has_a_status_is_found_by_indexes(
    falkor_socket: Path, falkor_graph: GraphStore
) -> None:
    """Of the facts asked for, each one's change is looked up; no scan of all changes, episodes or entities."""
    await falkor_graph.writer.apply(a_write(an_episode()), {})
    uuid, page = new_uuid(), Window(limit=5)
    known = FactFilter(group_ids=(GROUP,), now=at(2026, 6), known_at=RETIRED)
    status = EntityFilter(group_ids=(GROUP,), status=(("accepted", "approved"), RETIRED))
    queries = [
        *queries_read.entity_page(status, page),
        queries_read.first_fact(None, [GROUP], []),
        queries_read.first_fact(uuid, [GROUP], []),
        queries_read.record_start([GROUP]),
        queries_facts.first_changes(uuid, known),
        queries_facts.first_changes(None, known),
        *queries_read.connections(uuid, known, page, []),
    ]
    for asked in (known, known.model_copy(update={"by_reference_time": True})):
        queries += [*queries_read.connections(uuid, asked, page), *queries_read.group_facts(asked, page)]
        queries += [queries_read.facts_under([uuid], asked), queries_read.neighbour_counts(uuid, asked, 5)]
    with redis.Redis(unix_socket_path=str(falkor_socket), decode_responses=True) as client:
        for query in queries:
            plan = "\n".join(client.execute_command("GRAPH.EXPLAIN", graph_name(falkor_graph), query.command()))
            scans = [line for line in plan.splitlines() if "Scan" in line]
            assert scans, query.name
            assert all("Index Scan" in line for line in scans), f"{query.name}\n{plan}"
