"""Contracts of the counters of fitness: what is counted, who sees it, what adds up, and what goes with its record."""

import math
import random
from array import array
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from neo4j import GraphDatabase
from tests.builders import GROUP, OTHER_GROUP, a_fact, a_quality, a_write, an_entity, an_intent, new_uuid
from tests.fakes import FakeGraph, FakeJournal
from tests.fakes.usage import FakeUsageCounts
from tests.neo4j_server import Neo4jAddress

from graphiti_pkm.core.model.fitness import Fitness, Usage
from graphiti_pkm.core.model.records import Deletions, Forgetting, Merge, Vector, WriteIntent, WriteKind
from graphiti_pkm.storage.graph.sqlite.store import SqliteGraph
from graphiti_pkm.storage.graph.store import GraphStore
from graphiti_pkm.storage.journal.connection import MEMORY, JournalFile
from graphiti_pkm.storage.journal.store import SqliteJournal
from graphiti_pkm.storage.usage import USAGE, UsageQueue

ALONG: Vector = array("f", [1.0, 0.0])
"""The vector of every entity here."""


def query(cosine: float) -> Vector:
    """One with this cosine to each entity."""
    return array("f", [2 * cosine, 2 * math.sqrt(1 - cosine * cosine)])


@dataclass
class Memory:
    """A journal and a graph as one server has them."""

    graph: FakeGraph | SqliteGraph | GraphStore
    journal: FakeJournal | SqliteJournal
    queue: UsageQueue

    def beside(self) -> UsageQueue:
        """Another process on the same journal."""
        return UsageQueue(self.journal.usage, self.graph.part(USAGE), "here")

    def elsewhere(self) -> UsageQueue:
        """A host with a journal of its own; the embedded file has none but its own."""
        counts = self.journal.usage if isinstance(self.graph, SqliteGraph) else FakeUsageCounts()
        return UsageQueue(counts, self.graph.part(USAGE), "there")

    async def write(self, intent: WriteIntent) -> None:
        vectors = {one.uuid: ALONG for one in intent.entities if one.name != "Unembedded"}
        effect = self.graph.writer.effect(intent, vectors)
        await self.journal.append(intent, vectors, "", {}, effect)
        if effect is None:
            await self.graph.writer.apply(intent, vectors)

    async def fitness(self, *uuids: str, groups: tuple[str, ...] = (GROUP,)) -> dict[str, Fitness]:
        return dict(await self.queue.fitness(uuids, groups))


@pytest.fixture
async def journals() -> AsyncIterator[list[SqliteJournal]]:
    """Closed in the end."""
    opened: list[SqliteJournal] = []
    yield opened
    for journal in opened:
        await journal.close()


@pytest.fixture(params=["fake", "sqlite", "neo4j"])
def memory(request: pytest.FixtureRequest, tmp_path: Path, journals: list[SqliteJournal]) -> Memory:
    graph: FakeGraph | SqliteGraph | GraphStore
    journal: FakeJournal | SqliteJournal
    if request.param == "fake":
        graph, journal = FakeGraph(), FakeJournal()
    else:
        graph = request.getfixturevalue(f"{request.param}_graph")
        is_one = request.param == "sqlite"
        file = JournalFile(tmp_path / "data", name=MEMORY) if is_one else None
        journal = SqliteJournal(tmp_path / "data", file=file)
        journals.append(journal)
    return Memory(graph, journal, UsageQueue(journal.usage, graph.part(USAGE), "here"))


def near(one: Fitness, **values: float) -> bool:
    return all(math.isclose(getattr(one, name), value, abs_tol=1e-6) for name, value in values.items())


async def test_searches_add_up_to_a_count_and_a_sum_of_raw_cosines_once_they_are_written(memory: Memory) -> None:
    tom = an_entity("Tom")
    await memory.write(a_write(tom))
    for cosine in (0.5, 0.7, 0.9):
        memory.queue.searched(query(cosine), [(tom.uuid, GROUP)])
    assert await memory.fitness(tom.uuid) == {}
    await memory.queue.flush()
    found = await memory.fitness(tom.uuid, tom.uuid)
    assert near(found[tom.uuid], hits=3, relevance=2.1, score=0.7, final_score=0.7)
    await memory.queue.flush()
    assert await memory.fitness(tom.uuid) == found
    assert await memory.fitness(tom.uuid, groups=(OTHER_GROUP,)) == {}
    assert await memory.fitness() == {}


async def test_a_match_below_zero_counts_as_none_and_what_has_no_vector_is_not_counted(memory: Memory) -> None:
    tom, without = an_entity("Tom"), an_entity("Unembedded")
    await memory.write(a_write(tom, without))
    memory.queue.searched(query(-0.4), [(tom.uuid, GROUP), (without.uuid, GROUP)])
    memory.queue.searched(array("f", [1.0, 0.0, 0.0]), [(tom.uuid, GROUP)])
    await memory.queue.flush()
    found = await memory.fitness(tom.uuid, without.uuid)
    assert found.keys() == {tom.uuid}
    assert near(found[tom.uuid], hits=1, relevance=0.0, score=0.0)


async def test_two_processes_and_two_hosts_add_and_neither_overwrites(memory: Memory) -> None:
    tom = an_entity("Tom")
    await memory.write(a_write(tom))
    first, second, third = memory.queue, memory.beside(), memory.elsewhere()
    for queue, cosine in ((first, 0.5), (third, 0.5), (second, 0.25), (first, 1.0), (third, 0.0), (second, 0.25)):
        queue.searched(query(cosine), [(tom.uuid, GROUP)])
        await queue.flush()
    assert near((await memory.fitness(tom.uuid))[tom.uuid], hits=6, relevance=2.5)


async def test_totals_that_arrive_late_or_twice_take_nothing_back(memory: Memory) -> None:
    tom = an_entity("Tom")
    await memory.write(a_write(tom))
    for cosine in (0.5, 0.25):
        memory.queue.searched(query(cosine), [(tom.uuid, GROUP)])
    await memory.queue.flush()
    known = await memory.fitness(tom.uuid)
    late = Usage(uuid=tom.uuid, group_id=GROUP, hits=1, relevance=0.5)
    nobody = Usage(uuid=new_uuid(), group_id=GROUP, hits=1)
    of_others = late._replace(group_id=OTHER_GROUP, hits=9)
    part = memory.graph.part(USAGE)
    assert await part.send([late, nobody], "here") == {tom.uuid}
    assert await part.send([of_others], "here") == set()
    assert await memory.fitness(tom.uuid) == known


async def test_facts_are_counted_when_returned_and_when_useful(memory: Memory) -> None:
    tom, eve = an_entity("Tom"), an_entity("Eve")
    fact = a_fact(tom, eve)
    await memory.write(a_write(tom, eve, fact))
    assert await memory.queue.mark_useful(fact.uuid, GROUP) == Fitness(useful=1)
    for _ in range(3):
        memory.queue.traversed([(fact.uuid, GROUP)])
    told = await memory.queue.mark_useful(fact.uuid, GROUP)
    assert (told.hits, told.useful) == (3, 2)
    await memory.queue.flush()
    assert await memory.fitness(fact.uuid) == {fact.uuid: Fitness(hits=3, useful=2)}
    assert near(told, of_fact=2 / 3)


async def test_a_bias_is_added_and_has_no_need_of_counters(memory: Memory) -> None:
    tom, eve = an_entity("Tom"), an_entity("Eve")
    await memory.write(a_write(tom, eve, a_quality(tom, bias=-0.3), a_quality(eve, confidence=0.5)))
    assert await memory.fitness(tom.uuid, eve.uuid) == {tom.uuid: Fitness(bias=-0.3)}
    memory.queue.searched(query(0.7), [(tom.uuid, GROUP)])
    await memory.queue.flush()
    assert near((await memory.fitness(tom.uuid))[tom.uuid], score=0.7, bias=-0.3, final_score=0.4)
    assert await memory.fitness(tom.uuid, groups=(OTHER_GROUP,)) == {}


@pytest.mark.parametrize("way", ["deleted", "forgotten", "cleared"])
async def test_counters_go_with_their_record_and_what_comes_too_late_is_dropped(memory: Memory, way: str) -> None:
    tom, eve, other = an_entity("Tom"), an_entity("Eve"), an_entity("Other", group_id=OTHER_GROUP)
    fact = a_fact(tom, eve)
    await memory.write(a_write(tom, eve, fact))
    await memory.write(a_write(other, group_id=OTHER_GROUP))
    returned = [(tom.uuid, GROUP), (other.uuid, OTHER_GROUP)]
    memory.queue.searched(query(0.5), returned)
    memory.queue.traversed([(fact.uuid, GROUP)])
    await memory.queue.flush()
    memory.queue.searched(query(0.5), returned)
    memory.queue.traversed([(fact.uuid, GROUP)])
    match way:
        case "deleted":
            gone = an_intent(deletions=Deletions(entities=(tom.uuid,), facts=(fact.uuid,)))
        case "forgotten":
            gone = an_intent(deletions=Deletions(entities=(tom.uuid,)), forgets=Forgetting(facts=(fact.uuid,)))
        case _:
            gone = an_intent(deletions=Deletions(groups=(GROUP,)), forgets=Forgetting())
    await memory.write(gone)
    both = (GROUP, OTHER_GROUP)
    assert (await memory.fitness(tom.uuid, fact.uuid, other.uuid, groups=both)).keys() == {other.uuid}
    await memory.queue.flush()
    left = await memory.fitness(tom.uuid, fact.uuid, other.uuid, groups=both)
    assert left.keys() == {other.uuid}
    assert near(left[other.uuid], hits=2, relevance=1.0)
    await memory.journal.rebuild_cleared()
    assert {one.uuid for one in await memory.journal.usage.unsent(9)} <= {other.uuid}


async def test_a_merge_adds_the_counters_of_both_and_its_undoing_parts_them_again(memory: Memory) -> None:
    kept, removed, earlier = an_entity("Postgres"), an_entity("Postgre SQL"), an_entity("PG")
    told, undone = a_write(kept, removed, earlier), new_uuid()
    first, second = (
        Merge(uuid=uuid, place=0, kept_uuid=into.uuid, removed_uuid=gone.uuid, is_last=True, former=former)
        for uuid, into, gone, former in (
            (new_uuid(), removed, earlier, ()),
            (undone, kept, removed, (earlier.uuid,)),
        )
    )
    await memory.write(told)
    for one, cosine in ((kept, 0.5), (removed, 1.0), (earlier, 0.25)):
        memory.queue.searched(query(cosine), [(one.uuid, GROUP)])
    await memory.queue.flush()
    merged = [an_intent(kind=WriteKind.MERGE, merge=first), an_intent(kind=WriteKind.MERGE, merge=second)]
    for write in merged:
        await memory.write(write)
    assert near((await memory.fitness(kept.uuid))[kept.uuid], hits=3, relevance=1.75)
    await memory.graph.clear()
    await memory.journal.rebuild_cleared()
    for write in (told, *merged):
        await memory.graph.writer.apply(write, {one.uuid: ALONG for one in write.entities})
    await memory.queue.flush()
    assert near((await memory.fitness(kept.uuid))[kept.uuid], hits=3, relevance=1.75)
    memory.queue.searched(query(0.0), [(kept.uuid, GROUP)])
    await memory.queue.flush()
    back = second.model_copy(update={"undoes": True})
    await memory.write(an_intent(kind=WriteKind.UNMERGE, entities=(removed,), merge=back))
    found = await memory.fitness(kept.uuid, removed.uuid)
    assert near(found[kept.uuid], hits=2, relevance=0.5)
    assert near(found[removed.uuid], hits=2, relevance=1.25)


async def test_a_graph_that_is_built_anew_has_the_same_counters_afterwards(memory: Memory) -> None:
    tom, eve = an_entity("Tom"), an_entity("Eve")
    fact, bias = a_fact(tom, eve), a_quality(tom, bias=0.25)
    written = a_write(tom, eve, fact, bias)
    await memory.write(written)
    memory.queue.searched(query(0.5), [(tom.uuid, GROUP), (eve.uuid, GROUP)])
    memory.queue.traversed([(fact.uuid, GROUP)])
    await memory.queue.mark_useful(fact.uuid, GROUP)
    await memory.queue.flush()
    before = await memory.fitness(tom.uuid, eve.uuid, fact.uuid)
    assert len(before) == 3
    await memory.journal.begin_rebuild("rebuild")
    await memory.graph.clear()
    await memory.journal.rebuild_cleared()
    memory.queue.searched(query(1.0), [(tom.uuid, GROUP)])
    await memory.queue.flush()  # while the graph lacks records
    await memory.graph.writer.apply(written, {one.uuid: ALONG for one in written.entities})
    await memory.journal.end_rebuild()
    await memory.queue.flush()
    assert await memory.fitness(tom.uuid, eve.uuid, fact.uuid) == before


# The document's own Cypher: its batched flush of what was queued, and its boost of the hits of a search.
THEIR_FLUSH = """UNWIND $updates AS update MATCH (c:Concept {concept_id: update.concept_id})
SET c.query_count = coalesce(c.query_count, 0) + update.count,
  c.relevance_sum = coalesce(c.relevance_sum, 0.0) + update.relevance
SET c.fitness_score = c.relevance_sum / c.query_count
SET c.final_score = c.fitness_score + coalesce(c.manual_bias, 0.0)"""
THEIR_BOOST = """UNWIND $hits AS hit MATCH (c:Concept {concept_id: hit.uuid})
RETURN hit.case AS case, hit.uuid AS uuid, hit.score * (1 + coalesce(c.final_score, 0)) AS boosted, hit.score AS score
ORDER BY case, boosted DESC, score DESC, uuid"""
CASES, CONCEPTS = 60, 8


async def test_formula_and_order_are_those_of_the_documents_cypher_over_the_same_hits(
    memory: Memory, neo4j_server: Neo4jAddress
) -> None:
    """Of random hits, biases and scores; the document's order is another only where it would turn the scores round."""
    rng = random.Random(29)  # noqa: S311 a seed
    cases = [[an_entity(f"{case} {place}") for place in range(CONCEPTS)] for case in range(CASES)]
    entities = [one for case in cases for one in case]
    biases = {one.uuid: round(rng.uniform(-1, 1), 3) for one in entities if rng.random() < 0.5}
    flushes = [[(one.uuid, rng.random()) for one in entities if rng.random() < 0.4] for _ in range(4)]
    scores = {one.uuid: rng.random() for one in entities}
    said = [a_quality(one, bias=biases[one.uuid]) for one in entities if one.uuid in biases]
    await memory.write(a_write(*entities, *said))
    for queued in flushes:
        for uuid, cosine in queued:
            memory.queue.searched(query(cosine), [(uuid, GROUP)])
        await memory.queue.flush()
    with GraphDatabase.driver(neo4j_server.uri, auth=(neo4j_server.username, neo4j_server.password)) as driver:
        driver.execute_query("MATCH (c:Concept) DELETE c")
        driver.execute_query(
            "UNWIND $rows AS row CREATE (c:Concept {concept_id: row.uuid, manual_bias: row.bias})",
            rows=[{"uuid": one.uuid, "bias": biases.get(one.uuid)} for one in entities],
        )
        for queued in flushes:
            updates = [{"concept_id": uuid, "count": 1, "relevance": cosine} for uuid, cosine in queued]
            driver.execute_query(THEIR_FLUSH, updates=updates)
        hits = [
            {"case": place, "uuid": one.uuid, "score": scores[one.uuid]}
            for place, case in enumerate(cases)
            for one in case
        ]
        rows = driver.execute_query(THEIR_BOOST, hits=hits).records
        theirs = {
            row["uuid"]: row["final"]
            for row in driver.execute_query(
                "MATCH (c:Concept) RETURN c.concept_id AS uuid, c.final_score AS final"
            ).records
        }
        driver.execute_query("MATCH (c:Concept) DELETE c")
    ours = await memory.fitness(*(one.uuid for one in entities))
    counted = {uuid for uuid, final in theirs.items() if final is not None}
    assert {uuid for uuid, one in ours.items() if one.hits} == counted
    assert len(counted) > len(entities) / 2
    for uuid in counted:
        assert ours[uuid].final_score == pytest.approx(theirs[uuid], abs=1e-5)
    same = 0
    for place, case in enumerate(cases):
        factors = {one.uuid: 1 + ours.get(one.uuid, Fitness()).final_score for one in case}
        boosted = {one.uuid: ours.get(one.uuid, Fitness()).boosted(scores[one.uuid]) for one in case}
        in_order = sorted(boosted, key=lambda uuid: (-boosted[uuid], -scores[uuid], uuid))
        # Their query ignores the bias of what was never found, and a factor near 0 or below turns the order round:
        # both are corrected here, and left out of the comparison.
        plain = [uuid for uuid in in_order if factors[uuid] > 0.05 and (uuid in counted or uuid not in biases)]
        documents = [row for row in rows if row["case"] == place and row["uuid"] in plain]
        assert plain == [row["uuid"] for row in documents]
        for row in documents:
            assert boosted[row["uuid"]] == pytest.approx(row["boosted"], abs=1e-5)
        same += len(plain)
    assert same > len(entities) / 2
