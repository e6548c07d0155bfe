"""Memory of a real server and its database before and after it took in the journal."""

import re
from pathlib import Path

from tests.benchmarks.measuring import Figure
from tests.benchmarks.startup import COMMAND
from tests.benchmarks.stdio import StdioServer
from tests.benchmarks.texts import journal
from tests.benchmarks.world import data_directory

from graphiti_pkm.storage.graph.embedded.redis_socket import info, read_endpoint


async def figures() -> list[Figure]:
    """Resident memory, through stdio."""
    entries = journal()
    async with data_directory() as directory:
        with StdioServer([str(COMMAND), "serve", "--data-dir", str(directory)]) as server:
            server.initialize()
            server.call("add_memory", episode_body="Ready.")
            before = (_resident(server.process.pid), _database(directory))
            for entry in entries:
                server.call("add_memory", episode_body=entry.text, reference_time=entry.date)
            after = (_resident(server.process.pid), _database(directory))
            server.close()
    what = f"memory after {len(entries)} journal entries"
    return [
        Figure(f"{what}, server with its model", f"{after[0]} MB", f"{before[0]} MB after its first entry"),
        Figure(f"{what}, database", f"{after[1]} MB", f"{before[1]} MB after its first entry"),
    ]


def _resident(pid: int) -> int:
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return int(found[1]) // 1024


def _database(data_dir: Path) -> int:
    known = read_endpoint(data_dir)
    assert known is not None
    return int(info(known.socket, "memory")["used_memory_rss"]) // 2**20
