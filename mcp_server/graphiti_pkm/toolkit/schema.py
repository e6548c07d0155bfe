"""Parameter types of the tools, and the simplification of the schemas that pydantic generates for them.

Every conversation pays for every token of a schema, so titles, unions with null and null defaults are removed from the
input schemas. What remains is the subset of JSON Schema that all model providers accept: no references, no unions of
types, no booleans for additionalProperties. The server still accepts null, a single value in place of a list, and JSON
in a string.
"""

import functools
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from pydantic.json_schema import models_json_schema

from graphiti_pkm.core.model.answers import Answer


def as_object(value: object) -> object:
    """The object, which models sometimes send as a JSON string."""
    if isinstance(value, str) and value.strip().startswith("{"):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


Json: TypeAlias = dict[str, Any]

_DEFINITIONS = "#/$defs/"


def tidy_input(schema: Json, describe: Callable[[str], str] = str) -> Json:
    """An input schema without titles, references, null unions, null defaults and descriptions of whole models."""
    whole = {key: value for key, value in schema.items() if key != "$defs"}
    return _Tidy(drop_null=True, describe=describe, definitions=schema.get("$defs", {})).node(whole)


def tidy_output(schema: Json) -> Json:
    """An output schema without titles and descriptions; ``null`` is kept, because answers contain nulls."""
    return _Tidy(drop_null=False, describe=str).node(schema)


def answer_schema(answer: type[Answer]) -> Json:
    """The output schema of a tool with this answer, which errors also match.

    The npm client also validates the structured content of errors against it, and hides an error that does not match
    from its model. Therefore no top-level field is required.
    """
    of_scratch_graphs = _is_of_scratch_graphs(answer)
    names, definitions = _schemas(
        tuple(one for one in _below(Answer) if _is_of_scratch_graphs(one) == of_scratch_graphs)
    )
    whole = {name: part for name, part in definitions[names[answer]].items() if name != "required"}
    used: dict[str, Json] = {}
    todo = list(_references(whole))
    while todo:
        name = todo.pop()
        if name not in used:
            used[name] = definitions[name]
            todo += _references(definitions[name])
    return _inlined(tidy_output(whole | ({"$defs": dict(sorted(used.items()))} if used else {})))


def _inlined(schema: Json) -> Json:
    """The schema with definitions in place of the references to them, where it does not get longer by that."""
    definitions: dict[str, Json] = dict(schema.get("$defs", {}))
    whole = {key: part for key, part in schema.items() if key != "$defs"}
    while name := next((name for name in definitions if _is_shorter_inline(name, whole, definitions)), None):
        part = definitions.pop(name)
        whole = _replaced(whole, name, part)
        definitions = {other: _replaced(node, name, part) for other, node in definitions.items()}
    return whole | ({"$defs": definitions} if definitions else {})


def _is_shorter_inline(name: str, whole: Json, definitions: Mapping[str, Json]) -> bool:
    uses = sum(used == name for node in (whole, *definitions.values()) for used in _references(node))
    if name in _references(definitions[name]):
        return False
    part = len(json.dumps(definitions[name], separators=(",", ":")))
    reference = len(f'{{"$ref":"{_DEFINITIONS}{name}"}}')
    return uses * part <= uses * reference + part + len(f'"{name}":,')


def _replaced(node: Any, name: str, part: Json) -> Any:
    """A copy in which the references to a definition are replaced by it."""
    if isinstance(node, list):
        return [_replaced(one, name, part) for one in node]
    if not isinstance(node, dict):
        return node
    copied = {key: _replaced(one, name, part) for key, one in node.items()}
    if copied.get("$ref") != f"{_DEFINITIONS}{name}":
        return copied
    return part | {key: one for key, one in copied.items() if key != "$ref"}


@functools.cache
def _schemas(answers: tuple[type[Answer], ...]) -> tuple[dict[type[Answer], str], dict[str, Json]]:
    """The names and schemas of all answers about memory that are loaded, or of all about scratch graphs.

    They are generated together because they share most of their parts and the server's start waits for them.
    """
    references, whole = models_json_schema([(answer, "validation") for answer in answers])
    names = {answer: references[answer, "validation"]["$ref"].rpartition("/")[2] for answer in answers}
    return names, whole["$defs"]


def _is_of_scratch_graphs(answer: type[Answer]) -> bool:
    return answer.__module__.startswith("graphiti_pkm.capabilities.scratch.")


def _below(answer: type[Answer]) -> Iterator[type[Answer]]:
    for below in answer.__subclasses__():
        yield below
        yield from _below(below)


def _references(node: object) -> Iterator[str]:
    """Names of the definitions that a schema refers to."""
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"].rpartition("/")[2]
        for part in node.values():
            yield from _references(part)
    elif isinstance(node, list):
        for part in node:
            yield from _references(part)


@dataclass(frozen=True)
class _Tidy:
    drop_null: bool
    describe: Callable[[str], str]
    definitions: Mapping[str, Json] = field(default_factory=dict)
    """Schemas by name, which replace the references to them."""

    def node(self, schema: Json) -> Json:
        node = {key: value for key, value in self._resolved(schema).items() if key != "title"}
        if "properties" in node:
            node.pop("description", None)
        if isinstance(node.get("additionalProperties"), bool):  # google-genai accepts no boolean here
            del node["additionalProperties"]
        for key in ("properties", "$defs"):
            if key in node:
                node[key] = {name: self.node(part) for name, part in node[key].items()}
        for key in ("items", "additionalProperties"):
            if isinstance(node.get(key), dict):
                node[key] = self.node(node[key])
        if "anyOf" in node:
            node = self._union(node, [self.node(part) for part in node["anyOf"]])
        if "default" in node and node["default"] is None:
            del node["default"]
        if "description" in node:
            node["description"] = self.describe(node["description"])
        return {key: value for key, value in node.items() if (key, value) != ("description", "")}

    def _resolved(self, schema: Json) -> Json:
        definition = self.definitions.get(schema.get("$ref", "").rpartition("/")[2])
        if definition is None:
            return schema
        return definition | {key: value for key, value in schema.items() if key != "$ref"}

    def _union(self, node: Json, branches: list[Json]) -> Json:
        """The shortest form of a union: without null, and with plain types as a list of types."""
        rest = {key: value for key, value in node.items() if key != "anyOf"}
        if self.drop_null:
            branches = [branch for branch in branches if branch != {"type": "null"}]
        if len(branches) == 1:
            return branches[0] | rest
        if all(set(branch) == {"type"} for branch in branches):
            return {"type": [branch["type"] for branch in branches]} | rest
        return {"anyOf": branches} | rest
