"""Public group names and stored ids."""

import re

import pytest
from tests.builders import a_write, an_entity
from tests.worlds.reading_world import World

from graphiti_pkm.core.model.access import LOCAL, Caller
from graphiti_pkm.core.model.targets import TARGETS, Target, group_of_target, groups_beside, target_of
from graphiti_pkm.errors import InvalidInput, NotAllowed

ANNA = Caller(principal="anna")
BEN = Caller(principal="ben")


def test_local_names_are_stored_unchanged() -> None:
    groups = World().groups
    assert groups.one(LOCAL, "project-x_1") == "project-x_1"
    assert groups.public("project-x_1") == "project-x_1"


def test_the_default_group_is_used_when_none_is_named() -> None:
    assert World(default_group="journal").groups.one(LOCAL, None) == "journal"


def test_other_principals_get_a_hash_before_the_name_and_never_see_it() -> None:
    groups = World().groups
    stored = groups.one(ANNA, "work")
    assert re.fullmatch(r"[0-9a-f]{32}_work", stored)
    assert stored != groups.one(BEN, "work")
    assert groups.public(stored) == "work"


@pytest.mark.parametrize("name", ["", " ", "a b", "main:staging", "ä", "x" * 65, "a\n", "a\0b", "\ud800", "-/-", "'"])
def test_names_that_no_group_can_have_are_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match="not a group name"):
        World().groups.one(LOCAL, name)


@pytest.mark.parametrize("caller", [LOCAL, ANNA])
def test_names_in_the_form_of_a_stored_id_are_refused(caller: Caller) -> None:
    groups = World().groups
    with pytest.raises(InvalidInput, match="reserved"):
        groups.one(caller, groups.one(BEN, "work"))


def test_a_single_name_is_a_list_of_one_and_an_empty_list_counts_as_omitted() -> None:
    groups = World().groups
    assert groups.many(LOCAL, "a") == ("a",)
    assert groups.many(LOCAL, ["b", "a", "b"]) == ("b", "a")
    assert groups.many(LOCAL, []) is None
    assert groups.many(LOCAL, None) is None


async def test_each_principal_sees_only_their_own_groups() -> None:
    world = World()
    annas, bens = world.groups.one(ANNA, "work"), world.groups.one(BEN, "work")
    for group in ("home", annas, bens):
        await world.given(a_write(an_entity("Someone", group_id=group)))
    assert await world.groups.visible(LOCAL) == ("home",)
    assert await world.groups.visible(ANNA) == (annas,)
    assert await world.groups.visible(BEN) == (bens,)


async def test_a_caller_held_to_some_groups_sees_and_names_no_others() -> None:
    world = World()
    held = Caller(principal="anna", groups=("work", "home"))
    for name in ("work", "diary"):
        await world.given(a_write(an_entity("Someone", group_id=world.groups.one(ANNA, name))))
    assert await world.groups.visible(held) == (world.groups.one(ANNA, "work"),)
    for name in ("diary", "nowhere"):
        with pytest.raises(NotAllowed, match="not among those of this token: work, home"):
            world.groups.one(held, name)


def test_without_a_name_a_caller_held_to_groups_gets_the_default_if_it_is_one_of_them_else_the_first() -> None:
    groups = World(default_group="home").groups
    assert groups.one(Caller(groups=("work", "home")), None) == "home"
    assert groups.searched(Caller(groups=("work", "diary")), None) == ("work",)


def test_a_target_is_a_group_beside_the_one_it_belongs_to() -> None:
    assert [group_of_target("work", target) for target in TARGETS] == ["work_staging", "work", "work_archive"]
    assert [target_of(group_of_target("work", target)) for target in TARGETS] == list(TARGETS)
    assert target_of("work_production") == "production"


def test_each_target_knows_the_groups_beside_it() -> None:
    groups = {group_of_target("work", target) for target in TARGETS}
    for name in groups:
        assert {name, *groups_beside(name)} == groups
    assert groups_beside("work_production") == ("work_production_staging", "work_production_archive")


@pytest.mark.parametrize("target", TARGETS)
def test_staging_has_no_staging_of_its_own(target: Target) -> None:
    with pytest.raises(InvalidInput, match="work_archive is staging or an archive itself"):
        group_of_target("work_archive", target)


async def test_staging_and_archives_are_seen_but_never_read_unasked() -> None:
    world = World()
    for name in ("work", "work_staging", "work_archive"):
        await world.given(a_write(an_entity("Someone", group_id=world.groups.one(ANNA, name))))
    assert {world.groups.public(one) for one in await world.groups.visible(ANNA)} == {
        "work",
        "work_staging",
        "work_archive",
    }
    assert await world.groups.visible_unasked(ANNA) == (world.groups.one(ANNA, "work"),)


def test_staging_is_the_default_of_a_token_that_opens_nothing_else_only() -> None:
    groups = World(default_group="home").groups
    assert groups.searched(Caller(groups=("work_staging", "work")), None) == ("work",)
    assert groups.searched(Caller(groups=("work_staging",)), None) == ("work_staging",)
