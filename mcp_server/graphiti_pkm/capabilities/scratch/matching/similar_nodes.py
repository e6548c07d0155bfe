"""Reports added nodes that may duplicate an existing node or another one of the same call."""

from collections.abc import Iterable, Sequence
from itertools import islice

from graphiti_pkm.capabilities.scratch.graphs.label_forms import Likeness
from graphiti_pkm.capabilities.scratch.matching.matching import (
    COMPARED,
    Candidate,
    Found,
    Matcher,
    names_agree,
    similarity_of,
)
from graphiti_pkm.capabilities.scratch.models.answers import SimilarLabels
from graphiti_pkm.core.waiting import in_thread

_MOST_LISTED = 20
"""Nodes reported for one call."""


async def find_similar_labels(found: Found, labels: Iterable[str], matcher: Matcher) -> list[SimilarLabels]:
    """Added nodes with the nodes that they are similar to. Their vectors are stored and the graph is locked."""

    def work() -> list[SimilarLabels]:
        added = _by_node(found, labels)
        within = _within(found, added, matcher.threshold) if len(added) > 1 else {}
        near = ((label, _most_similar(found, label, within.get(node, []), matcher)) for node, label in added.items())
        told = (SimilarLabels(label=label, similar_existing=[one.view for one in own]) for label, own in near if own)
        return list(islice(told, _MOST_LISTED))

    return await in_thread(work)


def _by_node(found: Found, labels: Iterable[str]) -> dict[int, str]:
    """The first label given for each node."""
    added: dict[int, str] = {}
    for label in labels:
        node = found.graph.find(label)
        if node is not None:
            added.setdefault(node, label)
    return added


def _most_similar(found: Found, label: str, within: Sequence[Candidate], matcher: Matcher) -> list[Candidate]:
    before = [one for one in found.candidates(label) if one.similarity >= matcher.threshold]
    return sorted([*before, *within], key=lambda one: -one.similarity)[: matcher.most]


def _within(found: Found, added: dict[int, str], threshold: float) -> dict[int, list[Candidate]]:
    """For each node the similar ones before it in the same call. Nodes of a numbered series are not duplicates."""
    from graphiti_pkm.capabilities.scratch.graphs.label_vectors import LabelVectors  # noqa: PLC0415  (NumPy is loaded with the first graph)

    vectors = {node: found.vectors[label] for node, label in added.items() if label in found.vectors}
    batch = LabelVectors()
    for node, vector in vectors.items():
        batch.add(node, vector)
    nearest = batch.nearest_of(list(vectors.values()), COMPARED) if vectors else []
    place = {node: at for at, node in enumerate(added)}
    alike: dict[int, list[Candidate]] = {}
    least = 2 * threshold - 1  # below this cosine no lexical similarity reaches the threshold
    for node, near in zip(vectors, nearest, strict=True):
        if len(alike) == _MOST_LISTED:
            break
        likeness = Likeness(added[node])
        for other, cosine in near:
            if place[other] >= place[node] or cosine < least:
                continue
            similarity = similarity_of(cosine, likeness.to(added[other]))
            if similarity >= threshold and _are_no_series(added[node], added[other]):
                alike.setdefault(node, []).append(Candidate(other, found.graph.label(other), similarity))
    return alike


def _are_no_series(one: str, other: str) -> bool:
    return names_agree(one, other) and names_agree(other, one)
