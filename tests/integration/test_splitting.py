"""What was taken for one entity becomes two, in a real memory: split, merged again, rebuilt and forgotten."""

import random
from pathlib import Path
from typing import Any

import pytest
from tests.integration.planted import files_with
from tests.integration.test_merging import forget, graph_of, rebuild, tell, unmerge
from tests.neo4j_server import Neo4jAddress, empty
from tests.storm.dump import Dump, differences, dump

from graphiti_pkm.bootstrap import Memory, open_memory
from graphiti_pkm.capabilities.curation.models import SplitResponse
from graphiti_pkm.capabilities.curation.requests import FlagForReview, MergeEntities, SplitEntity
from graphiti_pkm.capabilities.curation.tools import MERGING, REVIEWS, SPLITTING
from graphiti_pkm.capabilities.history.requests import RetireFact, UpdateEntity
from graphiti_pkm.capabilities.history.tools import RETIRING, UPDATING
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.core.model.queries import EpisodeFilter, FactFilter, Window
from graphiti_pkm.settings.loader import Settings

pytestmark = pytest.mark.timeout(240)

ANA, OTHER = "Ana", "Xylomarie"
PLACES = ("Rome", "Oslo", "Lima")
RELATIONS = ("LIVES_IN", "WORKS_AT", "LIKES", "KNOWS")


async def split(memory: Memory, uuid: str, name: str, **what: list[str]) -> SplitResponse:
    asked = {"entity_uuid": uuid, "name": name, **what}
    service = memory.services[SPLITTING]
    preview = await service.split_entity(LOCAL, SplitEntity.model_validate(asked))
    return await service.split_entity(LOCAL, SplitEntity.model_validate({**asked, "confirm": preview.confirm}))


async def merge(memory: Memory, keep: str, remove: str | None) -> None:
    asked = {"keep_uuid": keep, "remove_uuid": remove, "reason": "One after all."}
    service = memory.services[MERGING]
    preview = await service.merge_entities(LOCAL, MergeEntities.model_validate(asked))
    assert (preview.pair_facts, preview.joined_facts) == (None, None)
    await service.merge_entities(LOCAL, MergeEntities.model_validate({**asked, "confirm": preview.confirm}))


def content(data_dir: Path) -> Dump:
    """Of the graph, but for the events of entities, who wrote, and what a merge keeps for its undoing."""
    found = dump(data_dir)
    events = found.tables["change"]
    kinds = ("merged", "unmerged", "split")
    found.tables["change"] = {key: one for key, one in events.items() if one["kind"] not in kinds}
    return found.without("merge_part", "former_uuid", "write_origin")


async def owned(memory: Memory, uuid: str) -> tuple[list[str], list[str]]:
    """Uuids of its facts and of the episodes that mention it."""
    graph, groups = memory.context.graph, ("default",)
    facts = await graph.facts.connections(
        uuid, FactFilter(group_ids=groups, now=memory.context.now()), Window(limit=100)
    )
    episodes = await graph.episodes.timeline(uuid, EpisodeFilter(group_ids=groups), Window(limit=100))
    return [one.uuid for one in facts.facts], [one.uuid for one in episodes.episodes]


async def any_story(memory: Memory, draw: random.Random, name: str = ANA, other: str = ANA) -> str:
    """Notes of which each tells up to three facts of somebody, in either direction; some are ended. The uuid."""
    person = {"name": name, "type": "Person", "summary": draw.choice(("", "A rower.")), "aliases": [f"{name}'s boat"]}
    uuid = (await tell(memory, episode_body=f"{name} came.", entities=[person]))[name]
    for number in range(draw.randint(2, 5)):
        facts = []
        for place in draw.sample(PLACES, draw.randint(0, 3)):
            ends = [name, draw.choice((place, name, other))]
            draw.shuffle(ends)
            told = f"{ends[0]} and {ends[1]} in note {number} about {place}"
            facts.append({"source": ends[0], "relation": draw.choice(RELATIONS), "target": ends[1], "fact": told})
        body = f"Note {number} of {name}. " + ". ".join(one["fact"] for one in facts)
        await tell(memory, episode_body=body, facts=facts, entities=[{"name": name}])
    facts_now, _ = await owned(memory, uuid)
    for fact in draw.sample(facts_now, min(len(facts_now), 2)):
        await memory.services[RETIRING].retire_fact(LOCAL, RetireFact(fact_uuid=fact, reason="No more."))
    return uuid


@pytest.mark.parametrize("seed", range(6))
async def test_a_split_and_the_merge_of_both_give_back_the_same_and_so_does_a_rebuild(
    tmp_path: Path, seed: int
) -> None:
    draw = random.Random(seed)  # noqa: S311 the same stories in every run
    async with open_memory(Settings(data_dir=tmp_path)) as memory:
        uuid = await any_story(memory, draw)
        before = content(tmp_path)
        facts, episodes = await owned(memory, uuid)
        some = draw.sample(facts, draw.randint(0, len(facts)))
        done = await split(
            memory,
            uuid,
            f"{ANA}'s boat",
            fact_uuids=some,
            episode_uuids=draw.sample(episodes, draw.randint(0 if some else 1, len(episodes) - 1)),
        )
        assert done.new_uuid is not None
        parted = dump(tmp_path)
        assert differences(before, content(tmp_path)) != []
        await rebuild(memory)
        assert differences(parted, dump(tmp_path)) == []
        await merge(memory, uuid, done.new_uuid)
        assert differences(before, content(tmp_path)) == []
        merged = dump(tmp_path)
        await rebuild(memory)
        assert differences(merged, dump(tmp_path)) == []


@pytest.mark.parametrize("seed", range(4))
async def test_a_merge_of_any_two_and_its_undoing_give_back_the_same_and_so_does_a_rebuild(
    tmp_path: Path, seed: int
) -> None:
    draw = random.Random(seed)  # noqa: S311 the same stories in every run
    one, other = "Maria Anna Rossi", "Rossi, Maria Anna"
    async with open_memory(Settings(data_dir=tmp_path)) as memory:
        kept = await any_story(memory, draw, one)
        removed = await any_story(memory, draw, other, one)
        for uuid in (kept, removed):
            said = UpdateEntity(entity_uuid=uuid, summary="A rower who came from Italy.")
            await memory.services[UPDATING].update_entity(LOCAL, said)
        await memory.services[REVIEWS].flag_for_review(LOCAL, FlagForReview(entity_uuid=kept, reason="One?"))
        before = content(tmp_path)
        asked = {"keep_uuid": kept, "remove_uuid": removed, "reason": "One after all."}
        preview = await memory.services[MERGING].merge_entities(LOCAL, MergeEntities.model_validate(asked))
        confirmed = MergeEntities.model_validate({**asked, "confirm": preview.confirm})
        await memory.services[MERGING].merge_entities(LOCAL, confirmed)
        merged = dump(tmp_path)
        await rebuild(memory)
        assert differences(merged, dump(tmp_path)) == []
        await unmerge(memory, removed)
        assert differences(before, content(tmp_path)) == []
        parted = dump(tmp_path)
        await rebuild(memory)
        assert differences(parted, dump(tmp_path)) == []


async def two(memory: Memory) -> tuple[str, str]:
    """Uuids of Ana, and of the one that was split off."""
    notes: list[dict[str, Any]] = [
        {
            "episode_body": "Ana rows on the Quirlebach. Ana sells Zwiebelharfen.",
            "entities": [{"name": ANA, "type": "Person", "aliases": [OTHER]}],
            "facts": [
                {"source": ANA, "relation": "ROWS_ON", "target": "river", "fact": "Ana rows on the Quirlebach."},
                {"source": ANA, "relation": "SELLS", "target": "things", "fact": "Zwiebelharfen are sold."},
            ],
        },
        {
            "episode_body": f"{OTHER} plays the Fidibus.",
            "facts": [{"source": ANA, "relation": "PLAYS", "target": "music", "fact": f"{OTHER} plays the Fidibus."}],
        },
        {"episode_body": "Tom met Ana.", "facts": [{"source": "Tom", "relation": "MET", "target": ANA}]},
    ]
    uuids: dict[str, str] = {}
    for note in notes:
        uuids = {**await tell(memory, **note), **uuids}
    facts, episodes = await owned(memory, uuids[ANA])
    told = {one.uuid: one for one in await memory.context.graph.records.get_facts(facts, ["default"])}
    plays, sells = (next(uuid for uuid, one in told.items() if one.relation == name) for name in ("PLAYS", "SELLS"))
    await memory.services[RETIRING].retire_fact(LOCAL, RetireFact(fact_uuid=sells, reason="No more Zwiebelharfen."))
    mine = [uuid for uuid in episodes if uuid in told[plays].episodes]
    done = await split(memory, uuids[ANA], OTHER, fact_uuids=[plays, sells], episode_uuids=mine)
    assert (done.facts_moved, done.mentions_moved, done.mentioned_both) == (2, 1, 1)
    assert done.new_uuid is not None
    return uuids[ANA], done.new_uuid


async def test_the_new_entity_is_forgotten_with_every_word_and_the_other_stays(tmp_path: Path) -> None:
    async with open_memory(Settings(data_dir=tmp_path)) as memory:
        ana, new = await two(memory)
        assert files_with(tmp_path, OTHER)
        await forget(memory, entity_uuid=new)
        assert [len(found) for found in await owned(memory, ana)] == [2, 2]
        left = dump(tmp_path)
        assert new not in {one["uuid"] for one in left.of("entity")}
        await rebuild(memory)
        assert differences(left, dump(tmp_path)) == []
    for words in (OTHER, "Fidibus", "Zwiebelharfen are sold"):
        assert files_with(tmp_path, words) == []


async def test_the_other_is_forgotten_and_the_new_entity_keeps_all_it_was_given(tmp_path: Path) -> None:
    async with open_memory(Settings(data_dir=tmp_path)) as memory:
        ana, new = await two(memory)
        await forget(memory, entity_uuid=ana, episodes="keep")
        left = dump(tmp_path)
        facts = [one["relation"] for one in left.of("fact") if new in (one["source_uuid"], one["target_uuid"])]
        assert sorted(facts) == ["PLAYS", "SELLS"]
        await rebuild(memory)
        assert differences(left, dump(tmp_path)) == []


@pytest.mark.parametrize("words", ["Fidibus", "Zwiebelharfen", OTHER])
async def test_words_that_are_forgotten_after_a_split_are_in_no_file_and_do_not_come_back(
    tmp_path: Path, words: str
) -> None:
    async with open_memory(Settings(data_dir=tmp_path)) as memory:
        ana, new = await two(memory)
        await forget(memory, query=words)
        left = dump(tmp_path)
        await rebuild(memory)
        assert differences(left, dump(tmp_path)) == []
        if new in {one["uuid"] for one in left.of("entity")}:
            await merge(memory, ana, new)
            await rebuild(memory)
    assert files_with(tmp_path, words) == []


@pytest.mark.timeout(600)
async def test_on_neo4j_merging_and_rebuilding_give_back_the_same_and_forgetting_takes_all(
    tmp_path: Path, neo4j_server: Neo4jAddress
) -> None:
    empty(neo4j_server)
    settings = Settings(data_dir=tmp_path, **neo4j_server.product_settings())
    async with open_memory(settings) as memory:
        ana, new = await two(memory)
        parted = await graph_of(neo4j_server)
        assert sorted(map(len, await owned(memory, new))) == [2, 2]
        await rebuild(memory)
        assert await graph_of(neo4j_server) == parted
        await merge(memory, ana, new)
        merged = await graph_of(neo4j_server)
        await rebuild(memory)
        assert await graph_of(neo4j_server) == merged
        assert sorted(map(len, await owned(memory, ana))) == [3, 4]
        await forget(memory, entity_uuid=new)
        left = await graph_of(neo4j_server)
        assert not any(words in row for words in (OTHER, "Fidibus") for rows in left.values() for row in rows)
    assert files_with(tmp_path, OTHER) == []
