"""What matters to a project: four terms, two parts, one cursor."""

from datetime import timedelta

import pytest
from pydantic import ValidationError
from tests.builders import at
from tests.worlds.projects_world import ProjectsWorld

from graphiti_pkm.capabilities.projects.models import MemoryView, ProjectMemoriesResponse
from graphiti_pkm.capabilities.projects.requests import GetProjectMemories
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.relevance import Terms, terms_of
from graphiti_pkm.errors import InvalidCursor, NotFound

NOW = at(2026, 6)


@pytest.mark.parametrize(
    ("terms", "score"),
    [
        ((1, 1, 1, 1), 1.0),
        ((1, 0, 0, 0), 0.4),
        ((0, 1, 0, 0), 0.3),
        ((0, 0, 1, 0), 0.2),
        ((0, 0, 0, 1), 0.1),
        ((0, 0, 0, 0), 0.0),
    ],
)
def test_the_weights_of_the_terms(terms: tuple[float, float, float, float], score: float) -> None:
    mentions, connections, activity, pin = terms
    assert Terms(mentions=mentions, connections=connections, activity=activity, pin=pin).score == score


@pytest.mark.parametrize(
    ("mentions", "most", "connections", "days", "is_pinned", "expected"),
    [
        (0, 0, 0, None, False, (0, 0, 0, 0)),
        (7, 7, 5, 0, True, (1, 0.5, 1, 1)),
        (1, 3, 15, 30, False, (0.5, 0.75, 0.5, 0)),
        (1, 1, 0, 60, False, (1, 0, 0.25, 0)),
        (1, 1, 10**9, -5, True, (1, 1, 1, 1)),
    ],
)
def test_each_term_is_from_zero_to_one(
    mentions: int, most: int, connections: int, days: float | None, is_pinned: bool, expected: tuple[float, ...]
) -> None:
    terms = terms_of(mentions, most, connections, days, is_pinned=is_pinned)
    assert list(terms) == pytest.approx(list(expected))
    assert 0 <= terms.score <= 1


async def office() -> ProjectsWorld:
    """Two projects: JWT tokens in both, the module in the first, the parser in the second."""
    world = ProjectsWorld(now=NOW)
    await world.create("Momento")
    await world.create("Other")
    jwt, module, parser = ({"name": name} for name in ("JWT tokens", "authentication module", "invoice parser"))
    uses = {"relation": "USES", "target": "JWT tokens"}
    for n in range(5):
        await world.enter(
            f"Note {n} of the authentication module with JWT tokens.",
            project_id="Momento",
            entities=[jwt, module],
            facts=[{"source": "authentication module", **uses}],
        )
    await world.enter("JWT tokens alone.", project_id="Momento")
    for n in range(4):
        await world.enter(
            f"Note {n} of the invoice parser and JWT tokens.",
            project_id="Other",
            entities=[jwt, parser],
            facts=[{"source": "invoice parser", **uses}],
        )
    return world


def names(part: list[MemoryView]) -> list[str]:
    return [one.name for one in part]


async def test_what_the_project_says_itself_is_primary_and_the_rest_secondary_above_the_threshold() -> None:
    world = await office()
    answer = await world.memories_of()
    assert names(answer.primary) == ["JWT tokens", "authentication module"]
    assert (answer.secondary, answer.primary_total, answer.secondary_total, answer.below_threshold) == ([], 2, 0, 1)
    lower = await world.memories_of(relevance_threshold=0.2)
    assert names(lower.secondary) == ["invoice parser"]
    (parser,) = lower.secondary
    assert (parser.mentions, parser.projects) == (0, ["Other"])
    assert parser.terms.model_dump() == {"mentions": 0, "connections": 0.167, "activity": 1.0, "pin": 0}
    assert parser.relevance == 0.25
    assert lower.primary[0].projects == ["Momento", "Other"]
    assert (lower.primary[0].mentions, lower.primary[0].terms.mentions) == (6, 1.0)
    assert (await world.memories_of(relevance_threshold=0.25)).below_threshold == 0
    assert (await world.memories_of(relevance_threshold=0.251)).secondary == []


async def test_without_cross_project_secondary_is_empty() -> None:
    world = await office()
    answer = await world.memories_of(relevance_threshold=0, include_cross_project=False)
    assert (answer.secondary, answer.secondary_total, answer.below_threshold) == ([], 0, 0)


async def test_scores_fade_with_time_and_a_pin_lifts_them() -> None:
    world = await office()
    before = (await world.memories_of(relevance_threshold=0)).primary[0]
    world.clock.advance(seconds=timedelta(days=30).total_seconds())
    after = (await world.memories_of(relevance_threshold=0)).primary[0]
    assert (before.terms.activity, after.terms.activity) == (1.0, 0.5)
    assert after.relevance == pytest.approx(before.relevance - 0.1, abs=0.002)
    await world.update(pin=["invoice parser"])
    pinned = (await world.memories_of(relevance_threshold=0)).secondary[0]
    assert (pinned.name, pinned.terms.pin) == ("invoice parser", 1.0)


async def test_one_entity_matters_to_two_projects_of_a_group_and_no_score_is_stored() -> None:
    world = await office()
    before = (dict(world.graph.tables.entities), dict(world.graph.tables.facts), len(world.written))
    seen = {}
    for project in ("Momento", "Other"):
        answer = await world.memories_of(project, relevance_threshold=0)
        (seen[project],) = [one for one in answer.primary if one.name == "JWT tokens"]
    first, second = seen.values()
    assert (first.uuid, first.projects) == (second.uuid, second.projects) == (first.uuid, ["Momento", "Other"])
    assert (first.mentions, second.mentions) == (6, 4)
    assert (dict(world.graph.tables.entities), dict(world.graph.tables.facts), len(world.written)) == before


async def test_what_an_archived_project_alone_mentions_is_left_out() -> None:
    world = await office()
    await world.update("Other", status="archived")
    answer = await world.memories_of(relevance_threshold=0)
    assert names(answer.secondary) == []
    assert names(answer.primary) == ["JWT tokens", "authentication module"]
    own = await world.memories_of("Other", relevance_threshold=0)
    assert own.status == "archived"
    assert names(own.primary) == ["JWT tokens", "invoice parser"]


async def test_a_fact_that_has_ended_connects_nothing() -> None:
    world = await office()
    await world.tell(
        "The parser uses cookies now.",
        {"source": "invoice parser", "relation": "USES", "target": "cookies", "replaces": "JWT tokens"},
    )
    assert names((await world.memories_of(relevance_threshold=0)).secondary) == []


async def test_pages_go_through_both_parts_once() -> None:
    world = ProjectsWorld(now=NOW)
    await world.create()
    own, others = [f"own {n}" for n in range(5)], [f"other {n}" for n in range(3)]
    await world.enter("Own.", project_id="Momento", entities=[{"name": name} for name in own])
    facts = [{"source": name, "relation": "USES", "target": "own 0"} for name in others]
    await world.tell("Others.", *facts)
    seen: list[tuple[list[str], list[str]]] = []
    cursor = None
    for _ in range(4):
        page: ProjectMemoriesResponse = await world.memories_of(relevance_threshold=0, limit=2, cursor=cursor)
        assert (page.primary_total, page.secondary_total, page.total) == (5, 3, 8)
        seen.append((names(page.primary), names(page.secondary)))
        cursor = page.next_cursor
        if cursor is None:
            break
        world.clock.advance(seconds=60)
        await world.enter(f"Later {len(seen)}.", project_id="Momento", entities=[{"name": "own 4"}])
    assert [len(one) + len(other) for one, other in seen] == [4, 3, 1]
    assert sorted(name for one, _ in seen for name in one) == own
    assert [name for _, other in seen for name in other] == others
    with pytest.raises(InvalidCursor):
        await world.memories_of(relevance_threshold=0.1, limit=2, cursor="nonsense")


async def test_neither_the_project_nor_the_person_nor_a_value_is_a_memory() -> None:
    world = ProjectsWorld(now=NOW)
    await world.create()
    await world.enter(
        "Momento is accepted, I say.",
        project_id="Momento",
        entities=[{"name": "ADR 1"}],
        facts=[
            {"source": "me", "relation": "DECIDED", "target": "ADR 1"},
            {"source": "ADR 1", "relation": "HAS_STATUS", "value": "accepted"},
        ],
    )
    answer = await world.memories_of(relevance_threshold=0)
    assert (names(answer.primary), names(answer.secondary)) == (["ADR 1"], [])


async def test_a_project_without_entries_has_no_memories() -> None:
    world = ProjectsWorld()
    await world.create()
    answer = await world.memories_of()
    assert (answer.primary, answer.secondary, answer.total, answer.next_cursor) == ([], [], 0, None)
    with pytest.raises(NotFound):
        await world.memories_of("Other")
    with pytest.raises(NotFound):
        await world.memories_of("Momento", Caller(principal="simon"))


def test_a_threshold_beyond_one_is_refused() -> None:
    with pytest.raises(ValidationError):
        GetProjectMemories(project_id="Momento", relevance_threshold=1.1)


async def test_a_project_that_was_idle_says_so_and_names_what_matters_most() -> None:
    world = await office()
    await world.enter("Something of no weight.", project_id="Momento", entities=[{"name": "stapler"}])
    world.clock.advance(seconds=timedelta(days=200).total_seconds())
    answer = await world.memories_of(relevance_threshold=0.7)
    assert (answer.primary, answer.secondary, answer.total) == ([], [], 0)
    assert [line.rsplit(" ", 1)[0] for line in answer.nearest or ()] == [
        "JWT tokens",
        "authentication module",
        "stapler",
        "invoice parser",
    ]
    assert answer.below_threshold == 4
    assert "nothing reaches 0.7 (last entry 2026-06-01)" in answer.message
    call = float(answer.message.rsplit("relevance_threshold=", 1)[1].split()[0])
    again = await world.memories_of(relevance_threshold=call)
    assert (again.total, again.nearest) == (4, None)
    own = await world.memories_of(relevance_threshold=0.7, include_cross_project=False)
    assert "invoice parser" not in " ".join(own.nearest or ())


async def test_an_empty_project_has_no_nearest() -> None:
    world = ProjectsWorld(now=NOW)
    await world.create("Momento")
    assert (await world.memories_of()).nearest is None
