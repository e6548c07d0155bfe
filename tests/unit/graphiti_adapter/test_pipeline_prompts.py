"""Graphiti's prompts are the same words in every process, whatever order its sets come in."""

from typing import Any

import pytest
from graphiti_core.prompts.lib import default_chat_prompt_library

from graphiti_pkm.graphiti_adapter.pipeline_clients import steady_prompts

BACKWARDS, SORTED = ["Person", "Entity"], ["Entity", "Person"]
EPISODE: dict[str, Any] = {"episode_content": "Anna.", "previous_episodes": [], "custom_extraction_instructions": ""}
CONTEXTS: dict[tuple[str, str], dict[str, Any]] = {
    ("extract_edges", "edge"): {"nodes": [{"name": "Anna", "entity_types": None}], "reference_time": "2025"},
    ("dedupe_nodes", "nodes"): {
        "extracted_nodes": [{"id": 0, "name": "Anna", "entity_type": None}],
        "existing_nodes": [{"candidate_id": 0, "name": "Anna", "entity_types": None}],
    },
    ("extract_nodes", "extract_attributes"): {"node": {"name": "Anna", "entity_types": None, "attributes": {}}},
    ("extract_nodes", "extract_summaries_batch"): {
        "entities": [{"name": "Anna", "entity_types": None}],
        "entity_type_descriptions": {},
    },
}


def labelled(value: Any, labels: list[str]) -> Any:
    if isinstance(value, list):
        return [labelled(part, labels) for part in value]
    if isinstance(value, dict):
        return {name: labels if part is None else labelled(part, labels) for name, part in value.items()}
    return value


@pytest.mark.parametrize(("group", "name"), CONTEXTS)
def test_labels_come_in_one_order(group: str, name: str) -> None:
    context = {**EPISODE, **CONTEXTS[group, name]}
    stock = getattr(getattr(default_chat_prompt_library, group), name)
    steady = getattr(getattr(steady_prompts(), group), name)
    assert stock(labelled(context, BACKWARDS)) != stock(labelled(context, SORTED))
    assert steady(labelled(context, BACKWARDS)) == stock(labelled(context, SORTED))
