"""Who "me" is: the setting ``person`` names the local user, and in the memory of others nobody in particular."""

import pytest
from tests.builders import a_fact, a_mention, a_name, a_write, an_entity, an_episode, at
from tests.worlds.extraction_world import ExtractionWorld, Findings
from tests.worlds.reading_world import World
from tests.worlds.writing_world import WritingWorld, line

from graphiti_pkm.capabilities.explore.requests import GetEntityConnections
from graphiti_pkm.capabilities.forget.requests import DeleteEpisode, Forget
from graphiti_pkm.capabilities.search.requests import SearchNodes
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.identity.persons import Persons
from graphiti_pkm.core.model.access import LOCAL, Caller, SharedMemory
from graphiti_pkm.core.model.job_records import ExtractJob

NOW = at(2026, 6)
VERA = "Vera"
"""The local user, and in the memory of another a friend of theirs."""
OTHERS = [("librechat:anna", "anna"), ("librechat:65f0c2d19b1e8a0012345678", "me")]
MET = {"source": "me", "relation": "MET", "target": "Anna", "fact": "I met Anna."}


@pytest.mark.parametrize("principal", ["anna", "librechat:anna", "Anna"])
async def test_the_name_of_an_account_is_not_the_name_of_a_person(principal: str) -> None:
    world = WritingWorld(now=NOW)
    await world.tell("I met Anna at the station.", MET, caller=Caller(principal=principal))
    assert world.lines(now=NOW) == ["me MET Anna"]
    again = await world.tell("Me again.", {**MET, "relation": "CALLED"}, caller=Caller(principal=principal))
    assert sorted((one.name, one.outcome) for one in again.entities) == [("Anna", "matched"), ("me", "matched")]


@pytest.mark.parametrize("principal", ["anna", "librechat:anna"])
async def test_a_model_does_not_take_a_name_for_the_account_of_that_name(principal: str) -> None:
    world = ExtractionWorld(now=NOW)
    caller = Caller(principal=principal)
    world.group = Groups(world.graph, world.context.settings).one(caller, None)
    episode = (await world.tell("I met Anna at the station.", caller=caller)).episode_uuid
    job = ExtractJob(uuid="job", episode_uuid=episode, person=caller.name)  # as an earlier version queued it
    assert (await world.extractions.task_of(world.group, job)).person == "me"
    found = Findings()
    found.fact("me", "MET", "Anna", "I met Anna.")
    await world.found(episode, found, person=job.person)
    assert [line(fact) for fact in world.facts] == ["me MET Anna"]


async def test_an_account_is_a_person_by_name_where_the_setting_says_so() -> None:
    world = WritingWorld(now=NOW, user_names=True)
    await world.tell("I met Tom.", {**MET, "target": "Tom"}, caller=Caller(principal="anna"))
    again = await world.tell("x", {**MET, "source": "Anna", "target": "Ben"}, caller=Caller(principal="anna"))
    assert sorted((one.name, one.outcome) for one in again.entities) == [("Ben", "created"), ("anna", "matched")]


@pytest.mark.parametrize(("principal", "name"), [*OTHERS, ("local", VERA)])
async def test_a_model_takes_i_for_the_one_who_told_it(principal: str, name: str) -> None:
    world = ExtractionWorld(now=NOW, person=VERA, user_names=True)
    caller = Caller(principal=principal)
    world.group = Groups(world.graph, world.context.settings).one(caller, None)
    episode = (await world.tell("I like tea, and Vera likes coffee.", caller=caller)).episode_uuid
    job = ExtractJob(uuid="job", episode_uuid=episode, person=caller.name)
    assert (await world.extractions.task_of(world.group, job)).person == name
    found = Findings()
    found.fact("me", "LIKES", "tea", "I like tea.")
    found.fact(VERA, "LIKES", "coffee", "Vera likes coffee.")
    await world.found(episode, found, person=job.person)
    assert sorted(line(fact) for fact in world.facts) == sorted([f"{name} LIKES tea", "Vera LIKES coffee"])


async def test_a_person_who_is_known_keeps_their_name_when_an_episode_is_read_again() -> None:
    world = ExtractionWorld(now=NOW, person=VERA, user_names=True)
    caller = Caller(principal="librechat:anna")
    world.group = Groups(world.graph, world.context.settings).one(caller, None)
    tea = {"source": "me", "relation": "LIKES", "target": "tea", "fact": "I like tea."}
    episode = (await world.tell("I like tea and chess.", tea, caller=caller)).episode_uuid
    found = Findings()
    found.fact("anna", "LIKES", "chess", "Anna likes chess.")
    await world.found(episode, found)  # a command asked for it, and knows nobody
    assert sorted(line(fact) for fact in world.facts) == ["anna LIKES chess", "anna LIKES tea"]


async def test_in_the_memory_of_another_the_local_users_name_is_anybodys() -> None:
    world = World(person=VERA)
    ben = Caller(principal="ben")
    group = world.groups.one(ben, None)
    vera, note = an_entity(VERA, group_id=group), an_episode(group_id=group)
    # A name that is never linked, as that of what a fact measures: only the group's person has one otherwise.
    held = a_name(vera, is_linkable=False)
    await world.given(a_write(note, vera, held, a_mention(note, vera), a_fact(vera, vera, group_id=group)))
    persons = Persons(world.graph, world.settings)
    assert await persons.uuids(group) == frozenset()
    page = await world.exploring.get_entity_connections(ben, GetEntityConnections(entity_uuid="me"))
    assert (page.entity, page.total) == (None, 0)
    assert (await world.searching.search_nodes(ben, SearchNodes(names=["me"]))).total == 0
    preview = await world.forgetting.forget(ben, Forget(entity_uuid=vera.uuid))
    assert preview.confirm is not None
    answer = await world.deleting.delete_episode(ben, DeleteEpisode(uuid=note.uuid))
    assert not [reason for reason in answer.kept_because if "person" in reason]


async def test_the_local_user_is_found_by_the_setting() -> None:
    world = World(person=VERA)
    vera = an_entity(VERA, group_id="default")
    await world.given(a_write(vera, a_name(vera, is_linkable=False)))
    assert await Persons(world.graph, world.settings).uuids("default") == {vera.uuid}
    assert (await world.searching.search_nodes(LOCAL, SearchNodes(names=["me"]))).total == 1


@pytest.mark.parametrize("user_names", [False, True])
async def test_in_a_shared_memory_a_model_takes_i_for_nobody(user_names: bool) -> None:
    """Neither for the one whose memory it is, nor for another member; what is said of others stays."""
    world = ExtractionWorld(now=NOW, user_names=user_names)
    team = SharedMemory(memory="team", tier="contributor")
    anna = Caller(principal="anna", shared=(team,))
    world.group = Groups(world.graph, world.context.settings).one(anna, "team/default")
    await world.tell("I met Tom.", {**MET, "target": "Tom"}, caller=Caller(principal="team"))
    world.clock.advance(seconds=1)
    (known,) = (one for one in world.graph.tables.entities.values() if one.name in {"me", "team"})
    episode = (
        await world.tell("I like tea, and Vera likes coffee.", caller=anna, group_id="team/default")
    ).episode_uuid
    job = ExtractJob(uuid="job", episode_uuid=episode, person="anna")
    person = (await world.extractions.task_of(world.group, job)).person
    found = Findings()
    found.entity(known.name, known)
    for place, speaker in enumerate((person, "I", "me")):
        found.fact(speaker, "LIKES", f"tea {place}", f"I like tea {place}.")
    found.fact(VERA, "LIKES", "coffee", "Vera likes coffee.")
    await world.found(episode, found, person=job.person)
    assert sorted(line(fact) for fact in world.facts) == ["Vera LIKES coffee", f"{known.name} MET Tom"]
