"""The toolset curation through a client: what is listed, who may, and a review from flag to note."""

from typing import Any

import pytest
from tests.protocol.access import Doors, a_world
from tests.protocol.serving import connected, served
from tests.protocol.support import EVERYTHING, World, answered, definitions, error_of, told

from graphiti_pkm.settings.loader import Settings

TOOLS = {
    "flag_for_review": False,
    "clear_flag": False,
    "flag_similar_entities": False,
    "list_flagged": True,
    "set_confidence": False,
    "merge_entities": False,
    "unmerge_entities": False,
    "split_entity": False,
    "get_quality_report": True,
    "adjust_bias": False,
    "mark_useful": False,
    "add_evidence": False,
    "get_entity_sources": True,
    "promote": False,
}
OF_OTHER_TIERS = {
    "adjust_bias": "curator",
    "promote": "curator",
    "mark_useful": "contributor",
    "add_evidence": "contributor",
    "get_entity_sources": "reader",
}
NOBODY = "11111111-1111-4111-8111-111111111111"
TOM: dict[str, Any] = {"episode_body": "Tom came.", "entities": [{"name": "Tom", "type": "Person"}]}


async def test_the_toolset_lists_its_tools_and_says_which_only_read() -> None:
    listed = await definitions(Settings(toolsets=("curation",)))
    assert {tool.name: tool.annotations.read_only_hint for tool in listed if tool.annotations} == TOOLS
    assert not TOOLS.keys() & {tool.name for tool in await definitions()}


async def test_a_librarian_flags_lists_and_clears_and_a_contributor_may_not(doors: Doors) -> None:
    world = a_world(doors)
    doors.settings = doors.settings.model_copy(update={"toolsets": EVERYTHING.toolsets})
    librarian, contributor = doors.add("anna", tier="librarian"), doors.add("anna")
    async with served(doors.settings, world.start) as url:
        async with connected(f"{url}/mcp", "auto", **librarian) as client:
            tom = answered(await client.call_tool("add_memory", TOM))["entities"][0]["uuid"]
            asked = {"entity_uuid": tom, "reason": "Perhaps two people."}
            assert answered(await client.call_tool("flag_for_review", asked))["flagged"]
        async with connected(f"{url}/mcp", "auto", **contributor) as client:
            for tool in TOOLS.keys() - OF_OTHER_TIERS.keys():
                refused = await client.call_tool(tool, {})
                assert f"PERMISSION_DENIED: {tool} needs a token of tier librarian" in error_of(refused)
        async with connected(f"{url}/mcp", "auto", **librarian) as client:
            (flag,) = answered(await client.call_tool("list_flagged", {}))["flagged"]
            assert (flag["entity_uuid"], flag["reason"], flag["flagged_by"]) == (tom, "Perhaps two people.", "anna")
            answered(await client.call_tool("clear_flag", {"entity_uuid": tom, "note": "One person."}))
            empty = answered(await client.call_tool("list_flagged", {}))
            assert (empty["total"], empty["flagged"]) == (0, [])


async def test_a_librarian_merges_and_undoes_it(doors: Doors) -> None:
    world = a_world(doors)
    doors.settings = doors.settings.model_copy(update={"toolsets": EVERYTHING.toolsets, "writes_per_minute": 100})
    librarian, summary = doors.add("anna", tier="librarian"), "A store of rows with transactions and an optimizer."
    named = [{"name": name, "type": "Tool", "summary": summary} for name in ("Postgres DB", "The Postgres DB")]
    async with served(doors.settings, world.start) as url, connected(f"{url}/mcp", "auto", **librarian) as client:
        told = answered(await client.call_tool("add_memory", {"episode_body": "A store.", "entities": named}))
        keep, remove = (one["uuid"] for one in told["entities"])
        asked = {"keep_uuid": keep[:8], "remove_uuid": remove[:8], "reason": "One store."}
        assert "missing_flag" in error_of(await client.call_tool("merge_entities", asked))
        answered(await client.call_tool("flag_similar_entities", {}))
        preview = answered(await client.call_tool("merge_entities", asked))
        merged = answered(await client.call_tool("merge_entities", {**asked, "confirm": preview["confirm"]}))
        assert (preview["status"], merged["status"]) == ("preview", "merged")
        connections = answered(await client.call_tool("get_entity_connections", {"entity_uuid": remove}))
        assert "Postgres DB" in connections["message"]
        news = answered(await client.call_tool("what_changed", {"since": "2000", "kinds": ["updated"]}))["changes"]
        assert [one["change"] for one in news] == ["merged", "flagged", "flagged"]
        assert (news[0]["reason"], news[0]["with_uuid"]) == ("One store.", remove)
        again = {"remove_uuid": remove[:8], "reason": "Two stores."}
        assert answered(await client.call_tool("unmerge_entities", again))["status"] == "unmerged"
        assert "was not merged" in error_of(await client.call_tool("unmerge_entities", again))


async def test_a_librarian_splits_and_merging_undoes_it(doors: Doors) -> None:
    world = a_world(doors)
    doors.settings = doors.settings.model_copy(update={"toolsets": EVERYTHING.toolsets, "writes_per_minute": 100})
    note: dict[str, Any] = {
        "episode_body": "Tom rows. Tom sings.",
        "facts": [{"source": "Tom", "relation": relation, "target": "clubs"} for relation in ("ROWS_IN", "SINGS_IN")],
    }
    librarian = doors.add("anna", tier="librarian")
    async with served(doors.settings, world.start) as url, connected(f"{url}/mcp", "auto", **librarian) as client:
        told = answered(await client.call_tool("add_memory", note))
        tom, sings = told["entities"][0]["uuid"], told["facts"][1]["uuid"]
        asked = {"entity_uuid": tom[:8], "fact_uuids": [sings[:8]], "name": "Tom the singer"}
        preview = answered(await client.call_tool("split_entity", asked))
        done = answered(await client.call_tool("split_entity", {**asked, "confirm": preview["confirm"]}))
        assert (preview["status"], done["status"], done["facts_left"]) == ("preview", "split", 1)
        (change,) = answered(await client.call_tool("what_changed", {"since": "2000", "kinds": ["updated"]}))["changes"]
        assert (change["change"], change["with_uuid"]) == ("split", done["new_uuid"])
        again = await client.call_tool("split_entity", {**asked, "confirm": preview["confirm"]})
        assert error_of(again).startswith("Not split: ")
        both = {"keep_uuid": tom, "remove_uuid": done["new_uuid"], "reason": "One man."}
        preview = answered(await client.call_tool("merge_entities", both))
        answered(await client.call_tool("merge_entities", {**both, "confirm": preview["confirm"]}))
        connections = answered(await client.call_tool("get_entity_connections", {"entity_uuid": tom}))
        assert {one["name"] for one in connections["facts"]} == {"ROWS_IN", "SINGS_IN"}


async def test_a_fact_of_a_merged_entity_shows_the_name_it_was_told_under_and_the_present_one() -> None:
    named = [{"name": name, "type": "Tool", "summary": "Keeps rows."} for name in ("Harbour Store", "Store Harbour")]
    fact = {"source": "Store Harbour", "relation": "RUNS_ON", "target": "Atlas", "fact": "Store Harbour runs on Atlas."}
    async with World(EVERYTHING, writes_really=True).connect() as client:
        stored = await client.call_tool("add_memory", {"episode_body": "A store.", "entities": named, "facts": [fact]})
        kept, gone = (one["uuid"] for one in answered(stored)["entities"][:2])
        answered(await client.call_tool("flag_similar_entities", {}))
        asked = {"keep_uuid": kept, "remove_uuid": gone, "reason": "One store."}
        preview = answered(await client.call_tool("merge_entities", asked))
        answered(await client.call_tool("merge_entities", {**asked, "confirm": preview["confirm"]}))
        result = await client.call_tool("search_memory_facts", {"query": "Store Harbour runs"})
        (found,) = answered(result)["facts"]
        assert (found["fact"], found["source_node_name"]) == ("Store Harbour runs on Atlas.", "Harbour Store")
        (shown,) = told(result)["facts"]
        assert (shown["fact"], shown["source_node_name"]) == ("Store Harbour runs on Atlas.", "Harbour Store")
        nodes = answered(await client.call_tool("search_nodes", {"names": ["Store Harbour"]}))["nodes"]
        assert [(one["name"], one["aliases"]) for one in nodes] == [("Harbour Store", ["Store Harbour"])]


async def test_a_curator_lifts_what_a_librarian_may_not_and_a_contributor_says_what_helped(doors: Doors) -> None:
    world = a_world(doors)
    doors.settings = doors.settings.model_copy(update={"toolsets": EVERYTHING.toolsets})
    curator, librarian = doors.add("anna", tier="curator"), doors.add("anna", tier="librarian")
    contributor, reader = doors.add("anna"), doors.add("anna", tier="reader")
    note = {"episode_body": "Tom owns Redis.", "facts": [{"source": "Tom", "relation": "OWNS", "target": "Redis"}]}
    async with served(doors.settings, world.start) as url:
        async with connected(f"{url}/mcp", "auto", **contributor) as client:
            stored = answered(await client.call_tool("add_memory", note))
            tom, fact = stored["entities"][0]["uuid"], stored["facts"][0]["uuid"]
            useful = answered(await client.call_tool("mark_useful", {"fact_uuid": fact}))
            assert (useful["useful_count"], useful["traversal_count"], useful["fitness"]) == (1, 0, 0.0)
        asked = {"entity_uuid": tom, "bias": 0.5, "reason": "The one who knows."}
        async with connected(f"{url}/mcp", "auto", **librarian) as client:
            refused = await client.call_tool("adjust_bias", asked)
            assert "PERMISSION_DENIED: adjust_bias needs a token of tier curator" in error_of(refused)
            refused = await client.call_tool("delete_episode", {"uuid": stored["episode_uuid"]})
            assert "PERMISSION_DENIED: delete_episode needs a token of tier curator" in error_of(refused)
        async with connected(f"{url}/mcp", "auto", **reader) as client:
            refused = await client.call_tool("mark_useful", {"fact_uuid": fact})
            assert "PERMISSION_DENIED: mark_useful needs a token of tier contributor" in error_of(refused)
        async with connected(f"{url}/mcp", "auto", **curator) as client:
            lifted = answered(await client.call_tool("adjust_bias", asked))
            assert (lifted["bias"], lifted["final_score"], lifted["bias_by"]) == (0.5, 0.5, "anna")


async def test_every_tool_takes_the_uuid_that_went_for_the_entity_that_stays() -> None:
    summary = "A store of rows with transactions and an optimizer."
    named = [{"name": name, "type": "Tool", "summary": summary} for name in ("Postgres DB", "The Postgres DB")]
    facts = [{"source": one["name"], "relation": "USES", "target": f"part of {one['name']}"} for one in named]
    async with World(EVERYTHING, writes_really=True).connect() as client:

        async def ask(tool: str, **arguments: Any) -> dict[str, Any]:
            return answered(await client.call_tool(tool, arguments))

        told = await ask("add_memory", episode_body="Postgres DB and The Postgres DB.", entities=named, facts=facts)
        kept, gone = (one["uuid"] for one in told["entities"][:2])
        await ask("flag_similar_entities")
        asked = {"keep_uuid": kept, "remove_uuid": gone, "reason": "One store."}
        pages = {
            "search_memory_facts": {"query": "postgres", "center_node_uuid": gone, "max_facts": 1},
            "search_nodes": {"query": "postgres", "center_node_uuid": gone, "max_nodes": 1},
        }
        before = {tool: await ask(tool, **given) for tool, given in pages.items()}
        await ask("merge_entities", **asked, confirm=(await ask("merge_entities", **asked))["confirm"])
        for tool, given in pages.items():  # ranked anew, but no longer a cursor of another call
            assert "returned" in await ask(tool, **given, cursor=before[tool]["next_cursor"])
        for uuid in (gone, gone[:8]):
            assert (await ask("get_entity_connections", entity_uuid=uuid))["total"] >= 2
            assert (await ask("search_memory_facts", entity_uuid=uuid))["total"] >= 2
            assert (await ask("get_entity_timeline", entity_uuid=uuid))["total"] >= 1
            assert (await ask("search_episodes", query="postgres", entity_uuid=uuid))["returned"] >= 1
            assert "same entity" in (await ask("find_entity_path", source_uuid=uuid, target_uuid=kept))["message"]
            assert kept in str(await ask("get_entity_subgraph", entity_uuid=uuid))
            assert kept in str(await ask("what_changed", since="2000", entity_uuid=uuid))
            assert (await ask("flag_for_review", entity_uuid=uuid, reason="Look."))["entity_uuid"] == kept
            assert (await ask("get_entry_context", entity_name=uuid))["returned"] == 0
            assert (await ask("load_memory_graph", entity_uuids=[uuid], graph=uuid))["nodes_added"] > 1
            said = {
                "edge_name": "SPEAKS",
                "fact": "It speaks SQL.",
                "target_node_name": "SQL",
                "source_node_name": "It",
            }
            assert kept in str(await ask("add_triplet", **said, source_node_uuid=uuid))
            renamed = await ask("update_entity", entity_uuid=uuid, add_aliases=[f"Elephant {uuid}"])
            assert renamed["node"]["uuid"] == kept
            assert (await ask("forget", entity_uuid=uuid))["status"] == "preview"


async def test_the_text_alone_suffices_to_go_on() -> None:
    async with World(EVERYTHING, writes_really=True).connect() as client:
        tom = answered(await client.call_tool("add_memory", TOM))["entities"][0]["uuid"]
        await client.call_tool("flag_for_review", {"entity_uuid": tom, "reason": "Perhaps two people."})
        (flag,) = told(await client.call_tool("list_flagged", {}))["flagged"]
        assert tom.startswith(flag["entity_uuid"])
        assert (flag["name"], flag["reason"]) == ("Tom", "Perhaps two people.")


async def test_the_report_counts_the_doubtful_entities_of_each_agent_most_first(doors: Doors) -> None:
    world = a_world(doors)
    doors.settings = doors.settings.model_copy(update={"toolsets": EVERYTHING.toolsets, "writes_per_minute": 100})
    agents = {name: doors.add(f"team:{name}") for name in ("agent_a", "agent_b", "human")}
    token = doors.add("team:agent_a", tier="librarian")
    made = {"agent_a": 3, "agent_b": 1, "human": 5}
    async with served(doors.settings, world.start) as url:
        for name, count in made.items():
            world.clock.advance(seconds=1)
            async with connected(f"{url}/mcp", "auto", **agents[name]) as client:
                named = [{"name": f"{name} {place}", "type": "Thing"} for place in range(count)]
                answered(await client.call_tool("add_memory", {"episode_body": "Things.", "entities": named}))
        async with connected(f"{url}/mcp", "auto", **token) as client:
            own = [one for one in world.graph.tables.entities.values() if one.name.startswith("agent_a")]
            for one in own:
                asked = {"entity_uuid": one.uuid, "confidence": 0.2, "reason": "Made up."}
                answered(await client.call_tool("set_confidence", asked))
            report = answered(await client.call_tool("get_quality_report", {"creator_prefix": "team:agent_"}))
    assert report["creators"] == [{"created_by": "team:agent_a", "low_confidence": 3}]
    assert (report["entities_total"], report["low_confidence"], report["orphans"]) == (3, 3, 0)


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("flag_for_review", {"entity_uuid": NOBODY, "reason": "x"}, f"No entity '{NOBODY}'"),
        ("flag_for_review", {"entity_uuid": NOBODY, "reason": " "}, "reason needs 1 to 500 characters"),
        ("flag_for_review", {"entity_uuid": NOBODY, "reason": "x" * 501}, "reason"),
        ("flag_for_review", {"entity_uuid": "Tom", "reason": "x"}, "is not a uuid"),
        ("clear_flag", {"entity_uuid": NOBODY}, "note"),
        ("set_confidence", {"entity_uuid": NOBODY, "confidence": 1.2, "reason": "x"}, "confidence"),
        ("set_confidence", {"entity_uuid": NOBODY, "confidence": "NaN", "reason": "x"}, "confidence"),
        ("set_confidence", {"entity_uuid": NOBODY, "confidence": 0.5, "reason": ""}, "reason needs"),
        ("adjust_bias", {"entity_uuid": NOBODY, "bias": 0.5, "reason": "x"}, f"No entity '{NOBODY}'"),
        ("adjust_bias", {"entity_uuid": NOBODY, "bias": 1.01, "reason": "x"}, "bias"),
        ("adjust_bias", {"entity_uuid": NOBODY, "bias": -1.01, "reason": "x"}, "bias"),
        ("adjust_bias", {"entity_uuid": NOBODY, "bias": "NaN", "reason": "x"}, "bias"),
        ("adjust_bias", {"entity_uuid": NOBODY, "bias": 0.5, "reason": " "}, "reason needs 1 to 500 characters"),
        ("adjust_bias", {"entity_uuid": NOBODY, "bias": 0.5}, "reason"),
        ("mark_useful", {"fact_uuid": NOBODY}, f"No fact '{NOBODY}'"),
        ("mark_useful", {"fact_uuid": "Tom"}, "is not a uuid"),
        ("get_quality_report", {"confidence_below": 0}, "confidence_below"),
        ("list_flagged", {"limit": 0}, "limit"),
        ("list_flagged", {"limit": 101}, "limit"),
        ("add_evidence", {"entity_uuid": NOBODY, "quote": "x", "document": "guide", "paragraph": 0}, "paragraph"),
        ("add_evidence", {"entity_uuid": NOBODY, "quote": "", "document": "guide", "paragraph": 1}, "quote"),
        ("add_evidence", {"entity_uuid": NOBODY, "quote": "x", "document": "guide", "paragraph": 1}, "No entity"),
        ("get_entity_sources", {"entity_uuid": NOBODY, "mode": "page"}, "mode"),
    ],
)
async def test_what_cannot_be_is_refused_and_named(tool: str, arguments: dict[str, Any], said: str) -> None:
    async with World(EVERYTHING, writes_really=True).connect() as client:
        assert said in error_of(await client.call_tool(tool, arguments))
