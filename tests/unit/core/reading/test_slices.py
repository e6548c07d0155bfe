"""Pages of one ranking end where the scores fall away, and go on there."""

from datetime import UTC, datetime

from graphiti_pkm.core.reading.paging import Key
from graphiti_pkm.core.reading.ranking import Scores
from graphiti_pkm.core.reading.reader import Start
from graphiti_pkm.core.reading.slices import ASKED, slice_of
from graphiti_pkm.core.signing import Signer

SCORES = {"a": 0.9, "b": 0.8, "c": 0.7, "d": 0.1, "e": 0.05, "f": 0.01}


def start(after: Key | None = None) -> Start:
    return Start(after, datetime(2026, 3, 1, tzinfo=UTC), {}, Signer())


def ranked_by(scores: dict[str, float]) -> Scores:
    return Scores().then("words", scores)


def pages(scores: dict[str, float], limit: int) -> list[tuple[list[str], int | None]]:
    """Each page, with the number of weaker ones that it names."""
    found: list[tuple[list[str], int | None]] = []
    after: Key | None = None
    while True:
        page = slice_of(ranked_by(scores), start(after))
        shown = page.uuids(limit)
        found.append((shown, page.weaker(len(shown))))
        after = page.next_key(shown, shown)
        if after is None:
            return found


def test_a_page_ends_where_the_scores_fall_away_and_counts_the_rest() -> None:
    assert pages(SCORES, 10) == [(["a", "b", "c"], 3), (["d", "e", "f"], None)]


def test_no_page_goes_across_the_fall_and_nothing_is_lost() -> None:
    assert pages(SCORES, 2) == [(["a", "b"], None), (["c"], 3), (["d", "e"], None), (["f"], None)]


def test_a_list_without_a_fall_is_whole() -> None:
    assert pages({"a": 0.5, "b": 0.4, "c": 0.15}, 10) == [(["a", "b", "c"], None)]


def test_what_was_asked_for_by_name_comes_first_and_does_not_make_the_rest_weak() -> None:
    assert pages({"asked": ASKED + 1, "fits": 0.6, "hardly": 0.1}, 10) == [(["asked", "fits"], 1), (["hardly"], None)]


def test_a_page_that_had_to_be_shorter_names_no_weaker_ones() -> None:
    page = slice_of(ranked_by(SCORES), start())
    assert page.weaker(2) is None
    assert page.next_key(["a", "b"], page.uuids(10)) is not None


def test_nothing_found_has_nothing_weaker() -> None:
    page = slice_of(Scores(), start())
    assert (page.uuids(10), page.weaker(0)) == ([], None)
