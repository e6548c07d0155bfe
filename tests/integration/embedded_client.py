"""One client process of the embedded database, for tests: ``acquire``, ``recover`` and ``release`` on stdin."""

import asyncio
import json
import sys
from pathlib import Path

from graphiti_pkm.storage.graph.embedded.embedded import EmbeddedDatabase
from graphiti_pkm.storage.graph.locks.locks import FlockGroupLocks


async def main(data_dir: Path, idle_seconds: float) -> None:
    database = EmbeddedDatabase(data_dir, idle_seconds)
    locks = FlockGroupLocks(data_dir)
    lines = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)

    async def until_told(word: bytes, name: str) -> None:
        async with locks.hold_all() if name == "*" else locks.hold(name):
            answer(word.decode())
            await lines.readline()

    def answer(what: object) -> None:
        sys.stdout.write(json.dumps(what) + "\n")
        sys.stdout.flush()

    while line := (await lines.readline()).split():
        match line:
            case [b"acquire"]:
                await database.acquire()
                now = await database.info()
                answer(now and now.redis_pid)
            case [b"recover"]:
                await database.recover()
                now = await database.info()
                answer(now and now.redis_pid)
            case [b"release"]:
                database.release()
                answer("released")
            case [b"hold", name]:
                await until_told(b"held", name.decode())
                answer("freed")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), float(sys.argv[2])))
