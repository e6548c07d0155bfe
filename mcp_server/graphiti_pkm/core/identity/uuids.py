"""Resolves uuids as callers write them: whole, or the first characters as shown in a text.

A resolved uuid is no permission: every read that takes one is also given the groups that the caller may see.
"""

import re
from collections.abc import Sequence

from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.ports.graph import Graph, RecordKind
from graphiti_pkm.errors import AmbiguousUuid, InvalidInput, NotFound

PLACEHOLDERS = frozenset({"non-existent-uuid", "nonexistent-uuid"})
"""Placeholders that documents use for a well-formed uuid that does not exist."""

SOURCES: dict[RecordKind, str] = {
    "entity": "search_nodes finds entity uuids",
    "fact": "search_memory_facts and get_entity_connections find fact uuids",
    "episode": "search_episodes, get_entity_timeline and get_episodes find episode uuids",
}
"""Which tools return which kind of uuid, as a clause of an error message."""

_HEX = re.compile(r"[0-9a-f]{8,32}")
_WHOLE = 32
_CANDIDATES = 5
_SHOWN = 60


async def resolve_uuid(graph: Graph, groups: Groups, caller: Caller, kind: RecordKind, text: str) -> str:
    """The full uuid for ``text``; a full uuid is returned as it is, whether or not it exists.

    Raises:
        InvalidInput: not a uuid, nor 8 or more of its first characters.
        AmbiguousUuid: the prefix fits several records the caller may see.
        NotFound: the prefix fits none.
    """
    return await resolve_within(graph, await groups.visible(caller), kind, text)


async def resolve_within(graph: Graph, group_ids: Sequence[str], kind: RecordKind, text: str) -> str:
    """Does what ``resolve_uuid`` does, within stored groups that are already known."""
    wanted = text.strip().lower()
    if wanted in PLACEHOLDERS:
        return wanted
    digits = wanted.replace("-", "")
    hyphenated = _hyphenated(digits)
    if not _HEX.fullmatch(digits) or (wanted != digits and not hyphenated.startswith(wanted.rstrip("-"))):
        raise InvalidInput(
            f"{text[:_SHOWN]!a} is not a uuid; {SOURCES[kind]}. A uuid may be cut to its first 8 or more characters."
        )
    if len(digits) == _WHOLE:
        return hyphenated
    found = await graph.records.find_uuids(kind, hyphenated, group_ids, _CANDIDATES + 1)
    if not found:
        raise NotFound(f"No {kind} whose uuid starts with {wanted!a}; {SOURCES[kind]}.")
    if len(found) > 1:
        more = " and more" if len(found) > _CANDIDATES else ""
        raise AmbiguousUuid(
            f"{wanted!a} fits several uuids: {', '.join(found[:_CANDIDATES])}{more}. Give more characters."
        )
    return found[0]


def unknown(kind: RecordKind, uuid: str) -> NotFound:
    """The error for a well-formed uuid that the caller cannot see, or that no longer exists."""
    return NotFound(f"No {kind} '{uuid}': it was deleted or never existed; {SOURCES[kind]}.")


def _hyphenated(digits: str) -> str:
    parts = (digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:])
    return "-".join(part for part in parts if part)
