"""Commands that replace what a server works on, killed at random beside it: nothing is lost or there twice."""

import asyncio
import random
import subprocess
from collections import Counter
from pathlib import Path
from time import time_ns

import pytest
from mcp.client import Client
from tests.e2e.support import COMMAND, call, environment, over_stdio, run

KILLS = 20
NOTES = 40

pytestmark = pytest.mark.timeout(900)


async def test_rebuild_restore_and_backup_killed_at_random_lose_and_repeat_nothing(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    seed = time_ns()
    dice = random.Random(seed)  # noqa: S311 a storm is no secret
    kills: Counter[str] = Counter()
    async with over_stdio(data_dir) as client:
        told = [await remembered(client, number) for number in range(NOTES)]
        for number in range(KILLS):
            backup = tmp_path / f"backup-{number}"
            saved = await asyncio.to_thread(run, "backup", str(backup), data_dir=data_dir)
            assert saved.returncode == 0, saved.stderr
            command = dice.choice((["rebuild"], ["restore", str(backup), "--replace"], ["backup", f"{backup}-killed"]))
            kills[command[0]] += await ended(data_dir, command, dice.uniform(0.2, 6.0))
            told.append(await remembered(client, NOTES + number))
            assert await contents(client) == sorted(told), (seed, number, command)
            if Path(f"{backup}-killed").exists():  # noqa: ASYNC240 a test may block its own loop
                elsewhere = tmp_path / f"elsewhere-{number}"
                restored = await asyncio.to_thread(run, "restore", f"{backup}-killed", data_dir=elsewhere)
                assert restored.returncode == 0, restored.stderr
        for name in ("Ines", "Heron"):
            found = await call(client, "search_nodes", names=[name])
            assert [node["name"] for node in found["nodes"]].count(name) == 1
        status = await call(client, "get_status")
        assert (status["status"], status["failures"]) == ("ok", [])
    print(f"\nkilled commands {seed}: {dict(kills)} killed of {KILLS}")  # noqa: T201 what `make storm` is run for


async def remembered(client: Client, number: int) -> str:
    body = f"Note {number}: Ines works on Heron."
    fact = {"source": "Ines", "relation": "WORKS_ON", "target": "Heron", "fact": body}
    await call(client, "add_memory", episode_body=body, entities=[{"name": "Ines"}, {"name": "Heron"}], facts=[fact])
    return body


async def contents(client: Client) -> list[str]:
    page = await call(client, "get_episodes", max_episodes=100)
    return sorted(str(episode["content"]) for episode in page["episodes"])


async def ended(data_dir: Path, command: list[str], seconds: float) -> int:
    """1 if it was killed after so long, 0 if it was quicker."""
    process = await asyncio.create_subprocess_exec(
        COMMAND, *command, env=environment(data_dir=data_dir), stdout=subprocess.DEVNULL
    )
    try:
        await asyncio.wait_for(process.wait(), seconds)
    except TimeoutError:
        process.kill()
        await process.wait()
        return 1
    return 0
