"""Values of queries that the databases write in different ways.

To FalkorDB an instant is its text, to Neo4j a DateTime: each is what Graphiti stores there, so that either reads what
the other wrote. Both take "unknown" in a comparison as ``$dawn`` or ``$dusk``, which are before and after every
instant.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from graphiti_pkm.core.model.times import iso

DAWN, DUSK = "dawn", "dusk"
"""Parameters that a database adds to a query whose text names them."""
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
        """The end of a period; of one without an end, an instant after all others."""
        return cls.of(moment or _LATEST)

    @classmethod
    def known(cls, moment: datetime | None) -> "Instant | None":
        """None of None."""
        return None if moment is None else cls.of(moment)


class SearchText(str):
    """Folded words that full text is to hold."""

    __slots__ = ()


class FullText(NamedTuple):
    """Any of the words, in any of the scopes."""

    scopes: Sequence[str]
    words: Sequence[str]
    """Folded: letters and digits only."""
    prefix: str = ""
    """Of the properties ``scope`` and ``text``."""
    are_phrases: bool = False
    """Words that have to stand together, as they are spelt."""


def keys_after(keys: Sequence[object] | None, instants: Sequence[int]) -> dict[str, object]:
    """A cursor's sort keys as parameters ``c0`` and so on; ``instants`` are the places of those that are instants."""
    return {
        f"c{place}": Instant(key) if place in instants and isinstance(key, str) else key
        for place, key in enumerate(keys or ())
    }
