"""Contracts of projects and entries: what is written of them, what is read, what goes."""

from array import array
from datetime import datetime, timedelta

from tests.builders import (
    GROUP,
    OTHER_GROUP,
    RECORDED,
    a_fact,
    a_mention,
    a_name,
    a_passage,
    a_project,
    a_write,
    an_entity,
    an_entry,
    an_episode,
    an_intent,
    at,
    new_uuid,
)

from graphiti_pkm.capabilities.projects.assembly import PROJECTS
from graphiti_pkm.core.model.projects import ProjectFilter
from graphiti_pkm.core.model.queries import EntryFilter, EpisodeFilter, Window
from graphiti_pkm.core.model.records import Deletions, Entity, Forgetting, Project
from graphiti_pkm.core.model.redaction import NO_METADATA
from graphiti_pkm.core.model.relevance import SCALE, RelevanceFilter, terms_of
from graphiti_pkm.core.ports.graph import Graph

NOW = at(2026, 6)


def wanted(**fields: object) -> ProjectFilter:
    return ProjectFilter.model_validate({"group_ids": (GROUP,), "now": NOW, **fields})


def momento(name: str = "Momento", **fields: object) -> Entity:
    return an_entity(name, label="Project", summary=f"{name} in words.", **fields)


async def names_of(graph: Graph, **fields: object) -> list[str]:
    page = await graph.part(PROJECTS).projects(wanted(**fields), Window(limit=9))
    assert page.total == len(page.projects)
    return [row.name for row in page.projects]


async def test_a_project_is_read_with_its_entity_its_entries_and_the_last_of_them(graph: Graph) -> None:
    entity = momento()
    project = a_project(entity, metadata='{"a": {"b": [1, 2]}}', pins=("one", "two"))
    await graph.writer.apply(a_write(entity, project), {})
    (row,) = (await graph.part(PROJECTS).projects(wanted(), Window(limit=9))).projects
    assert row.project == project
    assert (row.name, row.description, row.status, row.entries, row.last_entry) == (
        "Momento",
        "Momento in words.",
        None,
        0,
        None,
    )
    late, early = an_episode("late", valid_at=at(2025, 3)), an_episode("early", valid_at=at(2025, 2))
    await graph.writer.apply(a_write(late, early, an_entry(late, project), an_entry(early, project)), {})
    (row,) = (await graph.part(PROJECTS).projects(wanted(uuids=(entity.uuid,)), Window(limit=9))).projects
    assert (row.entries, row.last_entry) == (2, at(2025, 3))
    changed = project.model_copy(update={"metadata": "{}", "pins": ()})
    await graph.writer.apply(a_write(changed), {})
    page = await graph.part(PROJECTS).projects(wanted(), Window(limit=9))
    assert [one.project for one in page.projects] == [changed]


async def test_projects_come_in_pages_newest_first_and_only_those_of_the_groups(graph: Graph) -> None:
    entities = [momento(f"P{place}") for place in range(5)]
    foreign = momento("Foreign", group_id=OTHER_GROUP)
    records = [a_project(one, created_at=RECORDED + timedelta(hours=place // 2)) for place, one in enumerate(entities)]
    await graph.writer.apply(a_write(*entities, foreign, *records, a_project(foreign)), {})
    expected = sorted(records, key=lambda one: one.uuid)
    expected.sort(key=lambda one: one.created_at, reverse=True)
    seen, after = [], None
    for _ in range(5):
        page = await graph.part(PROJECTS).projects(wanted(), Window(limit=1, after=after))
        assert page.total == 5
        seen += [row.project for row in page.projects]
        after = page.keys[-1]
    assert seen == expected
    assert (await graph.part(PROJECTS).projects(wanted(), Window(limit=1, after=after))).projects == ()
    assert await names_of(graph, group_ids=(OTHER_GROUP,)) == ["Foreign"]
    assert await names_of(graph, uuids=(foreign.uuid,)) == []
    assert len(await names_of(graph, recorded_until=RECORDED)) == 2


async def test_the_status_of_a_project_is_its_newest_current_one(graph: Graph) -> None:
    entity, other = momento(), momento("Other")
    active, done, later = an_entity("active"), an_entity("completed"), an_entity("archived")
    began = a_fact(
        entity,
        active,
        "HAS_STATUS",
        value="Active",
        valid_at=at(2025, 1),
        invalid_at=at(2026, 1),
        expired_at=RECORDED,
    )
    ended = a_fact(entity, done, "HAS_STATUS", value="Com-pleted", valid_at=at(2026, 1))
    planned = a_fact(entity, later, "HAS_STATUS", value="archived", valid_at=at(2027, 1))
    unlike = a_fact(entity, later, "IS_CALLED", value="archived", valid_at=at(2026, 2))
    await graph.writer.apply(
        a_write(entity, other, active, done, later, a_project(entity), a_project(other), began, ended, planned, unlike),
        {},
    )
    page = await graph.part(PROJECTS).projects(wanted(), Window(limit=9))
    assert {row.name: row.status for row in page.projects} == {"Momento": "Com-pleted", "Other": None}
    assert await names_of(graph, statuses=("completed",)) == ["Momento"]
    assert await names_of(graph, statuses=("active", "")) == ["Other"]
    assert await names_of(graph, statuses=("archived",)) == []
    assert await names_of(graph, statuses=("archived",), now=at(2028)) == ["Momento"]


async def test_entries_are_read_by_episode_and_only_those_of_the_groups(graph: Graph) -> None:
    entity = momento()
    project = a_project(entity)
    note, plain, foreign = an_episode("note"), an_episode("plain"), an_episode("foreign", group_id=OTHER_GROUP)
    entry = an_entry(note, project, type="meeting", metadata='{"at": "Bü"}', links_names=False)
    alone = an_entry(foreign)
    await graph.writer.apply(a_write(entity, project, note, plain, foreign, entry, alone), {})
    uuids = [note.uuid, plain.uuid, foreign.uuid]
    assert await graph.part(PROJECTS).entries(uuids, [GROUP]) == {note.uuid: entry}
    assert await graph.part(PROJECTS).entries(uuids, [OTHER_GROUP]) == {foreign.uuid: alone}
    assert await graph.part(PROJECTS).entries([], [GROUP]) == {}


async def test_what_is_not_there_gets_neither_project_nor_entry_and_no_project_of_another_group(graph: Graph) -> None:
    foreign = momento("Foreign", group_id=OTHER_GROUP)
    project = a_project(foreign)
    note = an_episode("note")
    gone, nobody = an_episode("gone"), momento("Nobody")
    await graph.writer.apply(
        a_write(foreign, project, note, an_entry(note, project), an_entry(gone), a_project(nobody)), {}
    )
    assert await names_of(graph) == []
    found = await graph.part(PROJECTS).entries([note.uuid, gone.uuid], [GROUP])
    assert found == {note.uuid: an_entry(note)}


async def test_episodes_are_filtered_by_entry_project_and_type_before_the_page_is_cut(graph: Graph) -> None:
    sarah, entity, second = an_entity("Sarah"), momento(), momento("Other")
    project, other = a_project(entity), a_project(second)
    notes = [an_episode(f"Sarah of the bridge {n}", valid_at=at(2025, 1, n + 1)) for n in range(6)]
    entries = [
        an_entry(notes[0], project),
        an_entry(notes[1], project, type="task"),
        *(an_entry(note, other) for note in notes[2:5]),
    ]
    passages = [a_passage(note) for note in notes]
    vectors = {one.uuid: array("f", [1.0, 0.0]) for one in passages} | {passages[0].uuid: array("f", [0.6, 0.8])}
    mentions = [a_mention(note, sarah) for note in notes]
    await graph.writer.apply(
        a_write(sarah, a_name(sarah), entity, second, project, other, *notes, *entries, *passages, *mentions), vectors
    )

    async def found(limit: int = 9, **fields: object) -> list[list[str]]:
        filtered = EpisodeFilter(group_ids=(GROUP,), entries=EntryFilter.model_validate(fields))
        page = await graph.episodes.recent_episodes(filtered, Window(limit=limit))
        timeline = await graph.episodes.timeline(sarah.uuid, filtered, Window(limit=limit))
        assert page.total == timeline.total >= len(page.episodes)
        words = await graph.search.search_episodes(["bridge"], filtered, limit)
        near = await graph.search.nearest_episodes(array("f", [1.0, 0.0]), filtered, limit)
        mentioning = filtered.model_copy(update={"entity_uuid": sarah.uuid})
        assert await graph.search.nearest_episodes(array("f", [1.0, 0.0]), mentioning, limit) == near
        number = {note.uuid: note.content[-1] for note in notes}
        return [
            [one.content[-1] for one in page.episodes],
            [one.content[-1] for one in timeline.episodes],
            sorted(number[uuid] for uuid in words),
            [number[uuid] for uuid in near],
        ]

    assert await found(project_uuid=entity.uuid) == [["1", "0"], ["1", "0"], ["0", "1"], ["1", "0"]]
    assert (await found(1, project_uuid=entity.uuid))[3] == ["1"]
    assert await found(project_uuid=entity.uuid, type="journal") == [["0"]] * 4
    assert await found(type="task") == [["1"]] * 4
    whole = await found()
    assert whole[0] == whole[1] == ["4", "3", "2", "1", "0"]
    assert whole[2] == sorted(whole[3]) == ["0", "1", "2", "3", "4"]


async def test_an_entry_that_links_no_names_is_not_found_for_linking_but_otherwise(graph: Graph) -> None:
    note, entry = an_episode("Sarah came."), an_episode("Sarah went.")
    await graph.writer.apply(a_write(note, entry, an_entry(entry, links_names=False), an_entry(note)), {})

    async def naming(*, only_linking: bool) -> set[str]:
        found = await graph.search.episodes_naming(GROUP, "Sarah", at(2027), None, 9, only_linking=only_linking)
        return {one.content for one in found}

    assert await naming(only_linking=True) == {"Sarah came."}
    assert await naming(only_linking=False) == {"Sarah came.", "Sarah went."}


async def test_an_entry_goes_with_its_episode_and_stays_without_a_project_that_goes(graph: Graph) -> None:
    entity = momento()
    project = a_project(entity)
    first, second = an_episode("first"), an_episode("second")
    await graph.writer.apply(
        a_write(entity, project, first, second, an_entry(first, project), an_entry(second, project)), {}
    )
    await graph.writer.apply(a_write(deletions=Deletions(episodes=(first.uuid,))), {})
    uuids = [first.uuid, second.uuid]
    assert await graph.part(PROJECTS).entries(uuids, [GROUP]) == {second.uuid: an_entry(second, project)}
    await graph.writer.apply(a_write(deletions=Deletions(entities=(entity.uuid,))), {})
    assert await graph.part(PROJECTS).entries(uuids, [GROUP]) == {second.uuid: an_entry(second)}
    assert await names_of(graph) == []
    await graph.writer.apply(a_write(first, entity, an_entry(first)), {})
    assert await names_of(graph) == []


async def test_a_cleared_group_keeps_no_project_and_no_entry(graph: Graph) -> None:
    entity, foreign = momento(), momento("Foreign", group_id=OTHER_GROUP)
    note = an_episode("note")
    await graph.writer.apply(a_write(entity, foreign, note, a_project(entity), a_project(foreign), an_entry(note)), {})
    await graph.writer.apply(a_write(deletions=Deletions(groups=(GROUP,))), {})
    assert await names_of(graph, group_ids=(GROUP, OTHER_GROUP)) == ["Foreign"]
    assert await graph.part(PROJECTS).entries([note.uuid], [GROUP]) == {}


async def test_metadata_is_forgotten_and_nothing_else_of_the_record(graph: Graph) -> None:
    entity = momento()
    note, other = an_episode("note"), an_episode("other")
    project = a_project(entity, metadata='{"with": "Anna"}', pins=("one",))
    entry, kept = an_entry(note, project, metadata='{"with": "Anna"}'), an_entry(other, metadata='{"with": "Tom"}')
    await graph.writer.apply(a_write(entity, project, note, other, entry, kept), {})
    forgets = Forgetting(metadata=(note.uuid, entity.uuid))
    await graph.writer.apply(an_intent(forgets=forgets), {})
    (row,) = (await graph.part(PROJECTS).projects(wanted(), Window(limit=9))).projects
    assert row.project == project.model_copy(update={"metadata": NO_METADATA})
    found = await graph.part(PROJECTS).entries([note.uuid, other.uuid], [GROUP])
    assert found == {note.uuid: entry.model_copy(update={"metadata": NO_METADATA}), other.uuid: kept}


def asked(project: Project, **fields: object) -> RelevanceFilter:
    values = {"project_uuid": project.uuid, "group_id": GROUP, "now": NOW, "threshold": 0, **fields}
    return RelevanceFilter.model_validate(values)


class Office:
    """A project with three entries, and what its entities hang together with."""

    def __init__(self) -> None:
        self.entity, self.second = momento(), momento("Other")
        self.project, self.other = a_project(self.entity), a_project(self.second)
        self.jwt, self.module, self.parser = an_entity("JWT"), an_entity("module"), an_entity("parser")
        self.lonely, self.word, self.alone = an_entity("lonely"), an_entity("accepted"), an_entity("alone")
        named = (self.jwt, self.module, self.parser, self.lonely)
        self.notes = [an_episode(f"note {n}", valid_at=at(2026, 5, n + 1)) for n in range(4)]
        entries = [an_entry(note, self.project) for note in self.notes[:3]] + [an_entry(self.notes[3], self.other)]
        self.records = [
            *(self.entity, self.second, *named, self.word, self.alone, self.project, self.other),
            *(self.notes + entries),
            *(a_name(one) for one in (self.entity, self.second, *named)),
            a_name(self.word, is_linkable=False),
            *(a_mention(note, self.jwt) for note in self.notes),
            a_mention(self.notes[0], self.module),
            *(a_mention(self.notes[3], one) for one in (self.parser, self.lonely)),
            a_mention(self.notes[0], self.word),
            a_mention(self.notes[0], self.entity),
            a_fact(self.module, self.jwt, "USES", valid_at=at(2026, 4)),
            a_fact(self.jwt, self.module, "IS_USED_BY", valid_at=at(2026, 4)),
            a_fact(self.parser, self.jwt, "USES", valid_at=at(2026, 5, 20)),
            a_fact(self.parser, self.parser, "OBSERVATION"),
            a_fact(self.parser, self.module, "USES", valid_at=at(2026, 1), expired_at=RECORDED),
            a_fact(self.lonely, self.module, "USES", kind="plan", valid_at=at(2026, 1)),
        ]


async def relevant(graph: Graph, wanted: RelevanceFilter, limit: int = 9) -> list[list[tuple[object, ...]]]:
    found = await graph.part(PROJECTS).relevant(wanted, Window(limit=limit), Window(limit=limit))
    return [
        [(one.name, one.mentions, one.connections, one.last_active, one.is_pinned) for one in part.entities]
        for part in (found.primary, found.secondary)
    ]


async def test_what_a_project_mentions_comes_first_and_what_hangs_together_with_it_apart(graph: Graph) -> None:
    office = Office()
    await graph.writer.apply(a_write(*office.records), {})
    found = await relevant(graph, asked(office.project, pins=(office.alone.uuid, new_uuid())))
    assert found == [
        [("JWT", 3, 1, at(2026, 5, 3), False), ("module", 1, 1, at(2026, 5, 1), False)],
        [("parser", 0, 1, at(2026, 5, 20), False), ("alone", 0, 0, None, True)],
    ]
    parts = await graph.part(PROJECTS).relevant(asked(office.project), Window(limit=9), None)
    (jwt, module) = parts.primary.entities
    days = (NOW - at(2026, 5, 3)).total_seconds() / 86_400
    assert abs(jwt.score - SCALE * terms_of(3, 3, 1, days, is_pinned=False).score) <= 1
    days = (NOW - at(2026, 5, 1)).total_seconds() / 86_400
    assert abs(module.score - SCALE * terms_of(1, 3, 1, days, is_pinned=False).score) <= 1
    assert (parts.most_mentions, parts.secondary.entities, parts.secondary.total) == (3, (), 1)


async def test_the_threshold_counts_and_a_score_that_equals_it_passes(graph: Graph) -> None:
    office = Office()
    await graph.writer.apply(a_write(*office.records), {})
    part = graph.part(PROJECTS)
    whole = (await part.relevant(asked(office.project), Window(limit=9), Window(limit=9))).primary
    second = whole.entities[1]
    for threshold, names, below in ((second.score, 2, 0), (second.score + 1, 1, 1)):
        found = (await part.relevant(asked(office.project, threshold=threshold), Window(limit=9), None)).primary
        assert (len(found.entities), found.total, found.below) == (names, names, below)
    after = (whole.entities[0].score, whole.entities[0].name, whole.entities[0].uuid)
    rest = (await part.relevant(asked(office.project), Window(limit=9, after=after), None)).primary
    assert (list(rest.entities), rest.total) == ([second], 2)
    assert (await part.relevant(asked(office.project), Window(limit=1), None)).primary.entities == whole.entities[:1]


async def test_what_is_written_later_or_only_in_archived_projects_is_left_out(graph: Graph) -> None:
    office = Office()
    await graph.writer.apply(a_write(*office.records), {})
    late = an_episode("late", created_at=RECORDED + timedelta(days=1), valid_at=at(2026, 5, 9))
    added = (late, an_entry(late, office.project), a_mention(late, office.lonely))
    await graph.writer.apply(a_write(*added, recorded_at=late.created_at), {})
    assert [one[0] for one in (await relevant(graph, asked(office.project)))[0]] == ["JWT", "module", "lonely"]
    before = await relevant(graph, asked(office.project, recorded_until=RECORDED))
    assert [one[0] for one in before[0]] == ["JWT", "module"]
    archived = await relevant(graph, asked(office.project, archived=(office.second.uuid,)))
    assert archived[1] == []
    pinned = asked(office.project, archived=(office.second.uuid,), pins=(office.parser.uuid,))
    assert [one[0] for one in (await relevant(graph, pinned))[1]] == ["parser"]
    of_nothing = a_project(momento("Empty"))
    assert await relevant(graph, asked(of_nothing)) == [[], []]


async def test_a_fact_joins_two_entities_from_its_start_to_its_end_whenever_it_was_written(graph: Graph) -> None:
    office = Office()
    await graph.writer.apply(a_write(*office.records), {})
    lasting = a_fact(office.lonely, office.jwt, "USES", valid_at=at(2026, 7), invalid_at=at(2026, 9))
    twice = a_fact(office.jwt, office.lonely, "IS_USED_BY", valid_at=at(2026, 8))
    await graph.writer.apply(a_write(lasting, twice), {})

    async def lonely(now: datetime) -> list[tuple[object, ...]]:
        found = await relevant(graph, asked(office.project, now=now))
        return [one[2:4] for one in found[1] if one[0] == "lonely"]

    assert await lonely(at(2026, 6)) == []
    assert await lonely(at(2026, 7)) == [(1, at(2026, 7))]
    assert await lonely(at(2026, 8, 15)) == [(1, at(2026, 8))]
    await graph.writer.apply(a_write(deletions=Deletions(facts=(twice.uuid,)), group_id=GROUP), {})
    assert await lonely(at(2026, 8, 15)) == [(1, at(2026, 7))]
    assert await lonely(at(2026, 9)) == []


async def test_what_a_forgotten_mention_or_name_joined_is_joined_no_more(graph: Graph) -> None:
    office = Office()
    await graph.writer.apply(a_write(*office.records), {})
    lost = Forgetting(mentions=tuple((note.uuid, office.jwt.uuid) for note in office.notes[:3]))
    await graph.writer.apply(an_intent(forgets=lost), {})
    found = await relevant(graph, asked(office.project))
    assert found == [[("module", 1, 0, at(2026, 5, 1), False)], [("JWT", 0, 1, at(2026, 4), False)]]
    await graph.writer.apply(a_write(a_mention(office.notes[2], office.jwt)), {})
    found = await relevant(graph, asked(office.project))
    assert found[0] == [("JWT", 1, 1, at(2026, 5, 3), False), ("module", 1, 1, at(2026, 5, 1), False)]
    assert [one[:3] for one in found[1]] == [("parser", 0, 1)]
    await graph.writer.apply(a_write(deletions=Deletions(episodes=(office.notes[0].uuid,)), group_id=GROUP), {})
    found = await relevant(graph, asked(office.project))
    assert [[one[:3] for one in part] for part in found] == [[("JWT", 1, 0)], [("parser", 0, 1), ("module", 0, 1)]]


async def test_the_projects_that_mention_an_entity(graph: Graph) -> None:
    office = Office()
    await graph.writer.apply(a_write(*office.records), {})
    uuids = [office.jwt.uuid, office.parser.uuid, office.alone.uuid]
    found = await graph.part(PROJECTS).projects_of(uuids, GROUP)
    assert {uuid: list(names) for uuid, names in found.items()} == {
        office.jwt.uuid: ["Momento", "Other"],
        office.parser.uuid: ["Other"],
        office.alone.uuid: [],
    }
    assert not any((await graph.part(PROJECTS).projects_of(uuids, OTHER_GROUP)).values())
