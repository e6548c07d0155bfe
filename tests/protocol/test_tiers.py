"""What a token of each tier may: every tool against every tier, over real HTTP."""

import json
import logging
import re
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError
from tests.protocol.access import Doors, a_world
from tests.protocol.serving import connected, served
from tests.protocol.support import EVERYTHING, SPECS, TOGETHER, Mode, World, answered, error_of

from graphiti_pkm.core.model.access import TIERS, Tier
from graphiti_pkm.server.tools.registry import TOOLSETS

ADDS = {
    "add_memory",
    "add_triplet",
    "retire_fact",
    "restore_fact",
    "update_entity",
    "summarize_saga",
    "build_communities",
    *("create_entities", "create_relations", "add_observations"),
    *("create_project", "update_project", "create_entry", "add_evidence"),
    "mark_useful",
}
"""What is added, or can be undone."""
TIDIES = {
    *("delete_entity_edge", "flag_for_review", "clear_flag", "set_confidence", "flag_similar_entities"),
    *("merge_entities", "unmerge_entities", "split_entity"),
}
LOOKS_AFTER = {"list_flagged", "get_quality_report"}
"""What a librarian alone reads."""
DELETES = {
    *("delete_episode", "forget", "clear_graph"),
    *("delete_entities", "delete_relations", "delete_observations"),
}
"""Words that go for good."""
DECIDES = {"adjust_bias", "promote"}
"""What moves answers for everybody, or comes into what all rely on."""
SCRATCHES = {tool.name for toolset in TOOLSETS if toolset.name == "reasoning" for tool in toolset.tools if tool.writes}
"""What changes scratch graphs: each is of its caller alone and of this hour, so a contributor may take out as well."""
READS = TOGETHER - ADDS - DECIDES - TIDIES - LOOKS_AFTER - DELETES - SCRATCHES
MAY: dict[Tier, set[str]] = {
    "reader": {*READS},
    "contributor": {*READS, *ADDS, *SCRATCHES},
    "librarian": {*READS, *ADDS, *SCRATCHES, *TIDIES, *LOOKS_AFTER},
    "curator": {*TOGETHER},
}
ROOT = Path(__file__).resolve().parents[2]
SOME = "11111111-1111-4111-8111-111111111111"
NOTE: dict[str, Any] = {
    "episode_body": "Tom knows Ida from the choir.",
    "facts": [{"source": "Tom", "relation": "KNOWS", "target": "Ida", "fact": "Tom knows Ida."}],
}


def everything(doors: Doors) -> World:
    """A server with all tools and no limits, which writes really."""
    doors.settings = doors.settings.model_copy(update={"toolsets": EVERYTHING.toolsets, "writes_per_minute": 1_000})
    return a_world(doors)


def held(world: World) -> list[dict[str, Any]]:
    tables = world.graph.tables
    return [dict(tables.episodes), dict(tables.entities), dict(tables.facts), dict(tables.names)]


def test_a_tool_that_reads_says_so() -> None:
    """A tool that nobody has put in a tier above counts as one that reads."""
    assert {name for name, tool in SPECS.items() if not tool.writes and name in TOGETHER} == READS | LOOKS_AFTER


def test_the_page_lists_the_tools_of_each_tier() -> None:
    page = (ROOT / "DOCS/operations.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"\| tier \| may also \|\n(?:\|.*\n)+", page)
    told = {row.split("`")[1]: set(re.findall(r"`(\w+)`", row.split("|")[2])) for row in table.splitlines()[2:]}
    assert told == {
        "reader": set(),
        "contributor": {*ADDS, "reasoning"},
        "librarian": TIDIES | LOOKS_AFTER,
        "curator": DELETES | DECIDES,
    }


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("tier", TIERS)
async def test_a_tier_is_shown_and_may_call_its_tools_and_no_others(tier: Tier, mode: Mode, doors: Doors) -> None:
    token, world = doors.add("anna", tier=tier), everything(doors)
    async with served(doors.settings, world.start) as url, connected(f"{url}/mcp", mode, **token) as client:
        shown = (await client.list_tools()).tools
        assert {tool.name for tool in shown} == MAY[tier]
        texts = json.dumps([tool.description for tool in shown]) + (client.instructions or "")
        assert not [name for name in TOGETHER - MAY[tier] if name in texts]
        for name in TOGETHER:
            answer = await client.call_tool(name, {"role": "curator", "tier": "curator"})
            code = (answer.structured_content or {}).get("code")
            if name in MAY[tier]:
                assert code == "invalid_input"  # no tool has such a parameter
                continue
            needed = next(one for one in TIERS if name in MAY[one])
            assert code == "permission_denied"
            assert f"PERMISSION_DENIED: {name} needs a token of tier {needed}" in error_of(answer)
            assert f"this one's is {tier}" in error_of(answer)
    assert world.graph.tables.episodes == {}


async def test_a_reader_reads_and_nothing_is_written(doors: Doors) -> None:
    writer, reader, world = doors.add("anna"), doors.add("anna", tier="reader"), everything(doors)
    async with served(doors.settings, world.start) as url:
        async with connected(f"{url}/mcp", "auto", **writer) as client:
            answered(await client.call_tool("add_memory", NOTE))
        before = held(world)
        async with connected(f"{url}/mcp", "auto", **reader) as client:
            assert answered(await client.call_tool("get_episodes", {}))["total"] == 1
            found = answered(await client.call_tool("search_nodes", {"names": ["Tom"]}))["nodes"]
            answered(await client.call_tool("get_entity_connections", {"entity_uuid": found[0]["uuid"]}))
            read = await client.read_resource(f"pkm://entity/{found[0]['uuid']}")
            assert "Tom" in read.model_dump_json()
            assert [one.name for one in (await client.list_prompts()).prompts] == ["review_entity"]
            with pytest.raises(MCPError, match="No such prompt"):
                await client.get_prompt("journal_session", {})
        assert held(world) == before


async def test_a_contributor_adds_and_deletes_nothing(doors: Doors) -> None:
    token, world = doors.add("agent"), everything(doors)
    async with served(doors.settings, world.start) as url, connected(f"{url}/mcp", "auto", **token) as client:
        stored = answered(await client.call_tool("add_memory", NOTE))
        twice = {"episode_body": NOTE["episode_body"], "reference_time": stored["valid_at"]}
        (advice,) = answered(await client.call_tool("add_memory", twice))["needs_attention"]
        assert advice["what"] == "same_text"
        assert "a curator calls delete_episode" in advice["call"]
        triplet = {"source_node_name": "Tom", "edge_name": "LIKES", "fact": "Tom likes tea.", "target_node_name": "tea"}
        answered(await client.call_tool("add_triplet", triplet))
        retired = {"fact_uuid": stored["facts"][0]["uuid"], "reason": "no more"}
        answered(await client.call_tool("retire_fact", retired))
        answered(await client.call_tool("restore_fact", retired))
        again = {"source": "Tom", "relation": "KNOWS", "target": "Eva", "fact": "Tom knows Eva.", "replaces": "current"}
        ended = answered(await client.call_tool("add_memory", {"episode_body": "Tom knows Eva now.", "facts": [again]}))
        assert [one["uuid"] for one in ended["retired"]] == [stored["facts"][0]["uuid"]]  # ingestion may
        for name, arguments in (
            ("delete_episode", {"uuid": stored["episode_uuid"]}),
            ("delete_entity_edge", {"uuid": stored["facts"][0]["uuid"]}),
            ("forget", {"query": "Tom"}),
            ("clear_graph", {}),
        ):
            refused = await client.call_tool(name, arguments)
            assert (refused.structured_content or {})["code"] == "permission_denied"
    assert stored["episode_uuid"] in world.graph.tables.episodes
    assert len(world.graph.tables.facts) == 3


async def test_a_curator_deletes_what_a_librarian_may_only_tidy(doors: Doors) -> None:
    world = everything(doors)
    librarian, curator = doors.add("anna", tier="librarian"), doors.add("anna", tier="curator")
    async with served(doors.settings, world.start) as url:
        async with connected(f"{url}/mcp", "auto", **librarian) as client:
            stored = answered(await client.call_tool("add_memory", NOTE))
            deleted = answered(await client.call_tool("delete_entity_edge", {"uuid": stored["facts"][0]["uuid"]}))
            assert "forget" not in deleted["message"]
            refused = await client.call_tool("delete_episode", {"uuid": stored["episode_uuid"]})
            assert "tier curator" in error_of(refused)
        async with connected(f"{url}/mcp", "auto", **curator) as client:
            answered(await client.call_tool("delete_episode", {"uuid": stored["episode_uuid"]}))
    assert world.graph.tables.episodes == {}


async def test_a_refusal_is_no_other_error_and_is_audited(doors: Doors, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "graphiti_pkm.audit")
    token, world = doors.add("agent"), everything(doors)
    async with served(doors.settings, world.start) as url, connected(f"{url}/mcp", "auto", **token) as client:
        await client.call_tool("delete_episode", {"uuid": SOME})
        other = await client.call_tool("retire_fact", {"fact_uuid": SOME, "reason": "x"})
        assert (other.structured_content or {})["code"] == "not_found"
    events = [record.__dict__["event"] for record in caplog.records if record.name == "graphiti_pkm.audit"]
    told = {key: events[0][key] for key in ("audit", "principal", "action", "outcome", "targets")}
    assert told == {
        "audit": "refused",
        "principal": "agent",
        "action": "delete_episode",
        "outcome": "permission_denied",
        "targets": [SOME],
    }


@pytest.mark.parametrize("hints", ["advise", "off"])
@pytest.mark.parametrize("tier", TIERS)
async def test_the_setting_is_the_tier_of_the_local_user_without_a_token(tier: Tier, hints: str, doors: Doors) -> None:
    doors.settings = doors.settings.model_copy(update={"tier": tier, "hints": hints})
    world = everything(doors)
    async with (
        served(doors.settings, world.start) as url,
        connected(f"{url}/mcp", "auto") as web,
        world.connect() as one,
    ):
        for client in (web, one):
            shown = (await client.list_tools()).tools
            assert {tool.name for tool in shown} == MAY[tier]
            assert not [name for name in TOGETHER - MAY[tier] if name in (client.instructions or "")]
            for name in TOGETHER:
                answer = await client.call_tool(name, {"tier": "curator"})
                code = (answer.structured_content or {}).get("code")
                assert code == ("invalid_input" if name in MAY[tier] else "permission_denied"), name
        assert world.graph.tables.episodes == {}
        curator = doors.add("anna", tier="curator")
        async with connected(f"{url}/mcp", "auto", **curator) as client:  # a token has its own
            assert {tool.name for tool in (await client.list_tools()).tools} == {*TOGETHER}
