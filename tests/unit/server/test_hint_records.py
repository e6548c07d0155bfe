"""The hint records of all tools of the registry."""

import pytest
from jsonschema import Draft202012Validator
from tests.protocol.support import SPECS

from graphiti_pkm.server.tools.registry import TOOLSETS, Toolset, known_tools
from graphiti_pkm.toolkit.hints import Hints
from graphiti_pkm.toolkit.schema import answer_schema

REASONS = {
    "no_search_performed": {"add_memory", "add_triplet", "create_entities", "create_entry"},
    "similar_existing": {"add_memory", "add_triplet", "create_entities", "create_entry"},
    "not_looked_at": {
        *("delete_episode", "delete_entity_edge", "delete_entities", "delete_relations", "delete_observations")
    },
    "not_compared": {"merge_entities"},
    "insufficient_similarity": {"merge_entities"},
    "missing_flag": {"merge_entities"},
}
"""Every reason that hints speak of, and the tools that have it."""


@pytest.mark.parametrize("name", SPECS)
def test_every_tool_has_a_record_whose_names_are_tools(name: str) -> None:
    record, own = SPECS[name].hint_record, SPECS[name].name
    named = (*record.prerequisites, *record.next_actions)
    assert set(named) <= known_tools()
    assert own not in named
    assert len(set(named)) == len(named)
    assert record.permission_level == SPECS[name].tier
    assert record.audit == SPECS[name].writes
    assert all(text.strip() for text in record.error_hints.values())


@pytest.mark.parametrize("toolset", TOOLSETS, ids=lambda one: one.name)
def test_what_a_tool_wants_called_first_is_in_its_own_toolset_or_beside_memory(toolset: Toolset) -> None:
    beside = {tool.name for one in TOOLSETS if one.name in {toolset.name, "memory"} for tool in one.tools}
    for tool in toolset.tools:
        assert not tool.hints.prerequisites or set(tool.hints.prerequisites) & beside


def test_a_prerequisite_is_read_without_changing_anything_or_flags() -> None:
    wanted = {name for tool in SPECS.values() for name in tool.hints.prerequisites}
    assert {tool.name for tool in SPECS.values() if tool.name in wanted and tool.writes} == {"flag_similar_entities"}


def test_every_reason_is_known_and_what_is_missing_has_its_own() -> None:
    found: dict[str, set[str]] = {}
    for tool in SPECS.values():
        assert bool(tool.hints.prerequisites) == (tool.hints.missing in tool.hints.error_hints)
        for reason in tool.hints.error_hints:
            found.setdefault(reason, set()).add(tool.name)
    assert found == REASONS


@pytest.mark.parametrize("hints", [{"prerequisites": ("search_nodes",)}, {"missing": "x", "error_hints": {"x": "y"}}])
def test_a_prerequisite_without_a_hint_cannot_be_declared(hints: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="neither"):
        Hints(**hints)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["add_memory", "create_entities", "create_entry"])
def test_what_creates_wants_a_search_first_and_leads_to_relations_and_evidence(name: str) -> None:
    record = SPECS[name].hint_record
    assert record.permission_level == "contributor"
    assert record.prerequisites[0] == "search_nodes"
    assert record.next_actions == ("create_relations", "add_evidence")
    assert {"similar_existing", "no_search_performed"} == record.error_hints.keys()


def test_a_search_leads_to_what_creates_and_to_details() -> None:
    record = SPECS["search_nodes"].hint_record
    assert record.permission_level == "reader"
    assert record.next_actions == ("add_memory", "create_relations", "get_entity_connections")


def test_a_merge_is_for_librarians_after_a_comparison_and_audited() -> None:
    record = SPECS["merge_entities"].hint_record
    assert record.permission_level == "librarian"
    assert record.prerequisites[0] == "flag_similar_entities"
    assert record.audit
    assert "0.85" in record.error_hints["insufficient_similarity"]
    assert "flag" in record.error_hints["missing_flag"]


@pytest.mark.parametrize("name", SPECS)
def test_what_hints_add_fits_the_output_schema_of_every_tool(name: str) -> None:
    """The npm client hides an answer from its model that does not."""
    schema = answer_schema(SPECS[name].returns)
    check = Draft202012Validator(schema)
    told = {"message": "x", "hint": "x", "code": "x"}
    for content in (
        {**told, "error": "PERMISSION_DENIED"},
        {**told, "error": "PREREQUISITE_SUGGESTED", "can_proceed": True, "confirm": "x"},
        {"suggested_next_actions": ["x"], "prerequisite_hint": "x"},
    ):
        check.validate(content)
    assert not {"suggested_next_actions", "prerequisite_hint"} & schema["properties"].keys()
