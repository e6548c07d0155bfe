"""Calls as clients of two other memory servers send them, against ours over the wire.

Their own suites stay out of here; ``python -m tests.outside`` runs them from a copy. These calls follow
mcp-neo4j-memory's integration tests and the reference server's tests: the same arguments, the same fields looked at.
The prompts are those of both READMEs, word for word.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client
from tests.e2e.support import call, over_stdio
from tests.integration.planted import files_with
from tests.protocol.support import text

PROMPTS = Path(__file__).parents[1] / "data" / "other_servers"
pytestmark = pytest.mark.timeout(300)

ALICE = {"name": "Alice", "type": "Person", "observations": ["Likes reading", "Works at Company X"]}
BOB = {"name": "Bob", "type": "Person", "observations": ["Likes hiking"]}
KNOWS = {"source": "Alice", "target": "Bob", "relationType": "KNOWS"}


def named(graph: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {one["name"]: one for one in graph["entities"]}


async def neo4j_memory(client: Client) -> None:
    """What mcp-neo4j-memory's integration tests do, in their order, each with fresh names."""
    created = await call(client, "create_entities", entities=[ALICE, BOB])
    assert [(one["name"], one["type"]) for one in created["result"]] == [("Alice", "Person"), ("Bob", "Person")]
    assert created["result"][0]["observations"] == ALICE["observations"]

    related = await call(client, "create_relations", relations=[KNOWS])
    assert related["result"] == [KNOWS]

    added = await call(
        client,
        "add_observations",
        observations=[{"entityName": "Bob", "observations": ["Has a dog", "Likes hiking"]}],
    )
    assert added["result"] == [{"entityName": "Bob", "addedObservations": ["Has a dog"]}]
    graph = await call(client, "find_memories_by_name", names=["Bob"])
    assert set(named(graph)["Bob"]["observations"]) == {"Likes hiking", "Has a dog"}

    await call(client, "delete_observations", deletions=[{"entityName": "Bob", "observations": ["Likes hiking"]}])
    graph = await call(client, "find_memories_by_name", names=["Bob"])
    assert named(graph)["Bob"]["observations"] == ["Has a dog"]

    found = await call(client, "search_memories", query="reading")
    assert "Alice" in named(found)
    opened = await call(client, "find_memories_by_name", names=["Alice", "Bob"])
    assert len(opened["entities"]) == 2
    assert opened["relations"] == [KNOWS]

    gone = await call(client, "delete_relations", relations=[KNOWS])
    assert gone["result"] == "Relations deleted successfully"
    assert (await call(client, "find_memories_by_name", names=["Alice", "Bob"]))["relations"] == []
    gone = await call(client, "delete_entities", entityNames=["Alice"])
    assert gone["result"] == "Entities deleted successfully"
    assert (await call(client, "find_memories_by_name", names=["Alice"]))["entities"] == []


async def reference_server(client: Client) -> None:
    """What the reference server's tests of its tools do."""
    alice = {"name": "Alice", "entityType": "person", "observations": ["works at Acme Corp"]}
    bob = {"name": "Bob", "entityType": "person", "observations": ["likes programming"]}
    acme = {"name": "Acme Corp", "entityType": "company", "observations": ["tech company"]}
    assert await call(client, "create_entities", entities=[alice, bob, acme]) == {"entities": [alice, bob, acme]}
    assert (await call(client, "create_entities", entities=[alice]))["entities"] == []
    relations = [
        {"from": "Alice", "to": "Acme Corp", "relationType": "works_at"},
        {"from": "Bob", "to": "Acme Corp", "relationType": "competitor"},
    ]
    assert (await call(client, "create_relations", relations=relations))["relations"] == relations
    assert (await call(client, "create_relations", relations=relations))["relations"] == []
    more = [{"entityName": "Alice", "contents": ["loves coffee", "has a dog"]}]
    (added,) = (await call(client, "add_observations", observations=more))["results"]
    assert (added["entityName"], added["addedObservations"]) == ("Alice", ["loves coffee", "has a dog"])
    assert (
        await client.call_tool("add_observations", {"observations": [{"entityName": "Zed", "contents": ["x"]}]})
    ).is_error
    for query, names in (
        ("Alice", {"Alice"}),
        ("company", {"Acme Corp"}),
        ("programming", {"Bob"}),
        ("ALICE", {"Alice"}),
    ):
        assert set(named(await call(client, "search_nodes", query=query))) == names
    opened = await call(client, "open_nodes", names=["Alice", "Acme Corp"])
    assert set(named(opened)) == {"Alice", "Acme Corp"}
    assert relations[0] in opened["relations"]
    result = await client.call_tool("open_nodes", {"names": ["Bob"]})
    assert json.loads(text(result)) == result.structured_content
    told = await call(client, "delete_observations", deletions=[{"entityName": "Alice", "observations": ["has a dog"]}])
    assert (told["success"], told["message"]) == (True, "Observations deleted successfully")
    assert "has a dog" not in named(await call(client, "open_nodes", names=["Alice"]))["Alice"]["observations"]
    told = await call(client, "delete_relations", relations=relations[:1])
    assert (told["success"], told["message"]) == (True, "Relations deleted successfully")
    told = await call(client, "delete_entities", entityNames=["Alice", "NonExistent"])
    assert (told["success"], told["message"]) == (True, "Entities deleted successfully")
    assert (await call(client, "search_nodes", query="Alice"))["entities"] == []


async def test_a_client_of_mcp_neo4j_memory_is_answered_as_there(data_dir: Path) -> None:
    async with over_stdio(data_dir, toolsets="compat") as client:
        await neo4j_memory(client)


async def test_a_client_of_the_reference_server_is_answered_as_there(data_dir: Path) -> None:
    async with over_stdio(data_dir, toolsets="reference") as client:
        await reference_server(client)


def prompt_of(server: str) -> str:
    """Word for word as in their README."""
    return (PROMPTS / f"{server}_prompt.txt").read_text(encoding="utf-8")


async def test_the_prompt_of_the_reference_servers_readme_works_unchanged(data_dir: Path) -> None:
    """The caller does what each step of the prompt asks for, in its words; the next day it remembers all of it."""
    steps = re.split(r"\n\n(?=\d\. )", prompt_of("reference"))[1:]
    assert [re.match(r"\d\. ([^:\n]*)", step)[1] for step in steps] == [  # type: ignore[index]
        "User Identification",
        "Memory Retrieval",
        "Memory",
        "Memory Update",
    ]
    (user,) = re.findall(r"interacting with (\w+)", steps[0])
    categories = re.findall(r"[a-e]\) (.*)", steps[2])
    assert len(categories) == 5
    people = [{"name": one, "entityType": "person", "observations": []} for one in (user, "Ines", "Ruben")]
    company = {"name": "Tidewater", "entityType": "recurring organization", "observations": ["builds ferries"]}
    works = {"from": user, "to": "Tidewater", "relationType": "works at"}
    related = [
        works,
        {"from": user, "to": "Ines", "relationType": "is a friend of"},
        {"from": "Ines", "to": "Ruben", "relationType": "is the sister of"},
    ]
    async with over_stdio(data_dir, toolsets="reference", person=user) as client:
        assert await call(client, "search_nodes", query=user) == {"entities": [], "relations": []}
        created = await call(client, "create_entities", entities=[*people, company])
        assert created["entities"] == [*people, company]
        assert (await call(client, "create_relations", relations=related))["relations"] == related
        facts = [{"entityName": user, "contents": categories}]
        added = await call(client, "add_observations", observations=facts)
        assert added["results"] == [{"entityName": user, "addedObservations": categories}]
    async with over_stdio(data_dir, toolsets="reference", person=user) as client:
        graph = await call(client, "search_nodes", query=user)
        assert named(graph)[user]["observations"] == categories
        assert works in graph["relations"]
        assert related[2] not in graph["relations"]
        further = await call(client, "open_nodes", names=["Ines"])
        assert related[2] in further["relations"]
        for category in categories:
            assert user in named(await call(client, "search_nodes", query=category.partition(" (")[0]))
    async with over_stdio(data_dir, toolsets="memory", person=user) as client:
        page = await call(client, "get_entity_connections", entity_uuid="me")
        assert {fact["fact"] for fact in page["facts"]} >= {*categories, f"{user} works at Tidewater"}


async def test_the_prompt_of_mcp_neo4j_memorys_readme_works_unchanged(data_dir: Path) -> None:
    """The README says that the caller answers its message with create_entities and create_relations."""
    sentences = prompt_of("neo4j").strip().splitlines()
    colleagues = re.findall(r"(\w+) \(([\w ]+, \w+)\)", sentences[1])
    assert [name for name, _ in colleagues] == ["Andreas", "Oskar"]
    (me, home, employer, country) = re.findall(
        r"I, (\w+), living in (\w+), \w+ work at (\w+) which is headquartered in (\w+)", sentences[1]
    )[0]
    people = [{"name": name, "type": "Person", "observations": [sentences[2]]} for name, _ in colleagues]
    places = [
        {"name": name, "type": "Location", "observations": []} for name in (home, country, *dict(colleagues).values())
    ]
    sent = [
        {"name": me, "type": "Person", "observations": sentences[1:]},
        {"name": employer, "type": "Company", "observations": []},
        *people,
        *places,
    ]
    related = [
        {"source": me, "target": employer, "relationType": "WORKS_AT"},
        {"source": me, "target": home, "relationType": "LIVES_IN"},
        {"source": employer, "target": country, "relationType": "HEADQUARTERED_IN"},
        *({"source": name, "target": employer, "relationType": "WORKS_AT"} for name, _ in colleagues),
        *({"source": name, "target": place, "relationType": "LIVES_IN"} for name, place in colleagues),
    ]
    async with over_stdio(data_dir, toolsets="compat") as client:
        created = await call(client, "create_entities", entities=sent)
        assert [one["name"] for one in created["result"]] == [one["name"] for one in sent]
        answer = await call(client, "create_relations", relations=related)
        assert (answer["result"], answer["failed"]) == (related, [])
    async with over_stdio(data_dir, toolsets="compat") as client:
        graph = await call(client, "search_memories", query="who works in Developer Relations")
        assert {me, "Andreas", "Oskar"} <= named(graph).keys()
        assert named(graph)[me]["observations"] == sentences[1:]
        known = await call(client, "find_memories_by_name", names=[one["name"] for one in sent])
        assert sorted(map(str, known["relations"])) == sorted(map(str, related))


@pytest.mark.parametrize("kind", ["entity", "query"])
async def test_a_person_who_is_only_in_observations_is_forgotten_without_a_word(data_dir: Path, kind: str) -> None:
    async with over_stdio(data_dir, toolsets="memory,compat") as client:
        sent = [
            {"name": "Wilhelmina", "type": "Friend", "observations": ["Hums Zyklonquell. Always.", "plays the viola"]},
            {"name": "Chess club", "type": "Club", "observations": ["Wilhelmina founded it", "meets on Mondays"]},
        ]
        await call(client, "create_entities", entities=sent)
        more = [{"entityName": "Chess club", "observations": ["Wilhelmina left in May", "has nine members"]}]
        await call(client, "add_observations", observations=more)
        (node,) = (await call(client, "search_nodes", names=["Wilhelmina"]))["nodes"]
        named_so = {"entity_uuid": node["uuid"]} if kind == "entity" else {"query": "Wilhelmina"}
        preview = await call(client, "forget", **named_so)
        done = await call(client, "forget", **named_so, confirm=preview["confirm"])
        assert done["status"] == "forgotten"
        graph = await call(client, "find_memories_by_name", names=["Chess club", "Wilhelmina"])
        assert named(graph).keys() == {"Chess club"}
        assert named(graph)["Chess club"]["observations"] == ["meets on Mondays", "has nine members"]
    for word in ("Wilhelmina", "Zyklonquell"):
        assert files_with(data_dir, word) == []


async def test_words_that_a_tool_deleted_are_in_no_file_afterwards(data_dir: Path) -> None:
    async with over_stdio(data_dir, toolsets="compat") as client:
        sent = [
            {"name": "Quellbach", "type": "River", "observations": ["Zyklonquell feeds it", "is cold"]},
            {"name": "Anna", "type": "Person", "observations": ["swims"]},
        ]
        await call(client, "create_entities", entities=sent)
        gone = [{"entityName": "Quellbach", "observations": ["Zyklonquell feeds it"]}]
        await call(client, "delete_observations", deletions=gone)
        await call(client, "delete_entities", entityNames=["Anna"])
    async with over_stdio(
        data_dir, toolsets="memory,compat"
    ) as client:  # the next start finishes what is left to erase
        status = await call(client, "get_status")
        assert status["status"] == "ok"
        forgotten = await call(client, "forget", query="cold")
        await call(client, "forget", query="cold", confirm=forgotten["confirm"])
        graph = await call(client, "find_memories_by_name", names=["Quellbach", "Anna"])
        assert (named(graph).keys(), graph["not_found"]) == ({"Quellbach"}, ["Anna"])
    for word in ("Zyklonquell", "swims"):
        assert files_with(data_dir, word) == []
