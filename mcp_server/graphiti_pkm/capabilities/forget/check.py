"""Searches for what was forgotten, after it was removed."""

from collections.abc import Collection, Sequence

from graphiti_pkm.capabilities.forget.places import Form, FormsFound, by_words, call_of
from graphiti_pkm.capabilities.forget.plan import ForgetPlan
from graphiti_pkm.capabilities.forget.rows import rows_of
from graphiti_pkm.capabilities.forget.target import ForgetTarget
from graphiti_pkm.capabilities.forget.text import sentences_of
from graphiti_pkm.capabilities.forget.trace import DerivedText, Traces, words_of_claim
from graphiti_pkm.capabilities.forget.words import RemovedWords, words_in
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.identity.mentions import STOP_WORDS
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.names import search_terms
from graphiti_pkm.core.model.queries import EntityFilter, EpisodeFilter, FactFilter
from graphiti_pkm.core.model.records import Entity, Episode, Fact
from graphiti_pkm.core.reading.views import clipped
from graphiti_pkm.core.waiting import in_thread
from graphiti_pkm.errors import Unavailable

_SHOWN = 50
_FOUND = 10
_TERMS = 64
_NAMES = 50
_TEXT = 200
_UUID = 8
_RELATIONS = 10_000
NOTHING_FOUND = (
    "A search for the removed words finds no sentence, fact or summary that says it. Nicknames, misspellings and other "
    "scripts were not looked for."
)
_HOLDS = "still contains a word that no other text contains"
_SAYS, _HINTS = "still says it", "may still speak of it"


class Afterwards:
    """Searches for the removed words, for each word of an entity's names separately, and for all their forms."""

    def __init__(self, context: Context, traces: Traces) -> None:
        self._context = context
        self._traces = traces
        self._graph = context.graph

    async def found(self, plan: ForgetPlan, caller: Caller) -> list[str]:
        """At most 10 lines; one line if nothing is found."""
        target = plan.material.target
        words = " ".join(sentence.text for sentence in plan.removed[:_SHOWN])
        removed = await in_thread(search_terms, words, _TERMS)
        searches = [list(dict.fromkeys((*target.words, *removed)))[:_TERMS]]
        if target.entity:  # a rare word of the name would be lost among frequent ones
            searches += [[word] for word in target.words[:_TERMS]]
        forms = await self._forms(target, caller)
        covered = {uuid for form in forms for uuids in form.places.values() for uuid in uuids}
        try:
            hits = [line for terms in searches for line in await self._with(target.group_id, terms, plan, covered)]
        except Unavailable:
            return ["The search for the removed words could not be made now."]
        hits += await self._in_journal(plan)
        hits = [*(form.line for form in forms), *hits]
        return _shown(hits) or [NOTHING_FOUND]

    async def in_other_forms(self, target: ForgetTarget, caller: Caller) -> list[str]:
        """Forms that may mean the same, with the call that removes each; nothing is removed on a guess."""
        return _shown([form.line for form in await self._forms(target, caller)])

    async def _forms(self, target: ForgetTarget, caller: Caller) -> list[Form]:
        if not target.forms:
            return []
        found = FormsFound(target.forms)
        async for rows in rows_of(self._context, target.group_id):
            await in_thread(found.look_at_rows, rows)
        await in_thread(found.look_at_graphs, await self._context.journal.saved_graph_contents(caller.principal))
        await in_thread(found.look_at_relations, await self._graph.facts.relations(target.group_id, _RELATIONS))
        return found.listed()

    async def _in_journal(self, plan: ForgetPlan) -> list[str]:
        """Rows that still contain a removed name, number or requested word that no remaining text contains."""
        around, target = plan.material.around, plan.material.target
        gone = around.vanished.gone
        touched = {*plan.derived.episodes, *(one.episode.uuid for one in plan.material.redactions)}
        trace = await self._traces.read(target.group_id, gone, touched, is_own=target.bears)

        def is_of_it(held: DerivedText) -> bool:
            is_identifier = held.kind in {"relation", "type"}  # of ordinary words, whatever their capitals
            return around.vanished.marks(held.text) if is_identifier else plan.states_or_suggests(held.text)

        held = await in_thread(lambda: list(filter(is_of_it, trace.held)))
        return [f"{one.kind} {one.uuid[:_UUID]} {_HOLDS}: {_call_for_words(one, gone)}" for one in held]

    async def _with(self, group: str, terms: Sequence[str], plan: ForgetPlan, covered: Collection[str]) -> list[str]:
        """Lines about search hits; without those ``covered`` by the hints already."""
        now = self._context.now()
        texts = await self._graph.search.search_episodes(terms, EpisodeFilter(group_ids=(group,)), _SHOWN)
        facts = await self._graph.search.search_facts(terms, FactFilter(group_ids=(group,), now=now), _SHOWN)
        nodes = await self._graph.search.search_entities(terms, EntityFilter(group_ids=(group,)), _SHOWN)
        aliases = await self._graph.records.aliases(list(nodes), _NAMES) if plan.material.target.entity else {}
        episodes = await self._graph.records.get_episodes(list(texts), [group])
        held = await self._graph.records.get_facts(list(facts), [group])
        entities = await self._graph.records.get_entities(list(nodes), [group])

        def look() -> list[str]:
            found = [
                *(line for one in episodes for line in _of_episode(one, plan)),
                *(line for one in held for line in _of_fact(one, plan)),
                *(line for one in entities for line in _of_entity(one, aliases.get(one.uuid, ()), plan)),
            ]
            return [line for uuid, how, line in found if how == _SAYS or uuid not in covered]

        return await in_thread(look)


_Line = tuple[str, str, str]
"""The record, how it refers to the target, and the text of the line."""


def _of_episode(episode: Episode, plan: ForgetPlan) -> list[_Line]:
    texts = [episode.name, *(sentence.text for sentence in sentences_of(episode, ()))]
    place = f"episode {episode.uuid[:_UUID]} {clipped(episode.name, _TEXT)}"
    return [(episode.uuid, how, f"{place}: {how}: {call_of('episode', episode.uuid)}") for how in _how(texts, plan)]


def _of_fact(fact: Fact, plan: ForgetPlan) -> list[_Line]:
    texts = [words_of_claim(fact), fact.quote or ""]
    place = f"fact {fact.uuid[:_UUID]}"
    return [(fact.uuid, how, f"{place} {how}: {call_of('fact', fact.uuid)}") for how in _how(texts, plan)]


def _of_entity(entity: Entity, aliases: Sequence[str], plan: ForgetPlan) -> list[_Line]:
    """A line about an entity: an alias is removed by its words, the name only with the entity."""
    name = clipped(entity.name, _TEXT)
    call = call_of("name", entity.uuid)
    texts = [entity.summary, *map(str, entity.attributes.values())]
    found = [(entity.uuid, how, f"summary of {name} {how}: {call}") for how in _how(texts, plan)]
    if plan.material.target.entity:
        found += [(entity.uuid, _HINTS, f"name of {name}: {_HINTS}: {call}") for _ in _how([entity.name], plan)]
        found += [
            (entity.uuid, _HINTS, f"alias {clipped(alias, _TEXT)!r} of {name}: {_HINTS}: {by_words(alias)}")
            for alias in aliases
            for _ in _how([alias], plan)
        ]
    return found


def _how(texts: Sequence[str], plan: ForgetPlan) -> list[str]:
    """How the texts refer to it, if they do."""
    if any(plan.says(text) for text in texts):
        return [_SAYS]
    target = plan.material.target
    return [_HINTS] if target.entity and any(target.hints(text) for text in texts) else []


def _call_for_words(held: DerivedText, gone: RemovedWords) -> str:
    """The call by the most distinctive word of a text that occurs in no other."""
    telling = words_in(held.text) & gone.words
    first = gone.certain | gone.names
    words = sorted(telling - STOP_WORDS, key=lambda word: (word not in first, -len(word), word))
    return by_words(words[0]) if words else call_of(held.kind, held.uuid)


def _shown(lines: Sequence[str]) -> list[str]:
    distinct = list(dict.fromkeys(lines))
    more = len(distinct) - _FOUND + 1
    return distinct if len(distinct) <= _FOUND else [*distinct[: _FOUND - 1], f"and {more} more"]
