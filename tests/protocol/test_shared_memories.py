"""Shared memories over real HTTP: every tool in every tier of a member, what no default leads to, and who told what."""

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp.client import Client
from mcp.shared.exceptions import MCPError
from mcp_types import PromptReference, ResourceTemplateReference
from tests.e2e.isolation_attacks import arguments_of
from tests.e2e.isolation_world import Records
from tests.e2e.shared_matrix import GROUP, NOTE, SECRETS, every_tool, names_of, naming, tell
from tests.protocol.access import NOW, Doors, a_world
from tests.protocol.serving import connected, served
from tests.protocol.support import EVERYTHING, SPECS, TOGETHER, World, answered, error_of, text

from graphiti_pkm.core.model.access import TIERS, Tier
from graphiti_pkm.server.auth.grants import Grant, write_grants
from graphiti_pkm.server.tools.resources import ENTITY, EPISODE


class Team:
    """A server on which ``anna`` and others share the memory ``team``."""

    def __init__(self, doors: Doors) -> None:
        self.doors = doors
        doors.settings = doors.settings.model_copy(
            update={"toolsets": EVERYTHING.toolsets, "writes_per_minute": 10_000, "calls_per_minute": 10_000}
        )
        self.world: World = a_world(doors)
        self.grants: list[Grant] = []

    def open_to(self, principal: str, tier: Tier = "contributor", **fields: Any) -> None:
        values = {"id": f"{len(self.grants):08x}", "principal": principal, "memory": "team", "tier": tier, **fields}
        self.grants.append(Grant.model_validate({"created": NOW, **values}))
        write_grants(self.doors.settings.grants_path, self.grants)

    def close(self) -> None:
        self.grants.clear()
        write_grants(self.doors.settings.grants_path, [])

    @asynccontextmanager
    async def clients(self, *principals: str, tier: Tier = "curator") -> AsyncIterator[list[Client]]:
        tokens = [self.doors.add(one, tier=tier) for one in principals]
        async with (
            served(self.doors.settings, self.world.start) as url,
            _all([f"{url}/mcp"] * len(tokens), tokens) as clients,
        ):
            yield clients

    def held(self) -> list[dict[str, Any]]:
        tables = self.world.graph.tables
        return [dict(one) for one in (tables.episodes, tables.entities, tables.facts, tables.names)]


@asynccontextmanager
async def _all(urls: list[str], tokens: list[dict[str, str]]) -> AsyncIterator[list[Client]]:
    if not urls:
        yield []
        return
    async with connected(urls[0], "auto", **tokens[0]) as first, _all(urls[1:], tokens[1:]) as others:
        yield [first, *others]


@pytest.fixture
def team(doors: Doors) -> Team:
    return Team(doors)


@pytest.mark.parametrize("tier", TIERS)
async def test_a_member_may_what_its_tier_there_may_with_every_tool(tier: Tier, team: Team) -> None:
    """Its token is a curator's, and in its own memory it is one."""
    team.open_to("anna", tier)
    async with team.clients("team", "anna") as (owner, anna):
        await every_tool(tier, owner, anna)


async def test_a_token_does_no_more_there_than_its_own_tier(team: Team) -> None:
    team.open_to("anna", "curator")
    async with team.clients("anna", tier="reader") as (anna,):
        assert answered(await anna.call_tool("get_episodes", {"group_ids": GROUP}))["total"] == 0
        refused = await anna.call_tool("add_memory", NOTE)
        assert "needs a token of tier contributor" in error_of(refused)
        assert answered(await anna.call_tool("get_status", {}))["shared"] == {"team/*": "reader"}


async def test_no_default_leads_there_and_the_answers_name_it_whole(team: Team) -> None:
    team.open_to("anna", "curator")
    async with team.clients("anna") as (anna,):
        records = await tell(anna)
        assert answered(await anna.call_tool("add_memory", {"episode_body": "A bridge."}))["group_id"] == "default"
        for name in sorted(TOGETHER):
            spec = SPECS[name]
            fields = spec.request.model_fields
            if spec.writes or not fields.keys() & {"group_id", "group_ids"}:
                continue
            arguments = {
                key: value
                for key, value in arguments_of(name, Records("default")).items()
                if key not in {"group_id", "group_ids"} and value not in ("", [""])
            }
            told = text(await anna.call_tool(name, arguments))
            assert not [word for word in SECRETS if word in told], (name, told)
        found = answered(await anna.call_tool("search_nodes", {"query": "bridge", "group_ids": GROUP}))
        assert {one["group_id"] for one in found["nodes"]} == {GROUP}
        assert found["scope"]["group_ids"] == [GROUP]
        both = answered(await anna.call_tool("get_episodes", {"group_ids": [GROUP, "default"]}))
        assert {one["group_id"] for one in both["episodes"]} == {GROUP, "default"}
        status = answered(await anna.call_tool("get_status", {}))
        assert set(status["groups"]) == {GROUP, "default"}
        assert status["shared"] == {"team/*": "curator"}
        triplet = {"source_node_name": "", "edge_name": "IN", "fact": "It is there.", "target_node_name": "park"}
        for name, arguments in (
            ("add_triplet", {**triplet, "source_node_uuid": records.entity, "source_node_name": "x"}),
            ("create_entry", {"content": "Painted.", "project_id": records.project}),
        ):
            refused = await anna.call_tool(name, arguments)
            assert f"group {GROUP}, and what is added there has to name it" in error_of(refused), name
            named = answered(await anna.call_tool(name, {**arguments, "group_id": GROUP}))
            uuid = named.get("episode_uuid") or named["entry_id"]
            (episode,) = answered(await anna.call_tool("get_episodes", {"episode_uuids": [uuid]}))["episodes"]
            assert episode["group_id"] == GROUP


async def test_nothing_of_it_is_offered_while_a_person_types(team: Team) -> None:
    """There no group can be named, and what a person chooses is asked of the default one."""
    team.open_to("anna", "curator")
    async with team.clients("anna") as (anna,):
        records = await tell(anna)
        own = answered(await anna.call_tool("add_memory", {"episode_body": "A note."}))["episode_uuid"]
        for prompt in (await anna.list_prompts()).prompts:
            for argument in prompt.arguments or []:
                for typed in ("", "river", "r", "%"):
                    reference = PromptReference(name=prompt.name)
                    found = await anna.complete(reference, {"name": argument.name, "value": typed})
                    assert not [one for one in found.completion.values if "river" in one], (prompt.name, typed)
        for template in (ENTITY, EPISODE):
            for typed in ("", "river", records.entity[:2], records.entity, records.episode[:8]):
                found = await anna.complete(ResourceTemplateReference(uri=template), {"name": "uuid", "value": typed})
                assert set(found.completion.values) <= {own}, (template, typed)


async def test_who_told_what_is_the_member_and_never_an_argument(team: Team) -> None:
    team.open_to("anna", "curator")
    team.open_to("ben", "curator")
    async with team.clients("anna", "ben", "team") as (anna, ben, owner):
        answered(await anna.call_tool("add_memory", NOTE))
        team.world.clock.advance(seconds=1)
        bens = {"episode_body": "The mill is painted red.", "entities": [{"name": "mill"}], "group_id": GROUP}
        mill = answered(await ben.call_tool("add_memory", bens))["entities"][0]["uuid"]
        for client in (anna, ben):
            told = answered(await client.call_tool("get_episodes", {"group_ids": GROUP}))["episodes"]
            assert {one["content"].split()[0]: one["told_by"] for one in told} == {"Ida": "anna", "The": "ben"}
            found = answered(await client.call_tool("search_episodes", {"query": "mill red", "group_ids": GROUP}))
            assert found["episodes"][0]["told_by"] == "ben"
            read = await client.read_resource(f"pkm://episode/{told[0]['uuid']}")
            assert f'told_by\\":\\"{told[0]["told_by"]}' in read.model_dump_json()
            line = answered(await client.call_tool("get_entity_timeline", {"entity_uuid": mill}))
            assert [one["told_by"] for one in line["episodes"]] == ["ben"]
        fact = answered(await ben.call_tool("search_memory_facts", {"query": "bridge", "group_ids": GROUP}))["facts"][0]
        sources = answered(await ben.call_tool("get_fact_sources", {"fact_uuid": fact["uuid"]}))["sources"]
        assert [one["told_by"] for one in sources] == ["anna"]
        answered(await ben.call_tool("retire_fact", {"fact_uuid": fact["uuid"], "reason": "Repainted."}))
        changes = answered(await anna.call_tool("what_changed", {"since": "2020", "group_ids": GROUP}))["changes"]
        assert [one["by"] for one in changes if one["change"] == "retired"] == ["ben"]
        answered(await anna.call_tool("flag_for_review", {"entity_uuid": mill, "reason": "Which mill?"}))
        (flag,) = answered(await ben.call_tool("list_flagged", {"group_ids": GROUP}))["flagged"]
        assert (flag["created_by"], flag["flagged_by"]) == ("ben", "anna")
        own = answered(await owner.call_tool("get_episodes", {"group_ids": "decisions"}))["episodes"]
        assert {one["group_id"] for one in own} == {"decisions"}


async def test_me_is_nobody_in_a_shared_memory(team: Team) -> None:
    """Two members would be one person, and the town of one would end that of the other."""
    team.open_to("anna", "curator")
    async with team.clients("anna", "team") as (anna, owner):
        lives = {"source": "me", "relation": "LIVES_IN", "target": "Graz", "fact": "I live in Graz."}
        answered(await owner.call_tool("add_memory", {"episode_body": "I live in Graz.", "facts": [lives]}))
        before = team.held()
        group = {"group_id": "team/default"}
        own = {**lives, "target": "Bonn", "fact": "I live in Bonn."}
        triplet = {"source_node_name": "me", "edge_name": "IN", "fact": "I am there.", "target_node_name": "Bonn"}
        for name, arguments in (
            ("add_memory", {"episode_body": "I live in Bonn.", "facts": [own]}),
            ("add_memory", {"episode_body": "I am here.", "entities": [{"name": "Me"}]}),
            ("create_entry", {"content": "I live in Bonn.", "facts": [own]}),
            ("add_triplet", triplet),
            ("create_entities", {"entities": [{"name": "me", "type": "Person", "observations": ["lives in Bonn"]}]}),
            ("create_relations", {"relations": [{"source": "me", "target": "Graz", "relationType": "LEFT"}]}),
            ("add_observations", {"observations": [{"entityName": "me", "observations": ["is tall"]}]}),
        ):
            refused = await anna.call_tool(name, {**arguments, **group})
            assert "`me` could be any of its members" in error_of(refused), (name, text(refused))
        await anna.call_tool(
            "add_edges", {"edges": [{"source": "me", "target": "Bonn", "relation": "IN"}], "create_missing": True}
        )
        assert "any of its members" in error_of(await anna.call_tool("commit_graph", group))
        assert team.held() == before
        read = answered(
            await anna.call_tool("get_entity_connections", {"entity_uuid": "me", "group_ids": "team/default"})
        )
        assert read["total"] == 0
        answered(await anna.call_tool("add_memory", {**group, "episode_body": "I said hello, says Anna."}))


async def test_a_scratch_graph_with_parts_of_it_is_not_saved_and_ends_with_the_membership(team: Team) -> None:
    team.open_to("anna", "curator")
    async with team.clients("anna") as (anna,):
        records = await tell(anna)
        answered(await anna.call_tool("add_node", {"graph": "own", "label": "Tom"}))
        answered(await anna.call_tool("save_graph", {"graph": "own"}))
        loaded = answered(
            await anna.call_tool("load_memory_graph", {"graph": "theirs", "entity_uuids": [records.entity]})
        )
        assert loaded["node_count"]
        refused = await anna.call_tool("save_graph", {"graph": "theirs"})
        assert "parts of a shared memory" in error_of(refused)
        team.close()
        listed = answered(await anna.call_tool("list_graphs", {}))
        assert (listed["graphs"], [one["name"] for one in listed["saved"]]) == ([], ["own"])
        assert "river" not in text(await anna.call_tool("export_graph", {"graph": "theirs", "format": "json"}))


async def test_who_is_no_member_any_more_is_answered_like_one_who_never_was(team: Team) -> None:
    """With the very next call: names, uuids, resources, cursors and confirmations of the time before."""
    team.open_to("anna", "curator")
    async with team.clients("anna", "eve") as (anna, eve):
        records = await tell(anna)
        answered(await anna.call_tool("add_memory", {**NOTE, "episode_body": "Another note."}))
        page = {"group_ids": GROUP, "max_episodes": 1}
        cursor = answered(await anna.call_tool("get_episodes", page))["next_cursor"]
        confirm = answered(await anna.call_tool("forget", {"entity_uuid": records.entity}))["confirm"]
        team.close()
        before = team.held()
        for name in sorted(TOGETHER):
            arguments = naming(name, records)
            if any(names_of(records, arguments)):
                answers = [await one.call_tool(name, arguments) for one in (anna, eve)]
                assert answers[0].model_dump_json() == answers[1].model_dump_json(), name
                assert not [word for word in SECRETS if word in text(answers[0])], name
        for name, arguments in (
            ("get_episodes", {**page, "cursor": cursor}),
            ("get_episodes", {"max_episodes": 1, "cursor": cursor}),
            ("forget", {"entity_uuid": records.entity, "confirm": confirm}),
        ):
            answers = [await one.call_tool(name, arguments) for one in (anna, eve)]
            assert answers[0].is_error
            assert answers[0].model_dump_json() == answers[1].model_dump_json(), name
        for uri in (f"pkm://entity/{records.entity}", f"pkm://episode/{records.episode[:8]}"):
            told = []
            for client in (anna, eve):
                with pytest.raises(MCPError) as refused:
                    await client.read_resource(uri)
                told.append(refused.value.error.model_dump_json())
            assert told[0] == told[1]
        assert [one for one in team.held()[0] if one in before[0]] == list(before[0])


async def test_a_uuid_of_ones_own_never_meets_an_episode_of_a_memory_that_is_closed(team: Team) -> None:
    team.open_to("anna")
    async with team.clients("anna", "eve") as (anna, eve):
        theirs = answered(await anna.call_tool("add_memory", NOTE))["episode_uuid"]
        team.close()
        for client in (anna, eve):
            sent = {"episode_body": "Mine.", "uuid": theirs}
            stored = answered(await client.call_tool("add_memory", sent))
            assert (stored["status"], stored["group_id"]) == ("stored", "default")
            assert stored["episode_uuid"] != theirs


async def test_forget_reaches_saved_graphs_of_whom_the_memory_belongs_to(team: Team) -> None:
    """Also by words, in those that hold a part of the group; what they are called is not told to the member."""
    team.open_to("anna", "curator")
    async with team.clients("anna", "team") as (anna, owner):
        records = await tell(anna)
        mill = {"episode_body": "The mill is old.", "entities": [{"name": "mill"}], "group_id": GROUP}
        other = answered(await anna.call_tool("add_memory", mill))["entities"][0]["uuid"]
        for graph, uuid in (("loaded", records.entity), ("beside", other), ("untouched", other)):
            answered(await owner.call_tool("load_memory_graph", {"graph": graph, "entity_uuids": [uuid]}))
        for graph in ("beside", "private"):
            answered(await owner.call_tool("add_node", {"graph": graph, "label": "river bridge"}))
        for graph in ("loaded", "beside", "untouched", "private"):
            answered(await owner.call_tool("save_graph", {"graph": graph}))
        preview = answered(await anna.call_tool("forget", {"entity_uuid": records.entity}))
        done = answered(await anna.call_tool("forget", {"entity_uuid": records.entity, "confirm": preview["confirm"]}))
        told = json.dumps([preview, done])
        assert not re.findall(r"['\"](?:loaded|beside|untouched|private)\b", told)
        assert done.get("saved_graphs") is None
        saved = answered(await owner.call_tool("list_graphs", {}))["saved"]
        assert [one["name"] for one in saved] == ["private", "untouched"]
