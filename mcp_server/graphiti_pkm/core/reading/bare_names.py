"""First names that a call gives alone though several people have them: they are taken as the one whose alias it is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graphiti_pkm.core.facts.parsed_facts import ParsedRequest
from graphiti_pkm.core.facts.resolution import names_given
from graphiti_pkm.core.identity.known_names import KnownNames
from graphiti_pkm.core.identity.shared_names import NamesInText, people_among
from graphiti_pkm.core.model.names import name_key
from graphiti_pkm.core.model.records import Entity, Name

_MOST = 10
"""Names of one call that are looked at."""


@dataclass(frozen=True)
class BareNames:
    """Names of one word in the entities and facts of a call that may mean several entities."""

    bearers: Mapping[str, tuple[str, ...]]
    """By name the entities that it may mean; the first is the one whose name it is."""
    in_full: frozenset[str]
    """Entities that the call or its text names by several words."""

    @property
    def uuids(self) -> set[str]:
        """The entities whose types decide whether a name is that of several people."""
        return {uuid for bearers in self.bearers.values() for uuid in bearers}

    def doubtful(self, entities: Mapping[str, Entity]) -> dict[str, Sequence[Entity]]:
        """By name the people whom it may mean, the one it is taken as first; none if only that one is named in full.

        Who is called just that (Lena, beside Lena Holm) is meant by it.
        """
        found: dict[str, Sequence[Entity]] = {}
        for name, uuids in self.bearers.items():
            people = people_among(uuids, entities)
            if not people or people[0].uuid != uuids[0]:
                continue
            group_id = people[0].group_id
            is_own = name_key(group_id, people[0].name) == name_key(group_id, name)
            if not is_own and self.in_full.intersection(one.uuid for one in people) != {uuids[0]}:
                found[name] = people
        return found


def bare_names(
    group_id: str,
    parsed: ParsedRequest,
    person: str,
    names: Mapping[str, Name],
    known: KnownNames,
    text: NamesInText,
) -> BareNames:
    """``names``: those of the call that are known, by key. A name that the call gives as an alias is no bare one."""
    aliases = {name_key(group_id, alias) for one in parsed.entities for alias in one.aliases}
    in_full = {uuid for uuid, words in text.ways.items() if "" in words}
    bearers: dict[str, tuple[str, ...]] = {}
    causes = [one.because_of for one in parsed.facts if one.because_of is not None]
    for name in dict.fromkeys((*names_given(parsed, person), *causes)):
        held = names.get(key := name_key(group_id, name))
        if held is None or not held.is_linkable:
            continue
        if len(name.split()) > 1:
            in_full.add(held.entity_uuid)
        elif key not in aliases and len(bearers) < _MOST and (sharing := known.sharing(name)):
            bearers[name] = tuple(dict.fromkeys((held.entity_uuid, *sharing)))
    return BareNames(bearers, frozenset(in_full))
