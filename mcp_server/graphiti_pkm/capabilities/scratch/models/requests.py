"""Nodes and edges as callers send them. Docstrings and descriptions of fields become part of tool schemas."""

from typing import Annotated, Any, TypeAlias

from pydantic import BeforeValidator, Field

from graphiti_pkm.core.model.requests import Request


def _as_text(value: object) -> object:
    """Converts numbers to text, since models send numbers as labels."""
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


Label: TypeAlias = Annotated[str, BeforeValidator(_as_text)]
"""Its length is checked later, so that one invalid item does not reject a whole batch."""


class NodeInput(Request):
    """One node of a batch."""

    label: Label
    type: str | None = None
    properties: dict[str, Any] | None = None


class EdgeInput(Request):
    """One edge of a batch."""

    source: Label
    target: Label
    relation: Annotated[str, Field(description="e.g. calls")]
    properties: dict[str, Any] | None = None


class EdgeChoice(Request):
    """One existing edge, or all edges from one node to another."""

    source: Label
    target: Label
    relation: Annotated[str | None, Field(description="all if left out")] = None
