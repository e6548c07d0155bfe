"""The commands around staging, as a shell sees them, beside a running server."""

import asyncio
import json
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client
from tests.e2e.support import call, environment, over_stdio, run

ENTITIES = [{"name": "Ines", "type": "Person"}, {"name": "Tom", "type": "Person"}, {"name": "Heron"}]


async def remember(client: Client, source: str, relation: str, target: str, **fields: Any) -> None:
    body = f"{source} {relation.lower().replace('_', ' ')} {target}."
    facts = [{"source": source, "relation": relation, "target": target, "fact": body, "replaces": "current"}]
    await call(client, "add_memory", episode_body=body, entities=ENTITIES, facts=facts, **fields)


async def contents(client: Client, **fields: Any) -> list[str]:
    page = await call(client, "get_episodes", max_episodes=100, **fields)
    return sorted(str(episode["content"]) for episode in page["episodes"])


async def command(*arguments: str, data_dir: Path, code: int = 0) -> tuple[str, str]:
    done = await asyncio.to_thread(run, *arguments, data_dir=data_dir)
    assert done.returncode == code, (done.stdout, done.stderr)
    return done.stdout, done.stderr


async def asked(*arguments: str, data_dir: Path) -> dict[str, Any]:
    out, err = await command(*arguments, "--json", data_dir=data_dir)
    assert err == ""
    return dict(json.loads(out))


async def test_a_snapshot_is_written_listed_and_restored_beside_a_server_that_goes_on(data_dir: Path) -> None:
    async with over_stdio(data_dir) as client:
        await remember(client, "Ines", "LEADS", "Heron")
        taken = await asked("snapshot", "--tag", "one", data_dir=data_dir)
        assert (taken["tag"], taken["group"], taken["size"]["facts"], len(taken["checksum"])) == (
            "one",
            "default",
            1,
            64,
        )
        await remember(client, "Tom", "LEADS", "Heron")
        dry = await asked("restore", "--snapshot", "one", data_dir=data_dir)
        assert (dry["done"], dry["before"]["episodes"], dry["after"]["episodes"]) == (False, 2, 1)
        assert len(await contents(client)) == 2
        done = await asked("restore", "--snapshot", "one", "--confirm", data_dir=data_dir)
        assert (done["done"], done["after"]) == (True, taken["size"])
        assert await contents(client) == ["Ines leads Heron."]
        await remember(client, "Tom", "LIKES", "Heron")
        assert len(await contents(client)) == 2
        listed = await asked("snapshot", "--list", data_dir=data_dir)
        assert [one["tag"] for one in listed["snapshots"]] == ["one", done["safety"]]
        out, _ = await command("snapshot", "--list", data_dir=data_dir)
        assert out.splitlines()[0].startswith("one  ")
        out, _ = await command("snapshot", "--remove", "one", data_dir=data_dir)
        assert "--confirm removes it" in out
        await command("snapshot", "--remove", "one", "--confirm", data_dir=data_dir)
        assert [one["tag"] for one in (await asked("snapshot", "--list", data_dir=data_dir))["snapshots"]] == [
            done["safety"]
        ]


async def test_staging_is_searched_counted_and_compared_when_it_is_named(data_dir: Path) -> None:
    async with over_stdio(data_dir) as client:
        await remember(client, "Ines", "LEADS", "Heron")
        await remember(client, "Tom", "LIKES", "Heron", group_id="default_staging")
        assert await contents(client) == ["Ines leads Heron."]
    staged = await asked("stats", "--target", "staging", data_dir=data_dir)
    assert (staged["group"], staged["facts"], staged["target"]) == ("default_staging", 1, "staging")
    found = await asked("search", "who likes the heron", "--target", "staging", data_dir=data_dir)
    assert [one["fact"] for one in found["facts"]] == ["Tom likes Heron."]
    found = await asked("search", "who likes the heron", data_dir=data_dir)
    assert "Tom likes Heron." not in [one["fact"] for one in found["facts"]]
    compared = await asked("diff", "--from", "staging", "--to", "production", data_dir=data_dir)
    assert (compared["only_source"]["facts"], compared["only_target"]["facts"]) == (
        ["Tom likes Heron."],
        ["Ines leads Heron."],
    )
    for words, said in (
        (["stats"], "episodes        1"),
        (["search", "Ines"], "Ines leads Heron. (current)"),
        (["diff", "--from", "production", "--to", "staging"], "Only in default_staging: 0 entities, 1 facts."),
    ):
        out, _ = await command(*words, data_dir=data_dir)
        assert said in out


async def test_a_rollback_lists_first_and_then_goes_back(data_dir: Path) -> None:
    async with over_stdio(data_dir) as client:
        await remember(client, "Ines", "LEADS", "Heron")
        status = await call(client, "what_changed", since="2020-01-01")
        await remember(client, "Tom", "LEADS", "Heron")
        assert status["changes"]
        out, _ = await command("rollback", "--since", "2020-01-01", data_dir=data_dir)
        assert out.startswith("Nothing was changed. With --confirm, what came since 2020-01-01 would go (2 episodes")
        assert "  fact     Tom leads Heron." in out
        assert len(await contents(client)) == 2
        out, _ = await command("rollback", "--concepts-created-after", "2100-01-01", "--confirm", data_dir=data_dir)
        assert out.startswith("Nothing that default holds came or changed since 2100-01-01.")
        done = await asked("rollback", "--since", "2020-01-01", "--confirm", data_dir=data_dir)
        assert (done["done"], done["removed"]["episodes"], done["after"]["episodes"]) == (True, 2, 0)
        assert await contents(client) == []
        await command("restore", "--snapshot", done["safety"], "--confirm", data_dir=data_dir)
        assert len(await contents(client)) == 2


async def test_a_rollback_and_a_diff_name_documents_and_quotes(data_dir: Path, tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "guide.md").write_text("# Guide\n\nInes leads it.\n", encoding="utf-8")
    settings = {"data_dir": data_dir, "document_root": root}
    done = await asyncio.to_thread(run, "ingest", str(root / "guide.md"), "--target", "staging", **settings)
    assert done.returncode == 0, done.stderr
    async with over_stdio(data_dir, toolsets="memory,curation") as client:
        told = {"group_id": "default_staging", "saga": "Games", "entities": [{"name": "Ines"}]}
        ines = (await call(client, "add_memory", episode_body="Ines came.", **told))["entities"][0]["uuid"]
        await call(client, "add_evidence", entity_uuid=ines, document="guide", quote="Ines leads it.")
    out, _ = await command("diff", "--from", "staging", "--to", "production", data_dir=data_dir)
    assert out.splitlines()[:2] == [
        "In both: 0 entities, 0 facts.",
        "Only in default_staging: 1 entities, 0 facts, 1 document, 1 saga.",
    ]
    assert {"  document guide", "  saga     Games"} <= set(out.splitlines())
    back = ["rollback", "--target", "staging", "--since", "2020-01-01"]
    out, _ = await command(*back, data_dir=data_dir)
    assert "1 entity, 0 facts, 1 document, 1 quote, 1 saga)" in out
    assert {"  document guide, version 1", "  quote    Ines leads it."} <= set(out.splitlines())
    found = await asked(*back, data_dir=data_dir)
    assert (found["documents"], found["quotes"]) == (["guide, version 1"], ["Ines leads it."])
    assert found["removed_with_them"] == {"documents": 1, "quotes": 1, "sagas": 1}


WRONG = [
    (["snapshot", "--tag", "../one"], 1, "is not a tag"),
    (["snapshot", "--tag", "one", "--group", "nowhere"], 1, "holds nothing"),
    (["snapshot", "--tag", "one", "--target", "stagging"], 2, "'staging', 'production', 'archive'"),
    (["snapshot"], 2, "one of the arguments --tag --list --remove is required"),
    (["snapshot", "--list", "--group", "a_staging", "--target", "archive"], 1, "is staging or an archive itself"),
    (["restore"], 2, "restore needs a FILE"),
    (["restore", "file", "--snapshot", "one"], 2, "not both"),
    (["restore", "file", "--confirm"], 2, "go together"),
    (["restore", "--snapshot", "missing"], 1, "There is no snapshot missing"),
    (["rollback"], 2, "--since"),
    (["rollback", "--since", "soon"], 1, "--since"),
    (["diff", "--from", "staging"], 2, "--to"),
    (["search", "x", "--limit", "0"], 1, "--limit must be between 1 and 50"),
]


async def test_what_is_wrong_is_one_line_that_says_what(data_dir: Path) -> None:
    async with over_stdio(data_dir) as client:
        await remember(client, "Ines", "LEADS", "Heron")
    for arguments, code, said in WRONG:
        _, err = await command(*arguments, data_dir=data_dir, code=code)
        assert said in err, arguments
        assert not list((data_dir / "snapshots").rglob("*.snapshot")), arguments


@pytest.mark.parametrize("times", [*(pytest.param(one, marks=pytest.mark.storm) for one in (1, 3)), 2])
async def test_a_restore_that_is_killed_is_ended_by_the_next_run(data_dir: Path, times: int) -> None:
    """Before the group is emptied, right after, and after one of two writes came back."""
    async with over_stdio(data_dir) as client:
        await remember(client, "Ines", "LEADS", "Heron")
        await remember(client, "Tom", "LIKES", "Heron")
    await command("snapshot", "--tag", "one", data_dir=data_dir)
    async with over_stdio(data_dir) as client:
        await remember(client, "Ines", "LIKES", "Heron")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.killed", "before", "storage.commit:Committer.commit", str(times)),
        *("restore", "--snapshot", "one", "--confirm"),
        env=environment(data_dir=data_dir),
    )
    assert await process.wait() == -signal.SIGKILL
    unfinished = (await asked("stats", data_dir=data_dir))["unfinished"]
    assert unfinished == (None if times == 1 else "one")
    await command("restore", "--snapshot", "one", "--confirm", data_dir=data_dir)
    async with over_stdio(data_dir) as client:
        assert await contents(client) == ["Ines leads Heron.", "Tom likes Heron."]
    listed = await asked("snapshot", "--list", data_dir=data_dir)
    assert max(one["size"]["episodes"] for one in listed["snapshots"]) == 3  # what was there before is kept
