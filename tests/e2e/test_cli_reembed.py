"""reembed with real processes: from the local model to a service and back, beside servers, killed in the middle."""

# ruff: noqa: ASYNC240 - a test may block its own loop for a file

import asyncio
import shutil
import signal
import subprocess
import sys
import time
from array import array
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp.client import Client
from tests.e2e.support import COMMAND, call, environment, over_stdio, run
from tests.embedding_service import EmbeddingService, Reply
from tests.storm.dump import Dump, differences, dump

from graphiti_pkm.core.ports.embedding import RecordedEmbedding
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.storage.journal.opening import journal_of

NOTES = ("Ines leads the project Heron.", "Tom rides trains through Japan.", "The bakery opens at six.")
FACT = {"source": "Ines", "relation": "LEADS", "target": "Heron", "fact": "Ines leads Heron."}
KEY = "sk-planted-5c1e0d"
DIMENSION, FLOAT = 256, 4
pytestmark = pytest.mark.timeout(300)  # many processes one after the other


@pytest.fixture
def service() -> Iterator[EmbeddingService]:
    service = EmbeddingService()
    yield service
    service.close()


def by(service: EmbeddingService) -> dict[str, object]:
    """Settings that embed with it."""
    return {
        "embedding_mode": "api",
        "embedding_model": "text-embedding-3-small",
        "embedding_dimension": DIMENSION,
        "embedding_base_url": service.url,
        "embedding_api_key": KEY,
    }


async def told(data_dir: Path, *more: str) -> None:
    """A memory of the local model."""
    async with over_stdio(data_dir) as client:
        await tell(client, *more)


async def tell(client: Client, *more: str) -> None:
    for body in (*NOTES, *more):
        await call(client, "add_memory", episode_body=body, facts=[FACT] if body == NOTES[0] else [])


async def found(client: Client, query: str) -> tuple[str, str]:
    """The best episode, and what is said about the search."""
    answer = await call(client, "search_episodes", query=query)
    return str(answer["episodes"][0]), str(answer["scope"])


async def command(*arguments: str, code: int = 0, **settings: object) -> str:
    """Output and errors of a command that runs while this process's clients go on."""
    done = await asyncio.to_thread(run, *arguments, **settings)
    assert done.returncode == code, done.stderr
    return done.stdout + done.stderr


async def graph_of(data_dir: Path, **settings: object) -> Dump:
    """As a server with these settings has it."""
    async with over_stdio(data_dir, **settings) as client:
        await call(client, "get_status")
        return dump(data_dir)


def dimensions(graph: Dump) -> list[int]:
    """Of every record that has a text; 0 without a vector."""
    vectors = {one["uuid"]: len(one["data"]) // FLOAT for one in graph.of("vector")}
    return [vectors.get(one["uuid"], 0) for kind in ("entity", "fact", "passage") for one in graph.of(kind)]


async def test_from_the_local_model_to_a_service_beside_a_running_server(
    data_dir: Path, service: EmbeddingService
) -> None:
    async with over_stdio(data_dir) as old:
        await tell(old)
        local = dump(data_dir)
        assert set(dimensions(local)) == {384}
        plan = await command("reembed", "--dry-run", data_dir=data_dir, **by(service))
        assert "sent to 127.0.0.1" in plan
        assert f"{len(dimensions(local))}: 2 names, 1 facts, 3 sentences" in plan
        assert service.asked == []
        done = await command("reembed", data_dir=data_dir, **by(service))
        assert "Embedded 6 texts" in done
        assert KEY not in plan + done
        assert "full text only" in (await found(old, "trains in Japan"))[1]
        status = await call(old, "get_status")
        assert "graphiti-pkm reembed" in status["search"]
        await call(old, "add_memory", episode_body="A server of the old model wrote this.")
    refused = await command("status", data_dir=data_dir, code=1)
    assert "text-embedding-3-small (256 dimensions)" in refused
    assert "graphiti-pkm reembed" in refused

    async with over_stdio(data_dir, **by(service)) as new:
        excerpt, scope = await found(new, "trains in Japan")
        assert "Tom rides trains" in excerpt
        assert "full text only" not in scope
        assert "trains in Japan" in service.texts
        await jobs_done(new)
        before = dump(data_dir)
        assert set(dimensions(before)) == {DIMENSION}
        assert len(dimensions(before)) == 7
        await command("rebuild", data_dir=data_dir, **by(service))
        assert differences(before, dump(data_dir)) == []
    assert KEY.encode() not in b"".join(path.read_bytes() for path in data_dir.rglob("*") if path.is_file())


async def test_there_and_back_again_a_memory_is_what_it_was(data_dir: Path, service: EmbeddingService) -> None:
    async with over_stdio(data_dir) as client:
        await tell(client)
        local = dump(data_dir)
        await command("reembed", data_dir=data_dir, **by(service))
        assert set(dimensions(dump(data_dir))) == {DIMENSION}
        assert "Embedded 6 texts" in await command("reembed", data_dir=data_dir)
        assert "full text only" not in (await found(client, "trains in Japan"))[1]
        back = dump(data_dir)
    assert differences(local.without("vector"), back.without("vector")) == []
    pairs = zip(local.of("vector"), back.of("vector"), strict=True)
    cosines = [sum(a * b for a, b in zip(*(array("f", one["data"]) for one in pair), strict=True)) for pair in pairs]
    assert cosines == pytest.approx([1] * 6, abs=1e-4)  # texts in other company differ in the last digits


async def jobs_done(client: Client) -> None:
    """Returns once no job waits."""
    for _ in range(400):
        jobs = (await call(client, "get_status"))["jobs"]
        if not jobs["queued"] and not jobs["running"]:
            return
        await asyncio.sleep(0.05)  # no event of another process tells
    raise AssertionError("jobs are still waiting")


@pytest.mark.parametrize(
    "killed",
    [
        pytest.param("while it removes vectors", marks=pytest.mark.storm),
        pytest.param("while it embeds", marks=pytest.mark.storm),
        pytest.param("while the journal loses them", marks=pytest.mark.storm),
    ],
)
async def test_killed_in_the_middle_it_goes_on_and_ends_as_if_undisturbed(
    data_dir: Path, tmp_path: Path, service: EmbeddingService, killed: str
) -> None:
    await told(data_dir, " ".join(f"Sentence {number} tells of bird number {number}." for number in range(300)))
    undisturbed = tmp_path / "undisturbed"
    shutil.copytree(data_dir, undisturbed)
    await command("reembed", data_dir=undisturbed, **by(service))
    expected = await graph_of(undisturbed, **by(service))

    settings = environment(data_dir=data_dir, **by(service))
    if killed == "while it embeds":
        asked = len(service.asked)

        def hold(_asked: object) -> Reply | None:
            if len(service.asked) == asked + 3:  # the probe, one write, and then
                service.held.clear()
                service.held.wait()
            return None

        service.rule = hold
        process = await asyncio.create_subprocess_exec(COMMAND, "reembed", env=settings, stdout=subprocess.DEVNULL)
        await service.was_asked(asked + 3)
        process.kill()
        assert await process.wait() == -signal.SIGKILL
        service.rule = lambda _asked: None
        service.held.set()
    else:
        where = (
            "storage.graph.sqlite.core_parts.Embeddings"
            if "removes" in killed
            else "storage.journal.store.SqliteJournal"
        )
        died = await asyncio.create_subprocess_exec(sys.executable, "-c", _DYING, where, env=settings)
        assert await died.wait() == -signal.SIGKILL
        told_so = await command("doctor", data_dir=data_dir, code=1, **by(service))
        assert "the change to vectors of" in told_so

    await command("reembed", data_dir=data_dir, **by(service))
    ended = await graph_of(data_dir, **by(service))
    assert differences(expected, ended) == []
    assert set(dimensions(ended)) == {DIMENSION}


_DYING = """
import importlib, os, signal, sys
from graphiti_pkm.cli.main import main
module, _, name = sys.argv[1].rpartition(".")
kind = getattr(importlib.import_module("graphiti_pkm." + module), name)
remove = kind.remove_vectors
async def once(self, *arguments):
    await remove(self, *arguments)
    os.kill(os.getpid(), signal.SIGKILL)
kind.remove_vectors = once
main(["reembed"])
"""
"""The command in a process that is killed after the first removal."""


async def test_with_the_service_away_a_memory_is_stored_and_found_by_words_and_its_vectors_follow(
    data_dir: Path, service: EmbeddingService
) -> None:
    async with over_stdio(data_dir, **by(service)) as client:
        await call(client, "get_status")
        service.rule = lambda _asked: Reply(401, {"error": {"message": f"bad key {KEY}"}})
        started = time.monotonic()
        stored = await call(client, "add_memory", episode_body=NOTES[1], facts=[FACT])
        assert "embedding: pending" in stored["message"]
        excerpt, scope = await found(client, "trains in Japan")
        assert time.monotonic() - started < 20  # it hangs on nothing
        assert "Tom rides trains" in excerpt
        assert "full text only" in scope
        status = await call(client, "get_status")
        assert (status["status"], KEY in str(status)) == ("degraded", False)
        assert "GRAPHITI_PKM_EMBEDDING_API_KEY" in status["search"]
        service.rule = lambda _asked: None
        await jobs_done(client)
        assert "full text only" not in (await found(client, "trains in Japan"))[1]
        assert set(dimensions(dump(data_dir))) == {DIMENSION}
    log = data_dir.parent / f"{data_dir.name}-stdio.log"
    assert KEY not in log.read_text()
    assert "trains" not in log.read_text()


def test_a_memory_that_is_not_there_is_said(tmp_path: Path) -> None:
    failed = run("reembed", data_dir=tmp_path / "none")
    assert failed.returncode == 1
    assert "no memory" in failed.stderr


async def test_with_the_model_of_the_memory_only_what_is_missing_is_embedded(
    data_dir: Path, service: EmbeddingService
) -> None:
    await told(data_dir)
    assert "Embedded 0 texts" in await command("reembed", data_dir=data_dir)
    service.close()
    failed = await command("reembed", data_dir=data_dir, code=1, **by(service))
    assert "cannot be reached" in failed
    assert set(dimensions(await graph_of(data_dir))) == {384}


def test_doctor_names_the_service_and_asks_it_only_when_told(tmp_path: Path, service: EmbeddingService) -> None:
    settings = {"data_dir": tmp_path / "none", **by(service)}
    silent = run("doctor", **settings)
    assert (silent.returncode, service.asked) == (0, [])
    assert f"text-embedding-3-small, 256 dimensions, at {service.url}" in silent.stdout
    assert "answers" in run("doctor", "--probe", **settings).stdout
    assert service.texts == ["doctor"]
    service.rule = lambda _asked: Reply(401, {"error": {"message": f"bad key {KEY}"}})
    refused = run("doctor", "--probe", **settings)
    assert refused.returncode == 1
    assert "GRAPHITI_PKM_EMBEDDING_API_KEY" in refused.stdout
    assert KEY not in silent.stdout + refused.stdout + refused.stderr


async def test_a_backup_of_another_model_is_restored_and_told_how_to_go_on(
    data_dir: Path, tmp_path: Path, service: EmbeddingService
) -> None:
    await told(data_dir)
    expected = (await graph_of(data_dir)).without("vector")
    await command("backup", str(tmp_path / "copy"), data_dir=data_dir)
    await command("reembed", data_dir=data_dir, **by(service))
    restored = await command("restore", str(tmp_path / "copy"), "--replace", data_dir=data_dir, **by(service))
    assert "graphiti-pkm reembed" in restored
    back = await graph_of(data_dir)
    assert set(dimensions(back)) == {384}
    assert differences(expected, back.without("vector")) == []


async def test_a_backup_made_while_vectors_changed_is_restored_with_the_change_finished(
    data_dir: Path, tmp_path: Path, service: EmbeddingService
) -> None:
    await told(data_dir)
    journal = journal_of(Settings(data_dir=data_dir))
    await journal.begin_change("text-embedding-3-small", DIMENSION)
    await journal.backup(tmp_path / "copy")
    await journal.close()
    restored = await command("restore", str(tmp_path / "copy"), "--replace", data_dir=tmp_path / "other", **by(service))
    assert restored.startswith("Restored 3 writes")
    assert "reembed" not in restored
    journal = journal_of(Settings(data_dir=tmp_path / "other"))
    recorded = await journal.embedding()
    counts = await journal.counts()
    await journal.close()
    assert recorded == RecordedEmbedding(model="text-embedding-3-small", dimension=DIMENSION)
    assert counts["jobs_queued"] == 1  # which brings the new vectors
