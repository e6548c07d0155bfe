"""The toolset ``compat``: the tools of mcp-neo4j-memory, bounded, by exact names, without a model."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any

import pytest
from mcp.client import Client
from tests.fakes import FakeJournal, FakeLocks
from tests.fakes.observations import FakeObservations
from tests.protocol.classic import CHAIN, call, classic_world, hold_f1
from tests.protocol.support import EVERYTHING, World, definition_named, definitions, error_of, text, tokens

from graphiti_pkm.capabilities.compat.reading import ClassicReading
from graphiti_pkm.capabilities.compat.requests import SearchMemories
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.core.model.records import Fact
from graphiti_pkm.server.tools.instructions import build_instructions
from graphiti_pkm.server.tools.registry import TOOLSETS
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.storage.graph.queries.search import Weighed, search_entities

ALICE = {"name": "Alice", "type": "Person", "observations": ["speaks Dutch", "likes jazz. And chess."]}
ACME = {"name": "Acme", "type": "Company", "observations": []}
WORKS = {"source": "Alice", "target": "Acme", "relationType": "works_at"}


@pytest.fixture
def world() -> World:
    return classic_world("memory", "compat")


@asynccontextmanager
async def dense() -> AsyncIterator[Client]:
    """A client of the graph F1."""
    world = classic_world()
    await hold_f1(world)
    async with world.connect() as client:
        yield client


@pytest.fixture
async def filled(client: Client) -> Client:
    await call(client, "create_entities", entities=[ALICE, ACME])
    await call(client, "create_relations", relations=[WORKS])
    return client


async def found(client: Client, *names: str, **more: Any) -> dict[str, Any]:
    return await call(client, "find_memories_by_name", names=list(names), **more)


async def observations(client: Client, name: str) -> list[str]:
    (entity,) = (await found(client, name))["entities"]
    texts: list[str] = entity["observations"]
    return texts


# What is written


async def test_a_known_entity_is_merged_and_answered_as_it_is_now(client: Client, world: World) -> None:
    first = await call(client, "create_entities", entities=[ALICE, ACME])
    assert [(one["name"], one["type"], one["observations"]) for one in first["result"]] == [
        ("Alice", "Person", ALICE["observations"]),
        ("Acme", "Company", []),
    ]
    again = await call(client, "create_entities", entities=[{**ALICE, "observations": ["is kind", "speaks Dutch"]}])
    (entity,) = again["result"]
    assert entity["observations"] == [*ALICE["observations"], "is kind"]
    assert entity["uuid"] == first["result"][0]["uuid"]
    assert world.graph.tables.entities[entity["uuid"]].label == "Person"


async def test_names_types_observations_and_relations_come_back_as_they_were_sent(client: Client) -> None:
    await call(client, "create_entities", entities=[{**ALICE, "observations": ["speaks Dutch"]}, ACME])
    added = [{"entityName": "Alice", "observations": ["likes jazz. And chess."]}]
    await call(client, "add_observations", observations=added)
    uses = {"source": "Alice", "target": "Acme", "relationType": "USES"}
    await call(client, "create_relations", relations=[uses])
    for answer in (await found(client, "Alice", "Acme"), await call(client, "search_memories", query="Alice Acme")):
        entities = {one["name"]: {key: one[key] for key in ALICE} for one in answer["entities"]}
        assert entities == {"Alice": ALICE, "Acme": ACME}
        assert [{key: one[key] for key in uses} for one in answer["relations"]] == [uses]
    facts = await call(client, "search_memory_facts", edge_types=["USES"])
    assert [(one["name"], one["fact"]) for one in facts["facts"]] == [("USES", "Alice uses Acme")]


async def test_a_name_that_meets_another_spelling_says_so(filled: Client) -> None:
    sent = {"name": "alice", "type": "Person"}
    answer = await call(filled, "create_entities", entities=[sent])
    assert answer["known_as"] == {"alice": "Alice"}
    assert [one["name"] for one in answer["result"]] == ["Alice"]


async def test_similar_names_are_never_merged_and_no_model_is_asked(client: Client, world: World) -> None:
    sent = [{"name": name, "type": "Person"} for name in ("Users", "User")]
    answer = await call(client, "create_entities", entities=sent)
    assert len({one["uuid"] for one in answer["result"]}) == 2
    assert world.graph.tables.entities.keys() == {one["uuid"] for one in answer["result"]}


async def test_a_call_leaves_one_episode_that_mentions_its_entities(filled: Client, world: World) -> None:
    assert len((await found(filled, "Alice", "Acme"))["entities"]) == 2
    tables = world.graph.tables
    contents = sorted(one.content for one in tables.episodes.values())
    assert contents == [
        "Alice (Person)\nAlice: speaks Dutch\nAlice: likes jazz. And chess.\nAcme (Company)",
        "Alice works at Acme",
    ]
    assert {one.source_description for one in tables.episodes.values()} == {"compat"}
    assert len(tables.mentions) == 4
    for fact in tables.facts.values():
        episode = tables.episodes[fact.episodes[0]]
        assert episode.content[fact.quote_start : fact.quote_end] == fact.text == fact.quote


async def test_what_is_known_already_leaves_nothing(filled: Client, world: World) -> None:
    before = dict(world.graph.tables.episodes)
    relations = await call(filled, "create_relations", relations=[WORKS])
    added = await call(
        filled, "add_observations", observations=[{"entityName": "Alice", "observations": ["speaks Dutch"]}]
    )
    assert relations == {"result": [WORKS], "failed": []}
    assert added == {"result": [{"entityName": "Alice", "addedObservations": []}], "not_found": []}
    assert world.graph.tables.episodes == before


async def test_a_relation_with_an_unknown_end_fails_alone(filled: Client) -> None:
    await call(filled, "create_entities", entities=[{"name": "AuthService", "type": "Service"}])
    wrong = {"source": "auth service", "target": "Nowhere", "relationType": "USES"}
    answer = await call(filled, "create_relations", relations=[wrong, {**WORKS, "relationType": "founded"}])
    assert [one["relationType"] for one in answer["result"]] == ["founded"]
    (failed,) = answer["failed"]
    assert failed["relation"] == wrong
    assert failed["missing"] == ["source", "target"]
    assert failed["near"]["auth service"][0].startswith("AuthService (")


async def test_only_new_observations_are_added_and_unknown_names_are_told(filled: Client) -> None:
    sent = [
        {"entityName": "Alice", "observations": ["speaks Dutch", "plays chess", "plays chess"]},
        {"entityName": "Bob", "observations": ["unknown"]},
    ]
    answer = await call(filled, "add_observations", observations=sent)
    assert answer == {
        "result": [{"entityName": "Alice", "addedObservations": ["plays chess"]}],
        "not_found": ["Bob"],
    }
    assert await observations(filled, "Alice") == [*ALICE["observations"], "plays chess"]


async def test_the_spellings_of_the_reference_server_are_taken_as_well(client: Client) -> None:
    sent = [{"name": "Alice", "entityType": "Person"}, {"name": "Acme", "entityType": "Company"}]
    await call(client, "create_entities", entities=sent)
    relation = {"from": "Alice", "to": "Acme", "relationType": "works_at"}
    assert (await call(client, "create_relations", relations=[relation]))["result"] == [WORKS]
    added = await call(client, "add_observations", observations=[{"entityName": "Alice", "contents": ["is kind"]}])
    assert added["result"][0]["addedObservations"] == ["is kind"]


async def test_a_second_status_ends_nothing_and_is_reported(filled: Client, world: World) -> None:
    states = [{"name": name, "type": "Status"} for name in ("open", "done")]
    await call(filled, "create_entities", entities=states)
    relations = [{"source": "Acme", "target": name, "relationType": "HAS_STATUS"} for name in ("open", "done")]
    assert "needs_attention" not in await call(filled, "create_relations", relations=relations[:1])
    (report,) = (await call(filled, "create_relations", relations=relations[1:]))["needs_attention"]
    assert "Acme has the status open as well as done: nothing ended." in report
    assert "retire_fact ends it" in report
    assert all(fact.invalid_at is None and fact.expired_at is None for fact in world.graph.tables.facts.values())


async def test_an_observation_is_found_by_search_nodes_and_is_a_fact_of_its_entity(filled: Client) -> None:
    nodes = (await call(filled, "search_nodes", query="jazz"))["nodes"]
    assert [one["name"] for one in nodes] == ["Alice"]
    assert "attributes" not in nodes[0] or "type" not in nodes[0]["attributes"]
    page = await call(filled, "get_entity_connections", entity_uuid=nodes[0]["uuid"])
    assert page["total"] == 3
    assert [one["name"] for one in page["neighbours"]] == ["Acme"]
    assert "Alice: likes jazz" in json.dumps(await call(filled, "get_entity_timeline", entity_uuid=nodes[0]["uuid"]))
    changes = (await call(filled, "what_changed", since="2020"))["changes"]
    assert {one["change"] for one in changes} == {"added"}
    assert len(changes) == 3


async def test_a_type_that_was_corrected_is_shown_and_found_as_it_is_now(filled: Client) -> None:
    (node,) = (await call(filled, "search_nodes", names=["Acme"]))["nodes"]
    await call(filled, "update_entity", entity_uuid=node["uuid"], type="Foundation")
    assert (await found(filled, "Acme"))["entities"][0]["type"] == "Foundation"
    assert [one["name"] for one in (await call(filled, "search_memories", query="foundation"))["entities"]] == ["Acme"]
    assert (await call(filled, "search_memories", query="company"))["entities"] == []


async def test_an_observation_is_nobodys_possible_conflict(filled: Client) -> None:
    facts = [{"source": "Alice", "relation": "LIVES_IN", "target": "Ghent", "fact": "Alice lives in Ghent."}]
    told = await call(filled, "add_memory", episode_body="Alice lives in Ghent.", facts=facts)
    assert [one for one in told["needs_attention"] if one["what"] in {"possible_conflict", "near_relation"}] == []
    observed = [{"source": "Alice", "relation": "OBSERVATION", "target": "Alice", "fact": "Alice is tall."}]
    told = await call(filled, "add_memory", episode_body="Alice is tall.", facts=observed)
    assert [one for one in told["needs_attention"] if one["what"] == "possible_conflict"] == []


# What is refused


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("create_entities", {"entities": [{**ALICE, "name": " "}]}, "A name is blank"),
        ("create_entities", {"entities": [{**ALICE, "name": "x" * 201}]}, "201 characters, at most 200"),
        ("create_entities", {"entities": [{**ALICE, "type": "bad type"}]}, "entities[0].type must be"),
        ("create_entities", {"entities": [{**ALICE, "type": "A poem\nof two lines"}]}, "entities[0].type must be"),
        ("create_entities", {"entities": [ALICE, {**ALICE, "name": "ALICE"}]}, "twice"),
        ("create_entities", {"entities": [ALICE] * 10_001}, "at most 20,000 values"),
        ("create_entities", {"entities": [{"name": "A", "type": "T"}] * 1_001}, "1,001 items, at most 1,000"),
        ("create_entities", {"entities": []}, "The list is empty"),
        ("create_entities", {"entities": [{"name": "A", "type": "T", "colour": "red"}]}, "colour is unknown"),
        ("create_relations", {"relations": [{**WORKS, "relationType": "works at"}]}, "relationType must be"),
        ("create_relations", {"relations": [{**WORKS, "source": ""}]}, "source must be"),
        (
            "create_relations",
            {"relations": [{"source": "Alice", "target": "alice", "relationType": "OBSERVATION"}]},
            "is for add_observations",
        ),
        (
            "add_observations",
            {"observations": [{"entityName": "Alice", "observations": [" "]}]},
            "observation is blank",
        ),
    ],
)
async def test_bad_input_stores_nothing(
    filled: Client, world: World, tool: str, arguments: dict[str, Any], message: str
) -> None:
    tables = world.graph.tables
    before = dict(tables.facts), dict(tables.entities), dict(tables.episodes)
    told = error_of(await filled.call_tool(tool, arguments))
    assert message in told
    assert "Nothing was stored" in told
    assert (dict(tables.facts), dict(tables.entities), dict(tables.episodes)) == before


# What is read


async def test_a_search_finds_words_of_names_types_and_observations(filled: Client) -> None:
    for query, name in (("acme", "Acme"), ("company", "Acme"), ("jazz", "Alice"), ("Person", "Alice")):
        answer = await call(filled, "search_memories", query=query)
        assert [one["name"] for one in answer["entities"]] == [name], query
    await call(filled, "add_memory", episode_body="Ghent.", entities=[{"name": "Ghent", "type": "City"}])
    assert [one["name"] for one in (await call(filled, "search_memories", query="city"))["entities"]] == ["Ghent"]
    assert "query is missing" in error_of(await filled.call_tool("search_memories", {}))


async def test_the_best_come_first_in_an_order_that_stays(client: Client) -> None:
    sent = [
        {"name": "Token", "type": "Thing", "observations": ["a jwt is signed"]},
        {"name": "jwt library", "type": "Thing", "observations": ["makes a jwt", "reads a jwt"]},
        {"name": "Apple", "type": "Thing", "observations": ["no jwt there"]},
    ]
    await call(client, "create_entities", entities=sent)
    answers = [await call(client, "search_memories", query="jwt") for _ in range(2)]
    assert [one["name"] for one in answers[0]["entities"]] == ["jwt library", "Apple", "Token"]
    scores = [one["score"] for one in answers[0]["entities"]]
    assert all(isinstance(score, float) for score in scores)
    assert scores == sorted(scores, reverse=True)
    assert answers[0] == answers[1]


@pytest.mark.parametrize("query", ["(", "C++", "a:b", '"unclosed', "OR (", "N0*", "\\"])
async def test_no_character_of_a_query_is_an_operator(filled: Client, query: str) -> None:
    assert (await call(filled, "search_memories", query=query))["entities"] == []


async def test_a_blank_query_is_refused_and_one_without_a_match_is_empty(filled: Client) -> None:
    assert "blank" in error_of(await filled.call_tool("search_memories", {"query": " "}))
    none = await call(filled, "search_memories", query="zzzzqqq")
    assert none == {"entities": [], "relations": [], "truncated": False}


async def test_an_answer_has_the_fields_of_the_other_server(filled: Client) -> None:
    answer = await call(filled, "search_memories", query="Alice Acme")
    added = {"uuid", "relation_count"}
    assert [set(one) - added for one in answer["entities"]] == [{"name", "type", "observations", "score"}] * 2
    assert answer["relations"] == [WORKS]
    assert json.loads(text(await filled.call_tool("search_memories", {"query": "Alice Acme"}))) == answer
    schema = (await definition_named("search_memories"))["outputSchema"]
    entity = schema["properties"]["entities"]["items"]
    assert {"type": "null"} in entity["properties"]["score"].get("anyOf", []) or "null" in entity["properties"][
        "score"
    ]["type"]


@pytest.mark.parametrize("limit", [51, 0, -3, "x"])
async def test_a_limit_beyond_the_schema_is_refused(filled: Client, limit: object) -> None:
    for tool, more in (("search_memories", {"query": "Alice"}), ("find_memories_by_name", {"names": ["Alice"]})):
        told = error_of(await filled.call_tool(tool, {**more, "limit": limit}))
        assert "limit must be an integer from 1 to 50" in told


async def test_the_limits_are_those_of_the_other_server() -> None:
    search = (await definition_named("search_memories"))["inputSchema"]["properties"]["limit"]
    named = (await definition_named("find_memories_by_name"))["inputSchema"]["properties"]
    assert {**search, "description": ""} == {
        "default": 10, "minimum": 1, "maximum": 50, "type": "integer", "description": ""
    }  # fmt: skip
    assert (named["limit"]["default"], named["limit"]["maximum"]) == (20, 50)
    assert named["names"]["items"] == {"type": "string"}
    assert named["names"]["description"]
    assert named["limit"]["default"] > search["default"]


async def test_a_search_of_a_dense_graph_is_bounded() -> None:
    async with dense() as client:
        ten = await call(client, "search_memories", query="N")
        assert (len(ten["entities"]), ten["truncated"]) == (10, True)
        fifty = await call(client, "search_memories", query="N", limit=50)
        assert len(fifty["entities"]) == 50
        assert len((await call(client, "search_memories", query="N", limit=1))["entities"]) == 1
        for answer in (ten, fifty):
            names = {one["name"] for one in answer["entities"]}
            assert all({one["source"], one["target"]} <= names for one in answer["relations"])
            assert "get_entity_connections" not in answer["hint"]  # which is not on here
        assert len((await call(client, "search_memories", query="N59*"))["entities"]) == 10


async def test_relations_are_only_those_among_the_named_entities() -> None:
    async with dense() as client:
        alone = await found(client, "N000")
        assert ([one["name"] for one in alone["entities"]], alone["relations"]) == (["N000"], [])
        assert alone["entities"][0]["relation_count"] == 20
        assert "relation_count" in alone["hint"]
        pair = await found(client, "N000", "N001")
        assert pair["relations"] == [{"source": "N000", "target": "N001", "relationType": CHAIN[1]}]
        five = await found(client, *(f"N00{n}" for n in range(5)))
        pairs = {(one["source"], one["target"], one["relationType"]) for one in five["relations"]}
        assert pairs == {(f"N00{n}", f"N00{m}", CHAIN[(m - n) % 3]) for n in range(5) for m in range(n + 1, 5)}
        assert all(one["score"] is None for one in five["entities"])


async def test_an_entity_fetched_alone_says_how_many_relations_it_has(filled: Client) -> None:
    answer = await found(filled, "Alice")
    assert (answer["relations"], answer["entities"][0]["relation_count"]) == ([], 1)
    assert "get_entity_connections with the uuid lists all" in answer["hint"]
    assert answer["entities"][0]["score"] is None


async def test_names_beyond_the_limit_are_cut_in_the_order_asked() -> None:
    async with dense() as client:
        names = [f"N{n:03}" for n in range(100, 160)]
        answer = await found(client, *reversed(names))
        asked = list(reversed(names))
        assert [one["name"] for one in answer["entities"]] == asked[:20]
        assert (answer["truncated"], answer["cut"]) == (True, asked[20:])
        kept = set(asked[:20])
        assert all({one["source"], one["target"]} <= kept for one in answer["relations"])
        assert len(answer["relations"]) > 100


async def test_unknown_names_are_told_and_equal_ones_count_once(filled: Client) -> None:
    none = await found(filled, "nobody")
    assert none == {"entities": [], "relations": [], "truncated": False, "not_found": ["nobody"]}
    some = await found(filled, "Alice", "nobody", "Alice")
    assert ([one["name"] for one in some["entities"]], some["not_found"]) == (["Alice"], ["nobody"])
    assert "names is empty" in error_of(await filled.call_tool("find_memories_by_name", {"names": []}))
    assert "names is missing" in error_of(await filled.call_tool("find_memories_by_name", {}))


async def test_a_name_is_matched_exactly_in_its_spelling(filled: Client) -> None:
    await call(filled, "create_entities", entities=[{"name": "AuthService", "type": "Service"}])
    assert (await found(filled, "auth service"))["not_found"] == ["auth service"]
    assert (await found(filled, "AuthService"))["entities"][0]["name"] == "AuthService"
    aliased = {"name": "AuthService", "aliases": ["the login"]}
    await call(filled, "add_memory", episode_body="AuthService is the login.", entities=[aliased])
    assert (await found(filled, "the login"))["entities"][0]["name"] == "AuthService"


async def test_one_name_in_two_groups_are_two_entities(filled: Client) -> None:
    await call(filled, "create_entities", entities=[ALICE], group_id="t2")
    both = await found(filled, "Alice", group_id=["t1", "t2"])
    assert [one["group_id"] for one in both["entities"]] == ["t1", "t2"]
    assert len({one["uuid"] for one in both["entities"]}) == 2


async def test_a_small_graph_comes_whole(filled: Client) -> None:
    sent = [{"name": f"Point {n}", "type": "Point"} for n in range(3)]
    await call(filled, "create_entities", entities=sent)
    names = ["Alice", "Acme", *(one["name"] for one in sent)]
    assert len((await found(filled, *names))["entities"]) == 5
    assert (await found(filled, *names))["relations"] == [WORKS]
    assert len((await call(filled, "search_memories", query="Point Person Company"))["entities"]) == 5


async def test_relations_that_are_over_are_not_listed(world: World, filled: Client) -> None:
    fact = {"source": "Alice", "relation": "WORKS_AT", "target": "Globex", "replaces": "Acme", "fact": "Alice left."}
    await call(filled, "add_memory", episode_body="Alice left Acme for Globex.", facts=[fact])
    world.clock.advance(seconds=1)
    answer = await found(filled, "Alice", "Acme", "Globex")
    assert [one["target"] for one in answer["relations"]] == ["Globex"]


# How large an answer is


class _Recorded(FakeObservations):
    """Remembers of which entities relations were asked."""

    asked: Sequence[str] = ()

    async def relations(
        self, entity_uuids: Sequence[str], group_ids: Sequence[str], now: datetime, limit: int, *, within: bool
    ) -> tuple[list[Fact], int]:
        self.asked = list(entity_uuids)
        assert within
        return await super().relations(entity_uuids, group_ids, now, limit, within=within)


async def test_relations_are_asked_for_exactly_the_returned_entities_and_ten_are_the_default() -> None:
    world = classic_world()
    await hold_f1(world)
    context = Context(world.graph, FakeJournal(world.clock), world.embedder, FakeLocks(), world.settings, world.clock)
    stored = _Recorded(world.graph)
    reading = ClassicReading(context, Groups(world.graph, world.settings), stored)
    answer = await reading.search_memories(LOCAL, SearchMemories(query="N"))
    assert len(answer.entities) == 10
    assert stored.asked == [one.uuid for one in answer.entities]


def test_the_search_asks_a_full_text_index_and_is_cut_in_the_database() -> None:
    from graphiti_pkm.core.model.queries import EntityFilter  # noqa: PLC0415

    query = search_entities([Weighed("n", 1, 1)], EntityFilter(group_ids=("t1",)), 200)
    assert "CALL db.index.fulltext.queryNodes" in query.text
    assert "ORDER BY score DESC" in query.text
    assert query.text.index("ORDER BY score DESC") < query.text.index("LIMIT $limit")


@pytest.mark.parametrize("limit", [None, 50])
async def test_no_answer_of_a_dense_graph_fills_a_context(limit: int | None) -> None:
    async with dense() as client:
        more = {} if limit is None else {"limit": limit}
        budget = 15_000 if limit is None else 40_000
        names = [f"N{n:03}" for n in range(60)]
        for tool, arguments in (("search_memories", {"query": "N"}), ("find_memories_by_name", {"names": names})):
            result = await client.call_tool(tool, {**arguments, **more})
            assert tokens(text(result)) < budget / 2


async def test_long_observations_are_cut_and_counted(client: Client) -> None:
    sent = [
        {"name": f"Book {n}", "type": "Book", "observations": [f"{k} " + "word " * 390 for k in range(20)]}
        for n in range(6)
    ]
    for one in sent:
        await call(client, "create_entities", entities=[one])
    answer = await call(client, "search_memories", query="Book", limit=50)
    assert all(len(one["observations"]) + one["more_observations"] == 20 for one in answer["entities"])
    assert all(one["observations"] for one in answer["entities"])
    assert sum(len(text) for one in answer["entities"] for text in one["observations"]) <= 16_000


# What is deleted


async def test_deleted_observations_take_their_sentences_and_leave_the_others_in_order(
    filled: Client, world: World
) -> None:
    await call(filled, "add_observations", observations=[{"entityName": "Alice", "observations": ["a", "b", "c"]}])
    gone = {"entityName": "Alice", "observations": ["likes jazz. And chess.", "b", "B"]}
    answer = await call(filled, "delete_observations", deletions=[gone])
    assert answer == {"result": "Observations deleted successfully", "not_found": ["Alice: B"]}
    assert await observations(filled, "Alice") == ["speaks Dutch", "a", "c"]
    tables = world.graph.tables
    said = {one.content for one in tables.episodes.values()}
    assert said == {"Alice (Person)\nAlice: speaks Dutch\nAcme (Company)", "Alice works at Acme", "Alice: a\nAlice: c"}
    for fact in tables.facts.values():
        assert tables.episodes[fact.episodes[0]].content[fact.quote_start : fact.quote_end] == fact.text
    for passage in tables.passages.values():
        content = tables.episodes[passage.episode_uuid].content
        assert content[passage.start : passage.end] in {
            *("Alice (Person)", "Alice: speaks Dutch", "Acme (Company)", "Alice works at Acme", "Alice: a", "Alice: c")
        }


async def test_a_deleted_relation_is_exactly_the_one_named(filled: Client) -> None:
    others = [{**WORKS, "relationType": "founded"}, {"source": "Acme", "target": "Alice", "relationType": "works_at"}]
    await call(filled, "create_relations", relations=others)
    missing = {**WORKS, "relationType": "sold"}
    answer = await call(filled, "delete_relations", relations=[WORKS, missing])
    assert answer == {"result": "Relations deleted successfully", "not_found": ["Alice sold Acme"]}
    left = (await found(filled, "Alice", "Acme"))["relations"]
    assert sorted((one["source"], one["relationType"]) for one in left) == [("Acme", "works_at"), ("Alice", "founded")]


async def test_a_deleted_entity_goes_with_its_facts_and_what_people_said_is_counted(
    filled: Client, world: World
) -> None:
    facts = [{"source": "Alice", "relation": "KNOWS", "target": "Bob", "fact": "Alice knows Bob."}]
    await call(filled, "add_memory", episode_body="Alice knows Bob.", facts=facts)
    answer = await call(filled, "delete_entities", entityNames=["Alice", "nobody"])
    assert (answer["result"], answer["not_found"], answer["kept"]) == ("Entities deleted successfully", ["nobody"], 1)
    assert "forget takes them out" in answer["hint"]
    assert (await found(filled, "Alice"))["not_found"] == ["Alice"]
    tables = world.graph.tables
    assert tables.facts == {}
    assert {one.content for one in tables.episodes.values()} == {"Acme (Company)", "Alice knows Bob."}
    assert (await found(filled, "Acme"))["entities"][0]["relation_count"] == 0


async def test_the_person_of_the_memory_is_not_deleted(client: Client) -> None:
    await call(client, "create_entities", entities=[{"name": "me", "type": "Person", "observations": ["is tall"]}])
    told = error_of(await client.call_tool("delete_entities", {"entityNames": ["me"]}))
    assert "Nothing was deleted" in told
    assert await observations(client, "me") == ["is tall"]


async def test_a_blank_name_deletes_nothing(filled: Client) -> None:
    for tool, arguments in (
        ("delete_entities", {"entityNames": [" "]}),
        ("delete_entities", {"entityNames": []}),
        ("delete_relations", {"relations": []}),
    ):
        assert "Nothing was deleted" in error_of(await filled.call_tool(tool, arguments))


# What is offered


async def test_the_tools_are_listed_only_where_the_toolset_is_on() -> None:
    named = {tool.name for toolset in TOOLSETS if toolset.name == "compat" for tool in toolset.tools}
    assert {"search_memories", "find_memories_by_name"} < named
    assert "read_graph" not in named
    assert not named & {tool.name for tool in await definitions()}
    assert named == {tool.name for tool in await definitions(Settings(toolsets=("compat",)))}
    reads = {tool.name for tool in await definitions(Settings(toolsets=("compat",), read_only=True))}
    assert reads == {"search_memories", "find_memories_by_name"}


async def test_there_is_no_read_graph_and_what_replaces_it_is_told(filled: Client) -> None:
    assert "read_graph" not in {tool.name for toolset in TOOLSETS for tool in toolset.tools}
    answer = await filled.call_tool("read_graph", {})
    assert (answer.structured_content or {})["code"] == "unknown_tool"
    names = [tool.name for tool in await definitions(EVERYTHING)]
    told = build_instructions(names)
    (line,) = (line for line in told.splitlines() if "read_graph" in line)
    assert {"search_memories", "find_memories_by_name", "get_entity_connections"} <= set(line.replace(".", "").split())


async def test_the_description_of_create_entities_leads_to_add_memory_for_what_was_said() -> None:
    told = (await definition_named("create_entities"))["description"]
    assert "For what was said, with dates or with what it replaces, use add_memory instead" in " ".join(told.split())


async def test_an_observation_moves_when_an_entity_was_last_mentioned_and_reading_does_not() -> None:
    world = classic_world("memory", "compat")
    async with world.connect() as client:

        async def last() -> str:
            world.clock.advance(seconds=60)
            (entity,) = (await found(client, "Alice"))["entities"]
            return str((await call(client, "get_entity_timeline", entity_uuid=entity["uuid"]))["last_mention"])

        await call(client, "create_entities", entities=[ALICE])
        before = await last()
        assert await last() == before
        await call(client, "add_observations", observations=[{"entityName": "Alice", "observations": ["is kind"]}])
        assert await last() > before


async def test_the_description_says_when_to_use_which() -> None:
    told = (await definition_named("find_memories_by_name"))["description"]
    for word in ("exact", "search_memories", "among the returned entities", "limit matters when many names"):
        assert word in told
    assert "find_memories_by_name" in (await definition_named("search_memories"))["description"]
