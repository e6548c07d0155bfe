"""Counting a group, and comparing two by what they say."""

from pathlib import Path

import pytest
from tests.builders import a_document, a_saga, a_write, an_episode
from tests.worlds.staging_world import StagingWorld

from graphiti_pkm.core.model.access import LOCAL, Caller
from graphiti_pkm.core.model.record import Record
from graphiti_pkm.errors import NotAllowed


@pytest.fixture
async def world(tmp_path: Path) -> StagingWorld:
    """Two groups that share a fact; one has two more, the other one."""
    world = StagingWorld(tmp_path)
    for group in ("work", "work_staging"):
        await world.note("Anna lives in Rome.", "Anna", "LIVES_IN", "Rome", group_id=group)
    await world.note("Anna knows Tom.", "Anna", "KNOWS", "Tom", group_id="work_staging")
    await world.note("Anna knows Ben.", "Anna", "KNOWS", "Ben", group_id="work_staging")
    await world.note("Anna knows Eva.", "Anna", "KNOWS", "Eva", group_id="work")
    return world


async def test_two_groups_are_compared_whatever_their_uuids(world: StagingWorld) -> None:
    found = await world.comparing.diff(LOCAL, "work_staging", "work", 10)
    assert (found.entities_in_both, found.facts_in_both) == (2, 1)
    assert (found.only_source.entities, found.only_source.facts) == (
        ("Ben", "Tom"),
        ("Anna knows Ben.", "Anna knows Tom."),
    )
    assert (found.only_target.entities, found.only_target.facts) == (("Eva",), ("Anna knows Eva.",))


async def test_documents_are_compared_by_their_present_text_and_sagas_by_name(world: StagingWorld) -> None:
    async def write(group: str, *documents: tuple[str, str], sagas: tuple[str, ...] = ()) -> None:
        records: list[Record] = [a_saga(name, group_id=group) for name in sagas]
        for version, (name, digest) in enumerate(documents, 1):
            section = an_episode(digest, group_id=group)
            document, placed = a_document(section, name=name, digest=digest, version=version)
            records += [section, document, *placed]
        await world.graph.writer.apply(a_write(*records, group_id=group), {})

    await write("work_staging", ("guide", "old"), ("guide", "new"), ("cook", "c"), sagas=("Trip", "Games"))
    await write("work", ("guide", "old"), ("cook", "c"), sagas=("trip",))
    found = await world.comparing.diff(LOCAL, "work_staging", "work", 10)
    assert (found.documents_in_both, found.sagas_in_both) == (1, 1)
    assert (found.only_source.documents, found.only_source.sagas) == (("guide",), ("Games",))
    assert (found.only_target.documents, found.only_target.sagas) == (("guide",), ())
    assert (found.only_source.documents_total, found.only_source.sagas_total) == (1, 1)


async def test_lists_are_bounded_and_totals_are_not(world: StagingWorld) -> None:
    found = await world.comparing.diff(LOCAL, "work_staging", "work", 1)
    assert (len(found.only_source.facts), found.only_source.facts_total) == (1, 2)


async def test_a_group_is_equal_to_itself_and_differs_from_nothing_in_everything(world: StagingWorld) -> None:
    same = await world.comparing.diff(LOCAL, "work", "work", 10)
    assert (same.only_source.facts_total, same.only_target.entities_total, same.facts_in_both) == (0, 0, 2)
    nothing = await world.comparing.diff(LOCAL, "work", "nowhere", 10)
    assert (nothing.only_source.facts_total, nothing.facts_in_both) == (2, 0)


async def test_more_than_a_page_is_compared(world: StagingWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphiti_pkm.capabilities.staging.reading.PAGE", 1)
    found = await world.comparing.diff(LOCAL, "work_staging", "work", 10)
    assert (found.only_source.facts_total, found.only_source.entities_total, found.facts_in_both) == (2, 2, 1)


async def test_a_group_is_counted_with_what_may_need_a_look(world: StagingWorld) -> None:
    await world.take("one", "work_staging")
    found = await world.comparing.stats(LOCAL, "work_staging")
    assert (found.episodes, found.entities, found.facts, found.snapshots) == (3, 4, 3, 1)
    assert (found.documents, found.quotes) == (0, 0)
    assert (found.target, found.flagged, found.orphans, found.low_confidence, found.unfinished) == (
        "staging",
        0,
        0,
        0,
        None,
    )
    empty = await world.comparing.stats(LOCAL, "nowhere")
    assert (empty.episodes, empty.target) == (0, "production")


async def test_a_token_counts_and_compares_its_own_groups_only(world: StagingWorld) -> None:
    held = Caller(groups=("work",))
    assert (await world.comparing.stats(held, None)).group == "work"
    for act in (world.comparing.stats(held, "work_staging"), world.comparing.diff(held, "work", "work_staging", 5)):
        with pytest.raises(NotAllowed):
            await act
