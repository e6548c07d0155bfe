"""Aliases that are a role ("my coach") of an entity that a write takes that role from."""

from graphiti_pkm.capabilities.remember.attention import AttentionWriter
from graphiti_pkm.capabilities.remember.write_plan import WritePlan
from graphiti_pkm.core.facts.roles import role_of
from graphiti_pkm.core.model.answers import Attention
from graphiti_pkm.core.model.records import Fact
from graphiti_pkm.core.ports.graph import Graph

_ALIASES = 20
_MOST_FACTS = 5


async def report_former_roles(graph: Graph, plan: WritePlan, writer: AttentionWriter, person: str) -> list[Attention]:
    """A notice for each alias by which notes would still name the former holder of a role."""
    me, world = plan.person_uuid, plan.world
    if me is None:
        return []
    facts = {fact.uuid: fact for fact in (*world.known, *world.created)}
    over = [one for one in plan.retirements.answers if one.kind not in {"fulfilled", "moved"}][:_MOST_FACTS]
    ended = {
        _other(old, me): (old, facts.get(one.replaced_by or ""))
        for one in over
        if (old := facts[one.uuid]).kind == "state" and me in (old.source_uuid, old.target_uuid)
    }
    if not ended:
        return []
    aliases = await graph.records.aliases([uuid for uuid, _ in ended], _ALIASES)
    return [
        writer.former_role(alias, (name, uuid), _successor(new, me, uuid), old)
        for (uuid, name), (old, new) in ended.items()
        for alias in aliases.get(uuid, ())
        if (role := role_of(alias)) is not None
        and role.is_mine
        and role.is_held_by(old.model_copy(update={"voided": False}), me, person)
    ]


def _other(fact: Fact, me: str) -> tuple[str, str]:
    """(uuid, name) of the end that is not the person."""
    if fact.source_uuid == me:
        return fact.target_uuid, fact.target_name
    return fact.source_uuid, fact.source_name


def _successor(new: Fact | None, me: str, former: str) -> tuple[str, str] | None:
    """(name, uuid) of whom a replacement joins with the person."""
    if new is None or me not in (new.source_uuid, new.target_uuid):
        return None
    uuid, name = _other(new, me)
    return None if uuid == former else (name, uuid)
