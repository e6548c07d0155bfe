"""Nothing acknowledged is lost, nothing is there twice, whoever is killed whenever."""

import asyncio
import subprocess
import sys
from collections import Counter
from pathlib import Path
from time import time_ns

import pytest
from tests.storm.dump import (
    Dump,
    differences,
    dump,
    repeated_facts,
    repeated_names,
    repeated_tokens,
    several_current,
)
from tests.storm.notes import Diary
from tests.storm.story import HOME, note, token
from tests.storm.weather import WAYS, Storm

from graphiti_pkm.bootstrap import Memory, open_memory
from graphiti_pkm.capabilities.remember.tools import WRITING
from graphiti_pkm.capabilities.search.requests import SearchNodes
from graphiti_pkm.capabilities.search.tools import SEARCHING
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.core.model.requests import AddMemory
from graphiti_pkm.settings.loader import Settings

SECONDS = 120
LEAST_ACKNOWLEDGED = 5_000
LEAST_KILLS = 30

pytestmark = pytest.mark.timeout(900)


async def test_twenty_clients_under_random_kills_lose_and_repeat_nothing(tmp_path: Path) -> None:
    data_dir, directory = tmp_path / "data", tmp_path / "clients"
    directory.mkdir()
    storm = Storm(data_dir, directory, seed=time_ns())
    with storm.clients():
        storm.wait_until_all_write(240)
        storm.rage(SECONDS)
        storm.end(120)
    told = storm.diaries()
    acknowledged = [line for diary in told for line in diary.lines("acknowledged")]
    print(f"\n{storm.figures(len(acknowledged))}", flush=True)  # noqa: T201 what `make storm` is run for
    assert storm.deaths == []
    async with open_memory(Settings(data_dir=data_dir)) as memory:
        await _the_next_call_works(memory)
        counts = await _once_jobs_are_done(memory)
        graph = dump(data_dir)
    _nothing_is_lost(graph, told)
    _nothing_is_repeated(graph, told)
    assert (counts["intent"], counts["failed"], counts["jobs_failed"]) == (0, 0, 0)
    assert len(acknowledged) >= LEAST_ACKNOWLEDGED
    assert storm.kills.total() >= LEAST_KILLS
    assert len(storm.kills) == 3

    command = [str(Path(sys.executable).with_name("graphiti-pkm")), "rebuild", "--data-dir", str(data_dir)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: ASYNC221 nothing else runs
    assert done.returncode == 0, done.stderr
    assert differences(graph, dump(data_dir)) == []


async def _once_jobs_are_done(memory: Memory) -> dict[str, int]:
    """Clients without a model put off those that embed, and those that were killed still hold some."""
    while True:
        while await memory.jobs.run_once():
            pass
        counts = await memory.journal.counts()
        if not counts["jobs_queued"] + counts["jobs_running"]:
            return counts
        await asyncio.sleep(0.5)  # no event tells when one is due


async def _the_next_call_works(memory: Memory) -> None:
    arguments = note("afterwards", 0)
    answer = await memory.services[WRITING].add_memory(LOCAL, AddMemory.model_validate(arguments))
    assert answer.status == "stored"
    found = await memory.services[SEARCHING].search_nodes(
        LOCAL, SearchNodes(query=None, names=["Sarah Miller"], group_ids=[arguments["group_id"]])
    )
    assert found.returned


def _nothing_is_lost(graph: Dump, told: list[Diary]) -> None:
    episodes = {one["uuid"] for one in graph.of("episode")}
    entities = {one["uuid"] for one in graph.of("entity")}
    told_in = {(one["fact_uuid"], one["episode_uuid"]) for one in graph.of("fact_episode")}
    mentions = graph.mentions()
    passages = {one["episode_uuid"] for one in graph.of("passage")}
    for diary in told:
        for line in [*diary.lines("acknowledged"), *diary.lines("pending")]:
            assert line["uuid"] in episodes
            assert line["uuid"] in passages
            for uuid in line.get("entities", []):
                assert uuid in entities
                assert (line["uuid"], uuid) in mentions
            for uuid in line.get("facts", []):
                assert (uuid, line["uuid"]) in told_in


def _nothing_is_repeated(graph: Dump, told: list[Diary]) -> None:
    sent = [line for diary in told for line in diary.lines("sent")]
    episodes = {one["uuid"] for one in graph.of("episode")}
    assert len(episodes - {line["uuid"] for line in sent}) == 1, "only the call afterwards was not told"
    assert repeated_tokens(graph, [token(line["client"], line["number"]) for line in sent]) == []
    assert repeated_names(graph) == []
    assert repeated_facts(graph) == []
    assert several_current(graph, HOME) == []


def test_a_storm_tells_its_figures_in_one_line(tmp_path: Path) -> None:
    storm = Storm(tmp_path, tmp_path, seed=7, kills=Counter(words=31, stdio=18))
    assert storm.figures(2_406) == "storm 7: 2,406 acknowledged writes; kills: 31 words, 0 model, 18 stdio"


def test_a_storm_has_twenty_clients_some_of_them_real_servers() -> None:
    assert len(WAYS) == 20
    assert set(WAYS) == {"words", "model", "stdio"}
