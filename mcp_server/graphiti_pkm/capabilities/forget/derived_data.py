"""Finds data derived from removed words: names, older texts of the journal, reasons, answers. Pure."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from graphiti_pkm.capabilities.forget.text import TextPredicate, sentences_in
from graphiti_pkm.capabilities.forget.trace import DerivedText, RemovalContext, words_of_claim
from graphiti_pkm.capabilities.forget.words import VanishedWords, words_in
from graphiti_pkm.core.model.names import name_key
from graphiti_pkm.core.model.records import Entity, Fact, RemainingNames


@dataclass(frozen=True)
class DerivedData:
    """What is removed in addition to sentences and facts."""

    names: tuple[RemainingNames, ...] = ()
    aliases: tuple[tuple[str, str], ...] = ()
    """Entities and removed names, for display."""
    older: frozenset[str] = frozenset()
    """Entities whose earlier texts are removed from the journal."""
    episodes: tuple[str, ...] = ()
    """Episodes that only the journal and snapshots contain."""
    facts: tuple[str, ...] = ()
    """Facts that only the journal contains."""
    reworded: tuple[Fact, ...] = ()
    """Facts of the graph that the journal contains in other words, too."""
    entities: tuple[str, ...] = ()
    """Entities that only the journal contains."""
    reasons: frozenset[str] = frozenset()
    reviews: frozenset[str] = frozenset()
    """Entities of which a librarian said it."""
    answers: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()
    """Texts that contain such a word and stay."""


def find_derived_data(
    around: RemovalContext,
    says: TextPredicate,
    entities: Mapping[str, Entity],
    near: Collection[str],
    lost: Collection[str],
) -> DerivedData:
    """``near``: entities that the episodes mention (others need more evidence); ``lost``: removed entities."""
    trace, vanished = around.trace, around.vanished

    def goes(text: str) -> bool:
        return says(text) or vanished.covers_elsewhere(text)

    names = _Names(around, says, entities, near)
    for held in (*trace.of("name"), *trace.given):
        if held.uuid in entities and held.uuid not in lost:
            names.take(held, is_given=held in trace.given)
    texts = [one for one in trace.of("summary", "name") if vanished.holds(one.text) or says(one.text)]
    unseen = [one for one in trace.of("fact") if one.uuid not in around.facts]
    facts = [one for one in unseen if goes(one.text) or vanished.marks(one.text)]
    former = [
        one for one in trace.of("fact") if one.uuid in around.facts and (goes(one.text) or vanished.marks(one.text))
    ]
    reworded_facts = {
        one.uuid: around.facts[one.uuid] for one in former if one.text != words_of_claim(around.facts[one.uuid])
    }
    return DerivedData(
        reworded=tuple(reworded_facts.values()),
        names=tuple(names.left()),
        aliases=tuple(sorted(names.gone)),
        older=frozenset(one.uuid for one in texts if one.kind == "summary" and one.uuid in entities) - set(lost),
        facts=tuple(sorted({one.uuid for one in facts})),
        entities=tuple(sorted({one.uuid for one in texts} - entities.keys())),
        reasons=frozenset(one.uuid for one in trace.of("reason") if goes(one.text)),
        reviews=frozenset(one.uuid for one in trace.of("review") if goes(one.text)),
        answers=tuple(sorted({one.uuid for one in trace.of("answer") if vanished.marks(one.text) or says(one.text)})),
        asks=tuple(names.asks),
    )


def reworded(entity: Entity, says: TextPredicate, vanished: VanishedWords, *, is_near: bool) -> Entity:
    """The entity without sentences of its summary, and attributes, that came from the removed text."""
    own = words_in(entity.name)

    def goes(text: str) -> bool:
        return vanished.takes(text, but=own) if is_near else vanished.marks(text) and vanished.covers_elsewhere(text)

    left = [sentence for sentence in sentences_in(entity.summary) if not goes(sentence)]
    is_whole = len(left) == len(sentences_in(entity.summary))
    attributes = {key: value for key, value in entity.attributes.items() if not (says(str(value)) or goes(str(value)))}
    summary = entity.summary if is_whole else " ".join(left)
    return entity.model_copy(update={"summary": summary, "attributes": attributes})


def texts_of(entity: Entity) -> str:
    """All texts about the entity."""
    return " ".join((entity.name, entity.summary, *map(str, entity.attributes.values())))


class _Names:
    """Decides which names of remaining entities are removed."""

    def __init__(
        self, around: RemovalContext, says: TextPredicate, entities: Mapping[str, Entity], near: Collection[str]
    ) -> None:
        self._around = around
        self._says = says
        self._entities = entities
        self._near = near
        self._keys: dict[str, set[str]] = {}
        self.gone: set[tuple[str, str]] = set()
        self.asks: dict[str, None] = {}

    def take(self, held: DerivedText, *, is_given: bool) -> None:
        """Examine a name; ``is_given``: given only by episodes that are removed completely."""
        entity, vanished = self._entities[held.uuid], self._around.vanished
        if held.key == name_key(entity.group_id, entity.name):
            if vanished.marks(held.text):
                self.asks[f"name of {entity.name}"] = None
        elif (
            self._says(held.text)
            or (vanished.marks(held.text) and vanished.covers_elsewhere(held.text))
            or (held.uuid in self._near and vanished.takes(held.text, but=words_in(entity.name)))
            or (is_given and not words_in(held.text) <= vanished.remaining)
        ):
            self._keys.setdefault(held.uuid, set()).add(held.key)
            self.gone.add((held.uuid, held.text))
        elif vanished.suggests(held.text) or (held.uuid in self._near and vanished.holds(held.text)):
            self.asks[f"{entity.name}, also called {held.text}"] = None

    def left(self) -> list[RemainingNames]:
        """Remaining names, ordered by entity, for entities known to keep their own name."""
        found = []
        for uuid, keys in sorted(self._keys.items()):
            names = tuple(name for name in self._around.names.get(uuid, ()) if name.key not in keys)
            if names:
                found.append(RemainingNames(entity_uuid=uuid, names=tuple(sorted(names, key=lambda name: name.key))))
        return found
