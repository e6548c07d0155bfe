"""What follows from an entity, on page one of its facts."""

import pytest
from tests.builders import at
from tests.worlds.told_world import ToldWorld

ADR = {"source": "ADR 10", "relation": "HAS_STATUS", "value": "accepted"}


@pytest.fixture
def world() -> ToldWorld:
    return ToldWorld(now=at(2026, 6))


async def test_page_one_counts_what_follows_and_shows_five(world: ToldWorld) -> None:
    uses = [{"source": f"part {n}", "relation": "USES", "target": "Go", "because_of": "ADR 10"} for n in range(6)]
    plan = {"source": "Tom", "relation": "MOVES_TO", "target": "Go", "kind": "plan", "because_of": "ADR 10"}
    own = {"source": "ADR 10", "relation": "HAS_OPTION", "target": "Rust"}
    await world.tell("By ADR 10.", ADR, own, plan, *uses)
    await world.tell("Part 0 no more.", {**uses[0], "invalid_at": "2026-06-01"})
    page = await world.connections_of("ADR 10", max_connections=1)
    assert page.following is not None
    assert page.following.total == 6
    assert len(page.following.facts) == 5
    assert all("because of ADR 10" in one for one in page.following.facts)
    assert not any("part 0" in one for one in page.following.facts)
    assert page.next_cursor is not None
    assert (await world.connections_of("ADR 10", max_connections=1, cursor=page.next_cursor)).following is None
    assert (await world.connections_of("ADR 10", as_of="2026-06-01")).following is None


async def test_where_nothing_follows_nothing_is_said(world: ToldWorld) -> None:
    await world.tell("ADR 10 is accepted.", ADR)
    assert (await world.connections_of("ADR 10")).following is None
