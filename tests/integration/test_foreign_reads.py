"""A uuid of another principal costs what a uuid of nobody costs, however much hangs on it: counted, not timed."""

from collections.abc import Awaitable, Callable, Iterator
from uuid import UUID

import pytest
from tests.builders import a_change, a_fact, a_mention, a_name, a_passage, a_write, an_entity, an_episode, at
from tests.e2e.isolation_attacks import Attack, Attacks, stored_group
from tests.e2e.isolation_scratch import draw_own
from tests.e2e.isolation_world import Records
from tests.integration.rows_support import Spy
from tests.integration.watched_database import watched
from tests.protocol.support import EVERYTHING, World, definitions

from graphiti_pkm.core.model.records import Record
from graphiti_pkm.core.ports.graph import Graph
from graphiti_pkm.storage.graph.sqlite.store import SqliteGraph
from graphiti_pkm.storage.graph.store import GraphStore

HERS = stored_group("vera", "diary")
MANY = 60
SLACK = {SqliteGraph: 120, GraphStore: 15}
"""Steps of SQLite's machine, hits of Neo4j by which the two may differ: one is found by an index, of another group."""
pytestmark = pytest.mark.timeout(300)


def hub() -> tuple[Records, list[Record]]:
    """An entity with many facts, episodes and neighbours, a fact with many sources, an episode that tells much."""
    entity, episode = an_entity("Ilse Quark", group_id=HERS), an_episode("Ilse Quark. " * MANY, group_id=HERS)
    others = [an_entity(f"Neighbour {i}", group_id=HERS) for i in range(MANY)]
    notes = [
        an_episode(f"Ilse Quark met Neighbour {i}.", group_id=HERS, valid_at=at(2025, 1, 1 + i % 28))
        for i in range(MANY)
    ]
    facts = [
        a_fact(entity, one, f"MET_{i % 5}", episodes=(notes[i].uuid,), valid_at=at(2025))
        for i, one in enumerate(others)
    ]
    told = a_fact(entity, others[0], "TOLD", episodes=(episode.uuid, *(note.uuid for note in notes)), valid_at=at(2025))
    records: list[Record] = [
        *(entity, episode, *others, *notes, *facts, told, a_name(entity), *map(a_name, others)),
        *(a_mention(note, entity) for note in notes),
        *(a_mention(episode, one) for one in others),
        *(a_passage(note) for note in notes),
        *(a_passage(episode, i * 12, i * 12 + 12, sentence=i) for i in range(MANY)),
        *(a_change(fact, note) for fact, note in zip(facts, notes, strict=True)),
        *(a_change(told, note) for note in notes),
    ]
    return Records("diary", entity.uuid, told.uuid, episode.uuid), records


def by_uuid(attacks: Iterator[Attack]) -> list[Attack]:
    """Those that send a uuid of hers, whole or its beginning."""
    return [one for one in attacks if any(_may_be_uuid(hers) for hers, _ in one.pairs)]


def _may_be_uuid(text: str) -> bool:
    try:
        return str(UUID(text)) == text
    except ValueError:
        return len(text) == 8 and all(letter in "0123456789abcdef" for letter in text)


Taken = Callable[[], Awaitable[tuple[list[str], int, int]]]
"""Since the last time: names or texts of what was asked, how many were writes, and how much work the reads were."""


async def looked_on(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> Taken:
    if isinstance(graph, SqliteGraph):
        spy = Spy(graph, monkeypatch)

        async def of_the_file() -> tuple[list[str], int, int]:
            texts, steps = [text for text, _ in spy.sent], spy.steps
            spy.sent.clear()
            spy.steps = 0
            return sorted(texts), sum(not text.lstrip().startswith("SELECT") for text in texts), steps

        return of_the_file
    assert isinstance(graph, GraphStore)
    database = await watched(graph)

    async def of_the_database() -> tuple[list[str], int, int]:
        reads, writes = database.taken()
        return sorted(one.name for one in reads), len(writes), await database.work(reads)

    return of_the_database


async def test_a_foreign_uuid_is_refused_before_anything_of_it_is_read(
    graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    hers, records = hub()
    await graph.writer.apply(a_write(*records, group_id=HERS), {})
    anna, ben = an_entity("Anna", group_id="work"), an_entity("Ben", group_id="work")
    note = an_episode("Anna knows Ben.", group_id="work")
    fact = a_fact(anna, ben, episodes=(note.uuid,))
    await graph.writer.apply(a_write(anna, ben, note, fact, a_name(anna), a_name(ben), a_mention(note, anna)), {})
    own = Records("work", anna.uuid, fact.uuid, note.uuid)
    taken = await looked_on(graph, monkeypatch)
    tried, wrong = set(), []
    async with World(EVERYTHING, graph=graph, writes_really=True).connect() as client:  # type: ignore[arg-type]
        await draw_own(client)
        # The local caller gets the very uuid that these are given (isolation tests try that with tokens).
        for tool in [one for one in await definitions(EVERYTHING) if one.name not in {"add_memory", "create_entry"}]:
            for attack in by_uuid(Attacks(tool, own, hers).all()):
                tried.add(tool.name)
                asked = []
                for arguments in (attack.arguments, attack.control):
                    await taken()
                    await client.call_tool(tool.name, arguments)
                    asked.append(await taken())
                (*found, work), (*control, control_work) = asked
                if found != control or work > control_work + SLACK[type(graph)]:
                    wrong.append((tool.name, attack.arguments, asked))
    assert len(tried) >= 18, tried
    assert wrong == [], "\n".join(map(str, wrong))
