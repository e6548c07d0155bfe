"""reextract: an estimate first, then jobs for whoever has a model, and what became of them."""

import asyncio
import json
from pathlib import Path

from tests.e2e.support import call, over_stdio, run
from tests.scripted_model import ScriptedModel

TEXT = "Anna Berg WORKS_AT Acme. Anna Berg LIVES_IN Bonn."


async def noted(data: Path) -> str:
    """A note from before there was a model."""
    async with over_stdio(data) as client:
        return str((await call(client, "add_memory", episode_body=TEXT, reference_time="2026-02-01"))["episode_uuid"])


async def test_an_episode_is_read_again_and_the_difference_told(tmp_path: Path, scripted_model: ScriptedModel) -> None:
    data = tmp_path / "data"
    episode = await noted(data)
    model = {"llm_model": "scripted", "llm_base_url": scripted_model.url, "data_dir": data}

    estimate = await asyncio.to_thread(run, "reextract", "--since", "2026-01", "--dry-run", "--json", data_dir=data)
    told = json.loads(estimate.stdout)
    assert (told["episodes"], told["characters"]) == (1, len(TEXT))
    assert 0 < told["calls"]["fewest"] < told["calls"]["likely"]
    assert scripted_model.stats.calls == 0

    first = await asyncio.to_thread(run, "reextract", "--episode", episode[:8], "--wait", **model)
    assert (first.returncode, first.stdout) == (0, f"{episode}  done: facts 2 new\n"), first.stderr

    scripted_model.change(script={"ExtractedEdges": {TEXT: {"edges": []}}})
    again = await asyncio.to_thread(run, "reextract", "--episode", episode, "--wait", **model)
    assert again.stdout == f"{episode}  done: facts 2 no longer found, kept\n", again.stderr
    async with over_stdio(data) as client:
        facts = await call(client, "search_memory_facts", query="Anna Berg")
        assert facts["returned"] == 2
        receipt = (await call(client, "get_status", receipt=episode))["extraction"]
        assert sorted(one["fact"] for one in receipt["not_found"]) == sorted(fact["fact"] for fact in facts["facts"])


async def test_jobs_wait_for_a_server_with_a_model(tmp_path: Path, scripted_model: ScriptedModel) -> None:
    data = tmp_path / "data"
    episode = await noted(data)
    queued = await asyncio.to_thread(run, "reextract", "--since", "2026-01-01", data_dir=data)
    assert (queued.returncode, "Queued 1 episode(s)." in queued.stdout) == (0, True), queued.stderr
    twice = await asyncio.to_thread(run, "reextract", "--since", "2026-01-01", "--json", data_dir=data)
    assert json.loads(twice.stdout) == {"jobs": [], "already_queued": 1}
    model = {"llm_model": "scripted", "llm_base_url": scripted_model.url}
    for command in ("status", "rebuild"):  # which look and mend, and cost nothing
        done = await asyncio.to_thread(run, command, data_dir=data, **model)
        assert done.returncode == 0, done.stderr
    assert scripted_model.stats.calls == 0
    async with over_stdio(data, **model) as client:
        answer = await call(client, "add_memory", episode_body="A later note.", wait_seconds=40)
        assert answer["extraction"]["state"] == "done"  # in order within a group
        assert (await call(client, "get_status", receipt=episode))["extraction"]["state"] == "done"


async def test_without_a_model_waiting_is_refused(tmp_path: Path) -> None:
    data = tmp_path / "data"
    await noted(data)
    refused = await asyncio.to_thread(run, "reextract", "--since", "2026-01-01", "--wait", data_dir=data)
    assert refused.returncode == 1
    assert "llm_model" in refused.stderr
