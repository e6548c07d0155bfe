"""A FalkorDB that somebody else runs: what it must be able to do, who may what, and what is said of one that cannot."""

import asyncio
import socket
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import redis
from tests.builders import GROUP, a_passage, a_write, an_episode
from tests.falkor import PASSWORD, READER, WRITER, RemoteFalkor, falkor_database, reader_rights
from tests.integration.falkordb_remote import opened, refusal, remote, running

from graphiti_pkm.core.model.queries import EpisodeFilter
from graphiti_pkm.errors import ConfigurationError, Unavailable
from graphiti_pkm.storage.graph.falkordb import server as requirements_of_a_server
from graphiti_pkm.storage.graph.store import GraphStore

ROOT = Path(__file__).parents[2]


@pytest.fixture
def directory(short_directory: Path) -> Path:
    return short_directory


async def test_a_reader_really_cannot_write(falkor_server: RemoteFalkor, falkor_server_graph: GraphStore) -> None:
    await falkor_server_graph.writer.apply(a_write(an_episode("Sarah in Berlin")), {})
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
    assert (await falkor_server_graph.records.group_sizes([GROUP]))[GROUP].episodes == 1


async def test_every_read_goes_over_the_readers_connection(directory: Path) -> None:
    """The writer is not even allowed the command of reads."""
    with remote(directory) as server:
        with server.client() as client:
            client.acl_setuser(WRITER, enabled=True, commands=["-graph.ro_query"], reset=False)
        store, _ = opened(directory, server.settings("memory"))
        episode = an_episode("Sarah in Berlin")
        await store.writer.apply(a_write(episode, a_passage(episode)), {})
        assert await store.records.get_episodes([episode.uuid], [GROUP]) == [episode]
        assert await store.search.search_episodes(["berlin"], EpisodeFilter(group_ids=(GROUP,)), 5)
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
    assert await store.records.groups() == []
    await store.close()
    told = await refusal(tmp_path, {**settings, "falkordb_password": "not-this"})
    assert str(falkor_server.socket) in told


async def test_a_server_that_cuts_answers_is_said_to(directory: Path) -> None:
    with remote(directory) as server:
        with server.client() as client:
            client.execute_command("GRAPH.CONFIG", "SET", "RESULTSET_SIZE", 10_000)
        store, found = opened(directory, server.settings("memory"))
        await store.records.groups()
        (told,) = found.host.attention()
        assert "RESULTSET_SIZE -1" in told
        await store.close()


async def test_no_more_connections_than_allowed_are_opened(directory: Path) -> None:
    with remote(directory) as server:
        store, _ = opened(directory, server.settings("memory", database_connections=5))
        writes = (store.writer.apply(a_write(an_episode(f"Note {i}")), {}) for i in range(20))
        await asyncio.gather(*writes, *(store.records.groups() for _ in range(40)), store.writer.wait_durable())
        with server.client() as client:
            users = Counter(one["user"] for one in client.client_list() if one["user"] in {WRITER, READER})
        assert users == {WRITER: 3, READER: 2}
        await store.close()


async def test_a_reader_who_can_write_is_said_to(falkor_server: RemoteFalkor, tmp_path: Path) -> None:
    store, found = opened(tmp_path, falkor_server.settings("memory", falkordb_reader_username=WRITER))
    await store.records.groups()
    (told,) = found.host.attention()
    assert told.startswith("The user of falkordb_reader_username may write")
    await store.close()


async def test_two_graphs_on_one_server_know_nothing_of_each_other(falkor_server: RemoteFalkor, tmp_path: Path) -> None:
    stores = [opened(tmp_path, falkor_server.settings(name))[0] for name in ("of_one", "of_another")]
    databases = [await falkor_database(store) for store in stores]
    assert [await database.claim("renewed:Entity", 60) for database in databases] == [True, True]
    assert not await databases[0].claim("renewed:Entity", 60)
    await stores[0].writer.apply(a_write(an_episode()), {})
    assert [await store.records.groups() for store in stores] == [[GROUP], []]
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
        await store.writer.apply(a_write(episode, a_passage(episode)), {})
        assert await store.search.search_episodes(["berlin"], EpisodeFilter(group_ids=(GROUP,)), 5)
        assert await store.writer.wait_durable()
        await store.clear()
        assert await store.erase()
        assert list(found.host.attention()) == []
        await store.close()
        told = await refusal(directory, server.settings("another_graph"))
        assert "may not do on the FalkorDB server" in told
