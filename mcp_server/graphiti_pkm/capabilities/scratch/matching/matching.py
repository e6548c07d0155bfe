"""Matches texts with the labels of a scratch graph: exact, normalised, without punctuation, or by similarity.

The graph is locked twice: first to find the texts that match no label by their form, then, after these were embedded in
one batch without the lock, to find the most similar labels.
"""

import math
import re
from bisect import bisect_left
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Literal, TypeAlias

from graphiti_pkm.capabilities.scratch.checks import checked_label
from graphiti_pkm.capabilities.scratch.graphs.label_forms import Forms, Likeness, cuts_short, in_other_number, words
from graphiti_pkm.capabilities.scratch.models.answers import LabelCandidate
from graphiti_pkm.capabilities.scratch.tenants import OpenGraph, ScratchGraphs
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.records import Vector
from graphiti_pkm.core.ports.ports import Embedder
from graphiti_pkm.core.waiting import in_thread
from graphiti_pkm.embedding.write_vectors import embed_by_text
from graphiti_pkm.errors import AmbiguousLabel, NotFound

if TYPE_CHECKING:
    from graphiti_pkm.capabilities.scratch.graphs.graph import ScratchGraph
    from graphiti_pkm.settings.loader import Settings

How: TypeAlias = Literal["exact", "normalised", "alias", "plural", "cut", "loose", "similar", "beginning"]
"""normalised: but for case, spaces, hyphens, underscores. alias: another name that memory has. cut: words cut short.
loose: but for all punctuation. beginning: the first words of one label only; to read."""
_CERTAIN = frozenset({"exact", "normalised", "alias", "plural", "cut"})

NO_VECTORS = "labels were compared by letters and words only: there is no embedding model now, see get_status"
STILL_EMBEDDING = "the labels of this graph are still being embedded: {} of {} are compared by letters and words only"

COMPARED = 20
"""Nearest labels of a text that are also compared by words and letters."""
_MOST_PENDING = 1_000
"""Pending labels that one call embeds, in about one second."""
_MOST_BY_LETTERS = 10
"""Texts per call that are compared with all labels without a vector: 0.1 s each for 10,000 labels."""
_NEAR = 0.4
"""The minimum similarity of suggestions where nothing matches."""
_SHOWN_PARTS = 1_000
_DECIMALS = 6
"""Cosines come from 32-bit floats; further decimals are noise, and 0.75 must be 0.75."""
_TOLERANCE = 1e-9
_ROUNDING = 1e-6
"""Corrects floating-point errors: 0.29 * 100 is 28.999999999999996."""
_CHUNK = 250
_SHOWN = 60
_NUMBERS = re.compile(r"\d+")


@dataclass(frozen=True)
class Candidate:
    """A node that a text may refer to."""

    index: int
    label: str
    similarity: float

    @property
    def shown_similarity(self) -> float:
        """The similarity rounded down to three places, so that it never appears to reach a threshold that it misses."""
        return math.floor(self.similarity * _SHOWN_PARTS + _ROUNDING) / _SHOWN_PARTS

    @property
    def view(self) -> LabelCandidate:
        """The form in answers."""
        return LabelCandidate(label=self.label, similarity=self.shown_similarity)


@dataclass(frozen=True)
class Match(Candidate):
    """The node that a text refers to."""

    how: How


@dataclass(frozen=True)
class Ambiguous:
    """Several candidates, the best first, none of them with a sufficient lead."""

    candidates: tuple[Candidate, ...]


@dataclass(frozen=True)
class Missing:
    """No match; ``near`` holds the most similar nodes, if any."""

    near: tuple[Candidate, ...] = ()


Meaning: TypeAlias = Match | Ambiguous | Missing


@dataclass(frozen=True)
class Found:
    """A locked graph, and the meaning of each text in it."""

    opened: OpenGraph
    meanings: Mapping[str, Meaning]
    vectors: Mapping[str, Vector]
    """Vectors of texts that are not labels yet, for nodes that are added now."""
    note: str | None = None
    """Says so if labels were not compared by meaning."""

    @property
    def graph(self) -> "ScratchGraph":
        return self.opened.graph

    def match(self, text: str) -> Match:
        """The one node that a text refers to.

        Raises:
            AmbiguousLabel: several nodes match; the message lists them.
            NotFound: none matches; the message lists similar ones.
        """
        meaning = self.meanings[text.strip()]
        if isinstance(meaning, Match):
            return meaning
        if isinstance(meaning, Ambiguous):
            raise AmbiguousLabel(f"{ambiguous_text(text, meaning)}.{self._noted()}")
        raise NotFound(
            f"{missing_text(text, meaning, self.opened.name)}; list_nodes lists them, add_node adds one.{self._noted()}"
        )

    def matches(self, texts: Sequence[str]) -> list[Match]:
        """The node of each text. Raises as ``match``; one error says it of all texts."""
        found: list[Match] = []
        failed: dict[str, AmbiguousLabel | NotFound] = {}
        for text in texts:
            try:
                found.append(self.match(text))
            except (AmbiguousLabel, NotFound) as error:
                failed[text] = error
        if failed:
            first, *more = failed.values()
            raise type(first)("\n".join(map(str, failed.values()))) if more else first
        return found

    def to_write(self, text: str) -> Meaning:
        """What a text means as the end of a new edge: what is only near may be meant, and is a candidate."""
        meaning = self.meanings[text]
        return Ambiguous((meaning,)) if isinstance(meaning, Match) and meaning.how not in _CERTAIN else meaning

    def certain(self, text: str) -> Match:
        """The one node with exactly this label, for removals and the like: similarity is not enough.

        Raises:
            AmbiguousLabel: there are only similar nodes; the message lists them.
            NotFound: there is not even a similar node.
        """
        meaning = self.meanings[text.strip()]
        if isinstance(meaning, Match) and self.graph.find(text) == meaning.index:
            return meaning
        candidates = self.candidates(text)
        if not candidates:
            return self.match(text)
        raise AmbiguousLabel(
            f"No node has exactly the label {shown(text)}; nothing was changed. Similar labels: "
            f"{candidates_text(candidates)}. Repeat with one of these.{self._noted()}"
        )

    def candidates(self, text: str) -> tuple[Candidate, ...]:
        """The candidates for a text, the best first."""
        meaning = self.meanings[text.strip()]
        if isinstance(meaning, Match):
            return (meaning,)
        return meaning.candidates if isinstance(meaning, Ambiguous) else meaning.near

    def _noted(self) -> str:
        return f" ({self.note}.)" if self.note else ""


@dataclass(frozen=True)
class _Prepared:
    """The result of the first lookup, and the vectors made after it."""

    opened: OpenGraph
    version: int
    known: Mapping[str, int]
    """The nodes of texts that are labels."""
    vectors: dict[str, Vector] | None
    """By words; None if the embedding model is unavailable."""


class Matcher:
    """Finds the nodes that callers name."""

    def __init__(self, graphs: ScratchGraphs, embedder: Embedder, settings: "Settings") -> None:
        self._graphs = graphs
        self._embedder = embedder
        self._threshold = settings.similarity_threshold
        self._margin = settings.ambiguity_threshold
        self._most = settings.max_candidates

    @property
    def threshold(self) -> float:
        """The similarity from which a label matches."""
        return self._threshold

    @property
    def most(self) -> int:
        """The number of candidates returned for a text."""
        return self._most

    @asynccontextmanager
    async def reading(self, caller: Caller, graph: str, texts: Iterable[str]) -> AsyncIterator[Found]:
        """Lock an existing graph and match ``texts`` in it. Raises as ``ScratchGraphs.reading``."""
        sought = _sought(texts)
        prepared = await self._prepare(self._graphs.reading(caller, graph), sought)
        async with self._graphs.reading(caller, graph) as opened:
            found = await in_thread(self._found, opened, sought, prepared)
            yield await in_thread(_with_beginnings, found)

    @asynccontextmanager
    async def writing(
        self, caller: Caller, graph: str, texts: Iterable[str], *, create: bool = True
    ) -> AsyncIterator[Found]:
        """Lock a graph to change it and match ``texts`` in it. Raises as ``ScratchGraphs.writing``."""
        sought = _sought(texts)
        prepared = await self._prepare(self._graphs.writing(caller, graph, create=create), sought)
        async with self._graphs.writing(caller, graph, create=create) as opened:
            yield await in_thread(self._found, opened, sought, prepared)

    async def _prepare(self, holding: AbstractAsyncContextManager[OpenGraph], texts: Sequence[str]) -> "_Prepared":
        """Embeds the texts that are not labels and, if there are any, pending labels to compare them with."""
        async with holding as opened:
            graph, version = opened.graph, opened.graph.version

            def look() -> tuple[dict[str, int], list[str]]:
                known = {text: index for text in texts if (index := graph.find(text)) is not None}
                unknown = [text for text in texts if text not in known]
                most = _MOST_PENDING if unknown else 0
                pending = [graph.label(index) for index in islice(graph.vectors.pending, most)]
                return known, _distinct(words(text) for text in [*unknown, *pending])

            known, wanted = await in_thread(look)
        return _Prepared(opened, version, known, await embed_by_text(self._embedder, wanted) if wanted else {})

    def _found(self, opened: OpenGraph, texts: Sequence[str], prepared: "_Prepared") -> Found:
        """Matches the texts. Runs in a thread while the graph is locked."""
        graph, vectors = opened.graph, prepared.vectors or {}
        for index in list(graph.vectors.pending) if vectors else ():
            if (vector := vectors.get(words(graph.label(index)))) is not None:
                graph.vectors.add(index, vector)
        is_as_it_was = opened is prepared.opened and graph.version == prepared.version
        known = prepared.known if is_as_it_was else {}
        meanings = {text: meaning for text in texts if (meaning := _by_form(graph, text, known.get(text))) is not None}
        unknown = [text for text in texts if text not in meanings]
        if unknown:
            meanings.update(self._similar(graph, unknown, prepared.vectors))
        own = {text: vectors[said] for text in texts if (said := words(text)) in vectors} if vectors else {}
        return Found(opened, meanings, own, _note(graph, prepared.vectors) if unknown else None)

    def _similar(
        self, graph: "ScratchGraph", texts: Sequence[str], vectors: Mapping[str, Vector] | None
    ) -> dict[str, Meaning]:
        """Matches texts that are not labels by similarity."""
        nearest: dict[str, list[tuple[int, float]]] = {}
        own = {text: vectors[said] for text in texts if (said := words(text)) in vectors} if vectors else {}
        known = list(own)
        for start in range(0, len(known), _CHUNK):
            chunk = known[start : start + _CHUNK]
            found = graph.vectors.nearest_of([own[text] for text in chunk], max(COMPARED, self._most))
            nearest.update(zip(chunk, found, strict=True))
        unseen = [(index, None) for index in (graph.order() if vectors is None else graph.vectors.pending)]
        meanings: dict[str, Meaning] = {}
        forms = Forms()
        for number, text in enumerate(texts):
            near = [*nearest.get(text, ()), *(unseen if number < _MOST_BY_LETTERS else ())]
            seen = {index for index, _ in nearest.get(text, ())}
            meanings[text] = self._meant(text, self._ranked(graph, text, near, forms), seen)
        return meanings

    def _ranked(
        self, graph: "ScratchGraph", text: str, near: Iterable[tuple[int, float | None]], forms: Forms
    ) -> list[Candidate]:
        """Candidates, the best first; labels without a vector are compared by letters and words only."""
        likeness = Likeness(text, forms)
        ranked, least = [], min(_NEAR, self._threshold)
        for index, cosine in near:
            label = graph.label(index)
            similarity = similarity_of(cosine, likeness.to(label))
            if similarity >= least:
                ranked.append(Candidate(index, label, similarity))
        ranked.sort(key=lambda one: (-one.similarity, graph.sequence(one.index)))
        return ranked

    def _meant(self, text: str, ranked: Sequence[Candidate], seen: Collection[int]) -> Meaning:
        """A match if the best candidate reaches the threshold, leads by the margin and was compared by meaning.

        ``seen``: the nodes that were compared by meaning.
        """
        able = [one for one in ranked if one.similarity >= self._threshold and names_agree(text, one.label)]
        if not seen or not able:
            return Missing(tuple(ranked[: self._most]))
        best = able[0]
        if best.index not in seen or (
            len(able) > 1 and best.similarity - able[1].similarity <= self._margin + _TOLERANCE
        ):
            return Ambiguous(tuple(able[: self._most]))
        is_cut = cuts_short(text, best.label) and not any(cuts_short(text, one.label) for one in ranked if one != best)
        return Match(best.index, best.label, best.similarity, "cut" if is_cut else "similar")


def _by_form(graph: "ScratchGraph", text: str, known: int | None) -> Meaning | None:
    """Matches a text by its form; in the other number, or without punctuation, only if that is unambiguous.

    ``known``: the node that the first lookup found, if it is still valid.
    """
    index = graph.find(text) if known is None else known
    if index is not None:
        label = graph.label(index)
        return Match(index, label, 1.0, "exact" if label == text.strip() else "normalised")
    aliases = [Match(index, graph.label(index), 1.0, "alias") for index in graph.called(text)]
    plurals = {index for form in in_other_number(text) if (index := graph.find(form)) is not None}
    found = (
        aliases
        or [Match(index, graph.label(index), 1.0, "plural") for index in sorted(plurals)]
        or [Match(index, graph.label(index), 1.0, "loose") for index in graph.loose(text)]
    )
    if len(found) > 1:
        return Ambiguous(tuple(found))
    return found[0] if found else None


def _with_beginnings(found: Found) -> Found:
    """Texts that are not found become the one label that begins so. Runs in a thread while the graph is locked."""
    starts = {
        text: f"{words(text).casefold()} " for text, meaning in found.meanings.items() if isinstance(meaning, Missing)
    }
    if not starts:
        return found
    labels = sorted((words(found.graph.label(index)).casefold(), index) for index in found.graph.order())
    meanings = dict(found.meanings)
    for text, start in starts.items():
        at = bisect_left(labels, (start, -1))
        begun = [index for label, index in labels[at : at + 2] if label.startswith(start)]
        if len(begun) == 1:
            meanings[text] = Match(begun[0], found.graph.label(begun[0]), 1.0, "beginning")
    return replace(found, meanings=meanings)


def similarity_of(cosine: float | None, alike: float) -> float:
    """The similarity of two labels from the cosine of their vectors, if known, and their lexical similarity."""
    return round(alike if cosine is None else max(cosine, (cosine + alike) / 2), _DECIMALS)


def names_agree(text: str, label: str) -> bool:
    """Whether a label has every number and single letter of a text, as "order 12" does not match "order 11"."""
    return _apart(text) <= _apart(label)


def _apart(text: str) -> set[str]:
    said = words(text).casefold()
    letters = {word for word in said.split()[said.startswith("a ") :] if len(word) == 1 and word.isalpha()}
    return letters | {str(int(number)) for number in _NUMBERS.findall(said)}


def _note(graph: "ScratchGraph", prepared: dict[str, Vector] | None) -> str | None:
    if prepared is None:
        return NO_VECTORS
    pending = len(graph.vectors.pending)
    return STILL_EMBEDDING.format(pending, graph.node_count) if pending else None


def _sought(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(checked_label(text) for text in texts))


def _distinct(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(texts))


def shown(text: str) -> str:
    """A label for a message, shortened if necessary."""
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…")


def candidates_text(candidates: Sequence[Candidate]) -> str:
    """E.g. 'AuthService' (0.820), 'PaymentService' (0.811)."""
    return ", ".join(f"{shown(one.label)} ({one.shown_similarity:.3f})" for one in candidates)


def ambiguous_text(text: str, meaning: Ambiguous) -> str:
    """Says that a text is ambiguous, and what to do."""
    candidates = candidates_text(meaning.candidates)
    return f"{shown(text)} may mean {candidates}; be more specific and repeat with one of these labels"


def missing_text(text: str, meaning: Missing, graph: str) -> str:
    """Says that no node matches a text, with the most similar ones."""
    near = f"; nearest: {candidates_text(meaning.near)}" if meaning.near else ""
    return f"No node {shown(text)} in scratch graph {shown(graph)}{near}"
