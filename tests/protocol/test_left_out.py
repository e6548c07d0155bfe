"""Blank optional arguments: models in strict mode fill every field, and "" stands for what they leave out."""

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from tests.corpus import HUB, fixed_uuid, hub, load
from tests.e2e.isolation_attacks import arguments_of
from tests.e2e.isolation_world import Records
from tests.protocol.support import EVERYTHING, REFERENCE, SPECS, Mode, World, text, told

from graphiti_pkm.core.model.requests import FREE_TEXTS
from graphiti_pkm.core.signing import Signer
from graphiti_pkm.errors import InvalidInput
from graphiti_pkm.server.tools.guard import GuardedTool, guarded
from graphiti_pkm.toolkit.tool import ToolSpec

LINES = SPECS
OWN = Records("t1", HUB, fixed_uuid("hub fact 0"), fixed_uuid("an episode"))
ANY: list[object] = ["", " \n", "\u200b\ufeff \u200d", "\u3164\u2800", None]
WORDS = ("null", "None", "undefined")
"""What programs write for a value that is not there. A free text may say so and mean it."""
BLANK: dict[str, list[object]] = {"array": [*ANY, [], "[]", [""], [None]], "object": [*ANY, {}, "{}"]}
_MADE = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})?\b")
"""Uuids, which differ from write to write."""


def built(name: str) -> GuardedTool:
    return guarded(LINES[name])


def base(tool: GuardedTool) -> dict[str, Any]:
    """A call with what the tool requires alone."""
    (name,) = (name for name, line in LINES.items() if line is tool.spec)
    given = arguments_of(name, OWN)
    return {name: given[name] for name in tool.parameters.get("required", ())}


def optional(schema: dict[str, Any]) -> Iterator[tuple[str, object]]:
    """Each optional field of an object with each blank value that it may come with."""
    for name, field in schema["properties"].items():
        if name not in schema.get("required", ()):
            for value in BLANK.get(field["type"], ANY):
                yield name, value


def items(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The lists of objects that a tool takes, with the schema of an object."""
    for name, field in schema["properties"].items():
        if "properties" in field.get("items", {}):
            yield name, field["items"]


@pytest.mark.parametrize("name", sorted(LINES))
def test_a_blank_optional_argument_counts_as_left_out(name: str) -> None:
    tool = built(name)
    given = base(tool)
    without = tool.validated(given)
    for field, value in optional(tool.parameters):
        assert tool.validated({**given, field: value}) == without, (field, value)


@pytest.mark.parametrize("name", sorted(name for name in LINES if list(items(built(name).parameters))))
def test_a_blank_optional_field_of_an_item_counts_as_left_out(name: str) -> None:
    tool = built(name)
    as_texts = ("[]", "{}")  # taken of whole arguments alone
    for where, schema in items(tool.parameters):
        item = dict.fromkeys(schema["required"], "Tom")
        without = tool.validated({**base(tool), where: [item]})
        for field, value in optional(schema):
            if value in as_texts:
                continue
            assert tool.validated({**base(tool), where: [{**item, field: value}]}) == without, (where, field, value)


@pytest.mark.parametrize("name", sorted(LINES))
def test_a_word_for_nothing_counts_as_left_out_unless_the_argument_is_a_free_text(name: str) -> None:
    tool = built(name)
    given = base(tool)
    without = tool.validated(given)
    for field, schema in tool.parameters["properties"].items():
        assert not set(WORDS) & set(schema.get("enum", ()))
        if field in tool.parameters.get("required", ()):
            continue
        for word in WORDS:
            validated = tool.validated({**given, field: word})
            said = [word] if schema.get("type") == "array" else word
            assert validated == (
                without.model_copy(update={field: said}) if field in FREE_TEXTS and "enum" not in schema else without
            ), field


def test_a_word_for_nothing_in_an_item_counts_as_left_out_unless_it_is_a_free_text() -> None:
    tool = built("add_memory")
    fact = {"source": "Tom", "relation": "SAYS", "target": "None"}
    blank = dict.fromkeys(("kind", "valid_at", "invalid_at", "replaces", "change"), "null")
    (found,) = tool.validated({**base(tool), "facts": [{**fact, **blank}]}).facts
    assert found == tool.validated({**base(tool), "facts": [fact]}).facts[0]
    assert found.target == "None"


@pytest.mark.parametrize("name", sorted(LINES))
def test_a_blank_required_argument_is_not_left_out(name: str) -> None:
    tool = built(name)
    given = base(tool)
    for field in given:
        with suppress(InvalidInput):
            validated = tool.validated({**given, field: ""})
            assert getattr(validated, field) in ("", [])  # the service refuses it, or does nothing


NEEDED: dict[str, dict[str, Any]] = {
    "search_nodes": {"query": "HUB"},
    "search_memory_facts": {"query": "HUB"},
    "what_changed": {"since": "2020"},
    "forget": {"fact_uuid": OWN.fact},
    "update_entity": {"summary": "A hub."},
    "split_entity": {"fact_uuids": [OWN.fact]},
    "load_memory_graph": {"entity_uuids": [HUB]},
    "compare_graphs": {"other": "two"},
}
"""What else a call needs to be answered: one of several optional arguments, or another graph."""
REFUSED = {
    *("delete_episode", "summarize_saga", "build_communities", "update_project", "get_project_memories"),
    *("merge_entities", "unmerge_entities", "add_evidence", "promote"),
}
"""Tools that refuse this call: there is no such episode, saga, model, project, document or second entity."""


@pytest.mark.parametrize("name", sorted(LINES))
async def test_a_call_that_fills_every_field_is_answered_as_one_without_them(name: str) -> None:
    tool = built(name)
    given = base(tool) | NEEDED.get(name, {})
    filled = dict.fromkeys(tool.parameters["properties"], "") | given
    assert await answer(LINES[name], filled) == await answer(LINES[name], given)


@pytest.mark.parametrize("name", sorted(LINES))
async def test_the_older_protocol_gets_the_same_answer_or_error(name: str) -> None:
    given = base(built(name)) | NEEDED.get(name, {})
    assert await answer(LINES[name], given, "legacy") == await answer(LINES[name], given)


async def answer(line: ToolSpec, arguments: dict[str, Any], mode: Mode = "auto") -> str:
    """The whole answer of a server of its own, with what differs from write to write left out."""
    tools = (line.name, "add_edges", "save_graph")
    is_alone = line != LINES.get(line.name)
    settings = (
        REFERENCE.model_copy(update={"default_group": OWN.group})
        if is_alone
        else EVERYTHING.model_copy(update={"tools": tools})
    )
    world = World(settings, writes_really=True, signer=Signer(bytes(32)))
    await load(world.graph, hub())
    edge = {"source": "Tom", "target": "Heron", "relation": "KNOWS"}
    async with world.connect(mode) as client:
        for graph in ("default", "two"):
            await client.call_tool("add_edges", {"edges": [edge], "create_missing": True, "graph": graph})
        await client.call_tool("save_graph", {})
        result = await client.call_tool(line.name, arguments)
    assert result.is_error == (line.name in REFUSED), result.content
    if result.is_error:
        return text(result)
    assert line.returns.text_form != "lean" or not list(empty_fields(told(result)))
    return _MADE.sub("", result.model_dump_json(exclude={"meta"}))  # the newer protocol names the server there


def empty_fields(value: object) -> Iterator[object]:
    """What a text leaves out, where it is in one all the same."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for part in parts:
        if part is None or part in ("", [], {}):
            yield value
        yield from empty_fields(part)
