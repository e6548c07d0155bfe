"""queue: what waits for a model is seen and steered from a shell, beside a server, without a word of the memory."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.builders import GROUP, OTHER_GROUP, an_episode, an_intent, new_uuid
from tests.e2e.support import run, started_once

from graphiti_pkm.core.model.job_records import ExtractJob
from graphiti_pkm.core.model.records import WriteKind
from graphiti_pkm.core.ports.extraction import Budget, Usage
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.storage.journal.opening import journal_of
from graphiti_pkm.storage.journal.store import SqliteJournal

HIDDEN = "pregnant"


@pytest.fixture
async def journal(data_dir: Path) -> AsyncIterator[SqliteJournal]:
    """As a running server has it open."""
    journal = journal_of(Settings(data_dir=data_dir))
    yield journal
    await journal.close()


async def queued(journal: SqliteJournal, group_id: str = GROUP) -> ExtractJob:
    """An episode that waits for a model."""
    episode = an_episode(f"Maria is {HIDDEN}.", group_id=group_id)
    job = ExtractJob(uuid=new_uuid(), episode_uuid=episode.uuid, instructions=HIDDEN)
    await journal.append(an_intent(group_id=group_id, episodes=[episode], extractions=(job,)), {}, "", {})
    return job


async def told(*arguments: str, data_dir: Path, code: int = 0) -> str:
    """What ``queue`` says, on stderr if it fails."""
    done = await asyncio.to_thread(run, "queue", *arguments, data_dir=data_dir)
    assert done.returncode == code, done.stderr
    assert HIDDEN not in done.stdout + done.stderr
    return done.stderr if code else done.stdout


async def states(journal: SqliteJournal) -> list[str]:
    """By number of the job."""
    jobs = await journal.extractions.page(["queued", "running", "done", "failed", "cancelled"], None, 99, None)
    return [job.state for job in reversed(jobs)]


async def test_jobs_are_listed_and_shown_with_reason_remedy_cost_and_counts(
    journal: SqliteJournal, data_dir: Path
) -> None:
    jobs = [await queued(journal), await queued(journal, OTHER_GROUP), await queued(journal)]
    queue = journal.extractions
    await queue.claim("a", 60)
    await queue.ledger(1, Budget(), "2026-03-01").record("asked", HIDDEN, Usage(calls=2, prompt_tokens=300))
    await queue.fail(1, "a", "the key was refused", "Set the key.")
    await queue.claim("b", 60)
    await queue.claim("c", 60)
    facts = {"facts": [{"fact": HIDDEN}, {"fact": HIDDEN}], "entities": [], "message": HIDDEN}
    await journal.append(an_intent(uuid=jobs[2].uuid, kind=WriteKind.EXTRACT), {}, "", facts)
    await queue.finish(3, "c")

    first, *lines = (await told("list", data_dir=data_dir)).splitlines()
    assert first.startswith("1 running, 1 done, 1 failed; today ")
    assert [line.split()[:4] for line in lines[:2]] == [
        ["2", "running", OTHER_GROUP, jobs[1].episode_uuid],
        ["1", "failed", GROUP, jobs[0].episode_uuid],
    ]
    assert lines[2].strip() == "the key was refused -> Set the key."
    listed = await told(
        "list", "--group", GROUP, "--state", "done", "--state", "failed", "--limit", "1", data_dir=data_dir
    )
    assert [line.split()[0] for line in listed.splitlines()[1:]] == ["3", "1"]
    assert listed.splitlines()[-1] == "1 more; use --limit to list them."

    shown = await told("show", "1", jobs[2].episode_uuid, data_dir=data_dir)
    assert "job 1: failed" in shown
    assert "  cost      2 call(s), 300 + 0 tokens" in shown
    assert "  reason    the key was refused -> Set the key." in shown
    assert "job 3: done" in shown
    assert "  stored    2 facts" in shown
    found = json.loads(await told("show", "--json", "3", data_dir=data_dir))
    assert [(job["id"], job["state"], job["stored"]) for job in found["jobs"]] == [(3, "done", {"facts": 2})]
    found = json.loads(await told("list", "--json", "--group", OTHER_GROUP, data_dir=data_dir))
    assert (found["paused"], found["sizes"]["running"], len(found["jobs"])) == (False, 1, 1)


async def test_jobs_are_retried_and_cancelled_one_by_one_and_all_at_once(
    journal: SqliteJournal, data_dir: Path
) -> None:
    jobs = [await queued(journal, f"g{number}") for number in range(4)]
    for owner in ("a", "b"):
        job = await journal.extractions.claim(owner, 60)
        assert job is not None
        await journal.extractions.fail(job.id, owner, "refused", "")
    assert "1 job cancelled" in await told("cancel", jobs[3].episode_uuid, data_dir=data_dir)
    assert await states(journal) == ["failed", "failed", "queued", "cancelled"]
    assert "1 job queued again" in await told("retry", "2", data_dir=data_dir)
    assert await states(journal) == ["failed", "queued", "queued", "cancelled"]
    assert "0 jobs queued again" in await told("retry", "--all", "--group", "g1", data_dir=data_dir)
    assert "1 job queued again" in await told("retry", "--all", data_dir=data_dir)
    assert await states(journal) == ["queued", "queued", "queued", "cancelled"]
    assert "3 jobs cancelled" in await told("cancel", "--all", data_dir=data_dir)
    assert await states(journal) == ["cancelled"] * 4


async def test_a_pause_holds_in_the_server_that_runs_until_it_is_lifted(journal: SqliteJournal, data_dir: Path) -> None:
    await queued(journal)
    assert "1 job waiting" in await told("pause", data_dir=data_dir)
    assert await journal.extractions.claim("a", 60) is None
    assert "queue resume" in await told("list", data_dir=data_dir)
    assert "1 job waiting" in await told("resume", data_dir=data_dir)
    assert await journal.extractions.claim("a", 60) is not None


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["retry"], 2, "--all"),
        (["show"], 2, "needs a job"),
        (["list", "3"], 2, "takes no job"),
        (["cancel", "1", "--all"], 2, "--all can only be used"),
        (["pause", "--all"], 2, "--all can only be used"),
        (["list", "--limit", "0"], 2, "--limit"),
        (["show", "99"], 1, "There is no job 99."),
        (["retry", "1", "1b0e"], 1, "full uuid"),
        (["retry", new_uuid()], 1, "There is no job"),
        (["retry", "1"], 1, "not changed"),
    ],
)
async def test_what_cannot_be_done_is_one_line_and_changes_nothing(
    arguments: list[str], code: int, said: str, journal: SqliteJournal, data_dir: Path
) -> None:
    await queued(journal)
    line = await told(*arguments, data_dir=data_dir, code=code)
    assert line.startswith("graphiti-pkm: ")
    assert line.count("\n") == 1
    assert said in line
    assert await states(journal) == ["queued"]


def test_a_memory_that_is_not_there_is_not_made(data_dir: Path) -> None:
    failed = run("queue", "list", data_dir=data_dir)
    assert (failed.returncode, failed.stdout) == (1, "")
    assert "There is no memory" in failed.stderr
    assert not data_dir.exists()
    started_once(data_dir)
    assert run("queue", "list", data_dir=data_dir).stdout.startswith("no jobs; today 0 call(s)")
