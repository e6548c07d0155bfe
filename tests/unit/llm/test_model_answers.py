import json

import pytest
from pydantic import BaseModel, Field

from graphiti_pkm.llm.model_answers import Unusable, read_answer


class Named(BaseModel):
    name: str


class Names(BaseModel):
    names: list[Named] = Field(default_factory=list)


ANSWER = {"names": [{"name": "Anna {Berg} wrote </think> and ```"}]}
JSON = json.dumps(ANSWER, indent=1)


@pytest.mark.parametrize(
    "text",
    [
        JSON,
        f"\n {JSON}\n",
        f"```json\n{JSON}\n```",
        f"```\n{JSON}\n```\n",
        f"~~ Certainly!\n\n```JSON\r\n{JSON}\r\n``` Anything else?",
        f"Here it is: {JSON} I hope that helps.",
        f'<think>\nPerhaps {{"names": []}}? No: ```json\n{{}}\n```\n</think>\n{JSON}',
        f"It may be {{}}, or not.</think>{JSON}",
        f"<thinking>{{</thinking>```json\n{JSON}\n```",
    ],
)
def test_json_is_found_in_fences_after_thoughts_and_between_courtesies(text: str) -> None:
    assert read_answer(text, Names) == ANSWER


@pytest.mark.parametrize(
    ("text", "is_cut", "reason"),
    [
        ("", False, "empty"),
        (" \n", True, "cut off before it began"),
        ("Certainly!", False, "no JSON"),
        (JSON[:-4], True, "cut off"),
        ("<think>and so on and on", True, "cut off"),
        ('<think>{"names": [] ', True, "cut off"),
        ('[{"name": "Anna Berg"}]', False, "no JSON object"),
        ('{"names": [{"name": 1}]}', False, "of another shape"),
        ('{"unexpected": {"shape": [1]}}', False, "of another shape"),
        ("null", False, "no JSON"),
        ('<think>Is it {"names": []}?', True, "cut off"),
        ("{" * 100_000, False, "no JSON"),
        ('{"names": [' + '{"a":' * 100_000, False, "no JSON"),
    ],
)
def test_what_cannot_be_used_is_told_by_its_kind_alone(text: str, is_cut: bool, reason: str) -> None:
    with pytest.raises(Unusable) as raised:
        read_answer(text, Names, is_cut=is_cut)
    assert raised.value.reason == reason
    assert str(raised.value) == reason


def test_the_model_is_told_which_field_is_wrong() -> None:
    with pytest.raises(Unusable) as raised:
        read_answer('{"names": [{"name": "a"}, {"nom": "b"}]}', Names)
    assert raised.value.detail == "names.1.name: Field required"


def test_nothing_found_is_an_answer_and_so_is_a_whole_one_at_the_limit() -> None:
    assert read_answer("{}", Names) == {}
    assert read_answer(JSON, Names, is_cut=True) == ANSWER
    assert read_answer('{"anything": 1}', None) == {"anything": 1}


def test_what_no_database_takes_is_left_out() -> None:
    text = r'{"names": [{"name": "An\u0000na\ud800\t\ud83d\ude00\u001b"}]}'
    assert read_answer(text, Names) == {"names": [{"name": "Anna\t\U0001f600"}]}
