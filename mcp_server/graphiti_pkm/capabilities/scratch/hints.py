"""What to say where no edge has the relation, or no node the type, that was asked for."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from graphiti_pkm.capabilities.scratch.matching.matching import shown

if TYPE_CHECKING:
    from graphiti_pkm.capabilities.scratch.graphs.graph import ScratchGraph

UNTYPED = "untyped"
"""How nodes without a type are counted, and asked for."""
_MOST = 20


def relation_note(graph: "ScratchGraph", relation: str | None) -> str | None:
    """That no edge has a relation that was asked for, and which there are."""
    if relation is None or graph.count_edges(relation=relation):
        return None
    return f"no edge has the relation {shown(relation)}; there are: {_listed(graph.relations)}"


def type_note(graph: "ScratchGraph", kind: str) -> str:
    """That no node is of a type that was asked for, and which there are."""
    types = dict.fromkeys(graph.node(index).type or UNTYPED for index in graph.order())
    return f"no node is of type {shown(kind)}; there are: {_listed(types)}"


def _listed(names: Iterable[str]) -> str:
    known = [shown(name) for name in names]
    more = f" and {len(known) - _MOST} more (get_graph_info)" if len(known) > _MOST else ""
    return f"{', '.join(known[:_MOST]) or 'none'}{more}"
