"""Updates of entities: names, differences and mentions, in every graph alike."""

from typing import Any

import pytest
from tests.builders import GROUP, RECORDED, a_mention, an_entity, an_episode, an_intent, at, new_uuid

from graphiti_pkm.capabilities.history.assembly import CHANGE_LISTS
from graphiti_pkm.core.model.changes import ChangeFilter
from graphiti_pkm.core.model.names import name_key
from graphiti_pkm.core.model.queries import EntityFilter, Window
from graphiti_pkm.core.model.records import (
    Deletions,
    Entity,
    EntityState,
    Episode,
    FactChange,
    Forgetting,
    Name,
    RemainingNames,
)
from graphiti_pkm.core.ports.graph import Graph

MARIA = an_entity("Maria")
MARION = an_entity("Marion")
NOTE, LATER = an_episode("Maria came."), an_episode("The boss came.")


def a_name(text: str, *spellings: str, is_alias: bool = False) -> Name:
    return Name(
        key=name_key(GROUP, text),
        group_id=GROUP,
        text=text,
        spellings=spellings,
        entity_uuid=MARIA.uuid,
        is_alias=is_alias,
    )


def state(name: str = "Maria", *names: Name, **links: Any) -> EntityState:
    return EntityState(name=name, names=names, **links)


def updated(before: EntityState, after: EntityState, minute: int = 1) -> FactChange:
    return FactChange(
        uuid=new_uuid(),
        fact_uuid=MARIA.uuid,
        kind="updated",
        recorded_at=at(2026, 6, 1, minute),
        caller="anna",
        entity_before=before,
        entity_after=after,
    )


async def apply(graph: Graph, change: FactChange, **more: Any) -> FactChange:
    after = change.entity_after
    assert after is not None
    entity = MARIA.model_copy(update={"name": after.name, "summary": after.summary})
    await graph.writer.apply(an_intent(entities=(entity,), names=after.names, changes=(change,), **more), {})
    return change


@pytest.fixture
async def told(graph: Graph) -> Graph:
    """Two entities and two episodes, of which one mentions Maria."""
    await graph.writer.apply(
        an_intent(
            episodes=(NOTE, LATER),
            entities=(MARIA, MARION),
            names=(a_name("Maria", "maria"),),
            mentions=(a_mention(NOTE, MARIA),),
        ),
        {},
    )
    return graph


async def mentions(graph: Graph, *episodes: Episode) -> list[bool]:
    pairs = [(episode.uuid, MARIA.uuid) for episode in episodes]
    found = await graph.records.mentioned(pairs)
    return [pair in found for pair in pairs]


async def found(graph: Graph, term: str) -> list[str]:
    return list(await graph.search.search_entities([term], EntityFilter(group_ids=(GROUP,)), 5))


async def test_names_are_given_changed_and_removed(told: Graph) -> None:
    version = await told.records.name_book(GROUP, None)
    assert version is not None
    renamed = (a_name("Maria", "maria", is_alias=True), a_name("Petra"))
    await apply(told, updated(state("Maria", a_name("Maria", "maria")), state("Petra", *renamed)))
    names = await told.records.get_names([name_key(GROUP, text) for text in ("Maria", "Petra")])
    assert {name.text: name.is_alias for name in names.values()} == {"Maria": True, "Petra": False}
    assert (await told.records.aliases([MARIA.uuid], 5))[MARIA.uuid] == ["Maria", "maria"]
    assert await found(told, "maria") == await found(told, "petra") == [MARIA.uuid]
    book = await told.records.name_book(GROUP, version.version)
    assert book is not None
    assert {name.text for name in book.names} == {"Maria", "Petra"}

    await apply(told, updated(state("Petra", renamed[0]), state("Petra"), 2))
    assert (await told.records.aliases([MARIA.uuid], 5))[MARIA.uuid] == []
    assert await found(told, "maria") == []
    assert await found(told, "petra") == [MARIA.uuid]
    assert name_key(GROUP, "Maria") not in await told.records.get_names([name_key(GROUP, "Maria")])


async def test_a_name_in_another_spelling_is_the_name_from_then_on(told: Graph) -> None:
    await apply(told, updated(state("Maria", a_name("Maria", "maria")), state("MARIA", a_name("MARIA", "Maria"))))
    (name,) = (await told.records.get_names([name_key(GROUP, "maria")])).values()
    assert (name.text, name.spellings) == ("MARIA", ("Maria",))


async def test_a_name_of_another_is_not_lost(told: Graph) -> None:
    other = a_name("Boss").model_copy(update={"entity_uuid": MARION.uuid})
    await told.writer.apply(an_intent(names=(other,)), {})
    await apply(told, updated(state("Maria", a_name("Boss")), state()))
    assert (await told.records.get_names([other.key]))[other.key].entity_uuid == MARION.uuid


async def test_what_was_unlinked_is_not_linked_again_until_it_is_linked(told: Graph) -> None:
    await apply(told, updated(state(linked=(NOTE.uuid,)), state(unlinked=(NOTE.uuid,))))
    assert await mentions(told, NOTE) == [False]
    assert await told.records.apart([(NOTE.uuid, MARIA.uuid), (LATER.uuid, MARIA.uuid)]) == {(NOTE.uuid, MARIA.uuid)}
    await told.writer.apply(an_intent(mentions=(a_mention(NOTE, MARIA), a_mention(LATER, MARIA))), {})
    assert await mentions(told, NOTE, LATER) == [False, True]

    await apply(told, updated(state(unlinked=(NOTE.uuid,)), state(linked=(NOTE.uuid,)), 2))
    assert await mentions(told, NOTE) == [True]
    assert await told.records.apart([(NOTE.uuid, MARIA.uuid)]) == set()
    await apply(told, updated(state(linked=(NOTE.uuid,)), state(), 3))
    assert await mentions(told, NOTE) == [False]
    assert await told.records.apart([(NOTE.uuid, MARIA.uuid)]) == set()


async def test_entities_that_are_not_the_same(told: Graph) -> None:
    pair = (min(MARIA.uuid, MARION.uuid), max(MARIA.uuid, MARION.uuid))
    await apply(told, updated(state(), state(not_same_as=(MARION.uuid,))))
    assert await told.records.apart([pair]) == {pair}
    await apply(told, updated(state(not_same_as=(MARION.uuid,)), state(), 2))
    assert await told.records.apart([pair]) == set()


@pytest.mark.parametrize("gone", ["entity", "other", "episode", "group"])
async def test_what_is_deleted_is_kept_apart_from_nothing(told: Graph, gone: str) -> None:
    pair = (min(MARIA.uuid, MARION.uuid), max(MARIA.uuid, MARION.uuid))
    both = state(not_same_as=(MARION.uuid,), unlinked=(NOTE.uuid,))
    change = await apply(told, updated(state(linked=(NOTE.uuid,)), both))
    deletions = {
        "entity": Deletions(entities=(MARIA.uuid,)),
        "other": Deletions(entities=(MARION.uuid,)),
        "episode": Deletions(episodes=(NOTE.uuid,)),
        "group": Deletions(groups=(GROUP,)),
    }[gone]
    await told.writer.apply(an_intent(deletions=deletions), {})
    left = {"entity": set(), "other": {(NOTE.uuid, MARIA.uuid)}, "episode": {pair}, "group": set()}[gone]
    assert await told.records.apart([pair, (NOTE.uuid, MARIA.uuid)]) == left
    events = (await told.changes.fact_changes([MARIA.uuid], [GROUP], 5))[MARIA.uuid]
    assert [one.uuid for one in events] == ([] if gone == "group" else [change.uuid])
    assert [one.entity_after for one in events if one.entity_after] == ([both] if gone in {"other", "episode"} else [])


async def test_what_is_not_there_is_neither_linked_nor_kept_apart(told: Graph) -> None:
    nobody = new_uuid()
    await apply(told, updated(state(), state(not_same_as=(nobody,), unlinked=(nobody,), linked=(new_uuid(),))))
    pair = (min(MARIA.uuid, nobody), max(MARIA.uuid, nobody))
    assert await told.records.apart([pair, (nobody, MARIA.uuid)]) == set()
    assert await mentions(told, NOTE) == [True]


async def test_an_update_is_an_event_with_both_states(told: Any) -> None:
    change = await apply(told, updated(state(), state("Petra", a_name("Petra"), linked=(LATER.uuid,))))
    (event,) = (await told.changes.fact_changes([MARIA.uuid], [GROUP], 5))[MARIA.uuid]
    assert (event.entity_before, event.entity_after) == (change.entity_before, change.entity_after)
    lists = told.part(CHANGE_LISTS)
    for uuid, total in ((MARIA.uuid, 1), (MARION.uuid, 0), (None, 1)):
        wanted = ChangeFilter(
            group_ids=(GROUP,), recorded_until=at(2027), since=RECORDED, entity_uuid=uuid, kinds=("updated",)
        )
        page = await lists.changes(wanted, Window(limit=5))
        assert page.total == total
        assert [one.entity_after for one in page.changes] == [change.entity_after][:total]


async def test_forgetting_reaches_both_states(told: Graph) -> None:
    secret = a_name("Secret", is_alias=True)
    before = state("Secret", secret, summary="Secret.", linked=(NOTE.uuid,))
    await apply(
        told, updated(before, state("Maria", a_name("Maria", "maria"), summary="A boss.", linked=(LATER.uuid,)))
    )
    left = RemainingNames(entity_uuid=MARIA.uuid, names=(a_name("Maria", "maria"),))
    forgets = Forgetting(names=(left,), mentions=((LATER.uuid, MARIA.uuid),))
    now: Entity = MARIA.model_copy(update={"summary": "A boss."})
    await told.writer.apply(an_intent(entities=(now,), forgets=forgets), {})
    (event,) = (await told.changes.fact_changes([MARIA.uuid], [GROUP], 5))[MARIA.uuid]
    assert event.entity_before == state("Maria", summary="A boss.", linked=(NOTE.uuid,))
    assert event.entity_after == state("Maria", a_name("Maria", "maria"), summary="A boss.")
