"""No argument of any tool is unbounded, and neither is a call as a whole."""

import asyncio
import re
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from tests.fakes import FakeEmbedder
from tests.protocol.support import EVERYTHING, TOGETHER, World, definitions, error_of

from graphiti_pkm.core.model.records import Vector
from graphiti_pkm.settings.loader import Settings

Json = dict[str, Any]
TOOLS = sorted(TOGETHER)
MOST_CHARACTERS = 2_000
"""Of texts whose schema says nothing else: their errors state it."""
STATED = re.compile(r"(at most|more than|may have|1 to) [\d,]+")
UUID = "11111111-1111-4111-8111-111111111111"


async def schema_of(tool: str) -> Json:
    return next(one.input_schema for one in await definitions(EVERYTHING) if one.name == tool)


def resolved(node: Json, schema: Json) -> Json:
    return schema["$defs"][node["$ref"].rpartition("/")[2]] if "$ref" in node else node


def valid(node: Json, schema: Json, name: str = "") -> Any:
    """The smallest value that fits; of texts one that is good for most parameters."""
    node = resolved(node, schema)
    if "enum" in node:
        return node["enum"][0]
    if "anyOf" in node:
        return valid(node["anyOf"][0], schema, name)
    kind = node["type"][0] if isinstance(node["type"], list) else node["type"]
    if kind == "object":
        return {key: valid(node["properties"][key], schema, key) for key in node.get("required", ())}
    if kind == "array":
        return [valid(node["items"], schema, name)]
    if kind == "string":
        return UUID if "uuid" in name else "2026-03-01" if name == "since" else "default"
    return {"boolean": False, "integer": node.get("minimum", 1), "number": 1.0}[kind]


def too_large(node: Json, schema: Json, name: str) -> Iterator[tuple[str, Any]]:
    """Values of a parameter of which one part is beyond its maximum, each with where it is."""
    node = resolved(node, schema)
    if "anyOf" in node:
        for branch in node["anyOf"]:
            yield from too_large(branch, schema, name)
        return
    kinds = [node.get("type")] if isinstance(node.get("type"), str) else node.get("type", [])
    if "enum" not in node and "string" in kinds:
        yield name, "x" * (node.get("maxLength", MOST_CHARACTERS) + 1)
    if "array" in kinds:
        assert "maxItems" in node, f"{name}: a list without a maximum"
        yield name, [valid(node["items"], schema, name)] * (node["maxItems"] + 1)
        for where, item in too_large(node["items"], schema, name):
            yield f"{where}[0]", [item]
    if "object" in kinds and "properties" in node:
        least = valid(node, schema)
        for key, part in node["properties"].items():
            for where, value in too_large(part, schema, key):
                yield f"{name}.{where}", least | {key: value}
    elif "object" in kinds:
        yield name, {"text": "x" * 10_001}
        yield name, {f"name {n}": "x" * 100 for n in range(200)}


def refused(result: Any) -> bool:
    """Whether a call was refused with the maximum, or each of its items was."""
    if result.is_error:
        return STATED.search(error_of(result)) is not None
    failed = result.structured_content.get("failed")
    return bool(failed) and STATED.search(str(failed)) is not None


@pytest.mark.parametrize("tool", TOOLS)
async def test_every_text_list_and_object_has_a_maximum_which_its_error_states(tool: str) -> None:
    schema = await schema_of(tool)
    least = valid({key: part for key, part in schema.items() if key != "$defs"} | {"type": "object"}, schema)
    async with World(EVERYTHING, writes_really=True).connect() as client:
        for name, node in schema["properties"].items():
            for where, value in too_large(node, schema, name):
                result = await client.call_tool(tool, least | {name: value})
                assert refused(result), f"{tool} took {where} beyond its maximum: {str(result.content)[:300]}"


async def test_a_call_that_holds_too_much_in_all_is_refused_before_it_is_looked_at() -> None:
    async with World(EVERYTHING, writes_really=True).connect() as client:
        nested = [[0] * 10_000, [0] * 10_000, [0] * 10_000]
        for arguments in (
            {"episode_body": "Hello.", "facts": nested},
            {"episode_body": "Hello.", "entities": [{"name": "Ada", "aliases": ["x" * 300_000] * 11}]},
        ):
            message = error_of(await client.call_tool("add_memory", arguments))
            assert re.search(r"at most [\d,]+ (values|characters) in all", message)
            assert "Split it into several calls" in message
            assert "Nothing was stored" in message


async def test_a_list_as_a_json_text_is_bounded_as_the_list_is() -> None:
    async with World(EVERYTHING, writes_really=True).connect() as client:
        names = "[" + ",".join(['"x"'] * 101) + "]"
        message = error_of(await client.call_tool("search_nodes", {"query": "x", "group_ids": names}))
        assert "group_ids has 101 items, at most 100 are allowed" in message


async def test_names_of_a_call_have_a_maximum_together() -> None:
    entities = [{"name": f"Person {n}", "aliases": [f"P {n} {k}" for k in range(40)]} for n in range(60)]
    async with World(EVERYTHING, writes_really=True).connect() as client:
        message = error_of(await client.call_tool("add_memory", {"episode_body": "Hello.", "entities": entities}))
    assert "2,460 names" in message
    assert "one call takes at most 2,000" in message
    assert "Nothing was stored" in message
    assert "in several calls" in message


async def test_what_is_said_beside_the_body_has_a_maximum_together() -> None:
    facts = [
        {"source": "Ada", "relation": "KNOWS", "target": f"P{n}", "fact": "x" * 2_000, "quote": "y" * 5_000}
        for n in range(60)
    ]
    async with World(EVERYTHING, writes_really=True).connect() as client:
        message = error_of(await client.call_tool("add_memory", {"episode_body": "Hello.", "facts": facts}))
    assert "421,370 characters in all; one call takes at most 250,000" in message
    assert "Nothing was stored" in message


async def test_a_long_journal_entry_with_sixty_facts_passes() -> None:
    body = " ".join(f"On day {n} Ada met Person {n} in Town {n} and they talked about Topic {n}." for n in range(60))
    entities = [{"name": f"Person {n}", "aliases": [f"P{n}", f"Dr {n}"], "summary": "s" * 300} for n in range(60)]
    facts = [
        {
            "source": "Ada",
            "relation": "MET",
            "target": f"Person {n}",
            "fact": f"Ada met Person {n} in Town {n} on day {n}.",
            "quote": f"On day {n} Ada met Person {n} in Town {n}",
            "replaces": [f"Person {k}" for k in range(3)],
        }
        for n in range(60)
    ]
    async with World(EVERYTHING, writes_really=True).connect() as client:
        result = await client.call_tool(
            "add_memory", {"episode_body": body * 20, "entities": entities, "facts": facts, "name": "A long day"}
        )
    assert not result.is_error, result.content


class NeverAnswers(FakeEmbedder):
    """Until it is told to go on."""

    def __init__(self) -> None:
        super().__init__()
        self.goes_on = asyncio.Event()

    async def embed(self, texts: Sequence[str], patience: float | None = None) -> list[Vector]:
        await self.goes_on.wait()
        return await super().embed(texts, patience)


async def test_a_call_beyond_its_time_is_stopped_and_stores_nothing() -> None:
    embedder = NeverAnswers()
    world = World(Settings(call_seconds=0.05), embedder=embedder, writes_really=True)
    async with world.connect() as client:
        found = await client.call_tool("search_nodes", {"query": "Ada"})
        assert found.structured_content is not None
        assert found.structured_content["code"] == "took_too_long"
        assert "longer than 0.05 s and was stopped" in error_of(found)
        message = error_of(await client.call_tool("add_memory", {"episode_body": "Ada moved to Lyon."}))
        assert "Nothing was changed" in message
        assert "several calls" in message
        embedder.goes_on.set()
        answer = await client.call_tool("get_episodes", {})
        assert answer.structured_content is not None
        assert answer.structured_content["total"] == 0
