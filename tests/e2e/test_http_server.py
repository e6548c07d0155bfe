"""The server process behind a port: who may talk to it, what a supervisor is told, how it ends."""

import json
import signal
from pathlib import Path

import httpx2
import pytest
from tests.e2e.support import Served, call, over_http, processes_naming, run, serving, until
from tests.protocol.support import error_of


async def test_a_user_header_is_refused_on_a_loopback_port(server: Served) -> None:
    async with over_http(server.endpoint, x_user_id="eve") as client:
        assert "X-User-ID is refused" in error_of(await client.call_tool("get_status", {}))


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example"])
def test_a_host_name_bound_to_loopback_by_an_attacker_is_refused(server: Served, host: str) -> None:
    answer = httpx2.post(
        server.endpoint,
        json={"jsonrpc": "2.0", "id": 1, "method": "ping"},
        headers={"host": host, "accept": "application/json, text/event-stream"},
    )
    assert answer.status_code == httpx2.codes.MISDIRECTED_REQUEST


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])  # noqa: S104  that it refuses is the point
def test_an_address_that_others_can_reach_is_not_served(host: str, data_dir: Path) -> None:
    refused = run("serve", "--transport", "http", "--host", host, data_dir=data_dir)
    assert refused.returncode == 2
    assert "can be reached from other machines" in refused.stderr
    assert refused.stdout == ""
    assert not data_dir.exists()


def test_a_port_that_is_taken_is_named(server: Served, data_dir: Path) -> None:
    port = server.url.rpartition(":")[2]
    refused = run("serve", "--transport", "http", "--port", port, data_dir=data_dir)
    assert refused.returncode == 1
    assert f"Cannot listen on 127.0.0.1:{port}" in refused.stderr
    assert "Choose another --port" in refused.stderr


def test_health_and_ready_tell_a_supervisor_about_process_and_database(server: Served) -> None:
    assert httpx2.get(f"{server.url}/health").json() == {"status": "alive"}
    until(server.ready, "the database and the embedder")
    assert httpx2.get(f"{server.url}/ready").json() == {"ready": True}


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
async def test_no_process_outlives_a_server_that_ends(ending: signal.Signals, data_dir: Path) -> None:
    with serving(data_dir) as server:
        async with over_http(server.endpoint) as client:
            await call(client, "add_memory", episode_body="One note.")
        assert len(processes_naming(data_dir)) == 1
        server.process.send_signal(ending)
        code = server.process.wait()
    assert code == (-ending if ending == signal.SIGKILL else 0)
    assert processes_naming(data_dir) == []


async def test_the_operator_is_told_how_much_people_with_tokens_have_and_not_what(data_dir: Path) -> None:
    made = json.loads(run("tokens", "create", "anna", "--json", data_dir=data_dir).stdout)
    with serving(data_dir) as server:
        async with over_http(server.endpoint, authorization=f"Bearer {made['token']}") as client:
            await call(client, "add_memory", episode_body="Anna keeps a heron.", group_id="birds")
    told = run("status", data_dir=data_dir).stdout
    assert "others    1 group of people with tokens: 1 episode, 0 entities, 0 facts" in told
    assert "groups    none of the local user" in told
    assert "birds" not in told
    assert "1 group" in run("doctor", data_dir=data_dir).stdout
