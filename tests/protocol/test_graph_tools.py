"""The toolset ``graph`` and the words behind a fact, over both protocol generations."""

import pytest
from mcp.client import Client
from tests.builders import GROUP, a_fact, a_name, a_passage, a_saga, a_write, an_entity, an_episode, at
from tests.protocol.support import EVERYTHING, Mode, World, answered, error_of, text, told

MARIA, ACME, TOM = an_entity("Maria"), an_entity("Acme"), an_entity("Tom")
EPISODE = an_episode("Maria works at Acme. It rained.", name="Monday")
FACT = a_fact(MARIA, ACME, "WORKS_AT", valid_at=at(2025), episodes=(EPISODE.uuid,), text="Maria works at Acme")


@pytest.fixture
def world() -> World:
    return World(EVERYTHING)


@pytest.fixture(autouse=True)
async def stored(world: World) -> None:
    records = (MARIA, ACME, TOM, *map(a_name, (MARIA, ACME, TOM)), EPISODE, a_passage(EPISODE, 0, 20))
    await world.graph.writer.apply(a_write(*records, FACT, a_fact(TOM, ACME, "WORKS_AT", valid_at=at(2025))), {})


async def test_a_path_can_be_followed_by_its_text_alone(client: Client) -> None:
    result = await client.call_tool("find_entity_path", {"source_uuid": MARIA.uuid[:8], "target_uuid": TOM.uuid[:8]})
    lean, whole = told(result), answered(result)
    assert lean["paths"][0]["path"] == "Maria -WORKS_AT-> Acme <-WORKS_AT- Tom"
    assert (lean["hops"], lean["truncated"], whole["scope"]["group_ids"]) == (2, False, [GROUP])
    assert lean["paths"][0]["fact_uuids"] == [fact["uuid"] for fact in lean["facts"]]
    assert all(len(uuid) < 16 for uuid in lean["paths"][0]["fact_uuids"])
    assert "group_id" not in lean["facts"][0]
    none = told(await client.call_tool("find_entity_path", {"source_uuid": MARIA.uuid, "target_uuid": MARIA.uuid}))
    assert none["message"] == "No path: both ends are the same entity."


async def test_a_subgraph_lists_nodes_with_hops_and_facts(client: Client) -> None:
    result = await client.call_tool("get_entity_subgraph", {"entity_uuid": MARIA.uuid, "hops": 2})
    lean = told(result)
    assert [(node["name"], node["hops"]) for node in lean["nodes"]] == [("Maria", 0), ("Acme", 1), ("Tom", 2)]
    assert (len(lean["facts"]), lean["facts_total"], lean["truncated"]) == (2, 2, False)
    assert len(text(result)) < 2_000


async def test_limits_are_named_when_they_do_not_fit(client: Client) -> None:
    for tool, arguments in (
        ("get_entity_subgraph", {"entity_uuid": MARIA.uuid, "hops": 4}),
        ("find_entity_path", {"source_uuid": MARIA.uuid, "target_uuid": TOM.uuid, "max_hops": 7}),
        ("get_fact_sources", {"fact_uuid": FACT.uuid, "mode": "chapter"}),
    ):
        message = error_of(await client.call_tool(tool, arguments))
        assert message.startswith("Bad arguments: ")


async def test_the_words_behind_a_fact_come_with_offsets(client: Client) -> None:
    result = await client.call_tool("get_fact_sources", {"fact_uuid": FACT.uuid[:8]})
    (source,) = told(result)["sources"]
    assert (source["text"], source["start"], source["end"]) == ("Maria works at Acme.", 0, 20)
    assert (source["episode"], source["episode_uuid"]) == ("Monday", EPISODE.uuid[:8])
    assert answered(result)["sources"][0]["episode_uuid"] == EPISODE.uuid


async def test_a_call_of_the_upstream_servers_add_triplet_works_unchanged(client: Client) -> None:
    arguments = {
        "source_node_name": "Anna",
        "edge_name": "WORKS_FOR",
        "fact": "Anna works for Acme.",
        "target_node_name": "Acme",
        "group_id": GROUP,
        "source_node_uuid": None,
    }
    answer = answered(await client.call_tool("add_triplet", arguments))
    assert {"message", "nodes", "edges"} <= set(answer)
    assert [node["name"] for node in answer["nodes"]] == ["Anna", "Acme"]
    assert answer["nodes"][1]["uuid"] == ACME.uuid
    assert answer["edges"][0]["fact"] == "Anna works for Acme."
    message = error_of(await client.call_tool("add_triplet", {**arguments, "edge_name": "?"}))
    assert message.startswith("edge_name needs")


@pytest.mark.parametrize("name", ["None", "name", "[]"])
async def test_a_node_that_is_called_like_nothing_is_answered_as_any_other(client: Client, name: str) -> None:
    """Its name stands in a message that is compared with fields which this answer does not have."""
    fact = {"edge_name": "KNOWS", "fact": f"{name} knows Acme.", "target_node_name": "Acme", "group_id": GROUP}
    answer = answered(await client.call_tool("add_triplet", {"source_node_name": name, **fact}))
    assert [node["name"] for node in answer["nodes"]] == [name, "Acme"]


async def test_calls_of_the_upstream_servers_summaries_are_taken_and_say_that_there_is_no_model(
    client: Client, world: World
) -> None:
    await world.graph.writer.apply(a_write(a_saga("Trip")), {})
    for tool, arguments in (
        ("summarize_saga", {"saga_name": "Trip", "group_id": GROUP}),
        ("summarize_saga", {"saga_name": "Trip", "group_id": None}),
        ("build_communities", {"group_ids": GROUP}),
        ("build_communities", {"group_ids": [GROUP]}),
        ("build_communities", {}),
    ):
        message = error_of(await client.call_tool(tool, arguments))
        assert message.startswith(("No model is configured, and this asks one: set llm_model", "No saga of this name"))
    assert "No saga of this name" in error_of(await client.call_tool("summarize_saga", {"saga_name": "Trap"}))
    assert "saga_name" in error_of(await client.call_tool("summarize_saga", {}))


async def test_a_group_is_cleared_only_with_the_token_of_its_preview(client: Client, world: World) -> None:
    preview = told(await client.call_tool("clear_graph", {"group_ids": GROUP}))
    assert preview["groups"] == {GROUP: "1 episode, 3 entities, 2 facts"}
    assert world.graph.tables.entities
    wrong = error_of(await client.call_tool("clear_graph", {"group_ids": GROUP, "confirm": "000000000000"}))
    assert wrong.startswith("Nothing was cleared: ")
    done = told(await client.call_tool("clear_graph", {"group_ids": [GROUP], "confirm": preview["confirm"]}))
    assert done["status"] == "cleared"
    assert not world.graph.tables.entities


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_toolset_is_off_by_default_and_read_only_leaves_its_walks(mode: Mode) -> None:
    async with World().connect(mode) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert not names & {"find_entity_path", "get_entity_subgraph", "add_triplet", "clear_graph"}
        assert "get_fact_sources" in names
        assert "find_entity_path" not in (client.instructions or "")
    settings = EVERYTHING.model_copy(update={"toolsets": ("graph",), "read_only": True})
    async with World(settings).connect(mode) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert names == {"find_entity_path", "get_entity_subgraph"}
        assert "find_entity_path" in (client.instructions or "")
