"""The machine's side of an embedded memory: one file, no process of its own."""

from collections.abc import Sequence


class SqliteHost:
    """The port ``Host``: there is nothing to start, to repair or to sweep beside the file itself."""

    backend = "SQLite"
    is_shared = False

    def attention(self) -> Sequence[str]:
        return ()

    def is_whole(self) -> bool:
        return True

    def made_whole(self) -> None:
        return

    def last_repair(self) -> str | None:
        return None

    async def sweep(self) -> bool:
        return True

    def remainder(self) -> str:
        return ""

    async def info(self) -> None:
        return None

    async def memory_usage(self) -> int | None:
        return None

    def release(self) -> None:
        return
