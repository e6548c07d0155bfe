"""The examples of the instructions, run as they stand against the real answers."""

import ast
from typing import Any

import pytest
from mcp.client import Client
from tests.builders import a_fact, a_mention, a_name, a_write, an_entity, an_episode, at
from tests.protocol.support import World, answered

from graphiti_pkm.server.tools.instructions import EXAMPLES, Example, build_instructions
from graphiti_pkm.server.tools.registry import known_tools


@pytest.fixture(autouse=True)
async def remembered(world: World) -> None:
    """What the examples say is already known."""
    group = {"group_id": "default"}
    names = ["MySQL", "user-service", "payment-service", "stress", "work", "sleep", "deadlines", "coffee", "launch"]
    known = {name: an_entity(name, **group) for name in names}
    known["MySQL"] = an_entity("MySQL", summary="The database of two services.", **group)
    facts = [a_fact(known[name], known["MySQL"], "USES") for name in ("user-service", "payment-service")]
    facts += [a_fact(known["stress"], known[name], "LINKED_TO") for name in ("work", "sleep", "deadlines", "coffee")]
    writes = [a_write(*known.values(), *map(a_name, known.values()), *facts)]
    for month, mentions in ((1, 1), (2, 2), (3, 4)):
        for day in range(1, mentions + 1):
            episode = an_episode("Stress before the launch.", valid_at=at(2026, month, day), **group)
            writes.append(a_write(episode, a_mention(episode, known["stress"])))
    note = an_episode("MySQL stays the database of the user service.", valid_at=at(2026, 1, 5), **group)
    writes.append(a_write(note, a_mention(note, known["MySQL"])))
    for write in writes:
        await world.graph.writer.apply(write, {})


async def run(client: Client, example: Example) -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Each step's tool, arguments and answer."""
    variables: dict[str, object] = {}
    done = []
    for step in example.steps:
        statement = ast.parse(step).body[0]
        assert isinstance(statement, ast.Assign | ast.Expr)
        value: ast.expr = statement.value
        path: list[object] = []
        while isinstance(value, ast.Subscript):
            path.insert(0, ast.literal_eval(value.slice))
            value = value.value
        assert isinstance(value, ast.Call)
        assert isinstance(value.func, ast.Name)
        arguments = {str(word.arg): _value(word.value, variables) for word in value.keywords}
        answer = answered(await client.call_tool(value.func.id, arguments))
        done.append((value.func.id, arguments, answer))
        if isinstance(statement, ast.Assign):
            found: Any = answer
            for key in path:
                found = found[key]
            assert isinstance(statement.targets[0], ast.Name)
            variables[statement.targets[0].id] = found
    return done


def _value(node: ast.expr, variables: dict[str, object]) -> object:
    if not isinstance(node, ast.Subscript):
        return ast.literal_eval(node)
    names: list[Any] = []
    while isinstance(node, ast.Subscript):
        names.insert(0, ast.literal_eval(node.slice))
        node = node.value
    assert isinstance(node, ast.Name)
    found: Any = variables[node.id]
    for key in names:
        found = found[key]
    return found


async def test_the_decision_example_sees_what_mysql_serves_before_it_writes(client: Client, world: World) -> None:
    (_, _, found), (_, _, connections), _ = await run(client, EXAMPLES[0])
    assert found["nodes"][0]["name"] == "MySQL"
    assert {fact["source_node_name"] for fact in connections["facts"]} == {"user-service", "payment-service"}
    request = world.writing.requests[0]
    assert all(name in request.episode_body for name in ("MySQL", "user-service", "payment-service", "JSON"))
    assert [fact.relation for fact in request.facts] == ["HAS_STATUS", "SUPERSEDES", "HAS_OPTION", "USES"]
    assert request.facts[-1].because_of == "ADR 9"


async def test_the_project_example_gets_facts_and_episodes_of_a_database(client: Client) -> None:
    (_, _, found), (_, _, connections), (_, _, timeline) = await run(client, EXAMPLES[1])
    assert found["nodes"][0]["name"] == "MySQL"
    assert connections["total"] == 2
    assert timeline["total"] == 1


async def test_the_coaching_example_sees_stress_grow_before_it_writes(client: Client, world: World) -> None:
    _, (_, _, connections), (_, _, timeline), _ = await run(client, EXAMPLES[2])
    assert {fact["target_node_name"] for fact in connections["facts"]} == {"work", "sleep", "deadlines", "coffee"}
    assert timeline["mentions_per_month"] == {"2026-01": 1, "2026-02": 2, "2026-03": 4}
    assert [fact.kind for fact in world.writing.requests[0].facts] == ["state", "reading"]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.title.split()[0])
def test_an_example_stands_in_the_instructions_and_quotes_its_own_body(example: Example) -> None:
    text = build_instructions(known_tools())
    assert all(step in text for step in example.steps)
    for step in example.steps:
        for call in ast.walk(ast.parse(step)):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "add_memory":
                given = {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
                assert all(fact.get("quote", "") in given["episode_body"] for fact in given["facts"])
