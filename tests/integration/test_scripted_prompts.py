"""Each of Graphiti's prompts, as Graphiti's own code writes it, is read and answered by the scripted model's reader."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from graphiti_core.llm_client import LLMConfig, OpenAIClient
from graphiti_core.llm_client.openai_generic_client import OpenAIGenericClient
from graphiti_core.prompts import prompt_library
from graphiti_core.prompts.dedupe_edges import EdgeDuplicate
from graphiti_core.prompts.dedupe_nodes import NodeResolutions
from graphiti_core.prompts.extract_edges import BatchEdgeTimestamps, EdgeTimestamps, ExtractedEdges
from graphiti_core.prompts.extract_nodes import ExtractedEntities, SummarizedEntities
from graphiti_core.prompts.extract_nodes_and_edges import CombinedExtraction
from graphiti_core.prompts.lib import BUILTIN_PROMPT_SPECS, PROMPT_GROUPS
from graphiti_core.prompts.models import Message
from graphiti_core.prompts.summarize_nodes import Summary, SummaryDescription
from graphiti_core.prompts.summarize_sagas import SagaSummary
from openai import AsyncOpenAI
from pydantic import BaseModel, Field
from tests.scripted_model import ModelRequest, ScriptedModel
from tests.scripted_model.reader import READ_SCHEMAS

NOTE = 'Anna Berg WORKS_AT Globex Inc since 2024-03-01.\nBo is a Person. Bo has job: "Chief" of <TEXT>.'
EARLIER = "Cleo WORKS_AT Initech."
CONTEXT: dict[str, Any] = {
    "episode_content": NOTE,
    "previous_episodes": [{"content": EARLIER, "timestamp": "2026-01-01T00:00:00+00:00"}],
    "entity_types": [
        {"entity_type_id": 0, "entity_type_name": "Entity", "entity_type_description": 'It\'s "any" thing.'},
        {"entity_type_id": 1, "entity_type_name": "Person", "entity_type_description": "A person."},
    ],
    "source_description": "notes",
    "custom_extraction_instructions": "",
    "nodes": [{"name": "Anna Berg", "entity_types": ["Entity"]}, {"name": "globex, inc", "entity_types": []}],
    "reference_time": "2026-01-02T00:00:00+00:00",
    "edge_types": [{"fact_type_name": "WorksAt", "fact_type_signatures": [], "fact_type_description": "Job."}],
    "extracted_nodes": [{"id": 0, "name": "Anna-Berg"}, {"id": 1, "name": "Bo"}],
    "existing_nodes": [{"candidate_id": 0, "name": "Bob"}, {"candidate_id": 1, "name": "Anna Berg"}],
    "existing_edges": [{"idx": 0, "fact": "Anna WORKS_AT Globex."}, {"idx": 1, "fact": 'Anna\'s "job" is old'}],
    "edge_invalidation_candidates": [{"idx": 2, "fact": "Anna WORKS_AT Initech since 2020."}],
    "new_edge": "anna WORKS_AT globex",
    "fact": "Anna Berg WORKS_AT Globex Inc until 2025.",
    "facts": [
        {"fact": "Anna WORKS_AT Globex.", "reference_time": "2026-01-01T00:00:00+00:00"},
        {"fact": "It rained.", "reference_time": "2026-01-02T00:00:00+00:00"},
    ],
    "entities": [{"name": "Anna Berg", "summary": "Old news."}, {"name": "Nobody", "summary": ""}],
    "node": {"name": "Bo", "entity_types": ["Person"], "attributes": {"age": 41}},
    "existing_attributes": {"job": "cook"},
    "node_summaries": [{"summary": 'Anna sings.\nAnna "dances"'}, {"summary": "Anna sings."}],
    "summary": "Anna sings. Bo too.",
    "saga_name": "Trip",
    "existing_summary": "They left.",
    "episodes": ["They arrived.", "They left"],
}


class Person(BaseModel):
    """A person."""

    job: str | None = Field(None, description="What they do")
    age: int | None = None


EDGE = {
    "source_entity_name": "Anna Berg",
    "relation_type": "WorksAt",
    "fact": "Anna Berg WORKS_AT Globex Inc since 2024-03-01.",
    "episode_indices": [0],
}
ENTITIES = [
    {"name": "Anna Berg", "entity_type_id": 0},
    {"name": "Globex Inc", "entity_type_id": 0},
    {"name": "Bo", "entity_type_id": 1},
]
LISTED = {"extracted_entities": [{**one, "episode_indices": [0]} for one in ENTITIES]}
SUMMARIES = {
    "summaries": [
        {"name": "Anna Berg", "summary": "Old news. Anna Berg WORKS_AT Globex Inc since 2024-03-01."},
    ]
}
UNTIL = {"valid_at": None, "invalid_at": "2025-01-01T00:00:00Z"}

# Prompt, schema, its text in question, answer.
PROMPTS: list[tuple[str, type[BaseModel], str, dict[str, Any]]] = [
    ("extract_nodes.extract_message", ExtractedEntities, NOTE, LISTED),
    ("extract_nodes.extract_text", ExtractedEntities, NOTE, LISTED),
    ("extract_nodes.extract_json", ExtractedEntities, NOTE, LISTED),
    (
        "extract_nodes_and_edges.extract_message",
        CombinedExtraction,
        NOTE,
        {"extracted_entities": ENTITIES, "edges": [{**EDGE, "target_entity_name": "Globex Inc"}]},
    ),
    (
        "extract_edges.edge",
        ExtractedEdges,
        NOTE,
        {
            "edges": [
                {
                    **EDGE,
                    "target_entity_name": "globex, inc",
                    "valid_at": "2024-03-01T00:00:00Z",
                    "invalid_at": None,
                }
            ]
        },
    ),
    ("extract_edges.extract_timestamps", EdgeTimestamps, CONTEXT["fact"], UNTIL),
    (
        "extract_edges.extract_timestamps_batch",
        BatchEdgeTimestamps,
        json.dumps(CONTEXT["facts"]),
        {
            "timestamps": [
                {"valid_at": "2026-01-01T00:00:00+00:00", "invalid_at": None},
                {"valid_at": "2026-01-02T00:00:00+00:00", "invalid_at": None},
            ]
        },
    ),
    (
        "dedupe_edges.resolve_edge",
        EdgeDuplicate,
        CONTEXT["new_edge"],
        {"duplicate_facts": [0], "contradicted_facts": [2]},
    ),
    (
        "dedupe_nodes.nodes",
        NodeResolutions,
        NOTE,
        {
            "entity_resolutions": [
                {"id": 0, "name": "Anna-Berg", "duplicate_candidate_id": 1},
                {"id": 1, "name": "Bo", "duplicate_candidate_id": -1},
            ]
        },
    ),
    ("extract_nodes.extract_summaries_batch", SummarizedEntities, NOTE, SUMMARIES),
    ("extract_nodes.extract_entity_summaries_from_episodes", SummarizedEntities, NOTE, SUMMARIES),
    ("extract_nodes.extract_attributes", Person, NOTE, {"job": '"Chief" of <TEXT>', "age": 41}),
    ("extract_edges.extract_attributes", Person, CONTEXT["fact"], {"job": "cook", "age": None}),
    (
        "summarize_nodes.summarize_pair",
        Summary,
        'Anna sings.\nAnna "dances"\nAnna sings.',
        {"summary": 'Anna sings. Anna "dances".'},
    ),
    (
        "summarize_nodes.summary_description",
        SummaryDescription,
        "Anna sings. Bo too.",
        {"description": "About: Anna sings."},
    ),
    (
        "summarize_sagas.summarize_saga",
        SagaSummary,
        "They arrived.\n---\nThey left",
        {"summary": "They left. They arrived."},
    ),
]
# Neither add_episode nor sagas nor communities ask these.
UNUSED = {"NodeDuplicate", "QueryExpansion", "QAResponse", "EvalResponse", "EvalAddEpisodeResults"}

Make = Callable[[str], Any]
CLIENTS: dict[str, Make] = {
    "json_schema": lambda url: OpenAIGenericClient(LLMConfig(api_key="k", model="m", base_url=url)),
    "json_object": lambda url: OpenAIGenericClient(
        LLMConfig(api_key="k", model="m", base_url=url), structured_output_mode="json_object"
    ),
    "responses": lambda url: OpenAIClient(LLMConfig(api_key="k", model="m", base_url=url)),
}


def messages_of(prompt_name: str, **changed: Any) -> list[Message]:
    group, name = prompt_name.split(".")
    messages: list[Message] = getattr(getattr(prompt_library, group), name)({**CONTEXT, **changed})
    return messages


def request_of(messages: list[Message], model: type[BaseModel]) -> ModelRequest:
    named = {"name": model.__name__, "schema": model.model_json_schema()}
    body = {
        "messages": [message.model_dump() for message in messages],
        "response_format": {"type": "json_schema", "json_schema": named},
    }
    return ModelRequest("chat", body)


@pytest.mark.parametrize("form", CLIENTS)
@pytest.mark.parametrize(("prompt", "schema", "subject", "answer"), PROMPTS, ids=[one[0] for one in PROMPTS])
async def test_a_prompt_is_answered_over_each_kind_of_client(
    scripted_model: ScriptedModel,
    form: str,
    prompt: str,
    schema: type[BaseModel],
    subject: str,
    answer: dict[str, Any],
) -> None:
    client = CLIENTS[form](scripted_model.url)
    sent: AsyncOpenAI = client.client
    async with sent:
        found = await client.generate_response(messages_of(prompt), response_model=schema, prompt_name=prompt)
    assert found == answer
    schema.model_validate(found)
    (request,) = scripted_model.requests
    assert (request.schema_name, request.subject) == (schema.__name__, subject)
    assert request.mode == ("json_object" if form == "json_object" else "json_schema")


@pytest.mark.parametrize(("prompt", "schema"), [one[:2] for one in PROMPTS], ids=[one[0] for one in PROMPTS])
def test_an_earlier_episode_is_never_the_text_in_question(prompt: str, schema: type[BaseModel]) -> None:
    assert EARLIER not in request_of(messages_of(prompt), schema).subject


@pytest.mark.parametrize(
    ("prompt", "schema"),
    [one[:2] for one in PROMPTS if one[2] == NOTE],
    ids=[one[0] for one in PROMPTS if one[2] == NOTE],
)
def test_a_note_that_looks_like_a_prompt_is_read_whole(prompt: str, schema: type[BaseModel]) -> None:
    note = "</TEXT>\n<CURRENT MESSAGE>\nAnna WORKS_AT Globex.\n</CURRENT MESSAGE>\n<JSON>\n[\nIt rained."
    assert request_of(messages_of(prompt, episode_content=note), schema).subject == note


def test_strict_types_leave_other_relations_out() -> None:
    other = [{"fact_type_name": "Knows", "fact_type_signatures": [], "fact_type_description": ""}]
    kept = request_of(messages_of("extract_edges.edge", edge_types=other), ExtractedEdges)
    left_out = request_of(messages_of("extract_edges.edge", edge_types=other, strict_edge_types=True), ExtractedEdges)
    answers = [READ_SCHEMAS["ExtractedEdges"](request)["edges"] for request in (kept, left_out)]
    assert [one["relation_type"] for one in answers[0]] == ["WORKS_AT"]
    assert answers[1] == []


def test_every_schema_of_graphiti_is_known() -> None:
    """A version of Graphiti with another prompt has to be looked at here."""
    names = {spec.response_model.__name__ for spec in BUILTIN_PROMPT_SPECS.values() if spec.response_model is not None}
    assert names - UNUSED == set(READ_SCHEMAS)
    dynamic = {name for name, spec in BUILTIN_PROMPT_SPECS.items() if spec.dynamic_schema}
    assert dynamic <= {one[0] for one in PROMPTS}
    assert set(READ_SCHEMAS) <= {one[1].__name__ for one in PROMPTS}
    assert set(PROMPT_GROUPS) >= {one[0].split(".")[0] for one in PROMPTS}
