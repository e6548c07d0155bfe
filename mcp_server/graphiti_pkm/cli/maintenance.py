"""The commands backup, restore, rebuild and fetch-model."""

import asyncio
import contextlib
from pathlib import Path

from graphiti_pkm.bootstrap import open_memory
from graphiti_pkm.cli.directories import is_to_convert, require_memory
from graphiti_pkm.cli.opening import open_without_model
from graphiti_pkm.cli.output import Progress, say, say_json
from graphiti_pkm.core.operating_system import command_line
from graphiti_pkm.core.ports.embedding import mismatch
from graphiti_pkm.embedding.local.weight_files import find_weights
from graphiti_pkm.embedding.local.weights import fetch_weights
from graphiti_pkm.errors import ConfigurationError, InvalidInput, Unavailable
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.storage.former_memory import in_place_of_former
from graphiti_pkm.storage.journal.opening import journal_of


def backup(settings: Settings, file: Path) -> int:
    """Write the whole journal with its vectors to one new file."""
    target = file.absolute()
    require_memory(settings)

    async def run() -> None:
        journal = journal_of(settings)
        try:
            await journal.backup(target)
        finally:
            await journal.close()

    asyncio.run(run())
    say(f"Backed up {settings.data_dir} to {target} ({target.stat().st_size / 1e6:.1f} MB) and checked the file.")
    command = ["graphiti-pkm", "restore", str(target), "--data-dir", str(settings.data_dir)]
    say(f"To restore it: {command_line(command)}")
    return 0


def restore(settings: Settings, file: Path, *, replace: bool, as_json: bool = False) -> int:
    """Replace the journal with a backup and build the graph from it."""
    progress = Progress("writes restored")
    target = file.absolute()
    is_over_former = is_to_convert(settings)
    if is_over_former and not replace:
        raise InvalidInput(
            f"There is a memory of version 0.1 in {settings.data_dir}. Nothing was changed. With --replace it is "
            "replaced; what it wrote is kept there."
        )

    async def run() -> tuple[int, str | None]:
        former = in_place_of_former(settings.data_dir) if is_over_former else contextlib.nullcontext()
        async with open_memory(settings, replays=False) as memory, former:
            count = await memory.recovery.rebuilding.restore_backup(target, progress, replace=replace)
            with contextlib.suppress(Unavailable):  # a server continues it; the message below says so
                await memory.reembedding.finish_change()  # the backup may have been made during a change
            return count, mismatch(await memory.journal.embedding(), memory.context.embedder)

    try:
        count, other_model = asyncio.run(run())
    finally:
        seconds = progress.end()
    if as_json:
        say_json({"writes": count, "data_directory": settings.data_dir, "seconds": seconds, "note": other_model})
        return 0
    say(f"Restored {count} writes into {settings.data_dir} in {seconds:.1f} s.")
    if other_model:
        say(other_model)
    return 0


def rebuild(settings: Settings, *, force: bool) -> int:
    """Build the graph again from the journal."""
    progress = Progress("writes applied")
    require_memory(settings)

    async def run() -> int:
        async with open_without_model(settings) as memory:
            return await memory.recovery.rebuilding.rebuild(progress, force=force)

    try:
        count = asyncio.run(run())
    finally:
        seconds = progress.end()
    say(f"Built the graph from {count} writes in {seconds:.1f} s.")
    return 0


def fetch_model(settings: Settings) -> int:
    """Fetch the embedding model's weights into the cache, unless they are there."""
    there = _usable_weights(settings)
    if there is not None:
        say(
            f"The weights are already in {there} and verified. Nothing was fetched: these very files are all that "
            "--model-url may bring."
        )
        return 0
    progress = Progress()
    try:
        fetch_weights(settings, progress.step)
    finally:
        progress.end()
    say(f"The weights are in {find_weights(settings)} and verified. Restart running servers to use them.")
    return 0


def _usable_weights(settings: Settings) -> Path | None:
    try:
        return find_weights(settings)
    except ConfigurationError:
        if settings.model_dir is not None:
            raise  # fetched weights go into the cache and would not be used
        return None
