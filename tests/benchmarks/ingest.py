"""The journal through MCP, one entry after the other and eight in flight, against the embedder alone."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from time import perf_counter

from tests.benchmarks.measuring import Figure, Target
from tests.benchmarks.texts import Entry, journal
from tests.benchmarks.world import call, client_of, memory

from graphiti_pkm.core.model.passages import split_passages
from graphiti_pkm.embedding.local.local import LocalEmbedder

IN_FLIGHT = 8
_PIECE = 100
"""Entries of one side before it is the other's turn, so that whatever else the machine does falls on both."""

Do = Callable[[Entry], Awaitable[object]]


async def figures() -> list[Figure]:
    """Each way of sending stands against the embedder asked in the same way, and against its one big batch."""
    entries = journal()
    return [figure for in_flight in (1, IN_FLIGHT) for figure in await _measured(entries, in_flight)]


async def _measured(entries: Sequence[Entry], in_flight: int) -> list[Figure]:
    async with memory() as opened, client_of(opened) as client:
        alone, in_bulk = LocalEmbedder(opened.context.settings), LocalEmbedder(opened.context.settings)

        async def add(entry: Entry) -> None:
            await call(client, "add_memory", episode_body=entry.text, reference_time=entry.date)

        async def embed(entry: Entry) -> None:
            await alone.embed(_sentences([entry]))

        await asyncio.gather(add(Entry("1659-01-01", "Ready.")), alone.embed(["Ready."]), in_bulk.embed(["Ready."]))
        ours = theirs = bulk = 0.0
        for begin in range(0, len(entries), _PIECE):
            piece = entries[begin : begin + _PIECE]
            ours += await _timed(add, piece, in_flight)
            theirs += await _timed(embed, piece, in_flight)
            if in_flight > 1:
                begun = perf_counter()
                await in_bulk.embed(_sentences(piece))
                bulk += perf_counter() - begun
        await asyncio.gather(alone.close(), in_bulk.close())
    count = len(_sentences(entries))
    way = "one after the other" if in_flight == 1 else f"{in_flight} in flight"
    what = f"{len(entries)} journal entries ({count:,} sentences) through MCP, {way}"
    found = [_figure(f"{what}, against the same calls of the embedder", count, ours, theirs, Target(">=", 0.75))]
    return found + ([_figure(f"{what}, against one batch", count, ours, bulk, None)] if bulk else [])


def _figure(what: str, sentences: int, ours: float, theirs: float, aim: Target | None) -> Figure:
    return Figure(
        what, f"{sentences / ours:.0f} sentences/s", f"{sentences / theirs:.0f} sentences/s", theirs / ours, aim
    )


def _sentences(entries: Sequence[Entry]) -> list[str]:
    return [entry.text[span.start : span.end] for entry in entries for span in split_passages(entry.text)]


async def _timed(do: Do, entries: Sequence[Entry], in_flight: int) -> float:
    """Seconds for all entries with so many at once."""
    waiting = iter(entries)

    async def worker() -> None:
        for entry in waiting:
            await do(entry)

    begun = perf_counter()
    await asyncio.gather(*(worker() for _ in range(in_flight)))
    return perf_counter() - begun
