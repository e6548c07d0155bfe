"""A model reads episodes behind a real server: told, waited for, found; what fails says why, and nothing leaks."""

import asyncio
import hashlib
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client
from tests.e2e.support import call, over_http, over_stdio, run, serving
from tests.scripted_model import FaultKind, FaultPlan, PermanentFault, ScriptedModel

KEY = "sk-planted-2f7c9d41e6"
TEXT = "Anna Berg WORKS_AT Acme."


def settings(model: ScriptedModel) -> dict[str, object]:
    """A server that asks this model."""
    return {"llm_model": "scripted", "llm_base_url": model.url, "llm_api_key": KEY}


async def waited(client: Client, body: str = TEXT, **arguments: Any) -> dict[str, Any]:
    """One add_memory that waits for what the model finds."""
    return await call(client, "add_memory", episode_body=body, wait_seconds=40, **arguments)


def files_with(directory: Path, words: bytes) -> list[Path]:
    """Files that hold these bytes."""
    return [path for path in directory.rglob("*") if path.is_file() and words in path.read_bytes()]


async def test_what_a_model_finds_is_told_searched_and_kept_by_its_receipt(
    tmp_path: Path, scripted_model: ScriptedModel
) -> None:
    async with over_stdio(tmp_path / "data", **settings(scripted_model)) as client:
        told: list[tuple[float, float | None, str | None]] = []

        async def progress(done: float, most: float | None, message: str | None) -> None:
            told.append((done, most, message))

        result = await client.call_tool(
            "add_memory", {"episode_body": TEXT, "wait_seconds": 40}, progress_callback=progress
        )
        assert not result.is_error
        answer = result.structured_content
        assert answer is not None
        assert answer["extraction"]["state"] == "done", answer
        assert [one["outcome"] for one in answer["extraction"]["facts"]] == ["created"]
        facts = await call(client, "search_memory_facts", query="Where does Anna Berg work?")
        assert [(one["source_node_name"], one["name"], one["target_node_name"]) for one in facts["facts"]] == [
            ("Anna Berg", "WORKS_AT", "Acme")
        ]
        assert facts["facts"][0]["episodes"] == [answer["episode_uuid"]]
        status = await call(client, "get_status", receipt=answer["episode_uuid"][:8])
        assert status["extraction"]["facts"] == answer["extraction"]["facts"]
        assert status["extraction"]["tokens"] > 0
        whole = await call(client, "get_status")
        assert whole["extractions"] == {"done": 1}
        assert "call(s)" in whole["spent"]["today"]
        assert told[0] == (0, 40, told[0][2])
        assert str(told[0][2]).startswith("extraction ")


async def test_nonsense_fails_with_its_reason_and_a_retry_after_repair_succeeds(
    tmp_path: Path, scripted_model: ScriptedModel
) -> None:
    data = tmp_path / "data"
    scripted_model.change(faults=FaultPlan(permanent=(PermanentFault(kind="not_json", contains="Anna"),)))
    async with over_stdio(data, **settings(scripted_model)) as client:
        answer = await waited(client)
        receipt = answer["episode_uuid"]
        failed = (await call(client, "get_status", receipt=receipt))["extraction"]
        assert (failed["state"], failed["attempts"]) == ("failed", 3)
        assert failed["reason"]
        assert failed["reason"].rstrip(".") in answer["message"]
        episodes = await call(client, "search_episodes", query="Anna Berg")
        assert [one["uuid"] for one in episodes["episodes"]] == [receipt]
        whole = await call(client, "get_status")
        assert [one["episode_uuid"] for one in whole["extraction_failures"]] == [receipt]

        shown = await asyncio.to_thread(run, "status", data_dir=data)
        assert "episodes: 1 failed" in shown.stdout
        assert failed["reason"] in shown.stdout

        scripted_model.change(faults=FaultPlan())
        retried = await asyncio.to_thread(run, "queue", "retry", receipt, data_dir=data)
        assert retried.returncode == 0, retried.stderr
        again = await waited(client, uuid=receipt)
        assert (again["status"], again["extraction"]["state"]) == ("already_stored", "done")
        facts = await call(client, "search_memory_facts", query="Anna Berg")
        assert [one["name"] for one in facts["facts"]] == ["WORKS_AT"]


@pytest.mark.parametrize("kind", ["unauthorized", "server_error"])
async def test_a_key_is_in_no_log_error_receipt_or_file(
    tmp_path: Path, scripted_model: ScriptedModel, kind: FaultKind
) -> None:
    data, log = tmp_path / "data", tmp_path / "server.log"
    said: list[object] = []
    async with over_stdio(data, log=log, log_level="debug", **settings(scripted_model)) as client:
        said.append(await waited(client))
        scripted_model.change(faults=FaultPlan(permanent=(PermanentFault(kind=kind, contains="Beta"),)))
        failed = await call(client, "add_memory", episode_body="Anna Berg WORKS_AT Beta.", wait_seconds=2)
        said += [
            failed,
            await call(client, "get_status", receipt=failed["episode_uuid"]),
            await call(client, "get_status"),
        ]
        for command in (("doctor",), ("status",), ("queue", "list"), ("queue", "show", failed["episode_uuid"])):
            done = await asyncio.to_thread(run, *command, data_dir=data, **settings(scripted_model))
            said += [done.stdout, done.stderr]
        backup = await asyncio.to_thread(run, "backup", str(tmp_path / "copy"), data_dir=data)
        assert backup.returncode == 0, backup.stderr
    came = hashlib.sha256(f"Bearer {KEY}".encode()).hexdigest()
    assert scripted_model.stats.authorizations == [came]
    assert KEY not in repr(said)
    holds = files_with(tmp_path, b"Anna Berg WORKS_AT")
    assert data / "memory.sqlite3" in holds  # so that what is looked for would be found
    assert files_with(tmp_path, KEY.encode()) == []


@pytest.mark.storm
async def test_a_killed_server_hands_its_job_over_within_the_lease(
    tmp_path: Path, scripted_model: ScriptedModel
) -> None:
    data = tmp_path / "data"
    scripted_model.change(faults=FaultPlan(permanent=(PermanentFault(kind="hang", contains="Anna"),)))
    with serving(data, **settings(scripted_model)) as first:
        async with over_http(first.endpoint) as client:
            answer = await call(client, "add_memory", episode_body=TEXT)
            await asyncio.to_thread(scripted_model.wait_for, lambda stats: stats.faults.get("hang", 0) >= 1)
            with serving(data, **settings(scripted_model)) as second:
                first.process.kill()
                scripted_model.change(faults=FaultPlan())
                scripted_model.release()
                async with over_http(second.endpoint) as other:
                    again = await waited(other, uuid=answer["episode_uuid"])
                    assert (again["extraction"]["state"], again["extraction"]["attempts"]) == ("done", 1)
                    facts = await call(other, "search_memory_facts", query="Anna Berg")
                    assert [one["name"] for one in facts["facts"]] == ["WORKS_AT"]


async def test_a_saga_is_told_and_summed_up_and_communities_are_built_through_a_server(
    tmp_path: Path, scripted_model: ScriptedModel
) -> None:
    given = {**settings(scripted_model), "toolsets": "memory,graph"}
    async with over_stdio(tmp_path / "data", **given) as client:
        first = await waited(client, saga="Acme")
        second = await waited(
            client, "Tom Vance WORKS_AT Acme.", saga="Acme", saga_previous_episode_uuid=first["episode_uuid"]
        )
        summary = await call(client, "summarize_saga", saga_name="Acme")
        assert (summary["status"], summary["name"]) == ("done", "Acme")
        assert "Anna Berg WORKS_AT Acme" in summary["summary"]
        assert "Tom Vance WORKS_AT Acme" in summary["summary"]
        built = await call(client, "build_communities")
        assert (built["status"], built["community_count"], built["edge_count"]) == ("done", 1, 3)
        found = await call(client, "search_episodes", query="Tom Vance", neighbours=True, max_episodes=1)
        assert found["episodes"][0]["uuid"] == second["episode_uuid"]
        assert found["episodes"][0]["previous"]["uuid"] == first["episode_uuid"]
        status = await call(client, "get_status", receipt=summary["uuid"])
        assert status["extraction"]["state"] == "done"
