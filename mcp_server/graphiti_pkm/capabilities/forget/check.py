"""What a search finds of what was forgotten, after it went."""

from collections.abc import Sequence

from graphiti_pkm.capabilities.forget.plan import ForgetPlan
from graphiti_pkm.capabilities.forget.target import words_of_fact
from graphiti_pkm.capabilities.forget.text import sentences_of
from graphiti_pkm.capabilities.forget.trace import Traces, every_text_of
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.model.names import search_terms
from graphiti_pkm.core.model.queries import EntityFilter, EpisodeFilter, FactFilter
from graphiti_pkm.core.model.records import Entity, Episode, Fact
from graphiti_pkm.core.ports.erasing import KeptRow
from graphiti_pkm.core.reading.views import clipped
from graphiti_pkm.core.waiting import in_thread
from graphiti_pkm.errors import Unavailable

_SHOWN = 50
_FOUND = 10
_TERMS = 64
_PAGE = 500
_NAMES = 50
_TEXT = 200
_UUID = 8
NOTHING_FOUND = "A search for the removed words finds no sentence, fact or summary that says it."
_HOLDS = "still holds a word that nothing else tells"
_SAYS, _HINTS = "still says it", "may still speak of it"


class Afterwards:
    """Searches for the words that went, and for every word of the names of an entity by itself."""

    def __init__(self, context: Context, traces: Traces) -> None:
        self._context = context
        self._traces = traces
        self._graph = context.graph

    async def found(self, plan: ForgetPlan) -> list[str]:
        """At most 10 places; that there is none is said, too."""
        aim = plan.material.aim
        words = " ".join(sentence.text for sentence in plan.removed[:_SHOWN])
        removed = await in_thread(search_terms, words, _TERMS)
        searches = [list(dict.fromkeys((*aim.words, *removed)))[:_TERMS]]
        if aim.entity:  # a rare word of the name would be lost among the many others
            searches += [[word] for word in aim.words[:_TERMS]]
        try:
            hits = [line for terms in searches for line in await self._with(aim.group_id, terms, plan)]
        except Unavailable:
            return ["The search for the removed words could not be made now."]
        hits += await self._in_journal(plan)
        hits = [*await self._in_other_forms(plan), *hits]
        if not hits:
            return [NOTHING_FOUND]
        return list(dict.fromkeys(hits))[:_FOUND]

    async def _in_other_forms(self, plan: ForgetPlan) -> list[str]:
        """What may be its name, and the call that takes it out: nothing goes on a guess."""
        forms, group = plan.material.aim.forms, plan.material.aim.group_id
        if not forms:
            return []
        found: dict[str, str] = {}

        def look(rows: Sequence[KeptRow]) -> None:
            for held in (one for row in rows for one in every_text_of(row)):
                for word in forms.found(held.text):
                    found.setdefault(word, f"{held.kind} {held.uuid[:_UUID]}")

        after = 0
        while rows := await self._context.journal.kept_rows(group, after, _PAGE):
            await in_thread(look, rows)
            after = rows[-1].seq
        return [
            f"{where} has {clipped(word, _TEXT)!r}, {_HINTS}: forget with query={clipped(word, _TEXT)!r} takes it out"
            for word, where in list(found.items())[:_FOUND]
        ]

    async def _in_journal(self, plan: ForgetPlan) -> list[str]:
        """Rows that still hold a name, number or asked word among those that no text tells any more."""
        around, aim = plan.material.around, plan.material.aim
        gone = around.vanished.gone
        touched = {one.episode.uuid for one in plan.material.redactions}
        trace = await self._traces.read(aim.group_id, gone, touched, is_own=aim.bears)
        held = await in_thread(lambda: [one for one in trace.held if plan.says_or_tells(one.text)])
        return [f"{one.kind} {one.uuid[:_UUID]} {_HOLDS}" for one in held]

    async def _with(self, group: str, terms: Sequence[str], plan: ForgetPlan) -> list[str]:
        now = self._context.now()
        texts = await self._graph.search_episodes(terms, EpisodeFilter(group_ids=(group,)), _SHOWN)
        facts = await self._graph.search_facts(terms, FactFilter(group_ids=(group,), now=now), _SHOWN)
        nodes = await self._graph.search_entities(terms, EntityFilter(group_ids=(group,)), _SHOWN)
        aliases = await self._graph.aliases(list(nodes), _NAMES) if plan.material.aim.entity else {}
        episodes = await self._graph.get_episodes(list(texts), [group])
        held = await self._graph.get_facts(list(facts), [group])
        entities = await self._graph.get_entities(list(nodes), [group])

        def look() -> list[str]:
            return [
                *(line for one in episodes for line in _of_episode(one, plan)),
                *(line for one in held for line in _of_fact(one, plan)),
                *(line for one in entities for line in _of_entity(one, aliases.get(one.uuid, ()), plan)),
            ]

        return await in_thread(look)


def _of_episode(episode: Episode, plan: ForgetPlan) -> list[str]:
    texts = [episode.name, *(sentence.text for sentence in sentences_of(episode, ()))]
    return [f"episode {episode.uuid[:_UUID]} {clipped(episode.name, _TEXT)}: {how}" for how in _how(texts, plan)]


def _of_fact(fact: Fact, plan: ForgetPlan) -> list[str]:
    return [f"fact {fact.uuid[:_UUID]} {how}" for how in _how([words_of_fact(fact), fact.quote or ""], plan)]


def _of_entity(entity: Entity, aliases: Sequence[str], plan: ForgetPlan) -> list[str]:
    name = clipped(entity.name, _TEXT)
    texts = [entity.summary, *map(str, entity.attributes.values())]
    named = [
        f"name or alias of {name}: {_HINTS}" for _ in _how([entity.name, *aliases], plan) if plan.material.aim.entity
    ]
    return [*(f"summary of {name} {how}" for how in _how(texts, plan)), *named]


def _how(texts: Sequence[str], plan: ForgetPlan) -> list[str]:
    """In which way the texts speak of it, if they do."""
    if any(plan.says(text) for text in texts):
        return [_SAYS]
    aim = plan.material.aim
    return [_HINTS] if aim.entity and any(aim.hints(text) for text in texts) else []
