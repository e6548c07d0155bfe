"""Plans what an update changes about an entity: pure, from the request and what was read."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from graphiti_pkm.capabilities.history.requests import UpdateEntity
from graphiti_pkm.core.facts.given_names import given_name
from graphiti_pkm.core.facts.history import state_of
from graphiti_pkm.core.facts.observations import TYPE
from graphiti_pkm.core.facts.parsed_facts import is_me
from graphiti_pkm.core.model.labels import as_label
from graphiti_pkm.core.model.names import name_key
from graphiti_pkm.core.model.records import Entity, EntityState, Name
from graphiti_pkm.core.model.requests import ME
from graphiti_pkm.errors import InvalidInput

_KEPT = "Nothing was changed"


@dataclass(frozen=True)
class Asked:
    """A request with names and type as they are stored; uuids are resolved."""

    name: str | None = None
    label: str | None = None
    summary: str | None = None
    add_aliases: tuple[str, ...] = ()
    remove_aliases: tuple[str, ...] = ()
    not_same_as: str | None = None
    unlink: tuple[str, ...] = ()
    link: tuple[str, ...] = ()

    @property
    def given(self) -> tuple[str, ...]:
        """Names that the entity gets."""
        return (*((self.name,) if self.name else ()), *self.add_aliases)


@dataclass(frozen=True)
class Found:
    """The entity with its own names by key, who else has the names asked for, and what is so already."""

    entity: Entity
    names: Mapping[str, Name]
    holders: Mapping[str, Name] = field(default_factory=dict)
    linked: Collection[str] = ()
    """Of the episodes asked about, those that mention it."""
    unlinked: Collection[str] = ()
    is_told_apart: bool = False
    used: Collection[str] = ()
    """Keys of names that a note has used since the update that is undone."""

    @property
    def is_person(self) -> bool:
        """Whether it is the group's person, who is never linked by mention."""
        return name_key(self.entity.group_id, ME) in self.names


@dataclass(frozen=True)
class EntityChange:
    """The entity with its new values, and both states for the event."""

    entity: Entity
    before: EntityState
    after: EntityState

    @property
    def is_nothing(self) -> bool:
        return self.before == self.after

    @property
    def is_renamed(self) -> bool:
        return self.before.name != self.after.name

    @property
    def given_names(self) -> tuple[Name, ...]:
        """Names that it did not have."""
        had = {name.key for name in self.before.names}
        return tuple(name for name in self.after.names if name.key not in had)


def read_update(request: UpdateEntity, person: str) -> Asked:
    """The request as it is stored, but for its uuids. Raises InvalidInput: nothing was changed."""
    if not request.model_dump(exclude_none=True, exclude={"entity_uuid"}):
        raise InvalidInput(f"{_KEPT}: all that was sent is blank. Give what is to change, for example name.")
    name = None if request.name is None else _checked(request.name, "name", person)
    label = None if request.type is None else as_label(request.type)
    if request.type is not None and label is None:
        raise InvalidInput(f"{_KEPT}: type needs a word of ASCII letters, for example Person.")
    both = set(request.unlink_episodes or ()) & set(request.link_episodes or ())
    if both:
        raise InvalidInput(f"{_KEPT}: an episode is in unlink_episodes and in link_episodes.")
    return Asked(
        name=name,
        label=label,
        summary=None if request.summary is None else request.summary.strip(),
        add_aliases=tuple(_checked(one, "add_aliases", person) for one in request.add_aliases or ()),
        remove_aliases=tuple(_checked(one, "remove_aliases", person) for one in request.remove_aliases or ()),
    )


def _checked(text: str, parameter: str, person: str) -> str:
    name = given_name(text, parameter, f"{_KEPT}: ")
    if parameter == "remove_aliases" and is_me(name, person):
        raise InvalidInput(f"{_KEPT}: {parameter} is a word for the user, who keeps it.")
    return name


def plan_update(asked: Asked, found: Found) -> EntityChange:
    """What the request changes. Raises InvalidInput, and then changes nothing of it."""
    entity = found.entity
    for text in asked.given:
        _refuse_held(found.holders.get(name_key(entity.group_id, text)), entity, "that name")
    if unknown := [one for one in asked.unlink if one not in found.linked]:
        raise InvalidInput(f"{_KEPT}: the entity is not linked to episode {unknown[0]}, so nothing was unlinked.")
    changed = entity.model_copy(
        update={
            "name": asked.name or entity.name,
            "label": asked.label or entity.label,
            "attributes": _attributes(entity, asked.label),
            **({} if asked.summary is None else {"summary": asked.summary, "summary_by_model": False}),
        }
    )
    new_links = tuple(one for one in asked.link if one not in found.linked)
    before, after = _differing(found.names, _new_names(asked, found))
    told_apart = () if asked.not_same_as is None else (asked.not_same_as,)
    return EntityChange(
        changed,
        state_of(
            entity,
            before,
            not_same_as=told_apart if found.is_told_apart else (),
            linked=asked.unlink,
            unlinked=[one for one in new_links if one in found.unlinked],
        ),
        state_of(changed, after, not_same_as=told_apart, linked=new_links, unlinked=asked.unlink),
    )


def _attributes(entity: Entity, label: str | None) -> dict[str, object]:
    """Without the type as it was sent, if another one is given now."""
    is_new = label is not None and label != entity.label
    return {name: value for name, value in entity.attributes.items() if name != TYPE or not is_new}


def plan_undo(event: EntityChange, found: Found) -> EntityChange:
    """Undo an update: ``event.before`` is what it left, ``event.after`` what it had found.

    Names, mentions and differences of the event are again as they were; name, type and summary only if it changed them
    and no note has since. A name that a note has used since (``found.used``) stays, as an alias, with its mentions.
    Raises InvalidInput if a name has been given to another entity since.
    """
    left, back, entity = event.before, event.after, found.entity
    for name in back.names:
        _refuse_held(found.holders.get(name.key), entity, "its former name")
    changes: dict[str, object] = {}
    if left.name != back.name and entity.name == left.name:
        changes["name"] = back.name
    if left.label != back.label and entity.label == left.label:
        changes["label"] = back.label
    if left.summary != back.summary and entity.summary == left.summary:
        changes |= {"summary": back.summary, "summary_by_model": back.summary_by_model}
    changed = entity.model_copy(update=changes)
    concerned = {name.key for name in (*left.names, *back.names)}
    now = {key: name for key, name in found.names.items() if key in concerned}
    back_names = {name.key: name for name in back.names}
    kept = {
        key: name.model_copy(update={"is_alias": True})
        for key, name in now.items()
        if key in found.used and key not in back_names
    }
    before, after = _differing(now, back_names | kept)
    links = {"not_same_as", "unlinked"} if kept else {"not_same_as", "linked", "unlinked"}
    return EntityChange(
        changed,
        state_of(entity, before, **left.model_dump(include=links)),
        state_of(changed, after, **back.model_dump(include=links)),
    )


def _refuse_held(holder: Name | None, entity: Entity, what: str) -> None:
    if holder is not None and holder.entity_uuid != entity.uuid:
        raise InvalidInput(
            f"{_KEPT}: {what} belongs to another entity, {holder.entity_uuid}, and stays with it. Send another "
            "name; if both are the same, tell the user."
        )


def _new_names(asked: Asked, found: Found) -> dict[str, Name]:
    names, entity = dict(found.names), found.entity
    main = name_key(entity.group_id, asked.name or entity.name)

    def name_of(text: str, *, is_alias: bool) -> Name:
        key = name_key(entity.group_id, text)
        known = names.get(key)
        spellings = dict.fromkeys((known.text, *known.spellings)) if known else {}
        return Name(
            key=key,
            group_id=entity.group_id,
            text=text,
            spellings=tuple(one for one in spellings if one != text),
            entity_uuid=entity.uuid,
            is_alias=is_alias,
            is_linkable=not found.is_person,
        )

    if asked.name and asked.name != entity.name:
        old = name_of(entity.name, is_alias=True)
        names[old.key] = old
        names[main] = name_of(asked.name, is_alias=False)
    for alias in asked.add_aliases:
        key = name_key(entity.group_id, alias)
        known = names.get(key)
        if known is None:
            names[key] = name_of(alias, is_alias=True)
        elif alias not in (known.text, *known.spellings):
            names[key] = known.model_copy(update={"spellings": (*known.spellings, alias)})
    for alias in asked.remove_aliases:
        key = name_key(entity.group_id, alias)
        if key == main or key not in names:
            what = "its name; send another name with it" if key == main else "no alias of the entity"
            raise InvalidInput(f"{_KEPT}: one of remove_aliases is {what}.")
        del names[key]
    return names


def _differing(old: Mapping[str, Name], new: Mapping[str, Name]) -> tuple[list[Name], list[Name]]:
    """Of two sets of names, those of each that the other has not, or not so."""
    return (
        [name for key, name in sorted(old.items()) if new.get(key) != name],
        [name for key, name in sorted(new.items()) if old.get(key) != name],
    )
