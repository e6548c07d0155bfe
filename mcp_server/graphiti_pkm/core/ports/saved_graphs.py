"""Saved scratch graphs: what is stored, where, and which of them a forgetting write removes."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from graphiti_pkm.core.model.records import STATUS_WORD, Fact, Forgetting, Record, WriteIntent
from graphiti_pkm.core.model.scratch_marks import FACT_UUIDS, SENTENCE, VALUE

_TOKEN = re.compile(r"[\w-]+")


class SavedGraph(Record):
    """A saved graph in a list."""

    name: str
    saved_at: datetime
    nodes: int
    edges: int


class SavedGraphContent(Record):
    """A saved graph with its content."""

    uuid: str
    owner: tuple[str, ...]
    """``Caller.own_visibility`` of the owner: the principal and the groups its token was limited to."""
    name: str
    saved_at: datetime
    groups: tuple[str, ...]
    """Stored groups from which a part of it was loaded."""
    nodes: int
    edges: int
    content: str
    """JSON: nodes as [label, type, properties], edges as [source, target, relation, properties]."""


class SavedGraphs(Protocol):
    """Saved graphs by owner and name."""

    async def save(self, graph: SavedGraphContent, most: int, most_characters: int) -> bool:
        """Save it durably, replacing one of the same owner and name; returns whether there was one.

        Raises:
            TooLarge: the owner would have more than ``most``, or more characters in all; nothing was changed.
            Unavailable: it cannot be written.
        """
        ...

    async def listed(self, owner: Sequence[str]) -> list[SavedGraph]:
        """By name."""
        ...

    async def find(self, owner: Sequence[str], name: str) -> SavedGraphContent | None:
        """One with its content."""
        ...

    async def delete(self, owner: Sequence[str], name: str) -> SavedGraph | None:
        """Delete it durably; returns the deleted one, or None."""
        ...


def is_lost(graph: SavedGraphContent, forgetting: WriteIntent) -> bool:
    """Whether a forgetting write removes a saved graph: it is named, or contains removed data of this group."""
    forgets = forgetting.forgets or Forgetting()
    if graph.uuid in forgets.saved_graphs:
        return True
    if forgetting.group_id not in graph.groups:
        return False
    if forgetting.group_id in forgetting.deletions.groups:
        return True
    held = frozenset(_TOKEN.findall(graph.content))
    gone = {*forgetting.deletions.entities, *forgetting.deletions.facts, *forgets.facts}
    left = {fact.uuid: fact for fact in forgetting.facts if fact.uuid in held}
    return not gone.isdisjoint(held) or (bool(left) and _differs_from_facts(graph, left))


def texts_in(value: object) -> Iterator[str]:
    """Every text of a JSON value, including property names."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield str(name)
            yield from texts_in(item)
    elif isinstance(value, Sequence):
        for item in value:
            yield from texts_in(item)


def _differs_from_facts(graph: SavedGraphContent, left: Mapping[str, Fact]) -> bool:
    """Whether an edge differs from the remaining text of the fact that it was loaded from."""
    for _, _, _, properties in json.loads(graph.content)["edges"]:
        fact = next((left[uuid] for uuid in properties.get(FACT_UUIDS) or () if uuid in left), None)
        if fact is not None and not (
            is_start(properties.get(SENTENCE), fact.text)
            and properties.get(VALUE) in (None, fact.value, fact.attributes.get(STATUS_WORD))
        ):
            return True
    return False


def is_start(said: object, text: str) -> bool:
    """Whether an edge says the same as its fact, possibly shortened, or nothing."""
    if not isinstance(said, str) or said == text:
        return said is None or said == text
    return said.endswith("…") and text.startswith(said[:-1])
