"""Collects the nodes and edges of a text, within the limits of a graph, before any graph is changed."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphiti_pkm.capabilities.scratch.formats.values import (
    Place,
    clean_label,
    clean_properties,
    clean_relation,
    clean_type,
    clipped,
)
from graphiti_pkm.capabilities.scratch.limits import LONGEST_LABEL, NONE, Content, ScratchEdge, ScratchNode
from graphiti_pkm.core.model.names import same_key
from graphiti_pkm.errors import InvalidInput
from graphiti_pkm.settings.scratch_limits import ScratchLimits

UNDIRECTED = "The edges have no direction in this text; each was stored once, as it was written."

_MOST_WARNINGS = 5
_MOST_VALUES = 1_000_000
_MOST_CHARACTERS = 16_000_000
_MOST_LISTED = 4
"""Pairs of labels that a warning shows."""
_ROOM = 30
"""Characters reserved for what is appended to a label."""


@dataclass
class _Said:
    """Properties as read, and the place where they were last read."""

    values: Mapping[str, Any]
    at: Place
    is_own: bool = False
    """Whether ``values`` belongs to this item alone and may be modified; edges can share what a text gives once."""


class Collector:
    """Nodes by label and edges by source, target and relation; duplicates are merged."""

    def __init__(self, limits: ScratchLimits) -> None:
        self._limits = limits
        self._types: dict[str, str | None] = {}
        self._properties: dict[str, _Said] = {}
        self._edges: dict[tuple[str, str, str], tuple[str, _Said]] = {}
        self._turned: set[tuple[str, str, str]] = set()
        self._listed: dict[str, str | None] = {}
        self._taken_for: dict[str, str] = {}
        self._warnings: dict[str, None] = {}
        self._values = self._characters = self._told = 0

    def node(self, label: str, kind: object, properties: Mapping[str, Any], at: Place) -> str:
        """Add a node; returns its cleaned label, by which edges must name it."""
        label, kind = clean_label(label, at), clean_type(kind, at)
        if label not in self._types:
            self._put(label, kind)
            key = same_key(label)
            self._listed[key] = None if key in self._listed else label
        elif self._types[label] is None:
            self._types[label] = kind
        elif kind not in (None, self._types[label]):
            self.warn(f"‘{clipped(label)}’ has several types; the first one is kept")
        if properties:
            self._properties[label] = self._merged(self._properties.get(label), properties, at)
        return label

    def edge(
        self,
        source: str,
        target: str,
        relation: str,
        properties: Mapping[str, Any],
        at: Place,
        *,
        directed: bool = True,
    ) -> None:
        """Add an edge and its end nodes; an undirected edge is kept once, in the direction first written."""
        self._told += 1
        if self._told > 2 * self._limits.edges:  # even if most are duplicates
            raise self._too_many("edges", self._limits.edges)
        source, target = self._end(source, at), self._end(target, at)
        relation = clean_relation(relation, at)
        key = (source, target, relation.casefold())
        turned = (target, source, key[2])
        if not directed and key not in self._edges and turned in self._turned:
            key = turned
        if key not in self._edges and len(self._edges) >= self._limits.edges:
            raise self._too_many("edges", self._limits.edges)
        if not directed:
            self._turned.add(key)
        said, known = self._edges.get(key, (relation, None))
        self._edges[key] = (said, self._merged(known, properties, at))

    def charge(self, values: int) -> None:
        """Count copied values: with defaults, a text of 1 MB could otherwise fill the memory.

        Raises:
            InvalidInput: there are too many.
        """
        self._values += values
        if self._values > _MOST_VALUES:
            raise self._too_many("values of properties", _MOST_VALUES)

    def _put(self, label: str, kind: str | None) -> None:
        if len(self._types) >= self._limits.nodes:
            raise self._too_many("nodes", self._limits.nodes)
        self._types[label] = kind

    def _end(self, text: str, at: Place) -> str:
        """The node at an end of an edge: one with this label, the only listed one with the same key, or a new one."""
        label = clean_label(text, at)
        if label in self._types:
            return label
        known = self._taken_for.get(label) or self._listed.get(same_key(label))
        if known is None:
            self._put(label, None)
            return label
        self._taken_for[label] = known
        return known

    def _merged(self, known: "_Said | None", properties: Mapping[str, Any], at: Place) -> "_Said":
        """Merge properties. They are checked only at the end: a text may repeat an item 100,000 times."""
        if known is None or not known.values:
            return _Said(properties, at)
        if not properties:
            return known
        if not known.is_own:
            self.charge(len(known.values))
            known = _Said(dict(known.values), at, is_own=True)
        known.values.update(properties)  # type: ignore[attr-defined]
        known.at = at
        return known

    def warn(self, text: str) -> None:
        """Report once something that could not be read as written."""
        self._warnings.setdefault(text)

    def content(self) -> Content:
        """All nodes and edges; no two labels are the same to a graph."""
        renamed = _told_apart(self._types)
        for label in renamed:
            said = self._properties.get(label, _Said(NONE, label))
            original = "id" if "label" in said.values else "label"
            self._properties[label] = _Said({original: label, **said.values}, said.at)
        called = {label: renamed.get(label, label) for label in self._types}
        return Content(
            tuple(
                ScratchNode(called[label], kind, self._checked(self._properties.get(label)))
                for label, kind in self._types.items()
            ),
            tuple(
                ScratchEdge(called[source], called[target], relation, self._checked(said))
                for (source, target, _), (relation, said) in self._edges.items()
            ),
            self._shown_warnings(renamed),
        )

    def _shown_warnings(self, renamed: Mapping[str, str]) -> tuple[str, ...]:
        warnings = list(self._warnings)
        if len(warnings) > _MOST_WARNINGS:
            warnings[_MOST_WARNINGS:] = [f"and {len(warnings) - _MOST_WARNINGS} more of this kind"]
        if self._taken_for:
            what = "Ends of edges were taken for listed nodes that differ only in case, spaces, - or _"
            warnings.insert(0, _warning_of(what, list(self._taken_for.items()), "for"))
        if renamed:
            what = (
                f"{len(renamed)} nodes have labels that differ from another's only in case, spaces, - or _, which a "
                "graph takes for the same; they were named apart (spell alike what is one node)"
            )
            warnings.insert(0, _warning_of(what, list(renamed.items()), "is now"))
        return tuple(warnings)

    def _checked(self, said: "_Said | None") -> Mapping[str, Any]:
        if said is None or not said.values:
            return NONE
        values, characters = clean_properties(said.values, said.at)
        self._characters += characters
        if self._characters > _MOST_CHARACTERS:
            raise self._too_many("characters of properties", _MOST_CHARACTERS)
        return values

    @staticmethod
    def _too_many(what: str, most: int) -> InvalidInput:
        return InvalidInput(
            f"The text has more than {most:,} {what}, the most that a graph may have. Nothing was stored; send a "
            "part of it."
        )


def labels_of(wanted: Iterable[tuple[str, str | None]]) -> dict[str, str]:
    """The label of each node of a text whose nodes have both ids and labels.

    People use the label, not the id in the text. Nodes that share a label, or whose label is the id of another node,
    keep their ids as labels, so that different nodes stay different.
    """
    called = dict(wanted)
    counts = Counter(label.strip() for label in called.values() if label)
    labels = {}
    for node, label in called.items():
        trimmed = (label or "").strip()
        taken = counts[trimmed] > 1 or (trimmed != node and trimmed in called)
        labels[node] = trimmed if trimmed and not taken else node
    return labels


def _told_apart(types: Mapping[str, str | None]) -> dict[str, str]:
    """New labels for nodes that a graph would take for the same, such as class ``Parser`` and module ``parser``.

    The first keeps its label; later ones get their type or a number appended. The result depends only on the text, so
    that a second import finds the same nodes.
    """
    groups: dict[str, list[str]] = {}
    for label in types:
        groups.setdefault(same_key(label), []).append(label)
    taken, numbers = set(groups), Counter[str]()
    renamed = {}
    for labels in groups.values():
        if len(labels) > 1:
            kinds = Counter(types[label] for label in labels)
            for place, label in enumerate(labels[1:], start=2):
                kind = types[label]
                named = "" if kind is None or kinds[kind] > 1 else _named(label, kind)
                if not named or same_key(named) in taken:
                    named = _numbered(label, place, numbers, taken)
                taken.add(same_key(named))
                renamed[label] = named
    return renamed


def _warning_of(what: str, pairs: Sequence[tuple[str, str]], between: str) -> str:
    """One warning for all pairs, which shows the first few."""
    shown = [f"‘{clipped(first)}’ {between} ‘{clipped(second)}’" for first, second in pairs[:_MOST_LISTED]]
    more = f" and {len(pairs) - _MOST_LISTED} more" if len(pairs) > _MOST_LISTED else ""
    return f"{what}: {', '.join(shown)}{more}."


def _named(label: str, kind: str) -> str:
    named = f"{label} ({kind})"
    return named if len(named) <= LONGEST_LABEL else ""


def _numbered(label: str, place: int, numbers: Counter[str], taken: set[str]) -> str:
    """The label with the next free number; each number is tried only once."""
    stem = label if len(label) <= LONGEST_LABEL - _ROOM else label[: LONGEST_LABEL - _ROOM].rstrip()
    key = same_key(stem)
    number = max(place, numbers[key] + 1)
    while same_key(f"{stem} ({number})") in taken:
        number += 1
    numbers[key] = number
    return f"{stem} ({number})"
