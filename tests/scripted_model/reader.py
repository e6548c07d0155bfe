"""The default script: a model that understands the sentences of ``language`` and nothing else.

Its answer is a function of the request alone, so that a run in which calls fail and are repeated ends as one in which
none does. Each function answers one of Graphiti's schemas, named as in ``graphiti_core.prompts``.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from tests.scripted_model.filling import filled
from tests.scripted_model.language import Statement, key, sentences, statement_of, understand
from tests.scripted_model.model_request import Json, ModelRequest

_LONGEST_SUMMARY = 900
"""Characters; Graphiti cuts at 1,000."""

_RECORDED = re.compile(r"^- (.+)$", re.MULTILINE)
"""A fact that the prompt's instructions ask not to be returned again, as ``pipeline.py`` lists them."""
_STRICT_TYPES = "Do not derive a new relation_type."


def read(request: ModelRequest) -> Json:
    """The answer to a request for JSON."""
    answer = READ_SCHEMAS.get(request.schema_name)
    return answer(request) if answer else _attributes(request)


def _extracted_entities(request: ModelRequest) -> Json:
    return {"extracted_entities": [{**one, "episode_indices": [0]} for one in _entities(request)]}


def _extracted_edges(request: ModelRequest) -> Json:
    listed = {key(one["name"]): one["name"] for one in request.data("ENTITIES") or []}
    recorded = {key(text) for text in _RECORDED.findall(request.prompt)}
    edges = []
    for statement in understand(request.subject).statements:
        if key(statement.sentence) in recorded:
            continue
        ends = [listed[end] for name in (statement.source, statement.target) if (end := key(name)) in listed]
        relation = _relation(request, statement, "FACT_TYPES")
        if len(ends) == 2 and relation is not None:
            times = {"valid_at": statement.since, "invalid_at": statement.until}
            edges.append({**_edge(statement, relation, ends), **times})
    return {"edges": edges}


def _combined_extraction(request: ModelRequest) -> Json:
    entities = _entities(request)
    names = {key(one["name"]): one["name"] for one in entities}
    edges = []
    for statement in understand(request.subject).statements:
        ends = [names[key(name)] for name in (statement.source, statement.target)]
        relation = _relation(request, statement, "FACT TYPES")
        if relation is not None:
            edges.append(_edge(statement, relation, ends))
    return {"extracted_entities": entities, "edges": edges}


def _entities(request: ModelRequest) -> list[Json]:
    """Each with the type that the text gives it, if it is one of the prompt's."""
    understood = understand(request.subject, speakers=request.section("CURRENT MESSAGE") is not None)
    types = {one["entity_type_name"]: one["entity_type_id"] for one in request.data("ENTITY TYPES") or []}
    return [{"name": name, "entity_type_id": types.get(understood.type_of(name) or "", 0)} for name in understood.names]


def _edge(statement: Statement, relation: str, ends: list[str]) -> Json:
    return {
        "source_entity_name": ends[0],
        "target_entity_name": ends[1],
        "relation_type": relation,
        "fact": statement.sentence,
        "episode_indices": [0],
    }


def _relation(request: ModelRequest, statement: Statement, tag: str) -> str | None:
    """As the prompt's types name it ("WorksAt"); None for one that strict types leave out."""
    types = {key(one["fact_type_name"]): one["fact_type_name"] for one in request.data(tag) or []}
    is_strict = bool(types) and _STRICT_TYPES in request.prompt
    return types.get(key(statement.relation), None if is_strict else statement.relation)


def _edge_timestamps(request: ModelRequest) -> Json:
    return _times(request.subject, request.section("REFERENCE TIME"))


def _batch_edge_timestamps(request: ModelRequest) -> Json:
    facts = request.data("FACTS") or []
    return {"timestamps": [_times(one["fact"], one["reference_time"]) for one in facts]}


def _times(fact: str, reference_time: str | None) -> Json:
    """What is told without a time holds since the reference time."""
    statement = statement_of(fact)
    since, until = (statement.since, statement.until) if statement else (None, None)
    return {"valid_at": since or (None if until else reference_time), "invalid_at": until}


def _edge_duplicate(request: ModelRequest) -> Json:
    """The same sentence is a duplicate; the same relation to another target is contradicted."""
    fact = request.subject
    existing = _numbered(request, "EXISTING FACTS")
    candidates = {**existing, **_numbered(request, "FACT INVALIDATION CANDIDATES")}
    new = statement_of(fact)
    others = {number: statement_of(text) for number, text in candidates.items()}
    return {
        "duplicate_facts": [number for number, text in existing.items() if key(text) == key(fact)],
        "contradicted_facts": [number for number, other in others.items() if new and other and new.contradicts(other)],
    }


def _numbered(request: ModelRequest, tag: str) -> dict[int, str]:
    return {one["idx"]: one["fact"] for one in request.data(tag) or []}


def _node_resolutions(request: ModelRequest) -> Json:
    """Names with the same letters and digits are one entity."""
    known: dict[str, int] = {}
    for one in request.data("EXISTING ENTITIES") or []:
        known.setdefault(key(one["name"]), one["candidate_id"])
    return {
        "entity_resolutions": [
            {"id": one["id"], "name": one["name"], "duplicate_candidate_id": known.get(key(one["name"]), -1)}
            for one in request.data("ENTITIES") or []
        ]
    }


def _summarized_entities(request: ModelRequest) -> Json:
    """Of each entity that the text names: what was known, and the sentences that name it."""
    summaries = []
    for one in request.data("ENTITIES") or []:
        new = [sentence for sentence in sentences(request.subject) if key(one["name"]) in key(sentence)]
        if new:
            summaries.append({"name": one["name"], "summary": _joined(one.get("summary", ""), new)})
    return {"summaries": summaries}


def _summary(request: ModelRequest) -> Json:
    return {"summary": _joined("", sentences(request.subject))}


def _saga_summary(request: ModelRequest) -> Json:
    new = [sentence for sentence in sentences(request.subject) if sentence.strip("-")]
    return {"summary": _joined(request.section("EXISTING_KNOWLEDGE") or "", new)}


def _summary_description(request: ModelRequest) -> Json:
    return {"description": f"About: {(sentences(request.subject) or ['nothing'])[0][:100]}."}


def _joined(before: str, new: list[str]) -> str:
    """Each sentence once, as many as there is room for."""
    summary = ""
    for sentence in dict.fromkeys([*sentences(before), *new]):
        longer = f"{summary} {sentence}.".strip()
        if len(longer) <= _LONGEST_SUMMARY:
            summary = longer
    return summary


def _attributes(request: ModelRequest) -> Json:
    """For a schema of the user's own: the attributes that the text states of the entity, those it has, or nothing."""
    entity: Any = request.data("ENTITY")
    stated: dict[str, object] = {}
    if isinstance(entity, dict) and "name" in entity:
        stated = {**(entity.get("attributes") or {}), **understand(request.subject).attributes_of(entity["name"])}
    elif isinstance(before := request.data("EXISTING ATTRIBUTES"), dict):
        stated = before
    return filled(request.schema or {}, stated)


READ_SCHEMAS: Mapping[str, Callable[[ModelRequest], Json]] = {
    "ExtractedEntities": _extracted_entities,
    "ExtractedEdges": _extracted_edges,
    "CombinedExtraction": _combined_extraction,
    "EdgeTimestamps": _edge_timestamps,
    "BatchEdgeTimestamps": _batch_edge_timestamps,
    "EdgeDuplicate": _edge_duplicate,
    "NodeResolutions": _node_resolutions,
    "SummarizedEntities": _summarized_entities,
    "Summary": _summary,
    "SummaryDescription": _summary_description,
    "SagaSummary": _saga_summary,
}
