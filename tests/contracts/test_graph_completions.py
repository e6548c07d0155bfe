"""Contract of ``Graph``: what completions read of a text that is not finished."""

import pytest
from tests.builders import a_write, an_entity, an_episode

from graphiti_pkm.core.model.names import typed_terms
from graphiti_pkm.core.model.queries import EntityFilter, Window
from graphiti_pkm.core.ports.graph import Graph

MINE = EntityFilter(group_ids=("t1",))


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("ann", {"Ann Lee", "Anna", "Årsta Annex"}),
        ("Anna", {"Anna"}),
        ("ars", {"Årsta Annex"}),
        ("ann le", set()),
        ("communicati", {"Communications"}),
        ("xyz", set()),
    ],
)
async def test_names_are_found_by_the_beginning_of_a_word(typed: str, found: set[str], graph: Graph) -> None:
    names = ("Ann Lee", "Anna", "Årsta Annex", "Zoe", "Communications")
    entities = [an_entity(name) for name in names]
    await graph.writer.apply(a_write(*entities, an_entity("Anne", group_id="t2")), {})
    terms = typed_terms(typed)
    hits = set(await graph.search.search_entities(terms, MINE, 10)) if terms else set()
    assert {entity.name for entity in entities if entity.uuid in hits} == found


async def test_a_page_of_names_begins_after_a_text_that_is_no_name(graph: Graph) -> None:
    entities = [an_entity(name) for name in ("Anna", "Ben", "Cleo")]
    await graph.writer.apply(a_write(*entities, an_entity("Bea", group_id="t2")), {})
    for start, found in (("B", ["Ben", "Cleo"]), ("Ben", ["Ben", "Cleo"]), ("Bf", ["Cleo"]), ("Z", [])):
        listed, _ = await graph.records.entity_page(MINE, Window(limit=10, after=(start, "")))
        assert [entity.name for entity in listed] == found


@pytest.mark.parametrize("prefix", ["", "1", "12345678-0"])
async def test_uuids_are_found_by_any_beginning(prefix: str, graph: Graph) -> None:
    uuid = "12345678-0000-4000-8000-000000000000"
    others = [an_episode(), an_episode(group_id="t2")] if prefix else []
    await graph.writer.apply(a_write(an_episode(uuid=uuid), *others), {})
    found = await graph.records.find_uuids("episode", prefix, ["t1"], 10)
    assert uuid in found
    assert all(one.startswith(prefix) for one in found)
