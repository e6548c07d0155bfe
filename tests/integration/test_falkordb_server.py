"""A FalkorDB that somebody else runs: what it must be able to do, and what is said of one that cannot."""

import asyncio
import logging
import socket
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import redis
from tests.builders import GROUP, a_passage, a_write, an_episode
from tests.falkor import PASSWORD, READER, WRITER, FalkorServer, RemoteFalkor, falkor_database, reader_rights
from tests.integration.falkordb_remote import opened, refusal

from graphiti_pkm.domain.queries import EpisodeFilter
from graphiti_pkm.errors import ConfigurationError, Unavailable
from graphiti_pkm.graph import falkor_connection, falkor_link
from graphiti_pkm.graph import falkor_server as requirements_of_a_server
from graphiti_pkm.graph.falkor_erasing import DENIED
from graphiti_pkm.graph.falkor_server import Keeping
from graphiti_pkm.graph.store import GraphStore

ROOT = Path(__file__).parents[2]
NO_FILE = ("--appendonly", "no")


@pytest.fixture
def directory(short_directory: Path) -> Path:
    return short_directory


@contextmanager
def running(server: FalkorServer) -> Iterator[FalkorServer]:
    server.start()
    try:
        yield server
    finally:
        server.kill()


@contextmanager
def remote(directory: Path, *arguments: str) -> Iterator[RemoteFalkor]:
    server = RemoteFalkor(directory, arguments)
    with running(server):
        yield server


async def test_a_reader_really_cannot_write(falkor_server: RemoteFalkor, falkor_server_graph: GraphStore) -> None:
    await falkor_server_graph.apply(a_write(an_episode("Sarah in Berlin")), {})
    database = await falkor_database(falkor_server_graph)
    reader, name = database.link.reader, database.name
    for words in (
        ("GRAPH.QUERY", name, "CREATE (:Planted)"),
        ("GRAPH.QUERY", name, "MATCH (n) DETACH DELETE n"),
        ("GRAPH.DELETE", name),
        ("GRAPH.CONSTRAINT", "CREATE", name, "UNIQUE", "NODE", "Planted", "PROPERTIES", "1", "id"),
        ("GRAPH.COPY", name, "copy"),
        ("SET", "planted", "1"),
        ("DEL", name),
        ("RENAME", name, "elsewhere"),
        ("FLUSHALL",),
        ("CONFIG", "SET", "appendonly", "no"),
        ("ACL", "SETUSER", READER, "+@all"),
    ):
        with pytest.raises(redis.exceptions.NoPermissionError):
            await reader.execute_command(*words)  # type: ignore[no-untyped-call]
    for text in (
        "CREATE (:Planted)",
        "MATCH (n) SET n.planted = 1",
        "MATCH (n) DETACH DELETE n",
        "MERGE (:Planted {id: 1})",
        "CREATE INDEX FOR (n:Planted) ON (n.id)",
        "CALL db.idx.fulltext.createNodeIndex('Planted', 'text')",
    ):
        with pytest.raises(redis.exceptions.ResponseError, match="only on read-only queries"):
            await reader.execute_command("GRAPH.RO_QUERY", name, text)  # type: ignore[no-untyped-call]
    with falkor_server.client() as client:
        assert client.exists("planted", "elsewhere", "copy") == 0
        assert client.execute_command("GRAPH.QUERY", name, "MATCH (n:Planted) RETURN count(n)")[1] == [[0]]
    assert (await falkor_server_graph.group_sizes([GROUP]))[GROUP].episodes == 1


async def test_every_read_goes_over_the_readers_connection(directory: Path) -> None:
    """The writer is not even allowed the command of reads."""
    with remote(directory) as server:
        with server.client() as client:
            client.acl_setuser(WRITER, enabled=True, commands=["-graph.ro_query"], reset=False)
        store, _ = opened(directory, server.settings("memory"))
        episode = an_episode("Sarah in Berlin")
        await store.apply(a_write(episode, a_passage(episode)), {})
        assert await store.get_episodes([episode.uuid], [GROUP]) == [episode]
        assert await store.search_episodes(["berlin"], EpisodeFilter(group_ids=(GROUP,)), 5)
        assert await store.ready()
        await store.close()


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"falkordb_password": "not-this"}, "falkordb_username"),
        ({"falkordb_username": "nobody"}, "falkordb_username"),
        ({"falkordb_username": None, "falkordb_password": None}, "falkordb_username"),
        ({"falkordb_reader_password": "not-this"}, "falkordb_reader_username"),
    ],
)
async def test_a_wrong_password_names_the_setting(
    falkor_server: RemoteFalkor, tmp_path: Path, wrong: dict[str, Any], named: str
) -> None:
    told = await refusal(tmp_path, {**falkor_server.settings("memory"), **wrong})
    assert f"Check {named}" in told
    assert "not-this" not in told


async def test_a_user_who_may_not_write_is_told_which_rights_are_needed(
    falkor_server: RemoteFalkor, tmp_path: Path
) -> None:
    told = await refusal(tmp_path, falkor_server.settings("memory", falkordb_username=READER))
    assert "falkordb_username" in told
    assert requirements_of_a_server.WRITER_COMMANDS in told


async def test_a_redis_without_the_module_is_no_falkordb(directory: Path) -> None:
    class PlainRedis(RemoteFalkor):
        def command(self) -> list[str]:
            words = super().command()
            at = words.index("--loadmodule")
            return [*words[:at], *words[at + 2 :]]

    server = PlainRedis(directory, users="user default on >" + PASSWORD + " ~* &* +@all\n")
    with running(server):
        settings = server.settings("memory", falkordb_username=None, falkordb_reader_username=None)
        told = await refusal(directory, {**settings, "falkordb_reader_password": None})
    assert "a Redis without FalkorDB's module" in told


async def test_a_version_that_was_never_tried_is_refused(
    falkor_server: RemoteFalkor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requirements_of_a_server, "OLDEST", (99, 1, 0))
    told = await refusal(tmp_path, falkor_server.settings("memory"))
    assert "99.1.0 or newer is needed" in told


async def test_a_replica_is_refused(directory: Path) -> None:
    with remote(directory, "--replicaof", "127.0.0.1", "1") as server:
        told = await refusal(directory, server.settings("memory"))
    assert "is a replica and takes no writes" in told


async def test_a_server_that_ends_queries_too_soon_is_refused(directory: Path) -> None:
    with remote(directory) as server:
        with server.client() as client:
            client.execute_command("GRAPH.CONFIG", "SET", "TIMEOUT_MAX", 1_000)
        told = await refusal(directory, server.settings("memory"))
    assert "TIMEOUT_MAX 0" in told


@pytest.mark.parametrize("is_listening", [True, False])
async def test_a_server_that_does_not_answer_is_named(tmp_path: Path, *, is_listening: bool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        if not is_listening:
            listening.close()
        settings = {"falkordb_uri": f"redis://127.0.0.1:{port}", "falkordb_password": PASSWORD}
        told = await refusal(tmp_path, settings, Unavailable)
    assert f"127.0.0.1:{port} does not answer" in told


async def test_a_socket_asks_for_a_password_too(falkor_server: RemoteFalkor, tmp_path: Path) -> None:
    settings = falkor_server.settings("over_a_socket", falkordb_uri=f"unix://{falkor_server.socket}")
    store, _ = opened(tmp_path, settings)
    assert await store.groups() == []
    await store.close()
    told = await refusal(tmp_path, {**settings, "falkordb_password": "not-this"})
    assert str(falkor_server.socket) in told


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
        await store.apply(a_write(an_episode()), {})
        assert await store.wait_durable() is (keeping is Keeping.APPEND_ONLY)
        assert list(found.host.attention()) == ([keeping.value] if keeping.value else [])
        assert (keeping.value in caplog.text) or keeping is Keeping.APPEND_ONLY
        with server.client() as client:
            client.execute_command("SAVE")
        assert await store.wait_durable()
        await store.close()


async def test_a_server_told_to_keep_more_or_less_is_believed(directory: Path) -> None:
    with remote(directory, *NO_FILE) as server:
        store, found = opened(directory, server.settings("memory"))
        await store.apply(a_write(an_episode()), {})
        assert found.host.attention() == [Keeping.NOTHING.value]
        with server.client() as client:
            client.config_set("appendonly", "yes")
            while client.info("persistence")["aof_rewrite_in_progress"]:
                pass
        await store.wait_durable()
        assert await store.wait_durable()
        assert found.host.attention() == []
        with server.client() as client:
            client.config_set("appendonly", "no")
        assert not await store.wait_durable()
        assert found.host.attention() == [Keeping.NOTHING.value]
        await store.close()


async def test_a_server_that_cuts_answers_is_said_to(directory: Path) -> None:
    with remote(directory) as server:
        with server.client() as client:
            client.execute_command("GRAPH.CONFIG", "SET", "RESULTSET_SIZE", 10_000)
        store, found = opened(directory, server.settings("memory"))
        await store.groups()
        (told,) = found.host.attention()
        assert "RESULTSET_SIZE -1" in told
        await store.close()


async def test_no_more_connections_than_allowed_are_opened(directory: Path) -> None:
    with remote(directory) as server:
        store, _ = opened(directory, server.settings("memory", database_connections=5))
        writes = (store.apply(a_write(an_episode(f"Note {i}")), {}) for i in range(20))
        await asyncio.gather(*writes, *(store.groups() for _ in range(40)), store.wait_durable())
        with server.client() as client:
            users = Counter(one["user"] for one in client.client_list() if one["user"] in {WRITER, READER})
        assert users == {WRITER: 3, READER: 2}
        await store.close()


async def test_a_reader_who_can_write_is_said_to(falkor_server: RemoteFalkor, tmp_path: Path) -> None:
    store, found = opened(tmp_path, falkor_server.settings("memory", falkordb_reader_username=WRITER))
    await store.groups()
    (told,) = found.host.attention()
    assert told.startswith("The user of falkordb_reader_username may write")
    await store.close()


@pytest.mark.parametrize("arguments", [NO_FILE, ()])
async def test_a_server_started_anew_is_noticed_and_waited_for(directory: Path, arguments: tuple[str, ...]) -> None:
    """Also where no call meets its death: the pool would connect again and find nothing in indexes being built."""
    with remote(directory, *arguments) as server:
        store, found = opened(directory, server.settings("memory"))
        restarts: list[str] = []
        found.on_restart = lambda: restarts.append("restart")
        episodes = [an_episode(f"Sarah in Berlin, day {i}") for i in range(500)]
        await store.apply(a_write(*episodes), {})
        await store.wait_durable()
        assert restarts == []
        server.kill()
        server.start()
        hits = await store.search_episodes(["berlin"], EpisodeFilter(group_ids=(GROUP,)), 1_000)
        assert len(hits) == (0 if arguments else len(episodes))
        assert restarts == ["restart"]
        assert await store.ready()
        await store.close()


async def test_a_server_that_is_away_is_said_to_be_at_once_and_found_again(directory: Path) -> None:
    with remote(directory) as server:
        store, _ = opened(directory, server.settings("memory"))
        episode = an_episode()
        await store.apply(a_write(episode), {})
        assert await store.wait_durable()
        server.kill()
        answers = await asyncio.gather(*(store.groups() for _ in range(30)), return_exceptions=True)
        assert {str(answer) for answer in answers} == {
            f"The FalkorDB server at 127.0.0.1:{server.port} does not answer. Try again when it runs."
        }
        assert not await store.ready()
        server.start()
        assert await store.get_episodes([episode.uuid], [GROUP]) == [episode]
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
        await store.apply(a_write(an_episode()), {})
        server.freeze()
        answers = await asyncio.gather(*(store.groups() for _ in range(30)), return_exceptions=True)
        assert {type(answer) for answer in answers} == {Unavailable}
        server.thaw()
        assert await store.groups() == [GROUP]
        await store.close()


@pytest.mark.parametrize("arguments", [(), ("--save", "3600", "1"), (*NO_FILE, "--save", "3600", "1"), NO_FILE])
async def test_deleted_words_leave_the_servers_files(directory: Path, arguments: tuple[str, ...]) -> None:
    with remote(directory, *arguments, "--rdbcompression", "no") as server:
        store, found = opened(directory, server.settings("memory"))
        await store.apply(a_write(an_episode("plantedword in Berlin")), {})
        await store.wait_durable()
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


async def test_two_graphs_on_one_server_know_nothing_of_each_other(falkor_server: RemoteFalkor, tmp_path: Path) -> None:
    stores = [opened(tmp_path, falkor_server.settings(name))[0] for name in ("of_one", "of_another")]
    databases = [await falkor_database(store) for store in stores]
    assert [await database.claim("renewed:Entity", 60) for database in databases] == [True, True]
    assert not await databases[0].claim("renewed:Entity", 60)
    await stores[0].apply(a_write(an_episode()), {})
    assert [await store.groups() for store in stores] == [[GROUP], []]
    for store in stores:
        await store.clear()
        await store.close()


async def test_an_unknown_option_of_the_address_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="password"):
        opened(tmp_path, {"falkordb_uri": "redis://localhost:6379?password=planted"})


async def test_the_rights_that_operations_names_are_enough_and_those_that_docker_gives(directory: Path) -> None:
    """With the keys of one graph only; ``docker/falkordb.sh`` gives its reader all, as it runs nothing else."""
    page = (ROOT / "DOCS" / "operations.md").read_text(encoding="utf-8")
    lines = [line.removeprefix("ACL SETUSER ") for line in page.splitlines() if line.startswith("ACL SETUSER ")]
    assert [line.split()[0] for line in lines] == ["default", WRITER, READER]
    assert lines[1].endswith(f" -@all {requirements_of_a_server.WRITER_COMMANDS}")
    assert lines[2].endswith(f" -@all {requirements_of_a_server.READER_COMMANDS}")
    assert reader_rights() == f"~* -@all {requirements_of_a_server.READER_COMMANDS}"
    users = "".join(f"user {line}\n" for line in lines)
    for word in ("ADMIN_PASSWORD", "WRITER_PASSWORD", "READER_PASSWORD"):
        assert word in users
        users = users.replace(word, PASSWORD)
    with running(RemoteFalkor(directory, users=users)) as server:
        assert isinstance(server, RemoteFalkor)
        store, found = opened(directory, server.settings("default_db"))
        episode = an_episode("Sarah in Berlin")
        await store.apply(a_write(episode, a_passage(episode)), {})
        assert await store.search_episodes(["berlin"], EpisodeFilter(group_ids=(GROUP,)), 5)
        assert await store.wait_durable()
        await store.clear()
        assert await store.erase()
        assert list(found.host.attention()) == []
        await store.close()
        told = await refusal(directory, server.settings("another_graph"))
        assert "may not do on the FalkorDB server" in told
