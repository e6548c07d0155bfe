"""What needs_attention asks is settled by its call, sent through the tool exactly as it stands."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from mcp_types import TextContent
from tests.integration.rows_support import World, a_world, in_one_task

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(120)]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world() -> AsyncIterator[World]:
    async with in_one_task(a_world(timezone="Europe/Berlin")) as entered:
        yield entered


async def tell(world: World, group: str, **arguments: Any) -> dict[str, Any]:
    """The text of the answer: it is all that some clients show their model."""
    result = await world.client.call_tool("add_memory", {"group_id": group, **arguments})
    assert not result.is_error
    content = result.content[0]
    assert isinstance(content, TextContent)
    answer: dict[str, Any] = json.loads(content.text)
    return answer


async def settle(world: World, answer: dict[str, Any], what: str = "ambiguous_replacement") -> dict[str, Any]:
    """Send the first call of the one report of a kind."""
    (report,) = [one for one in answer["needs_attention"] if one["what"] == what]
    first = min(place for tool in ("add_memory {", "retire_fact {") if (place := report["call"].find(tool)) >= 0)
    tool, arguments = report["call"][first:].split(" ", 1)
    sent, _ = json.JSONDecoder().raw_decode(arguments)
    return await world.call(tool, **sent)


async def current(world: World, group: str, name: str = "me") -> list[str]:
    nodes = await world.call("search_nodes", names=[name], group_ids=[group], max_nodes=1)
    page = await world.call("get_entity_connections", entity_uuid=nodes["nodes"][0]["uuid"], include_invalidated=False)
    return sorted(fact["value"] or fact["target_node_name"] for fact in page["facts"])


def works_at(name: str, **fields: Any) -> dict[str, Any]:
    return {"source": "me", "relation": "WORKS_AT", "target": name, **fields}


async def test_current_that_fits_several(world: World) -> None:
    await tell(world, "several", episode_body="Two jobs.", facts=[works_at("Acme"), works_at("Beta")])
    answer = await tell(
        world, "several", episode_body="It rained. I work at Zed now.", facts=[works_at("Zed", replaces="current")]
    )
    after = await settle(world, answer)
    assert (after["changed"], after["fact"]["status"]) == (True, "ended")
    assert len(await current(world, "several")) == 2
    (retired,) = (await world.call("what_changed", since="2020", group_ids=["several"], kinds=["retired"]))["changes"]
    assert (retired["words"], retired["episode_uuid"][:8]) == ("I work at Zed now.", answer["episode_uuid"])


async def test_current_that_another_source_holds(world: World) -> None:
    manages = {"relation": "MANAGES", "target": "me"}
    await tell(world, "rival", episode_body="Maria leads.", facts=[{"source": "Maria", **manages}])
    told = {"source": "Tom", **manages, "replaces": "current"}
    after = await settle(world, await tell(world, "rival", episode_body="Tom leads.", facts=[told]))
    assert after["fact"]["fact"] == "Maria manages me"
    nodes = await world.call("search_nodes", names=["me"], group_ids=["rival"], max_nodes=1)
    page = await world.call("get_entity_connections", entity_uuid=nodes["nodes"][0]["uuid"], include_invalidated=False)
    assert [fact["source_node_name"] for fact in page["facts"]] == ["Tom"]


@pytest.mark.parametrize("wanted", ["Acmee Ltd", "0b9e3c1e-9f0a"])
async def test_a_name_or_uuid_that_nobody_knows(world: World, wanted: str) -> None:
    group = f"unknown-{len(wanted)}"
    await tell(world, group, episode_body="A job.", facts=[works_at("Acme Ltd")])
    answer = await tell(world, group, episode_body="Another.", facts=[works_at("Beta", replaces=wanted)])
    assert "retired" not in answer
    assert await current(world, group) == ["Acme Ltd", "Beta"]
    assert (await world.call("search_nodes", names=[wanted], group_ids=[group], max_nodes=5))["not_found"] == [wanted]
    assert (await settle(world, answer))["changed"]
    assert await current(world, group) == ["Beta"]


async def test_a_reading_that_corrects_another(world: World) -> None:
    slept = {"source": "me", "relation": "SLEEPS", "kind": "reading", "measure": "sleep"}
    await tell(world, "reading", episode_body="Slept 8.", facts=[{**slept, "value": 8}])
    answer = await tell(world, "reading", episode_body="It was 6.", facts=[{**slept, "value": 6, "replaces": "8"}])
    after = await settle(world, answer)
    assert [fact["kind"] for fact in after["retired"]] == ["voided", "voided"]
    read = await world.call("search_memory_facts", kind="reading", group_ids="reading")
    assert [fact["value"] for fact in read["facts"] if fact["status"] != "voided"] == ["6"]


async def test_a_possible_conflict(world: World) -> None:
    await tell(world, "conflict", episode_body="A job.", facts=[works_at("Acme")])
    answer = await tell(world, "conflict", episode_body="Another.", facts=[works_at("Beta")])
    assert (await settle(world, answer, "possible_conflict"))["changed"]
    assert await current(world, "conflict") == ["Beta"]


async def test_a_near_relation(world: World) -> None:
    await tell(world, "near", episode_body="A job.", facts=[works_at("Acme")])
    told = works_at(
        "Beta", relation="WORK_AT", source="Tom", fact="Tom is with Beta", valid_at="2024-05", invalid_at="2025"
    )
    answer = await tell(world, "near", episode_body="Tom was with Beta.", facts=[told])
    (report,) = [one for one in answer["needs_attention"] if one["what"] == "near_relation"]
    removed = report["call"].split("delete_entity_edge ")[1]
    await world.call("delete_entity_edge", **json.JSONDecoder().raw_decode(removed)[0])
    (fact,) = (await settle(world, answer, "near_relation"))["facts"]
    again = (await world.call("get_entity_edge", uuid=fact["uuid"]))["fact"]
    assert (again["name"], again["fact"]) == ("WORKS_AT", "Tom is with Beta")
    assert fact["interval"] == answer["facts"][0]["interval"] == "from 2024-05 until 2025"


async def test_an_entity_is_renamed_as_the_answer_says(world: World) -> None:
    await tell(world, "rename", episode_body="Sarah Chen joined.", entities=[{"name": "Sarah Chen", "type": "Person"}])
    body = "Sarah Chen is Sarah Miller now."
    answer = await tell(
        world, "rename", episode_body=body, entities=[{"name": "Sarah Miller", "aliases": ["Sarah Chen"]}]
    )
    (report,) = answer["needs_attention"]
    decoder = json.JSONDecoder()
    await world.call("delete_episode", **decoder.raw_decode(report["call"].split("delete_episode ")[1])[0])
    entity, _ = decoder.raw_decode(report["call"].split("with ")[1])
    after = await tell(world, "rename", episode_body=body, entities=[entity])
    assert [(one["name"], one["outcome"], one["aliases"]) for one in after["entities"]] == [
        ("Sarah Chen", "matched", ["Sarah Miller"])
    ]
    found = await world.call("search_nodes", names=["Sarah Miller"], group_ids=["rename"])
    assert [(node["name"], node["aliases"]) for node in found["nodes"]] == [("Sarah Chen", ["Sarah Miller"])]


async def test_a_first_name_that_was_declared_becomes_an_alias(world: World) -> None:
    group, person = "first-name", {"name": "Marit Sandvik", "type": "Person"}
    await tell(world, group, episode_body="Marit Sandvik moved in.", entities=[person])
    for number in range(3):
        await tell(world, group, episode_body=f"Marit called, {number}.")
    note = {"episode_body": "Marit paints.", "facts": [{"source": "Marit", "relation": "LIKES", "target": "painting"}]}
    answer = await tell(world, group, **note, entities=[{"name": "Marit", "type": "Person"}])
    assert "linked" not in answer  # Marit Sandvik may be meant as well
    (report,) = [one for one in answer["needs_attention"] if one["what"] == "similar_existing"]
    decoder = json.JSONDecoder()
    await world.call("delete_episode", **decoder.raw_decode(report["call"].split("delete_episode ")[1])[0])
    entity, _ = decoder.raw_decode(report["call"].split("in entities ")[1])
    again = await tell(world, group, **note, entities=[entity])
    assert again["entities"][0]["aliases"] == ["Marit"]
    found = await world.call("search_nodes", names=["Marit", "Marit Sandvik"], group_ids=[group])
    assert ([node["name"] for node in found["nodes"]], found["not_found"]) == (["Marit Sandvik"], None)
    page = await world.call("get_entity_timeline", entity_uuid=found["nodes"][0]["uuid"])
    assert page["total"] == 5
    facts = await world.call("get_entity_connections", entity_uuid=found["nodes"][0]["uuid"])
    assert [fact["name"] for fact in facts["facts"]] == ["LIKES"]


async def test_a_name_that_nobody_has_brings_those_that_hold_it_or_are_spelt_alike(world: World) -> None:
    people = [{"name": name, "type": "Person"} for name in ("Tobias Wenger", "Ida Wenger", "Kim Tobler")]
    await tell(world, "similar", episode_body="They moved in.", entities=people)
    found = await world.call("search_nodes", names=["Tobias", "Wenger", "Tobais", "Zoe"], group_ids=["similar"])
    assert {name: [one.split(" (")[0] for one in shown] for name, shown in found["similar"].items()} == {
        "Wenger": ["Ida Wenger", "Tobias Wenger"],
        "Tobais": ["Tobias Wenger"],
    }
    assert [node["name"] for node in found["nodes"]] == ["Tobias Wenger"]  # a first name finds its person
