"""The language that the scripted model understands."""

import json

import pytest
from tests.scripted_model.language import key, statement_of, understand


def test_a_statement_has_two_ends_a_relation_and_the_times_it_names() -> None:
    (one,) = understand("Anna Berg WORKS_AT Globex Inc since 2020 until 2022-05-31.").statements
    assert (one.source, one.relation, one.target) == ("Anna Berg", "WORKS_AT", "Globex Inc")
    assert (one.since, one.until) == ("2020-01-01T00:00:00Z", "2022-05-31T00:00:00Z")
    assert one.sentence == "Anna Berg WORKS_AT Globex Inc since 2020 until 2022-05-31."


@pytest.mark.parametrize(
    ("told", "time"),
    [
        ("2024", "2024-01-01T00:00:00Z"),
        ("2024-03", "2024-03-01T00:00:00Z"),
        ("2024-03-05T10:30:00Z", "2024-03-05T10:30:00Z"),
        ("2024-03-05T10:30:00+02:00", "2024-03-05T08:30:00Z"),
    ],
)
def test_times_are_told_as_precisely_as_one_likes(told: str, time: str) -> None:
    statement = statement_of(f"Anna LIVES_IN Oslo since {told}.")
    assert statement is not None
    assert (statement.target, statement.since) == ("Oslo", time)


def test_prose_is_understood_as_nothing() -> None:
    nothing = understand("Today it rained. NASA called: IBM will be bought, Version 2.0 since 2024.")
    assert (nothing.names, nothing.statements, nothing.types, nothing.attributes) == ((), (), (), ())


def test_each_name_is_an_entity_once_in_the_order_it_occurs() -> None:
    text = "Tom is a Person. ANNA WORKS_AT Globex.\nLunch with [[Bo]] and [[anna]]. Globex has seat: Oslo."
    understood = understand(text)
    assert understood.names == ("Tom", "ANNA", "Globex", "Bo")
    assert understood.type_of("tom") == "Person"
    assert understood.attributes_of("globex") == {"seat": "Oslo"}


def test_a_speaker_is_an_entity_only_of_a_message() -> None:
    text = "Tom Vance: Anna WORKS_AT Globex.\nAnna: Tom has age: 41."
    spoken, written = understand(text, speakers=True), understand(text)
    assert spoken.names == ("Tom Vance", "Anna", "Globex", "Tom")
    assert written.names == ("Anna", "Globex", "Tom")
    assert [one.sentence for one in spoken.statements] == ["Anna WORKS_AT Globex."]
    assert spoken.attributes_of("Tom") == {"age": "41"}


def test_the_strings_of_json_are_read() -> None:
    text = json.dumps({"note": ["Anna WORKS_AT Globex.", {"more": "Globex SITS_IN Oslo"}], "n": 3})
    assert [one.relation for one in understand(text).statements] == ["WORKS_AT", "SITS_IN"]


@pytest.mark.parametrize(
    ("other", "contradicts"),
    [
        ("Anna WORKS_AT Initech since 2021.", True),
        ("anna WORKS_AT Initech.", True),
        ("Anna WORKS_AT Globex since 2021.", False),
        ("Anna LIVES_IN Initech.", False),
        ("Tom WORKS_AT Initech.", False),
    ],
)
def test_one_relation_to_another_target_is_a_contradiction(other: str, contradicts: bool) -> None:
    one, two = statement_of("Anna WORKS_AT Globex since 2020."), statement_of(other)
    assert one is not None
    assert two is not None
    assert one.contradicts(two) is contradicts


def test_relations_with_many_targets_do_not_contradict() -> None:
    one, two = statement_of("Anna WORKS_WITH Tom."), statement_of("Anna WORKS_WITH Bo.")
    assert one is not None
    assert two is not None
    assert not one.contradicts(two)


def test_names_are_the_same_by_their_letters_and_digits() -> None:
    assert key("Anna-Berg, Dr.") == key("anna berg DR")
    assert key("Anna Berg") != key("Anna Borg")
