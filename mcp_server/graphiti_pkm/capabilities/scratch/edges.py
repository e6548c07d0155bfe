"""Adding and removing edges of scratch graphs; the ends are named by labels."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from graphiti_pkm.capabilities.scratch.checks import OVERGROWN, checked_label, checked_properties, checked_relation
from graphiti_pkm.capabilities.scratch.graphs.label_forms import in_other_number
from graphiti_pkm.capabilities.scratch.limits import Content, ScratchEdge
from graphiti_pkm.capabilities.scratch.matching.matching import (
    Ambiguous,
    Found,
    Match,
    Matcher,
    Missing,
    ambiguous_text,
    missing_text,
    shown,
)
from graphiti_pkm.capabilities.scratch.matching.similar_nodes import find_similar_labels
from graphiti_pkm.capabilities.scratch.models.answers import (
    AddEdgeResponse,
    AddEdgesResponse,
    EdgeEnds,
    FailedEdge,
    MatchedLabel,
    RemoveEdgeResponse,
)
from graphiti_pkm.capabilities.scratch.models.requests import EdgeInput
from graphiti_pkm.capabilities.scratch.nodes import settled
from graphiti_pkm.capabilities.scratch.pages import fitting
from graphiti_pkm.capabilities.scratch.requests import AddEdge, AddEdges, RemoveEdge
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.names import same_key
from graphiti_pkm.core.waiting import in_thread
from graphiti_pkm.errors import AmbiguousLabel, InvalidInput, NotFound

if TYPE_CHECKING:
    from graphiti_pkm.capabilities.scratch.graphs.graph import Applied, ScratchGraph

_MOST_MATCHED = 50
_FAILURES_ROOM = 12_000
"""Characters for the failed items of a batch."""
_MOST_RELATIONS = 20


class ScratchEdges:
    """``add_edge``, ``add_edges`` and ``remove_edge``."""

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher

    async def add_edge(self, caller: Caller, request: AddEdge) -> AddEdgeResponse:
        """Add one edge, unless an end is ambiguous.

        Raises:
            NotFound: an end matches no node, and ``create_missing`` is not set.
            AmbiguousLabel: two different texts match the same node.
        """
        wanted = ScratchEdge(
            checked_label(request.source),
            checked_label(request.target),
            checked_relation(request.relation),
            checked_properties(request.properties),
        )
        async with self._matcher.writing(caller, request.graph, [wanted.source, wanted.target]) as found:
            if not request.create_missing and (open_question := _unclear(found, wanted)) is not None:
                return open_question
            labels = _labels(found, [wanted], create_missing=request.create_missing)
            if (doubt := _doubt(found, wanted, labels)) is not None:
                raise AmbiguousLabel(f"{doubt}. Nothing was added.")
            edge = _between(wanted, labels)
            new = _new(found, [edge])
            applied = found.graph.apply(Content(edges=(edge,)))
            ends = [found.graph.label(settled(found, end)) for end in (edge.source, edge.target)]
            similar = await find_similar_labels(found, new, self._matcher)
            return AddEdgeResponse(
                **found.opened.message_if_created,
                edge=EdgeEnds(source=ends[0], target=ends[1], relation=_spelled(found.graph, ends, edge.relation)),
                created=bool(applied.edges_added),
                changed=bool(applied.edges_changed),
                source_matched=ends[0],
                target_matched=ends[1],
                source_similarity=_similarity(found, wanted.source, ends[0]),
                target_similarity=_similarity(found, wanted.target, ends[1]),
                nodes_created=new or None,
                similar_existing=similar or None,
                note=found.note if new else None,
            )

    async def add_edges(self, caller: Caller, request: AddEdges) -> AddEdgesResponse:
        """Add the edges whose ends are clear; the others are returned with reasons. Ends are embedded in one batch."""
        wanted, failed = await in_thread(_checked, request.edges)
        texts = [end for edge in wanted for end in (edge.source, edge.target)]
        async with self._matcher.writing(caller, request.graph, texts) as found:
            put = await in_thread(_put, found, wanted, failed, create_missing=request.create_missing)
            kept = fitting(failed, _FAILURES_ROOM) if failed else 0
            return AddEdgesResponse(
                **found.opened.message_if_created,
                added=put.applied.edges_added,
                existing=put.edges - put.applied.edges_added,
                changed=put.applied.edges_changed,
                failed=failed[:kept],
                failed_total=len(failed) if kept < len(failed) else None,
                nodes_created=put.applied.nodes_added if request.create_missing else None,
                matched=_most_doubtful(put.matched),
                similar_existing=await find_similar_labels(found, put.new, self._matcher),
                note=found.note,
            )

    async def remove_edge(self, caller: Caller, request: RemoveEdge) -> RemoveEdgeResponse:
        """Remove the edge of one relation, or of all relations, from one node to another; never the reverse edges."""
        async with self._matcher.writing(
            caller, request.graph, [request.source, request.target], create=False
        ) as found:
            start, end = found.certain(request.source), found.certain(request.target)
            removed = found.graph.remove_edges(
                start.index, end.index, request.relation and checked_relation(request.relation)
            )
            return RemoveEdgeResponse(
                success=bool(removed),
                edges_removed=removed,
                source_matched=start.label,
                target_matched=end.label,
                reason=None if removed else _nothing_removed(found.graph, start, end, request.relation),
            )


def matched(found: Found, texts: Iterable[str]) -> list[MatchedLabel]:
    """The texts that matched a node with another label, the least similar first."""
    meanings = ((text, found.meanings[text]) for text in dict.fromkeys(texts))
    return _most_doubtful(
        MatchedLabel(text=text, matched=one.label, similarity=one.shown_similarity)
        for text, one in meanings
        if isinstance(one, Match) and one.label != text
    )


def _most_doubtful(labels: Iterable[MatchedLabel]) -> list[MatchedLabel]:
    return sorted(labels, key=lambda one: one.similarity)[:_MOST_MATCHED]


class _Put(NamedTuple):
    """What a batch of edges did."""

    edges: int
    """Edges that are in the graph now, new or not."""
    new: list[str]
    """Labels of nodes that were created."""
    matched: list[MatchedLabel]
    """Ends that differ from their node's label in more than case, spaces, hyphens and underscores."""
    applied: "Applied"


def _put(found: Found, wanted: Sequence[ScratchEdge], failed: list[FailedEdge], *, create_missing: bool) -> _Put:
    """Add the edges whose ends are clear, and append the others to ``failed``."""
    reasons = [[] if create_missing else list(_problems(found, edge)) for edge in wanted]
    failed += [
        FailedEdge(edge=_ends(edge), reason="; ".join(why)) for edge, why in zip(wanted, reasons, strict=True) if why
    ]
    clear = [edge for edge, why in zip(wanted, reasons, strict=True) if not why]
    labels = _labels(found, clear, create_missing=create_missing)
    doubts = [_doubt(found, edge, labels) for edge in clear]
    failed += [FailedEdge(edge=_ends(edge), reason=doubt) for edge, doubt in zip(clear, doubts, strict=True) if doubt]
    good = [_between(edge, labels) for edge, doubt in zip(clear, doubts, strict=True) if not doubt]
    _, grown = found.graph.overgrown(Content(edges=tuple(good)))
    failed += [FailedEdge(edge=_ends(good[at]), reason=OVERGROWN) for at in grown]
    good = [edge for at, edge in enumerate(good) if at not in grown]
    new = _new(found, good)
    applied = found.graph.apply(Content(edges=tuple(good)))
    for label in new:
        settled(found, label)
    return _Put(
        len(good),
        new,
        [
            MatchedLabel(text=text, matched=label, similarity=_shown_similarity(found, text))
            for text, label in labels.items()
            if same_key(text) != same_key(label)
        ],
        applied,
    )


def _checked(edges: Sequence[EdgeInput]) -> tuple[list[ScratchEdge], list[FailedEdge]]:
    good: list[ScratchEdge] = []
    failed: list[FailedEdge] = []
    for edge in edges:
        try:
            source, target = checked_label(edge.source), checked_label(edge.target)
            good.append(
                ScratchEdge(source, target, checked_relation(edge.relation), checked_properties(edge.properties))
            )
        except InvalidInput as error:
            failed.append(FailedEdge(edge=_ends(edge), reason=error.message))
    return good, failed


def _ends(edge: ScratchEdge | EdgeInput) -> EdgeEnds:
    return EdgeEnds(source=edge.source, target=edge.target, relation=edge.relation)


def _between(edge: ScratchEdge, labels: Mapping[str, str]) -> ScratchEdge:
    return ScratchEdge(labels[edge.source], labels[edge.target], edge.relation, edge.properties)


def _labels(found: Found, edges: Iterable[ScratchEdge], *, create_missing: bool) -> dict[str, str]:
    """The label under which each end is written: that of its node, or its own if the node is created."""
    labels: dict[str, str] = {}
    new: dict[str, str] = {}
    for end in dict.fromkeys(end for edge in edges for end in (edge.source, edge.target)):
        meaning = found.to_write(end)
        if isinstance(meaning, Match) and not (create_missing and meaning.how == "cut"):
            labels[end] = meaning.label
        else:
            keys = map(same_key, (end, *in_other_number(end)))
            labels[end] = next((new[key] for key in keys if key in new), end)
            new[same_key(labels[end])] = labels[end]
    return labels


def _new(found: Found, edges: Iterable[ScratchEdge]) -> list[str]:
    """The ends for which there is no node yet."""
    ends = dict.fromkeys(end for edge in edges for end in (edge.source, edge.target))
    return [end for end in ends if found.graph.find(end) is None]


def _unclear(found: Found, edge: ScratchEdge) -> AddEdgeResponse | None:
    """The answer if an end is ambiguous; None if both ends are clear.

    Raises:
        NotFound: an end matches no node.
    """
    meanings = {end: found.to_write(text) for end, text in (("source", edge.source), ("target", edge.target))}
    problems = "; ".join(_problems(found, edge))
    if any(isinstance(meaning, Missing) for meaning in meanings.values()):
        raise NotFound(
            f"{problems}. Nothing was added. Add the node with add_node, repeat with one of these labels, or set "
            f"create_missing.{f' ({found.note}.)' if found.note else ''}"
        )
    if not problems:
        return None
    candidates = {
        f"{end}_candidates": [one.view for one in meaning.candidates]
        for end, meaning in meanings.items()
        if isinstance(meaning, Ambiguous)
    }
    return AddEdgeResponse(status="ambiguous", message=f"{problems}. Nothing was added.", **candidates)


def _problems(found: Found, edge: ScratchEdge) -> Iterator[str]:
    """The reasons why an end means no node."""
    for end, text in (("source", edge.source), ("target", edge.target)):
        meaning = found.to_write(text)
        if isinstance(meaning, Missing):
            yield f"{end}: {missing_text(text, meaning, found.opened.name)}"
        elif isinstance(meaning, Ambiguous):
            yield f"{end}: {ambiguous_text(text, meaning)}, or set create_missing if it is another node"


def _doubt(found: Found, edge: ScratchEdge, labels: Mapping[str, str]) -> str | None:
    """Says so if two different texts mean the same node; None if the ends are clear."""
    label = labels[edge.source]
    if same_key(edge.source) == same_key(edge.target) or same_key(label) != same_key(labels[edge.target]):
        return None
    similarity = min(_shown_similarity(found, text) for text in (edge.source, edge.target))
    return (
        f"{shown(edge.source)} and {shown(edge.target)} are both taken for {shown(label)} ({similarity:.3f}); add_node "
        "adds one of its own, and an edge of a node to itself has the same text twice"
    )


def _shown_similarity(found: Found, text: str) -> float:
    """The similarity of an end to the label under which it is written."""
    meaning = found.meanings[text]
    return meaning.shown_similarity if isinstance(meaning, Match) and meaning.how == "cut" else 1.0


def _similarity(found: Found, text: str, label: str) -> float | None:
    """The similarity of an end to the matched label; None if they are equal."""
    meaning = found.meanings[text]
    return meaning.shown_similarity if isinstance(meaning, Match) and text != label == meaning.label else None


def _spelled(graph: "ScratchGraph", ends: Sequence[str], relation: str) -> str:
    """The graph's spelling of a relation."""
    source, target = (graph.find(end) for end in ends)
    return next((edge.relation for edge in graph.edges(source, target, relation)), relation)


def _nothing_removed(graph: "ScratchGraph", start: Match, end: Match, relation: str | None) -> str:
    there = [shown(edge.relation) for edge in islice(graph.edges(start.index, end.index), _MOST_RELATIONS)]
    back = graph.count_edges(end.index, start.index)
    told = f"No edge{f' {shown(relation)}' if relation else ''} from {shown(start.label)} to {shown(end.label)}"
    told += f"; from there go: {', '.join(there)}" if there else ""
    return told + (f"; the other way round there {'is one' if back == 1 else f'are {back}'}" if back else "") + "."
