"""From the start of the process to an answered tools/list over stdio, against a bare MCPServer."""

import sys
from collections.abc import Sequence
from pathlib import Path

from tests.benchmarks.measuring import Figure, Target, in_turn, ms
from tests.benchmarks.stdio import StdioServer
from tests.benchmarks.world import data_directory

ROUNDS = 20
BARE = Path(__file__).with_name("bare_server.py")
COMMAND = Path(sys.executable).with_name("graphiti-pkm")


async def figures() -> list[Figure]:
    """The processes are ended before they begin with what a later call would need."""
    with data_directory() as directory:
        ours = [str(COMMAND), "serve", "--data-dir", str(directory)]
        tools = len(_listed(ours))
        bare = [sys.executable, str(BARE), str(tools)]
        assert len(_listed(bare)) == tools

        async def start_ours() -> None:
            _listed(ours)

        async def start_bare() -> None:
            _listed(bare)

        taken = await in_turn({"ours": start_ours, "bare": start_bare}, ROUNDS)
        ratio = taken["ours"].p50 / taken["bare"].p50
        what = f"start to answered tools/list over stdio, {tools} tools"
        return [Figure(what, ms(taken["ours"].p50), ms(taken["bare"].p50), ratio, Target("<=", 1.1))]


def _listed(command: Sequence[str]) -> list[object]:
    with StdioServer(command) as server:
        server.initialize()
        tools: list[object] = server.ask("tools/list")["tools"]
        return tools
