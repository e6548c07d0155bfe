"""A model reads 300 episodes while it fails and servers are killed: each is read once, or failed for good."""

import asyncio
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep, time
from typing import Any

import pytest
from tests.benchmarks.stdio import StdioServer, ToolFailed
from tests.scripted_model import ScriptedModel
from tests.storm.dump import dump, repeated_facts, repeated_names
from tests.storm.reading import EPISODES, GROUPS, Read, faults, note, read, unreadable

from graphiti_pkm.bootstrap import open_memory
from graphiti_pkm.core.ports.extraction import ExtractionRecord
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.storage.journal.opening import journal_of

pytestmark = pytest.mark.timeout(1800)

_PATIENCE = 900.0
_POLL = 0.2


@contextmanager
def a_model(rate: float, latency_ms: int = 0) -> Iterator[ScriptedModel]:
    with ScriptedModel(faults=faults(rate), latency_ms=latency_ms) as model:
        yield model
        assert model.script_errors == []


def serving(data_dir: Path, model: ScriptedModel, parallel: int = len(GROUPS)) -> StdioServer:
    options = {
        "data-dir": data_dir,
        "llm-model": "scripted",
        "llm-base-url": model.url,
        "llm-timeout-seconds": 4,
        "extraction-parallel": parallel,
        "log-level": "error",
    }
    flags = [str(word) for name, value in options.items() for word in (f"--{name}", value)]
    server = StdioServer([str(Path(sys.executable).with_name("graphiti-pkm")), "serve", *flags])
    server.initialize()
    return server


def tell(server: StdioServer, number: int) -> None:
    """Send a note until it is kept: each answer but an acknowledgement says that it may be sent again."""
    arguments = note(number)
    while True:
        try:
            answer = server.call("add_memory", **arguments)
        except ToolFailed as failed:
            if failed.code not in {"not_kept", "unavailable", "kept_but_pending"}:
                raise
            sleep(_POLL)
            continue
        assert answer["episode_uuid"] == arguments["uuid"]
        return


async def jobs(data_dir: Path) -> list[ExtractionRecord]:
    journal = journal_of(Settings(data_dir=data_dir))
    try:
        return await journal.extractions.of_episodes([note(number)["uuid"] for number in range(EPISODES)])
    finally:
        await journal.close()


async def ended(data_dir: Path) -> int:
    return sum(one.state not in {"queued", "running"} for one in await jobs(data_dir))


async def until_ended(data_dir: Path, count: int) -> None:
    """Raises TimeoutError."""
    deadline = monotonic() + _PATIENCE
    while (now := await ended(data_dir)) < count:
        if monotonic() > deadline:
            raise TimeoutError(f"{now} of {count} episodes ended")
        await asyncio.sleep(_POLL)


async def what_is_read(data_dir: Path) -> Read:
    async with open_memory(Settings(data_dir=data_dir)) as memory:
        while await memory.jobs.run_once():
            pass
        graph = dump(data_dir)
    assert repeated_names(graph) == []
    assert repeated_facts(graph) == []
    return read(graph)


def all_ended_well(records: list[ExtractionRecord]) -> None:
    """Each note once, done, or failed as the script has it."""
    failed = {one.episode_uuid: one for one in records if one.state != "done"}
    assert len(records) == EPISODES
    assert set(failed) == set(unreadable())
    assert {one.state for one in failed.values()} == {"failed"}
    assert all(one.reason for one in failed.values())


async def undisturbed(data_dir: Path) -> Read:
    with a_model(rate=0) as model, serving(data_dir, model) as server:
        for number in range(EPISODES):
            tell(server, number)
        await until_ended(data_dir, EPISODES)
        server.close()
    all_ended_well(await jobs(data_dir))
    return await what_is_read(data_dir)


async def test_a_disturbed_reading_is_the_undisturbed_one(tmp_path: Path) -> None:
    wanted = await undisturbed(tmp_path / "calm")
    data_dir = tmp_path / "storm"
    begun = monotonic()
    with a_model(rate=0.1, latency_ms=20) as model:
        server = serving(data_dir, model)
        try:
            for number in range(EPISODES):
                if number == EPISODES // 3:  # while it is still told
                    _kill(server.process.pid)
                    server = _again(server, data_dir, model)
                tell(server, number)
            for share in (0.35, 0.5, 0.65):
                await until_ended(data_dir, int(share * EPISODES))
                _kill(server.process.pid)
                server = _again(server, data_dir, model)
            await until_ended(data_dir, EPISODES)
            server.close()
        finally:
            server.__exit__(None, None, None)
        stats = model.stats
    records = await jobs(data_dir)
    all_ended_well(records)
    found = await what_is_read(data_dir)
    twice = sum(count - 1 for count in stats.answered.values())
    print(  # noqa: T201 what `make storm` is run for
        f"\nreading storm: {EPISODES} episodes, {stats.calls} calls, {sum(stats.faults.values())} faults "
        f"{dict(sorted(stats.faults.items()))}, {twice} answers paid for again, "
        f"{sum(one.attempts for one in records)} failed attempts, {monotonic() - begun:.0f} s",
        flush=True,
    )
    assert wanted.differences(found) == []


async def test_two_servers_share_the_queue_and_one_takes_over_what_the_other_held(tmp_path: Path) -> None:
    data_dir, count = tmp_path / "shared", 3 * len(GROUPS)
    with a_model(rate=0, latency_ms=1_000) as model:
        one = serving(data_dir, model, parallel=2)
        with one:
            for number in range(count):
                tell(one, number)
            await _until_running(data_dir, 2)
            with serving(data_dir, model, parallel=2) as other:
                await _until_running(data_dir, 4)  # more than one of them may work on: both do
                _kill(one.process.pid)
                killed_at = time()
                await until_ended(data_dir, count)
                other.close()
    records = await jobs(data_dir)
    taken = [one for one in records if one.attempts]  # nothing but a lost lease fails an attempt here
    assert taken
    last = max(one.finished_at.timestamp() for one in taken if one.finished_at is not None)
    print(  # noqa: T201 what `make storm` is run for
        f"\n{len(taken)} episodes of a killed server were read by the other {last - killed_at:.0f} s after the kill",
        flush=True,
    )
    assert {one.state for one in records} == {"done"}


async def _until_running(data_dir: Path, count: int) -> None:
    """Wait until so many jobs are worked on. Raises TimeoutError."""
    deadline = monotonic() + _PATIENCE
    while (now := sum(one.state == "running" for one in await jobs(data_dir))) < count:
        if monotonic() > deadline:
            raise TimeoutError(f"{now} of {count} jobs are worked on")
        await asyncio.sleep(_POLL)


def _kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


def _again(server: StdioServer, data_dir: Path, model: ScriptedModel) -> StdioServer:
    server.__exit__(None, None, None)
    return serving(data_dir, model)


def test_the_notes_of_the_storm_are_the_same_in_every_run() -> None:
    told: list[dict[str, Any]] = [note(number) for number in range(EPISODES)]
    assert told == [note(number) for number in range(EPISODES)]
    assert len({one["uuid"] for one in told}) == EPISODES
    assert {one["group_id"] for one in told} == set(GROUPS)
