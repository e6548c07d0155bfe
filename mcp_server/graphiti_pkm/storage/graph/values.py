"""Values of queries that the databases represent differently.

An instant is a text in FalkorDB and a DateTime in Neo4j: both as Graphiti stores them, so that either program reads
what the other wrote. "Unknown" in a comparison is ``$dawn`` or ``$dusk``, before and after every instant.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from graphiti_pkm.core.model.times import iso

DAWN, DUSK = "dawn", "dusk"
"""Parameters that a database adds to queries that name them."""
_LATEST = datetime.max.replace(tzinfo=UTC)


class Instant(str):
    """An instant as ISO-8601 in UTC; empty: before all."""

    __slots__ = ()

    @classmethod
    def of(cls, moment: datetime) -> "Instant":
        """A naive datetime is taken as UTC."""
        return cls(iso(moment))

    @classmethod
    def until(cls, moment: datetime | None) -> "Instant":
        """The end of a period; an instant after all others for a period without end."""
        return cls.of(moment or _LATEST)

    @classmethod
    def known(cls, moment: datetime | None) -> "Instant | None":
        """As ``of``, but None for None."""
        return None if moment is None else cls.of(moment)


class SearchText(str):
    """Folded words for the full-text index."""

    __slots__ = ()


class FullText(NamedTuple):
    """Searches any of the words, in any of the scopes."""

    scopes: Sequence[str]
    words: Sequence[str]
    """Folded: letters and digits only."""
    prefix: str = ""
    """Prefix of the properties ``scope`` and ``text``."""
    are_phrases: bool = False
    """Whether the words must be adjacent, as spelled."""


def keys_after(keys: Sequence[object] | None, instants: Sequence[int]) -> dict[str, object]:
    """A cursor's sort keys as parameters ``c0`` and so on; ``instants``: positions of instants."""
    return {
        f"c{place}": Instant(key) if place in instants and isinstance(key, str) else key
        for place, key in enumerate(keys or ())
    }
