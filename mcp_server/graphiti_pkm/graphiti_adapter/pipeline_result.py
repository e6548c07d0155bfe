"""Combines what Graphiti would have saved of each part into one ``Extraction``."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from graphiti_pkm.core.model.labels import BASE
from graphiti_pkm.core.model.names import display_name, normalise_name, relation_name
from graphiti_pkm.core.model.times import as_utc
from graphiti_pkm.core.ports.extraction import ExtractedEnding, ExtractedEntity, ExtractedFact, Extraction

if TYPE_CHECKING:
    from graphiti_core.edges import EntityEdge
    from graphiti_core.nodes import EntityNode

    from graphiti_pkm.graphiti_adapter.pipeline_graph import Seen
    from graphiti_pkm.graphiti_adapter.pipeline_run import Captured

_LONGEST_NAME = 200
_LONGEST_TEXT = 2_000
_RELATION = "RELATES_TO"
"""Graphiti's relation for facts without a name."""


class StartOf(datetime):
    """The start of a fact that Graphiti sees. An end with this value was caused by that fact and not by the text.

    If ``is_explicit`` is false, the start is unknown and this is the time of the episode: the fact began then or
    earlier. Therefore a later fact may end it, but it ends no other fact.
    """

    fact_uuid: str
    is_explicit: bool

    @classmethod
    def fact(cls, uuid: str, moment: datetime, *, is_explicit: bool = True) -> "StartOf":
        start = cls.fromisoformat(moment.isoformat())
        start.fact_uuid, start.is_explicit = uuid, is_explicit
        return start


def extraction_of(captured: Sequence["Captured"], seen: "Seen", excluded: Sequence[str]) -> Extraction:
    """Each entity and fact once, in its latest state, without facts and endings that depend on omitted records."""
    entities: dict[str, ExtractedEntity] = {}
    for part in captured:
        for node in part.nodes:
            if (entity := _entity(node, seen, excluded)) is not None:
                entities[entity.uuid] = entity
    facts: dict[str, ExtractedFact] = {}
    for edge in _edges(captured):
        fact = _fact(edge, seen)
        if fact.uuid not in facts and fact.text and {fact.source_uuid, fact.target_uuid} <= entities.keys():
            facts[fact.uuid] = fact
    endings = {
        (one.fact_uuid, one.by_uuid): one
        for part in captured
        for one in (
            *(one for one in _endings(part, seen) if one.by_uuid in facts),
            *(one for one in _ended_late(part) if one.fact_uuid in facts),
        )
    }
    given = {node.uuid for part in captured for node in part.nodes} | {edge.uuid for edge in _edges(captured)}
    return Extraction(
        entities=tuple(entities.values()),
        facts=tuple(facts.values()),
        endings=tuple(endings.values()),
        left_out=sum(part.left_out for part in captured) + len(given - entities.keys() - facts.keys()),
    )


def _endings(part: "Captured", seen: "Seen") -> Iterable[ExtractedEnding]:
    """Endings of facts, except events, of the graph or an earlier part that a fact of this part contradicts."""
    for edge, by in part.endings:
        known = seen.facts.get(edge.uuid)
        if edge.invalid_at is not None and not (known and known.is_event):
            yield ExtractedEnding(fact_uuid=edge.uuid, by_uuid=by, invalid_at=_plain(edge.invalid_at))


def _ended_late(part: "Captured") -> Iterable[ExtractedEnding]:
    """Endings of facts of this part that end where a contradicted fact begins: mentioned late, or again."""
    for edge in part.edges:
        end = edge.invalid_at
        if isinstance(end, StartOf) and end.is_explicit:
            yield ExtractedEnding(fact_uuid=edge.uuid, by_uuid=end.fact_uuid, invalid_at=_plain(end))


def _plain(moment: datetime) -> datetime:
    return as_utc(datetime.combine(moment.date(), moment.timetz()))


def _edges(captured: Sequence["Captured"]) -> Iterable["EntityEdge"]:
    return (edge for part in captured for edge in part.edges)


def _entity(node: "EntityNode", seen: "Seen", excluded: Sequence[str]) -> ExtractedEntity | None:
    """The entity; None if the name is unusable, or if it is new and its type is excluded."""
    known = seen.entities.get(node.uuid)
    name = display_name(node.name if known is None else known.name)
    label = next((label for label in node.labels if label != BASE), None)
    if known is None and ((label or BASE) in excluded or not normalise_name(name) or len(name) > _LONGEST_NAME):
        return None
    return ExtractedEntity(
        uuid=node.uuid,
        name=name,
        is_known=known is not None,
        label=label,
        summary=node.summary,
        summary_before="" if known is None else known.summary,
    )


def _fact(edge: "EntityEdge", seen: "Seen") -> ExtractedFact:
    known = seen.facts.get(edge.uuid)
    starts, ends = (edge.valid_at, edge.invalid_at) if known is None else (known.valid_at, known.invalid_at)
    valid_at = _plain(starts) if starts else None
    invalid_at = _plain(ends) if ends and not isinstance(ends, StartOf) else None
    if valid_at and invalid_at and invalid_at <= valid_at:
        invalid_at = None
    return ExtractedFact(
        uuid=edge.uuid,
        source_uuid=edge.source_node_uuid,
        target_uuid=edge.target_node_uuid,
        relation=(relation_name(edge.name) or _RELATION)[:_LONGEST_NAME] if known is None else edge.name,
        text=display_name(edge.fact)[:_LONGEST_TEXT] if known is None else edge.fact,
        is_known=known is not None,
        valid_at=valid_at,
        invalid_at=invalid_at,
    )
