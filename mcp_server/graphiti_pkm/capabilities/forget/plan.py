"""Decides what is removed with what is forgotten: pure, from what was read."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from uuid import uuid4

from graphiti_pkm.capabilities.forget.derived_data import DerivedData, find_derived_data, reworded
from graphiti_pkm.capabilities.forget.models import EpisodesMode
from graphiti_pkm.capabilities.forget.target import ForgetTarget
from graphiti_pkm.capabilities.forget.text import Redaction, Sentence, TextPredicate, repeats, sentences_in, without
from graphiti_pkm.capabilities.forget.trace import RemovalContext, words_of_claim
from graphiti_pkm.capabilities.forget.words import words_in
from graphiti_pkm.core.facts.known_from import known_without
from graphiti_pkm.core.model.counted import counted
from graphiti_pkm.core.model.document_records import Document, DocumentTexts
from graphiti_pkm.core.model.job_records import EraseJob
from graphiti_pkm.core.model.name_forms import identifier_words
from graphiti_pkm.core.model.records import Deletions, Entity, EpisodeText, Fact, Forgetting, WriteIntent, WriteKind
from graphiti_pkm.core.model.redaction import FORGOTTEN
from graphiti_pkm.core.model.saga_records import Saga

_UUID = 8


@dataclass(frozen=True)
class Material:
    """Everything read around what is to be forgotten."""

    target: ForgetTarget
    redactions: Sequence[Redaction]
    """Episodes that lose a sentence."""
    unsaid: Sequence[Redaction]
    """Episodes that stay unchanged and may refer to it."""
    facts: Mapping[str, Fact]
    """All facts of those episodes, and those that the target names."""
    mentioned: Mapping[str, frozenset[str]]
    """Entities that each of those episodes mentions."""
    entities: Mapping[str, Entity]
    """Those entities, the entities of the facts, and others whose texts may refer to it."""
    support: Mapping[str, tuple[int, int]]
    """The numbers of mentions and facts of each entity."""
    own: Mapping[str, Sequence[str]]
    """Episodes that mention each entity on their own, not by a back link; a selection, if many."""
    times: Mapping[str, datetime]
    """Times of those episodes, and of others that support a fact first known from one of them."""
    person: frozenset[str]
    reasons: Mapping[str, str]
    mode: EpisodesMode
    holding: Sequence[Document] = ()
    """Documents of which a section loses words."""
    named: Sequence[Document] = ()
    """Others whose name, path or front matter has such words."""
    around: RemovalContext = field(default_factory=RemovalContext)


@dataclass(frozen=True)
class ForgetPlan:
    """What is removed, what stays in changed form, and why."""

    material: Material
    gone: Sequence[Fact]
    left: Sequence[Fact]
    """Remaining facts in their new form, some with other episodes or another position of their quote."""
    mentions: Sequence[tuple[str, str]]
    entities: Sequence[Entity]
    """Entities to be removed."""
    reworded: Sequence[Entity]
    """Remaining entities with shorter texts."""
    reasons: Sequence[str]
    says: TextPredicate
    derived: DerivedData
    relations: int = 0
    """Number of facts that stay with another relation."""
    sagas: Sequence[Saga] = ()
    """Sagas that keep their episodes and lose their name or summary."""
    stays: Sequence[str] = field(default=())
    asks: Sequence[str] = field(default=())
    """Remaining texts with a word that no other remaining text contains."""

    @property
    def removed(self) -> list[Sentence]:
        return [sentence for one in self.material.redactions for sentence in one.removed]

    @property
    def _titles(self) -> int:
        """Titles removed without a sentence of the episode."""
        return sum(not one.gone for one in self.material.redactions)

    @property
    def is_nothing(self) -> bool:
        derived = self.derived
        return not (
            (self.removed or self._titles or self.gone or self.entities or self.reworded or self.reasons)
            or (self.relations or self.sagas or self.material.target.non_sentences.members or self._metadata)
            or self._qualities
            or self._lost_texts
            or (
                derived.names
                or derived.older
                or derived.episodes
                or derived.facts
                or derived.reworded
                or derived.entities
                or derived.answers
            )
        )

    @property
    def _in_journal(self) -> int:
        """Data that only the journal still has: earlier texts and deleted facts."""
        derived, reworded = self.derived, {one.uuid for one in self.reworded}
        records = (derived.episodes, derived.facts, derived.reworded, derived.entities)
        return len(derived.older - reworded) + sum(map(len, records))

    def states_or_suggests(self, text: str) -> bool:
        """Whether a text states it, or probably consists of words that no remaining text contains."""
        return self.says(text) or self.material.around.vanished.suggests(text)

    def _left_of(self, redaction: Redaction) -> EpisodeText:
        """The texts left of an episode; its title and description may repeat removed sentences."""
        vanished = self.material.around.vanished
        return redaction.text(lambda text: self.says(text) or (bool(redaction.gone) and vanished.takes(text)))

    def _loses_type(self, left: Entity) -> bool:
        return left.label != self.material.entities[left.uuid].label

    @property
    def _untyped(self) -> list[Entity]:
        """Entities that lose their type and nothing else."""
        entities = self.material.entities
        return [one for one in self.reworded if one == entities[one.uuid].model_copy(update={"label": one.label})]

    @property
    def summaries(self) -> list[Entity]:
        """Remaining entities that lose part of their summary or attributes."""
        lost = {one.uuid for one in self._untyped}
        return [one for one in self.reworded if one.uuid not in lost]

    @property
    def types(self) -> list[str]:
        """Types that no entity of the group keeps because of it; the database may still list them."""
        target, entities = self.material.target, self.material.entities
        labels = [entities[one.uuid].label for one in self.reworded if self._loses_type(one)]
        labels += [one.label for one in self.entities if one.label and target.type_left(one.label) is None]
        return sorted({label for label in labels if label})

    @property
    def _metadata(self) -> set[str]:
        """Projects and entries that stay and say it in their metadata; others lose it with their words."""
        lost = {entity.uuid for entity in self.entities}
        if self.material.mode == "delete":
            lost |= {one.episode.uuid for one in self.material.redactions}
        return set(self.material.target.non_sentences.metadata) - lost

    @property
    def _qualities(self) -> set[str]:
        """Entities that stay and of which a librarian said it."""
        said = self.material.target.non_sentences.qualities | self.derived.reviews
        return set(said) - {entity.uuid for entity in self.entities}

    @cached_property
    def _documents(self) -> list[tuple[Document, DocumentTexts]]:
        """Documents that lose words, and what is left: front matter has no sentences, so it stays or goes whole."""
        material = self.material

        def left(text: str, *, is_near: bool = False) -> str:
            goes = self.states_or_suggests if is_near else self.says
            is_said = goes(text) or material.around.vanished.covers_elsewhere(text)
            return FORGOTTEN if text and (is_said or material.target.forms.found(text)) else text

        found = []
        for one in (*material.holding, *material.named):
            is_near = one in material.holding
            front = one.front if left(one.front, is_near=is_near) == one.front else ""
            texts = DocumentTexts(uuid=one.uuid, name=left(one.name), path=left(one.path), front=front)
            if is_near or _texts_lost(one, texts):
                found.append((one, texts))
        return found

    @property
    def _lost_texts(self) -> int:
        """How many texts about documents go."""
        return sum(_texts_lost(*both) for both in self._documents)

    def counts(self) -> dict[str, int]:
        """Counts by kind, without zeros."""
        deletes = self.material.mode == "delete"
        counts = {
            "sentences": len(self.removed),
            "titles": self._titles,
            "episodes": len(self.material.redactions) if deletes else 0,
            "facts": len(self.gone),
            "entities": len(self.entities),
            "mentions": len(self.mentions),
            "summaries": len(self.reworded) - len(self._untyped),
            "types": sum(self._loses_type(one) for one in self.reworded),
            "relations": self.relations,
            "sagas": len(self.sagas),
            "metadata": len(self._metadata) + self._lost_texts,
            "aliases": len(self.derived.aliases),
            "reasons": len(self.reasons) + len(self._qualities),
            "journal": self._in_journal,
        }
        found = {kind: count for kind, count in counts.items() if count}
        answers = len(
            self.derived.answers
        )  # they repeat what is removed elsewhere, and count only if nothing else does
        return found if found or not answers else {"journal": answers}

    def intent(self, now: datetime) -> WriteIntent:
        """The write. Entities and facts of redacted episodes are written whole.

        So older summaries are removed from the journal too, and facts that were deleted before can be told from the
        remaining ones.
        """
        material = self.material
        deletes = material.mode == "delete"
        redactions = material.redactions
        lost = {entity.uuid for entity in self.entities}
        losing = {one.episode.uuid for one in redactions if one.gone}
        reworded = {entity.uuid: entity for entity in self.reworded}
        around = {uuid for one in redactions for uuid in material.mentioned.get(one.episode.uuid, ())} | reworded.keys()
        around |= self.derived.older
        return WriteIntent(
            uuid=str(uuid4()),
            group_id=material.target.group_id,
            kind=WriteKind.FORGET,
            recorded_at=now,
            entities=tuple(
                reworded.get(uuid, material.entities[uuid])
                for uuid in sorted(around - lost)
                if uuid in material.entities
            ),
            facts=tuple({fact.uuid: fact for fact in (*self.derived.reworded, *self.left)}.values()),
            sagas=tuple(self.sagas),
            passages=() if deletes else tuple(part for one in redactions for part in one.passages),
            deletions=Deletions(
                episodes=(*(one.episode.uuid for one in redactions if deletes), *self.derived.episodes),
                entities=tuple(sorted({*lost, *self.derived.entities})),
                facts=self.derived.facts,
            ),
            forgets=Forgetting(
                episodes=() if deletes else tuple(self._left_of(one) for one in redactions),
                facts=tuple(sorted(fact.uuid for fact in self.gone)),
                passages=tuple(
                    uuid for one in redactions for uuid in (one.passages_held if deletes else one.passages_gone)
                ),
                mentions=tuple(self.mentions),
                reasons=tuple(self.reasons),
                names=self.derived.names,
                answers=self.derived.answers,
                members=tuple(sorted(material.target.non_sentences.members)),
                metadata=tuple(sorted(self._metadata | (set() if deletes else losing))),
                qualities=tuple(sorted(self._qualities)),
                documents=tuple(left for _, left in self._documents),
            ),
            jobs=(EraseJob(),),
        )


def _texts_lost(document: Document, left: DocumentTexts) -> int:
    return sum(getattr(document, name) != getattr(left, name) for name in ("name", "path", "front"))


def plan_forgetting(material: Material) -> ForgetPlan:
    """Remove the claim with every sentence that states it, and what else only those sentences supported."""
    target = material.target
    repeated = repeats(sentence for one in material.redactions for sentence in one.removed)

    def says(text: str) -> bool:
        return bool(text) and (target.says(text) or repeated(text))

    facts = _Facts(material, says)
    mentions = [] if material.mode == "keep" else _mentions(material, facts.left)
    entities = _unsupported(material, facts.gone, mentions)
    lost = {entity.uuid for entity in entities}
    near = frozenset[str]().union(*material.mentioned.values())
    vanished = material.around.vanished
    derived = find_derived_data(material.around, says, material.entities, near, lost)
    gone = {fact.uuid for fact in facts.gone}
    derived = replace(
        derived,
        reworded=tuple(fact for fact in derived.reworded if fact.uuid not in gone),
        older=derived.older | (target.non_sentences.typed & material.entities.keys()) - lost,
        episodes=tuple(sorted(target.non_sentences.only_kept_episodes)),
        facts=tuple(sorted(target.non_sentences.only_kept.union(derived.facts))),
        entities=tuple(sorted((target.non_sentences.typed - material.entities.keys()).union(derived.entities))),
    )

    def left_of(entity: Entity) -> Entity:
        left = reworded(_reworded(entity, says), says, vanished, is_near=entity.uuid in near)
        return left.model_copy(update={"label": target.type_left(entity.label)})

    untyped = [one for uuid, one in material.entities.items() if uuid not in lost and left_of(one).label != one.label]
    return ForgetPlan(
        material=material,
        gone=facts.gone,
        left=facts.left,
        mentions=mentions,
        entities=entities,
        reworded=[
            left
            for entity in material.entities.values()
            if entity.uuid not in lost and (left := left_of(entity)) != entity
        ],
        reasons=sorted(
            {uuid for uuid, reason in material.reasons.items() if says(reason) or vanished.covers_elsewhere(reason)}
            | derived.reasons
        ),
        says=says,
        derived=derived,
        relations=facts.relations,
        sagas=[_saga_left(one, says) for one in target.non_sentences.sagas],
        stays=[
            *facts.stays,
            *(f"{one.name} - without the type {one.label}" for one in untyped),
            *(f"{one.text} - said so now; its former words go" for one in derived.reworded),
            *_staying(material, mentions, lost),
        ],
        asks=[*_only_kept(derived), *facts.asks, *derived.asks, *_still_holding(material, left_of, near, lost)],
    )


def _only_kept(derived: DerivedData) -> list[str]:
    """Their sentences have no passages any more, so that they cannot lose some of them."""
    if not derived.episodes:
        return []
    count, goes = counted(len(derived.episodes), "episode"), "goes" if len(derived.episodes) == 1 else "go"
    return [f"{count} that only the journal and snapshots still have since a rollback, restore or move {goes} whole"]


class _Facts:
    """Decides which facts are removed, and the new form of the others."""

    def __init__(self, material: Material, says: TextPredicate) -> None:
        self.gone: list[Fact] = []
        self.left: list[Fact] = []
        self.relations = 0
        """How many stay with another relation."""
        self.stays: list[str] = []
        self.asks: list[str] = []
        """Remaining facts with a word that no other remaining text contains."""
        self._losing = {one.episode.uuid: one for one in material.redactions if one.gone}
        self._material = material
        self._says = says
        self._targeted = {fact.uuid for fact in material.target.facts}
        for fact in sorted(material.facts.values(), key=lambda one: (one.created_at, one.uuid)):
            self._decide(fact)

    def _decide(self, fact: Fact) -> None:
        touching = [one for one in self._material.redactions if one.episode.uuid in fact.episodes]
        lost = {one.episode.uuid for one in touching if self._loses(one, fact)}
        derived = tuple(uuid for uuid in fact.episodes if uuid not in lost)
        is_said = fact.uuid in self._targeted or self._material.target.says(words_of_claim(fact))
        if is_said or (lost and not derived) or self._is_of_what_went(fact):
            self.gone.append(fact)
            return
        relation = self._material.target.without(fact.relation)
        left = fact.model_copy(update={"episodes": derived, "relation": relation})
        if relation != fact.relation:
            self.relations += 1
            self.stays.append(f"{fact.text} - with the relation {relation} instead of {fact.relation}")
        if told_at := known_without(fact, lost, self._material.times):
            left = left.model_copy(update={"reference_time": told_at})
        for one in touching:
            if self._material.mode != "delete":
                left = one.requoted(left)
        if left.quote_episode_uuid in lost or (left.quote and self._says(left.quote)):
            left = left.model_copy(update=dict.fromkeys(("quote", "quote_start", "quote_end", "quote_episode_uuid")))
        self.left.append(left)
        if lost:
            self.stays.append(f"{fact.text} - {len(derived)} other episode(s) support it")

    def _is_of_what_went(self, fact: Fact) -> bool:
        """Whether its words came from the removed text and no other episode has them; if uncertain, the user is asked.

        Entity names do not show where it comes from, nor do words other than those of its quote.
        """
        vanished = self._material.around.vanished
        words = words_of_claim(fact)
        ends = words_in(f"{fact.source_name} {fact.target_name}")
        if not vanished.holds(words, ends):
            return False
        is_theirs = bool(fact.episodes) and self._losing.keys() >= set(fact.episodes)
        quoted = self._losing.get(fact.quote_episode_uuid or "")
        if is_theirs and quoted is not None and fact.quote:
            if vanished.marks(words, ends):
                return True
        elif is_theirs:
            kept = [sentence.text for uuid in fact.episodes for sentence in self._losing[uuid].kept]
            if vanished.takes(words, frozenset[str]().union(*map(words_in, kept)), ends):
                return True
        if is_theirs or vanished.suggests(words):
            self.asks.append(f"[{fact.uuid[:_UUID]}] {fact.text}")
        return False

    def _loses(self, redaction: Redaction, fact: Fact) -> bool:
        ends = frozenset((fact.source_uuid, fact.target_uuid)) - self._material.person
        return self._material.mode == "delete" or redaction.takes_support(fact, ends)


def _mentions(material: Material, left: Iterable[Fact]) -> list[tuple[str, str]]:
    """Mentions without support in the rest of their episode; those of a deleted episode are removed with it."""
    if material.mode == "delete":
        return []
    joined: dict[str, set[str]] = {}
    for fact in left:
        for episode in fact.episodes:
            joined.setdefault(episode, set()).update((fact.source_uuid, fact.target_uuid))
    gone: list[tuple[str, str]] = []
    for one in material.redactions:
        named = frozenset[str]().union(*(one.named[place] for place in one.gone)) if one.gone else frozenset[str]()
        derived = frozenset[str]().union(*(names for place, names in enumerate(one.named) if place not in one.gone))
        derived |= joined.get(one.episode.uuid, set())
        gone += [
            (one.episode.uuid, entity)
            for entity in sorted(material.mentioned.get(one.episode.uuid, frozenset()) - derived)
            if entity in named or one.is_all
        ]
    return gone


def _unsupported(material: Material, gone: Sequence[Fact], mentions: Sequence[tuple[str, str]]) -> list[Entity]:
    """The entity itself, and entities without a remaining mention or fact, apart from back links.

    A project stays, because its entries belong to it, unless it is what is forgotten or its name states it.
    """
    mentions_gone: dict[str, set[str]] = {}
    facts_gone: dict[str, int] = {}
    pairs = list(mentions)
    if material.mode == "delete":
        pairs = [
            (one.episode.uuid, uuid) for one in material.redactions for uuid in material.mentioned[one.episode.uuid]
        ]
    for episode, uuid in pairs:
        mentions_gone.setdefault(uuid, set()).add(episode)
    for fact in gone:
        for uuid in {fact.source_uuid, fact.target_uuid}:
            facts_gone[uuid] = facts_gone.get(uuid, 0) + 1
    asked = {material.target.entity.uuid} if material.target.entity else set()
    for uuid in (mentions_gone.keys() | facts_gone.keys()) - material.person - material.around.trace.projects:
        of_mentions, of_facts = material.support.get(uuid, (0, 0))
        without, own = mentions_gone.get(uuid, set()), material.own.get(uuid, ())
        is_unmentioned = of_mentions <= len(without) or (len(own) > 0 and without.issuperset(own))
        if is_unmentioned and of_facts <= facts_gone.get(uuid, 0):
            asked.add(uuid)
    asked |= {
        entity.uuid
        for entity in material.entities.values()
        if entity.uuid not in material.person and _is_named_by_it(entity, material, facts_gone)
    }
    return [material.entities[uuid] for uuid in sorted(asked) if uuid in material.entities]


def _is_named_by_it(entity: Entity, material: Material, facts_gone: Mapping[str, int]) -> bool:
    """Whether its name states it and only mentions without that name are left, as for the measure of a reading."""
    of_facts = material.support.get(entity.uuid, (0, 0))[1]
    if of_facts > facts_gone.get(entity.uuid, 0):
        return False
    is_derived = entity.uuid in facts_gone and entity.uuid not in material.around.trace.projects
    return material.target.says(entity.name) or (is_derived and material.around.vanished.marks(entity.name))


def _still_holding(
    material: Material, left_of: Callable[[Entity], Entity], near: AbstractSet[str], lost: AbstractSet[str]
) -> list[str]:
    """Summaries and titles with a word that no remaining text contains, although it may mean something else there."""
    vanished = material.around.vanished
    found = []
    for entity in (left_of(one) for uuid, one in sorted(material.entities.items()) if uuid not in lost):
        own = words_in(entity.name)
        texts = [*sentences_in(entity.summary), *map(str, entity.attributes.values())]
        if any(map(vanished.suggests, texts)) or (entity.uuid in near and vanished.holds(entity.summary, own)):
            found.append(f"summary of {entity.name}: {entity.summary or ', '.join(texts)}")
    touched = {one.episode.uuid for one in material.redactions} | material.target.non_sentences.only_kept_episodes
    titles = [one for one in material.around.trace.of("title") if one.uuid not in touched]
    return [*found, *(f"title [{one.uuid[:_UUID]}] {one.text}" for one in titles if vanished.suggests(one.text))]


def _saga_left(saga: Saga, says: TextPredicate) -> Saga:
    """A summary is made anew, from what is left of the episodes."""
    left = saga.model_copy(update={"name": FORGOTTEN}) if says(saga.name) else saga
    if not says(saga.summary):
        return left
    unread = dict.fromkeys(("last_summarized_at", "last_summarized_episode_valid_at"))
    return left.model_copy(update={"summary": "", **unread})


def _staying(material: Material, mentions: Sequence[tuple[str, str]], lost: AbstractSet[str]) -> list[str]:
    """Entities that lose some or all mentions and stay."""
    projects = material.around.trace.projects
    left = {uuid: material.entities[uuid].name for _, uuid in mentions if uuid not in lost}
    names = sorted((name, uuid in projects) for uuid, name in left.items())
    return [f"{name} - {'the project' if is_project else 'other mentions or facts'}" for name, is_project in names]


def _reworded(entity: Entity, says: TextPredicate) -> Entity:
    summary = without(entity.summary, says) if says(entity.summary) else entity.summary
    attributes = {
        name: value
        for name, value in entity.attributes.items()
        if not (says(str(value)) or says(" ".join(identifier_words(name))))
    }
    return entity.model_copy(update={"summary": summary, "attributes": attributes})
