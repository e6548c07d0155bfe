"""What the tools between texts and scratch graphs answer."""

from typing import ClassVar

from pydantic import Field

from graphiti_pkm.capabilities.scratch.models.answers import MadeGraph, MatchedLabel
from graphiti_pkm.core.model.answers import Answer


class ImportGraphResponse(MadeGraph):
    nodes_added: int
    edges_added: int
    """What the text holds and the graph had already is not counted."""
    node_count: int
    """Of the graph now."""
    edge_count: int
    warnings: list[str] = Field(default_factory=list)
    """What could not be taken over as it stands."""


class ExportGraphResponse(Answer):
    """Its text is the whole content, never a part of it."""

    is_whole: ClassVar[bool] = True

    format: str
    node_count: int
    """In the content."""
    edge_count: int
    matched: list[MatchedLabel] = Field(default_factory=list)
    """Labels of ``nodes`` that found a node which is called otherwise."""
    content: str
    warnings: list[str] = Field(default_factory=list)
    """What of these nodes and edges the format does not hold."""
