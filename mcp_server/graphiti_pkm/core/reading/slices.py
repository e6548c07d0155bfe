"""Pages of a search, cut from one ranking, and what every search says about them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graphiti_pkm.core.reading.paging import Key
from graphiti_pkm.core.reading.ranking import items_after, key_of, ranked
from graphiti_pkm.core.reading.reader import Start

ASKED = 10.0
"""What a score gains if it was asked for by name: more than any fused score."""
_LARGEST_PAGE = 200


@dataclass(frozen=True)
class Slice:
    """One page of a ranking; ``remaining`` starts with it."""

    remaining: list[tuple[str, float]]
    total: int
    """How many were ranked."""
    start: Start

    @property
    def hits(self) -> int | None:
        """How many fit a query: none, or nobody knows, as whatever is near in meaning is ranked as well."""
        return None if self.total else 0

    def uuids(self, limit: int) -> list[str]:
        return [uuid for uuid, _ in self.remaining[:limit]]

    def scores(self) -> dict[str, float]:
        """As shown; those asked for by name have none."""
        return {uuid: round(score, 3) for uuid, score in self.remaining[:_LARGEST_PAGE] if score < ASKED}

    def next_key(self, shown: Sequence[str], asked: Sequence[str]) -> Key | None:
        """After the last one shown, or after the whole page if all that is left of it fitted; None at the end."""
        last = shown[-1] if shown else asked[-1] if asked else None
        if last is None or last == self.remaining[-1][0]:
            return None
        return key_of(last, dict(self.remaining)[last])


def slice_of(scores: Mapping[str, float], start: Start) -> Slice:
    """What follows the cursor in the ranking of these scores."""
    ranking = ranked(scores)
    return Slice(items_after(ranking, start.after), len(ranking), start)


def found_message(what: str, count: int, total: int | None, *, is_cut: bool = False) -> str:
    """``total``: how many there are, if that is known; ``is_cut``: whether there may be more than the pages bring."""
    if count:
        of = "" if total is None else f" of {total}"
        return f"Found {count} {what}(s){of}, best first{'; there may be more that fit' if is_cut else ''}"
    return f"Found no {what} that fits" if total == 0 else f"Found no more {what}s"
