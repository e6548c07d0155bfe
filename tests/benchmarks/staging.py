"""Snapshot, restore and migration of a group of facts with vectors, against copying the bytes of the memory's file.

Each checks itself: a snapshot and what is restored from it by SHA-256, a migration by the digests of both groups.
Memory is what the process holds at most beyond what it held before.
"""

import asyncio
import resource
import shutil
import threading
from array import array
from collections.abc import Awaitable
from pathlib import Path
from time import perf_counter
from typing import TypeVar

import numpy as np
from tests.benchmarks.measuring import Figure
from tests.benchmarks.world import memory
from tests.builders import a_fact, a_name, a_write, an_entity

from graphiti_pkm.bootstrap import Memory
from graphiti_pkm.capabilities.staging.migrating import Migration
from graphiti_pkm.capabilities.staging.tools import MIGRATING, SNAPSHOTS
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.core.model.records import Vector
from graphiti_pkm.storage.commit import Committer

SIZE, QUICK = 100_000, 5_000
_ENTITIES = 10
"""Facts of each entity."""
_BATCH = 1_000
_DIMENSION = 384
_STAGING, _COPY, _PRODUCTION = "default_staging", "copy", "default"
_MEBIBYTE = 2**20
_LOOK_SECONDS = 0.05
_A = TypeVar("_A")


async def figures(*, quick: bool = False) -> list[Figure]:
    """Facts, and a tenth as many entities; without episodes, so that the figures are of facts."""
    size = QUICK if quick else SIZE
    async with memory() as opened:
        await _load(opened, size)
        snapshots, directory = opened.services[SNAPSHOTS], opened.context.settings.data_dir
        copied = await asyncio.to_thread(_copy_bytes, directory)
        taken, snapshot = await _measured(snapshots.take(LOCAL, _STAGING, "one"))
        path = next((directory / "snapshots").rglob("one.snapshot"))
        restored, _ = await _measured(snapshots.restore(LOCAL, _COPY, str(path), confirm=True))
        moving = Migration(source=_STAGING, target=_PRODUCTION, has_facts=True)
        migrated, report = await _measured(opened.services[MIGRATING].migrate(LOCAL, moving))
        assert (snapshot.size.facts, report.copied.facts) == (size, size)
        assert report.verified is not None
        again = await opened.services[MIGRATING].migrate(LOCAL, moving)
        assert (again.copied.facts, again.known.facts) == (0, size)
    bytes_copied = f"{copied:.1f} s"
    return [
        Figure(
            f"{what} of {size:,} facts with vectors, +{mebibytes:,.0f} MiB",
            f"{seconds:.1f} s",
            bytes_copied,
            seconds / copied,
        )
        for what, (seconds, mebibytes) in (
            (f"snapshot ({snapshot.bytes / _MEBIBYTE:,.0f} MiB)", taken),
            ("restore", restored),
            ("migration", migrated),
        )
    ]


async def _load(opened: Memory, size: int) -> None:
    committer, draw = Committer(opened.context), np.random.default_rng(7)
    entities = [an_entity(f"Thing {i}", group_id=_STAGING) for i in range(size // _ENTITIES)]
    for begin in range(0, len(entities), _BATCH):
        some = entities[begin : begin + _BATCH]
        vectors = dict(zip((one.uuid for one in some), _vectors(draw, len(some)), strict=True))
        await committer.commit(a_write(*some, *map(a_name, some)), vectors)
    for begin in range(0, size, _BATCH):
        facts = [
            a_fact(
                one,
                entities[(i * 7 + 1) % len(entities)],
                f"RELATES_{i // len(entities)}",
                text=f"{one.name} relates, {i}.",
                group_id=_STAGING,
            )
            for i in range(begin, begin + _BATCH)
            for one in (entities[i % len(entities)],)
        ]
        vectors = dict(zip((one.uuid for one in facts), _vectors(draw, len(facts)), strict=True))
        await committer.commit(a_write(*facts), vectors)


def _vectors(draw: np.random.Generator, count: int) -> list[Vector]:
    matrix = draw.standard_normal((count, _DIMENSION), dtype=np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    return [array("f", row.tobytes()) for row in matrix]


def _copy_bytes(directory: Path) -> float:
    """Seconds to copy the file of the memory with what belongs to it."""
    begun = perf_counter()
    for file in directory.glob("*.sqlite3*"):
        shutil.copyfile(file, file.with_suffix(f"{file.suffix}.copied"))
    seconds = perf_counter() - begun
    for copy in directory.glob("*.copied"):
        copy.unlink()
    return seconds


async def _measured(work: Awaitable[_A]) -> tuple[tuple[float, float], _A]:
    """Seconds, and the mebibytes of the process at most beyond those before."""
    before = most = _resident()
    done = threading.Event()

    def look() -> None:
        nonlocal most
        while not done.wait(_LOOK_SECONDS):
            most = max(most, _resident())

    watcher = threading.Thread(target=look)
    watcher.start()
    begun = perf_counter()
    try:
        found = await work
    finally:
        done.set()
        watcher.join()
    return (perf_counter() - begun, max(0, most - before) / _MEBIBYTE), found


def _resident() -> int:
    """Bytes of the process that are in memory."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize()
