"""Contracts of a split: what a new entity takes, with all it had, and what the other keeps."""

from datetime import timedelta

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
    a_write,
    an_entity,
    an_episode,
    an_instance,
    an_intent,
    at,
    new_uuid,
)

from graphiti_pkm.capabilities.curation.assembly import MERGING
from graphiti_pkm.core.model.queries import EntityFilter, FactFilter, Window
from graphiti_pkm.core.model.records import Entity, EntityState, FactChange, WriteIntent, WriteKind
from graphiti_pkm.core.ports.graph import Graph

LATER = RECORDED + timedelta(hours=1)


class Story:
    """An entity that stands for two, and what hangs on it."""

    def __init__(self) -> None:
        self.ana, self.new, self.tom = an_entity("Ana"), an_entity("Annie"), an_entity("Tom")
        self.one, self.other = an_episode("Annie came."), an_episode("Ana went.")
        told = {"episodes": (self.one.uuid,), "quote": "came"}
        self.out = a_fact(self.ana, self.tom, "KNOWS", valid_at=at(2025), attributes={"mood": "good"}, **told)
        self.into = a_fact(self.tom, self.ana, "LIKES", **told)
        self.itself = a_fact(self.ana, self.ana, "DOUBTS", **told)
        self.stays = a_fact(self.ana, self.tom, "SEES", episodes=(self.other.uuid,))
        self.ending, self.kept_event = a_change(self.into, self.one), a_change(self.stays, self.other)
        self.alias = a_name(self.ana, "Annie").model_copy(update={"is_alias": True})
        self.mention, self.kept_mention = a_mention(self.one, self.ana), a_mention(self.other, self.ana)
        self.passages = [a_passage(self.one), a_passage(self.other)]
        self.documents = [a_document(self.one), a_document(self.other)]
        self.quotes = [
            an_instance(self.ana, document, passage)
            for (document, _), passage in zip(self.documents, self.passages, strict=True)
        ]
        self.facts = (self.out, self.into, self.itself, self.stays)

    async def tell(self, graph: Graph) -> None:
        await graph.writer.apply(
            a_write(
                *(self.one, self.other, self.ana, self.tom, a_name(self.ana), self.alias, a_name(self.tom)),
                *(*self.facts, self.mention, self.kept_mention, self.ending, self.kept_event, *self.passages),
            ),
            {},
        )
        for document, sections in self.documents:
            await graph.writer.apply(a_write(document, *sections), {})
        await graph.writer.apply(a_write(*self.quotes), {})

    def split(self) -> WriteIntent:
        ends = {"source_uuid": self.new.uuid}, {"target_uuid": self.new.uuid}
        moved = (
            self.out.model_copy(update=ends[0]),
            self.into.model_copy(update=ends[1]),
            self.itself.model_copy(update={**ends[0], **ends[1]}),
        )
        change = FactChange(
            uuid=new_uuid(),
            fact_uuid=self.ana.uuid,
            kind="split",
            recorded_at=LATER,
            replaced_by=self.new.uuid,
            entity_before=EntityState(name="Ana", names=(self.alias,), linked=(self.one.uuid,)),
            entity_after=EntityState(name="Ana"),
        )
        mine = {"entity_uuid": self.new.uuid}
        return an_intent(
            kind=WriteKind.SPLIT,
            recorded_at=LATER,
            entities=(self.new,),
            names=(self.alias.model_copy(update={**mine, "is_alias": False}),),
            facts=moved,
            mentions=(self.mention.model_copy(update=mine),),
            instances=(self.quotes[0].model_copy(update=mine),),
            changes=(change,),
        )


async def facts_of(graph: Graph, entity: Entity) -> set[tuple[str, str, str]]:
    wanted = FactFilter(group_ids=(GROUP,), now=at(2026))
    page = await graph.facts.connections(entity.uuid, wanted, Window(limit=50))
    return {(one.relation, one.source_uuid, one.target_uuid) for one in page.facts}


async def test_a_split_gives_records_to_a_new_entity_with_all_they_had(graph: Graph) -> None:
    story, merging = Story(), graph.part(MERGING)
    ana, new, tom = story.ana, story.new, story.tom
    await story.tell(graph)
    intent = story.split()
    for _ in range(2):
        await graph.writer.apply(intent, {})
    assert await facts_of(graph, ana) == {("SEES", ana.uuid, tom.uuid)}
    assert await facts_of(graph, new) == {
        ("KNOWS", new.uuid, tom.uuid),
        ("LIKES", tom.uuid, new.uuid),
        ("DOUBTS", new.uuid, new.uuid),
    }
    (out,) = await graph.records.get_facts([story.out.uuid], [GROUP])
    assert out == story.out.model_copy(update={"source_uuid": new.uuid, "source_name": "Annie"})
    assert await merging.mentions(new.uuid, 9) == [story.mention.model_copy(update={"entity_uuid": new.uuid})]
    assert await merging.mentions(ana.uuid, 9) == [story.kept_mention]
    assert [(one.text, one.is_alias) for one in await merging.names(new.uuid)] == [("Annie", False)]
    assert [one.text for one in await merging.names(ana.uuid)] == ["Ana"]
    sources, targets = await merging.change_ends(new.uuid, 9)
    assert (sources, targets) == ([], [story.ending.uuid])
    sources, _ = await merging.change_ends(ana.uuid, 9)
    assert story.kept_event.uuid in sources
    for entity, quote in ((new, story.quotes[0]), (ana, story.quotes[1])):
        page = await graph.documents.instances(entity.uuid, [GROUP], Window(limit=9))
        assert [row.instance for row in page.rows] == [quote.model_copy(update={"entity_uuid": entity.uuid})]
    assert await merging.evidence(new.uuid, 9) == [story.quotes[0].uuid]
    found = await graph.search.search_entities(["annie"], EntityFilter(group_ids=(GROUP,)), 9)
    assert list(found) == [new.uuid]
    assert await graph.records.get_names([story.alias.key]) == {
        story.alias.key: (await merging.names(new.uuid))[0],
    }


async def test_a_split_needs_nothing_of_what_was_written_before(graph: Graph) -> None:
    """As after a rebuild once the entity was forgotten."""
    story, merging = Story(), graph.part(MERGING)
    document, sections = story.documents[0]
    await graph.writer.apply(a_write(story.one, story.tom, story.passages[0], document, *sections, story.ending), {})
    await graph.writer.apply(story.split(), {})
    assert len(await facts_of(graph, story.new)) == 3
    assert await merging.change_ends(story.new.uuid, 9) == ([], [story.ending.uuid])
    assert [one.uuid for one in await merging.mentions(story.new.uuid, 9)] == [story.mention.uuid]
    assert await merging.evidence(story.new.uuid, 9) == [story.quotes[0].uuid]


async def test_mentions_and_quotes_of_some_episodes_are_read_in_bounds(graph: Graph) -> None:
    story, merging = Story(), graph.part(MERGING)
    await story.tell(graph)
    ana, one, other = story.ana.uuid, story.one.uuid, story.other.uuid
    assert await merging.mentions_in(ana, [one, new_uuid()]) == [story.mention]
    both = sorted((story.mention, story.kept_mention), key=lambda mention: mention.episode_uuid)
    assert await merging.mentions_in(ana, [other, one]) == both
    assert await merging.mentions_in(story.tom.uuid, [one]) == []
    assert await merging.mentions_in(ana, []) == []
    assert await graph.documents.evidence_in(ana, [one], 9) == [story.quotes[0]]
    assert await graph.documents.evidence_in(ana, [one, other], 9) == sorted(story.quotes, key=lambda quote: quote.uuid)
    assert len(await graph.documents.evidence_in(ana, [one, other], 1)) == 1
    assert await graph.documents.evidence_in(story.tom.uuid, [one], 9) == []
    assert await graph.records.get_facts([story.out.uuid], [OTHER_GROUP]) == []
