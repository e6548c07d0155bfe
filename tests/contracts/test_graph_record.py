"""The time of a group's newest write, and facts that were recorded or ended ahead of the clock."""

from datetime import timedelta

from tests.builders import a_fact, a_write, an_entity, an_episode, at

from graphiti_pkm.core.model.queries import FactFilter, Window
from graphiti_pkm.core.ports.graph import Graph

NOW, AHEAD = at(2026), at(2027)


async def test_the_newest_record_is_that_of_the_latest_time_not_of_the_last_write(graph: Graph) -> None:
    assert await graph.facts.newest_record(["t1"]) is None
    exact = AHEAD + timedelta(microseconds=1)
    await graph.writer.apply(a_write(an_episode(), recorded_at=exact), {})
    await graph.writer.apply(a_write(an_episode(), recorded_at=NOW), {})
    assert await graph.facts.newest_record(["t1"]) == exact
    assert await graph.facts.newest_record(["t2"]) is None
    assert await graph.facts.newest_record(["t2", "t1"]) == exact


async def test_facts_recorded_or_ended_ahead_of_the_clock_count_until_a_limit_is_given(graph: Graph) -> None:
    one, other = an_entity("One"), an_entity("Other")
    early, late = a_fact(one, other, "EARLY", created_at=NOW), a_fact(one, other, "LATE", created_at=AHEAD)
    ended = a_fact(one, other, "ENDED", created_at=NOW, expired_at=AHEAD, invalid_at=NOW)
    wrong = a_fact(one, other, "WRONG", created_at=NOW, expired_at=AHEAD, voided=True)
    await graph.writer.apply(a_write(one, other, early, late, ended, wrong), {})

    async def found(**fields: object) -> set[str]:
        wanted = FactFilter.model_validate({"group_ids": ("t1",), "now": NOW, **fields})
        page = await graph.facts.connections(one.uuid, wanted, Window(limit=10))
        assert page.total == len(page.facts)
        return {fact.relation for fact in page.facts}

    assert await found() == {"EARLY", "LATE", "ENDED", "WRONG"}
    assert await found(only_current=True) == {"EARLY", "LATE"}
    assert await found(status="ended") == {"ENDED"}
    assert await found(recorded_until=NOW) == {"EARLY", "ENDED", "WRONG"}
    assert await found(recorded_until=NOW, only_current=True) == {"EARLY", "ENDED", "WRONG"}
    newest = await graph.facts.newest_facts([one.uuid], ["t1"], NOW, 10)
    assert {fact.relation for fact in newest[one.uuid]} == {"EARLY", "LATE"}
