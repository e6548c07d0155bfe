"""MCP clients of another make: npm's SDK, as LibreChat uses it, and the Inspector's lint."""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.npm_clients import NpmClient, installed
from tests.e2e.support import COMMAND, Served, environment, run, serving
from tests.protocol.support import DEFAULT_TOOLS

# The first run installs the clients.
pytestmark = pytest.mark.timeout(300)

FACTS = 7


@pytest.fixture(scope="session")
def node() -> Path:
    return installed()


@pytest.fixture(params=["stdio", "http"])
def target(request: pytest.FixtureRequest, server: Served) -> list[str]:
    """How a client reaches a server on the shared directory."""
    return ["stdio", COMMAND, "serve"] if request.param == "stdio" else ["http", server.endpoint]


@pytest.fixture
def client(node: Path, target: list[str], shared_dir: Path) -> Iterator[NpmClient]:
    with NpmClient(node, *target, environment=environment(data_dir=shared_dir)) as connected:
        yield connected


def short_uuids(text: str, key: str = "uuid") -> list[str]:
    """The uuids under a key in the order of the text, as short as it gives them."""
    return re.findall(rf'"{key}":"([0-9a-f-]{{8,36}})"', text)


def remember(client: NpmClient, group: str) -> str:
    """One note with more facts than fit on one page; gives the text of the answer."""
    return client.call(
        "add_memory",
        group_id=group,
        name="Plan of Heron",
        episode_body="Heron is built by Ines. Its parts: " + ", ".join(f"Part{number}" for number in range(FACTS)),
        entities=[{"name": "Heron", "type": "Project"}],
        facts=[{"source": "Heron", "relation": "HAS_PART", "target": f"Part{number}"} for number in range(FACTS)],
    )


def test_once_tools_were_listed_an_error_is_still_read_by_the_model(client: NpmClient) -> None:
    """npm's client then holds structured content to the output schema, that of errors too."""
    assert client.tools()
    said = client.refused("get_entity_edge", uuid="00000000-0000-4000-8000-000000000000")
    assert "no fact" in said.lower()


def test_reading_text_alone_it_searches_explores_pages_and_deletes(client: NpmClient, target: list[str]) -> None:
    group = f"text-{target[0]}"
    remember(client, group)

    found = client.call("search_nodes", query="Heron", group_ids=group)
    heron = short_uuids(found)[0]
    assert len(heron) < 36

    first = client.call("get_entity_connections", entity_uuid=heron, max_connections=4)
    cursor = re.search(r'"next_cursor":"([^"]+)"', first)
    assert cursor is not None
    second = client.call("get_entity_connections", entity_uuid=heron, max_connections=4, cursor=cursor[1])
    assert "next_cursor" not in second
    parts = re.findall(r'"fact":"[^"]*\b(Part\d)\b', first + second)
    assert sorted(parts) == [f"Part{number}" for number in range(FACTS)]

    fact = json.loads(second)["facts"][0]
    client.call("delete_entity_edge", uuid=fact["uuid"])
    rest = client.call("get_entity_connections", entity_uuid=heron)
    assert f'"total":{FACTS - 1}' in rest
    assert fact["fact"] not in rest

    episode = json.loads(client.call("get_entity_timeline", entity_uuid=heron))["episodes"][0]
    client.call("delete_episode", uuid=episode["uuid"])
    assert '"total":0' in client.call("search_nodes", query="Heron", group_ids=group)


def test_it_lists_and_calls_every_tool(client: NpmClient, target: list[str]) -> None:
    assert "search" in client.hello["instructions"]
    group = f"every-{target[0]}"
    episode = short_uuids(remember(client, group), "episode_uuid")[0]
    heron = short_uuids(client.call("search_nodes", names=["Heron"], group_ids=group))[0]
    fact = short_uuids(client.call("search_memory_facts", query="parts of Heron", group_ids=group))[0]
    arguments: dict[str, dict[str, object]] = {
        "search_episodes": {"query": "Ines", "group_ids": group},
        "get_entity_connections": {"entity_uuid": heron},
        "get_entity_timeline": {"entity_uuid": heron},
        "get_episodes": {"group_ids": group},
        "get_episode_entities": {"episode_uuids": [episode]},
        "get_entity_edge": {"uuid": fact},
        "get_fact_sources": {"fact_uuid": fact},
        "retire_fact": {"fact_uuid": fact, "reason": "a trial"},
        "restore_fact": {"fact_uuid": fact, "reason": "the trial is over"},
        "update_entity": {"entity_uuid": heron, "summary": "A service."},
        "what_changed": {"since": "2020", "group_ids": group},
        "forget": {"fact_uuid": fact},
        "get_status": {},
        "delete_entity_edge": {"uuid": fact},
        "delete_episode": {"uuid": episode},
    }
    for tool, given in arguments.items():
        text = client.call(tool, **given)
        assert isinstance(json.loads(text), dict)
    called = {"add_memory", "search_nodes", "search_memory_facts", *arguments}
    assert {tool["name"] for tool in client.tools()} == called


def test_the_inspectors_strict_lint_passes(node: Path, target: list[str], shared_dir: Path) -> None:
    linted = subprocess.run(
        [node / "node_modules/.bin/mcp-inspector", "--cli", *target[1:], "--method", "tools/list", "--strict"],
        env=environment(data_dir=shared_dir),
        cwd=node,
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
    )
    assert linted.returncode == 0, linted.stderr[-2000:]
    assert "0 errors" in linted.stderr
    assert len(json.loads(linted.stdout)["tools"]) == DEFAULT_TOOLS


@pytest.mark.parametrize("headers", [[], ["--header", "Authorization:Bearer wrong"]])
def test_a_bridge_that_is_refused_says_what_is_needed(
    headers: list[str], node: Path, data_dir: Path, tmp_path: Path
) -> None:
    """mcp-remote answers every 401 by looking for a sign-in, and prints what it finds as its last words."""
    run("tokens", "create", "anna", data_dir=data_dir)
    with serving(data_dir) as served:
        ended = subprocess.run(
            [node / "node_modules" / ".bin" / "mcp-remote", served.endpoint, *headers],
            env={**os.environ, "MCP_REMOTE_CONFIG_DIR": str(tmp_path)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    assert ended.returncode == 1
    assert "(HTTP 404): There is no sign-in here. A valid token is needed" in ended.stderr
    assert "(HTTP 401)" not in ended.stderr
