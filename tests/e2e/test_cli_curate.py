"""``curate run`` as a shell sees it, beside a running server."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client
from tests.e2e.support import call, over_stdio, run
from tests.e2e.test_cli_staging import asked, command


async def names_flagged(client: Client) -> dict[str, str]:
    page = await call(client, "list_flagged", limit=50)
    return {str(one["name"]): str(one["reason"]) for one in page["flagged"]}


async def remembered(client: Client) -> dict[str, str]:
    """Two notes of things that are the same, and of one that is rated low; uuids by name."""
    same = "The relational database that stores customers and invoices."
    told: dict[str, Any] = await call(
        client,
        "add_memory",
        episode_body="Two names.",
        entities=[
            {"name": "PostgreSQL", "type": "Tool", "summary": same},
            {"name": "Postgres SQL", "type": "Tool", "summary": same},
            {"name": "Grafana", "type": "Tool", "summary": "Shows dashboards of metrics."},
        ],
    )
    uuids = {str(one["name"]): str(one["uuid"]) for one in told["entities"]}
    await call(client, "set_confidence", entity_uuid=uuids["Grafana"], confidence=0.2, reason="Hearsay.")
    return uuids


async def test_what_is_found_is_flagged_once_and_shown_in_words_and_as_json(data_dir: Path) -> None:
    async with over_stdio(data_dir, toolsets="memory,curation") as client:
        uuids = await remembered(client)
        dry = await asked("curate", "run", "--dry-run", data_dir=data_dir)
        assert (dry["done"], dry["newly_flagged"], await names_flagged(client)) == (False, 3, {})
        out, _ = await command("curate", "run", "--check", "duplicates,low-confidence", data_dir=data_dir)
        lines = out.splitlines()
        assert lines[0] == "default: 3 entities newly flagged."
        assert "low-confidence: 1 found, 1 new, 0 settled before" in lines
        assert f"  new      {uuids['Grafana'][:8]}  Grafana (confidence 0.2)" in lines
        assert "duplicates: 1 pair(s) found, 2 entities new, 0 settled before" in lines
        assert f"  new      {uuids['PostgreSQL'][:8]}  PostgreSQL ({uuids['Postgres SQL'][:8]}  Postgres SQL, " in out
        listed = await names_flagged(client)
        assert len(listed) == 2
        assert listed.keys() < uuids.keys()
        await call(client, "clear_flag", entity_uuid=uuids["Grafana"], note="It is fine.")
        run_again = await asyncio.to_thread(run, "curate", "run", "--json", data_dir=data_dir, tier="librarian")
        again = json.loads(run_again.stdout)
        assert (again["done"], again["newly_flagged"]) == (True, 0)
        states = {view["name"]: view["state"] for check in again["checks"] for view in check["entities"]}
        assert states == {"Grafana": "settled", "PostgreSQL": "flagged"}
        (pair,) = next(check["entities"] for check in again["checks"] if check["check"] == "duplicates")
        assert {pair["entity_uuid"], pair["other_uuid"]} == {uuids["PostgreSQL"], uuids["Postgres SQL"]}
        assert [check["check"] for check in again["checks"]] == [
            *("orphans", "low-confidence", "stale-plans", "duplicates", "placement"),
        ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["curate"], "action"),
        (["curate", "walk"], "'run'"),
        (["curate", "run", "--check", "orphan"], "no check 'orphan'; there are orphans, low-confidence"),
        (["curate", "run", "--check", ""], "no check ''"),
    ],
)
async def test_what_is_wrong_is_said_and_is_wrong_usage(arguments: list[str], said: str, data_dir: Path) -> None:
    _, err = await command(*arguments, data_dir=data_dir, code=2)
    assert said in err
