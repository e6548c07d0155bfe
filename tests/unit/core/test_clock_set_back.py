"""A clock that is set back hides nothing: every acknowledged note is found, in the order in which it was recorded."""

from datetime import timedelta
from typing import Any

import pytest
from tests.worlds.reading_world import World, all_pages

from graphiti_pkm.capabilities.explore.requests import GetEntityConnections, GetEntityTimeline, GetEpisodes
from graphiti_pkm.capabilities.history.requests import RestoreFact, RetireFact, WhatChanged
from graphiti_pkm.capabilities.remember.service import Writing
from graphiti_pkm.capabilities.search.requests import SearchEpisodes, SearchMemoryFacts, SearchNodes
from graphiti_pkm.capabilities.status.requests import GetStatus
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.core.model.requests import AddMemory
from graphiti_pkm.storage.commit import Committer

BACK = timedelta(days=400)
BEGAN = "2020-01-01"


class Story(World):
    """Notes about one person, told while the clock moves."""

    def __init__(self, **settings: object) -> None:
        super().__init__(**settings)
        self.writing = Writing(self.retiring._context, self.groups, Committer(self.retiring._context))
        self.told: list[str] = []

    async def tell(self, body: str, *facts: dict[str, Any]) -> str:
        request = AddMemory.model_validate({"episode_body": body, "entities": [{"name": "Wilma"}], "facts": facts})
        answer = await self.writing.add_memory(LOCAL, request)
        self.told.append(answer.episode_uuid)
        return answer.episode_uuid

    async def wilma(self) -> str:
        (found,) = (await self.searching.search_nodes(LOCAL, SearchNodes(names=["Wilma"]))).nodes
        return found.uuid


def hired(number: int) -> dict[str, Any]:
    return {"source": "Wilma", "relation": "KNOWS", "target": f"Colleague {number}"}


@pytest.fixture
async def story() -> Story:
    """Three notes, and then the clock is set back by more than a year."""
    story = Story()
    for number in range(3):
        await story.tell(f"Wilma met Colleague {number}.", hired(number))
        story.clock.advance(60)
    story.clock.advance(-BACK.total_seconds())
    return story


async def test_every_list_and_search_has_what_was_recorded_before(story: Story) -> None:
    everything = set(story.told)
    uuid = await story.wilma()
    assert {one.uuid for one in (await story.exploring.get_episodes(LOCAL, GetEpisodes())).episodes} == everything
    found = await story.episode_search.search_episodes(LOCAL, SearchEpisodes(query="Wilma met Colleague"))
    assert {one.uuid for one in found.episodes} == everything
    assert {
        one.uuid
        for one in (await story.exploring.get_entity_timeline(LOCAL, GetEntityTimeline(entity_uuid=uuid))).episodes
    } == everything
    assert (await story.exploring.get_entity_connections(LOCAL, GetEntityConnections(entity_uuid=uuid))).total == 3
    assert len((await story.searching.search_memory_facts(LOCAL, SearchMemoryFacts(query="Wilma knows"))).facts) == 3
    assert (
        await story.searching.search_memory_facts(LOCAL, SearchMemoryFacts(entity_uuid=uuid, status="current"))
    ).total == 3
    colleagues = await story.searching.search_nodes(LOCAL, SearchNodes(query="Colleague"))
    assert len(colleagues.nodes) + (colleagues.weaker or 0) == 4
    assert (await story.searching.search_nodes(LOCAL, SearchNodes(entity_types=["Entity"]))).total == 4
    assert (await story.changes.what_changed(LOCAL, WhatChanged(since=BEGAN))).total == 3
    node = (await story.searching.search_nodes(LOCAL, SearchNodes(names=["Wilma"]))).nodes[0]
    assert len(node.facts or ()) == 3


async def test_later_pages_have_it_too(story: Story) -> None:
    for number in range(3, 6):
        await story.tell(f"Wilma met Colleague {number}.", hired(number))
    uuid = await story.wilma()
    listed = await all_pages(
        lambda cursor: story.exploring.get_episodes(LOCAL, GetEpisodes(max_episodes=2, cursor=cursor))
    )
    assert {one.uuid for page in listed for one in page.episodes} == set(story.told)
    assert {page.total for page in listed} == {6}
    window = await all_pages(
        lambda cursor: story.exploring.get_entity_timeline(
            LOCAL, GetEntityTimeline(entity_uuid=uuid, max_episodes=2, cursor=cursor)
        )
    )
    assert {one.uuid for page in window for one in page.episodes} == set(story.told)
    facts = await all_pages(
        lambda cursor: story.exploring.get_entity_connections(
            LOCAL, GetEntityConnections(entity_uuid=uuid, max_connections=2, cursor=cursor)
        )
    )
    assert len({fact.uuid for page in facts for fact in page.facts}) == 6
    changes = await all_pages(
        lambda cursor: story.changes.what_changed(LOCAL, WhatChanged(since=BEGAN, limit=2, cursor=cursor))
    )
    assert len({change.fact_uuid for page in changes for change in page.changes}) == 6


async def test_what_is_written_between_two_pages_stays_out_of_them(story: Story) -> None:
    async def another() -> None:
        await story.tell("Wilma met nobody.")

    before = set(story.told)
    listed = await all_pages(
        lambda cursor: story.exploring.get_episodes(LOCAL, GetEpisodes(max_episodes=1, cursor=cursor)), another
    )
    assert {one.uuid for page in listed for one in page.episodes} == before


async def test_what_is_recorded_afterwards_comes_after_it(story: Story) -> None:
    await story.tell("Wilma met Colleague 3.", hired(3))
    tables = story.graph.tables
    recorded = [tables.episodes[uuid].created_at for uuid in story.told]
    assert recorded == sorted(set(recorded))
    facts = sorted(tables.facts.values(), key=lambda fact: fact.created_at)
    assert [tables.entities[fact.target_uuid].name for fact in facts] == [f"Colleague {n}" for n in range(4)]
    newest = (await story.changes.what_changed(LOCAL, WhatChanged(since=BEGAN))).changes[0]
    assert newest.episode_uuid == story.told[-1]
    # What happened is dated by the clock all the same, only the record goes on where it stood.
    assert tables.episodes[story.told[-1]].valid_at == story.clock()


async def test_a_fact_that_was_retired_stays_retired(story: Story) -> None:
    uuid = await story.wilma()
    known = (await story.exploring.get_entity_connections(LOCAL, GetEntityConnections(entity_uuid=uuid))).facts
    story.clock.advance(BACK.total_seconds())
    await story.retiring.retire_fact(LOCAL, RetireFact(fact_uuid=known[0].uuid, reason="left"))
    story.clock.advance(-BACK.total_seconds())
    current = await story.exploring.get_entity_connections(
        LOCAL, GetEntityConnections(entity_uuid=uuid, include_invalidated=False)
    )
    assert {fact.uuid for fact in current.facts} == {fact.uuid for fact in known[1:]}
    (shown,) = [
        f
        for f in (await story.exploring.get_entity_connections(LOCAL, GetEntityConnections(entity_uuid=uuid))).facts
        if f.uuid == known[0].uuid
    ]
    assert shown.status == "ended"


async def test_a_fact_can_be_retired_and_restored(story: Story) -> None:
    uuid = await story.wilma()
    fact = (await story.exploring.get_entity_connections(LOCAL, GetEntityConnections(entity_uuid=uuid))).facts[0]
    assert (await story.retiring.retire_fact(LOCAL, RetireFact(fact_uuid=fact.uuid, reason="left"))).changed
    assert story.graph.tables.facts[fact.uuid].expired_at is not None or story.graph.tables.facts[fact.uuid].invalid_at
    assert (await story.retiring.restore_fact(LOCAL, RestoreFact(fact_uuid=fact.uuid, reason="came back"))).changed
    kept = story.graph.tables.facts[fact.uuid]
    assert kept.expired_at is None
    recorded = [change.recorded_at for change in story.graph.tables.changes.values()]
    assert min(recorded) > max(one.created_at for one in story.graph.tables.facts.values())
    assert recorded == sorted(set(recorded))


async def test_a_name_told_afterwards_is_linked_to_notes_from_before(story: Story) -> None:
    await story.tell("Colleague Zenobia came.", {"source": "Colleague 1", "relation": "LIKES", "target": "Wilma"})
    await story.writing.add_memory(
        LOCAL, AddMemory.model_validate({"episode_body": "More.", "entities": [{"name": "Zenobia"}]})
    )
    (zenobia,) = (await story.searching.search_nodes(LOCAL, SearchNodes(names=["Zenobia"]))).nodes
    linked = {episode for episode, entity in story.graph.tables.mentions if entity == zenobia.uuid}
    assert story.told[-1] in linked


async def test_status_says_that_the_record_is_ahead_and_by_how_much(story: Story) -> None:
    told = await story.status.get_status(LOCAL, GetStatus())
    assert told.status == "degraded"
    assert any("399 days 23 h ahead of this machine's clock" in failure for failure in told.failures), told.failures


async def test_status_says_nothing_of_a_clock_that_is_right(story: Story) -> None:
    story.clock.advance(BACK.total_seconds())
    assert not (await story.status.get_status(LOCAL, GetStatus())).failures
