"""What a fact is at a moment."""

import pytest
from tests.builders import a_fact, an_entity, at

from graphiti_pkm.services.views import status_of

SARAH, ACME = an_entity("Sarah"), an_entity("Acme")


@pytest.mark.parametrize(
    ("expired", "as_of", "status"),
    [(None, None, "planned"), (5, None, "ended"), (5, 4, "planned"), (5, 6, "ended"), (9, None, "planned")],
)
def test_a_plan_that_is_over_in_the_record_is_not_planned(expired: int | None, as_of: int | None, status: str) -> None:
    plan = a_fact(SARAH, ACME, kind="plan", valid_at=at(2027), expired_at=at(2026, expired) if expired else None)
    assert status_of(plan, at(2026, 6), at(2026, as_of) if as_of else None) == status
