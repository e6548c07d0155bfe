"""Nodes and edges as a caller sends them. Field descriptions are prompt text: they go into tool schemas."""

from typing import Annotated, Any, TypeAlias

from pydantic import BeforeValidator, Field

from graphiti_pkm.core.model.requests import Request


def _as_text(value: object) -> object:
    """A number as its digits: models send them as labels."""
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


Label: TypeAlias = Annotated[str, BeforeValidator(_as_text)]
"""Its length is checked where it is used, so that one wrong item of a batch is told as such."""


class NodeInput(Request):
    """One node of a batch."""

    label: Label
    type: str | None = None
    properties: dict[str, Any] | None = None


class EdgeInput(Request):
    """One edge of a batch."""

    source: Annotated[Label, Field(description="label of a node")]
    target: Label
    relation: Annotated[str, Field(description="e.g. calls")]
    properties: dict[str, Any] | None = None
