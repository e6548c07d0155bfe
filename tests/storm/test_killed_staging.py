"""The whole way of what is tried out, killed at random points: try, look, snapshot, take over, go back, restore."""

import random
from pathlib import Path
from time import time_ns
from typing import Any

import pytest
from tests.e2e.support import over_stdio
from tests.e2e.test_cli_migrate import STAGED, facts, fill, killed
from tests.e2e.test_cli_staging import asked, command, contents

pytestmark = pytest.mark.timeout(1800)

KILLS = 10
BEFORE = ["Tom knows Ines."]
AFTER = sorted([*BEFORE, *STAGED])


async def test_a_workflow_killed_at_ten_random_points_ends_by_second_runs(tmp_path: Path) -> None:
    seed = time_ns()
    dice = random.Random(seed)  # noqa: S311 a storm is no secret
    kills = rounds = 0
    while kills < KILLS:
        rounds += 1
        assert rounds <= 2 * KILLS, (seed, "hardly any run was killed")
        data_dir = tmp_path / str(rounds)
        await fill(data_dir)
        assert (await asked("stats", "--target", "staging", data_dir=data_dir))["flagged"] == 0
        await command("snapshot", "--tag", "begun", data_dir=data_dir)
        since = await _now(data_dir)
        for name, arguments, wanted in (
            ("promote", ("promote", "--move", "--confirm"), AFTER),
            ("rollback", ("rollback", "--since", since, "--confirm"), BEFORE),
            ("restore", ("restore", "--snapshot", "{safety}", "--confirm"), AFTER),
        ):
            whole = [part.format(safety=await _safety(data_dir)) for part in arguments]
            kills += await killed(data_dir, dice.randint(1, 9), *whole)
            async with over_stdio(data_dir) as client:
                here, there = set(await facts(client, "default")), set(await facts(client, "default_staging"))
                if name == "promote":  # the source is never emptied before all of it is in the target
                    assert len(there) == len(STAGED) or here == set(AFTER), (seed, rounds)
            await command(*whole, data_dir=data_dir)
            async with over_stdio(data_dir) as client:
                assert await contents(client) == wanted, (seed, rounds, name)
                assert await facts(client, "default") == wanted, (seed, rounds, name)
                assert await facts(client, "default_staging") == [], (seed, rounds, name)
    print(f"\nkilled staging {seed}: {kills} kills in {rounds} rounds")  # noqa: T201 what `make storm` is run for


async def _now(data_dir: Path) -> str:
    """When the snapshot was taken: after the note that is relied on, before what is taken over."""
    listed = await asked("snapshot", "--list", data_dir=data_dir)
    (taken,) = [one["taken_at"] for one in listed["snapshots"] if one["tag"] == "begun"]
    return str(taken)


async def _safety(data_dir: Path) -> str:
    """The tag of what was there before the first rollback."""
    listed: dict[str, Any] = await asked("snapshot", "--list", data_dir=data_dir)
    tags = [one["tag"] for one in listed["snapshots"] if one["tag"].startswith("before-rollback-")]
    return str(tags[0]) if tags else ""
