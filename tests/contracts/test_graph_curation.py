"""Contracts of what librarians say of entities: what is written of it, what is read, what goes."""

from datetime import datetime, timedelta

from tests.builders import (
    GROUP,
    OTHER_GROUP,
    RECORDED,
    a_document,
    a_fact,
    a_mention,
    a_name,
    a_passage,
    a_project,
    a_quality,
    a_write,
    an_entity,
    an_episode,
    an_instance,
    an_intent,
    at,
)

from graphiti_pkm.capabilities.curation.assembly import CURATION
from graphiti_pkm.core.model.curation import FlaggedFilter, QualityCounts, QualityFilter
from graphiti_pkm.core.model.quality_checks import SIMILAR
from graphiti_pkm.core.model.queries import Window
from graphiti_pkm.core.model.records import Deletions, Entity, Forgetting, Origin, Quality
from graphiti_pkm.core.model.redaction import FORGOTTEN
from graphiti_pkm.core.ports.graph import Graph


def wanted(**fields: object) -> FlaggedFilter:
    return FlaggedFilter.model_validate({"group_ids": (GROUP,), **fields})


async def flagged_names(graph: Graph, **fields: object) -> list[str]:
    page = await graph.part(CURATION).flagged(wanted(**fields), Window(limit=9))
    assert page.total == len(page.rows)
    return [row.entity.name for row in page.rows]


async def test_all_that_is_said_of_an_entity_comes_back_and_is_replaced_as_a_whole(graph: Graph) -> None:
    sarah, tom = an_entity("Sarah"), an_entity("Tom")
    whole = a_quality(
        sarah,
        flag_reason="Perhaps twice.",
        flagged_at=RECORDED,
        flagged_by="anna",
        similar_to=(tom.uuid,),
        note="Looked at.",
        cleared_at=at(2025, 12, 1),
        cleared_by="ben",
        confidence=0.25,
        confidence_reason="Hearsay.",
        confidence_at=RECORDED + timedelta(microseconds=1),
        confidence_by="eve",
    )
    await graph.writer.apply(a_write(sarah, tom, whole), {})
    read = graph.part(CURATION).qualities
    assert await read([sarah.uuid, tom.uuid, sarah.uuid], [GROUP]) == {sarah.uuid: whole}
    assert await read([sarah.uuid], [OTHER_GROUP]) == {}
    assert await read([], [GROUP]) == {}
    less = a_quality(sarah, confidence=1.0)
    await graph.writer.apply(a_write(less), {})
    assert await read([sarah.uuid], [GROUP]) == {sarah.uuid: less}
    assert await graph.records.get_entities([sarah.uuid], [GROUP]) == [sarah]


async def test_of_an_entity_that_is_not_there_nothing_is_kept(graph: Graph) -> None:
    nobody = an_entity("Nobody")
    await graph.writer.apply(a_write(a_quality(nobody, flag_reason="Gone.", flagged_at=RECORDED)), {})
    assert await graph.part(CURATION).qualities([nobody.uuid], [GROUP]) == {}
    assert await flagged_names(graph) == []


async def test_flagged_ones_come_in_pages_the_last_flagged_first_and_only_those_of_the_groups(graph: Graph) -> None:
    entities = [an_entity(f"E{place}") for place in range(5)]
    foreign, calm = an_entity("Foreign", group_id=OTHER_GROUP), an_entity("Calm")
    flags = [
        a_quality(one, flag_reason="Why.", flagged_at=RECORDED + timedelta(hours=place // 2))
        for place, one in enumerate(entities)
    ]
    others = (a_quality(foreign, flag_reason="Why.", flagged_at=RECORDED), a_quality(calm, confidence=0.1))
    await graph.writer.apply(a_write(*entities, foreign, calm, *flags, *others), {})
    expected = sorted(flags, key=lambda one: one.uuid)
    expected.sort(key=lambda one: one.flagged_at or RECORDED, reverse=True)
    seen, after = [], None
    for _ in range(5):
        page = await graph.part(CURATION).flagged(wanted(), Window(limit=1, after=after))
        assert page.total == 5
        seen += [row.quality for row in page.rows]
        assert [row.entity.uuid for row in page.rows] == [seen[-1].uuid]
        after = page.keys[-1]
    assert seen == expected
    assert (await graph.part(CURATION).flagged(wanted(), Window(limit=1, after=after))).rows == ()
    assert await flagged_names(graph, group_ids=(OTHER_GROUP,)) == ["Foreign"]
    assert len(await flagged_names(graph, group_ids=(GROUP, OTHER_GROUP))) == 6
    assert sorted(await flagged_names(graph, recorded_until=RECORDED)) == ["E0", "E1"]


async def test_of_likely_duplicates_the_list_has_each_pair_once_at_the_last_flagged_of_both(graph: Graph) -> None:
    first, second, third, odd, late = (an_entity(name) for name in ("First", "Second", "Third", "Odd", "Late"))
    gone, hour = an_entity("Gone"), timedelta(hours=1)

    def alike(one: Entity, time: datetime, *others: Entity, reason: str = SIMILAR) -> Quality:
        return a_quality(one, flag_reason=reason, flagged_at=time, similar_to=tuple(other.uuid for other in others))

    flags = [
        alike(first, RECORDED, second, third),
        alike(second, RECORDED + hour, first, gone),
        alike(third, RECORDED + 2 * hour, first),
        alike(odd, RECORDED, late, reason="Which of both?"),
        alike(late, RECORDED + 3 * hour, odd),
    ]
    await graph.writer.apply(a_write(first, second, third, odd, late, *flags), {})
    assert await flagged_names(graph) == ["Late", "Third", "Second", "Odd"]
    by_uuid = [one.name for one in sorted((first, odd), key=lambda one: one.uuid)]
    assert await flagged_names(graph, recorded_until=RECORDED + hour) == ["Second", *by_uuid]
    page = await graph.part(CURATION).flagged(wanted(), Window(limit=2))
    rest = await graph.part(CURATION).flagged(wanted(), Window(limit=2, after=page.keys[-1]))
    assert [row.entity.name for row in (*page.rows, *rest.rows)] == ["Late", "Third", "Second", "Odd"]
    assert (page.total, rest.total) == (4, 4)
    await graph.writer.apply(a_write(a_quality(third, note="Another one.", cleared_at=RECORDED)), {})
    assert await flagged_names(graph) == ["Late", "Second", *by_uuid]


async def test_a_report_counts_entities_flags_confidence_and_who_made_what_is_doubtful(graph: Graph) -> None:
    counted = graph.part(CURATION).quality_counts
    times = [RECORDED + timedelta(seconds=second) for second in range(4)]
    low = 0.49
    made = {"agent_a": 3, "agent_b": 1, "human": 5}
    for time, (creator, count) in zip(times, made.items(), strict=False):
        entities = [an_entity(f"{creator} {place}", created_at=time) for place in range(count)]
        said = [a_quality(one, confidence=low) for one in entities]
        await graph.writer.apply(a_write(*entities, *said, recorded_at=time, origin=Origin(created_by=creator)), {})
    sure, tom, note = an_entity("Sure", created_at=times[3]), an_entity("Tom"), an_episode()
    await graph.writer.apply(
        a_write(sure, tom, note, a_mention(note, tom), a_fact(tom, tom), a_quality(sure, confidence=0.5)), {}
    )
    flag = a_quality(tom, flag_reason="Why.", flagged_at=RECORDED)
    foreign = an_entity("Foreign", group_id=OTHER_GROUP)
    await graph.writer.apply(a_write(flag), {})
    await graph.writer.apply(a_write(foreign, a_quality(foreign, confidence=0.0)), {})
    wanted = QualityFilter(group_ids=(GROUP,), below=0.5, limit=2)
    found = await counted(wanted)
    assert (found.entities, found.flagged, found.rated, found.low, found.orphans) == (11, 1, 10, 9, 10)
    assert (found.creators, found.creators_total) == ((("human", 5), ("agent_a", 3)), 3)
    agents = await counted(wanted.model_copy(update={"creator_prefix": "agent_"}))
    assert (agents.creators, agents.creators_total) == ((("agent_a", 3), ("agent_b", 1)), 2)
    assert (await counted(wanted.model_copy(update={"creator_prefix": "AGENT_"}))).creators == ()
    nothing = await counted(wanted.model_copy(update={"group_ids": ("nowhere",)}))
    assert nothing == QualityCounts(entities=0, flagged=0, rated=0, low=0, orphans=0, creators=(), creators_total=0)


async def test_it_goes_with_its_entity_and_with_its_group(graph: Graph) -> None:
    sarah, tom = an_entity("Sarah"), an_entity("Tom")
    flags = (a_quality(one, flag_reason="Why.", flagged_at=RECORDED) for one in (sarah, tom))
    await graph.writer.apply(a_write(sarah, tom, *flags), {})
    await graph.writer.apply(an_intent(deletions=Deletions(entities=(sarah.uuid,))), {})
    assert await flagged_names(graph) == ["Tom"]
    await graph.writer.apply(a_write(sarah), {})
    assert await graph.part(CURATION).qualities([sarah.uuid], [GROUP]) == {}
    await graph.writer.apply(an_intent(deletions=Deletions(groups=(GROUP,))), {})
    assert await graph.part(CURATION).qualities([tom.uuid], [GROUP]) == {}


async def test_a_forgotten_word_leaves_the_numbers_and_times(graph: Graph) -> None:
    sarah, tom = an_entity("Sarah"), an_entity("Tom")
    said = a_quality(sarah, flag_reason="Is Zéphyrin.", flagged_at=RECORDED, confidence=0.5, confidence_reason="He.")
    other = a_quality(tom, flag_reason="Why.", flagged_at=RECORDED)
    await graph.writer.apply(a_write(sarah, tom, said, other), {})
    await graph.writer.apply(an_intent(forgets=Forgetting(qualities=(sarah.uuid,))), {})
    found = await graph.part(CURATION).qualities([sarah.uuid, tom.uuid], [GROUP])
    left = said.model_copy(update={"flag_reason": FORGOTTEN, "confidence_reason": FORGOTTEN})
    assert found == {sarah.uuid: left, tom.uuid: other}


async def all_of(graph: Graph, what: str, *arguments: object) -> list[str]:
    """Uuids, page by page."""
    seen, after = list[str](), None
    for _ in range(9):
        page = await getattr(graph.part(CURATION), what)(*arguments, Window(limit=2, after=after))
        assert len(page) <= 2
        seen += [one.uuid for one in page]
        if len(page) < 2:
            break
        after = (seen[-1],)
    return seen


async def test_orphans_are_what_nothing_mentions_or_names_but_for_projects_and_what_has_no_name_of_its_own(
    graph: Graph,
) -> None:
    lone = [an_entity(f"Lone {place}") for place in range(5)]
    source, target, mentioned, project, me = (an_entity(name) for name in ("From", "To", "Told", "Plan", "me"))
    quoted, foreign = an_entity("Quoted"), an_entity("Foreign", group_id=OTHER_GROUP)
    note = an_episode()
    document, sections = a_document(note)
    passage = a_passage(note)
    await graph.writer.apply(
        a_write(
            *(*lone, source, target, mentioned, project, me, quoted, foreign, note),
            a_fact(source, target),
            a_mention(note, mentioned),
            a_name(me, is_linkable=False),
            a_name(lone[0]),
            *(a_project(project), passage, document, *sections, an_instance(quoted, document, passage)),
        ),
        {},
    )
    assert await all_of(graph, "orphans", GROUP) == sorted(one.uuid for one in lone)
    assert await all_of(graph, "orphans", OTHER_GROUP) == [foreign.uuid]
    asked = [lone[0].uuid, foreign.uuid, mentioned.uuid]
    among = await graph.part(CURATION).orphans(GROUP, Window(limit=9), asked)
    assert [one.uuid for one in among] == [lone[0].uuid]
    assert await graph.part(CURATION).orphans(GROUP, Window(limit=9), []) == []
    counts = await graph.part(CURATION).quality_counts(QualityFilter(group_ids=(GROUP,), below=0.5, limit=1))
    assert counts.orphans == len(lone)


async def test_what_is_rated_below_and_what_is_new_come_in_pages_by_uuid(graph: Graph) -> None:
    times = [RECORDED + timedelta(hours=place) for place in range(6)]
    entities = [an_entity(f"E{place}", created_at=time) for place, time in enumerate(times)]
    foreign = an_entity("Foreign", group_id=OTHER_GROUP, created_at=times[5])
    said = [a_quality(one, confidence=place / 10) for place, one in enumerate(entities)]
    await graph.writer.apply(a_write(*entities, foreign, *said, a_quality(foreign, confidence=0.0)), {})
    assert await all_of(graph, "rated_below", GROUP, 0.4) == sorted(one.uuid for one in entities[:4])
    assert await all_of(graph, "made_since", GROUP, times[1]) == sorted(one.uuid for one in entities[1:])
    assert await all_of(graph, "made_since", OTHER_GROUP, times[1]) == [foreign.uuid]


async def test_what_checks_keep_with_an_entity_comes_back(graph: Graph) -> None:
    sarah, tom = an_entity("Sarah"), an_entity("Tom")
    kept = a_quality(sarah, checks=("orphans", "duplicates"), found_with=(tom.uuid,), approved_at=RECORDED)
    await graph.writer.apply(a_write(sarah, tom, kept), {})
    assert await graph.part(CURATION).qualities([sarah.uuid], [GROUP]) == {sarah.uuid: kept}
