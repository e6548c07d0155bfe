"""The server process on a pipe: stdout is the wire, and the process goes when its client goes."""

import json
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from tests.e2e.support import COMMAND, environment, processes_naming

Server: TypeAlias = "subprocess.Popen[bytes]"
Message: TypeAlias = dict[str, Any]

HELLO: list[Message] = [
    {
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "by hand", "version": "1"},
        },
    },
    {"method": "notifications/initialized"},
]


@pytest.fixture
def server(data_dir: Path) -> Iterator[Server]:
    with subprocess.Popen(
        [COMMAND, "serve"],
        env=environment(data_dir=data_dir, log_level="debug", log_format="json"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        yield process


def tool_call(number: int, tool: str, **arguments: object) -> Message:
    return {"id": number, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}


def talk(server: Server, sent: Sequence[Message]) -> tuple[dict[int, Message], bytes]:
    """The answers to all requests by id, and what was logged; the client then goes."""
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(b"".join(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n" for message in sent))
    server.stdin.flush()
    frames: list[Message] = []
    while {message["id"] for message in sent if "id" in message} - {frame.get("id") for frame in frames}:
        frames.append(json.loads(server.stdout.readline()))
    rest, log = server.communicate()
    frames += map(json.loads, rest.splitlines())
    assert {frame["jsonrpc"] for frame in frames} == {"2.0"}
    assert server.returncode == 0
    return {frame["id"]: frame for frame in frames if "id" in frame}, log


def test_stdout_holds_protocol_frames_only_and_stderr_no_content(server: Server) -> None:
    answers, log = talk(
        server,
        [
            *HELLO,
            {"id": 2, "method": "tools/list"},
            tool_call(3, "add_memory", episode_body="A planted word.", entities=[{"name": "Zanzibar"}]),
            tool_call(4, "search_nodes", query="Zanzibar (planted"),
            tool_call(5, "get_entity_connections", entity_uuid="a planted uuid"),
            tool_call(6, "no_such_tool", planted=1),
            {"id": 7, "method": "no/such/method"},
        ],
    )
    assert len(answers) == 7
    assert all(isinstance(json.loads(line), dict) for line in log.splitlines())
    assert b"add_memory" in log
    assert b"lanted" not in log
    assert b"anzibar" not in log


def test_half_a_surrogate_pair_is_refused_and_the_server_goes_on(server: Server) -> None:
    half = tool_call(2, "add_memory", episode_body="half \ud83d of it")
    whole = tool_call(3, "add_memory", episode_body="whole \U0001f600")
    answers, _ = talk(server, [*HELLO, half, whole])
    assert answers[2]["result"]["isError"] is True
    assert "surrogate" in answers[2]["result"]["content"][0]["text"]
    assert answers[3]["result"]["structuredContent"]["status"] == "stored"


def test_a_server_whose_client_goes_leaves_no_process(server: Server, data_dir: Path) -> None:
    talk(server, [*HELLO, tool_call(2, "add_memory", episode_body="One note.")])
    assert processes_naming(data_dir) == []
