"""Snapshots of scratch graphs, on which analyses run without holding the graph's lock.

Linear work runs in a thread, work without a useful time bound in a worker process.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graphiti_pkm.capabilities.scratch.limits import Content
from graphiti_pkm.capabilities.scratch.matching.matching import Match, Matcher, shown
from graphiti_pkm.capabilities.scratch.models.analysis import Ranking
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.waiting import in_thread
from graphiti_pkm.errors import InvalidInput, Unavailable

if TYPE_CHECKING:  # rustworkx and NumPy are loaded with the first graph
    from graphiti_pkm.capabilities.scratch.algorithms.relations import EdgeRelations
    from graphiti_pkm.capabilities.scratch.algorithms.view import Gathered, View
    from graphiti_pkm.capabilities.scratch.algorithms.worker import Outcome, Workers
    from graphiti_pkm.capabilities.scratch.graphs.graph import ScratchGraph


_MOST_RELATIONS = 10
_JOBS = "graphiti_pkm.capabilities.scratch.algorithms.analyses"
_DRAWING = "graphiti_pkm.capabilities.scratch.drawing.svg:drawn"
_MOST_CHARACTERS = 16_000
"""For the labels of a list of lists."""
_MOST_IN_A_ROW = 6_000
"""For the labels of a plain list."""
_WHOLE = 500
"""Up to this number of labels all parts are listed completely."""
_OF_A_PART = 20
"""Labels listed of each part if there are more."""
_BETWEEN = 3
"""Characters between two labels."""
_TIES = 12
"""Decimals of a score; scores that differ less are equal."""


class Labels:
    """Converts node numbers of a view to labels, within the room of an answer."""

    def __init__(self, labels: Sequence[str]) -> None:
        self._labels = labels

    def of(self, node: int) -> str:
        return self._labels[node]

    def all_of(self, nodes: Iterable[int]) -> list[str]:
        """The label of each node."""
        return [self._labels[node] for node in nodes]

    def along(self, path: Sequence[int]) -> list[str]:
        """The labels of a path, as far as there is room."""
        return self._fitting(path, _MOST_CHARACTERS)

    def some_of(self, nodes: Sequence[int], most: int, room: int = _MOST_IN_A_ROW) -> list[str]:
        """The labels of at most ``most`` nodes, as far as there is room."""
        return self._fitting(nodes[:most], room)

    def ranked(self, scores: Sequence[float], most: int) -> list[Ranking]:
        """Sorted by descending score, then by label."""
        rounded = [round(score, _TIES) for score in scores]
        order = sorted(range(len(rounded)), key=lambda node: (-rounded[node], self._labels[node]))
        return [Ranking(label=self._labels[node], score=rounded[node]) for node in order[:most]]

    def groups(self, groups: Iterable[Sequence[int]]) -> tuple[list[list[str]], bool]:
        """Complete groups, as far as there is room; and whether these are all."""
        shown: list[list[str]] = []
        room = _MOST_CHARACTERS
        for group in groups:
            labels = self._fitting(group, room)
            if len(labels) < len(group):
                return shown or [labels], False
            shown.append(labels)
            room -= sum(map(len, labels))
        return shown, True

    def parts(self, parts: Sequence[Sequence[int]], room: int = _MOST_CHARACTERS) -> tuple[list[list[str]], bool]:
        """The first labels of each part, as far as there is room; and whether these are all."""
        most = _WHOLE if sum(map(len, parts)) <= _WHOLE else _OF_A_PART
        shown: list[list[str]] = []
        for part in parts:
            labels = self._fitting(part[:most], room)
            if not labels:
                break
            shown.append(labels)
            room -= sum(map(len, labels))
        return shown, sum(map(len, shown)) == sum(map(len, parts))

    def _fitting(self, nodes: Iterable[int], room: int) -> list[str]:
        """As many labels as fit into ``room`` characters."""
        labels: list[str] = []
        for node in nodes:
            room -= len(self._labels[node]) + _BETWEEN
            if room < 0:
                break
            labels.append(self._labels[node])
        return labels


@dataclass(frozen=True)
class Snapshot:
    """A graph at one moment, and the requested nodes."""

    graph: "ScratchGraph"
    version: int
    view: "View"
    labels: Labels
    matches: Sequence[Match]
    is_part_of_memory: bool = False
    """Whether memory holds more next to what was loaded from it."""
    relations: "EdgeRelations | None" = None
    """If asked for: the relation of each edge."""

    @property
    def nodes(self) -> list[int]:
        """The numbers of the matched nodes in the view."""
        return [self.view.node(match.index) for match in self.matches]


class Snapshots:
    """Takes snapshots and runs jobs in worker processes."""

    def __init__(self, matcher: Matcher, seconds: float) -> None:
        """``seconds``: the time limit of one analysis."""
        self._matcher = matcher
        self._seconds = seconds
        self._workers: Workers | None = None

    async def close(self) -> None:
        """Stop the worker processes."""
        if self._workers is not None:
            await self._workers.close()

    async def take(
        self,
        caller: Caller,
        graph: str,
        texts: Sequence[str] = (),
        weight: str | None = None,
        relation: str | None = None,
        gathered: "Gathered" = "least",
        *,
        undirected: bool = False,
        with_relations: bool = False,
    ) -> Snapshot:
        """A snapshot of the graph, of all relations or one, with the nodes that match ``texts``.

        Raises:
            NotFound: the graph or a node does not exist.
            AmbiguousLabel: a text matches several nodes.
            InvalidInput: no edge has this relation, or a weight is not a number.
        """
        async with self._matcher.reading(caller, graph, texts) as found:
            must_have(found.graph, relation)
            matches = found.matches(texts)
            view, labels = await in_thread(_viewed, found.graph, weight, relation, gathered, undirected=undirected)
            relations = await in_thread(found.graph.edge_relations, relation) if with_relations else None
            version, is_part = found.graph.version, found.graph.is_part_of_memory
            return Snapshot(found.graph, version, view, Labels(labels), matches, is_part, relations)

    async def run(
        self, caller: Caller, job: str, view: "View", *, most: int | None = None, **arguments: Any
    ) -> "Outcome":
        """Run a job of ``algorithms/analyses.py`` in a worker process, up to the time limit or ``most`` results."""
        return await self._processes.run(caller.visibility, f"{_JOBS}:{job}", view, most=most, **arguments)

    async def drawn(self, caller: Caller, content: Content, *, as_png: bool = False) -> dict[str, Any]:
        """A content as ``svg`` with ``width`` and ``height``, or as ``png`` in base64, drawn in a worker process.

        Raises:
            InvalidInput: the content is too large for a picture, or nothing renders PNG here.
            Unavailable: the time limit was reached.
        """
        nodes = [(node.label, node.type) for node in content.nodes]
        edges = [(edge.source, edge.target, edge.relation) for edge in content.edges]
        outcome = await self._processes.run(caller.visibility, _DRAWING, nodes=nodes, edges=edges, as_png=as_png)
        if outcome.finds:
            drawn: dict[str, Any] = outcome.finds[0]
            return drawn
        raise Unavailable(
            f"The picture of {len(nodes):,} nodes and {len(edges):,} edges was not drawn within the time limit, "
            f"{self._limit}; the graph is unchanged. Name fewer nodes in nodes, or use the format dot or mermaid."
        )

    def best(self, outcome: "Outcome") -> dict[str, Any]:
        """The last result. Raises Unavailable if there is none."""
        if outcome.finds:
            best: dict[str, Any] = outcome.finds[-1]
            return best
        bound = "its memory limit" if outcome.ending == "memory" else f"its time limit, {self._limit}"
        raise Unavailable(
            f"The analysis reached {bound} without a result; the graph is unchanged. Analyse a part of it: name a "
            "relation, or copy a part into another graph."
        )

    def why(self, outcome: "Outcome", what: str, limit: int, *, all_shown: bool) -> str | None:
        """Why there may be more than was found; None if there is not."""
        match outcome.ending:
            case "most":
                return f"There are more than {limit} {what}; these are the shortest."
            case "late":
                return f"The time limit, {self._limit}, ended the search: there may be more or better {what}."
            case "memory":
                return f"The search took all the memory it may: there may be more or better {what}."
            case _:
                return None if all_shown else f"More {what} were found than an answer can hold."

    @property
    def _processes(self) -> "Workers":
        if self._workers is None:
            from graphiti_pkm.capabilities.scratch.algorithms.worker import Workers  # noqa: PLC0415  (loads NumPy)

            self._workers = Workers(self._seconds)
        return self._workers

    @property
    def _limit(self) -> str:
        return f"{self._seconds:g} s (scratch_seconds)"


def must_have(graph: "ScratchGraph", relation: str | None) -> None:
    """Raises InvalidInput if no edge has this relation."""
    if relation is not None and not graph.count_edges(relation=relation):
        most_used = sorted(graph.relations, key=lambda name: (-graph.relations[name], name))[:_MOST_RELATIONS]
        there_are = f"there are {', '.join(map(shown, most_used))}" if most_used else "there are no edges"
        raise InvalidInput(f"No edge of this graph has the relation {shown(relation)}; {there_are}.")


def _viewed(
    graph: "ScratchGraph", weight: str | None, relation: str | None, gathered: "Gathered", *, undirected: bool
) -> "tuple[View, list[str]]":
    view = graph.view(weight, relation, gathered)
    return view.undirected if undirected else view, [graph.label(index) for index in view.indices.tolist()]
