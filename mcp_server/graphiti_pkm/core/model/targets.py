"""Groups beside one that is relied on: what is tried out, and what was put away."""

from typing import Literal, TypeAlias, get_args

from graphiti_pkm.errors import InvalidInput

Target: TypeAlias = Literal["staging", "production", "archive"]
"""The groups NAME_staging, NAME and NAME_archive."""
TARGETS: tuple[Target, ...] = get_args(Target)
_SET_ASIDE = tuple(f"_{target}" for target in TARGETS if target != "production")


def is_set_aside(name: str) -> bool:
    """Whether a group, by its public name, is staging or an archive, which nothing reads unless it is named."""
    return name.endswith(_SET_ASIDE)


def target_of(name: str) -> Target:
    """Which target a group is, by its public name."""
    return next((target for target in TARGETS if name.endswith(f"_{target}") and is_set_aside(name)), "production")


def words_of(name: str) -> str:
    """A group as those may hear of it who cannot see it."""
    return target_of(name) if is_set_aside(name) else "another group"


def groups_beside(name: str) -> tuple[str, ...]:
    """The other targets of the group that this one is a target of."""
    target = target_of(name)
    base = name if target == "production" else name.removesuffix(f"_{target}")
    return tuple(group_of_target(base, one) for one in TARGETS if one != target)


def group_of_target(name: str, target: Target) -> str:
    """The group of a target beside the group ``name``. Raises InvalidInput if that is itself staging or an archive."""
    if is_set_aside(name):
        raise InvalidInput(f"{name} is staging or an archive itself: name the group that it belongs to.")
    return name if target == "production" else f"{name}_{target}"
