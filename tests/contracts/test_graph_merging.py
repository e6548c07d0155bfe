"""Contracts of merges of two entities: what moves, what goes, what comes back, and what is read before and after."""

from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from tests.builders import (
    GROUP,
    OTHER_GROUP,
    RECORDED,
    a_change,
    a_document,
    a_fact,
    a_mention,
    a_name,
    a_passage,
    a_project,
    a_quality,
    a_write,
    an_entity,
    an_entry,
    an_episode,
    an_instance,
    an_intent,
    at,
    new_uuid,
)

from graphiti_pkm.capabilities.curation.assembly import CURATION, MERGING
from graphiti_pkm.core.model.merges import MergeHead, Moved
from graphiti_pkm.core.model.queries import EntityFilter, FactFilter, Window
from graphiti_pkm.core.model.records import (
    BECAUSE_OF,
    Archive,
    Deletions,
    Entity,
    EntityState,
    FactChange,
    Forgetting,
    Merge,
    WriteIntent,
    WriteKind,
)
from graphiti_pkm.core.ports.graph import Graph

LATER = RECORDED + timedelta(hours=1)


@dataclass
class Story:
    """Two entities that are one, and what hangs on each."""

    kept: Entity = field(default_factory=lambda: an_entity("Postgres"))
    removed: Entity = field(default_factory=lambda: an_entity("Postgre SQL", summary="A database."))
    other: Entity = field(default_factory=lambda: an_entity("Atlas"))

    def __post_init__(self) -> None:
        self.one, self.both = an_episode("Postgre SQL came."), an_episode("Postgres and Postgre SQL.")
        self.out = a_fact(self.removed, self.other, "HOSTED_ON", episodes=(self.one.uuid,), quote="came")
        self.into = a_fact(self.other, self.removed, "USES", valid_at=at(2025))
        self.itself = a_fact(self.removed, self.removed, "REPLICATES")
        self.pair = a_fact(self.kept, self.removed, "FOLLOWS")
        self.same = a_fact(self.removed, self.other, "RUNS_ON")
        self.caused = a_fact(self.other, self.other, "GREW", attributes={BECAUSE_OF: self.removed.uuid})
        self.ending = a_change(self.out, self.one)
        self.project = a_project(self.removed, pins=(self.other.uuid,))
        self.entry = an_entry(self.one, self.project)
        self.mention, self.twice = a_mention(self.one, self.removed), a_mention(self.both, self.removed)
        self.quality = a_quality(self.removed, confidence=0.5, confidence_at=RECORDED)
        self.alias = a_name(self.removed, "PG SQL")
        self.facts = (self.out, self.into, self.itself, self.pair, self.same, self.caused)

    def told(self) -> WriteIntent:
        return a_write(
            *(self.one, self.both, self.kept, self.removed, self.other, self.project, self.entry, self.quality),
            *(a_name(self.kept), a_name(self.removed), self.alias, a_name(self.other), *self.facts),
            *(self.mention, self.twice, a_mention(self.both, self.kept), self.ending),
        )

    def merge(self, **fields: object) -> Merge:
        values: dict[str, object] = {
            "uuid": new_uuid(),
            "place": 0,
            "kept_uuid": self.kept.uuid,
            "removed_uuid": self.removed.uuid,
            "is_last": True,
            "moved": Moved(
                sources=(self.out.uuid, self.itself.uuid),
                targets=(self.into.uuid, self.itself.uuid),
                mentions=(self.one.uuid,),
                entries=(self.one.uuid,),
                causes=(self.caused.uuid,),
                change_sources=(self.ending.uuid,),
            ),
            "facts": (self.pair.uuid, self.same.uuid),
            "mentions": (self.both.uuid,),
            "archive": Archive(
                entities=(self.removed, self.kept),
                projects=(self.project,),
                qualities=(self.quality,),
                names=(a_name(self.removed), self.alias),
                facts=(self.pair, self.same),
                mentions=(self.twice,),
            ),
        }
        return Merge.model_validate({**values, **fields})

    def write(self, merge: Merge) -> WriteIntent:
        names = [
            name.model_copy(update={"entity_uuid": self.kept.uuid, "is_alias": True}) for name in merge.archive.names
        ]
        change = FactChange(
            uuid=merge.uuid,
            fact_uuid=self.kept.uuid,
            kind="merged",
            recorded_at=LATER,
            entity_before=EntityState(name=self.kept.name),
            entity_after=EntityState(name=self.kept.name, names=tuple(names)),
        )
        return an_intent(
            kind=WriteKind.MERGE,
            recorded_at=LATER,
            entities=(self.kept,),
            projects=(a_project(self.kept),),
            names=names,
            changes=(change,),
            merge=merge,
        )

    def undo(self, merge: Merge) -> WriteIntent:
        archive = merge.archive
        names = tuple(
            name.model_copy(update={"entity_uuid": self.kept.uuid, "is_alias": True}) for name in archive.names
        )
        change = FactChange(
            uuid=new_uuid(),
            fact_uuid=self.kept.uuid,
            kind="unmerged",
            recorded_at=LATER + timedelta(hours=1),
            entity_before=EntityState(name=self.kept.name, names=names),
            entity_after=EntityState(name=self.kept.name),
        )
        return an_intent(
            kind=WriteKind.UNMERGE,
            recorded_at=change.recorded_at,
            changes=(change,),
            merge=merge.model_copy(update={"undoes": True, "archive": Archive()}),
            **dict(archive),
        )


async def facts_of(graph: Graph, entity: Entity) -> set[tuple[str, str, str]]:
    """Relation and both ends of its facts."""
    wanted = FactFilter(group_ids=(GROUP,), now=at(2026))
    page = await graph.facts.connections(entity.uuid, wanted, Window(limit=50))
    return {(one.relation, one.source_uuid, one.target_uuid) for one in page.facts}


async def state(graph: Graph, story: Story) -> list[object]:
    """All that can be read of the story."""
    merging, groups = graph.part(MERGING), [GROUP]
    uuids = [story.kept.uuid, story.removed.uuid]
    facts = await graph.records.get_facts([one.uuid for one in story.facts], groups)
    found: list[object] = [await graph.records.get_entities(uuids, groups), facts]
    for uuid in uuids:
        found += [await merging.names(uuid), await merging.mentions(uuid, 9), await merging.entries(uuid, 9)]
        found += [await merging.project(uuid), await merging.caused(uuid, GROUP, 9), await merging.apart(uuid)]
        found += [tuple(map(sorted, await merging.change_ends(uuid, 9)))]
    found += [await graph.part(CURATION).qualities(uuids, groups)]
    found += [await graph.search.search_entities(["sql"], EntityFilter(group_ids=(GROUP,)), 9)]
    return found


async def test_what_hangs_on_an_entity_is_read_in_bounds(graph: Graph) -> None:
    story, merging = Story(), graph.part(MERGING)
    await graph.writer.apply(story.told(), {})
    sizes = await merging.sizes(story.kept.uuid, story.removed.uuid)
    assert (sizes.facts, sizes.mentions, sizes.entries, sizes.pair) == ((1, 5), (1, 2), 1, 1)
    assert sizes.newest == RECORDED
    own = sorted({one.uuid for one in story.facts} - {story.caused.uuid})
    assert [one.uuid for one in await merging.facts(story.removed.uuid, 9)] == own
    assert [one.uuid for one in await merging.facts(story.removed.uuid, 2)] == own[:2]
    assert [one.uuid for one in await merging.facts(story.removed.uuid, 2, own[1])] == own[2:4]
    assert await merging.facts(story.kept.uuid, 9) == await graph.records.get_facts([story.pair.uuid], [GROUP])
    by_end = await merging.open_facts(story.removed.uuid, [story.other.uuid], [], 9)
    assert {one.uuid for one in by_end} == {story.out.uuid, story.into.uuid, story.same.uuid}
    assert len(await merging.open_facts(story.removed.uuid, [story.other.uuid], [], 2)) == 2
    by_relation = await merging.open_facts(story.removed.uuid, [], ["REPLICATES", "USES"], 9)
    assert [one.uuid for one in by_relation] == [story.itself.uuid]
    for fact in (story.out, story.into, story.itself):
        assert [one.uuid for one in await merging.facts_like(story.removed.uuid, [fact], 9)] == [fact.uuid]
    other_day, other_end = {"valid_at": at(2024)}, {"source_uuid": story.kept.uuid}
    for fact in (story.into.model_copy(update=other_day), story.into.model_copy(update=other_end)):
        assert await merging.facts_like(story.removed.uuid, [fact], 9) == []
    assert len(await merging.facts_like(story.removed.uuid, story.facts, 9)) == 5
    assert sorted(await merging.mentions(story.removed.uuid, 9), key=lambda one: one.uuid) == sorted(
        (story.mention, story.twice), key=lambda one: one.uuid
    )
    (first,) = await merging.mentions(story.removed.uuid, 1)
    (second,) = await merging.mentions(story.removed.uuid, 9, first.episode_uuid)
    assert first.episode_uuid < second.episode_uuid
    assert await merging.mentions(story.removed.uuid, 9, second.episode_uuid) == []
    assert await merging.project(story.removed.uuid) == story.project
    assert await merging.project(story.kept.uuid) is None
    assert await merging.pinning(story.other.uuid, GROUP, 9) == [story.project]
    assert await merging.pinning(story.other.uuid, OTHER_GROUP, 9) == []
    assert await merging.pinning(story.kept.uuid, GROUP, 9) == []
    assert await merging.caused(story.removed.uuid, GROUP, 9) == [story.caused.uuid]
    assert await merging.caused(story.removed.uuid, OTHER_GROUP, 9) == []
    assert await merging.change_ends(story.removed.uuid, 9) == ([story.ending.uuid], [])
    assert await merging.change_ends(story.other.uuid, 9) == ([], [story.ending.uuid])


async def test_a_merge_moves_everything_and_its_undoing_gives_it_back(graph: Graph) -> None:
    story = Story()
    kept, other = story.kept, story.other
    await graph.writer.apply(story.told(), {})
    before, merge = await state(graph, story), story.merge()
    await graph.writer.apply(story.write(merge), {})
    await graph.writer.apply(story.write(merge), {})
    assert await facts_of(graph, kept) == {
        ("HOSTED_ON", kept.uuid, other.uuid),
        ("USES", other.uuid, kept.uuid),
        ("REPLICATES", kept.uuid, kept.uuid),
    }
    merging = graph.part(MERGING)
    (out,) = await graph.records.get_facts([story.out.uuid], [GROUP])
    moved = {"source_uuid": kept.uuid, "source_name": kept.name}
    assert out == story.out.model_copy(update=moved)
    assert await merging.mentions(kept.uuid, 9) != []
    assert {one.episode_uuid for one in await merging.mentions(kept.uuid, 9)} == {story.one.uuid, story.both.uuid}
    assert story.mention.uuid in {one.uuid for one in await merging.mentions(kept.uuid, 9)}
    assert {one.text for one in await merging.names(kept.uuid)} == {"Postgres", "Postgre SQL", "PG SQL"}
    assert await merging.entries(kept.uuid, 9) == [story.one.uuid]
    assert await merging.caused(kept.uuid, GROUP, 9) == [story.caused.uuid]
    (caused,) = await graph.records.get_facts([story.caused.uuid], [GROUP])
    assert caused.cause == kept.name
    sources, _ = await merging.change_ends(kept.uuid, 9)
    assert story.ending.uuid in sources
    assert await graph.search.search_entities(["sql"], EntityFilter(group_ids=(GROUP,)), 9) != {}
    assert list(await graph.search.search_entities(["sql"], EntityFilter(group_ids=(GROUP,)), 9)) == [kept.uuid]
    assert await merging.part(merge.uuid, 0) == merge
    await graph.writer.apply(story.undo(merge), {})
    after = await state(graph, story)
    events = {merge.uuid, *(uuid for uuid in (await merging.change_ends(kept.uuid, 9))[0])}
    assert [_without(one, events) for one in after] == [_without(one, events) for one in before]
    assert await merging.part(merge.uuid, 0) is None
    assert await merging.heads(kept.uuid, [GROUP], 9) == []


def _without(found: object, events: set[str]) -> object:
    """Ends of changes without the events of the merge; a project that was made stays one."""
    if isinstance(found, tuple):
        return tuple([uuid for uuid in listed if uuid not in events] for listed in found)
    return None if type(found).__name__ == "Project" else found


async def test_evidence_moves_with_a_merge_and_comes_back(graph: Graph) -> None:
    story, text = Story(), an_episode("It stores rows.")
    part = a_passage(text)
    document, sections = a_document(text)
    quote, own = an_instance(story.removed, document, part), an_instance(story.kept, document, part)
    await graph.writer.apply(story.told(), {})
    await graph.writer.apply(a_write(text, part, document, *sections, quote, own), {})
    stored = graph.part(MERGING)
    assert await stored.evidence(story.removed.uuid, 9) == [quote.uuid]
    assert await stored.evidence(story.removed.uuid, 0) == []
    merge = story.merge(moved=Moved(evidence=(quote.uuid,)))
    for _ in range(2):
        await graph.writer.apply(story.write(merge), {})
        page = await graph.documents.instances(story.kept.uuid, [GROUP], Window(limit=9))
        assert {row.instance.uuid for row in page.rows} == {quote.uuid, own.uuid}
        assert {row.instance.entity_uuid for row in page.rows} == {story.kept.uuid}
    await graph.writer.apply(story.undo(merge), {})
    for entity, kept in ((story.removed, quote), (story.kept, own)):
        page = await graph.documents.instances(entity.uuid, [GROUP], Window(limit=9))
        assert [row.instance for row in page.rows] == [kept]


async def test_a_merged_uuid_means_the_entity_that_stays(graph: Graph) -> None:
    story = Story()
    await graph.writer.apply(story.told(), {})
    await graph.writer.apply(story.write(story.merge()), {})
    kept, removed = story.kept, story.removed
    read = graph.records.get_entities
    assert await read([removed.uuid], [GROUP]) == [kept]
    assert await read([removed.uuid, story.other.uuid, kept.uuid], [GROUP]) == [story.other, kept]
    assert await read([removed.uuid], [OTHER_GROUP]) == []
    assert await graph.records.find_uuids("entity", removed.uuid[:8], [GROUP], 9) == [removed.uuid]
    assert await graph.records.find_uuids("entity", removed.uuid, [GROUP], 9) == [removed.uuid]
    assert await graph.records.find_uuids("entity", removed.uuid[:8], [OTHER_GROUP], 9) == []
    assert await graph.records.former_uuids(GROUP) == {removed.uuid: kept.uuid}
    assert await graph.records.former_uuids(OTHER_GROUP) == {}
    # Whoever writes it again, later notes and replays included, does not bring it back.
    await graph.writer.apply(a_write(removed, a_name(removed, "Elephant")), {})
    assert await read([removed.uuid], [GROUP]) == [kept]
    assert await graph.records.get_names([a_name(removed, "Elephant").key]) == {}


async def test_a_second_merge_takes_the_former_uuids_along_and_gives_them_back(graph: Graph) -> None:
    story, last = Story(), an_entity("SQL")
    await graph.writer.apply(story.told(), {})
    await graph.writer.apply(a_write(last, a_name(last)), {})
    await graph.writer.apply(story.write(story.merge()), {})
    further = Merge(
        uuid=new_uuid(),
        place=0,
        kept_uuid=last.uuid,
        removed_uuid=story.kept.uuid,
        is_last=True,
        former=(story.removed.uuid,),
    )
    await graph.writer.apply(an_intent(kind=WriteKind.MERGE, merge=further), {})
    now = {story.removed.uuid: last.uuid, story.kept.uuid: last.uuid}
    assert await graph.records.former_uuids(GROUP) == now
    assert await graph.records.get_entities([story.removed.uuid], [GROUP]) == [last]
    undoing = further.model_copy(update={"undoes": True})
    await graph.writer.apply(an_intent(kind=WriteKind.UNMERGE, entities=(story.kept,), merge=undoing), {})
    assert await graph.records.former_uuids(GROUP) == {story.removed.uuid: story.kept.uuid}


async def test_a_merge_without_one_of_both_is_void(graph: Graph) -> None:
    story = Story()
    await graph.writer.apply(story.told(), {})
    await graph.writer.apply(an_intent(deletions=Deletions(entities=(story.kept.uuid,))), {})
    await graph.writer.apply(an_intent(kind=WriteKind.MERGE, merge=story.merge()), {})
    assert await graph.records.get_entities([story.removed.uuid], [GROUP]) == [story.removed]
    assert ("HOSTED_ON", story.removed.uuid, story.other.uuid) in await facts_of(graph, story.removed)
    assert await graph.records.former_uuids(GROUP) == {}


async def test_merges_are_listed_newest_first_and_those_that_are_not_whole_apart(graph: Graph) -> None:
    story, merging = Story(), graph.part(MERGING)
    await graph.writer.apply(story.told(), {})
    first = story.merge(is_last=False)
    await graph.writer.apply(story.write(first), {})
    head = MergeHead(
        uuid=first.uuid,
        group_id=GROUP,
        kept_uuid=story.kept.uuid,
        removed_uuid=story.removed.uuid,
        recorded_at=LATER,
        parts=1,
        is_whole=False,
        is_undone=False,
    )
    assert await merging.heads(story.kept.uuid, [GROUP], 9) == [head]
    assert await merging.heads(story.removed.uuid, [GROUP], 9) == [head]
    assert await merging.heads(story.kept.uuid, [OTHER_GROUP], 9) == []
    assert await merging.heads(None, None, 9) == [head]
    assert await graph.records.get_entities([story.removed.uuid], [GROUP]) == [story.removed]
    rest = Merge(**{**dict(first), "place": 1, "is_last": True, "moved": Moved(), "archive": Archive()})
    await graph.writer.apply(an_intent(kind=WriteKind.MERGE, recorded_at=LATER + timedelta(hours=1), merge=rest), {})
    assert await merging.heads(None, None, 9) == []
    (whole,) = await merging.heads(story.kept.uuid, [GROUP], 9)
    assert whole == head.model_copy(update={"parts": 2, "is_whole": True})
    undoing = rest.model_copy(update={"undoes": True})
    await graph.writer.apply(an_intent(kind=WriteKind.UNMERGE, entities=(story.removed,), merge=undoing), {})
    (half,) = await merging.heads(None, None, 9)
    assert (half.uuid, half.parts, half.is_whole, half.is_undone) == (first.uuid, 1, False, True)


@pytest.mark.parametrize("deletes", ["kept", "group"])
async def test_nothing_of_a_merge_is_left_when_the_entity_or_its_group_goes(graph: Graph, deletes: str) -> None:
    story, merging = Story(), graph.part(MERGING)
    await graph.writer.apply(story.told(), {})
    merge = story.merge()
    await graph.writer.apply(story.write(merge), {})
    gone = Deletions(groups=(GROUP,)) if deletes == "group" else Deletions(entities=(story.kept.uuid,))
    await graph.writer.apply(an_intent(deletions=gone), {})
    assert await merging.part(merge.uuid, 0) is None
    assert await graph.records.former_uuids(GROUP) == {}
    assert await graph.records.get_entities([story.removed.uuid], [GROUP]) == []


async def test_what_a_write_forgets_goes_out_of_what_a_merge_keeps(graph: Graph) -> None:
    story, merging = Story(), graph.part(MERGING)
    await graph.writer.apply(story.told(), {})
    merge = story.merge()
    await graph.writer.apply(story.write(merge), {})
    forgets = Forgetting(facts=(story.pair.uuid,), qualities=(story.kept.uuid,))
    await graph.writer.apply(
        an_intent(
            kind=WriteKind.FORGET,
            entities=(story.kept,),
            forgets=forgets,
            former=((story.removed.uuid, story.kept.uuid),),
        ),
        {},
    )
    left = await merging.part(merge.uuid, 0)
    assert left is not None
    assert [one.uuid for one in left.archive.facts] == [story.same.uuid]
    assert {one.uuid: one.summary for one in left.archive.entities}[story.removed.uuid] == ""
    assert left.moved == merge.moved
