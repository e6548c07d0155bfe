"""Two people of one first name, names inside names: each mention belongs to the one that is meant, or to none."""

import json

import pytest
from tests.builders import at
from tests.worlds.writing_world import WritingWorld, attention, the

from graphiti_pkm.capabilities.history.requests import UpdateEntity
from graphiti_pkm.core.model.access import LOCAL

COLLEAGUE = {"name": "Lena", "type": "Person"}
SISTER = {"name": "Lena Holm", "type": "Person", "aliases": ["my sister Lena"]}
ADR = {"name": "Architecture Decision Records", "type": "Practice", "aliases": ["ADR"]}


@pytest.fixture
async def world() -> WritingWorld:
    world = WritingWorld(now=at(2026, 6))
    await world.tell("A quarrel with Lena about the freeze.", entities=[COLLEAGUE])
    world.clock.advance(seconds=60)
    return world


async def test_an_alias_given_in_this_very_call_takes_its_words_from_the_shorter_name(world: WritingWorld) -> None:
    await world.tell("My sister Lena came for dinner.", entities=[SISTER])
    assert (world.mentions("Lena"), world.mentions("Lena Holm")) == (1, 1)


async def test_a_bare_first_name_belongs_to_the_one_whom_the_call_declares(world: WritingWorld) -> None:
    await world.tell("Lena came for dinner.", entities=[SISTER])
    await world.tell("Lena got engaged.", entities=[{"name": "Lena Holm"}])
    assert (world.mentions("Lena"), world.mentions("Lena Holm")) == (1, 2)
    answer = await world.tell("Lena shook hands.", {"source": "Lena", "relation": "SHOOK_HANDS", "kind": "event"})
    assert (world.mentions("Lena"), world.mentions("Lena Holm")) == (2, 2)
    assert "shared_name" not in attention(answer)


async def test_a_bare_first_name_of_two_is_linked_to_none_and_reported_once(world: WritingWorld) -> None:
    await world.tell("x", entities=[SISTER])
    answer = await world.tell("Lena was furious. LENA left.")
    report = the(answer, "shared_name")
    lena, sister = (world.entity(name).uuid[:8] for name in ("Lena", "Lena Holm"))
    assert report.candidates == [f"Lena: Lena ({lena}), Lena Holm ({sister})"]
    assert attention(answer) == ["shared_name"]
    assert (world.mentions("Lena"), world.mentions("Lena Holm")) == (1, 1)


async def test_first_names_of_two_people_with_longer_names_are_reported(world: WritingWorld) -> None:
    await world.tell("x", entities=[{"name": f"Judith {name}", "type": "Person"} for name in ("Brandt", "Aas")])
    answer = await world.tell("Judith would be proud.")
    assert the(answer, "shared_name").candidates[0].startswith("Judith: Judith ")


async def test_who_is_named_in_full_is_meant_by_the_first_name_too(world: WritingWorld) -> None:
    await world.tell("x", entities=[SISTER])
    answer = await world.tell("Lena Holm called. Lena is well.")
    assert (world.mentions("Lena"), world.mentions("Lena Holm"), attention(answer)) == (1, 2, [])


async def test_a_person_shares_no_name_with_a_thing(world: WritingWorld) -> None:
    await world.tell("x", entities=[{"name": "Iris", "type": "Project"}, {"name": "Iris Berg", "type": "Person"}])
    await world.tell("x", entities=[{"name": "Lena Review", "type": "Meeting"}])
    answer = await world.tell("Iris is late, says Lena.")
    assert (world.mentions("Iris"), world.mentions("Lena"), attention(answer)) == (2, 2, [])


async def test_a_new_name_of_a_shared_first_name_takes_no_earlier_episodes(world: WritingWorld) -> None:
    await world.tell("x", entities=[{"name": "Tom Berg", "type": "Person"}])
    await world.tell("Tom Berg came, Tom laughed.")
    await world.tell("x", entities=[{"name": "Tom", "type": "Person"}])
    assert (world.mentions("Tom Berg"), world.mentions("Tom")) == (2, 1)


async def test_a_new_name_takes_earlier_episodes_where_nobody_shares_it(world: WritingWorld) -> None:
    await world.tell("Mira laughed.")
    await world.tell("x", entities=[{"name": "Mira", "type": "Person"}])
    assert world.mentions("Mira") == 2


async def test_an_alias_of_a_kind_is_not_found_inside_a_name_new_in_this_call() -> None:
    world = WritingWorld(now=at(2026, 6))
    await world.tell("We keep ADR.", entities=[ADR])
    await world.tell("ADR 10 is proposed.", {"source": "ADR 10", "relation": "HAS_STATUS", "value": "proposed"})
    await world.tell("ADR 11 and every ADR.", entities=[{"name": "ADR 11"}])
    assert [world.mentions(name) for name in (ADR["name"], "ADR 10", "ADR 11")] == [2, 1, 1]


async def test_a_title_is_no_first_name(world: WritingWorld) -> None:
    await world.tell("x", entities=[{"name": f"Dr. {name}", "type": "Person"} for name in ("Ada Lind", "Bea Lind")])
    assert attention(await world.tell("The Dr. of Lind.")) == []


async def test_an_alias_declared_later_offers_to_unlink_the_namesake_inside_it(world: WritingWorld) -> None:
    """The earlier note belongs to the sister too; that it is not the colleague's, only the caller can say."""
    await world.tell("My sister Lena came for dinner.")
    await world.tell("My sister Lena and Lena from payments met.")
    answer = await world.tell("She phoned.", entities=[SISTER])
    report = the(answer, "shared_name")
    (dinner,) = [one for one in world.graph.tables.episodes.values() if "dinner" in one.content]
    lena = world.entity("Lena").uuid
    assert report.detail == "Lena is still linked to 1 earlier note(s) that name another"
    assert json.loads(report.call.split("update_entity ")[1]) == {
        "entity_uuid": lena,
        "unlink_episodes": [dinner.uuid],
    }
    assert (world.mentions("Lena"), world.mentions("Lena Holm")) == (3, 3)
    await world.updating.update_entity(LOCAL, UpdateEntity(**json.loads(report.call.split("update_entity ")[1])))
    assert (world.mentions("Lena"), world.mentions("Lena Holm")) == (2, 3)


async def test_an_alias_added_to_an_entity_offers_the_same(world: WritingWorld) -> None:
    await world.tell("x", entities=[{"name": "Mia Holm", "type": "Person"}])
    await world.tell("My sister Lena came for dinner.")
    mia = UpdateEntity(entity_uuid=world.entity("Mia Holm").uuid, add_aliases=["my sister Lena"])
    answer = await world.updating.update_entity(LOCAL, mia)
    assert "Lena is still linked to 1 episode(s) that name this one; to unlink them: update_entity {" in answer.message
    again = UpdateEntity(entity_uuid=world.entity("Mia Holm").uuid, add_aliases=["Mia"])
    assert "still linked" not in (await world.updating.update_entity(LOCAL, again)).message


@pytest.fixture
async def annas() -> WritingWorld:
    world = WritingWorld(now=at(2026, 6))
    await world.tell("x", entities=[{"name": "Anna Costa", "type": "Person", "aliases": ["Anna"]}])
    sister = {"source": "Anna Lindqvist", "relation": "SISTER_OF", "target": "me"}
    await world.tell("y", sister, entities=[{"name": "Anna Lindqvist", "type": "Person"}])
    world.clock.advance(seconds=60)
    return world


LEARNS = {"source": "Anna", "relation": "LEARNS", "target": "Swedish"}


@pytest.mark.parametrize("given", [{"facts": [LEARNS]}, {"entities": [{"name": "Anna"}]}], ids=["fact", "entity"])
async def test_a_bare_first_name_given_in_a_call_says_who_else_has_it(
    annas: WritingWorld, given: dict[str, list[object]]
) -> None:
    answer = await annas.send({"episode_body": "My sister Anna is learning Swedish.", **given})
    report = the(answer, "shared_name")
    costa, lindqvist = (annas.entity(name).uuid[:8] for name in ("Anna Costa", "Anna Lindqvist"))
    assert report.detail == f"Anna fits several; taken as Anna Costa ({costa}), not as:"
    assert report.candidates == [f"Anna Lindqvist ({lindqvist})"]
    assert report.call == (
        f'If another is meant: delete_episode {{"uuid":"{answer.episode_uuid}"}}, then send it again with '
        '"Anna Lindqvist" in place of "Anna"'
    )
    assert (annas.mentions("Anna Costa"), annas.mentions("Anna Lindqvist")) == (2, 1)


async def test_a_cause_by_a_bare_first_name_says_who_else_has_it(annas: WritingWorld) -> None:
    moves = {"source": "Tom", "relation": "MOVES_TO", "target": "Porto"}
    answer = await annas.tell("He moves for her.", {**moves, "because_of": "Anna"})
    assert annas.fact("Tom MOVES_TO Porto").cause == "Anna Costa"
    assert the(answer, "shared_name").detail.startswith("Anna fits several; taken as Anna Costa ")
    named = await annas.tell("He moves for her.", {**moves, "because_of": "Anna Costa"})
    assert "shared_name" not in attention(named)


@pytest.mark.parametrize(
    ("body", "entities"),
    [
        ("She learns.", [{"name": "Anna Costa"}]),
        ("She learns.", [{"name": "Anna Costa", "aliases": ["Anna"]}, {"name": "Anna Lindqvist"}]),
        ("Anna Costa learns.", []),
    ],
    ids=["declared in full", "alias in this call", "in full in the text"],
)
async def test_a_bare_first_name_of_the_one_named_in_full_is_no_doubt(
    annas: WritingWorld, body: str, entities: list[object]
) -> None:
    assert "shared_name" not in attention(await annas.tell(body, LEARNS, entities=entities))


async def test_a_bare_first_name_beside_another_in_full_is_a_doubt(annas: WritingWorld) -> None:
    answer = await annas.tell("She learns.", LEARNS, entities=[{"name": "Anna Lindqvist"}])
    assert the(answer, "shared_name").detail.startswith("Anna fits several; taken as Anna Costa ")


async def test_a_first_name_that_one_person_has_is_no_doubt(annas: WritingWorld) -> None:
    await annas.tell("x", entities=[{"name": "Bea Costa", "type": "Person", "aliases": ["Bea"]}])
    await annas.tell("x", entities=[{"name": "Bea Review", "type": "Meeting"}])
    assert "shared_name" not in attention(await annas.tell("Bea learns.", {**LEARNS, "source": "Bea"}))
