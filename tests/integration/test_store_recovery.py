"""The store over a database that dies: it is brought back, reads and writes go on, and nothing is done twice."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from tests.builders import GROUP, a_mention, a_name, a_passage, a_write, an_entity, an_episode
from tests.falkor import FalkorServer, falkor_database

from graphiti_pkm.core.model.queries import EpisodeFilter
from graphiti_pkm.errors import Unavailable
from graphiti_pkm.storage.graph.opening import OpenFalkor
from graphiti_pkm.storage.graph.store import GraphStore


class Mortal:
    """A server with the two calls the store is given."""

    def __init__(self, directory: Path) -> None:
        self.server = FalkorServer(directory)
        self.recoveries = 0
        self.may_recover = True

    async def connect(self) -> Path:
        return self.server.socket

    async def recover(self) -> None:
        self.recoveries += 1
        if self.may_recover:
            self.server.kill()
            await asyncio.to_thread(self.server.start)


@pytest.fixture
def mortal(short_directory: Path) -> Iterator[Mortal]:
    mortal = Mortal(short_directory)
    mortal.server.start()
    yield mortal
    mortal.server.kill()


@pytest.fixture
async def store(mortal: Mortal) -> AsyncIterator[GraphStore]:
    store = GraphStore(OpenFalkor(mortal.connect, mortal.recover))
    yield store
    await store.close()


async def test_a_read_after_the_server_was_killed_is_answered(store: GraphStore, mortal: Mortal) -> None:
    episode = an_episode("Sarah in Berlin")
    await store.writer.apply(a_write(episode), {})
    assert await store.writer.wait_durable()
    mortal.server.kill()
    assert await store.records.get_episodes([episode.uuid], [GROUP]) == [episode]
    assert mortal.recoveries == 1


async def test_full_text_is_complete_in_the_first_answer_after_a_restart(store: GraphStore, mortal: Mortal) -> None:
    """Indexes come back some time after the server answers; until then a search finds nothing, without an error."""
    episodes = [an_episode(f"Sarah in Berlin, day {i}") for i in range(2_000)]
    await store.writer.apply(a_write(*episodes), {})
    assert await store.writer.wait_durable()
    mortal.server.kill()
    found = await store.search.search_episodes(["berlin"], EpisodeFilter(group_ids=(GROUP,)), 5_000)
    assert len(found) == len(episodes)


async def test_many_calls_that_lose_their_connection_recover_once(store: GraphStore, mortal: Mortal) -> None:
    episode = an_episode()
    await store.writer.apply(a_write(episode), {})
    assert await store.writer.wait_durable()
    mortal.server.kill()
    answers = await asyncio.gather(*(store.records.get_episodes([episode.uuid], [GROUP]) for _ in range(40)))
    assert answers == [[episode]] * 40
    assert mortal.recoveries == 1


async def test_a_write_to_a_dead_server_is_written_once(store: GraphStore, mortal: Mortal) -> None:
    await store.writer.apply(a_write(an_episode()), {})
    assert await store.writer.wait_durable()
    mortal.server.kill()
    sarah, episode = an_entity("Sarah"), an_episode("Sarah")
    write = a_write(episode, sarah, a_name(sarah), a_mention(episode, sarah), a_passage(episode))
    await store.writer.apply(write, {})
    assert await store.writer.applied([write.uuid]) == {write.uuid}
    assert (await store.records.group_sizes([GROUP]))[GROUP].episodes == 2
    assert await store.records.entity_support([sarah.uuid]) == {sarah.uuid: (1, 0)}


async def test_a_server_that_does_not_come_back_is_unavailable_until_it_does(store: GraphStore, mortal: Mortal) -> None:
    await store.writer.apply(a_write(an_episode()), {})
    assert await store.writer.wait_durable()
    mortal.server.kill()
    mortal.may_recover = False
    write = a_write(an_episode())
    with pytest.raises(Unavailable):
        await store.records.groups()
    with pytest.raises(Unavailable):
        await store.writer.apply(write, {})
    with pytest.raises(Unavailable):
        await store.writer.wait_durable()
    assert not await store.ready()
    mortal.may_recover = True
    await store.writer.apply(write, {})
    assert await store.records.groups() == [GROUP]


async def test_an_empty_database_after_a_loss_gets_its_indexes_again(store: GraphStore, mortal: Mortal) -> None:
    await store.writer.apply(a_write(an_episode()), {})
    database = await falkor_database(store)
    await database.command("FLUSHALL")
    mortal.server.kill()
    assert await store.records.groups() == []
    assert await store.ready()


async def test_another_store_finds_everything_after_a_clean_close(mortal: Mortal) -> None:
    first, second = (GraphStore(OpenFalkor(mortal.connect, mortal.recover)) for _ in range(2))
    episode = an_episode()
    await first.writer.apply(a_write(episode), {})
    await first.close()
    assert await second.records.get_episodes([episode.uuid], [GROUP]) == [episode]
    await second.close()
    assert mortal.recoveries == 0


async def test_a_server_that_takes_no_more_says_why_until_it_takes_a_write(store: GraphStore, mortal: Mortal) -> None:
    await store.writer.apply(a_write(an_episode()), {})
    with mortal.server.client() as client:
        client.config_set("maxmemory", 1)
        write = a_write(an_episode())
        with pytest.raises(Unavailable, match="cannot store anything"):
            await store.writer.apply(write, {})
        assert "cannot store anything" in (await store.writer.refusal() or "")
        store.writer._last_write._fresh_until = 0.0  # tried again, as after a while
        assert "cannot store anything" in (await store.writer.refusal() or "")
        client.config_set("maxmemory", 0)
    await store.writer.apply(write, {})
    assert await store.writer.refusal() is None
