"""Memories whose names did not tell numbers apart: "rack 1-12" and "rack 11-2" were two spellings of one name."""

import asyncio
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from tests.builders import GROUP, a_name, a_write, an_entity
from tests.integration.planted import files_with
from tests.integration.test_updates import opened, rebuilt, tell, update

from graphiti_pkm.capabilities.forget.requests import Forget
from graphiti_pkm.capabilities.forget.tools import FORGETTING
from graphiti_pkm.core.facts import saga_plan
from graphiti_pkm.core.model import names
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.core.model.names import former_key, name_key
from graphiti_pkm.core.model.queries import EntityFilter
from graphiti_pkm.core.model.records import Forgetting, RemainingNames
from graphiti_pkm.core.ports.graph import Graph
from graphiti_pkm.storage.graph import schema as neo4j_schema
from graphiti_pkm.storage.graph.queries.values import Query
from graphiti_pkm.storage.graph.sqlite import name_keys_schema
from graphiti_pkm.storage.graph.sqlite.store import SqliteGraph
from graphiti_pkm.storage.graph.store import GraphStore
from graphiti_pkm.storage.journal.connection import MEMORY

pytestmark = pytest.mark.timeout(120)


@contextmanager
def earlier_version() -> Iterator[None]:
    """Names get the keys that earlier versions gave."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (names, saga_plan):
            patch.setattr(module, "normalise_name", lambda text: former_key("", text)[1:])
        patch.setattr(saga_plan, "_SAGAS", saga_plan._EARLIER)
        yield


async def as_before(graph: Graph) -> Callable[[], Graph]:
    """Marks the graph as one of the version before; what another process opens it with."""
    if isinstance(graph, SqliteGraph):
        file = graph._opened.file
        await file.write(lambda db: db.execute("UPDATE graph_meta SET value = '17' WHERE key = 'schema_version'"))
        return lambda: SqliteGraph(file._file)
    assert isinstance(graph, GraphStore)
    text = "MATCH (m:Meta {id: 'database'}) SET m.schema_version = 14"
    await (await graph.database()).write(Query("test", text, {}))
    return lambda: GraphStore(graph._opened.open_database)


async def test_what_was_one_entity_stays_one_under_keys_of_its_own(
    graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(name_keys_schema, "_BATCH", 2)
    monkeypatch.setattr(neo4j_schema, "_NAMES", 2)
    rack, rate, minus, sarah = map(an_entity, ("rack-1-12", "rate 5", "rate \u22125", "Sarah"))
    with earlier_version():
        told = (
            a_name(rack, spellings=("rack 11-2", "Rack 11 2", "rack 1 12")),
            a_name(rack, "shelf 3-4", spellings=("shelf 34",)),
            a_name(rate, spellings=("rate -5",)),
            a_name(minus),
            a_name(sarah),
        )
        await graph.writer.apply(a_write(rack, rate, minus, sarah, *told), {})
    another = await as_before(graph)
    stores = [another() for _ in range(4)]
    spelt = ("rack 1 12", "RACK-11-2", "shelf-3_4", "shelf 34", "rate -5", "rate 5", "sarah")
    wanted = [name_key(GROUP, text) for text in spelt]
    found = await asyncio.gather(*(store.records.get_names(wanted) for store in stores))
    held = [rack, rack, rack, rack, minus, rate, sarah]
    assert [[one[key].entity_uuid for key in wanted] for one in found] == [[one.uuid for one in held]] * 4
    assert [found[0][key].is_alias for key in wanted] == [False, True, True, True, False, False, False]

    store = stores[0]
    assert await store.records.get_names([former_key(GROUP, rack.name), former_key(GROUP, "shelf 3-4")]) == {
        name_key(GROUP, "shelf 34"): found[0][name_key(GROUP, "shelf 34")]
    }
    aliases = ["Rack 11 2", "rack 1 12", "rack 11-2", "shelf 3-4", "shelf 34"]
    assert (await store.records.aliases([rack.uuid], 10))[rack.uuid] == aliases
    book = await store.records.name_book(GROUP, None)
    assert book is not None
    assert len(book.names) == 7

    async def by_word() -> dict[str, float]:
        return await store.search.search_entities(["shelf"], EntityFilter(group_ids=(GROUP,)), 5)

    assert list(await by_word()) == [rack.uuid]
    left = RemainingNames(entity_uuid=rack.uuid, names=[one for one in book.names if one.text.startswith("rack-1")])
    await store.writer.apply(a_write(group_id=GROUP, forgets=Forgetting(names=(left,))), {})
    assert await by_word() == {}
    assert (await store.records.aliases([rack.uuid], 10))[rack.uuid] == ["rack 1 12"]
    for opened_store in stores:
        await opened_store.close()


async def test_a_memory_goes_on_and_a_rebuild_gives_the_same_keys(tmp_path: Path) -> None:
    with earlier_version():
        async with opened(tmp_path) as memory:
            told = await tell(memory, "It hums.", entities=[{"name": "rack-1-12"}], saga="Sprint 1-2")
            again = await tell(memory, "It is hot.", entities=[{"name": "rack 11-2"}], saga="Sprint 12")
            assert again.entities[0].uuid == told.entities[0].uuid
            shelf = (await tell(memory, "Wide.", entities=[{"name": "shelf 3-4"}])).entities[0].uuid
            await update(memory, shelf, name="board 1-3", add_aliases=["board 11-3", "plank 5-6", "plank 56"])
            await update(memory, shelf, remove_aliases=["plank 56"])
    with closing(sqlite3.connect(tmp_path / MEMORY)) as db:
        kept = {key for (key,) in db.execute("SELECT key FROM name")}
        assert former_key("default", "rack 1-12") in kept
        db.execute("UPDATE graph_meta SET value = '17' WHERE key = 'schema_version'")
        db.commit()
    async with opened(tmp_path) as memory:
        # States of updates are kept as they were written and get their keys when they are read.
        assert [one for one in await rebuilt(memory) if not one.startswith("change")] == []
        records = memory.context.graph.records
        wanted = {text: name_key("default", text) for text in ("rack 1 12", "rack 11 2", "board-1-3", "board 11_3")}
        held = await records.get_names(list(wanted.values()))
        assert {text: held[key].entity_uuid for text, key in wanted.items()} == {
            **dict.fromkeys(("rack 1 12", "rack 11 2"), told.entities[0].uuid),
            **dict.fromkeys(("board-1-3", "board 11_3"), shelf),
        }
        new = await tell(memory, "Cold.", entities=[{"name": "rack 112"}], saga="sprint 1 2")
        assert new.entities[0].uuid != told.entities[0].uuid
        other = await tell(memory, "Late.", saga="Sprint 1-12")
        with closing(sqlite3.connect(tmp_path / MEMORY)) as db:
            steps = dict(db.execute("SELECT episode_uuid, saga_uuid FROM saga_step").fetchall())
        assert steps[new.episode_uuid] == steps[told.episode_uuid] == steps[again.episode_uuid]
        assert steps[other.episode_uuid] != steps[told.episode_uuid]

        asked = Forget(query="rack 1 12")
        preview = await memory.services[FORGETTING].forget(LOCAL, asked)
        answer = await memory.services[FORGETTING].forget(LOCAL, asked.model_copy(update={"confirm": preview.confirm}))
        assert answer.status == "forgotten"
        assert files_with(tmp_path, "rack-1-12") == []
        assert await rebuilt(memory) == []
