"""Records to what the database stores and back."""

import pytest
from tests.builders import a_fact, an_entity, an_episode, at

from graphiti_pkm.storage.graph import mapping

FACT_ROW = {
    "uuid": "f1",
    "group_id": "t1",
    "name": "KNOWS",
    "fact": "Sarah knows Tom.",
    "source_node_uuid": "a",
    "source_name": "Sarah",
    "cause": "",
    "is_cause_confidential": False,
    "outcome": None,
    "target_node_uuid": "b",
    "target_name": None,
    "episodes": ["e1"],
    "created_at": "2026-01-01T00:00:00+00:00",
    "expired_at": None,
    "valid_at": None,
    "invalid_at": None,
    "reference_time": None,
    "attributes": [],
}


def test_an_edge_without_a_kind_is_a_state() -> None:
    fact = mapping.fact(FACT_ROW)
    assert (fact.kind, fact.voided, fact.target_name, fact.episodes) == ("state", False, "", ("e1",))


def test_our_names_with_values_of_a_foreign_shape_are_attributes() -> None:
    foreign = [["kind", "odd"], ["voided", "maybe"], ["value", 7], ["quote_start", "x"], ["unit", "h"]]
    fact = mapping.fact({**FACT_ROW, "attributes": foreign})
    assert (fact.kind, fact.voided, fact.value, fact.quote_start, fact.unit) == ("state", False, None, None, "h")
    assert fact.attributes == {"kind": "odd", "voided": "maybe", "value": 7, "quote_start": "x"}


def test_an_instant_without_offset_is_utc() -> None:
    fact = mapping.fact({**FACT_ROW, "valid_at": "2025-01-01T00:00:00"})
    assert fact.valid_at == at(2025)


def test_instants_are_stored_as_graphiti_stores_them() -> None:
    sarah = an_entity("Sarah")
    stored = mapping.fact_properties(a_fact(sarah, sarah, valid_at=at(1660, 5, 1, 12)), scope="s0")
    assert stored["valid_at"] == at(1660, 5, 1, 12)
    assert stored["invalid_at"] is None


@pytest.mark.parametrize("name", ["uuid", "fact", "search_text", "fact_embedding", "kind", "episodes"])
def test_an_attribute_cannot_take_the_place_of_a_field(name: str) -> None:
    sarah = an_entity("Sarah")
    fact = a_fact(sarah, sarah)
    stored = mapping.fact_properties(fact.model_copy(update={"attributes": {name: "planted"}}), scope="s0")
    assert stored.get(name) != "planted"


def test_nested_attributes_become_json_text() -> None:
    stored = mapping.entity_properties(an_entity(attributes={"flat": ["a", 1], "deep": {"ä": [1]}, "none": None}))
    assert (stored["flat"], stored["deep"], stored["none"]) == (["a", 1], '{"ä": [1]}', None)


def test_a_source_unknown_to_graphiti_counts_as_text() -> None:
    episode = an_episode()
    row = {**mapping.episode_properties(episode, []), "source": "telepathy", "corrected": False, "confidential": False}
    assert mapping.episode(row) == episode


def test_what_full_text_holds_of_a_fact_is_its_relation_and_its_sentence() -> None:
    sarah = an_entity("Sarah")
    stored = mapping.fact_properties(a_fact(sarah, sarah, "WORKS_AT", text="Müller-Lüdenscheidt, 東京!"), scope="s0")
    assert stored["search_text"] == "works at0 muller ludenscheidt 東京"
