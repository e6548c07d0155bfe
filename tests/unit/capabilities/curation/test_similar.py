"""Likely duplicates are found by the meaning of name and summary, and both are flagged."""

import math
import zlib
from array import array
from typing import Any

import pytest
from pydantic import ValidationError
from tests.fakes import FakeEmbedder
from tests.worlds.curation_world import CurationWorld

from graphiti_pkm.capabilities.curation.models import SimilarResponse
from graphiti_pkm.capabilities.curation.requests import FlagSimilarEntities
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.quality_checks import SIMILAR
from graphiti_pkm.core.model.records import Entity, Vector
from graphiti_pkm.errors import InvalidInput, NotAllowed, NotFound, Unavailable

STORE = "A store of rows with transactions and an optimizer."


class Sparse(FakeEmbedder):
    """Any two texts are near, and none are near enough."""

    def _vector(self, text: str) -> Vector:
        own = 1 + zlib.crc32(text.encode()) % (self.dimension - 1)
        vector = [0.0] * self.dimension
        vector[0], vector[own] = math.sqrt(0.6), math.sqrt(0.4)
        return array("f", vector)


async def known(world: CurationWorld, *entities: tuple[str, str | None, str], **fields: Any) -> None:
    """Entities with a name, a type and a summary."""
    named = [{"name": name, "type": label, "summary": summary or None} for name, label, summary in entities]
    world.clock.advance(seconds=1)
    await world.tell("A note.", entities=named, **fields)


def names(answer: SimilarResponse) -> set[frozenset[str]]:
    return {frozenset((pair.one.name, pair.other.name)) for pair in answer.pairs}


async def two_alike(world: CurationWorld) -> None:
    await known(
        world,
        ("Postgres DB", "Tool", STORE),
        ("The Postgres DB", "Tool", STORE),
        ("Sarah", "Person", "A sailor."),
        ("Harbour", "Place", ""),
    )


async def test_a_pair_above_the_threshold_is_flagged_once_with_its_similarity() -> None:
    world = CurationWorld()
    await two_alike(world)
    answer = await world.flag_similar()
    (pair,) = answer.pairs
    assert names(answer) == {frozenset(("Postgres DB", "The Postgres DB"))}
    assert 0.85 < pair.similarity <= 1
    assert (answer.examined, answer.entities_total, answer.newly_flagged, answer.next_cursor) == (4, 4, 2, None)
    (write,) = world.curated
    assert len(write.qualities) == 2
    (listed,) = (await world.flagged()).flagged  # the pair once, with both
    uuids = {name: world.entity(name).uuid for name in ("Postgres DB", "The Postgres DB")}
    (other,) = uuids.keys() - {listed.name}
    assert (listed.entity_uuid, listed.reason) == (uuids[listed.name], SIMILAR)
    assert listed.similar_to == [f"{other} ({uuids[other][:8]})"]


async def test_a_second_run_writes_nothing_and_changes_no_entity() -> None:
    world = CurationWorld()
    await two_alike(world)
    before: dict[str, Entity] = dict(world.graph.tables.entities)
    await world.flag_similar()
    again = await world.flag_similar()
    assert (len(again.pairs), again.newly_flagged, len(world.curated)) == (1, 0, 1)
    assert world.graph.tables.entities == before


async def test_a_pair_that_was_cleared_is_listed_and_not_flagged_again() -> None:
    world = CurationWorld()
    await two_alike(world)
    await world.flag_similar()
    for name in ("Postgres DB", "The Postgres DB"):
        await world.clear(name)
    again = await world.flag_similar()
    assert (len(again.pairs), again.newly_flagged) == (1, 0)
    assert (await world.flagged()).flagged == []


async def test_names_alone_do_not_make_a_pair_nor_do_entities_of_other_types() -> None:
    world = CurationWorld()
    await known(
        world,
        ("Auth Service", "Tool", "Checks passwords of people who log in."),
        ("O Auth Service", "Tool", "Lets other programs act for a user, by a standard of the web."),
        ("Mercury Planet", "Place", STORE),
        ("The Mercury Planet", "Tool", STORE),
    )
    assert (await world.flag_similar()).pairs == []
    assert world.curated == []


@pytest.mark.parametrize(
    ("one", "other", "is_pair"),
    [
        ("Priya", "Priyanka", True),
        ("Priya Raman", "Priyanka Raman", True),
        ("Priyanka Raman", "Priya", True),
        ("Sarah", "Sarah Chen", True),
        ("Pryia Raman", "Priya Raman", True),
        ("Priya Raman", "Priyanka Shah", False),
        ("Ana", "Anabel", False),
        ("Tom", "Ida", False),
        ("Agent 7", "Agent 77", False),
    ],
)
async def test_people_whose_names_may_be_of_one_are_candidates_however_little_is_known(
    one: str, other: str, *, is_pair: bool
) -> None:
    world = CurationWorld(embedder=Sparse())
    await known(world, (one, "Person", "Leads the design team."), (other, "Person", ""), ("Oslo", "Place", ""))
    answer = await world.flag_similar()
    assert len(answer.pairs) == is_pair
    assert answer.newly_flagged == 2 * is_pair
    assert ("1 by the spelling of names alone" in answer.message) == is_pair
    assert all(pair.similarity < 0.85 for pair in answer.pairs)
    report = await world.check("duplicates")  # what keeps entities in staging does not guess
    assert report.checks[0].found == 0


async def test_things_are_no_pair_by_the_spelling_of_their_names() -> None:
    world = CurationWorld(embedder=Sparse())
    await known(world, ("Auth Service", "Tool", ""), ("Auth Services", "Tool", ""))
    assert (await world.flag_similar()).pairs == []


async def test_of_one_entity_only_what_is_like_it_is_flagged() -> None:
    world = CurationWorld()
    await two_alike(world)
    uuid = world.entity("Sarah").uuid
    assert (await world.flag_similar(entity_uuid=uuid)).pairs == []
    answer = await world.flag_similar(entity_uuid=world.entity("Postgres DB").uuid)
    assert names(answer) == {frozenset(("Postgres DB", "The Postgres DB"))}
    assert (answer.examined, answer.next_cursor) == (1, None)


async def test_an_earlier_flag_keeps_its_reason_and_gets_the_other_entity() -> None:
    world = CurationWorld()
    await two_alike(world)
    await world.flag("Postgres DB", "Which version?")
    answer = await world.flag_similar()
    assert answer.newly_flagged == 1
    listed = {one.name: one for one in (await world.flagged()).flagged}
    assert listed["Postgres DB"].reason == "Which version?"
    assert listed["The Postgres DB"].similar_to  # flagged last, so the pair stands there
    cleared = await world.clear("Postgres DB")
    assert cleared.similar_to is None


async def test_those_that_are_said_to_be_others_stay_out() -> None:
    world = CurationWorld()
    await two_alike(world)
    one, other = sorted(world.entity(name).uuid for name in ("Postgres DB", "The Postgres DB"))
    world.graph.tables.apart.add((one, other))
    assert (await world.flag_similar()).pairs == []


async def test_the_person_values_and_measures_are_nobodys_duplicates() -> None:
    world = CurationWorld()
    fact = {"source": "me", "relation": "SLEPT", "measure": "sleep hours", "value": "7", "unit": "h", "kind": "reading"}
    await world.tell("I slept 7 h.", {**fact, "fact": "I slept 7 hours."})
    fact |= {"measure": "sleep hours a", "fact": "I slept 7 hours a."}
    await world.tell("I slept 7 h again.", fact)
    answer = await world.flag_similar(threshold=0.3)
    assert answer.pairs == []


async def test_a_group_is_examined_in_parts_and_a_limit_ends_a_part() -> None:
    world = CurationWorld()
    for place in range(60):
        text = f"Number {place} of many, written once {place * 7919}."
        await known(world, (f"Pair{place:02}", "Thing", text), (f"Pair{place:02} the", "Thing", text))
    seen: list[frozenset[str]] = []
    cursor, calls = None, 0
    while calls == 0 or cursor is not None:
        answer = await world.flag_similar(limit=25, cursor=cursor)
        assert len(answer.pairs) <= 25
        assert answer.examined <= 100
        seen += [pair for pair in names(answer) if pair not in seen]
        cursor, calls = answer.next_cursor, calls + 1
    expected = {frozenset((f"Pair{place:02}", f"Pair{place:02} the")) for place in range(60)}
    assert expected <= set(seen)
    assert calls >= 3


async def test_without_a_model_nothing_is_flagged_and_the_error_says_so() -> None:
    world = CurationWorld()
    await two_alike(world)
    world.embedder.is_available = False
    with pytest.raises(Unavailable, match="nothing was changed"):
        await world.flag_similar()
    assert world.curated == []


async def test_other_groups_and_other_callers_are_not_compared() -> None:
    world = CurationWorld()
    anna, ben = Caller(principal="anna", tier="librarian"), Caller(principal="ben", tier="librarian")
    await known(world, ("Postgres DB", "Tool", STORE), group_id="work", caller=anna)
    await known(world, ("The Postgres DB", "Tool", STORE), group_id="home", caller=anna)
    await known(world, ("A Postgres DB", "Tool", STORE), group_id="work", caller=ben)
    assert (await world.flag_similar(anna, group_id="work")).pairs == []
    hers = world.entity("Postgres DB").uuid
    with pytest.raises(NotFound):
        await world.flag_similar(ben, entity_uuid=hers)
    with pytest.raises(NotAllowed):
        await world.flag_similar(anna.model_copy(update={"groups": ("home",)}), group_id="work")
    with pytest.raises(NotAllowed, match="may only read"):
        await world.flag_similar(anna.model_copy(update={"read_only": True}))


async def test_one_entity_and_a_group_are_not_asked_together() -> None:
    world = CurationWorld()
    await two_alike(world)
    with pytest.raises(InvalidInput, match="leave out group_id and cursor"):
        await world.flag_similar(entity_uuid=world.entity("Sarah").uuid, group_id="work")


@pytest.mark.parametrize("threshold", [0, 1, 1.01, -0.1, float("nan")])
def test_a_threshold_is_between_0_and_1(threshold: float) -> None:
    with pytest.raises(ValidationError):
        FlagSimilarEntities(threshold=threshold)
