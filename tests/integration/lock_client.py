"""Another process that asks for locks of groups: ``hold NAME`` until the next line; "*" are all of them."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from graphiti_pkm.storage.graph.locks.locks import FlockGroupLocks

ROOT = Path(__file__).resolve().parents[2]


class Client:
    """The process: one line in, one line of JSON out. It is killed in the end."""

    def __init__(self, data_dir: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.integration.lock_client", str(data_dir)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self.process.kill()
        self.process.communicate()

    def tell(self, word: str) -> None:
        """Send a word without waiting for the answer."""
        assert self.process.stdin is not None
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()

    async def heard(self) -> Any:
        """The next answer."""
        assert self.process.stdout is not None
        return json.loads(await asyncio.to_thread(self.process.stdout.readline))

    async def ask(self, word: str) -> Any:
        """Send a word and wait for the answer."""
        self.tell(word)
        return await self.heard()


async def main(data_dir: Path) -> None:
    locks = FlockGroupLocks(data_dir)
    lines = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)

    def answer(what: str) -> None:
        sys.stdout.write(json.dumps(what) + "\n")
        sys.stdout.flush()

    while line := (await lines.readline()).decode().split():
        name = line[1]
        async with locks.hold_all() if name == "*" else locks.hold(name):
            answer("held")
            await lines.readline()
        answer("freed")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
