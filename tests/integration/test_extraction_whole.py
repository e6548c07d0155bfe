"""From a note to its facts: the real queue, pipeline, planner and database, and a scripted model over HTTP."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.scripted_model import ScriptedModel

from graphiti_pkm.bootstrap import Memory, open_memory
from graphiti_pkm.capabilities.history.requests import RestoreFact
from graphiti_pkm.capabilities.history.tools import RETIRING
from graphiti_pkm.capabilities.remember.tools import WRITING
from graphiti_pkm.capabilities.search.requests import SearchMemoryFacts, SearchNodes
from graphiti_pkm.capabilities.search.tools import SEARCHING
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.core.model.answers import ExtractionReceipt
from graphiti_pkm.core.model.requests import AddMemory, FactInput
from graphiti_pkm.settings.loader import Settings


@pytest.fixture
async def memory(tmp_path: Path, scripted_model: ScriptedModel) -> AsyncIterator[Memory]:
    settings = Settings(
        data_dir=tmp_path,
        llm_model="m",
        llm_base_url=scripted_model.url,
        llm_structured_output="json_schema",
        extraction_part=1_000,
        extraction_calls=2,
    )
    async with open_memory(settings) as opened:
        yield opened


async def read(memory: Memory, body: str, when: str, *facts: FactInput) -> ExtractionReceipt:
    note = AddMemory(episode_body=body, reference_time=when, facts=facts, wait_seconds=30)
    answer = await memory.services[WRITING].add_memory(LOCAL, note)
    assert answer.extraction is not None
    assert answer.extraction.state == "done", answer.extraction
    return answer.extraction


async def current(memory: Memory, query: str) -> set[str]:
    found = await memory.services[SEARCHING].search_memory_facts(
        LOCAL, SearchMemoryFacts(query=query, status="current")
    )
    return {one.fact for one in found.facts}


async def test_notes_become_facts_that_are_repeated_ended_and_undone(memory: Memory) -> None:
    first = await read(memory, "Anna Berg WORKS_AT Acme since 2024-02.", "2025-01-01")
    assert [one.fact for one in first.facts] == ["Anna Berg WORKS_AT Acme since 2024-02."]
    again = await read(memory, "anna-berg WORKS_AT Acme since 2024-02.", "2025-02-01")
    assert len(again.facts) == 1
    assert await current(memory, "Anna Berg WORKS_AT") == {"Anna Berg WORKS_AT Acme since 2024-02."}

    changed = await read(memory, "Anna Berg WORKS_AT Globex since 2025-03.", "2025-03-05")
    (ended,) = changed.retired
    assert await current(memory, "Anna Berg WORKS_AT") == {"Anna Berg WORKS_AT Globex since 2025-03."}
    await memory.services[RETIRING].restore_fact(
        LOCAL, RestoreFact(fact_uuid=ended.uuid, reason="It was a second job.")
    )
    assert len(await current(memory, "Anna Berg WORKS_AT")) == 2

    entities = await memory.services[SEARCHING].search_nodes(LOCAL, SearchNodes(query="Anna Berg"))
    assert [one.name for one in entities.nodes].count("Anna Berg") == 1


async def test_what_the_caller_told_is_neither_doubled_nor_ended(memory: Memory, scripted_model: ScriptedModel) -> None:
    told = FactInput(source="Anna Berg", relation="WORKS_AT", target="Acme", fact="Anna Berg WORKS_AT Acme.")
    body = "Anna Berg WORKS_AT Acme. Anna Berg WORKS_AT Globex since 2025-03."
    receipt = await read(memory, body, "2025-04-01", told)
    assert receipt.retired == []
    assert await current(memory, "Anna Berg WORKS_AT") == {told.fact, "Anna Berg WORKS_AT Globex since 2025-03."}
    (prompt,) = (one.prompt for one in scripted_model.requests if one.schema_name == "ExtractedEdges")
    assert "recorded already" in prompt


async def test_a_long_note_is_read_as_the_settings_say(memory: Memory, scripted_model: ScriptedModel) -> None:
    scripted_model.change(latency_ms=200)
    homes = [f"Person {name} LIVES_IN Rome." for name in "ABCDEF"]
    receipt = await read(memory, "\n".join((*homes[:5], "filler " * 200, homes[5])), "2025-01-01")
    assert sorted(one.fact for one in receipt.facts) == homes
    assert scripted_model.stats.by_schema["ExtractedEntities"].calls == 2
    assert scripted_model.stats.in_flight_max == 2
