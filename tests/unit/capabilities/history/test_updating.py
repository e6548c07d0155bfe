"""update_entity: names, sentences, differences and mentions put right, refused as a whole, undone."""

from datetime import timedelta
from typing import Any

import pytest
from tests.worlds.writing_world import WritingWorld, attention

from graphiti_pkm.capabilities.history.models import UpdatedEntityResponse
from graphiti_pkm.capabilities.history.requests import RestoreFact, UpdateEntity, WhatChanged
from graphiti_pkm.core.model.access import LOCAL, Caller
from graphiti_pkm.errors import InvalidInput, NotAllowed, NotFound

_NOWHERE = "00000000-0000-4000-8000-000000000000"


@pytest.fixture
async def world() -> WritingWorld:
    world = WritingWorld()
    await world.tell(
        "Petra works at Acme. She says: Petra is the boss.",
        {"source": "Petra", "relation": "WORKS_AT", "target": "Acme"},
        {"source": "Petra", "relation": "LEADS", "target": "Acme", "fact": "Petra is the boss."},
        {"source": "Acme", "relation": "PAYS", "target": "petra", "value": "100", "unit": "EUR"},
        {"source": "Petra", "relation": "FEELS", "kind": "reading", "measure": "mood", "value": 7},
    )
    return world


async def update(world: WritingWorld, called: str, /, **given: Any) -> UpdatedEntityResponse:
    return await world.updating.update_entity(LOCAL, UpdateEntity(entity_uuid=world.entity(called).uuid, **given))


async def undo(world: WritingWorld, name: str) -> None:
    request = RestoreFact(fact_uuid=world.entity(name).uuid, reason="A mistake.")
    assert (await world.retiring.restore_fact(LOCAL, request)).changed


def texts(world: WritingWorld) -> list[str]:
    return sorted(fact.text for fact in world.facts)


async def test_a_rename_is_spoken_by_our_sentences_and_keeps_the_users_words(world: WritingWorld) -> None:
    before = texts(world)
    assert before == ["Acme pays petra: 100 EUR", "Petra is the boss.", "Petra works at Acme", "Petra: mood 7"]
    answer = await update(world, "Petra", name="Petra Berg")
    assert answer.changed
    assert answer.node.name == "Petra Berg"
    assert texts(world) == [
        "Acme pays Petra Berg: 100 EUR",
        "Petra Berg works at Acme",
        "Petra Berg: mood 7",
        "Petra is the boss.",
    ]
    assert next(iter(world.graph.tables.episodes.values())).content.startswith("Petra works")
    fact = next(fact for fact in world.facts if fact.text == "Petra Berg works at Acme")
    (vector,) = await world.embedder.embed(["Petra Berg works at Acme"], 1)
    assert world.graph.tables.vectors[fact.uuid] == vector
    await world.tell("Petra called.", {"source": "Petra", "relation": "CALLED", "target": "Tom"})
    assert world.mentions("Petra Berg") == 2
    await undo(world, "Petra Berg")
    assert sorted({*texts(world)} - {"Petra called Tom"}) == [
        "Acme pays Petra: 100 EUR",
        "Petra is the boss.",
        "Petra works at Acme",
        "Petra: mood 7",
    ]


async def test_what_is_asked_twice_is_done_once(world: WritingWorld) -> None:
    assert (await update(world, "Petra", name="Petra Berg", type="Person", summary="A boss.")).changed
    assert not (await update(world, "Petra Berg", name="Petra Berg", type="Person", summary="A boss.")).changed
    entity = world.entity("Petra Berg")
    assert (entity.label, entity.summary) == ("Person", "A boss.")
    await undo(world, "Petra Berg")
    entity = world.entity("Petra")
    assert (entity.label, entity.summary) == (None, "")
    request = RestoreFact(fact_uuid=entity.uuid, reason="Again.")
    assert not (await world.retiring.restore_fact(LOCAL, request)).changed


async def test_undoing_leaves_what_a_note_told_since(world: WritingWorld) -> None:
    await update(world, "Petra", name="Petra Berg")
    await world.tell("A note.", entities=[{"name": "Petra Berg", "summary": "A founder.", "type": "Person"}])
    await undo(world, "Petra Berg")
    entity = world.entity("Petra")
    assert (entity.summary, entity.label) == ("A founder.", "Person")


async def test_aliases_link_earlier_episodes_until_they_are_taken_back(world: WritingWorld) -> None:
    await world.tell("The Captain has a plan.")
    assert world.mentions("Petra") == 1
    await update(world, "Petra", add_aliases=["The Captain"])
    assert world.mentions("Petra") == 2
    await undo(world, "Petra")
    assert world.mentions("Petra") == 1
    await world.tell("The Captain has another plan.")
    assert world.mentions("Petra") == 1
    await update(world, "Petra", add_aliases=["The Captain"])
    await update(world, "Petra", remove_aliases=["the captain"])
    assert world.mentions("Petra") == 3
    await world.tell("The Captain sleeps.")
    assert world.mentions("Petra") == 3


async def test_what_was_unlinked_stays_so(world: WritingWorld) -> None:
    told = await world.tell("Petra, the cat, sleeps.")
    await update(world, "Petra", unlink_episodes=[told.episode_uuid])
    assert world.mentions("Petra") == 1
    await update(world, "Petra", add_aliases=["the cat"])
    assert world.mentions("Petra") == 1
    with pytest.raises(InvalidInput, match="Nothing was changed"):
        await update(world, "Petra", unlink_episodes=[told.episode_uuid])
    await update(world, "Petra", link_episodes=[told.episode_uuid])
    assert world.mentions("Petra") == 2
    await undo(world, "Petra")
    assert world.mentions("Petra") == 1
    await undo(world, "Petra")
    await undo(world, "Petra")
    assert world.mentions("Petra") == 2


async def test_pairs_that_are_not_the_same_are_not_named_again(world: WritingWorld) -> None:
    declared = [{"name": "Petra"}, {"name": "Tom", "aliases": ["Petra"]}]
    assert "alias_taken" in attention(await world.tell("A note.", entities=declared))
    tom = world.entity("Tom").uuid
    assert (await update(world, "Petra", not_same_as=tom)).changed
    assert not (await update(world, "Petra", not_same_as=tom)).changed
    assert "alias_taken" not in attention(await world.tell("Another note.", entities=declared))
    await undo(world, "Petra")
    assert "alias_taken" in attention(await world.tell("A third note.", entities=declared))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"name": "Acme"}, "belongs to another entity"),
        ({"name": "\u2013"}, "blank"),
        ({"name": "x" * 201}, "201 characters"),
        ({"name": "me"}, "word for the user"),
        ({"type": "!"}, "type"),
        ({"add_aliases": ["acme"]}, "belongs to another entity"),
        ({"remove_aliases": ["Nobody"]}, "no alias"),
        ({"remove_aliases": ["Petra"]}, "its name"),
        ({"not_same_as": "SELF"}, "itself"),
        ({"unlink_episodes": ["OTHER"]}, "not linked"),
        ({"unlink_episodes": ["OTHER"], "link_episodes": ["OTHER"]}, "unlink_episodes and in link_episodes"),
    ],
)
async def test_what_cannot_be_is_refused_as_a_whole(world: WritingWorld, given: dict[str, Any], said: str) -> None:
    other = (await world.tell("It rains.")).episode_uuid
    uuids = {"SELF": world.entity("Petra").uuid, "OTHER": other}
    given = {
        key: [uuids.get(one, one) for one in value] if isinstance(value, list) else uuids.get(value, value)
        for key, value in given.items()
    }
    before = texts(world), len(world.graph.tables.writes)
    with pytest.raises(InvalidInput, match=said) as refused:
        await update(world, "Petra", **{"summary": "New.", "type": "Person", **given})
    assert "Nothing was changed" in refused.value.message
    assert "Acme" not in refused.value.message
    assert (texts(world), len(world.graph.tables.writes)) == before
    assert world.entity("Petra").summary == ""


async def test_nothing_but_blanks_is_refused(world: WritingWorld) -> None:
    with pytest.raises(InvalidInput, match="Nothing was changed: all that was sent is blank"):
        await update(world, "Petra", name="  ", add_aliases=[""])


@pytest.mark.parametrize("given", [{"entity_uuid": _NOWHERE}, {"not_same_as": _NOWHERE}, {"link_episodes": [_NOWHERE]}])
async def test_what_is_not_there(world: WritingWorld, given: dict[str, Any]) -> None:
    with pytest.raises(NotFound):
        await world.updating.update_entity(
            LOCAL, UpdateEntity(**{"entity_uuid": world.entity("Petra").uuid, "summary": "New.", **given})
        )
    assert world.entity("Petra").summary == ""


async def test_who_may_only_read_changes_nothing(world: WritingWorld) -> None:
    with pytest.raises(NotAllowed):
        await world.updating.update_entity(
            Caller(read_only=True, **{k: v for k, v in LOCAL.model_dump().items() if k != "read_only"}),
            UpdateEntity(entity_uuid=world.entity("Petra").uuid, name="Other"),
        )


async def test_an_update_is_among_the_changes(world: WritingWorld) -> None:
    await update(world, "Petra", name="Petra Berg", summary="A boss.")
    await undo(world, "Petra Berg")
    page = await world.changes.what_changed(LOCAL, WhatChanged(since="2000", kinds=["updated", "restored"]))
    assert [(one.change, one.entity, one.reason) for one in page.changes] == [
        ("restored", "Petra", "A mistake."),
        ("updated", "Petra", None),
    ]
    before, after = page.changes[1].before, page.changes[1].after
    assert before is not None
    assert after is not None
    assert (before.name, after.name, before.summary, after.summary) == ("Petra", "Petra Berg", "", "A boss.")
    of_entity = WhatChanged(since="2000", kinds=["updated"], entity_uuid=world.entity("Petra").uuid)
    assert (await world.changes.what_changed(LOCAL, of_entity)).total == 1


async def test_a_former_name_that_another_got_meanwhile_is_not_taken_back(world: WritingWorld) -> None:
    await update(world, "Petra", name="Petra Berg", remove_aliases=["Petra"])
    await world.tell("Another one.", entities=[{"name": "Petra"}])
    with pytest.raises(InvalidInput, match="former name belongs to another entity"):
        await world.retiring.restore_fact(
            LOCAL, RestoreFact(fact_uuid=world.entity("Petra Berg").uuid, reason="A mistake.")
        )
    assert world.entity("Petra Berg")


async def test_undoing_leaves_a_summary_and_a_name_that_a_note_has_used_since() -> None:
    world = WritingWorld()
    await world.tell(
        "one",
        {"source": "Kim", "relation": "LEADS", "target": "Orion"},
        entities=[{"name": "Kim", "summary": "A dev"}],
    )
    await update(world, "Kim", name="Kim Lee", summary="A lead dev", add_aliases=["Captain"])
    world.clock.instant += timedelta(hours=1)
    lives = {"source": "Kim Lee", "relation": "LIVES_IN"}
    told = [{"name": "Kim Lee", "summary": "A lead dev in Rome"}]
    await world.tell("two", {**lives, "target": "Rome"}, entities=told)
    await undo(world, "Kim Lee")
    entity = world.entity("Kim")
    assert entity.summary == "A lead dev in Rome"
    assert (await world.graph.records.aliases([entity.uuid], 9))[entity.uuid] == ["Kim Lee"]
    answer = await world.tell("three", {**lives, "target": "Bonn", "replaces": ["Rome"]})
    assert world.lines() == ["Kim LEADS Orion", "Kim LIVES_IN Bonn"]
    assert [one.outcome for one in answer.entities if one.uuid == entity.uuid] == ["matched"]


async def test_undoing_a_rename_keeps_a_name_that_a_later_text_names(world: WritingWorld) -> None:
    await update(world, "Petra", name="Dr. Berg", add_aliases=["The Captain"])
    world.clock.instant += timedelta(hours=1)
    await world.tell("Dr. Berg met The Captain.")
    mentions = world.mentions("Dr. Berg")
    await undo(world, "Dr. Berg")
    assert world.mentions("Petra") == mentions
    await world.tell("Dr. Berg sleeps.")
    await world.tell("The Captain sleeps.")
    assert world.mentions("Petra") == mentions + 1
