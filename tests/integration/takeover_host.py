"""One server of a shared database as a process of its own, for tests: told on stdin what to do, in lines of JSON.

The first line are its settings and the seconds of its lease; it ends with its input.
"""

import asyncio
import json
import sys
from typing import Any

from graphiti_pkm.bootstrap import Memory, open_memory
from graphiti_pkm.capabilities.remember.tools import WRITING
from graphiti_pkm.capabilities.status.requests import GetStatus
from graphiti_pkm.capabilities.status.tools import STATUS
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.core.model.queries import FactFilter, Window
from graphiti_pkm.core.model.requests import AddMemory
from graphiti_pkm.core.ports.takeover import Lease
from graphiti_pkm.settings.loader import Settings


async def main() -> None:
    lines = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    first = json.loads(await lines.readline())
    async with open_memory(Settings(**first["settings"]), lease=Lease(first["lease"])) as memory:
        answer("ready")
        while line := await lines.readline():
            answer(await _done(memory, **json.loads(line)))


async def _done(memory: Memory, what: str, text: str = "") -> Any:
    match what:
        case "add":
            return (await memory.services[WRITING].add_memory(LOCAL, AddMemory(episode_body=text))).episode_uuid
        case "receipt":
            status = await memory.services[STATUS].get_status(LOCAL, GetStatus(receipt=text))
            return status.extraction and status.extraction.model_dump(mode="json")
        case _:
            wanted = FactFilter(group_ids=("default",), now=memory.context.now())
            page = await memory.context.graph.facts.group_facts(wanted, Window(limit=100))
            return [fact.text for fact in page.facts]


def answer(what: object) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


asyncio.run(main())
