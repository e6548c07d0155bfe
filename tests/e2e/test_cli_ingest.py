"""ingest: files become documents that a server shows, a second run stores nothing, and copies keep them."""

import asyncio
import json
from pathlib import Path

import pytest
from tests.e2e.support import call, over_stdio, run

pytestmark = pytest.mark.timeout(180)

GUIDE = "# Guide\n\nTom runs the service. It is fast.\n\n## Storage\n\nOne file holds it all.\n"


def files(root: Path, **texts: str) -> list[str]:
    root.mkdir(exist_ok=True)
    for name, text in texts.items():
        (root / f"{name}.md").write_text(text, encoding="utf-8")
    return [str(root / f"{name}.md") for name in texts]


async def test_a_file_is_stored_once_found_quoted_and_kept_by_a_backup(tmp_path: Path) -> None:
    data, root = tmp_path / "data", tmp_path / "root"
    given = files(root, guide=GUIDE, notes="# Notes\n\nNothing much.\n")
    options = {"data_dir": data, "document_root": root}
    first = await asyncio.to_thread(run, "ingest", *given, "--name", "team", **options)
    assert first.returncode == 0, first.stderr
    assert first.stdout.splitlines() == [
        "team/guide: stored, version 1: 2 of 2 sections are new, 5 sentences.",
        "team/notes: stored, version 1: 1 of 1 sections are new, 2 sentences.",
    ]
    again = await asyncio.to_thread(run, "ingest", *given, "--name", "team", **options)
    assert (again.returncode, again.stdout) == (0, "2 of 2 did not change.\n"), again.stderr
    (late,) = files(root, late="# Late\n\nIt came later.\n")
    more = await asyncio.to_thread(run, "ingest", late, "--name", "team", **options)
    assert more.stdout == "team/late: stored, version 1: 1 of 1 sections are new, 2 sentences.\n", more.stderr

    async with over_stdio(data, toolsets="memory,curation") as client:
        found = await call(client, "search_episodes", query="one file holds it all", max_episodes=1)
        assert found["episodes"][0]["name"] == "team/guide: Guide > Storage"
        tom = (await call(client, "add_memory", episode_body="Tom came.", entities=[{"name": "Tom"}]))["entities"][0]
        asked = {"entity_uuid": tom["uuid"], "document": "team/guide", "paragraph": 2}
        quoted = await call(client, "add_evidence", quote="Tom runs the service.", **asked)
        assert GUIDE[quoted["start"] : quoted["end"]] == quoted["quote"]
        files(root, guide=GUIDE.replace("fast", "slow"))
        edited = await asyncio.to_thread(run, "ingest", given[0], "--name", "team/guide", "--json", **options)
        (told,) = json.loads(edited.stdout)["documents"]
        assert (told["outcome"], told["version"], told["new_sections"]) == ("changed", 2, 1), edited.stderr
        (source,) = (await call(client, "get_entity_sources", entity_uuid=tom["uuid"]))["sources"]
        assert (source["version"], source["superseded"], source["start"]) == (1, True, quoted["start"])

    copy, other = tmp_path / "copy", tmp_path / "other"
    for command in (("backup", str(copy), data), ("restore", str(copy), other)):
        done = await asyncio.to_thread(run, *command[:2], data_dir=command[2])
        assert done.returncode == 0, done.stderr
    unchanged = await asyncio.to_thread(
        run, "ingest", given[0], "--name", "team/guide", data_dir=other, document_root=root
    )
    assert unchanged.stdout == "1 of 1 did not change.\n", unchanged.stderr
    async with over_stdio(other, toolsets="memory,curation") as client:
        (kept,) = (await call(client, "get_entity_sources", entity_uuid=tom["uuid"]))["sources"]
        assert kept == source


async def test_what_lies_elsewhere_is_refused_and_the_others_are_stored(tmp_path: Path) -> None:
    data, root = tmp_path / "data", tmp_path / "root"
    (inside,) = files(root, guide=GUIDE)
    (outside,) = files(tmp_path, hidden="A secret.")
    (root / "link.md").symlink_to(outside)
    done = await asyncio.to_thread(
        run,
        *("ingest", str(root / "link.md"), inside, outside, str(root / "none.md"), "--group", "work"),
        data_dir=data,
        document_root=root,
    )
    assert done.returncode == 1
    assert done.stdout == "guide: stored, version 1: 2 of 2 sections are new, 5 sentences.\n"
    assert done.stderr.count("does not lie under") == 2, done.stderr
    assert "--document-root DIRECTORY names another root" in done.stderr
    assert "There is no file" in done.stderr
    async with over_stdio(data) as client:
        assert (await call(client, "search_episodes", query="secret"))["episodes"] == []
        found = await call(client, "search_episodes", query="one file", group_ids=["work"], max_episodes=1)
        assert found["episodes"][0]["name"] == "guide: Guide > Storage"


async def test_a_file_for_staging_is_there_with_what_it_states_and_a_second_run_adds_nothing(tmp_path: Path) -> None:
    data, root = tmp_path / "data", tmp_path / "root"
    given = files(root, **{"0004-dns": "# DNS\n\n## Status\n\nAccepted\n\n## Decision\n\nOne zone.\n"})
    options = {"data_dir": data, "document_root": root}
    for said in ("sections are new", "1 of 1 did not change."):
        done = await asyncio.to_thread(run, "ingest", *given, "--name", "dns", "--target", "staging", **options)
        assert (done.returncode, said in done.stdout) == (0, True), done.stderr
    counted = await asyncio.to_thread(run, "stats", "--graph", "staging", "--json", data_dir=data)
    found = json.loads(counted.stdout)
    assert (found["group"], found["documents"], found["entities"], found["facts"]) == ("default_staging", 1, 2, 1)
    assert found["orphans"] == found["flagged"] == found["low_confidence"] == found["quotes"] == 0
    production = await asyncio.to_thread(run, "stats", "--json", data_dir=data)
    assert json.loads(production.stdout)["episodes"] == 0


async def test_sections_are_queued_for_a_configured_model_which_the_command_itself_does_not_ask(
    tmp_path: Path,
) -> None:
    data, root = tmp_path / "data", tmp_path / "root"
    given = files(root, guide=GUIDE)
    nobody = {"llm_model": "scripted", "llm_base_url": "http://127.0.0.1:9/v1"}
    done = await asyncio.to_thread(run, "ingest", *given, data_dir=data, document_root=root, **nobody)
    assert done.returncode == 0, done.stderr
    listed = await asyncio.to_thread(run, "queue", "list", "--json", data_dir=data)
    assert [one["state"] for one in json.loads(listed.stdout)["jobs"]] == ["queued", "queued"], listed.stdout
