"""The toolset ``reference``: the tools of the reference memory server, with its answers."""

import json
from typing import Any

import pytest
from mcp.client import Client
from tests.builders import a_fact, a_name, a_write, an_entity
from tests.protocol.classic import call, classic_world, hold_f1
from tests.protocol.support import World, definitions, error_of, text, tokens

from graphiti_pkm.errors import ConfigurationError
from graphiti_pkm.server.tools.instructions import build_instructions
from graphiti_pkm.server.tools.registry import select
from graphiti_pkm.settings.loader import Settings

ALICE = {"name": "Alice", "entityType": "person", "observations": ["works at Acme Corp"]}
BOB = {"name": "Bob", "entityType": "person", "observations": ["likes programming"]}
ACME = {"name": "Acme Corp", "entityType": "big company", "observations": ["builds tools"]}
KNOWS = {"from": "Alice", "to": "Bob", "relationType": "knows"}


@pytest.fixture
def world() -> World:
    return classic_world("reference")


@pytest.fixture
async def filled(client: Client) -> Client:
    await call(client, "create_entities", entities=[ALICE, BOB, ACME])
    await call(client, "create_relations", relations=[KNOWS])
    return client


def names(graph: dict[str, Any]) -> list[str]:
    return [one["name"] for one in graph["entities"]]


async def test_new_entities_are_answered_and_known_ones_skipped_and_named(client: Client) -> None:
    assert await call(client, "create_entities", entities=[ALICE]) == {"entities": [ALICE]}
    again = {**ALICE, "observations": ["is another"]}
    answer = await call(client, "create_entities", entities=[again, BOB])
    assert answer == {"entities": [BOB], "skipped": ["Alice"]}
    assert (await call(client, "open_nodes", names=["Alice"]))["entities"] == [ALICE]


async def test_relations_have_from_and_to_and_known_ones_are_skipped(filled: Client) -> None:
    likes = {**KNOWS, "relationType": "is friends with"}
    assert await call(filled, "create_relations", relations=[KNOWS, likes]) == {"relations": [likes]}
    assert await call(filled, "create_relations", relations=[KNOWS]) == {"relations": []}
    found = (await call(filled, "open_nodes", names=["Alice"]))["relations"]
    assert sorted(one["relationType"] for one in found) == ["is friends with", "knows"]


async def test_one_unknown_name_refuses_the_whole_call(filled: Client, world: World) -> None:
    before = dict(world.graph.tables.facts)
    calls: list[tuple[str, dict[str, Any]]] = [
        ("create_relations", {"relations": [{**KNOWS, "relationType": "sees"}, {**KNOWS, "to": "Nobody"}]}),
        (
            "add_observations",
            {"observations": [{"entityName": "Bob", "contents": ["x"]}, {"entityName": "Nobody", "contents": ["y"]}]},
        ),
    ]
    for tool, arguments in calls:
        told = error_of(await filled.call_tool(tool, arguments))
        assert "Entity with name Nobody not found. Nothing was stored." in told
    assert world.graph.tables.facts == before


async def test_observations_are_added_under_their_name(filled: Client) -> None:
    sent = [{"entityName": "Alice", "contents": ["works at Acme Corp", "is kind"]}]
    answer = await call(filled, "add_observations", observations=sent)
    assert answer == {"results": [{"entityName": "Alice", "addedObservations": ["is kind"]}]}


async def test_a_search_takes_the_query_as_one_text_in_any_case(filled: Client) -> None:
    for query, found in (
        ("acme corp", ["Acme Corp", "Alice"]),
        ("PROGRAM", ["Bob"]),
        ("g com", ["Acme Corp"]),
        ("erson", ["Alice", "Bob"]),
        ("Acme programming", []),
    ):
        assert names(await call(filled, "search_nodes", query=query)) == found, query


async def test_relations_touch_any_match(filled: Client) -> None:
    assert (await call(filled, "search_nodes", query="programming"))["relations"] == [KNOWS]
    assert await call(filled, "open_nodes", names=["Bob", "Nobody"]) == {"entities": [BOB], "relations": [KNOWS]}
    assert await call(filled, "open_nodes", names=["bob"]) == {"entities": [], "relations": []}


async def test_the_text_is_the_answer_as_indented_json(filled: Client) -> None:
    result = await filled.call_tool("open_nodes", {"names": ["Bob"]})
    assert text(result) == json.dumps({"entities": [BOB], "relations": [KNOWS]}, indent=2)
    assert result.structured_content == json.loads(text(result))


async def test_deletions_answer_in_the_sentences_of_the_other_server(filled: Client) -> None:
    relation = await call(filled, "delete_relations", relations=[KNOWS])
    assert relation == {"success": True, "message": "Relations deleted successfully"}
    gone = [{"entityName": "Bob", "observations": ["likes programming"]}]
    observation = await call(filled, "delete_observations", deletions=gone)
    assert observation == {"success": True, "message": "Observations deleted successfully"}
    entity = await call(filled, "delete_entities", entityNames=["Alice", "nobody"])
    assert entity == {"success": True, "message": "Entities deleted successfully"}
    left = await call(filled, "search_nodes", query="")
    assert left == {"entities": [ACME, {**BOB, "observations": []}], "relations": []}


async def test_several_unknown_names_are_all_told(filled: Client) -> None:
    sent = [{"entityName": name, "contents": ["y"]} for name in ("Nobody", "Bob", "Noone")]
    told = error_of(await filled.call_tool("add_observations", {"observations": sent}))
    assert "Entities with the names Nobody, Noone not found. Nothing was stored." in told


async def test_an_empty_list_is_answered_with_nothing_as_by_the_other_server(filled: Client, world: World) -> None:
    before = len(world.graph.tables.episodes), len(world.graph.tables.facts)
    assert await call(filled, "create_entities", entities=[]) == {"entities": []}
    assert await call(filled, "create_relations", relations=[]) == {"relations": []}
    assert await call(filled, "add_observations", observations=[]) == {"results": []}
    assert await call(filled, "open_nodes", names=[]) == {"entities": [], "relations": []}
    deletions = {"delete_entities": "entityNames", "delete_relations": "relations", "delete_observations": "deletions"}
    for tool, argument in deletions.items():
        assert (await call(filled, tool, **{argument: []}))["success"] is True
    assert (len(world.graph.tables.episodes), len(world.graph.tables.facts)) == before


async def test_the_spellings_of_compat_are_taken_as_well(client: Client) -> None:
    sent = [{"name": name, "type": "person"} for name in ("Alice", "Bob")]
    await call(client, "create_entities", entities=sent)
    relation = {"source": "Alice", "target": "Bob", "relationType": "knows"}
    assert (await call(client, "create_relations", relations=[relation]))["relations"] == [KNOWS]
    added = await call(client, "add_observations", observations=[{"entityName": "Bob", "observations": ["is kind"]}])
    assert added["results"][0]["addedObservations"] == ["is kind"]


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("create_entities", {"entities": [{**ALICE, "entityType": "word " * 40}]}, "entityType"),
        ("create_entities", {"entities": [ALICE, ALICE]}, "twice"),
        ("create_entities", {"entities": [{**ALICE, "observations": ["fine", " "]}]}, "observation is blank"),
        ("create_relations", {"relations": [{**KNOWS, "relationType": "!"}]}, "A type is blank"),
        ("create_relations", {"relations": [{**KNOWS, "from": "x" * 201}]}, "201 characters"),
    ],
)
async def test_bad_input_stores_nothing(
    client: Client, world: World, tool: str, arguments: dict[str, Any], message: str
) -> None:
    told = error_of(await client.call_tool(tool, arguments))
    assert message in told
    assert "Nothing was stored" in told
    assert world.graph.tables.entities == {}


async def test_what_is_cut_is_counted_and_nothing_fills_a_context() -> None:
    world = classic_world("reference")
    await hold_f1(world)
    async with world.connect() as client:
        result = await client.call_tool("search_nodes", {"query": "n"})
        graph = json.loads(text(result))
        assert (len(graph["entities"]), len(graph["relations"])) == (50, 200)
        assert graph["cut"] == {"entities": 600, "relations": 555}
        assert tokens(text(result)) < 15_000
        few = await call(client, "open_nodes", names=["N001"])
        assert len(few["relations"]) == 20
        assert "cut" not in few


async def test_the_users_entity_is_the_person_if_it_is_called_so() -> None:
    world = classic_world("reference", person="default_user")
    async with world.connect() as client:
        sent = {"name": "default_user", "entityType": "person", "observations": ["is tall"]}
        await call(client, "create_entities", entities=[sent])
        await call(client, "create_entities", entities=[BOB])
        relation = {"from": "default_user", "to": "Bob", "relationType": "knows"}
        assert await call(client, "create_relations", relations=[relation]) == {"relations": [relation]}
    names = world.graph.tables.names.values()
    (held,) = {name.entity_uuid for name in names if name.text in {"me", "default_user"}}
    assert not any(name.is_linkable for name in names if name.entity_uuid == held)


async def test_what_add_memory_wrote_is_read_as_well() -> None:
    world = classic_world("reference")
    anna, ghent = an_entity("Anna"), an_entity("Ghent", label="City")
    await world.graph.writer.apply(
        a_write(anna, ghent, a_name(anna), a_name(ghent), a_fact(anna, ghent, "LIVES_IN")), {}
    )
    async with world.connect() as client:
        assert await call(client, "open_nodes", names=["Anna", "Ghent"]) == {
            "entities": [
                {"name": "Anna", "entityType": "Entity", "observations": []},
                {"name": "Ghent", "entityType": "City", "observations": []},
            ],
            "relations": [{"from": "Anna", "to": "Ghent", "relationType": "LIVES_IN"}],
        }


@pytest.mark.parametrize("other", ["memory", "compat"])
def test_beside_a_toolset_with_the_same_names_it_stops_the_start(other: str) -> None:
    with pytest.raises(ConfigurationError, match=rf"{other} and reference, which both have .*search_nodes|create_ent"):
        select(Settings(toolsets=("reference", other)))


def test_beside_others_it_starts() -> None:
    assert select(Settings(toolsets=("reference", "graph", "reasoning")))


async def test_the_instructions_name_its_tools_and_what_replaces_read_graph() -> None:
    named = [tool.name for tool in await definitions(Settings(toolsets=("reference",)))]
    told = build_instructions(named)
    assert "There is no read_graph: search_nodes finds by a word. open_nodes gets known names." in told
    assert "add_memory" not in told
