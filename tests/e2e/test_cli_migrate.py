"""migrate and promote as a shell sees them, and killed: staging is in no answer, and nothing is lost or twice."""

import asyncio
import signal
import sys
from pathlib import Path

import pytest
from mcp.client import Client
from tests.e2e.support import call, environment, over_stdio
from tests.e2e.test_cli_staging import asked, command, contents, remember

STAGED = ["Ines leads Heron.", "Ines likes Heron.", "Tom likes Ines."]


async def fill(data_dir: Path) -> None:
    """One note that is relied on, and three in staging, which are a saga."""
    async with over_stdio(data_dir) as client:
        await remember(client, "Tom", "KNOWS", "Ines")
        for source, relation, target in (
            ("Ines", "LEADS", "Heron"),
            ("Ines", "LIKES", "Heron"),
            ("Tom", "LIKES", "Ines"),
        ):
            await remember(client, source, relation, target, group_id="default_staging", saga="Trip")
        assert await contents(client) == ["Tom knows Ines."]


async def facts(client: Client, group: str) -> list[str]:
    page = await call(client, "search_memory_facts", query="Ines Tom Heron", group_ids=[group], max_facts=50)
    return sorted(str(one["fact"]) for one in page["facts"])


async def killed(data_dir: Path, times: int, *arguments: str) -> bool:
    """Run a command that dies before its n-th write; whether it did."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.killed", "before", "storage.commit:Committer.commit", str(times), *arguments),
        env=environment(data_dir=data_dir),
        stdout=asyncio.subprocess.DEVNULL,
    )
    code = await process.wait()
    assert code in {0, -signal.SIGKILL}
    return code != 0


async def test_promotion_says_first_copies_then_and_removes_when_that_is_confirmed(data_dir: Path) -> None:
    await fill(data_dir)
    dry = await asked("promote", "--move", data_dir=data_dir)
    assert (dry["done"], dry["copied"]["facts"], dry["joined"]["entities"]) == (False, 3, 3)
    async with over_stdio(data_dir) as client:
        assert await contents(client) == ["Tom knows Ines."]
    copied = await asked("promote", data_dir=data_dir)
    assert (copied["done"], copied["copied"]["facts"], copied["removed"]["facts"]) == (True, 3, 0)
    assert copied["attached"] == {"documents": 0, "quotes": 0, "sagas": 1}
    moved = await asked("promote", "--move", "--confirm", data_dir=data_dir)
    assert (moved["copied"]["facts"], moved["known"]["facts"], moved["removed"]["facts"]) == (0, 3, 3)
    async with over_stdio(data_dir) as client:
        assert await contents(client) == sorted(["Tom knows Ines.", *STAGED])
        assert await contents(client, group_ids=["default_staging"]) == []
        found = await call(client, "search_nodes", names=["Ines", "Tom", "Heron"])
        assert sorted(one["name"] for one in found["nodes"]) == ["Heron", "Ines", "Tom"]


async def test_concepts_come_alone_and_what_they_leave_behind_is_said(data_dir: Path) -> None:
    await fill(data_dir)
    both = ("migrate", "--from", "staging", "--to", "archive")
    nodes = await asked(*both, "--concepts", "Ines, Heron", data_dir=data_dir)
    assert (nodes["copied"], nodes["left_total"]) == ({"episodes": 0, "entities": 2, "facts": 0}, 0)
    out, _ = await command(
        *both, "--concepts", "Ines,Heron", "--include-relationships", "--include-instances", data_dir=data_dir
    )
    assert "2 facts copied from default_staging to default_archive" in out
    assert "  left          Tom likes Ines." in out
    async with over_stdio(data_dir) as client:
        assert await facts(client, "default_archive") == STAGED[:2]
        assert await contents(client) == ["Tom knows Ines."]


WRONG = [
    (["migrate", "--from", "staging", "--to", "production", "--concepts", "Nobody"], 1, "has no entity 'Nobody'"),
    (["migrate", "--from", "staging", "--to", "production", "--concepts", " , "], 1, "names nothing"),
    (["migrate", "--from", "staging", "--to", "production"], 2, "--all/--merge-all --concepts is required"),
    (["migrate", "--from", "staging", "--to", "nowhere", "--all"], 2, "'staging', 'production', 'archive'"),
    (["migrate", "--from", "staging", "--to", "staging", "--all"], 1, "Both groups are the same"),
    (["promote", "--group", "work_staging"], 1, "is staging or an archive itself"),
]


async def test_what_is_wrong_does_nothing(data_dir: Path) -> None:
    await fill(data_dir)
    for arguments, code, said in WRONG:
        _, err = await command(*arguments, data_dir=data_dir, code=code)
        assert said in err, arguments
    for target, count in (("staging", 3), ("production", 1), ("archive", 0)):
        assert (await asked("stats", "--target", target, data_dir=data_dir))["facts"] == count


@pytest.mark.parametrize("times", [pytest.param(3, marks=pytest.mark.storm), 5])
async def test_a_move_that_is_killed_is_ended_by_the_next_run(data_dir: Path, times: int) -> None:
    """While it copies, and while it removes; ``make storm`` kills at more places."""
    await fill(data_dir)
    assert await killed(data_dir, times, "promote", "--move", "--confirm")
    async with over_stdio(data_dir) as client:
        here, there = set(await facts(client, "default")), set(await facts(client, "default_staging"))
        assert here | there == {"Tom knows Ines.", *STAGED}
        assert len(there) == 3 or here == {"Tom knows Ines.", *STAGED}
    await command("promote", "--move", "--confirm", data_dir=data_dir)
    async with over_stdio(data_dir) as client:
        assert await contents(client) == sorted(["Tom knows Ines.", *STAGED])
        assert await facts(client, "default") == sorted(["Tom knows Ines.", *STAGED])
        assert await facts(client, "default_staging") == []
