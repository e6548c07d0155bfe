"""What a FalkorDB server keeps, what becomes of a memory while it is away, and how it forgets."""

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.builders import GROUP, a_write, an_episode
from tests.falkor import WRITER
from tests.integration.falkordb_remote import NO_FILE, opened, remote

from graphiti_pkm.core.model.queries import EpisodeFilter
from graphiti_pkm.errors import Unavailable
from graphiti_pkm.storage.graph.falkordb import connection as falkor_connection
from graphiti_pkm.storage.graph.falkordb import link as falkor_link
from graphiti_pkm.storage.graph.falkordb.erasing import DENIED
from graphiti_pkm.storage.graph.falkordb.server import Keeping


@pytest.fixture
def directory(short_directory: Path) -> Path:
    return short_directory


@pytest.mark.parametrize(
    ("arguments", "keeping"),
    [
        ((), Keeping.APPEND_ONLY),
        ((*NO_FILE, "--save", "3600", "1"), Keeping.SNAPSHOTS),
        (NO_FILE, Keeping.NOTHING),
    ],
)
async def test_what_a_server_does_not_keep_is_said(
    directory: Path, arguments: tuple[str, ...], keeping: Keeping, caplog: pytest.LogCaptureFixture
) -> None:
    with remote(directory, *arguments) as server, caplog.at_level(logging.WARNING):
        store, found = opened(directory, server.settings("memory"))
        await store.writer.apply(a_write(an_episode()), {})
        assert await store.writer.wait_durable() is (keeping is Keeping.APPEND_ONLY)
        assert list(found.host.attention()) == ([keeping.value] if keeping.value else [])
        assert (keeping.value in caplog.text) or keeping is Keeping.APPEND_ONLY
        with server.client() as client:
            client.execute_command("SAVE")
        assert await store.writer.wait_durable()
        await store.close()


async def test_a_server_told_to_keep_more_or_less_is_believed(directory: Path) -> None:
    with remote(directory, *NO_FILE) as server:
        store, found = opened(directory, server.settings("memory"))
        await store.writer.apply(a_write(an_episode()), {})
        assert found.host.attention() == [Keeping.NOTHING.value]
        with server.client() as client:
            client.config_set("appendonly", "yes")
            while client.info("persistence")["aof_rewrite_in_progress"]:
                pass
        await store.writer.wait_durable()
        assert await store.writer.wait_durable()
        assert found.host.attention() == []
        with server.client() as client:
            client.config_set("appendonly", "no")
        assert not await store.writer.wait_durable()
        assert found.host.attention() == [Keeping.NOTHING.value]
        await store.close()


@pytest.mark.parametrize("arguments", [NO_FILE, ()])
async def test_a_server_started_anew_is_noticed_and_waited_for(directory: Path, arguments: tuple[str, ...]) -> None:
    """Also where no call meets its death: the pool would connect again and find nothing in indexes being built."""
    with remote(directory, *arguments) as server:
        store, found = opened(directory, server.settings("memory"))
        restarts: list[str] = []
        found.on_restart = lambda: restarts.append("restart")
        episodes = [an_episode(f"Sarah in Berlin, day {i}") for i in range(500)]
        await store.writer.apply(a_write(*episodes), {})
        await store.writer.wait_durable()
        assert restarts == []
        server.kill()
        server.start()
        hits = await store.search.search_episodes(["berlin"], EpisodeFilter(group_ids=(GROUP,)), 1_000)
        assert len(hits) == (0 if arguments else len(episodes))
        assert restarts == ["restart"]
        assert await store.ready()
        await store.close()


async def test_a_server_that_is_away_is_said_to_be_at_once_and_found_again(directory: Path) -> None:
    with remote(directory) as server:
        store, _ = opened(directory, server.settings("memory"))
        episode = an_episode()
        await store.writer.apply(a_write(episode), {})
        assert await store.writer.wait_durable()
        server.kill()
        answers = await asyncio.gather(*(store.records.groups() for _ in range(30)), return_exceptions=True)
        assert {str(answer) for answer in answers} == {
            f"The FalkorDB server at 127.0.0.1:{server.port} does not answer. Try again when it runs."
        }
        assert not await store.ready()
        server.start()
        assert await store.records.get_episodes([episode.uuid], [GROUP]) == [episode]
        await store.close()


async def test_a_server_that_falls_silent_is_noticed_long_before_a_read_may_end(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection that nobody watches is given up after an hour here, more than this test may take."""
    monkeypatch.setattr(falkor_connection, "SERVER_SECONDS", 3_600.0)
    monkeypatch.setattr(falkor_link, "SILENT_SECONDS", 0.1)
    monkeypatch.setattr(falkor_link, "CONNECT_SECONDS", 0.5)
    with remote(directory) as server:
        store, _ = opened(directory, server.settings("memory"))
        await store.writer.apply(a_write(an_episode()), {})
        graphiti = await store.driver()
        await graphiti.execute_query("RETURN 1")
        server.freeze()
        asked = [graphiti.execute_query("RETURN 1"), graphiti.session().run("RETURN 1")]
        asked += [store.records.groups() for _ in range(30)]
        answers = await asyncio.gather(*asked, return_exceptions=True)
        assert {type(answer) for answer in answers} == {Unavailable}
        server.thaw()
        assert await store.records.groups() == [GROUP]
        await graphiti.close()
        await store.close()


@pytest.mark.parametrize("arguments", [(), ("--save", "3600", "1"), (*NO_FILE, "--save", "3600", "1"), NO_FILE])
async def test_deleted_words_leave_the_servers_files(directory: Path, arguments: tuple[str, ...]) -> None:
    with remote(directory, *arguments, "--rdbcompression", "no") as server:
        store, found = opened(directory, server.settings("memory"))
        await store.writer.apply(a_write(an_episode("plantedword in Berlin")), {})
        await store.writer.wait_durable()
        if "--save" in arguments:
            with server.client() as client:
                client.execute_command("SAVE")
        is_kept = arguments != NO_FILE
        assert holds(directory, b"plantedword") is is_kept
        await store.clear()
        assert await store.erase()
        until(lambda: not holds(directory, b"plantedword"))
        assert not [note for note in found.host.attention() if "forgotten" in note]
        await store.close()


def holds(directory: Path, word: bytes) -> bool:
    files = [file for place in (directory, directory / "appendonlydir") for file in place.glob("*") if file.is_file()]
    return any(word in file.read_bytes() for file in files if file.suffix != ".log")


def until(condition: Callable[[], bool]) -> None:
    """Redis removes the replaced file in a thread; the test's own time limit ends it."""
    while not condition():
        pass


async def test_a_user_who_may_not_rewrite_the_file_has_it_said(directory: Path) -> None:
    with remote(directory) as server:
        with server.client() as client:
            client.acl_setuser(WRITER, enabled=True, commands=["-bgrewriteaof"], reset=False)
        store, found = opened(directory, server.settings("memory"))
        assert not await store.erase()
        assert found.host.attention() == [DENIED.format(command="BGREWRITEAOF")]
        with server.client() as client:
            client.acl_setuser(WRITER, enabled=True, commands=["+bgrewriteaof"], reset=False)
        assert await store.erase()
        assert found.host.attention() == []
        await store.close()
