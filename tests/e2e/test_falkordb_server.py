"""The whole product on a FalkorDB that somebody else runs."""

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import httpx2
import pytest
from tests.e2e.support import call, over_http, over_stdio, processes_naming, run, serving, until
from tests.falkor import PASSWORD, RemoteFalkor
from tests.protocol.support import error_of
from tests.requirements import requirement

NO_FILE = ("--appendonly", "no")


@pytest.fixture
def on_server(falkor_server: RemoteFalkor) -> Iterator[dict[str, object]]:
    """Settings of an empty graph there."""
    name = f"e2e_{uuid4().hex}"
    yield falkor_server.settings(name)
    with falkor_server.client() as client:
        client.delete(name)


@requirement("K-50")
async def test_two_servers_with_journals_of_their_own_see_each_others_writes(
    on_server: dict[str, object], tmp_path: Path
) -> None:
    """One of them over stdio; neither starts a database of its own."""
    fact = {"source": "Sarah", "relation": "LIVES_IN", "target": "Berlin", "fact": "Sarah lives in Berlin"}
    moved = {"source": "Sarah", "relation": "LIVES_IN", "target": "Lisbon", "fact": "Sarah lives in Lisbon"}
    names = [{"name": "Sarah"}, {"name": "Berlin"}, {"name": "Lisbon"}]
    with serving(tmp_path / "one", **on_server) as first:
        async with over_http(first.endpoint) as here, over_stdio(tmp_path / "another", **on_server) as there:
            await call(here, "add_memory", episode_body="Sarah lives in Berlin.", entities=names[:2], facts=[fact])
            seen = await call(there, "search_nodes", names=["Sarah"])
            assert [node["name"] for node in seen["nodes"]] == ["Sarah"]
            told = {**moved, "replaces": "Berlin", "valid_at": "2026-03"}
            await call(there, "add_memory", episode_body="She moved to Lisbon.", entities=names, facts=[told])
            held = await call(here, "get_entity_connections", entity_uuid=seen["nodes"][0]["uuid"])
            assert {edge["fact"] for edge in held["facts"]} >= {"Sarah lives in Lisbon"}
            found = await call(here, "search_episodes", query="moved Lisbon")
            assert "She moved to Lisbon." in [episode["content"] for episode in found["episodes"]]
            for client in (here, there):
                status = await call(client, "get_status")
                assert (status["status"], status["backend"], status.get("failures", [])) == (
                    "ok",
                    "FalkorDB server",
                    [],
                )
        until(first.ready, "the database and the embedder")
        assert not [one for one in processes_naming(tmp_path) if "redis-server" in one or "watchdog" in one]
        log = first.log.read_text()
        assert PASSWORD not in log
    assert run("doctor", data_dir=tmp_path / "one", **on_server).returncode == 0
    assert run("status", data_dir=tmp_path / "another", **on_server).returncode == 0


async def test_what_a_server_without_files_lost_comes_back_from_the_journal(
    short_directory: Path, tmp_path: Path
) -> None:
    server = RemoteFalkor(short_directory, NO_FILE)
    server.start()
    try:
        with serving(tmp_path / "data", **server.settings("memory")) as served:
            async with over_http(served.endpoint) as client:
                for note in ("The first.", "The second."):
                    await call(client, "add_memory", episode_body=note)
                status = await call(client, "get_status")
                assert status["status"] == "degraded"
                assert "keeps nothing on disk" in status["failures"][0]
                server.kill()
                told = error_of(await client.call_tool("get_episodes", {}))
                assert f"The FalkorDB server at 127.0.0.1:{server.port} does not answer" in told
                assert httpx2.get(f"{served.url}/ready").status_code == httpx2.codes.SERVICE_UNAVAILABLE
                server.start()
                until(served.ready, "the database to be back")
                contents: list[str] = []
                while len(contents) < 2:  # the journal is replayed beside the calls; the test's time limit ends it
                    page = await call(client, "get_episodes")
                    contents = [episode["content"] for episode in page["episodes"]]
                assert sorted(contents) == ["The first.", "The second."]
    finally:
        server.kill()
