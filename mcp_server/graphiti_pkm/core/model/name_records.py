"""Names of entities as records, each under the key of its text."""

from collections.abc import Iterable
from typing import Annotated, TypeAlias

from pydantic import AfterValidator

from graphiti_pkm.core.model.names import name_key
from graphiti_pkm.core.model.record import Record


class Name(Record):
    """One name or alias of one entity; ``key`` is unique in the database.

    ``key`` is the stored group and the normalised name (``names.name_key``), so that a MERGE on it gives
    one entity however many writers race for it.
    """

    key: str
    group_id: str
    text: str
    """The first spelling."""
    spellings: tuple[str, ...] = ()
    """Other spellings that callers gave; each is searched in texts, since capitals and spaces matter there."""
    entity_uuid: str
    is_alias: bool = False
    is_linkable: bool = True
    """False for the group's person, who is never linked by mention."""


def names_apart(names: Iterable[Name]) -> tuple[Name, ...]:
    """Each name under the key of its text; spellings with another key become aliases under theirs.

    Earlier versions did not tell numbers apart: "rack 1-12" and "rack 11-2" were two spellings of one name.
    """
    return tuple(one for name in names for one in _apart(name))


def _apart(name: Name) -> list[Name]:
    own = name_key(name.group_id, name.text)
    others: dict[str, list[str]] = {}
    for spelling in name.spellings:
        if (key := name_key(name.group_id, spelling)) != own:
            others.setdefault(key, []).append(spelling)
    if own == name.key and not others:
        return [name]
    moved = {spelling for spellings in others.values() for spelling in spellings}
    kept = tuple(spelling for spelling in name.spellings if spelling not in moved)
    first = name.model_copy(update={"key": own, "spellings": kept})
    return [
        first,
        *(
            name.model_copy(update={"key": key, "text": text, "spellings": tuple(more), "is_alias": True})
            for key, (text, *more) in others.items()
        ),
    ]


Names: TypeAlias = Annotated[tuple[Name, ...], AfterValidator(names_apart)]
"""Names in what is kept as text: journal, snapshots, changes and merges of earlier versions have former keys."""
