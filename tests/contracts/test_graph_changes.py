"""Contract of ``Graph``: which facts an episode or a fact ended or voided."""

from tests.builders import a_change, a_fact, a_write, an_entity, an_episode, at

from graphiti_pkm.domain.ports import Graph


async def test_facts_that_an_episode_ended_or_voided_come_newest_recorded_first(graph: Graph) -> None:
    sarah, tom, note, other = an_entity("Sarah"), an_entity("Tom"), an_episode(), an_episode()
    ended = a_fact(sarah, tom, "MANAGES", created_at=at(2025, 1), expired_at=at(2026))
    voided = a_fact(sarah, tom, "MET", created_at=at(2025, 2), voided=True)
    elsewhere = a_fact(sarah, tom, "LIKES", created_at=at(2025, 3))
    changes = [
        a_change(ended, note),
        a_change(ended, note),
        a_change(voided, note, kind="voided", replaced_by=ended.uuid),
        a_change(elsewhere, other),
    ]
    await graph.apply(a_write(sarah, tom, note, other, ended, voided, elsewhere, *changes), {})
    assert await graph.retired_by_episode(note.uuid, ["t1"], 10) == [voided, ended]
    assert await graph.retired_by_episode(note.uuid, ["t1"], 1) == [voided]
    assert await graph.retired_by_episode(note.uuid, ["t2"], 10) == []
    assert await graph.retired_by_episode("nothing", ["t1"], 10) == []


async def test_a_change_of_a_fact_that_is_gone_is_left_out(graph: Graph) -> None:
    sarah, note = an_entity("Sarah"), an_episode()
    await graph.apply(a_write(sarah, note, a_change(a_fact(sarah, sarah), note)), {})
    assert await graph.retired_by_episode(note.uuid, ["t1"], 10) == []


async def test_facts_that_a_fact_ended_or_voided_come_newest_recorded_first(graph: Graph) -> None:
    sarah, tom, note = an_entity("Sarah"), an_entity("Tom"), an_episode()
    new, other = a_fact(sarah, tom, "LIKES"), a_fact(sarah, tom, "HELPS")
    ended = a_fact(sarah, tom, "MANAGES", created_at=at(2025, 1), expired_at=at(2026))
    voided = a_fact(sarah, tom, "MET", created_at=at(2025, 2), voided=True)
    elsewhere = a_fact(sarah, tom, "KNOWS", created_at=at(2025, 3))
    changes = [
        a_change(ended, note, replaced_by=new.uuid),
        a_change(ended, note, replaced_by=new.uuid),
        a_change(voided, note, kind="voided", replaced_by=new.uuid),
        a_change(elsewhere, note, replaced_by=other.uuid),
        a_change(other, note),
    ]
    await graph.apply(a_write(sarah, tom, note, new, other, ended, voided, elsewhere, *changes), {})
    assert await graph.retired_by_fact(new.uuid, ["t1"], 10) == [voided, ended]
    assert await graph.retired_by_fact(new.uuid, ["t1"], 1) == [voided]
    assert await graph.retired_by_fact(new.uuid, ["t2"], 10) == []
    assert await graph.retired_by_fact("nothing", ["t1"], 10) == []
