"""Finds a forgotten name outside of sentences: in claims, relations, types, sagas, metadata, flags and so on. Pure."""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from graphiti_pkm.capabilities.forget.text import TextPredicate, sentences_of
from graphiti_pkm.capabilities.forget.trace import names_of_attributes, words_of_claim
from graphiti_pkm.core.model.name_forms import NameForms
from graphiti_pkm.core.model.records import QUALITY_TEXTS, Episode, Fact, WriteIntent
from graphiti_pkm.core.model.redaction import NO_METADATA
from graphiti_pkm.core.model.saga_records import Saga
from graphiti_pkm.core.ports.erasing import RowContent
from graphiti_pkm.core.ports.saved_graphs import texts_in


@dataclass(frozen=True)
class NonSentenceTraces:
    """Data other than sentences that contains the forgotten words, anywhere in the group, as the graph has it."""

    episodes: Mapping[str, Episode] = field(default_factory=dict)
    """Episodes that contain it in a spelling that full text does not find."""
    only_kept_episodes: frozenset[str] = frozenset()
    """Episodes that say it and that only the journal and snapshots still have, since a rollback, restore or move."""
    claims: Sequence[Fact] = ()
    """Facts with it in a value, measure, unit or attribute."""
    related: Sequence[Fact] = ()
    """Facts with it in the relation only."""
    typed: frozenset[str] = frozenset()
    """Entities with it in a present or former type or in the name of an attribute."""
    only_kept: frozenset[str] = frozenset()
    """Facts with it that only the journal still has."""
    sagas: Sequence[Saga] = ()
    members: frozenset[str] = frozenset()
    """Members of communities with it in the name or summary."""
    metadata: frozenset[str] = frozenset()
    """Projects and entries with it in their metadata."""
    qualities: frozenset[str] = frozenset()
    """Entities with it in the reason of a flag or of a confidence, or in the note of who cleared a flag."""
    documents: frozenset[str] = frozenset()
    """Documents with it in their name, path or front matter."""


class NonSentenceCollector:
    """Collects ``NonSentenceTraces`` from the rows of the journal, because full text does not contain all of them."""

    def __init__(
        self, says: TextPredicate, without: Callable[[str], str], known: Collection[str], forms: NameForms | None = None
    ) -> None:
        """``without`` removes it from a relation or type; ``known`` are episodes already found."""
        self._says = says
        self._without = without
        self._known = known
        self._forms = forms or NameForms(())
        self.episodes: dict[str, None] = {}
        self.saying: set[str] = set()
        """Those that say it for certain, in whatever text."""
        self.supports: dict[str, frozenset[str]] = {}
        """Of facts: their episodes, if all of these say it."""
        self.claims: dict[str, None] = {}
        self.related: dict[str, None] = {}
        self.typed: set[str] = set()
        self.sagas: dict[str, Saga] = {}
        """The version written last."""
        self.members: set[str] = set()
        self.metadata: set[str] = set()
        self.qualities: set[str] = set()
        self.documents: set[str] = set()

    def take(self, rows: Iterable[RowContent]) -> None:
        """Examine rows, oldest first."""
        for row in rows:
            self._take_episodes(row.intent.episodes)
            self._take_facts(row.intent.facts)
            self._take_others(row.intent)

    def _take_episodes(self, episodes: Iterable[Episode]) -> None:
        for episode in episodes:
            if episode.uuid in self._known:
                continue
            if any(map(self._may_say, (episode.content, episode.name))):
                self.episodes[episode.uuid] = None
            sentences = (one.text for one in sentences_of(episode, ()))
            if any(map(self._says, (*sentences, episode.name, episode.source_description))):
                self.saying.add(episode.uuid)

    def _take_facts(self, facts: Iterable[Fact]) -> None:
        for fact in facts:
            if fact.episodes and self.saying.issuperset(fact.episodes):
                self.supports[fact.uuid] = frozenset(fact.episodes)
            if self._says(words_of_claim(fact)) or self._says(names_of_attributes(fact)):
                self.claims[fact.uuid] = None
            elif self._names(fact.relation):
                self.related[fact.uuid] = None

    def _take_others(self, intent: WriteIntent) -> None:
        for entity in intent.entities:
            if (entity.label and self._names(entity.label)) or self._says(names_of_attributes(entity)):
                self.typed.add(entity.uuid)
        self.sagas.update((one.uuid, one) for one in intent.sagas if self._says(one.name) or self._says(one.summary))
        for community in intent.communities or ():
            if self._says(community.name) or self._says(community.summary):
                self.members.update(community.members)
        metadata = {one.uuid: one.metadata for one in intent.projects}
        metadata |= {one.uuid: one.metadata for one in intent.entries}
        self.metadata.update(uuid for uuid, text in metadata.items() if any(map(self._may_say, _texts(text))))
        for quality in intent.qualities:
            if any(self._may_say(getattr(quality, field) or "") for field in QUALITY_TEXTS):
                self.qualities.add(quality.uuid)
        for document in intent.documents:
            if any(map(self._may_say, (document.name, document.path, document.front))):
                self.documents.add(document.uuid)

    def _may_say(self, text: str) -> bool:
        return self._says(text) or bool(self._forms.found(text))

    def _names(self, identifier: str) -> bool:
        return self._without(identifier) != identifier


def _texts(metadata: str) -> list[str]:
    return [] if metadata == NO_METADATA else list(texts_in(json.loads(metadata)))
