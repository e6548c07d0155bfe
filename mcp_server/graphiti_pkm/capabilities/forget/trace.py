"""Finds removed words in the journal, whose rows contain more than the graph."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from graphiti_pkm.capabilities.forget.rows import rows_of
from graphiti_pkm.capabilities.forget.text import TextPredicate
from graphiti_pkm.capabilities.forget.words import NO_VANISHED_WORDS, RemovedWords, VanishedWords, words_in
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.model.date_phrases import without_date_words
from graphiti_pkm.core.model.name_forms import identifier_words
from graphiti_pkm.core.model.queries import EpisodeFilter
from graphiti_pkm.core.model.records import QUALITY_TEXTS, Entity, Fact, FactChange, Name, WriteIntent
from graphiti_pkm.core.ports.erasing import RowContent
from graphiti_pkm.core.waiting import in_thread

_VERIFIED = 300
"""Words that are checked against the texts of the graph; others count as still in use."""
_MORE = 20

DerivedKind = Literal[
    "episode",
    "summary",
    "type",
    "name",
    "title",
    "fact",
    "relation",
    "reason",
    "review",
    "document",
    "answer",
    "message",
    "note",
    "saga",
    "community",
]


@dataclass(frozen=True)
class DerivedText:
    """A text derived from others that contains one of the words."""

    kind: DerivedKind
    uuid: str
    """The uuid of the entity, episode, fact, change, write, saga or community."""
    text: str
    key: str = ""
    """The key of a name."""


@dataclass(frozen=True)
class Trace:
    """What the rows of a group contain of the words, and what else they contain."""

    remaining: frozenset[str] = frozenset()
    """Words of remaining texts, and of names that such texts support."""
    held: tuple[DerivedText, ...] = ()
    given: tuple[DerivedText, ...] = ()
    """Names given only by episodes that are removed completely."""
    keys: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The keys of all names of each entity."""
    projects: frozenset[str] = frozenset()
    """Entities that were made projects."""

    @property
    def entities(self) -> frozenset[str]:
        """Entities that may lose a text or a name."""
        return frozenset(one.uuid for one in (*self.of("summary", "name"), *self.given))

    def of(self, *kinds: DerivedKind) -> list[DerivedText]:
        return [one for one in self.held if one.kind in kinds]


NO_TRACE = Trace()


@dataclass(frozen=True)
class RemovalContext:
    """Everything read around the removed words."""

    trace: Trace = NO_TRACE
    vanished: VanishedWords = NO_VANISHED_WORDS
    names: Mapping[str, Sequence[Name]] = field(default_factory=dict)
    """All names of each entity that may lose one."""
    facts: Mapping[str, Fact] = field(default_factory=dict)
    """Those facts of the journal that the graph still has."""


class Traces:
    """Reads the journal of a group, page by page and off the event loop."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._graph = context.graph

    async def read(
        self,
        group_id: str,
        gone: RemovedWords,
        touched: Collection[str] = (),
        emptied: Collection[str] = (),
        kept: Iterable[str] = (),
        is_own: TextPredicate = lambda _: False,
    ) -> Trace:
        """``touched``: episodes that lose words, except ``kept``; ``emptied``: those that lose everything.

        ``is_own``: whether a name is removed with what they lose.
        """
        reading = await in_thread(_Reading, gone, frozenset(touched), frozenset(emptied), kept)
        async for rows in rows_of(self._context, group_id):
            await in_thread(reading.take, rows)
        return await in_thread(reading.trace, is_own)

    async def around(
        self,
        group_id: str,
        gone: RemovedWords,
        trace: Trace,
        texts: Iterable[str],
        touched: Collection[str],
        entity_uuids: Collection[str],
    ) -> RemovalContext:
        """``texts``: derived texts of the graph; ``entity_uuids``: of existing entities."""
        facts = await self._graph.records.get_facts(sorted({held.uuid for held in trace.of("fact")}), [group_id])
        return RemovalContext(
            trace=trace,
            vanished=await self.vanished(group_id, gone, trace, texts, touched),
            names=await self.names(group_id, entity_uuids, trace),
            facts={fact.uuid: fact for fact in facts},
        )

    async def names(self, group_id: str, entity_uuids: Collection[str], trace: Trace) -> dict[str, list[Name]]:
        """All names that the graph has of these entities, whose keys the rows give."""
        keys = sorted({key for uuid in entity_uuids for key in trace.keys.get(uuid, ())})
        found: dict[str, list[Name]] = {}
        for name in (await self._graph.records.get_names(keys)).values():
            if name.entity_uuid in entity_uuids and name.group_id == group_id:
                found.setdefault(name.entity_uuid, []).append(name)
        return found

    async def vanished(
        self, group_id: str, gone: RemovedWords, trace: Trace, texts: Iterable[str], touched: Collection[str]
    ) -> VanishedWords:
        """The words that no text of the graph contains any more, if one of these texts has them."""
        left, relevant = await in_thread(_relevant, gone, trace, texts)
        in_use = set(left.words.difference(relevant[:_VERIFIED]))
        for word in relevant[:_VERIFIED]:
            if await self._is_in_graph(group_id, word, touched):
                in_use.add(word)
        return VanishedWords(left.without(in_use), trace.remaining)

    async def _is_in_graph(self, group_id: str, word: str, touched: Collection[str]) -> bool:
        found = await self._graph.search.search_episodes(
            [word], EpisodeFilter(group_ids=(group_id,)), len(touched) + _MORE
        )
        others = [uuid for uuid in found if uuid not in touched][:_MORE]
        episodes = await self._graph.records.get_episodes(others, [group_id])
        return await in_thread(lambda: any(word in words_in(one.content) for one in episodes))


def _relevant(gone: RemovedWords, trace: Trace, texts: Iterable[str]) -> tuple[RemovedWords, list[str]]:
    """Words in no remaining row, and those of them in a text of the graph, certain ones first."""
    left = gone.without(trace.remaining)
    held = frozenset[str]().union(*map(words_in, (*texts, *(one.text for one in (*trace.held, *trace.given)))))
    first = left.certain | left.names
    return left, sorted(left.words & held, key=lambda word: (word not in first, word))


class _Reading:
    """Reads row after row."""

    def __init__(
        self, gone: RemovedWords, touched: frozenset[str], emptied: frozenset[str], kept: Iterable[str]
    ) -> None:
        self._words = gone.words
        self._touched = touched
        self._emptied = emptied
        self._told = set[str]().union(*map(words_in, kept))
        self._held: dict[DerivedText, None] = {}
        self._names: dict[str, str] = {}
        self._keys: dict[str, set[str]] = {}
        self._projects: set[str] = set()
        self._supported: set[str] = set()
        self._supports: dict[str, tuple[str, str]] = {}
        """Entities of facts that a remaining episode supports."""
        self._given: dict[tuple[str, str], DerivedText] = {}
        self._given_elsewhere: set[tuple[str, str]] = set()

    def take(self, rows: Sequence[RowContent]) -> None:
        for row in rows:
            self._tell(row.intent)
            for held in (*_texts_of(row.intent), *_answer_of(row)):
                if not self._words.isdisjoint(words_in(held.text)):
                    self._held[held] = None

    def trace(self, is_own: TextPredicate) -> Trace:
        for ends in self._supports.values():
            self._supported.update(ends)
        for uuid in self._supported & self._names.keys():
            if not is_own(self._names[uuid]):
                self._told |= words_in(self._names[uuid])
        given = [held for pair, held in self._given.items() if pair not in self._given_elsewhere]
        left = self._words - self._told
        held = [one for one in self._held if not left.isdisjoint(words_in(one.text))]
        keys = {uuid: frozenset(own) for uuid, own in self._keys.items()}
        return Trace(frozenset(self._told), tuple(held), tuple(given), keys, frozenset(self._projects))

    def _tell(self, intent: WriteIntent) -> None:
        """Count its words as in use if they come from a remaining episode."""
        for episode in intent.episodes:
            if episode.uuid not in self._touched:
                self._told |= words_in(episode.content)
        self._names.update((entity.uuid, entity.name) for entity in intent.entities)
        self._projects.update(project.uuid for project in intent.projects)
        self._supported.update(one.entity_uuid for one in intent.mentions if one.episode_uuid not in self._touched)
        for fact in intent.facts:
            if not self._touched.issuperset(fact.episodes):
                self._supports[fact.uuid] = (fact.source_uuid, fact.target_uuid)
        for uuid in intent.deletions.facts:
            self._supports.pop(uuid, None)
        sources = {one.uuid for one in intent.episodes} or {one.episode_uuid for one in intent.mentions}
        is_emptied = bool(sources) and self._emptied.issuperset(sources)
        for name in intent.names:
            self._keys.setdefault(name.entity_uuid, set()).add(name.key)
            if is_emptied:
                self._given[name.entity_uuid, name.key] = DerivedText("name", name.entity_uuid, name.text, name.key)
            else:
                self._given_elsewhere.add((name.entity_uuid, name.key))


def words_of_claim(fact: Fact) -> str:
    """All texts of a fact except its quote, which belongs to its sentence."""
    own = (fact.text, fact.value, fact.measure, fact.unit, *map(str, without_date_words(fact.attributes).values()))
    return ". ".join(part for part in own if part)


def names_of_attributes(record: Entity | Fact) -> str:
    """Of all of them, as words."""
    return ". ".join(" ".join(identifier_words(name)) for name in without_date_words(record.attributes))


def _texts_of(intent: WriteIntent) -> Iterator[DerivedText]:
    for entity in intent.entities:
        yield DerivedText("summary", entity.uuid, " ".join((entity.summary, *map(str, entity.attributes.values()))))
        yield DerivedText("type", entity.uuid, " ".join(identifier_words(entity.label or "")))
    for name in intent.names:
        for text in (name.text, *name.spellings):
            yield DerivedText("name", name.entity_uuid, text, name.key)
    for fact in intent.facts:
        yield DerivedText("fact", fact.uuid, words_of_claim(fact))
        yield DerivedText("relation", fact.uuid, " ".join(identifier_words(fact.relation)))
    for change in intent.changes:
        yield from _states_of(change)
        if change.reason:
            yield DerivedText("reason", change.uuid, change.reason)
    yield from _reviews_of(intent)
    yield from _documents_of(intent)
    for saga in intent.sagas:
        yield DerivedText("saga", saga.uuid, f"{saga.name}. {saga.summary}")
    for community in intent.communities or ():
        yield DerivedText("community", community.uuid, f"{community.name}. {community.summary}")
    for episode in intent.episodes:
        yield DerivedText("title", episode.uuid, episode.name)
        yield DerivedText("title", episode.uuid, episode.source_description)
        steering = json.dumps(intent.steering, ensure_ascii=False) if intent.steering else ""
        yield DerivedText("note", episode.uuid, " ".join((steering, *(one.instructions for one in intent.extractions))))


def _states_of(change: FactChange) -> Iterator[DerivedText]:
    """What an entity was before and after an update."""
    for state in filter(None, (change.entity_before, change.entity_after)):
        yield DerivedText("summary", change.fact_uuid, state.summary)
        yield DerivedText("type", change.fact_uuid, " ".join(identifier_words(state.label or "")))
        for name in state.names:
            for text in (name.text, *name.spellings):
                yield DerivedText("name", name.entity_uuid, text, name.key)


def every_text_of(row: RowContent) -> Iterator[DerivedText]:
    """Every text, with those of quotes; groups and uuids in an answer are not words of the memory."""
    for episode in row.intent.episodes:
        yield DerivedText("episode", episode.uuid, episode.content)
    for entity in row.intent.entities:
        yield DerivedText("name", entity.uuid, entity.name)
        yield DerivedText("summary", entity.uuid, names_of_attributes(entity))
    for fact in row.intent.facts:
        yield DerivedText("fact", fact.uuid, fact.quote or "")
        yield DerivedText("fact", fact.uuid, names_of_attributes(fact))
    yield from _texts_of(row.intent)


def _reviews_of(intent: WriteIntent) -> Iterator[DerivedText]:
    for quality in intent.qualities:
        for name in QUALITY_TEXTS:
            yield DerivedText("review", quality.uuid, getattr(quality, name) or "")


def _documents_of(intent: WriteIntent) -> Iterator[DerivedText]:
    for document in intent.documents:
        for text in (document.name, document.path, document.front):
            yield DerivedText("document", document.uuid, text)


_OF_THE_SERVER = frozenset(
    {"status", "group_id", "next_steps", "unused", "outcome", "kind", "what", "interval", "state", "remedy"}
)
"""Fields of an answer in the server's own words."""


def _answer_of(row: RowContent) -> Iterator[DerivedText]:
    """What callers said, of the answer: neither names of fields nor the server's own words."""
    answer = json.loads(row.answer or "null")
    if isinstance(answer, dict) and str(answer.get("message", "")).startswith(f"Stored {answer.get('name')!r} ("):
        answer = {**answer, "message": ""}  # counts, beside the title, which is a field of its own
    if words := " ".join(_strings_in(answer)):
        yield DerivedText("answer", row.intent.uuid, words)


def _strings_in(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from _strings_in(one)
    elif isinstance(value, dict):
        for name, one in value.items():
            if name not in _OF_THE_SERVER:
                yield from _strings_in(one)
