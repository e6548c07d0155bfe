"""A model, scripted and behind real HTTP, says why two may be one: a text beside the pair, and nothing else."""

from pathlib import Path
from typing import Any

import pytest
from tests.integration.planted import files_with
from tests.scripted_model import FaultPlan, PermanentFault, ScriptedModel
from tests.storm.dump import Dump, differences, dump

from graphiti_pkm.bootstrap import Memory, open_memory
from graphiti_pkm.capabilities.curation.models import SimilarResponse
from graphiti_pkm.capabilities.curation.requests import FlagSimilarEntities
from graphiti_pkm.capabilities.curation.tools import SIMILAR
from graphiti_pkm.capabilities.remember.tools import WRITING
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.core.model.requests import AddMemory
from graphiti_pkm.errors import InvalidInput
from graphiti_pkm.settings.loader import Settings

pytestmark = pytest.mark.timeout(120)

SAME = "The relational database that stores customers and invoices."
WHY = "Both store the same, Quirlebaumgrund."
SCRIPT = {
    "PairExplanations": {
        "Postgres": {
            "explanations": [{"pair": 0, "explanation": f"  {WHY}\n"}, {"pair": 7, "explanation": "Of no pair."}],
        }
    }
}


def settings(data_dir: Path, model: ScriptedModel, **more: Any) -> Settings:
    given = {"llm_model": "scripted", "llm_base_url": model.url, "llm_api_key": "k"}
    return Settings(data_dir=data_dir, llm_structured_output="json_schema", **{**given, **more})


async def begin(data_dir: Path) -> None:
    """Two that may be one, told while there is no model."""
    named = [{"name": name, "type": "Tool", "summary": SAME} for name in ("PostgreSQL", "Postgres SQL")]
    async with open_memory(Settings(data_dir=data_dir)) as memory:
        request = AddMemory.model_validate({"episode_body": "Our database.", "entities": named})
        await memory.services[WRITING].add_memory(LOCAL, request)


async def flag(memory: Memory, **fields: Any) -> SimilarResponse:
    return await memory.services[SIMILAR].flag_similar_entities(LOCAL, FlagSimilarEntities(**fields))


def kept(data_dir: Path) -> Dump:
    """What is stored, but for the cost of calls."""
    return dump(data_dir).without("model_usage")


async def test_a_model_adds_a_text_to_each_pair_and_changes_nothing(
    tmp_path: Path, scripted_model: ScriptedModel
) -> None:
    scripted_model.change(script=SCRIPT)
    await begin(tmp_path)
    async with open_memory(settings(tmp_path, scripted_model)) as memory:
        plain = await flag(memory)
        before = kept(tmp_path)
        answer = await flag(memory, explain=True)
        (pair,) = answer.pairs
        assert pair.explanation == WHY
        assert [one.model_copy(update={"explanation": None}) for one in answer.pairs] == plain.pairs
        assert (plain.newly_flagged, answer.newly_flagged) == (2, 0)
        assert differences(before, kept(tmp_path)) == []
        assert (await memory.journal.extractions.spent(None)).calls == 1
    (request,) = scripted_model.requests
    assert SAME in request.messages[-1][1]
    assert files_with(tmp_path, "Quirlebaumgrund") == []


async def test_what_the_model_does_not_say_keeps_no_flag_away(tmp_path: Path, scripted_model: ScriptedModel) -> None:
    scripted_model.change(faults=FaultPlan(permanent=(PermanentFault(kind="refusal", contains="Postgres"),)))
    await begin(tmp_path)
    async with open_memory(settings(tmp_path, scripted_model)) as memory:
        answer = await flag(memory, explain=True)
        assert (answer.newly_flagged, answer.pairs[0].explanation) == (2, None)
        assert "Not explained: " in answer.message


async def test_the_days_budget_counts_for_it_too(tmp_path: Path, scripted_model: ScriptedModel) -> None:
    scripted_model.change(script=SCRIPT)
    await begin(tmp_path)
    async with open_memory(settings(tmp_path, scripted_model, llm_calls_per_day=1)) as memory:
        assert (await flag(memory, explain=True)).pairs[0].explanation == WHY
        assert "budget" in (await flag(memory, explain=True)).message
    assert len(scripted_model.requests) == 1


async def test_without_a_model_it_is_refused_before_anything_is_flagged(tmp_path: Path) -> None:
    await begin(tmp_path)
    async with open_memory(Settings(data_dir=tmp_path)) as memory:
        with pytest.raises(InvalidInput, match="llm_model"):
            await flag(memory, explain=True)
        assert (await flag(memory)).newly_flagged == 2
