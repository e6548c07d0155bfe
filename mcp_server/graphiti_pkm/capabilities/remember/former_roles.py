"""Aliases that are a role ("my coach") of an entity that a write takes that role from."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import uuid4

from graphiti_pkm.capabilities.remember.attention import AttentionWriter
from graphiti_pkm.capabilities.remember.write_plan import MovedName, WritePlan
from graphiti_pkm.core.facts import rules
from graphiti_pkm.core.facts.history import state_of
from graphiti_pkm.core.facts.resolution import TakenAlias
from graphiti_pkm.core.facts.roles import Role, role_of
from graphiti_pkm.core.identity.mentions import NamedIn
from graphiti_pkm.core.model.answers import Attention
from graphiti_pkm.core.model.names import name_key
from graphiti_pkm.core.model.records import Entity, Fact, FactChange, Name
from graphiti_pkm.core.ports.graph import Graph

_ALIASES = 20
_MOST_FACTS = 5
_MOST_ROLES = 5
_BETWEEN_EACH = 20


async def give_roles(graph: Graph, plan: WritePlan, names: Mapping[str, Name], person: str, now: datetime) -> None:
    """Give an alias that is a role to whom the write gives that role, once its former holder has it no more.

    ``names``: those that the call uses. Of two who had the role one after the other the caller need not be told that
    they are two.
    """
    group, me = plan.episode.group_id, plan.person_uuid
    roles = [(role, *one) for one in plan.taken if (role := role_of(one[0].alias)) is not None and role.is_mine]
    for role, taken, notice in roles[:_MOST_ROLES]:
        new, former = taken.wanted_for.entity.uuid, taken.holder_uuid
        if me is None:
            continue
        pairs = [(me, new), (new, me), (me, former), (former, me)]
        stored = [fact for facts in await graph.facts.facts_between(group, pairs, _BETWEEN_EACH) for fact in facts]
        facts = {fact.uuid: fact for fact in (*stored, *plan.world.created)}.values()
        held = [plan.world.latest(fact) for fact in facts if _gives(role, fact, me, person)]
        own = [fact for fact in held if new in (fact.source_uuid, fact.target_uuid)]
        others = [fact for fact in held if former in (fact.source_uuid, fact.target_uuid)]
        has_it, had_it = (any(rules.is_current(fact, now) for fact in each) for each in (own, others))
        if not (own and others) or has_it == had_it:
            continue
        plan.attention.remove(notice)
        name = names.get(name_key(group, taken.alias))  # unknown if both are declared here
        holders = await graph.records.get_entities([former], [group]) if name else []
        held_by = [(one, name) for one in holders if name is not None]
        for holder, held_name in held_by:
            await _unlink(graph, plan, holder, held_name)
        if has_it:
            _move(plan, taken, held_by)


async def _unlink(graph: Graph, plan: WritePlan, holder: Entity, held: Name) -> None:
    """A note that calls somebody else so does not mention the holder of a name, unless by another one."""
    aliases = (await graph.records.aliases([holder.uuid], _ALIASES))[holder.uuid]
    said = NamedIn(plan.episode.content)
    others = [text for text in (holder.name, *aliases) if name_key(holder.group_id, text) != held.key]
    if not any(text.lower() in said for text in others):
        plan.linked = [one for one in plan.linked if one[0] != holder.uuid]


def _move(plan: WritePlan, taken: TakenAlias, stored: Sequence[tuple[Entity, Name]]) -> None:
    """Write the name for its new holder, as an update of the former one if it is ``stored`` with that.

    Earlier notes are not linked by it, as they mean the former one.
    """
    episode, resolved = plan.episode, taken.wanted_for
    given = _taken_back(plan, taken.holder_uuid, name_key(episode.group_id, taken.alias))
    change = None
    for former, held in stored:
        given = given or held
        change = FactChange(
            uuid=str(uuid4()),
            fact_uuid=former.uuid,
            kind="updated",
            episode_uuid=episode.uuid,
            recorded_at=episode.created_at,
            caller=plan.retirements.caller,
            entity_before=state_of(former, (held,)),
            entity_after=state_of(former, ()),
        )
    if given is not None:
        plan.moved.append(MovedName(given.model_copy(update={"entity_uuid": resolved.entity.uuid}), change))
        resolved.new_aliases[taken.alias] = None


def _taken_back(plan: WritePlan, uuid: str, key: str) -> Name | None:
    """A name that the write would give an entity, which does not get it now."""
    for one in plan.resolved:
        if one.entity.uuid == uuid and (name := one.named.pop(key, None)) is not None:
            for alias in [alias for alias in one.new_aliases if name_key(name.group_id, alias) == key]:
                del one.new_aliases[alias]
            return name
    return None


def _gives(role: Role, fact: Fact, me: str, person: str) -> bool:
    """Whether a fact gives or gave somebody the role, even if it turned out to be wrong."""
    return role.is_held_by(fact.model_copy(update={"voided": False}), me, person)


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
    moved = {one.name.key for one in plan.moved}
    return [
        writer.former_role(alias, (name, uuid), _successor(new, me, uuid), old)
        for (uuid, name), (old, new) in ended.items()
        for alias in aliases.get(uuid, ())
        if name_key(plan.episode.group_id, alias) not in moved
        and (role := role_of(alias)) is not None
        and role.is_mine
        and _gives(role, old, me, person)
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
