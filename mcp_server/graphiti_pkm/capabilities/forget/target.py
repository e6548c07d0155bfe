"""Finds the target of a call: episodes that may state it, their sentences that do, and other data that does."""

from bisect import bisect_left, insort
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import TypeVar

from graphiti_pkm.capabilities.forget.non_sentence_traces import NonSentenceCollector, NonSentenceTraces
from graphiti_pkm.capabilities.forget.rows import rows_of
from graphiti_pkm.capabilities.forget.text import Sentence, TextPredicate
from graphiti_pkm.capabilities.forget.trace import names_of_attributes, words_of_claim
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.facts.observations import is_observation
from graphiti_pkm.core.identity.mentions import STOP_WORDS, MentionFinder, word_forms
from graphiti_pkm.core.identity.name_parts import PERSON, is_date_word, may_stand_alone, name_parts, short_words
from graphiti_pkm.core.identity.persons import Persons
from graphiti_pkm.core.model.name_forms import NameForms, folded_words, identifier_words, left_of_identifier
from graphiti_pkm.core.model.names import fold, phone_number, search_terms
from graphiti_pkm.core.model.queries import EntityFilter, EpisodeFilter, FactFilter, Window
from graphiti_pkm.core.model.records import Entity, Episode, Fact, Name
from graphiti_pkm.core.ports.graph import Graph
from graphiti_pkm.core.waiting import in_thread
from graphiti_pkm.errors import InvalidInput, NotAllowed

MOST_EPISODES = 2_000
MOST_FACTS = 10_000
_PAGE = 500
_FOUND = 1_000
_ASKED_EACH = 200
"""Episodes examined for each word that may mean the entity; the user is shown some."""
_NAMES = 50
_SAGAS = 1_000
_REMEMBERED = 4_096
"""Texts whose answer is remembered: the steps of one call ask about the same ones up to five times."""
_NAME_WORDS = 3
"""A query of more words is not a name, so no other forms of it are searched."""
_VALUE = 4
"""A shorter value occurs in many texts."""
_CLAIM = 3
"""This many words of a claim in one place are no coincidence."""

_EVER = datetime.max.replace(tzinfo=UTC)
"""Also what was recorded before the clock was set back."""

_Record = TypeVar("_Record")

SentencePicker = Callable[[Episode, Sequence[Sentence], Sequence[frozenset[str]]], Iterable[int]]


@dataclass(frozen=True)
class ForgetTarget:
    """What a call wants forgotten."""

    group_id: str
    picks: SentencePicker
    """Selects the sentences of an episode that state it."""
    says: TextPredicate = lambda _: False
    named: TextPredicate = lambda _: False
    """Whether a text names it by the rules of mentions."""
    hints: TextPredicate = lambda _: False
    """Whether a remaining text may refer to it nevertheless."""
    words: tuple[str, ...] = ()
    """Search terms for it."""
    episodes: Sequence[Episode] = ()
    facts: Sequence[Fact] = ()
    """Facts removed whatever supports them."""
    entity: Entity | None = None
    unnamed: Sequence[Episode] = field(default=())
    """Episodes that mention the entity without its name."""
    names: tuple[str, ...] = ()
    """Names of the entity, and words that mean it on their own."""
    asked: tuple[str, ...] = ()
    """Words given by the caller."""
    forms: NameForms = field(default_factory=lambda: NameForms(()))
    """Forms in which it may occur elsewhere; those are kept and reported."""
    without: Callable[[str], str] = lambda identifier: identifier
    """A relation or type without the words that state it."""
    non_sentences: NonSentenceTraces = field(default_factory=NonSentenceTraces)

    def without_episodes(self) -> "ForgetTarget":
        """The same where episodes stay as they are: only what was made of them goes."""
        kept = replace(self.non_sentences, only_kept_episodes=frozenset())
        return replace(self, episodes=(), non_sentences=kept)

    def type_left(self, label: str | None) -> str | None:
        """The type that an entity keeps: all of it or none, since half a type is a different one."""
        return label if label is None or label == PERSON or self.without(label) == label else None

    def bears(self, name: str) -> bool:
        """Whether another thing's name contains one of its names."""
        form = f" {fold(name)} "
        return self.says(name) or any(f" {fold(own)} " in form for own in self.names)


class ForgetTargets:
    """Finds the targets of calls; bounded, and refused if it is too much for one call."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._graph: Graph = context.graph
        self._persons = Persons(context.graph, context.settings)

    async def names(self, group_id: str) -> Sequence[Name]:
        """All linkable names of a group."""
        book = await self._graph.records.name_book(group_id, None)
        return book.names if book else ()

    async def of_entity(self, entity: Entity, known: Sequence[Name], finder: MentionFinder) -> ForgetTarget:
        """Every sentence that names it by the mention rules, every fact with it or naming it.

        A word that occurs in no other entity's name counts as its name, too. ``finder`` knows all names, and these are
        added.
        """
        group = entity.group_id
        await self._refuse_person(entity)
        aliases = (await self._graph.records.aliases([entity.uuid], _NAMES)).get(entity.uuid, [])
        names = [entity.name, *aliases]
        others = [*known, *await self._called(group, search_terms(" ".join(names)))]
        parts = name_parts(entity, names, others)
        finder.add(_meaning(entity, entity.name, *parts.own))
        doubting = MentionFinder([*others, _meaning(entity, *parts.doubtful)] if parts.doubtful else ())
        folded = [form for name in names if (form := fold(name)) and not any(map(str.isdigit, form))]

        @lru_cache(_REMEMBERED)
        def says(text: str) -> bool:
            return entity.uuid in finder.find(text)

        certain = [*names, *(parts.own if entity.label == PERSON else ())]
        doubted = await self._of_things(entity, parts.doubtful, others) if may_stand_alone(entity) else []
        short = short_words(names) if may_stand_alone(entity) else []
        forms = NameForms(
            (*names, *parts.own), [name for name in certain if not _is_ordinary(name)], [*short, *doubted]
        )

        @lru_cache(_REMEMBERED)
        def hints(text: str) -> bool:
            form = f" {fold(text)} "
            return (
                any(f" {name} " in form for name in folded)
                or bool(forms.found(text))
                or (bool(parts.doubtful) and entity.uuid in doubting.find(text))
            )

        mentioning = await self._mentioning(entity)
        found = {episode.uuid: episode for episode in mentioning}
        for name in (*names, *parts.own):
            listed = await self._graph.search.episodes_naming(group, name, _EVER, None, MOST_EPISODES)
            found |= {episode.uuid: episode for episode in await _that(says, listed, _content)}
        titled = await self._graph.search.search_episodes(
            search_terms(" ".join((*names, *parts.own))), EpisodeFilter(group_ids=(group,)), _FOUND
        )
        listed = await self._graph.records.get_episodes([uuid for uuid in titled if uuid not in found], [group])
        found |= {episode.uuid: episode for episode in await _that(says, listed, _title)}
        _bounded(len(found))
        for name in (*names, *parts.doubtful):
            listed = await self._graph.search.episodes_naming(group, name, _EVER, None, _ASKED_EACH)
            found |= {episode.uuid: episode for episode in await _that(hints, listed, _content)}
        non_sentences = await self._non_sentences(group, NonSentenceCollector(says, forms.without, found.keys(), forms))
        found |= non_sentences.episodes
        _bounded(len(found))
        facts = await self._facts(entity)
        is_quoted = _quoting(fact for fact in facts if is_observation(fact))
        return ForgetTarget(
            group_id=group,
            picks=lambda episode, sentences, named: [
                place
                for place, named_ in enumerate(named)
                if entity.uuid in named_ or is_quoted(episode, sentences[place])
            ],
            says=says,
            named=says,
            hints=hints,
            words=tuple(search_terms(" ".join(names))),
            episodes=list(found.values()),
            facts=[
                *facts,
                *await self._naming(group, (*names, *parts.own), says),
                *non_sentences.claims,
            ],
            entity=entity,
            names=(*names, *parts.own),
            forms=forms,
            without=forms.without,
            non_sentences=non_sentences,
            unnamed=await _that(lambda text: not (says(text) or hints(text)), mentioning, _content),
        )

    async def of_fact(self, fact: Fact) -> ForgetTarget:
        """The claim, in whichever facts: the sentences they quote, else those that name most of their entities."""
        claims = [fact, *await self._same(fact)]
        ends = frozenset((fact.source_uuid, fact.target_uuid))
        forms = {form for one in claims for text in (one.text, one.quote or "") if (form := fold(text))}
        source, value = fold(fact.source_name), fold(fact.value or "")

        def says(text: str) -> bool:
            own = fold(text)
            return any(form in own for form in forms) or (len(value) >= _VALUE and value in own and source in own)

        whole = {form for form in forms if len(form.split()) >= _CLAIM}

        def repeats(text: str) -> bool:
            own = fold(text)
            return any(form in own for form in whole)

        uuids = list(dict.fromkeys(uuid for one in claims for uuid in one.episodes))

        def picks(episode: Episode, sentences: Sequence[Sentence], named: Sequence[frozenset[str]]) -> list[int]:
            quoted = [
                place
                for place, sentence in enumerate(sentences)
                if any(_quotes(one, episode, sentence) for one in claims)
            ]
            is_other = episode.uuid not in uuids
            saying = [place for place, one in enumerate(sentences) if (repeats if is_other else says)(one.text)]
            if quoted or saying or is_other:
                return sorted({*quoted, *saying})
            most = max((len(ends & names) for names in named), default=0)
            return [place for place, names in enumerate(named) if most and len(ends & names) == most]

        _bounded(len(uuids))
        own = await self._graph.records.get_episodes(uuids, [fact.group_id])
        return ForgetTarget(
            group_id=fact.group_id,
            picks=picks,
            says=says,
            words=tuple(search_terms(f"{fact.text} {fact.value or ''}")),
            episodes=[*own, *await self._repeating(fact.group_id, whole, repeats, uuids)],
            facts=claims,
        )

    async def _repeating(
        self, group_id: str, forms: Iterable[str], repeats: TextPredicate, known: Collection[str]
    ) -> list[Episode]:
        """Other episodes that state the same in the same words."""
        found: dict[str, float] = {}
        for form in sorted(forms):
            terms = search_terms(form)
            found |= await self._graph.search.search_episodes(terms, EpisodeFilter(group_ids=(group_id,)), _ASKED_EACH)
        others = [uuid for uuid in found if uuid not in known]
        return await _that(repeats, await self._graph.records.get_episodes(others, [group_id]), _content)

    async def of_episode(self, episode: Episode) -> ForgetTarget:
        """The whole episode."""
        return ForgetTarget(
            group_id=episode.group_id,
            picks=lambda _, sentences, __: range(len(sentences)),
            words=tuple(await in_thread(search_terms, episode.content)),
            episodes=[episode],
        )

    async def of_query(self, group_id: str, query: str) -> ForgetTarget:
        """Every sentence and fact that contains all significant words of the query, or the query as a name."""
        terms = search_terms(query)
        telling = frozenset(term for term in terms if term not in STOP_WORDS) or frozenset(terms)
        if not telling:
            raise InvalidInput("Nothing was forgotten: query holds no word. Give words that the sentences hold.")

        is_name = len(telling) <= _NAME_WORDS or phone_number(query) is not None
        finder = MentionFinder([Name(key="", group_id=group_id, text=query, entity_uuid="")] if is_name else ())

        @lru_cache(_REMEMBERED)
        def named(text: str) -> bool:
            return bool(finder.find(text))

        def holds(text: str) -> bool:
            return telling.issubset(folded_words(text))

        def says(text: str) -> bool:
            return holds(text) or named(text)

        now = self._context.now()
        wanted = EpisodeFilter(group_ids=(group_id,))
        found = await self._graph.search.search_episodes(sorted(telling), wanted, _FOUND)
        facts = await self._graph.search.search_facts(
            sorted(telling), FactFilter(group_ids=(group_id,), now=now), _FOUND
        )
        held = await self._graph.records.get_facts(list(facts), [group_id])
        of_named = await self._facts_of_named(group_id, sorted(telling), says)

        def left(identifier: str) -> str:
            words = identifier_words(identifier)
            if not (holds(identifier) or holds(" ".join(words))):
                return identifier
            rest = [word for word in words if telling.isdisjoint(folded_words(word))]
            return left_of_identifier(identifier, rest if len(rest) < len(words) else [])

        forms = NameForms([query] if is_name else ())
        non_sentences = await self._non_sentences(group_id, NonSentenceCollector(says, left, found))

        # A claim that stands under another name by now only loses its former words.
        of_attributes = await _that(says, non_sentences.claims, names_of_attributes)
        return ForgetTarget(
            group_id=group_id,
            picks=lambda _, sentences, __: [place for place, one in enumerate(sentences) if says(one.text)],
            says=says,
            named=named,
            hints=lambda text: len(telling & folded_words(text)) * 2 > len(telling),
            words=tuple(sorted(telling)),
            asked=tuple(sorted(telling)),
            forms=forms,
            without=left,
            non_sentences=non_sentences,
            episodes=[
                *await self._graph.records.get_episodes(list(found), [group_id]),
                *non_sentences.episodes.values(),
            ],
            facts=[*await _that(says, [*held, *non_sentences.claims], words_of_claim), *of_named, *of_attributes],
        )

    async def _non_sentences(self, group_id: str, look: NonSentenceCollector) -> NonSentenceTraces:
        """What of the group's rows says it elsewhere than in a sentence that full text finds."""
        async for rows in rows_of(self._context, group_id):
            await in_thread(look.take, rows)
        named = list(look.saying | look.episodes.keys())
        episodes = {one.uuid: one for one in await self._graph.records.get_episodes(named, [group_id])}
        only_kept = frozenset(look.saying - episodes.keys())
        theirs = [uuid for uuid, own in look.supports.items() if own <= only_kept]
        facts = list(dict.fromkeys((*look.claims, *look.related, *theirs)))
        sagas = [*look.sagas.values()][:_SAGAS]
        if max(len(facts), len(look.typed)) > MOST_FACTS:
            raise _too_much(f"{len(facts):,} facts and {len(look.typed):,} entities")
        held = await self._graph.records.get_facts(facts, [group_id])
        found = [await self._graph.sagas.find_sagas(group_id, [one.uuid], one.name) for one in sagas]
        return NonSentenceTraces(
            episodes={uuid: one for uuid, one in episodes.items() if uuid in look.episodes},
            only_kept_episodes=only_kept,
            claims=[one for one in held if one.uuid in look.claims],
            related=[one for one in held if one.uuid in look.related],
            typed=frozenset(look.typed),
            only_kept=frozenset(facts) - {one.uuid for one in held},
            sagas=[one for listed in found for one in listed if one.uuid in look.sagas],
            metadata=frozenset(look.metadata),
            qualities=frozenset(look.qualities),
            documents=frozenset(look.documents),
            members=frozenset(look.members),
        )

    async def _facts_of_named(self, group_id: str, terms: Sequence[str], says: TextPredicate) -> list[Fact]:
        """Facts of entities whose name states it, since the fact would keep the name. Not those of the person."""
        found = await self._graph.search.search_entities(terms, EntityFilter(group_ids=(group_id,)), _FOUND)
        named = await _that(says, await self._graph.records.get_entities(list(found), [group_id]), lambda one: one.name)
        person = await self._persons.uuids(group_id)
        return [fact for one in named if one.uuid not in person for fact in await self._facts(one)]

    async def _called(self, group_id: str, terms: Sequence[str]) -> list[Name]:
        """Names of entities without a ``Name`` of ours, with one of these words: of the person, or Graphiti's own."""
        found = await self._graph.search.search_entities(terms, EntityFilter(group_ids=(group_id,)), _FOUND)
        entities = await self._graph.records.get_entities(list(found), [group_id])
        return [_meaning(entity, entity.name) for entity in entities]

    async def _of_things(self, entity: Entity, words: Sequence[str], others: Iterable[Name]) -> list[str]:
        """Those words of its names that no other person has in one: what else bears one may be called after it."""
        if not words:
            return []
        wanted = word_forms(" ".join(words))
        bearers = {one.entity_uuid for one in others if wanted & word_forms(one.text)} - {entity.uuid}
        entities = await self._graph.records.get_entities(sorted(bearers)[:_FOUND], [entity.group_id])
        persons = {form for one in entities if may_stand_alone(one) for form in word_forms(one.name)}
        return [word for word in words if not persons & word_forms(word) and not is_date_word(fold(word))]

    async def _mentioning(self, entity: Entity) -> list[Episode]:
        """Every episode that mentions it."""
        found: list[Episode] = []
        after: tuple[str | int, ...] | None = None
        while True:
            page = await self._graph.episodes.timeline(
                entity.uuid, EpisodeFilter(group_ids=(entity.group_id,)), Window(limit=_PAGE, after=after)
            )
            _bounded(page.total)
            found += page.episodes
            if len(page.episodes) < _PAGE:
                return found
            after = page.keys[-1]

    async def _facts(self, entity: Entity) -> list[Fact]:
        page = await self._graph.facts.connections(
            entity.uuid,
            FactFilter(group_ids=(entity.group_id,), now=self._context.now()),
            Window(limit=MOST_FACTS),
        )
        if page.total > len(page.facts):
            raise _too_much(f"{page.total:,} facts")
        return list(page.facts)

    async def _naming(self, group_id: str, names: Sequence[str], says: TextPredicate) -> list[Fact]:
        """Facts of other entities that contain its name."""
        wanted = FactFilter(group_ids=(group_id,), now=self._context.now())
        found: dict[str, float] = {}
        for name in names:
            found |= await self._graph.search.search_facts(search_terms(name), wanted, _FOUND)
        return await _that(says, await self._graph.records.get_facts(list(found), [group_id]), words_of_fact)

    async def _same(self, fact: Fact) -> list[Fact]:
        """Other facts between the same entities in the same words, for instance one that was ended before."""
        pair = (fact.source_uuid, fact.target_uuid)
        found = await self._graph.search.search_facts(
            search_terms(fact.text), FactFilter(group_ids=(fact.group_id,), now=self._context.now()), _FOUND
        )
        others = [
            one
            for one in await self._graph.records.get_facts(list(found), [fact.group_id])
            if one.uuid != fact.uuid and (one.source_uuid, one.target_uuid) == pair
        ]
        own = fold(words_of_fact(fact))
        return await _that(lambda text: fold(text) == own, others, words_of_fact)

    async def _refuse_person(self, entity: Entity) -> None:
        if entity.uuid in await self._persons.uuids(entity.group_id):
            raise NotAllowed(
                "Nothing was forgotten: this is the person the memory belongs to. Forget facts, episodes or words of "
                "a query instead."
            )


def _quoting(facts: Iterable[Fact]) -> Callable[[Episode, Sentence], bool]:
    """Whether a sentence is quoted by any of these facts."""
    places: dict[str, list[int]] = {}
    for fact in facts:
        if fact.quote_episode_uuid is not None and fact.quote_start is not None:
            insort(places.setdefault(fact.quote_episode_uuid, []), fact.quote_start)

    def is_quoted(episode: Episode, sentence: Sentence) -> bool:
        own = places.get(episode.uuid, [])
        place = bisect_left(own, sentence.start)
        return place < len(own) and own[place] < sentence.end

    return is_quoted


def _is_ordinary(name: str) -> bool:
    """Whether a name may be an ordinary word where capitals do not distinguish: MAY_VISIT, DRINKS_COFFEE."""
    words = fold(name).split()
    return name == name.lower() != name.upper() or all(word in STOP_WORDS or is_date_word(word) for word in words)


def _meaning(entity: Entity, *texts: str) -> Name:
    """The name with all these spellings."""
    return Name(key="", group_id=entity.group_id, text=texts[0], spellings=texts[1:], entity_uuid=entity.uuid)


async def _that(says: TextPredicate, records: Sequence[_Record], text_of: Callable[[_Record], str]) -> list[_Record]:
    """Records whose text matches; runs off the event loop, as there may be many long texts."""
    return await in_thread(lambda: [one for one in records if says(text_of(one))])


def _content(episode: Episode) -> str:
    return episode.content


def _title(episode: Episode) -> str:
    return episode.name


def words_of_fact(fact: Fact) -> str:
    """The claim of a fact, without its quote, which belongs to its sentence."""
    return ". ".join(filter(None, (fact.text, fact.value)))


def _quotes(fact: Fact, episode: Episode, sentence: Sentence) -> bool:
    start, end = fact.quote_start, fact.quote_end
    if fact.quote_episode_uuid != episode.uuid or start is None or end is None:
        return False
    return sentence.start < end and start < sentence.end


def _bounded(episodes: int) -> None:
    if episodes > MOST_EPISODES:
        raise _too_much(f"{episodes:,} episodes")


def _too_much(what: str) -> InvalidInput:
    return InvalidInput(
        f"Nothing was forgotten: {what} are concerned, more than one call takes. Forget by fact_uuid, episode_uuid or "
        "query first, or delete episodes."
    )
