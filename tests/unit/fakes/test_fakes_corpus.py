"""The corpora are what the catalogue says they are."""

from collections import Counter

from tests.corpus import DENSE_RELATIONS, DJANGO, HUB, dense, embeddings, hub, load, weeks
from tests.fakes import FakeEmbedder, FakeGraph


async def test_the_dense_corpus_has_600_entities_with_ten_facts_each() -> None:
    graph = FakeGraph()
    await load(graph, dense())
    assert len(graph.tables.entities) == 600
    assert set(Counter(fact.source_uuid for fact in graph.tables.facts.values()).values()) == {10}
    assert {fact.relation for fact in graph.tables.facts.values()} == set(DENSE_RELATIONS)
    assert all(len(entity.summary.split("\n")) == 5 for entity in graph.tables.entities.values())


async def test_the_hub_has_its_facts_in_both_directions_and_groups() -> None:
    graph = FakeGraph()
    await load(graph, hub())
    facts = list(graph.tables.facts.values())
    assert len(facts) == 120
    assert sum(fact.source_uuid == HUB for fact in facts) == 70
    assert sum(fact.target_uuid == HUB for fact in facts) == 50
    assert Counter(fact.group_id for fact in facts) == {"t1": 90, "t2": 30}
    assert Counter(fact.group_id for fact in facts if fact.invalid_at) == {"t1": 20}
    assert len({fact.valid_at for fact in facts}) == 120


async def test_the_weeks_mention_the_project_in_both_groups() -> None:
    graph = FakeGraph()
    await load(graph, weeks(), FakeEmbedder())
    told = graph.tables.mentioning(DJANGO)
    assert Counter(episode.group_id for episode in told) == {"t1": 25, "t2": 5}
    assert {episode.name for episode in told} == {f"Week {number}" for number in range(1, 26)}
    assert graph.tables.passages.keys() <= graph.tables.vectors.keys()


async def test_writes_have_the_same_uuids_in_every_run() -> None:
    assert hub() == hub()
    assert weeks() == weeks()
    write = weeks()[1]
    assert await embeddings(write, FakeEmbedder()) == await embeddings(write, FakeEmbedder())
