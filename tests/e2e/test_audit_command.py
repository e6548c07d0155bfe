"""What servers kept of writes and refusals, as the command shows it: over stdio, and from two workers."""

import json
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.e2e.support import call, over_http, over_stdio, run, serving, until

PLANTED = "planted-words-nobody-keeps"


def kept(data_dir: Path) -> bytes:
    """All files of the table."""
    return b"".join(file.read_bytes() for file in data_dir.glob("audit*"))


def audit(data_dir: Path, *arguments: str) -> list[dict[str, Any]]:
    told = run("audit", "--json", *arguments, data_dir=data_dir)
    assert told.returncode == 0, told.stderr
    lines: list[dict[str, Any]] = json.loads(told.stdout)["lines"]
    return lines


async def test_writes_over_stdio_are_kept_whatever_the_log_level(data_dir: Path) -> None:
    async with over_stdio(data_dir, log_level="error") as client:
        stored = await call(client, "add_memory", episode_body=PLANTED)
        await call(client, "search_nodes", query=PLANTED)
    (line,) = audit(data_dir)
    assert (line["principal"], line["action"], line["outcome"]) == ("local", "add_memory", "ok")
    assert line["targets"] == [stored["episode_uuid"]]
    assert PLANTED.encode() not in kept(data_dir)
    shown = run("audit", "--action", "add_memory", data_dir=data_dir).stdout
    assert "add_memory  ok" in shown
    assert stored["episode_uuid"] in shown


async def test_what_two_workers_wrote_and_refused_is_in_one_table(data_dir: Path) -> None:
    made = json.loads(run("tokens", "create", "anna", "--json", data_dir=data_dir).stdout)
    headers = {"authorization": f"Bearer {made['token']}"}
    with serving(data_dir, workers=2) as served:
        until(served.ready, "the database")
        for _ in range(6):  # each connects anew
            async with over_http(served.endpoint, **headers) as client:
                await call(client, "add_memory", episode_body=PLANTED)
            assert httpx2.post(served.endpoint, json={}).status_code == httpx2.codes.UNAUTHORIZED
    written = audit(data_dir, "--principal", "anna")
    assert [line["action"] for line in written] == ["add_memory"] * 6
    assert {line["token"] for line in written} == {made["entry"]["hash"][:8]}
    assert [line["outcome"] for line in audit(data_dir, "--action", "connect")] == ["token_missing"] * 6
    assert audit(data_dir, "--since", "2999-01-01") == []


async def test_nothing_is_kept_for_no_days(data_dir: Path) -> None:
    async with over_stdio(data_dir, audit_days=0) as client:
        await call(client, "add_memory", episode_body=PLANTED)
    refused = run("audit", data_dir=data_dir)
    assert refused.returncode == 1
    assert "There is no audit log" in refused.stderr
    assert kept(data_dir) == b""


@pytest.mark.parametrize(("arguments", "told"), [(("--limit", "0"), "between 1 and"), (("--since", "soon"), "--since")])
def test_a_wrong_option_is_named(data_dir: Path, arguments: tuple[str, str], told: str) -> None:
    refused = run("audit", *arguments, data_dir=data_dir)
    assert refused.returncode == 1
    assert told in refused.stderr
