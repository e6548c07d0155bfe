"""Pages of a search, cut from one ranking, and the message that every search returns."""

from collections.abc import Sequence
from dataclasses import dataclass

from graphiti_pkm.core.reading.paging import Key
from graphiti_pkm.core.reading.ranking import WEAK, Scores, floor_of, items_after, key_of, ranked
from graphiti_pkm.core.reading.reader import Start

ASKED = 10.0
"""Added to the score of a record asked for by name; greater than any fused score."""


@dataclass(frozen=True)
class Slice:
    """One page of a ranking; ``remaining`` starts with it."""

    remaining: list[tuple[str, float]]
    total: int
    """How many were ranked."""
    scores: Scores
    start: Start
    strong: int
    """How many of ``remaining`` come before the scores fall away; 0 once the pages are past that."""

    @property
    def hits(self) -> int | None:
        """How many records match the query: 0, or None (unknown), because everything near in meaning is ranked too."""
        return None if self.total else 0

    def uuids(self, limit: int) -> list[str]:
        """Those of the page, which does not go on beyond the fall of the scores."""
        return [uuid for uuid, _ in self.remaining[: min(limit, self.strong or limit)]]

    def weaker(self, shown: int) -> int | None:
        """How many follow that fit much less, if the page ends where they begin."""
        return len(self.remaining) - shown if shown and shown == self.strong < len(self.remaining) else None

    def shown(self, uuid: str) -> dict[str, object]:
        """The score of a record, with what adds up to it, as fields of its view; one asked for by name has none.

        If fitness boosted it, that is the boosted score, and the other is shown beside it.
        """
        score, plain = self.scores.by_uuid[uuid], self.scores.unboosted.get(uuid)
        if score >= ASKED:
            return {}
        why = {"why": self.scores.why(uuid)}
        if plain is None:
            return {"score": round(score, 3), **why}
        return {"score": round(plain, 3), "boosted_score": round(score, 3), **why}

    def next_key(self, shown: Sequence[str], asked: Sequence[str]) -> Key | None:
        """The key after the last record shown, or after the whole page if all records fitted; None at the end."""
        last = shown[-1] if shown else asked[-1] if asked else None
        if last is None or last == self.remaining[-1][0]:
            return None
        return key_of(last, dict(self.remaining)[last])


def slice_of(scores: Scores, start: Start, weak: float = WEAK) -> Slice:
    """The part of the ranking after the cursor; ``weak``: the share of the best score below which a hit is weak."""
    ranking = ranked(scores.by_uuid, scores.unboosted)
    remaining = items_after(ranking, start.after)
    floor = floor_of((score for _, score in ranking), weak)
    return Slice(remaining, len(ranking), scores, start, sum(score >= floor for _, score in remaining))


def found_message(what: str, count: int, total: int | None, *, is_cut: bool = False, order: str = "best first") -> str:
    """``total``: how many there are, if known; ``is_cut``: whether there may be more than the pages show."""
    if count:
        of = "" if total is None else f" of {total}"
        return f"Found {count} {what}(s){of}, {order}{'; there may be more that fit' if is_cut else ''}"
    return f"Found no {what} that fits" if total == 0 else f"Found no more {what}s"
