"""Analyses in processes of their own leave the pipe of a server alone, and go with it."""

import json
import subprocess
from pathlib import Path

from tests.e2e.support import COMMAND, environment
from tests.e2e.test_stdio_server import HELLO, Message, Server, tool_call

RING = "digraph { a -> b; b -> c; c -> a; planted -> a; }"


def _ask(server: Server, message: Message) -> Message:
    """The answer to one request; whatever else comes must be a frame, too."""
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    server.stdin.flush()
    while (frame := json.loads(server.stdout.readline())).get("id") != message.get("id"):
        assert frame["jsonrpc"] == "2.0"
    return dict(frame)


def _answer(server: Server, number: int, tool: str, **arguments: object) -> Message:
    result = _ask(server, tool_call(number, tool, **arguments))["result"]
    assert not result.get("isError"), result
    return dict(result["structuredContent"])


def test_an_analysis_in_a_process_of_its_own_leaves_the_pipe_to_the_protocol(data_dir: Path) -> None:
    settings = {"toolsets": "reasoning", "log_format": "json"}
    with subprocess.Popen(
        [COMMAND, "serve"],
        env=environment(data_dir=data_dir, **settings),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as server:
        _ask(server, HELLO[0])
        assert server.stdin is not None
        server.stdin.write(json.dumps({"jsonrpc": "2.0", **HELLO[1]}).encode() + b"\n")
        _answer(server, 2, "import_graph", format="dot", content=RING)
        for number in (3, 4):
            assert _answer(server, number, "find_cycles")["cycles"] == [["a", "b", "c"]]
        assert _answer(server, 5, "shortest_path", source="planted", target="c")["length"] == 3
        assert _answer(server, 6, "betweenness_centrality")["total"] == 4
        rest, log = server.communicate()
    assert (rest, server.returncode) == (b"", 0)
    assert all(isinstance(json.loads(line), dict) for line in log.splitlines())
    assert b"find_cycles" in log
    assert b"planted" not in log
