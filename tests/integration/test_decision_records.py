"""Records of decisions in a real data directory: rebuilt, edited, and forgotten down to the last file."""

from pathlib import Path

import pytest
from tests.integration.planted import files_with
from tests.integration.test_documents import forget, ingest, opened, text
from tests.neo4j_server import Neo4jAddress
from tests.storm.dump import differences, dump

from graphiti_pkm.bootstrap import Memory
from graphiti_pkm.capabilities.remember.tools import WRITING
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.core.model.queries import FactFilter, Window
from graphiti_pkm.core.model.records import Fact
from graphiti_pkm.core.model.requests import AddMemory

pytestmark = pytest.mark.timeout(120)

DECIDER = "Zéphyrine Quollmann"
RECORD = f"""\
---
status: accepted
date: 2024-03-02
decision-makers: {DECIDER}, Bo Berg
---
# Use one store

## Context and Problem Statement

Where do the rows go?

## Decision Outcome

One file holds them.
"""
NEXT = RECORD.replace("Use one store", "Use two stores").replace("2024-03-02", "2025-04-05").replace(DECIDER, "Cy Day")


async def facts(memory: Memory) -> list[Fact]:
    page = await memory.context.graph.facts.group_facts(
        FactFilter(group_ids=("default",), now=memory.context.now()), Window(limit=99)
    )
    return list(page.facts)


async def stated(memory: Memory) -> set[tuple[str, str, str | None, str, str | None]]:
    """What holds: source, relation, value or target, day and quote."""
    return {
        (
            one.source_name,
            one.relation,
            one.value or one.target_name,
            str(one.valid_at and one.valid_at.date()),
            one.quote,
        )
        for one in await facts(memory)
        if one.is_open and one.invalid_at is None
    }


async def check(memory: Memory, root: Path) -> None:
    """What holds in both stores."""
    await ingest(memory, root, **{"0001-store": RECORD})
    first = {
        ("ADR 1", "HAS_STATUS", "accepted", "2024-03-02", "accepted"),
        ("ADR 1", "HAS_DATE", "2024-03-02", "None", "2024-03-02"),
        ("ADR 1", "DECIDED_BY", DECIDER, "None", DECIDER),
        ("ADR 1", "DECIDED_BY", "Bo Berg", "None", "Bo Berg"),
    }
    assert await stated(memory) == first
    assert await text(memory, "0001-store") == RECORD
    edited = RECORD.replace("status: accepted", "status: superseded by [two](0002-two.md)")
    await ingest(memory, root, **{"0001-store": edited, "0002-two": NEXT})
    now = await stated(memory)
    quote = "superseded by [two](0002-two.md)"
    assert now >= {
        ("ADR 1", "HAS_STATUS", "superseded", "2025-04-05", quote),
        ("ADR 2", "SUPERSEDES", "ADR 1", "2025-04-05", quote),
        ("ADR 2", "DECIDED_BY", "Cy Day", "None", "Cy Day"),
    }
    assert not now & {("ADR 1", "HAS_STATUS", "accepted", "2024-03-02", "accepted")}
    await memory.recovery.rebuilding.rebuild(lambda _done, _total: None)
    assert await stated(memory) == now
    uuid = next(one.target_uuid for one in await facts(memory) if one.target_name == DECIDER)
    await forget(memory, entity_uuid=uuid)
    left = " ".join(str(one) for one in await stated(memory))
    assert DECIDER not in left + await text(memory, "0001-store")
    assert ("ADR 1", "DECIDED_BY", "Bo Berg", "None", "Bo Berg") in await stated(memory), "who stands beside stays"
    assert "decision-makers: [forgotten] Bo Berg" in await text(memory, "0001-store")
    assert ("ADR 2", "SUPERSEDES", "ADR 1", "2025-04-05", quote) in await stated(memory)


async def test_a_record_is_told_edited_rebuilt_and_its_decider_forgotten(tmp_path: Path) -> None:
    async with opened(tmp_path / "data") as memory:
        await check(memory, tmp_path / "root")
    assert files_with(tmp_path / "data", DECIDER) == []


async def test_on_neo4j_a_record_is_the_same(tmp_path: Path, neo4j_server: Neo4jAddress) -> None:
    async with opened(tmp_path / "data", neo4j_server) as memory:
        await check(memory, tmp_path / "root")


async def test_a_link_goes_and_comes_back(tmp_path: Path) -> None:
    async with opened(tmp_path / "data") as memory:
        whole = NEXT.replace("## Decision Outcome", "This ADR supersedes [one](0001-store.md).\n\n## Decision Outcome")
        found = []
        await ingest(memory, tmp_path / "root", **{"0001-store": RECORD})
        for text_of in (whole, NEXT, whole, NEXT):
            await ingest(memory, tmp_path / "root", **{"0002-two": text_of})
            now = await stated(memory)
            found.append({one[:3] for one in now if one[1] == "SUPERSEDES" or one[:2] == ("ADR 1", "HAS_STATUS")})
            await memory.recovery.rebuilding.rebuild(lambda _done, _total: None)
            assert await stated(memory) == now
        over = {("ADR 1", "HAS_STATUS", "superseded"), ("ADR 2", "SUPERSEDES", "ADR 1")}
        held = {("ADR 1", "HAS_STATUS", "accepted")}
        assert found == [over, held, over, held]


async def test_what_a_note_says_of_a_status_as_well_stays(tmp_path: Path) -> None:
    async with opened(tmp_path / "data") as memory:
        whole = NEXT.replace("## Decision Outcome", "This ADR supersedes [one](0001-store.md).\n\n## Decision Outcome")
        await ingest(memory, tmp_path / "root", **{"0001-store": RECORD, "0002-two": whole})
        fact = {"source": "ADR 1", "relation": "HAS_STATUS", "value": "superseded", "fact": "ADR 1 is superseded"}
        request = AddMemory.model_validate({"episode_body": "ADR 1 is superseded.", "facts": [fact]})
        await memory.services[WRITING].add_memory(LOCAL, request)
        await ingest(memory, tmp_path / "root", **{"0002-two": NEXT})
        now = {one[:3] for one in await stated(memory)}
        assert ("ADR 2", "SUPERSEDES", "ADR 1") not in now
        assert [one for one in now if one[:2] == ("ADR 1", "HAS_STATUS")] == [("ADR 1", "HAS_STATUS", "superseded")]


async def test_a_record_told_twice_or_read_back_from_the_journal_is_the_same(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with opened(data) as memory:
        await ingest(memory, tmp_path / "root", **{"0001-store": RECORD})
        while await memory.jobs.run_once():
            pass
        before = dump(data)
        await ingest(memory, tmp_path / "root", **{"0001-store": RECORD})
        await memory.recovery.rebuilding.rebuild(lambda _done, _total: None)
        assert differences(before, dump(data)) == []
