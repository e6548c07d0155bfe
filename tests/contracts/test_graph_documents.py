"""Contracts of documents, their sections and quotes from them: what is written, what is read, what goes."""

from datetime import timedelta

from tests.builders import (
    GROUP,
    OTHER_GROUP,
    RECORDED,
    a_document,
    a_passage,
    a_write,
    an_entity,
    an_episode,
    an_instance,
    an_intent,
)

from graphiti_pkm.core.model.document_records import Document, DocumentTexts, Instance
from graphiti_pkm.core.model.documents import DocumentCounts, InstancePage
from graphiti_pkm.core.model.queries import Window
from graphiti_pkm.core.model.records import Deletions, Entity, EpisodeText, Forgetting
from graphiti_pkm.core.ports.graph import Graph

LATER = RECORDED + timedelta(hours=1)


async def evidence(graph: Graph, entity: Entity, *groups: str, **window: object) -> InstancePage:
    return await graph.documents.instances(
        entity.uuid, groups or (GROUP,), Window.model_validate({"limit": 9, **window})
    )


async def test_a_document_comes_back_by_name_and_by_digest_the_highest_version_first(graph: Graph) -> None:
    one, two = an_episode("First text."), an_episode("Second text.")
    first, its_sections = a_document(one, front="---\na: b\n---\n")
    second, others = a_document(one, two, version=2, digest="d2", path="new/guide.md", created_at=LATER)
    foreign, foreign_sections = a_document(an_episode(group_id=OTHER_GROUP), version=9)
    await graph.writer.apply(a_write(one, first, *its_sections), {})
    await graph.writer.apply(a_write(two, second, *others), {})
    await graph.writer.apply(a_write(foreign, *foreign_sections), {})
    documents = graph.documents
    assert await documents.present(GROUP, "guide") == second
    assert await documents.present(GROUP, "other") is None
    assert await documents.with_digest(GROUP, "d1") == first
    assert await documents.with_digest(OTHER_GROUP, "d2") is None
    assert await documents.at_path(GROUP, "new/guide.md") == second
    assert await documents.at_path(OTHER_GROUP, "new/guide.md") is None
    both = sorted([first, second], key=lambda one: one.uuid)
    assert await documents.documents([second.uuid, first.uuid, foreign.uuid], [GROUP]) == both
    assert await documents.documents([], [GROUP]) == []
    moved = first.model_copy(update={"path": "moved.md"})
    await graph.writer.apply(a_write(moved), {})
    assert await documents.with_digest(GROUP, "d1") == moved
    assert [one.episode_uuid for one in await documents.sections(first.uuid, GROUP, 9)] == [one.uuid]


async def test_the_present_documents_of_a_group_are_listed_by_name(graph: Graph) -> None:
    one = an_episode()
    first, sections = a_document(one)
    second, others = a_document(one, version=2, digest="d2")
    cook, its = a_document(one, name="cook")
    zoo, last = a_document(one, name="Zoo")
    foreign, foreign_sections = a_document(an_episode(group_id=OTHER_GROUP), name="dog")
    await graph.writer.apply(a_write(one, first, *sections, second, *others, cook, *its, zoo, *last), {})
    await graph.writer.apply(a_write(foreign, *foreign_sections), {})
    listed = graph.documents.listed
    assert await listed(GROUP, Window(limit=9)) == [zoo, cook, second]
    assert await listed(GROUP, Window(limit=1, after=("Zoo",))) == [cook]
    assert await listed(GROUP, Window(limit=9, after=("guide",))) == []
    assert await listed("nobody's", Window(limit=9)) == []


async def test_sections_come_in_order_with_their_starts_in_code_points(graph: Graph) -> None:
    texts = ("# 🎉 Fünf\n\n", "Zwei 𝔸.\r\n", "Ende")
    episodes = [an_episode(text) for text in texts]
    document, sections = a_document(*episodes, front="---\nx: 🎈\n---\n")
    await graph.writer.apply(a_write(*episodes, document, *sections), {})
    read = await graph.documents.sections(document.uuid, GROUP, 9)
    assert [(one.place, one.paragraph, one.episode_uuid) for one in read] == [
        (place, place + 1, one.uuid) for place, one in enumerate(episodes)
    ]
    assert [one.start for one in read] == [13, 13 + len(texts[0]), 13 + len(texts[0] + texts[1])]
    assert await graph.documents.sections(document.uuid, GROUP, 2) == read[:2]
    assert await graph.documents.sections(document.uuid, OTHER_GROUP, 9) == []
    placed = await graph.documents.placed([one.uuid for one in episodes], [GROUP])
    assert [placed[one.uuid].start for one in episodes] == [one.start for one in read]
    forgotten = EpisodeText(uuid=episodes[0].uuid, name="A note", content="[forgotten]")
    await graph.writer.apply(an_intent(forgets=Forgetting(episodes=(forgotten,))), {})
    assert [one.start for one in await graph.documents.sections(document.uuid, GROUP, 9)] == [13, 24, 33]


async def test_an_episode_is_placed_in_the_newest_document_that_has_it(graph: Graph) -> None:
    shared, old, lone = an_episode("Shared."), an_episode("Old."), an_episode("No document.")
    first, its_sections = a_document(shared, old)
    second, others = a_document(shared, version=2, digest="d2", front="---\n---\n", created_at=LATER)
    await graph.writer.apply(a_write(shared, old, lone, first, second, *its_sections, *others), {})
    placed = await graph.documents.placed([shared.uuid, old.uuid, lone.uuid, shared.uuid], [GROUP])
    assert {uuid: (one.document, one.is_present, one.paragraph, one.start) for uuid, one in placed.items()} == {
        shared.uuid: (second, True, 1, 8),
        old.uuid: (first, False, 2, 7),
    }
    assert await graph.documents.placed([shared.uuid], [OTHER_GROUP]) == {}
    assert await graph.documents.placed([], [GROUP]) == {}
    holding = await graph.documents.holding([shared.uuid, old.uuid], [GROUP], 9)
    assert holding == sorted([first, second], key=lambda one: one.uuid)
    assert await graph.documents.holding([shared.uuid], [GROUP], 1) == holding[:1]
    assert await graph.documents.holding([shared.uuid], [OTHER_GROUP], 9) == []


async def test_a_place_is_present_as_long_as_the_highest_version_of_a_name_has_the_episode(graph: Graph) -> None:
    sarah = an_entity("Sarah")
    shared, old, lent = an_episode("Shared."), an_episode("Old."), an_episode("Lent.")
    part, gone = a_passage(shared), a_passage(old)
    first, its_sections = a_document(shared, old, lent)
    second, others = a_document(shared, version=2, digest="d2", created_at=LATER)
    kept, kept_sections = a_document(lent, name="kept", digest="d3")
    dropped, dropped_sections = a_document(lent, name="dropped", digest="d3", created_at=LATER)
    last, last_sections = a_document(shared, name="dropped", version=2, digest="d4", created_at=LATER)
    records = (sarah, shared, old, lent, part, gone, first, second, kept, dropped, last)
    sections = (*its_sections, *others, *kept_sections, *dropped_sections, *last_sections)
    await graph.writer.apply(a_write(*records, *sections), {})
    await graph.writer.apply(a_write(an_instance(sarah, first, part), an_instance(sarah, first, gone)), {})
    quotes = await evidence(graph, sarah)
    assert [(row.placed.document, row.placed.is_present) for row in quotes.rows] == [(first, True), (first, False)]
    placed = await graph.documents.placed([old.uuid, lent.uuid], [GROUP])
    assert (placed[old.uuid].document, placed[old.uuid].is_present) == (first, False)
    assert (placed[lent.uuid].document, placed[lent.uuid].is_present) == (kept, True)


async def test_quotes_come_in_pages_by_document_and_place_with_the_passages_they_stand_in(graph: Graph) -> None:
    sarah, tom = an_entity("Sarah"), an_entity("Tom")
    old, new = an_episode("One two. Three four."), an_episode("Five six.")
    parts = [a_passage(old, 0, 8), a_passage(old, 9, 20, sentence=1), a_passage(new)]
    first, its_sections = a_document(old)
    second, others = a_document(new, old, version=2, digest="d2", created_at=LATER)
    instances = [
        an_instance(sarah, second, parts[2]),
        an_instance(sarah, second, parts[0], parts[1], first=4, last=5),
        an_instance(sarah, second, parts[1]),
        an_instance(sarah, first, parts[0]),
    ]
    foreign = an_instance(tom, first, parts[1])
    await graph.writer.apply(a_write(sarah, tom, old, new, *parts, first, second, *its_sections, *others), {})
    await graph.writer.apply(a_write(*reversed(instances), foreign), {})
    whole = await evidence(graph, sarah)
    assert [row.instance for row in whole.rows] == instances
    assert [(row.first, row.last) for row in whole.rows] == [
        (parts[2], parts[2]),
        (parts[0], parts[1]),
        (parts[1], parts[1]),
        (parts[0], parts[0]),
    ]
    assert [row.around for row in whole.rows] == [(0, 9), (0, 20), (0, 20), (0, 20)]
    assert [(row.placed.start, row.placed.paragraph, row.placed.is_present) for row in whole.rows] == [
        (0, 1, True),
        (9, 2, True),
        (9, 2, True),
        (0, 1, True),
    ]
    seen: list[Instance] = []
    after = None
    for _ in instances:
        page = await evidence(graph, sarah, limit=1, after=after)
        assert page.total == 4
        seen += [row.instance for row in page.rows]
        after = page.keys[-1]
    assert seen == instances
    assert (await evidence(graph, sarah, limit=1, after=after)).rows == ()
    assert (await evidence(graph, sarah, OTHER_GROUP)).total == 0
    counted = await graph.documents.counts(GROUP)
    assert (counted.documents, counted.quotes) == (1, 5), "versions of one name are one document"
    assert await graph.documents.counts(OTHER_GROUP) == DocumentCounts(documents=0, quotes=0)
    late = an_instance(sarah, first, parts[1], created_at=LATER)
    await graph.writer.apply(a_write(late), {})
    assert (await graph.documents.instances(sarah.uuid, [GROUP], Window(limit=9), RECORDED)).total == 4
    assert (await graph.documents.instances(sarah.uuid, [GROUP], Window(limit=9), LATER)).rows[-1].instance == late


async def test_of_what_is_not_there_nothing_is_kept(graph: Graph) -> None:
    sarah, nobody = an_entity("Sarah"), an_entity("Nobody")
    held, lost, foreign = an_episode("Held."), an_episode("Lost."), an_episode(group_id=OTHER_GROUP)
    part, gone = a_passage(held), a_passage(lost)
    document, sections = a_document(held, lost, foreign)
    await graph.writer.apply(a_write(sarah, held, foreign, part, gone, document, *sections), {})
    assert [one.episode_uuid for one in await graph.documents.sections(document.uuid, GROUP, 9)] == [held.uuid]
    instances = [
        an_instance(nobody, document, part),
        an_instance(sarah, document, part, gone),
        an_instance(sarah, document, gone),
    ]
    await graph.writer.apply(a_write(*instances), {})
    assert (await evidence(graph, sarah)).total == 0
    assert (await evidence(graph, nobody)).total == 0


async def a_quoted_document(graph: Graph) -> tuple[Document, list[Instance], Entity, list[str]]:
    """Two sections with a quote each from both sentences of the first, and one of both."""
    sarah = an_entity("Sarah")
    one, two = an_episode("First. Second."), an_episode("Third.")
    parts = [a_passage(one, 0, 6), a_passage(one, 7, 14, sentence=1), a_passage(two)]
    document, sections = a_document(one, two, front="---\nby: Sarah\n---\n")
    instances = [
        an_instance(sarah, document, parts[0]),
        an_instance(sarah, document, parts[0], parts[1]),
        an_instance(sarah, document, parts[1]),
        an_instance(sarah, document, parts[2]),
    ]
    await graph.writer.apply(a_write(sarah, one, two, *parts, document, *sections, *instances), {})
    return document, instances, sarah, [parts[0].uuid, one.uuid, two.uuid]


async def test_a_quote_goes_with_any_of_its_passages_and_the_document_keeps_the_texts_that_remain(
    graph: Graph,
) -> None:
    document, instances, sarah, (part, *_) = await a_quoted_document(graph)
    left = DocumentTexts(uuid=document.uuid, name="guide", path="[forgotten]", front="")
    await graph.writer.apply(an_intent(forgets=Forgetting(passages=(part,), documents=(left,))), {})
    rows = {row.instance.uuid: row for row in (await evidence(graph, sarah)).rows}
    assert rows.keys() == {instances[2].uuid, instances[3].uuid}
    now = document.model_copy(update={"path": "[forgotten]", "front": "", "digest": ""})
    assert {row.placed.document.uuid for row in rows.values()} == {document.uuid}
    assert await graph.documents.present(GROUP, "guide") == now
    assert rows[instances[3].uuid].placed.start == 14


async def test_an_entity_an_episode_and_a_group_take_what_hangs_on_them(graph: Graph) -> None:
    document, instances, sarah, (_, one, two) = await a_quoted_document(graph)
    await graph.writer.apply(an_intent(deletions=Deletions(episodes=(one,))), {})
    assert [row.instance for row in (await evidence(graph, sarah)).rows] == [instances[3]]
    assert [each.place for each in await graph.documents.sections(document.uuid, GROUP, 9)] == [1]
    await graph.writer.apply(an_intent(deletions=Deletions(entities=(sarah.uuid,))), {})
    assert (await evidence(graph, sarah)).total == 0
    assert await graph.documents.present(GROUP, "guide") == document
    await graph.writer.apply(an_intent(deletions=Deletions(episodes=(two,))), {})
    assert await graph.documents.present(GROUP, "guide") is None
    document, instances, sarah, _ = await a_quoted_document(graph)
    await graph.writer.apply(an_intent(deletions=Deletions(groups=(GROUP,))), {})
    assert await graph.documents.present(GROUP, "guide") is None
    assert (await evidence(graph, sarah)).total == 0


async def test_all_sections_of_a_document_can_go_at_once(graph: Graph) -> None:
    _, _, sarah, (_, *episodes) = await a_quoted_document(graph)
    await graph.writer.apply(an_intent(deletions=Deletions(episodes=tuple(episodes))), {})
    assert await graph.documents.present(GROUP, "guide") is None
    assert (await evidence(graph, sarah)).total == 0
