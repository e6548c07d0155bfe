"""Commands that replace what a server works on, killed beside it at any call on its files: nothing is lost or twice."""

import asyncio
import random
import signal
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import time_ns

import pytest
from mcp.client import Client
from tests.e2e.support import COMMAND, call, environment, over_stdio, run
from tests.e2e.test_cli_reembed import by, dimensions, jobs_done
from tests.embedding_service import EmbeddingService
from tests.storm.dump import dump
from tests.storm.tape import calls, recorder, recording, records

from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.storage.journal.opening import journal_of

ROUNDS = 7
NOTES = 40
LEAST_KILLS = 20

pytestmark = pytest.mark.timeout(1800)


@dataclass(frozen=True)
class Killer:
    """Runs commands that die before a call on a file below ``root`` that is drawn among all of theirs."""

    root: Path
    library: Path
    dice: random.Random

    async def run(self, command: Sequence[str], settings: Mapping[str, object], kill_at: int = 0) -> int:
        """The exit code."""
        tape = self.root.with_name("tape")
        tape.unlink(missing_ok=True)
        env = environment(**settings) | recording(self.library, self.root, tape, kill_at)
        process = await asyncio.create_subprocess_exec(
            COMMAND, *command, env=env, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL
        )
        return await process.wait()

    def calls(self) -> int:
        """Of the last command."""
        return calls(records(self.root.with_name("tape"))).total()


async def test_commands_killed_beside_a_server_lose_and_repeat_nothing(tmp_path: Path) -> None:
    root = tmp_path / "disk"
    data_dir = root / "data"
    root.mkdir()
    seed = time_ns()
    killer = Killer(root, recorder(tmp_path), random.Random(seed))  # noqa: S311 a storm is no secret
    service = EmbeddingService()
    models: list[dict[str, object]] = [{}, by(service)]
    kills: Counter[str] = Counter()
    lengths: dict[str, int] = {}
    async with over_stdio(data_dir, log=tmp_path / "log") as client:
        told = [await remembered(client, number) for number in range(NOTES)]
        for number in range(ROUNDS):
            for name in ("rebuild", "restore", "backup", "reembed"):
                backup, made = root / f"{name}-{number}", root / f"killed-{number}"
                saved = await asyncio.to_thread(run, "backup", str(backup), data_dir=data_dir)
                assert saved.returncode == 0, saved.stderr
                command = {
                    "rebuild": ["rebuild"],
                    "restore": ["restore", str(backup), "--replace"],
                    "backup": ["backup", str(made)],
                    "reembed": ["reembed"],
                }[name]
                # A rebuild computes vectors, and refuses to mix those of another model with what the memory has.
                model = models[(number + 1) % 2] if name == "reembed" else await present(data_dir, models)
                settings = {"data_dir": data_dir} | model
                kill_at = killer.dice.randint(1, lengths[name]) if name in lengths else 0
                code = await killer.run(command, settings, kill_at)
                assert code in {0, -signal.SIGKILL}, (seed, number, name)
                kills[name] += code != 0
                lengths.setdefault(name, killer.calls())
                told.append(await remembered(client, len(told)))
                assert await contents(client) == sorted(told), (seed, number, name, kill_at)
                if name == "backup" and made.exists():
                    elsewhere = tmp_path / f"elsewhere-{number}"
                    restored = await asyncio.to_thread(run, "restore", str(made), data_dir=elsewhere)
                    assert restored.returncode == 0, restored.stderr
        for person in ("Ines", "Heron"):
            found = await call(client, "search_nodes", names=[person])
            assert [node["name"] for node in found["nodes"]].count(person) == 1
        assert await killer.run(["reembed"], {"data_dir": data_dir}) == 0
        await jobs_done(client)
        assert set(dimensions(dump(data_dir))) == {384}
        status = await call(client, "get_status")
        assert (status["status"], status["failures"]) == ("ok", [])
    service.close()
    assert list(root.glob(".*.partial*")) == []
    print(f"\nkilled commands {seed}: {dict(kills)}, of calls {lengths}")  # noqa: T201 what `make storm` is run for
    assert kills.total() >= LEAST_KILLS
    assert len(kills) == len(lengths)


async def present(data_dir: Path, models: Sequence[dict[str, object]]) -> dict[str, object]:
    """Settings of the model that the memory has, or changes to."""
    journal = journal_of(Settings(data_dir=data_dir))
    recorded = await journal.embedding()
    await journal.close()
    return next((one for one in models if recorded and one.get("embedding_model") == recorded.model), models[0])


async def remembered(client: Client, number: int) -> str:
    body = f"Note {number}: Ines works on Heron."
    fact = {"source": "Ines", "relation": "WORKS_ON", "target": "Heron", "fact": body}
    await call(client, "add_memory", episode_body=body, entities=[{"name": "Ines"}, {"name": "Heron"}], facts=[fact])
    return body


async def contents(client: Client) -> list[str]:
    page = await call(client, "get_episodes", max_episodes=100)
    return sorted(str(episode["content"]) for episode in page["episodes"])
