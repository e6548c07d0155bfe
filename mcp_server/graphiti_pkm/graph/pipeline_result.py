"""What Graphiti would have saved, part for part, as one ``Extraction``."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from graphiti_pkm.domain.extraction import ExtractedEnding, ExtractedEntity, ExtractedFact, Extraction
from graphiti_pkm.domain.labels import BASE
from graphiti_pkm.domain.names import display_name, normalise_name, relation_name
from graphiti_pkm.domain.times import as_utc

if TYPE_CHECKING:
    from graphiti_core.edges import EntityEdge
    from graphiti_core.nodes import EntityNode

    from graphiti_pkm.graph.pipeline_graph import Seen
    from graphiti_pkm.graph.pipeline_run import Captured

_LONGEST_NAME = 200
_LONGEST_TEXT = 2_000
_RELATION = "RELATES_TO"
"""Graphiti's own for one that has no name."""


class KnownFrom(datetime):
    """Stands for the unknown start of a fact: when it was told of. It began then or before.

    So what begins later may end it, and nothing else ends where it begins.
    """

    @classmethod
    def of(cls, moment: datetime) -> "KnownFrom":
        return cls.fromisoformat(moment.isoformat())


def extraction_of(captured: Sequence["Captured"], seen: "Seen", excluded: Sequence[str]) -> Extraction:
    """Each entity and fact once, of the latest part that has it; nothing that hangs on what is left out."""
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
        (edge.uuid, by): ExtractedEnding(fact_uuid=edge.uuid, by_uuid=by, invalid_at=as_utc(edge.invalid_at))
        for part in captured
        for edge, by in part.endings
        if by in facts and edge.invalid_at is not None and _can_end(edge, seen)
    }
    return Extraction(entities=tuple(entities.values()), facts=tuple(facts.values()), endings=tuple(endings.values()))


def _can_end(edge: "EntityEdge", seen: "Seen") -> bool:
    """Not events; the end of a fact that an earlier part told stands on that fact itself."""
    known = seen.facts.get(edge.uuid)
    return known is not None and not known.is_event


def _edges(captured: Sequence["Captured"]) -> Iterable["EntityEdge"]:
    return (edge for part in captured for edge in part.edges)


def _entity(node: "EntityNode", seen: "Seen", excluded: Sequence[str]) -> ExtractedEntity | None:
    """None for a name that is none, and for a new entity of a type that is not wanted."""
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
    starts = edge.valid_at if known is None else known.valid_at
    valid_at, invalid_at = starts and as_utc(starts), edge.invalid_at and as_utc(edge.invalid_at)
    if isinstance(edge.invalid_at, KnownFrom) or (valid_at and invalid_at and invalid_at <= valid_at):
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
