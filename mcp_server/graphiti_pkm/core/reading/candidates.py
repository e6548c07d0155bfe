"""Collects search candidates from a pool of constant size and fuses their scores."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from graphiti_pkm.core.identity.name_parts import short_titles
from graphiti_pkm.core.identity.persons import Persons
from graphiti_pkm.core.identity.spelling import NameForm
from graphiti_pkm.core.model.names import (
    SHORTEST_PART,
    beginning_term,
    name_key,
    normalise_name,
    search_terms,
    words_of,
)
from graphiti_pkm.core.model.queries import EntityFilter, FactFilter, Window
from graphiti_pkm.core.model.records import Entity, Vector
from graphiti_pkm.core.ports.graph import Graph
from graphiti_pkm.core.ports.ports import Embedder
from graphiti_pkm.core.reading.ranking import (
    MIN_COSINE,
    NEAR_NAME,
    Scores,
    WordCounts,
    by_words_alone,
    faded,
    fuse,
    holding_all,
    kept_above,
    put_first,
    scores_of_words,
    stem_counts,
)
from graphiti_pkm.core.waiting import in_thread
from graphiti_pkm.errors import InvalidInput, Unavailable

POOL = 200
"""Candidates by words, and as many by meaning, whatever the page size: all pages are cut from one ranking."""

_OF_A_PART = 50
"""Candidates of each part of what is asked for."""
_PATIENCE = 3.0
"""Seconds that a search waits for an embedding service before it uses words alone."""
_ALIASES = 10
_MOST_SIMILAR = 3
_MOST_SIMILAR_OF = 10
_MOST_NAME_TERMS = 8
_LOOKED_AT = 50
"""Entities examined that share a word, or its beginning, with a name that was not found."""
_UUID = 8
_SENTENCE_MARKS = " \t\n.,;:!?\"'“”„«»()"
_FEW_KEYS = 200
"""Computing more is left to a thread."""
PERSON_WORDS = frozenset({"me", "i", "user", "theuser", "myself"})
_ASKING = words_of("who whom whose what which when where why how")
_OF_QUESTIONS = _ASKING | words_of(
    """do does did doing done have has had having could would should don doesn didn haven hasn hadn couldn wouldn
    shouldn isn aren wasn weren t"""
)
"""Words that form a question, and what an apostrophe leaves of them. Rare in facts, they would weigh more than what is
asked for. Not those that are names as well: will, may, can."""
_BEING = words_of("is are was were am")
"""Form a question after a word that asks, and first in a query; elsewhere they may be part of what is asked for."""
_CAPITALISED = re.compile(r"(?<!^)(?<![.!?:]\s)\b[A-Z]\w*")
"""A word with a capital that does not begin the sentence: WHO, the organisation."""
_QUERY_CHARS = 4_000
_MOST_TERMS = 64
_ONLY_WORDS = (
    "Searched by full text only, not by meaning: the embedding model is not available; get_status shows the remedy."
)
_CUT = f"The query was long: only its first {_MOST_TERMS} words were searched."


@dataclass(frozen=True)
class Query:
    """A query in the forms that the searches need; without ``vector`` only words are searched."""

    text: str
    terms: list[str]
    vector: "Vector | None"
    note: str | None
    """A note for the caller about how the search was done."""

    @property
    def telling(self) -> "Query":
        """The query without the words that only make a question of it, unless there are no others."""
        names = frozenset(search_terms(" ".join(_CAPITALISED.findall(self.text.strip()))))
        before = ["", *self.terms]
        terms = [
            term
            for term, last in zip(self.terms, before, strict=False)
            if term in names or not (term in _OF_QUESTIONS or (term in _BEING and (not last or last in _OF_QUESTIONS)))
        ]
        return replace(self, terms=terms or self.terms)


class Candidates:
    """Queries graph and embedder, and scores the results."""

    def __init__(self, graph: Graph, embedder: Embedder, persons: Persons) -> None:
        self._graph = graph
        self._embedder = embedder
        self._persons = persons

    async def query(self, text: str) -> Query:
        """The words and the vector of a query. Raises InvalidInput if it has no word."""
        if not text.strip():
            raise InvalidInput("query is blank: say what to look for.")
        checked_text("query", text)
        terms = search_terms(text[:_QUERY_CHARS], _MOST_TERMS + 1)
        if not terms:
            raise InvalidInput("query has no letter or digit to search for, only punctuation or symbols.")
        vector = await self._vector(text[:_QUERY_CHARS])
        notes = [] if vector is not None else [_ONLY_WORDS]
        if len(terms) > _MOST_TERMS or len(text) > _QUERY_CHARS:
            notes.append(_CUT)
        return Query(text[:_QUERY_CHARS], terms[:_MOST_TERMS], vector, " ".join(notes) or None)

    async def named(self, names: Sequence[str], wanted: EntityFilter) -> dict[str, list[Entity]]:
        """The entities with each name or alias, in any spelling, that pass the filter."""
        is_little = len(names) * len(wanted.group_ids) <= _FEW_KEYS
        keys = (
            self._keys(names, wanted.group_ids) if is_little else await in_thread(self._keys, names, wanted.group_ids)
        )
        found = await self._graph.records.get_names(list(dict.fromkeys(key for each in keys.values() for key in each)))
        if not found:
            return {name: [] for name in names}
        records = await self._graph.records.get_entities(
            list({name.entity_uuid for name in found.values()}), wanted.group_ids
        )
        fitting = {
            item.uuid: item
            for item in records
            if (not wanted.labels or not {"Entity", item.label}.isdisjoint(wanted.labels))
            and (wanted.recorded_until is None or item.created_at <= wanted.recorded_until)
        }
        if wanted.status is not None and fitting:
            narrowed = wanted.model_copy(update={"uuids": tuple(fitting)})
            found_so, _ = await self._graph.records.entity_page(narrowed, Window(limit=len(fitting)))
            fitting = {item.uuid: item for item in found_so}
        holders = {name: [found[key].entity_uuid for key in each if key in found] for name, each in keys.items()}
        return {
            name: [fitting[uuid] for uuid in dict.fromkeys(each) if uuid in fitting] for name, each in holders.items()
        }

    async def titled(self, names: Sequence[str], wanted: EntityFilter) -> dict[str, list[Entity]]:
        """The entities with each name as a short title in theirs: "ADR 4" of "ADR 4: Use SQLite" and "govuk/ADR 4"."""
        found = await asyncio.gather(*(self._titled(name, wanted) for name in names[:_MOST_SIMILAR_OF]))
        return {name: entities for name, entities in zip(names, found, strict=False) if entities}

    async def _titled(self, name: str, wanted: EntityFilter) -> list[Entity]:
        terms, asked = search_terms(name, _MOST_NAME_TERMS), normalise_name(name)
        hits = list(await self._graph.search.search_entities(terms, wanted, _LOOKED_AT)) if terms else []
        records, names = await self._records(hits, wanted)
        titles = {uuid: [title for one in each for title in short_titles(one)] for uuid, each in names.items()}
        return [one for one in records if asked in map(normalise_name, titles[one.uuid])]

    async def similar(self, names: Sequence[str], wanted: EntityFilter) -> dict[str, list[str]]:
        """For each unknown name at most three names that it may be part or a misspelling of."""
        found = await asyncio.gather(*(self._similar(name, wanted) for name in names[:_MOST_SIMILAR_OF]))
        return {name: shown for name, shown in zip(names, found, strict=False) if shown}

    async def _similar(self, name: str, wanted: EntityFilter) -> list[str]:
        terms = search_terms(name, _MOST_NAME_TERMS)
        begun = [beginning_term(term) for term in terms if len(term) >= SHORTEST_PART]
        hits = list(await self._graph.search.search_entities([*terms, *begun], wanted, _LOOKED_AT)) if terms else []
        records, names = await self._records(hits, wanted)

        def compared() -> list[tuple[str, str]]:
            asked = NameForm.of(name)
            return [
                (item.name, item.uuid)
                for item in records
                if any(asked.may_mean(NameForm.of(other)) for other in names[item.uuid])
            ]

        alike = await in_thread(compared)
        return [f"{other} ({uuid[:_UUID]})" for other, uuid in sorted(alike)[:_MOST_SIMILAR]]

    async def entities(self, query: Query, wanted: EntityFilter, *, is_named: bool = False) -> Scores:
        """Entities by names, aliases and summaries; if none ``is_named`` so, also by names that the query misspells."""
        hits = list(await self._graph.search.search_entities(query.terms, wanted, POOL))
        records, names = await self._records(hits, wanted)
        # the name counts twice: it says more about an entity than its facts do
        texts = {item.uuid: " ".join((item.name, *names[item.uuid], item.summary)) for item in records}
        near = await self._graph.search.nearest_entities(query.vector, wanted, POOL) if query.vector else {}
        counts = await in_thread(stem_counts, texts)
        fused = await in_thread(_fused, query, counts, near)
        sure = [*texts, *(uuid for uuid, cosine in near.items() if cosine >= NEAR_NAME)]
        asked = NameForm.of(query.text.strip(_SENTENCE_MARKS))
        if not is_named and not holding_all(asked.words, counts):
            if word := asked.lone_word:
                begun = await self._graph.search.search_entities([beginning_term(word)], wanted, POOL)
                names |= (await self._records([*begun, *near], wanted))[1]
            respelt = await in_thread(_misspelt, asked, names)
            fused = fused.then("spelling", put_first(fused.by_uuid, respelt))
            sure += respelt
        return fused.then("faint", faded(fused.by_uuid, sure))

    async def _records(
        self, uuids: Sequence[str], wanted: EntityFilter
    ) -> tuple[Sequence[Entity], dict[str, tuple[str, ...]]]:
        """The entities, and the names and aliases of each."""
        records = await self._graph.records.get_entities(uuids, wanted.group_ids)
        aliases = await self._graph.records.aliases(uuids, _ALIASES)
        return records, {item.uuid: (item.name, *aliases.get(item.uuid, ())) for item in records}

    async def facts(self, query: Query, wanted: FactFilter, parts: Sequence[FactFilter] = ()) -> Scores:
        """Facts by sentence, relation, both names and quote; the best of each of the ``parts`` are among them."""
        query = query.telling
        asked = [*((part, _OF_A_PART) for part in parts), (wanted, POOL)]
        counts, found = await asyncio.gather(
            self._worded_facts(query, asked, wanted.group_ids),
            asyncio.gather(*(self._near_facts(query, each, limit) for each, limit in asked)),
        )
        near = {uuid: cosine for each in found for uuid, cosine in each.items()}
        return await in_thread(_fused, query, counts, near)

    async def _worded_facts(
        self, query: Query, asked: Sequence[tuple[FactFilter, int]], group_ids: Sequence[str]
    ) -> WordCounts:
        search = self._graph.search.search_facts
        found = await asyncio.gather(*(search(query.terms, each, limit) for each, limit in asked))
        hits = list(dict.fromkeys(uuid for each in found for uuid in each))
        texts = await self._graph.search.fact_texts(hits, group_ids)
        return await in_thread(stem_counts, texts)

    async def _near_facts(self, query: Query, wanted: FactFilter, limit: int) -> dict[str, float]:
        return await self._graph.search.nearest_facts(query.vector, wanted, limit) if query.vector else {}

    def _keys(self, names: Sequence[str], group_ids: Sequence[str]) -> dict[str, list[str]]:
        """Under which each of the names may be kept."""
        return {
            name: [*self._of_person(name, group_ids), *(name_key(group, name) for group in group_ids)] for name in names
        }

    def _of_person(self, name: str, group_ids: Sequence[str]) -> list[str]:
        """For "me" and similar words, the keys of the person of each group."""
        if normalise_name(name) not in PERSON_WORDS:
            return []
        return [name_key(group, self._persons.names(group)[-1]) for group in group_ids]

    async def _vector(self, text: str) -> "Vector | None":
        """None if the model cannot answer; then only words are searched."""
        try:
            return (await self._embedder.embed([text], _PATIENCE))[0]
        except Unavailable:
            return None


def checked_text(parameter: str, text: str) -> str:
    """The text unchanged. Raises InvalidInput if no database can store it."""
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise InvalidInput(f"{parameter} holds a NUL or a broken character (lone surrogate): send plain text.")
    return text


def _fused(query: Query, counts: WordCounts, near: Mapping[str, float]) -> Scores:
    is_cut = len(counts) >= POOL or sum(cosine > MIN_COSINE for cosine in near.values()) >= POOL
    words, only_words = scores_of_words(query.terms, counts), query.vector is None
    found = Scores(is_cut=is_cut).then("words", by_words_alone(words, only_words=only_words))
    found = found.then("meaning", fuse(words, near, only_words=only_words))
    return found.then("every_word", kept_above(found.by_uuid, holding_all(query.terms, counts)))


def _misspelt(asked: NameForm, names: Mapping[str, Sequence[str]]) -> list[str]:
    return [uuid for uuid, each in names.items() if any(asked.misspells(NameForm.of(name)) for name in each)]
