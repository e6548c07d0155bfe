"""What strict clients take of a tool's schema: the part of JSON Schema that OpenAI, Gemini and Anthropic all accept."""

from typing import Any

import pytest
from mcp.client import Client
from tests.protocol.scratch_support import call
from tests.protocol.support import EVERYTHING, SPECS, World, answered, definition_named
from tests.protocol.test_definitions import nodes

TOOLS = sorted(SPECS)
KEYWORDS = {
    "type", "description", "default", "enum",
    "properties", "required",
    "items", "minItems", "maxItems",
    "minimum", "maximum", "minLength", "maxLength", "pattern",
}  # fmt: skip
"""What an input schema may say. additionalProperties is not among it: google-genai fails on true and on false."""
TYPES = {"object", "array", "string", "integer", "number", "boolean"}


async def schema_of(name: str, kind: str) -> dict[str, Any]:
    schema: dict[str, Any] = (await definition_named(name))[kind]
    return schema


@pytest.mark.parametrize("name", TOOLS)
async def test_an_input_schema_uses_only_what_every_provider_accepts(name: str) -> None:
    for node in nodes(await schema_of(name, "inputSchema")):
        assert set(node) <= KEYWORDS
        assert node["type"] in TYPES
        assert ("items" in node) == (node["type"] == "array")
        assert not {"maxItems", "minItems"} & set(node) or node["type"] == "array"
        assert not {"maxLength", "minLength", "pattern"} & set(node) or node["type"] == "string"
        assert set(node.get("required", ())) <= set(node.get("properties", {}))


@pytest.mark.parametrize("name", TOOLS)
async def test_an_output_schema_is_open_nowhere_and_refers_to_what_is_there(name: str) -> None:
    schema = await schema_of(name, "outputSchema")
    for node in nodes(schema):
        assert node.get("additionalProperties") is not True
        if "$ref" in node:
            assert node["$ref"].removeprefix("#/$defs/") in schema["$defs"]


@pytest.mark.parametrize("value", [6.5, 5, "4-5"])
async def test_a_value_may_still_come_as_a_number(client: Client, world: World, value: object) -> None:
    facts = [{"source": "me", "relation": "SLEPT", "kind": "reading", "measure": "sleep", "value": value}]
    answered(await client.call_tool("add_memory", {"episode_body": "I slept.", "facts": facts}))
    assert world.writing.requests[0].facts[0].value == value


@pytest.mark.parametrize("replaces", ["Acme", ["Acme"], '["Acme"]'])
async def test_what_a_fact_replaces_may_still_come_as_one_text(client: Client, world: World, replaces: object) -> None:
    facts = [{"source": "Tom", "relation": "WORKS_AT", "target": "Initech", "replaces": replaces}]
    answered(await client.call_tool("add_memory", {"episode_body": "Tom works at Initech.", "facts": facts}))
    assert world.writing.requests[0].facts[0].replaces == ["Acme"]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_properties_of_any_name_and_type_are_still_accepted(mode: Any) -> None:
    given = {"owner": "Tom", "lines": 12, "tags": ["a", "b"], "is_old": True}
    async with World(EVERYTHING).connect(mode) as client:
        await call(client, "add_node", label="A", properties=given)
        listed = (await call(client, "list_nodes"))["nodes"]
    assert listed[0]["properties"] == given
