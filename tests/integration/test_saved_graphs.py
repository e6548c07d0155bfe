"""Saved scratch graphs: they outlive the server, are their owner's, are in backups, and forgetting reaches them."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.integration.planted import files_with
from tests.integration.rows_support import World, a_world, in_one_task
from tests.integration.test_rows_bridge import F6, draw, drawn

from graphiti_pkm.bootstrap import open_memory
from graphiti_pkm.capabilities.scratch.limits import Content, ScratchEdge, ScratchNode
from graphiti_pkm.capabilities.scratch.requests import DeleteGraph, OpenGraph, SaveGraph
from graphiti_pkm.capabilities.scratch.service import Reasoning
from graphiti_pkm.capabilities.scratch.tools import REASONING
from graphiti_pkm.core.model.access import LOCAL, Caller
from graphiti_pkm.errors import NotFound
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.storage.journal.store import SqliteJournal

HIDDEN = "Zéphyrin-Quolltext"
TOOLSETS = ("memory", "graph", "reasoning")


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with in_one_task(a_world(toolsets=TOOLSETS)) as entered:
        yield entered


def reasoning_of(world: World) -> Reasoning:
    return world.memory.services[REASONING]


async def test_only_a_saved_graph_outlives_the_server_and_only_open_graph_brings_it_back(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, toolsets=TOOLSETS)
    async with open_memory(settings) as memory:
        reasoning = memory.services[REASONING]
        for graph in ("plan", "rough"):
            async with reasoning.graphs.writing(LOCAL, graph) as opened:
                opened.graph.apply(F6)
        saved = await reasoning.saving.save_graph(LOCAL, SaveGraph(graph="plan"))
        assert (saved.node_count, saved.edge_count, saved.replaced) == (4, 3, False)
        async with reasoning.graphs.writing(LOCAL, "plan") as opened:
            opened.graph.apply(Content(nodes=(ScratchNode("Later"),)))
    async with open_memory(settings) as memory:
        reasoning = memory.services[REASONING]
        listed = await reasoning.saving.list_graphs(LOCAL)
        assert (listed.graphs, [one.name for one in listed.saved or ()]) == ([], ["plan"])
        opened_again = await reasoning.saving.open_graph(LOCAL, OpenGraph(name="plan"))
        assert (opened_again.nodes_added, opened_again.edges_added) == (4, 3)
        async with reasoning.graphs.reading(LOCAL, "plan") as opened:
            assert opened.graph.content() == F6


async def test_saved_graphs_are_listed_merged_replaced_and_deleted_by_name(world: World) -> None:
    await draw(world, F6)
    await world.call("save_graph", name="kept")
    listed = await world.call("list_graphs")
    assert [(one["name"], one["node_count"], one["edge_count"]) for one in listed["saved"]] == [("kept", 4, 3)]
    await draw(world, Content(nodes=(ScratchNode("Extra"),)), "other")
    merged = await world.call("open_graph", name="kept", graph="other")
    assert (merged["graph"], merged["nodes_added"], merged["node_count"]) == ("other", 4, 5)
    assert "merged" in merged["message"]
    assert (await world.call("save_graph", graph="other", name="kept"))["replaced"] is True
    assert (await world.call("delete_graph", graph="kept"))["success"] is False
    gone = await world.call("delete_graph", graph="kept", saved=True)
    assert (gone["success"], gone["nodes_deleted"]) == (True, 5)
    assert (await world.call("list_graphs"))["saved"] is None
    assert (await drawn(world, "other")).nodes[0].label == "Extra"
    missing = await world.client.call_tool("open_graph", {"name": "kept"})
    assert missing.is_error


async def test_another_persons_saved_graph_is_as_one_that_is_not_there(world: World) -> None:
    ours, other = reasoning_of(world), Caller(principal="ben")
    await draw(world, F6, "plan")
    await ours.saving.save_graph(LOCAL, SaveGraph(graph="plan"))
    narrowed = Caller(groups=("work",))
    for caller in (other, narrowed):
        with pytest.raises(NotFound, match="There are: none"):
            await ours.saving.open_graph(caller, OpenGraph(name="plan"))
        assert (await ours.saving.list_graphs(caller)).saved is None
        assert (await ours.saving.delete_graph(caller, DeleteGraph(graph="plan", saved=True))).existing == []
    await draw(world, Content(nodes=(ScratchNode("Mine"),)), "plan", other)
    assert (await ours.saving.save_graph(other, SaveGraph(graph="plan"))).replaced is False
    assert (await ours.saving.open_graph(LOCAL, OpenGraph(name="plan", graph="again"))).node_count == 4


async def test_a_backup_and_what_is_saved_of_a_damaged_journal_hold_them(world: World, tmp_path: Path) -> None:
    await draw(world, F6, "plan")
    reasoning = reasoning_of(world)
    await reasoning.saving.save_graph(LOCAL, SaveGraph(graph="plan"))
    await world.memory.journal.backup(tmp_path / "backup.sqlite3")
    await draw(world, F6, "newer")
    await reasoning.saving.save_graph(LOCAL, SaveGraph(graph="newer"))

    elsewhere = SqliteJournal(tmp_path / "elsewhere")
    await elsewhere.restore(tmp_path / "backup.sqlite3")
    assert [one.name for one in await elsewhere.saved_graphs.listed(LOCAL.visibility)] == ["plan"]
    await elsewhere.close()

    damaged = tmp_path / "damaged"
    damaged.mkdir()
    await world.memory.journal.backup(damaged / "journal.sqlite3")
    with closing(sqlite3.connect(damaged / "journal.sqlite3")) as connection:
        (root,) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'jobs'").fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    with (damaged / "journal.sqlite3").open("r+b") as file:
        file.seek((root - 1) * size)
        file.write(b"\xff" * size)
    journal = SqliteJournal(damaged)
    await journal.restore(tmp_path / "backup.sqlite3")
    assert [one.name for one in await journal.saved_graphs.listed(LOCAL.visibility)] == ["newer", "plan"]
    await journal.close()


async def test_what_is_forgotten_leaves_the_saved_graphs_and_every_file(world: World) -> None:
    told = {"source": HIDDEN, "relation": "KNOWS", "target": "Anna", "fact": f"{HIDDEN} knows Anna"}
    await world.call("add_memory", episode_body=f"{HIDDEN} knows Anna.", facts=[told])
    await world.call("add_memory", episode_body="Anna runs.", entities=[{"name": "Anna"}])
    (found,) = (await world.call("search_nodes", names=[HIDDEN]))["nodes"]
    await world.call("load_memory_graph", graph="loaded", entity_uuids=[found["uuid"]])
    note = ScratchEdge("Anna", "somebody", "knows", {"note": f"it is {HIDDEN}"})
    await draw(world, Content(edges=(note,)), "by hand")
    await draw(world, F6, "other")
    for graph in ("loaded", "by hand", "other"):
        await world.call("save_graph", graph=graph)
    directory = world.memory.context.settings.data_dir
    assert files_with(directory, HIDDEN) != []

    preview = await world.call("forget", entity_uuid=found["uuid"])
    assert preview["saved_graphs"] == ["by hand", "loaded"]
    assert preview["removed"]["saved_graphs"] == 2
    done = await world.call("forget", entity_uuid=found["uuid"], confirm=preview["confirm"])
    assert (done["status"], done["saved_graphs"]) == ("forgotten", ["by hand", "loaded"])
    assert [one["name"] for one in (await world.call("list_graphs"))["saved"]] == ["other"]
    assert files_with(directory, HIDDEN) == []

    again = await world.call("save_graph", graph="loaded")
    assert (again["node_count"], again["edge_count"]) == (1, 0)
    assert "without 2 nodes and edges that memory has forgotten" in again["message"]
    assert files_with(directory, HIDDEN) == []
    assert (await world.call("commit_graph", graph="loaded"))["status"] == "nothing"
    await draw(world, Content(edges=(ScratchEdge("Anna", HIDDEN, "likes"),)), "loaded")
    left = await world.call("commit_graph", graph="loaded", dry_run=False)
    assert (left["status"], left["left_out"][0]["what"]) == ("nothing", HIDDEN)
    assert "not there any more" in left["left_out"][0]["reason"]
    assert files_with(directory, HIDDEN) == []


async def test_what_a_deleted_or_replaced_copy_said_is_in_no_file(world: World) -> None:
    directory = world.memory.context.settings.data_dir
    for graph in ("ideas", "again"):
        await draw(world, Content(nodes=(ScratchNode(f"Idea of {HIDDEN}"),)), graph)
        await world.call("save_graph", graph=graph)
    await draw(world, F6, "plain")
    assert files_with(directory, HIDDEN) != []
    await world.call("delete_graph", graph="ideas", saved=True)
    await world.call("save_graph", graph="plain", name="again")
    assert files_with(directory, HIDDEN) == []


async def test_words_that_memory_has_forgotten_do_not_come_back_with_a_graph_loaded_before(world: World) -> None:
    lock_in = ScratchNode("Lock-in", "Risk", {"summary": f"Falcon hangs on {HIDDEN}"})
    leads = ScratchEdge("Anna", "Falcon", "leads", {"fact": f"Anna leads Falcon with {HIDDEN}"})
    knows = ScratchEdge(HIDDEN, "Anna", "knows")
    await draw(world, Content(nodes=(lock_in,), edges=(leads, knows)), "risks")
    await world.call("commit_graph", graph="risks", dry_run=False)
    await world.call("load_memory_graph", graph="loaded", query="Anna")
    (found,) = (await world.call("search_nodes", names=[HIDDEN]))["nodes"]
    preview = await world.call("forget", entity_uuid=found["uuid"])
    await world.call("forget", entity_uuid=found["uuid"], confirm=preview["confirm"])
    directory = world.memory.context.settings.data_dir
    assert files_with(directory, HIDDEN) == []
    for graph, renewed in (("risks", True), ("loaded", False)):
        saved = await world.call("save_graph", graph=graph)
        assert ("with 1 nodes and edges in the words that memory has for them now" in saved["message"]) is renewed
        assert files_with(directory, HIDDEN) == []
        left = await world.call("commit_graph", graph=graph, dry_run=False)
        assert "not there any more" in left["left_out"][0]["reason"]
        assert files_with(directory, HIDDEN) == []


async def test_a_word_that_only_the_saved_graph_holds_can_be_forgotten_by_it(world: World) -> None:
    await draw(world, Content(nodes=(ScratchNode(f"Idea of {HIDDEN}"),)), "ideas")
    await world.call("save_graph", graph="ideas")
    preview = await world.call("forget", query=HIDDEN)
    assert (preview["status"], preview["saved_graphs"]) == ("preview", ["ideas"])
    done = await world.call("forget", query=HIDDEN, confirm=preview["confirm"])
    assert done["status"] == "forgotten"
    assert files_with(world.memory.context.settings.data_dir, HIDDEN) == []


async def test_deleting_and_clearing_tell_which_saved_graphs_went_with_it(world: World) -> None:
    fact = {"source": "Anna", "relation": "KNOWS", "target": "Ben"}
    stored = await world.call("add_memory", episode_body="Anna knows Ben.", facts=[fact])
    await world.call("load_memory_graph", graph="people", query="Anna")
    await world.call("save_graph", graph="people")
    deleted = await world.call("delete_episode", uuid=stored["episode_uuid"])
    assert "Saved scratch graphs that held a part of it are gone as well: 'people'." in deleted["message"]
    await world.call("add_memory", episode_body="Cleo knows Dan.", facts=[{**fact, "source": "Cleo", "target": "Dan"}])
    await world.call("load_memory_graph", graph="more", query="Cleo")
    await world.call("save_graph", graph="more")
    preview = await world.call("clear_graph")
    cleared = await world.call("clear_graph", confirm=preview["confirm"])
    assert "gone as well: 'more'." in cleared["message"]
    assert (await world.call("list_graphs"))["saved"] is None
