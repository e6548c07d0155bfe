"""Clean schemas, forgiving input."""

from typing import Annotated

import pytest
from pydantic import BaseModel, Field, TypeAdapter

from graphiti_pkm.core.model.requests import FactInput, Facts, Strings
from graphiti_pkm.server.tools.texts import only_naming
from graphiti_pkm.toolkit.schema import _inlined, tidy_input, tidy_output


class Part(BaseModel):
    """Not a text for the model."""

    title: str | None = None
    value: str | float | None = None


class Sample(BaseModel):
    title: Annotated[str | None, Field(description="a parameter named title stays")] = None
    parts: list[Part] | None = None
    count: int = Field(default=1, ge=0, le=9)


def test_titles_null_unions_and_null_defaults_go_while_a_field_named_title_stays() -> None:
    schema = tidy_input(Sample.model_json_schema())
    assert schema["properties"] == {
        "title": {"type": "string", "description": "a parameter named title stays"},
        "parts": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"title": {"type": "string"}, "value": {"type": ["string", "number"]}},
            },
        },
        "count": {"default": 1, "minimum": 0, "maximum": 9, "type": "integer"},
    }
    assert "$defs" not in schema


def test_an_output_schema_keeps_null_because_answers_hold_nulls() -> None:
    assert tidy_output(Part.model_json_schema())["properties"]["title"] == {"type": ["string", "null"]}


LONG = {"type": "object", "properties": {f"property{number}": {"type": "string"} for number in range(9)}}


def test_a_definition_stands_where_it_is_used_if_that_is_no_longer() -> None:
    once, often, short = ({"$ref": f"#/$defs/{name}"} for name in ("Once", "Often", "Short"))
    schema = {
        "type": "object",
        "properties": {
            "once": once | {"description": "said here"},
            "often": {"type": "array", "items": often},
            "again": {"anyOf": [often, {"type": "null"}]},
            "short": short,
            "brief": {"additionalProperties": short},
        },
        "$defs": {
            "Once": {"type": "object", "properties": {"part": often}},
            "Often": LONG,
            "Short": {"type": "string"},
        },
    }
    assert _inlined(schema) == {
        "type": "object",
        "properties": {
            "once": {"type": "object", "properties": {"part": often}, "description": "said here"},
            "often": {"type": "array", "items": often},
            "again": {"anyOf": [often, {"type": "null"}]},
            "short": {"type": "string"},
            "brief": {"additionalProperties": {"type": "string"}},
        },
        "$defs": {"Often": LONG},
    }


def test_a_definition_that_refers_to_itself_stays() -> None:
    tree = {"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}}}
    schema = {"type": "object", "properties": {"tree": {"$ref": "#/$defs/Tree"}}, "$defs": {"Tree": tree}}
    assert _inlined(schema) == schema


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        ("a", ["a"]),
        (["a", "b"], ["a", "b"]),
        ('["a", "b"]', ["a", "b"]),
        ("[a", ["[a"]),
        ("", []),
        (" ", []),
    ],
)
def test_a_list_of_texts_is_taken_in_every_form_models_send(given: object, taken: list[str]) -> None:
    assert TypeAdapter(Strings).validate_python(given) == taken


@pytest.mark.parametrize(
    "given",
    [
        {"source": "me", "relation": "R", "kind": None},
        [{"source": "me", "relation": "R"}],
        '{"source": "me", "relation": "R"}',
        '[{"source": "me", "relation": "R", "unit": null}]',
    ],
)
def test_a_list_of_facts_is_taken_in_every_form_models_send(given: object) -> None:
    assert TypeAdapter[list[FactInput]](Facts).validate_python(given) == [FactInput(source="me", relation="R")]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Use alpha. Then use beta.", "Use alpha."),
        ("from alpha; 8 characters do", "from alpha; 8 characters do"),
        ("from alpha; beta too", "from alpha."),
        ("1. beta it.\n2. alpha it.", "2. alpha it."),
        ("alphabeta stays", "alphabeta stays"),
        ("only beta", ""),
    ],
)
def test_clauses_that_name_a_tool_which_is_off_are_dropped(text: str, kept: str) -> None:
    assert only_naming(text, ["alpha", "beta"], ["alpha"]) == kept
