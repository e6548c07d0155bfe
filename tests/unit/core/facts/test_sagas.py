"""Episodes told into sagas, and what becomes of a saga when some of them go."""

import itertools
from collections.abc import Sequence
from typing import NoReturn

import pytest
from tests.builders import RECORDED, a_community, a_mention, a_saga, a_step, a_write, an_entity, an_episode
from tests.fakes.reads import FakeEpisodes
from tests.fakes.sagas import FakeSagas
from tests.worlds.writing_world import WritingWorld

from graphiti_pkm.capabilities.forget.deleting import Deleting
from graphiti_pkm.capabilities.forget.requests import DeleteEpisode, Forget
from graphiti_pkm.capabilities.forget.service import Forgetting
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.core.model.answers import AddMemoryResponse
from graphiti_pkm.core.model.saga_records import Saga
from graphiti_pkm.errors import AmbiguousUuid, InvalidInput, NotFound
from graphiti_pkm.storage.commit import Committer
from graphiti_pkm.storage.recovery import Recovery

HIDDEN = "Maria is pregnant."


class World(WritingWorld):
    """With deleting and forgetting, and shortcuts to sagas."""

    def __init__(self) -> None:
        super().__init__()
        groups, committer = Groups(self.graph, self.context.settings), Committer(self.context)
        self.deleting = Deleting(self.context, groups, committer)
        self.forgetting = Forgetting(self.context, groups, committer)
        self.recovery = Recovery(self.context, committer)

    async def into(self, saga: str, body: str, previous: str | None = None, **fields: object) -> AddMemoryResponse:
        self.clock.advance(seconds=1)
        steering = {"saga": saga, "saga_previous_episode_uuid": previous}
        given = {name: value for name, value in steering.items() if value is not None}
        return await self.tell(body, **given, **fields)

    async def told(self, *bodies: str) -> list[str]:
        return [(await self.into("Trip", body)).episode_uuid for body in bodies]

    @property
    def sagas(self) -> list[Saga]:
        return list(self.graph.tables.sagas.values())

    @property
    def saga(self) -> Saga:
        (saga,) = self.sagas
        return saga

    @property
    def links(self) -> set[tuple[str, str]]:
        return set(self.graph.tables.episode_links)

    def state(self) -> object:
        db = self.graph.tables
        return db.sagas, sorted(db.saga_steps), sorted(db.episode_links), db.communities

    async def rebuilt(self) -> object:
        await self.recovery.rebuilding.rebuild(lambda _done, _total: None)
        return self.state()


@pytest.fixture
def world() -> World:
    return World()


async def test_episodes_of_a_saga_form_a_chain(world: World) -> None:
    answer = await world.into("Trip", "first", reference_time="2025-05-01")
    one, (two, three) = answer.episode_uuid, await world.told("second", "third")
    assert "saga: 'Trip'" in answer.message
    assert answer.unused is None
    saga = world.saga
    assert (saga.name, saga.group_id, saga.created_at.isoformat()) == ("Trip", world.group, "2025-05-01T00:00:00+00:00")
    assert (saga.first_episode_uuid, saga.last_episode_uuid) == (one, three)
    assert {episode for _, episode in world.graph.tables.saga_steps} == {one, two, three}
    assert world.links == {(one, two), (two, three)}
    assert "saga" not in (await world.journal.rows(0, 1))[0].intent.steering


async def test_without_a_saga_nothing_is_asked_about_sagas(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(*_: object) -> NoReturn:
        raise AssertionError

    for name in ("find_sagas", "latest_of_saga", "sagas_of_episodes"):
        monkeypatch.setattr(FakeSagas, name, refuse)
    monkeypatch.setattr(FakeEpisodes, "episode_places", refuse)
    answer = await world.tell("x")
    assert (answer.status, world.sagas) == ("stored", [])


async def test_a_saga_is_one_however_its_name_is_spelt(world: World) -> None:
    for name in ("Trip to Rome", " trip  to ROME ", "Trip to Rome"):
        await world.into(name, f"told {name}")
    assert world.saga.name == "Trip to Rome"
    assert len(world.links) == 2


async def test_a_saga_of_graphiti_goes_on_under_its_own_uuid(world: World) -> None:
    theirs, other = a_saga(group_id="default"), a_saga(group_id="elsewhere")
    past = an_episode("past", group_id="default")
    await world.graph.writer.apply(a_write(theirs, past, a_step(theirs, past)), {})
    await world.graph.writer.apply(a_write(other), {})
    (uuid,) = await world.told("present")
    assert {saga.uuid for saga in world.sagas} == {theirs.uuid, other.uuid}
    assert world.links == {(past.uuid, uuid)}


async def test_the_episode_before_is_the_latest_in_time_unless_one_is_given(world: World) -> None:
    late = await world.into("Trip", "of May", reference_time="2025-05-01")
    early = await world.into("Trip", "of March, told later", reference_time="2025-03-01")
    june = await world.into("Trip", "of June", reference_time="2025-06-01")
    chosen = await world.into("Trip", "after March", previous=early.episode_uuid[:13], reference_time="2025-03-02")
    assert world.links == {
        (late.episode_uuid, early.episode_uuid),
        (late.episode_uuid, june.episode_uuid),
        (early.episode_uuid, chosen.episode_uuid),
    }


async def test_the_first_and_last_episode_are_so_in_time_whenever_they_were_told(world: World) -> None:
    may = await world.into("Trip", "of May", reference_time="2025-05-01")
    march = await world.into("Trip", "of March, told later", reference_time="2025-03-01")
    assert (world.saga.first_episode_uuid, world.saga.last_episode_uuid) == (march.episode_uuid, may.episode_uuid)
    april = await world.into("Trip", "of April", previous=march.episode_uuid, reference_time="2025-04-01")
    assert (world.saga.first_episode_uuid, world.saga.last_episode_uuid) == (march.episode_uuid, may.episode_uuid)
    again = await world.into("Trip", "of the same day in May", reference_time="2025-05-01")
    assert world.saga.last_episode_uuid == again.episode_uuid
    for one in (may, again):
        await world.deleting.delete_episode(LOCAL, DeleteEpisode(uuid=one.episode_uuid))
    assert (world.saga.first_episode_uuid, world.saga.last_episode_uuid) == (march.episode_uuid, april.episode_uuid)


async def test_an_episode_before_that_is_none_of_the_group_stores_nothing(world: World) -> None:
    foreign = await world.tell("foreign", group_id="other")
    one = "11111111-1111-4111-8111-111111111111"
    two = "11111111-2222-4111-8111-111111111111"
    for uuid in (one, two):
        await world.tell("told", uuid=uuid)
    before = len(await world.journal.rows(0, 50))
    cases = ((foreign.episode_uuid, NotFound), ("22222222", NotFound), ("x", InvalidInput), ("11111111", AmbiguousUuid))
    for previous, error in cases:
        with pytest.raises(error, match=r"saga_previous_episode_uuid: .* Nothing was stored\."):
            await world.into("Trip", "next", previous=previous)
    assert len(await world.journal.rows(0, 50)) == before
    assert world.sagas == []


async def test_a_name_that_is_no_name_stores_nothing(world: World) -> None:
    for name in ("\u200b-\u200b", "x" * 201):
        with pytest.raises(InvalidInput, match="saga"):
            await world.into(name, "next")
    assert await world.journal.rows(0, 5) == []


async def test_a_repeated_call_adds_nothing(world: World) -> None:
    uuid = "11111111-1111-4111-8111-111111111111"
    await world.into("Trip", "first")
    await world.into("Trip", "second", uuid=uuid)
    before = world.state()
    again = await world.into("Trip", "second", uuid=uuid)
    assert (again.status, world.state()) == ("already_stored", before)


@pytest.mark.parametrize("gone", [[0], [1], [2], [3], [1, 2], [0, 1, 2]])
async def test_the_chain_closes_where_an_episode_is_deleted_also_after_a_rebuild(
    world: World, gone: Sequence[int]
) -> None:
    uuids = await world.told("first", "second", "third", "fourth")
    for place in gone:
        await world.deleting.delete_episode(LOCAL, DeleteEpisode(uuid=uuids[place]))
    left = [uuid for place, uuid in enumerate(uuids) if place not in gone]
    assert world.links == set(itertools.pairwise(left))
    assert (world.saga.first_episode_uuid, world.saga.last_episode_uuid) == (left[0], left[-1])
    before = world.state()
    assert await world.rebuilt() == before


async def test_a_saga_goes_with_its_last_episode_and_can_begin_anew(world: World) -> None:
    for uuid in await world.told("first", "second"):
        await world.deleting.delete_episode(LOCAL, DeleteEpisode(uuid=uuid))
    assert world.sagas == []
    assert await world.rebuilt() == ({}, [], [], {})
    assert all("Trip" not in row.intent.model_dump_json() for row in await world.journal.rows(0, 50))
    (again,) = await world.told("again")
    assert (world.saga.first_episode_uuid, world.links) == (again, set())


async def summarised(world: World) -> None:
    summary = {"summary": f"They went. {HIDDEN}", "last_summarized_at": RECORDED}
    saga = world.saga.model_copy(update={**summary, "last_summarized_episode_valid_at": RECORDED})
    await Committer(world.context).commit(a_write(saga), {})


async def test_a_summary_stays_when_the_saga_goes_on_and_goes_with_an_episode(world: World) -> None:
    uuids = await world.told("first", HIDDEN, "third")
    await summarised(world)
    await world.told("fourth")
    assert HIDDEN in world.saga.summary
    await world.deleting.delete_episode(LOCAL, DeleteEpisode(uuid=uuids[1]))
    assert (world.saga.summary, world.saga.last_summarized_at) == ("", None)
    assert world.saga.last_summarized_episode_valid_at is None
    assert all(HIDDEN not in row.intent.model_dump_json() for row in await world.journal.rows(0, 50))
    before = world.state()
    assert await world.rebuilt() == before


async def test_forgetting_takes_summary_and_name_of_a_saga_that_says_it(world: World) -> None:
    entities = [{"name": "Maria"}, {"name": "Tom"}]
    await world.into("Maria is pregnant", f"Tom runs. {HIDDEN}", entities=entities)
    await world.into("Runs", "Tom runs far.")
    await summarised_all(world)
    maria = world.entity("Maria").uuid
    preview = await world.forgetting.forget(LOCAL, Forget(entity_uuid=maria))
    await world.forgetting.forget(LOCAL, Forget(entity_uuid=maria, confirm=preview.confirm))
    assert sorted((saga.name, saga.summary) for saga in world.sagas) == [("Runs", ""), ("[forgotten]", "")]
    await world.into("Maria is pregnant", "Once more.")
    assert sorted(saga.name for saga in world.sagas) == ["Maria is pregnant", "Runs"]
    assert len(world.links) == 1


async def summarised_all(world: World) -> None:
    for saga in world.sagas:
        left = saga.model_copy(update={"summary": HIDDEN})
        await Committer(world.context).commit(a_write(left), {})


async def test_communities_of_what_a_deleted_episode_mentions_go(world: World) -> None:
    note = await world.tell("Sarah met Tom.", entities=[{"name": "Sarah"}, {"name": "Tom"}])
    await world.tell("Bob met Ann.", entities=[{"name": "Bob"}, {"name": "Ann"}])
    sarah, bob, ann = (world.entity(name) for name in ("Sarah", "Bob", "Ann"))
    one, two = a_community(sarah, ann), a_community(bob, ann)
    await Committer(world.context).commit(a_write(one, two), {})
    await world.deleting.delete_episode(LOCAL, DeleteEpisode(uuid=note.episode_uuid))
    assert set(world.graph.tables.communities) == {two.uuid}
    before = world.state()
    assert await world.rebuilt() == before


async def test_communities_of_a_shared_entity_go_too(world: World) -> None:
    """The entity stays, with a summary that nobody can tell apart; what a model made of it goes."""
    sarah, tom = an_entity("Sarah", group_id="default"), an_entity("Tom", group_id="default")
    note, other = (an_episode(text, group_id="default", created_at=RECORDED) for text in ("one", "two"))
    mentions = [a_mention(note, sarah), a_mention(other, sarah), a_mention(other, tom)]
    write = a_write(sarah, tom, note, other, *mentions, a_community(sarah, tom))
    await Committer(world.context).commit(write, {})
    assert len(world.graph.tables.communities) == 1
    await world.deleting.delete_episode(LOCAL, DeleteEpisode(uuid=note.uuid))
    assert set(world.graph.tables.entities) == {sarah.uuid, tom.uuid}
    assert world.graph.tables.communities == {}
