"""When a summary is of the past."""

import pytest
from tests.builders import a_fact, an_entity

from graphiti_pkm.core.facts.past_summaries import has_ended, still_holds


@pytest.mark.parametrize(
    ("summary", "is_past"),
    [
        ("Engineer at Acme", True),
        ("Works at Acme.", True),
        ("An engineer", False),
        ("Chief engineer of Acme in Oslo", False),
    ],
)
def test_what_somebody_was_at_a_company_has_ended_with_it(summary: str, *, is_past: bool) -> None:
    zoe, acme, beta = an_entity("Zoe", summary=summary), an_entity("Acme"), an_entity("Beta")
    ended, current = a_fact(zoe, acme, text="Zoe works at Acme"), a_fact(zoe, beta, text="Zoe works at Beta")
    assert (has_ended(zoe, [ended]) and not still_holds(zoe, [current])) == is_past
    assert not (has_ended(zoe, [current]) and not still_holds(zoe, [ended]))
