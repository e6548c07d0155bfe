"""Decision records as entries of a project: what was decided about a subject here, and what holds."""

import re
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.questions import facts_of
from tests.acceptance.shared_data import shared_data
from tests.e2e.support import call, over_stdio

pytestmark = pytest.mark.timeout(300)

DATABASES = {"ADR 18", "ADR 19", "ADR 20", "ADR 38"}
"""The records that decide which databases there are."""


def entry_of(path: Path) -> dict[str, Any]:
    """A record as an entry, with its decision and the status that the text gives it."""
    body = path.read_text(encoding="utf-8")
    date = re.search(r"^Date: (\S+)", body, re.MULTILINE)
    status = re.search(r"^## Status\s+(\w+)", body, re.MULTILINE)
    assert date is not None
    name = f"ADR {int(path.stem[:4])}"
    facts = [{"source": name, "relation": "HAS_STATUS", "value": status[1].lower()}] if status else []
    entities = [{"name": name, "type": "Decision"}]
    return {"content": body, "timestamp": date[1], "entities": entities, "facts": facts}


async def test_what_was_decided_about_databases_and_what_holds(tmp_path: Path) -> None:
    records = sorted(shared_data("architecture-decisions").glob("[0-9]*.md"))
    async with over_stdio(tmp_path / "data", toolsets="memory,projects") as client:
        await call(client, "create_project", name="Hosting", description="The move of a web site to AWS.")
        for path in records:
            await call(client, "create_entry", project_id="Hosting", **entry_of(path))
        found = await call(
            client,
            "search_entries_semantic",
            query="databases",
            project_id="Hosting",
            similarity_threshold=0.4,
            include_entities=True,
        )
        decisions = [name for entry in found["entries"] for name in entry["entities"]]
        assert decisions[0] in DATABASES
        assert len(DATABASES & {*decisions}) >= 3
        assert len(found["entries"]) < len(records) / 4
        held = {}
        for name in DATABASES:
            facts = await facts_of(client, name, "HAS_STATUS", "default")
            held[name] = [fact["value"] for fact in facts if fact["status"] == "current"]
    assert held == {"ADR 18": ["accepted"], "ADR 19": ["accepted"], "ADR 20": ["accepted"], "ADR 38": ["approved"]}
