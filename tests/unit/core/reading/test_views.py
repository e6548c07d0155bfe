"""What a fact is at a moment."""

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from tests.builders import a_fact, an_entity, at
from tests.fakes import FakeGraph

from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.model.date_phrases import END_WORDS
from graphiti_pkm.core.model.records import FactKind
from graphiti_pkm.core.reading.views import Views, cut_at_word, shown_validity, status_of
from graphiti_pkm.settings.loader import Settings

SARAH, ACME = an_entity("Sarah"), an_entity("Acme")


@pytest.mark.parametrize(
    ("expired", "as_of", "status"),
    [(None, None, "planned"), (5, None, "ended"), (5, 4, "planned"), (5, 6, "ended"), (9, None, "ended")],
)
def test_a_plan_that_is_over_in_the_record_is_not_planned(expired: int | None, as_of: int | None, status: str) -> None:
    plan = a_fact(SARAH, ACME, kind="plan", valid_at=at(2027), expired_at=at(2026, expired) if expired else None)
    assert status_of(plan, at(2026, 6), at(2026, as_of) if as_of else None) == status


@pytest.mark.parametrize(
    ("kind", "fields", "shown"),
    [
        ("state", {}, "from 2025-01-01"),
        ("state", {"invalid_at": at(2026), "expired_at": at(2026)}, "from 2025-01-01 until 2026-01-01"),
        ("state", {"expired_at": at(2026)}, "from 2025-01-01, ended"),
        ("state", {"expired_at": at(2026), "voided": True}, "from 2025-01-01, voided"),
        ("event", {"expired_at": at(2026), "voided": True}, "on 2025-01-01, voided"),
        ("plan", {"expired_at": at(2026)}, "planned for 2025-01-01, ended"),
        ("plan", {"invalid_at": at(2027), "expired_at": at(2026)}, "planned for 2025-01-01, until 2027-01-01, ended"),
    ],
)
def test_a_retired_fact_is_marked_where_its_dates_do_not_tell(
    kind: FactKind, fields: dict[str, object], shown: str
) -> None:
    fact = a_fact(SARAH, ACME, kind=kind, valid_at=at(2025), **fields)
    assert shown_validity(fact, UTC) == shown


@pytest.mark.parametrize(
    ("told", "fields", "shown"),
    [
        (at(2026, 3, 3), {}, "since at least 2026-03-03, start unknown"),
        (at(2026, 3, 3), {"invalid_at": at(2026, 4)}, "since at least 2026-03-03 until 2026-04-01, start unknown"),
        (at(2026, 4), {"invalid_at": at(2026, 4)}, "until 2026-04-01, start unknown"),
        (at(2026, 5), {"invalid_at": at(2026, 4)}, "until 2026-04-01, start unknown"),
        (None, {"invalid_at": at(2026, 4)}, "until 2026-04-01, start unknown"),
        (
            at(2026, 3, 3),
            {"invalid_at": at(2026, 4), "kind": "event"},
            "known from 2026-03-03, until 2026-04-01, no date",
        ),
        (
            at(2026, 2, 15),
            {"invalid_at": at(2026, 4), "attributes": {END_WORDS: "2026-03"}},
            "since at least 2026-02-15 until 2026-03, start unknown",
        ),
        (
            at(2026, 3, 15),
            {"invalid_at": at(2026, 4), "attributes": {END_WORDS: "2026-03"}},
            "until 2026-03, start unknown",
        ),
    ],
)
def test_a_state_that_ended_without_a_start_says_since_when_it_was_known_to_hold(
    told: datetime | None, fields: dict[str, Any], shown: str
) -> None:
    """What ended within the month of its note may have been over on the day of the note."""
    fact = a_fact(SARAH, ACME, **{"kind": "state", "reference_time": told, **fields})
    assert shown_validity(fact, UTC) == shown


@pytest.mark.parametrize(
    ("kind", "now", "fields", "shown"),
    [
        ("plan", at(2025, 1, 1, 22), {}, "planned for 2025-01-01"),
        ("plan", at(2025, 1, 1, 23), {}, "planned for 2025-01-01, past"),
        ("plan", at(2024), {}, "planned for 2025-01-01"),
        ("plan", at(2027), {"expired_at": at(2026)}, "planned for 2025-01-01, ended"),
        ("plan", at(2027), {"expired_at": at(2026), "voided": True}, "planned for 2025-01-01, voided"),
        ("plan", at(2027), {"valid_at": None}, "planned, no date"),
        ("plan", at(2025, 1, 3), {"invalid_at": at(2025, 1, 4, 23)}, "planned for 2025-01-01, until 2025-01-05"),
        ("plan", at(2025, 1, 6), {"invalid_at": at(2025, 1, 4, 23)}, "planned for 2025-01-01, until 2025-01-05, past"),
        (
            "plan",
            at(2027),
            {"invalid_at": at(2024, 11, 1), "expired_at": at(2026)},
            "planned for 2025-01-01, ended 2024-11-01 01:00",
        ),
        (
            "plan",
            at(2027),
            {"invalid_at": at(2025, 2, 1), "expired_at": at(2026)},
            "planned for 2025-01-01, until 2025-02-01 01:00, ended",
        ),
        ("state", at(2027), {}, "from 2025-01-01"),
    ],
)
def test_a_plan_is_past_when_its_day_is_over_and_nothing_became_of_it(
    kind: FactKind, now: datetime, fields: dict[str, object], shown: str
) -> None:
    berlin = ZoneInfo("Europe/Berlin")
    fact = a_fact(SARAH, ACME, kind=kind, **{"valid_at": at(2024, 12, 31, 23), **fields})
    assert shown_validity(fact, berlin, now) == shown
    views = Views(Groups(FakeGraph(), Settings()), berlin, lambda: now)
    assert views.fact(fact, now).past == (True if shown.endswith("past") else None)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("All of it fits.", "All of it fits."),
        ("One sentence here. And then another one", "One sentence here.…"),
        ("A. One long sentence goes on and on and on", "A. One long sentence goes on…"),
        ("x" * 40, "x" * 29 + "…"),
    ],
)
def test_a_text_is_cut_after_a_sentence_or_a_word(text: str, shown: str) -> None:
    assert cut_at_word(text, 30) == shown


@pytest.mark.parametrize("kind", ["event", "reading", "plan"])
def test_what_expired_is_ended_whatever_its_kind(kind: FactKind) -> None:
    fact = a_fact(SARAH, ACME, kind=kind, valid_at=at(2025), expired_at=at(2026))
    assert status_of(fact, at(2026)) == "ended"
    assert status_of(fact, at(2025, 6)) == "ended"  # whatever the clock says that recorded it
    assert status_of(fact, at(2027), as_of=at(2025, 6)) != "ended"
    assert status_of(fact, at(2025, 6), known_at=at(2025, 5)) == "ended"  # it has the values of then


def test_a_plan_is_past_by_the_clock_that_was_asked_for() -> None:
    views = Views(Groups(FakeGraph(), Settings()), ZoneInfo("UTC"), lambda: at(2026, 6))
    plan = a_fact(SARAH, ACME, kind="plan", valid_at=at(2026, 5))
    assert views.fact(plan, at(2026, 6)).past is True
    assert views.fact(plan, at(2026, 6), as_of=at(2026, 4)).past is None
    assert views.fact(plan, at(2026, 6), known_at=at(2026, 4)).past is None
    assert views.fact(plan, at(2026, 4), as_of=at(2026, 6)).past is True


def test_a_plan_told_as_a_period_is_past_after_its_last_day() -> None:
    plan = a_fact(SARAH, ACME, kind="plan", valid_at=at(2026, 9), attributes={"told_start": "by autumn 2026"})
    assert shown_validity(plan, UTC, at(2026, 11, 30)) == "planned by autumn 2026"
    assert shown_validity(plan, UTC, at(2026, 12)) == "planned by autumn 2026, past"


def test_words_of_dates_are_shown_only_with_the_date_that_they_told() -> None:
    views = Views(Groups(FakeGraph(), Settings()), ZoneInfo("UTC"), lambda: at(2026, 6))
    fact = a_fact(SARAH, ACME, valid_at=at(2017), attributes={"told_start": "2017", "told_end": "2020", "mood": "good"})
    view = views.fact(fact, at(2026))
    assert (view.told_start, view.told_end, view.attributes) == ("2017", None, {"mood": "good"})
    moved = views.fact(fact.model_copy(update={"valid_at": at(2018)}), at(2026))
    assert (moved.valid_at, moved.told_start) == ("2018-01-01T00:00:00+00:00", None)
    assert shown_validity(fact, UTC) == "from 2017"
    placed = fact.model_copy(update={"valid_at": at(2017, 5, 4), "invalid_at": at(2021)})
    assert shown_validity(placed, UTC) == "from 2017 until 2020"
