"""Groups of another's memory that are open to a caller beside its own: by the name ``memory/group`` and no other."""

import pytest
from tests.builders import a_write, an_entity
from tests.worlds.reading_world import World

from graphiti_pkm.core.identity.groups import answering, is_of
from graphiti_pkm.core.model.access import LOCAL, Caller, SharedMemory, Tier
from graphiti_pkm.errors import InvalidInput, NotAllowed, PermissionDenied

TEAM = Caller(principal="team")
BEN = Caller(principal="ben")


def a_member(tier: Tier = "contributor", *groups: str, needs: Tier = "reader") -> Caller:
    return Caller(principal="anna", shared=(SharedMemory(memory="team", tier=tier, groups=groups),), needs=needs)


def test_a_member_names_the_group_and_means_that_of_the_memory() -> None:
    groups = World().groups
    assert groups.one(a_member(), "team/decisions") == groups.one(TEAM, "decisions")
    assert groups.one(a_member(), "decisions") == groups.one(Caller(principal="anna"), "decisions")
    assert groups.one(a_member(), None) == groups.one(Caller(principal="anna"), None)
    assert groups.searched(a_member(), None) == (groups.one(Caller(principal="anna"), None),)


async def test_what_is_open_is_visible_and_nothing_else_of_it() -> None:
    world = World()
    groups = world.groups
    for owner in (TEAM, BEN, Caller(principal="anna"), LOCAL):
        for name in ("decisions", "default"):
            await world.given(a_write(an_entity("Someone", group_id=groups.one(owner, name))))
    own = {groups.one(Caller(principal="anna"), name) for name in ("decisions", "default")}
    decisions, default = (groups.one(TEAM, name) for name in ("decisions", "default"))
    assert set(await groups.visible(a_member())) == {*own, decisions, default}
    assert set(await groups.visible(a_member("reader", "decisions"))) == {*own, decisions}
    assert set(await groups.visible(Caller(principal="anna"))) == own
    assert decisions not in await groups.visible(a_member("reader", needs="contributor"))


async def test_the_local_memory_can_be_shared_and_opens_no_others() -> None:
    world = World()
    groups = world.groups
    for owner in (LOCAL, TEAM):
        await world.given(a_write(an_entity("Someone", group_id=groups.one(owner, "home"))))
    guest = Caller(principal="anna", shared=(SharedMemory(memory="local", tier="reader"),))
    assert groups.one(guest, "local/home") == "home"
    assert await groups.visible(guest) == ("home",)
    with pytest.raises(InvalidInput):
        groups.one(guest, f"local/{groups.one(TEAM, 'home')}")


@pytest.mark.parametrize(
    "name", ["team/decisions", "team/nothing", "nobody/decisions", "ben/default", "local/default", "anna/default"]
)
def test_what_is_not_open_is_answered_like_what_is_not_there(name: str) -> None:
    groups = World().groups
    told = set()
    for asked in (name, "nowhere/nothing"):
        for caller in (Caller(principal="anna"), LOCAL, Caller(principal="anna", groups=("decisions",))):
            with pytest.raises(NotAllowed) as refused:
                groups.one(caller, asked)
            told.add((refused.value.code, refused.value.message))
    assert told == {("not_allowed", "No shared memory of this name is open to you; none is.")}
    with pytest.raises(NotAllowed, match=r"There are: team/plans\."):
        groups.one(a_member("curator", "plans"), name)


@pytest.mark.parametrize("name", ["/x", "team/", "team//x", "team/x/y", "team/../x", "te am/x", "team\\x", "team/ä"])
def test_what_is_no_name_is_refused_as_that(name: str) -> None:
    with pytest.raises(InvalidInput, match="is not a group name"):
        World().groups.one(a_member(), name)


def test_a_tier_that_is_too_low_there_is_said_and_the_highest_of_several_counts() -> None:
    groups = World().groups
    reader = a_member("reader", needs="contributor")
    with pytest.raises(PermissionDenied, match="needs tier contributor in team/decisions, and yours there is reader"):
        groups.one(reader, "team/decisions")
    both = (SharedMemory(memory="team", tier="curator", groups=("decisions",)), *reader.shared)
    caller = reader.model_copy(update={"shared": both})
    assert groups.one(caller, "team/decisions") == groups.one(TEAM, "decisions")
    with pytest.raises(PermissionDenied):
        groups.one(caller, "team/plans")


def test_a_caller_has_no_more_there_than_its_token_has() -> None:
    groups = World().groups
    decisions = groups.one(TEAM, "decisions")
    assert groups.may(a_member("curator"), decisions, "curator")
    assert not groups.may(a_member("librarian"), decisions, "curator")
    assert groups.may(a_member("librarian"), groups.one(a_member(), None), "curator")
    assert not groups.may(a_member("curator").model_copy(update={"tier": "reader"}), decisions, "contributor")


def test_a_group_is_shown_by_the_name_that_the_caller_who_is_answered_knows_it_by() -> None:
    groups = World().groups
    stored = groups.one(TEAM, "decisions")
    with answering(a_member()):
        assert groups.public(stored) == "team/decisions"
        assert groups.public(groups.one(a_member(), "decisions")) == "decisions"
    with answering(TEAM):
        assert groups.public(stored) == "decisions"
    assert groups.name_for(a_member(), stored) == "team/decisions"
    assert groups.one(a_member(), groups.name_for(a_member(), stored)) == stored
    assert groups.name_for(TEAM, stored) == "decisions"


def test_what_only_a_uuid_led_to_is_not_added_to() -> None:
    groups = World().groups
    stored = groups.one(TEAM, "decisions")
    with pytest.raises(InvalidInput, match="group team/decisions, and what is added there has to name it"):
        groups.refuse_unnamed(a_member(), stored, None)
    groups.refuse_unnamed(a_member(), stored, "team/decisions")
    groups.refuse_unnamed(a_member(), groups.one(a_member(), "work"), None)
    assert is_of(stored, "team")


def test_what_a_member_may_see_is_another_thing_once_it_is_none() -> None:
    before, after = a_member("reader", "a", "b"), Caller(principal="anna")
    assert before.visibility == ("anna", "team/a", "team/b")
    assert a_member("reader", "b", "a").visibility == before.visibility
    assert after.visibility == before.own_visibility == ("anna",)
