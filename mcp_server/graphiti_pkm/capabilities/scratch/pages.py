"""Pages of the lists of a scratch graph, limited in rows and characters, and notes on filters without a match."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from graphiti_pkm.capabilities.scratch.limits import Properties, ScratchNode
from graphiti_pkm.capabilities.scratch.matching.matching import shown
from graphiti_pkm.capabilities.scratch.tenants import OpenGraph, ScratchGraphs
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.answers import Answer
from graphiti_pkm.core.model.requests import Request
from graphiti_pkm.core.reading.paging import DEFAULT_CHARS, Key, decode_cursor, encode_cursor, fit, text_size
from graphiti_pkm.core.signing import Signer

if TYPE_CHECKING:
    from graphiti_pkm.capabilities.scratch.graphs.graph import ScratchGraph


ROOM = DEFAULT_CHARS - 1_500
"""Characters for the items of an answer."""
UNTYPED = "untyped"
"""The name under which nodes without a type are counted and found."""

_MOST_NAMES = 20

_Row = TypeVar("_Row")
_View = TypeVar("_View", bound=Answer)


@dataclass(frozen=True)
class Place:
    """The list that is read, with its filters, and where the page starts."""

    filters: Mapping[str, object]
    after: Key | None
    signer: Signer

    @classmethod
    def of(
        cls,
        graphs: ScratchGraphs,
        opened: OpenGraph,
        caller: Caller,
        request: Request,
        cursor: str | None,
        **resolved: object,
    ) -> "Place":
        """``resolved``: what fields of the request stand for.

        Raises:
            InvalidCursor: the cursor belongs to another tool, graph or set of filters.
        """
        graph = {"graph": opened.name, "made": opened.created_at}
        call = {"tool": type(request).__name__, "caller": caller.visibility}
        whole = {**call, **request.filters(), **graph, **resolved}
        after = None if cursor is None else decode_cursor(graphs.signer, cursor, whole).key
        return cls(whole, after, graphs.signer)


@dataclass(frozen=True)
class Listed(Generic[_View]):
    """One page of a list."""

    items: list[_View]
    total: int
    truncated: bool
    next_cursor: str | None

    @property
    def counts(self) -> dict[str, Any]:
        """The fields that every page has besides its items."""
        return {
            "total": self.total,
            "returned": len(self.items),
            "truncated": self.truncated,
            "next_cursor": self.next_cursor,
        }


def listed(
    rows: Iterable[_Row],
    total: int,
    limit: int,
    view: Callable[[_Row], _View],
    key: Callable[[_Row], Key],
    place: Place,
    opened: OpenGraph,
) -> Listed[_View]:
    """One page of ``rows``, which must start after ``place``."""
    taken = list(islice(rows, limit + 1))
    views = [view(row) for row in taken[:limit]]
    kept = fitting(views)
    truncated = kept < len(taken)
    cursor = (
        encode_cursor(place.signer, key(taken[kept - 1]), place.filters, opened.last_accessed) if truncated else None
    )
    return Listed(views[:kept], total, truncated, cursor)


def fitting(views: Sequence[Answer], room: int = ROOM) -> int:
    """The number of items that fit into an answer."""
    return fit((text_size(view.model_dump(mode="json")) + 1 for view in views), room)


def is_of(node: ScratchNode, kind: str | None) -> bool:
    """Whether a node is of a type; None: of any."""
    return kind is None or (node.type or UNTYPED).casefold() == kind.strip().casefold()


def has_properties(properties: Properties, wanted: Properties | None) -> bool:
    """Whether these properties are there with these values; null: not there."""
    return all(properties.get(name) == value for name, value in (wanted or {}).items())


def relation_note(graph: "ScratchGraph", relation: str | None) -> str | None:
    """A note with the existing relations if no edge has the requested one."""
    if relation is None or graph.count_edges(relation=relation):
        return None
    return f"no edge has the relation {shown(relation)}; there are: {_listed(graph.relations)}"


def type_note(graph: "ScratchGraph", kind: str) -> str:
    """A note that no node has the requested type, with the existing types."""
    types = dict.fromkeys(graph.node(index).type or UNTYPED for index in graph.order())
    return f"no node is of type {shown(kind)}; there are: {_listed(types)}"


def _listed(names: Iterable[str]) -> str:
    known = [shown(name) for name in names]
    more = f" and {len(known) - _MOST_NAMES} more (get_graph_info)" if len(known) > _MOST_NAMES else ""
    return f"{', '.join(known[:_MOST_NAMES]) or 'none'}{more}"
