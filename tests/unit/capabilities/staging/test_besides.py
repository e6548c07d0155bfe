"""Projects, reviews and summaries of what both groups know: they come where there are none, and no move loses one."""

from pathlib import Path

import pytest
from tests.worlds.staging_world import StagingWorld

from graphiti_pkm.capabilities.curation.requests import FlagForReview, SetConfidence
from graphiti_pkm.capabilities.history.requests import UpdateEntity
from graphiti_pkm.capabilities.projects.assembly import PROJECTS
from graphiti_pkm.capabilities.projects.projects import Projects
from graphiti_pkm.capabilities.projects.requests import CreateProject, ListProjects, UpdateProject
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.core.model.records import Entity
from graphiti_pkm.errors import Unavailable
from graphiti_pkm.storage.commit import Committer

STAGING = "default_staging"


@pytest.fixture
async def world(tmp_path: Path) -> StagingWorld:
    """Both groups know that Anna works on Momento."""
    world = StagingWorld(tmp_path)
    await world.tell("Anna works on Momento.", {"source": "Anna", "relation": "WORKS_ON", "target": "Momento"})
    await world.migrate(source="default", target=STAGING)
    world.clock.advance(seconds=1)
    return world


def entity(world: StagingWorld, name: str, group: str) -> Entity:
    (found,) = [one for one in world.graph.tables.entities.values() if (one.name, one.group_id) == (name, group)]
    return found


def names(world: StagingWorld, group: str) -> list[str]:
    return sorted(one.name for one in world.graph.tables.entities.values() if one.group_id == group)


def projects(world: StagingWorld) -> Projects:
    groups = Groups(world.graph, world.context.settings)
    return Projects(world.context, groups, world.graph.part(PROJECTS), world.writing, Committer(world.context))


async def create(world: StagingWorld, group: str = STAGING, *, description: str = "Big plan.", number: int = 1) -> None:
    made = CreateProject(name="Momento", description=description, metadata={"k": number}, group_id=group)
    await projects(world).create_project(LOCAL, made)
    world.clock.advance(seconds=1)


async def update(world: StagingWorld, group: str = STAGING, **fields: object) -> None:
    given = {"project": "Momento", "group_id": group, **fields}
    await projects(world).update_project(LOCAL, UpdateProject.model_validate(given))
    world.clock.advance(seconds=1)


async def listed(world: StagingWorld, group: str) -> list[tuple[str, object, list[str]]]:
    """Description, metadata and pins of the projects of a group."""
    found = await projects(world).list_projects(LOCAL, ListProjects(group_ids=[group]))
    pins = {one.uuid: one.pins for one in world.graph.tables.projects.values()}
    named = world.graph.tables.entities
    return [
        (one.description, one.metadata, [named[pin].name for pin in pins[one.project_id]]) for one in found.projects
    ]


@pytest.mark.parametrize("moves", [False, True])
async def test_a_project_of_a_known_entity_comes_with_its_description_and_pins(
    world: StagingWorld, *, moves: bool
) -> None:
    await create(world)
    await update(world, pin=["Anna"])
    done = await world.migrate(moves=moves)
    assert await listed(world, "default") == [("Big plan.", {"k": 1}, ["Anna"])]
    assert (done.differing, done.kept, await listed(world, STAGING) == []) == ((), 0, moves)
    if not moves:
        before, rows = world.state(), len(world.journal.table)
        again = await world.migrate()
        assert (again.differing, world.state(), len(world.journal.table)) == ((), before, rows)


@pytest.mark.parametrize(
    ("changed", "said", "left"),
    [
        ({"description": "New."}, "Momento: its summary", ["Momento"]),
        ({"metadata": {"k": 2}}, "Momento: its metadata or pins as a project", ["Momento"]),
        ({"pin": ["Anna"]}, "Momento: its metadata or pins as a project", ["Anna", "Momento"]),
    ],
)
async def test_a_project_that_the_target_has_otherwise_stays_in_both(
    world: StagingWorld, changed: dict[str, object], said: str, left: list[str]
) -> None:
    await create(world, "default")
    await world.migrate(source="default", target=STAGING)
    world.clock.advance(seconds=1)
    await update(world, **changed)
    both = [await listed(world, group) for group in ("default", STAGING)]
    preview = await world.migrate(moves=True, writes=False)
    done = await world.migrate(moves=True)
    assert [await listed(world, group) for group in ("default", STAGING)] == both
    assert (names(world, STAGING), done.kept) == (left, len(left))
    assert preview.differing == done.differing == (said,)
    assert (
        "1 entity is described or reviewed otherwise in default and stays so; default_staging keeps it." in done.message
    )


async def test_pins_to_what_does_not_come_stay_with_their_project(world: StagingWorld) -> None:
    await create(world)
    await update(world, pin=["Anna"])
    done = await world.migrate("Momento", moves=True, has_facts=False, has_episodes=False)
    assert done.differing == ("Momento: its metadata or pins as a project",)
    assert await listed(world, STAGING) == [("Big plan.", {"k": 1}, ["Anna"])]


async def test_a_review_comes_where_there_is_none(world: StagingWorld) -> None:
    anna = entity(world, "Anna", STAGING).uuid
    await world.reviews.flag_for_review(LOCAL, FlagForReview(entity_uuid=anna, reason="Two people?"))
    done = await world.migrate(moves=True)
    review = world.graph.tables.qualities[entity(world, "Anna", "default").uuid]
    assert (review.flag_reason, review.group_id, done.differing) == ("Two people?", "default", ())
    assert names(world, STAGING) == []


async def test_a_review_that_the_target_has_otherwise_stays_in_both(world: StagingWorld) -> None:
    for group, confidence in (("default", 0.9), (STAGING, 0.3)):
        anna = entity(world, "Anna", group).uuid
        request = SetConfidence(entity_uuid=anna, confidence=confidence, reason="I know her.")
        await world.reviews.set_confidence(LOCAL, request)
    done = await world.migrate(moves=True)
    assert (done.differing, done.kept, names(world, STAGING)) == (("Anna: its review",), 1, ["Anna"])
    qualities = world.graph.tables.qualities
    said = [qualities[entity(world, "Anna", group).uuid].confidence for group in ("default", STAGING)]
    assert said == [0.9, 0.3]


async def test_a_summary_comes_where_there_is_none_and_another_one_stays(world: StagingWorld) -> None:
    for name, group in (("Anna", STAGING), ("Momento", STAGING), ("Momento", "default")):
        uuid = entity(world, name, group).uuid
        request = UpdateEntity(entity_uuid=uuid, summary=f"{name} of {group}.")
        await world.updating.update_entity(LOCAL, request)
        world.clock.advance(seconds=1)
    done = await world.migrate(moves=True)
    assert [entity(world, name, "default").summary for name in ("Anna", "Momento")] == [
        "Anna of default_staging.",
        "Momento of default.",
    ]
    assert (done.differing, names(world, STAGING)) == (("Momento: its summary",), ["Momento"])


async def test_a_summary_that_was_forgotten_in_the_target_does_not_come_back(world: StagingWorld) -> None:
    for group in ("default", STAGING):
        uuid = entity(world, "Momento", group).uuid
        request = UpdateEntity(entity_uuid=uuid, summary="Zoe's secret.")
        await world.updating.update_entity(LOCAL, request)
        world.clock.advance(seconds=1)
    await world.forget(query="Zoe's secret")
    assert "secret" not in str(world.state())
    await world.migrate()
    assert "secret" not in str(world.state())


async def test_a_disk_that_is_full_before_the_project_comes_loses_nothing(
    world: StagingWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    await create(world)
    commit = Committer.commit
    refused = []

    async def full(self: Committer, intent: object, vectors: object) -> object:
        if getattr(intent, "projects", ()):
            refused.append(intent)
            raise Unavailable("The disk is full.")
        return await commit(self, intent, vectors)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(Committer, "commit", full)
        with pytest.raises(Unavailable):
            await world.migrate(moves=True)
    assert (len(refused), await listed(world, STAGING)) == (1, [("Big plan.", {"k": 1}, [])])
    await world.migrate(moves=True)
    assert await listed(world, "default") == [("Big plan.", {"k": 1}, [])]
