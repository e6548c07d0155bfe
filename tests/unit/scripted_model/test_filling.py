"""Answers to schemas that the scripted model does not know."""

from typing import Literal

import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel
from tests.scripted_model.filling import filled
from tests.scripted_model.model_request import Json


class Address(BaseModel):
    city: str
    zip: int | None = None


class Anything(BaseModel):
    title: str
    age: int | None
    height: float | None
    active: bool
    kind: Literal["a", "b"]
    home: Address
    nicknames: list[str]


def test_every_field_has_a_value_of_its_type() -> None:
    answer = filled(Anything.model_json_schema())
    assert Anything.model_validate(answer) == Anything(
        title="",
        age=None,
        height=None,
        active=True,
        kind="a",
        home=Address(city=""),
        nicknames=[],
    )


def test_stated_values_take_the_type_of_their_field() -> None:
    stated = {"title": "chief", "age": "41", "height": "1.7", "active": "no", "nicknames": "An, Annie", "other": "x"}
    answer = filled(Anything.model_json_schema(), stated)
    assert {name: answer[name] for name in stated if name in answer} == {
        "title": "chief",
        "age": 41,
        "height": 1.7,
        "active": False,
        "nicknames": ["An", "Annie"],
    }
    assert "other" not in answer


@pytest.mark.parametrize("schema", [Anything.model_json_schema(), {"type": "object", "properties": {}}])
def test_an_answer_fits_its_schema(schema: Json) -> None:
    Draft202012Validator(schema).validate(filled(schema))
