"""Memory of a real server, and the size of its file, before and after it took in the journal."""

import re
from pathlib import Path

from tests.benchmarks.measuring import Figure
from tests.benchmarks.startup import COMMAND
from tests.benchmarks.stdio import StdioServer
from tests.benchmarks.texts import journal
from tests.benchmarks.world import data_directory

from graphiti_pkm.storage.journal.connection import MEMORY


async def figures() -> list[Figure]:
    """Resident memory, through stdio."""
    entries = journal()
    with data_directory() as directory:
        with StdioServer([str(COMMAND), "serve", "--data-dir", str(directory)]) as server:
            server.initialize()
            server.call("add_memory", episode_body="Ready.")
            before = _resident(server.process.pid)
            for entry in entries:
                server.call("add_memory", episode_body=entry.text, reference_time=entry.date)
            after = _resident(server.process.pid)
            server.close()
        size = (directory / MEMORY).stat().st_size / 2**20
    characters = sum(len(entry.text) for entry in entries) / 2**20
    return [
        Figure(
            f"memory after {len(entries)} journal entries, server with its model",
            f"{after} MB",
            f"{before} MB after its first entry",
        ),
        Figure(f"the file of {len(entries)} journal entries", f"{size:.1f} MB", f"{characters:.1f} MB of text"),
    ]


def _resident(pid: int) -> int:
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return int(found[1]) // 1024
