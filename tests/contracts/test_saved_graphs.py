"""Contract of ``SavedGraphs``, and of what forgetting takes of them."""

from typing import Any

import pytest
from tests.builders import at, new_uuid
from tests.fakes import FakeJournal
from tests.fakes.saved_graphs import FakeSavedGraphs

from graphiti_pkm.core.model.records import Deletions, Fact, Forgetting, WriteIntent, WriteKind
from graphiti_pkm.core.ports.ports import Journal
from graphiti_pkm.core.ports.saved_graphs import SavedGraph, SavedGraphContent
from graphiti_pkm.errors import TooLarge
from graphiti_pkm.storage.journal.saved_graphs import SqliteSavedGraphs
from graphiti_pkm.storage.journal.store import SqliteJournal

ANNA, BEN = ("anna",), ("ben",)
EMPTY = '{"nodes":[],"edges":[]}'
FACT = "00000000-0000-4000-8000-00000000000f"
LOADED = f'{{"nodes":[["A",null,{{}}]],"edges":[["A","B","r",{{"fact_uuids":["{FACT}"],"fact":"A is 3"}}]]}}'


def a_graph(
    name: str = "plan", owner: tuple[str, ...] = ANNA, content: str = EMPTY, **fields: Any
) -> SavedGraphContent:
    return SavedGraphContent(
        **{
            "uuid": new_uuid(),
            "owner": owner,
            "name": name,
            "saved_at": at(2026, 5),
            "groups": (),
            "nodes": 2,
            "edges": 1,
            "content": content,
            **fields,
        }
    )


@pytest.fixture
def saved(journal: Journal) -> FakeSavedGraphs | SqliteSavedGraphs:
    assert isinstance(journal, FakeJournal | SqliteJournal)
    return journal.saved_graphs


Saved = FakeSavedGraphs | SqliteSavedGraphs


async def save(saved: Saved, *graphs: SavedGraphContent, most: int = 10, most_characters: int = 1_000) -> list[bool]:
    return [await saved.save(graph, most, most_characters) for graph in graphs]


def forgetting(**fields: Any) -> WriteIntent:
    told = {"uuid": new_uuid(), "group_id": "t1", "kind": WriteKind.FORGET, "recorded_at": at(2026, 6)}
    return WriteIntent(**{**told, "forgets": Forgetting(), **fields})


def fact(text: str) -> Fact:
    return Fact(
        uuid=FACT,
        group_id="t1",
        source_uuid=new_uuid(),
        target_uuid=new_uuid(),
        relation="IS",
        text=text,
        created_at=at(2026),
    )


async def test_a_saved_graph_is_found_by_its_owner_alone_and_replaced_by_the_next_of_its_name(saved: Saved) -> None:
    first, second, other = a_graph(), a_graph(content=LOADED, groups=("t1", "t2")), a_graph(owner=BEN, nodes=7)
    assert await save(saved, first, other, second) == [False, False, True]
    assert await saved.find(ANNA, "plan") == second
    assert await saved.find(BEN, "plan") == other
    assert await saved.find(("anna", "work"), "plan") is None
    assert await saved.find(ANNA, "Plan") is None
    await save(saved, a_graph("a"))
    assert [one.name for one in await saved.listed(ANNA)] == ["a", "plan"]
    assert (await saved.listed(BEN)) == [SavedGraph(name="plan", saved_at=at(2026, 5), nodes=7, edges=1)]
    gone = await saved.delete(ANNA, "plan")
    assert (gone and gone.name, await saved.delete(ANNA, "plan")) == ("plan", None)
    assert [one.name for one in await saved.listed(ANNA)] == ["a"]
    assert await saved.find(BEN, "plan") == other


async def test_limits_are_of_an_owner_and_what_is_replaced_does_not_count(saved: Saved) -> None:
    await save(saved, a_graph("a"), a_graph("b"), a_graph("c", BEN))
    with pytest.raises(TooLarge, match="Nothing was saved"):
        await save(saved, a_graph("c"), most=2)
    assert await save(saved, a_graph("b"), most=2) == [True]
    size = len(EMPTY)
    with pytest.raises(TooLarge):
        await save(saved, a_graph("b", content=f"{EMPTY} "), most_characters=2 * size)
    assert await save(saved, a_graph("b"), most_characters=2 * size) == [True]
    assert len(await saved.listed(ANNA)) == 2


@pytest.mark.parametrize(
    ("write", "is_lost"),
    [
        (forgetting(), False),
        (forgetting(deletions=Deletions(facts=(FACT,))), True),
        (forgetting(forgets=Forgetting(facts=(FACT,))), True),
        (forgetting(forgets=Forgetting(facts=(new_uuid(),))), False),
        (forgetting(facts=(fact("A is 3"),)), False),
        (forgetting(facts=(fact("A is 3 and more"),)), True),
        (forgetting(deletions=Deletions(facts=(FACT,)), group_id="t2"), False),
        (forgetting(deletions=Deletions(groups=("t1",))), True),
    ],
)
async def test_forgetting_takes_the_graphs_that_hold_what_goes(
    journal: Journal, saved: Saved, write: WriteIntent, is_lost: bool
) -> None:
    await save(saved, a_graph(content=LOADED, groups=("t1",)), a_graph("other"))
    await journal.append(write, {}, "", {})
    assert [one.name for one in await saved.listed(ANNA)] == (["other"] if is_lost else ["other", "plan"])


async def test_forgetting_takes_the_graphs_that_it_names(journal: Journal, saved: Saved) -> None:
    graph = a_graph()
    await save(saved, graph, a_graph("other"))
    assert [one.name for one in await journal.saved_graph_contents("anna")] == ["other", "plan"]
    assert await journal.saved_graph_contents("ann") == []
    await journal.append(forgetting(forgets=Forgetting(saved_graphs=(graph.uuid,))), {}, "", {})
    assert [one.name for one in await journal.saved_graph_contents("anna")] == ["other"]
