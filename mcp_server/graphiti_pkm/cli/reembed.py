"""``reembed``: computes the vectors of the memory with the configured model."""

import asyncio
import time
from collections.abc import Sequence

from graphiti_pkm.bootstrap import Memory, configured_embedder, open_memory
from graphiti_pkm.cli.directories import require_memory
from graphiti_pkm.cli.output import Progress, say
from graphiti_pkm.core.ports.embedding import EmbeddingSize, RecordedEmbedding
from graphiti_pkm.core.ports.ports import Embedder
from graphiti_pkm.embedding.api import service_of
from graphiti_pkm.errors import ModelUnavailable, Unavailable
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.storage.missing_vectors import TEXTS

_SAMPLE = 32
_CHARACTERS_A_TOKEN = 4


def reembed(settings: Settings, *, dry_run: bool) -> int:
    """Embed all texts that have no vector of the configured model; after a change of model these are all texts."""
    require_memory(settings)
    return asyncio.run(_dry_run(settings) if dry_run else _reembed(settings))


async def _dry_run(settings: Settings) -> int:
    async with open_memory(settings, replays=False) as memory:
        _print_plan(settings, memory.context.embedder, await memory.reembedding.is_other())
        size = await memory.reembedding.size()
    for line in _estimate(settings, size):
        say(line)
    if size.texts and settings.embedding_mode == "local":
        say(f"  time        about {size.texts / await _rate(settings):.0f} s on this machine")
    say("Nothing was changed or sent. Run the command without --dry-run to do it.")
    return 0


async def _reembed(settings: Settings) -> int:
    progress = Progress("texts embedded")
    try:
        async with open_memory(settings, replays=False) as memory:
            await memory.recovery.replay()
            other = await memory.reembedding.is_other()
            _print_plan(settings, memory.context.embedder, other)
            for line in _estimate(settings, await memory.reembedding.size()):
                say(line)
            await memory.reembedding.change()
            try:
                done = await memory.reembedding.fill(progress)
            except ModelUnavailable as error:
                raise Unavailable(
                    f"{error.message} Finished vectors are stored; run `graphiti-pkm reembed` again to continue."
                ) from error
            await memory.context.graph.writer.wait_durable()
            await _mark(memory)
    finally:
        seconds = progress.end()
    rate = f" in {seconds:.1f} s, {done / seconds:.0f} a second" if done else ""
    say(f"Embedded {done} texts{rate}.")
    if other is not None:
        say("Restart servers that run with the old model; until then they search by words.")
    return 0


async def _mark(memory: Memory) -> None:
    """Mark all writes as applied, so that the next start need not check them."""
    await memory.journal.applied(await memory.journal.written_until_now())


def _print_plan(settings: Settings, embedder: Embedder, other: RecordedEmbedding | None) -> None:
    own = f"{embedder.model} ({embedder.dimension} dimensions)"
    if other is None:
        say(f"The vectors of this memory come from {own}; missing ones are added.")
    elif other.is_changing:
        say(f"A change to {other.describe()} was not finished; all vectors are computed with {own}.")
    else:
        say(f"The vectors of this memory come from {other.describe()}; all are computed again with {own}.")
    if settings.embedding_mode == "api":
        say(f"Every text below is sent to {service_of(settings).host}.")


def _estimate(settings: Settings, size: EmbeddingSize) -> Sequence[str]:
    lines = [
        f"  texts       {size.texts}: {size.entities} names, {size.facts} facts, {size.passages} sentences",
        f"  characters  {size.characters}",
    ]
    if settings.embedding_mode == "api":
        tokens = size.characters // _CHARACTERS_A_TOKEN
        lines.append(f"  calls       about {-(-size.texts // TEXTS)}, about {tokens} tokens")
    return lines


async def _rate(settings: Settings) -> float:
    """Texts per second of the local model, measured with generated sentences."""
    embedder = configured_embedder(settings)
    try:
        await embedder.embed(["one to load the model"])
        started = time.perf_counter()
        await embedder.embed(
            [f"Sentence {number} says what somebody did on a day of spring." for number in range(_SAMPLE)]
        )
        return _SAMPLE / (time.perf_counter() - started)
    finally:
        await embedder.close()
