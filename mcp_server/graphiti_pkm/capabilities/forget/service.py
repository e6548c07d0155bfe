"""Forgets a claim, an entity, an episode or whatever contains some words: a preview first, then permanently."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain

from graphiti_pkm.capabilities.forget.check import NOTHING_FOUND, Afterwards
from graphiti_pkm.capabilities.forget.derived_data import texts_of
from graphiti_pkm.capabilities.forget.hints import hints_of
from graphiti_pkm.capabilities.forget.models import EpisodesMode, ForgetResponse
from graphiti_pkm.capabilities.forget.plan import ForgetPlan, Material, plan_forgetting
from graphiti_pkm.capabilities.forget.requests import Forget
from graphiti_pkm.capabilities.forget.saved_graphs import SavedTrace, saved_trace
from graphiti_pkm.capabilities.forget.target import MOST_EPISODES, MOST_FACTS, ForgetTarget, ForgetTargets
from graphiti_pkm.capabilities.forget.text import Redaction, across_lines, sentences_of
from graphiti_pkm.capabilities.forget.trace import Trace, Traces, words_of_claim
from graphiti_pkm.capabilities.forget.words import RemovedWords, VanishedWords
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.facts.known_from import episode_times
from graphiti_pkm.core.facts.saga_plan import close_sagas
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.identity.mentions import MentionFinder
from graphiti_pkm.core.identity.persons import Persons
from graphiti_pkm.core.identity.uuids import resolve_within, unknown
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.names import name_key
from graphiti_pkm.core.model.queries import EntityFilter, Window
from graphiti_pkm.core.model.records import Episode, Fact, Name, Passage
from graphiti_pkm.core.model.targets import groups_beside
from graphiti_pkm.core.model.times import show_time
from graphiti_pkm.core.ports.graph import RecordKind
from graphiti_pkm.core.reading.confirmation import confirmation, is_confirmed
from graphiti_pkm.core.reading.views import Views, clipped
from graphiti_pkm.core.waiting import in_thread
from graphiti_pkm.errors import InvalidInput
from graphiti_pkm.storage.commit import Committer
from graphiti_pkm.storage.erasing import Erasing

_MOST_ENTITIES = 10_000
_MOST_PASSAGES = 25_000
_MOST_REASONS = 10_000
_MOST_DOCUMENTS = 100_000
_AT_ONCE = 100
"""Episodes whose facts are read together."""
_SHOWN = 50
_MOST_LISTED = 20
_TERMS = 64
_TEXT = 200
_UUID = 8
_ERASED_BUT = (
    "What was removed is gone from the database's and the journal's files. Words of it may still stand in texts that "
    "stay: found_afterwards says where and what takes them out. Backups that you made are not touched."
)
_ONLY_DOUBTFUL = (
    "No text certainly states this, so nothing would be removed. Texts that may mean it are in found_afterwards, each "
    "with the call that removes it."
)
_CHAT = "This chat's own log and the client's history still hold what was said here."
_OPEN_GRAPHS = " Open scratch graphs keep it too, in the server's memory, until they are deleted or expire."


class Forgetting:
    """``forget``. The request itself is neither stored nor logged."""

    def __init__(self, context: Context, groups: Groups, committer: Committer, erasing: Erasing | None = None) -> None:
        self._context = context
        self._graph = context.graph
        self._groups = groups
        self._persons = Persons(context.graph, context.settings)
        self._committer = committer
        self._erasing = erasing or Erasing(context)
        self._targets = ForgetTargets(context)
        self._traces = Traces(context)
        self._afterwards = Afterwards(context, self._traces)
        self._views = Views(groups, context.settings.zone, context.now)

    async def forget(self, caller: Caller, request: Forget) -> ForgetResponse:
        """A preview with a token; with the token of exactly that preview, it is removed.

        Raises:
            InvalidInput: not exactly one thing is named, or the token fits something else; nothing was forgotten.
            NotFound: it is not there.
            WritePending: it is journalled and the graph gets it later.
        """
        caller.must_write("Nothing was forgotten.")
        named = {
            "entity": request.entity_uuid,
            "fact": request.fact_uuid,
            "episode": request.episode_uuid,
            "query": request.query,
        }
        given = [(kind, text) for kind, text in named.items() if text is not None]
        if len(given) != 1 or (request.episode_uuid is not None and request.episodes == "keep"):
            raise InvalidInput(
                "Nothing was forgotten: give exactly one of entity_uuid, fact_uuid, episode_uuid and query; an episode "
                "cannot be kept and forgotten."
            )
        what = await self._what(caller, *given[0], request.group_id)
        if request.confirm is None:
            plan = await self._plan(what, request.episodes)
            saved = await saved_trace(self._context, caller, plan)
            return await self._preview(caller, what, plan, saved)
        async with self._committer.writing(what[2]):
            plan = await self._plan(what, request.episodes)
            saved = await saved_trace(self._context, caller, plan)
            is_nothing = plan.is_nothing and not saved.lost
            if is_nothing or not is_confirmed(request.confirm, await self._token(caller, what, plan, saved)):
                raise InvalidInput(
                    "Nothing was forgotten: confirm is not valid, because what would be removed is different now. "
                    "Call forget without confirm, and show the user what it says."
                )
            restorable = await self._restorable(plan)
            hints = [*await in_thread(hints_of, plan), *saved.hints]
            intent = await in_thread(plan.intent, await self._committer.time(what[2]))
            write = await close_sagas(self._graph, intent, says=plan.states_or_suggests)
            await self._committer.commit(saved.taken(write), {})
        snapshots = await self._erasing.redact_snapshots(what[2])
        is_erased = await self._erasing.erase_now()
        found = await self._afterwards.found(plan, caller)
        erased = self._erasing.message(is_erased=is_erased, but=None if found == [NOTHING_FOUND] else _ERASED_BUT)
        return ForgetResponse(
            message=f"Forgotten. {erased}{snapshots}{await self._beside(caller, what[2])} {self._elsewhere}",
            status="forgotten" if is_erased else "pending",
            removed=_counts(plan, saved),
            saved_graphs=saved.names or None,
            stays=self._stays(plan) or None,
            ask_user=hints or None,
            restorable=restorable or None,
            found_afterwards=found,
        )

    async def _what(self, caller: Caller, kind: str, text: str, group_id: str | None) -> tuple[str, str, str]:
        """Kind, full uuid or words, and stored group. Raises NotFound."""
        if kind == "query":
            return kind, text, self._groups.one(caller, group_id)
        named = None if group_id is None else self._groups.one(caller, group_id)
        visible = await self._groups.visible(caller) if named is None else [named]
        found: RecordKind = "entity" if kind == "entity" else "fact" if kind == "fact" else "episode"
        whole = await resolve_within(self._graph, visible, found, text)
        if kind == "entity":
            groups = [one.group_id for one in await self._graph.records.get_entities([whole], visible)]
        elif kind == "fact":
            groups = [one.group_id for one in await self._graph.records.get_facts([whole], visible)]
        else:
            groups = [one.group_id for one in await self._graph.records.get_episodes([whole], visible)]
        if not groups:
            raise unknown(found, whole)
        return kind, whole, groups[0]

    async def _plan(self, what: tuple[str, str, str], mode: EpisodesMode) -> ForgetPlan:
        kind, text, group = what
        names = await self._targets.names(group)
        finder = await in_thread(MentionFinder, names)
        target = await self._resolve_target(kind, text, group, names, finder)
        if mode == "keep":
            target = target.without_episodes()
        read = [await self._redaction(target, one, finder, mode) for one in target.episodes]
        read.sort(key=lambda one: (one.episode.valid_at, one.episode.uuid))
        saying = [one for one in read if one.gone or one.is_titled]
        unsaid = [one for one in read if target.entity and not (one.gone or one.is_titled)]
        gone = await in_thread(_words_of, target, saying, names)
        whole = target.non_sentences.only_kept_episodes
        trace = await self._traces.read(
            group,
            gone,
            touched=whole | {one.episode.uuid for one in saying if one.gone},
            emptied=whole | {one.episode.uuid for one in saying if one.is_all},
            kept=[sentence.text for one in saying if one.gone for sentence in one.kept],
            is_own=target.bears,
        )
        saying += await self._titled(target, trace, VanishedWords(gone.without(trace.remaining)), saying, mode)
        material = await self._material(target, saying, unsaid, mode, trace)
        return await in_thread(plan_forgetting, await self._with_words(material, gone, trace))

    async def _titled(
        self, target: ForgetTarget, trace: Trace, vanished: VanishedWords, read: Sequence[Redaction], mode: EpisodesMode
    ) -> list[Redaction]:
        """Episodes that lose no sentence, but a title, a description, or instructions for a model."""
        if mode == "keep":
            return []

        def look() -> set[str]:
            found = {held.uuid for held in trace.of("title") if target.says(held.text)}
            if mode == "redact":
                found |= {held.uuid for held in trace.of("note") if target.says(held.text) or vanished.marks(held.text)}
            return found - {one.episode.uuid for one in read}

        found = await in_thread(look)
        episodes = await self._graph.records.get_episodes(sorted(found)[:MOST_EPISODES], [target.group_id])
        titled = []
        for episode in episodes:
            sentences = await in_thread(sentences_of, episode, await self._passages(episode))
            gone = frozenset(range(len(sentences))) if mode == "delete" else frozenset[int]()
            titled.append(Redaction(episode, sentences, gone, [frozenset()] * len(sentences), is_titled=True))
        return titled

    async def _with_words(self, material: Material, gone: RemovedWords, trace: Trace) -> Material:
        """The words that no remaining text contains, and what still contains them."""
        target = material.target
        texts = chain(
            (one.episode.name for one in material.redactions),
            map(words_of_claim, material.facts.values()),
            map(texts_of, material.entities.values()),
            material.reasons.values(),
        )  # made in the thread that reads them
        touched = {one.episode.uuid for one in material.redactions if one.gone}
        entities = trace.entities & material.entities.keys()
        around = await self._traces.around(target.group_id, gone, trace, texts, touched, entities)

        def work() -> Material:
            tells = around.vanished.suggests
            more = {uuid: fact for uuid, fact in around.facts.items() if tells(words_of_claim(fact))}
            return replace(material, facts={**more, **material.facts}, around=around)

        return await in_thread(work)

    async def _resolve_target(
        self, kind: str, text: str, group: str, names: Sequence[Name], finder: MentionFinder
    ) -> ForgetTarget:
        """Find the target. Raises NotFound if it was removed meanwhile."""
        if kind == "entity":
            for entity in await self._graph.records.get_entities([text], [group]):
                return await self._targets.of_entity(entity, names, finder)
            raise unknown("entity", text)
        if kind == "fact":
            for fact in await self._graph.records.get_facts([text], [group]):
                return await self._targets.of_fact(fact)
            raise unknown("fact", text)
        if kind == "episode":
            for episode in await self._graph.records.get_episodes([text], [group]):
                return await self._targets.of_episode(episode)
            raise unknown("episode", text)
        return await self._targets.of_query(group, text)

    async def _passages(self, episode: Episode) -> list[Passage]:
        return await self._graph.episodes.passages(episode.uuid, without_vector=False, limit=_MOST_PASSAGES)

    async def _redaction(
        self, target: ForgetTarget, episode: Episode, finder: MentionFinder, mode: EpisodesMode
    ) -> Redaction:
        passages = await self._passages(episode)

        def read() -> Redaction:
            sentences = sentences_of(episode, passages)
            named = [frozenset(finder.find(sentence.text)) for sentence in sentences]
            picked = frozenset(target.picks(episode, sentences, named))
            gone = picked | across_lines(episode.content, sentences, picked, target.named)
            is_titled = target.entity is not None and target.says(episode.name)
            if mode == "delete" and (gone or is_titled):
                gone = frozenset(range(len(sentences)))
            return Redaction(episode, sentences, gone, named, is_titled)

        return await in_thread(read)

    async def _material(
        self,
        target: ForgetTarget,
        redactions: Sequence[Redaction],
        unsaid: Sequence[Redaction],
        mode: EpisodesMode,
        trace: Trace,
    ) -> Material:
        groups = [target.group_id]
        facts = {fact.uuid: fact for fact in target.facts}
        facts |= await self._facts_of([one.episode.uuid for one in redactions], groups)
        entities = {target.entity.uuid: target.entity} if target.entity else {}
        mentioned: dict[str, frozenset[str]] = {}
        for one in redactions:
            uuid = one.episode.uuid
            found, _ = await self._graph.episodes.episode_entities([uuid], groups, Window(limit=_MOST_ENTITIES))
            entities |= {entity.uuid: entity for entity in found}
            mentioned[uuid] = frozenset(entity.uuid for entity in found)
        others = {uuid for fact in facts.values() for uuid in (fact.source_uuid, fact.target_uuid)} - entities.keys()
        facts = {fact.uuid: fact for fact in target.non_sentences.related} | facts
        others |= trace.entities | target.non_sentences.typed
        if target.words:
            wanted = EntityFilter(group_ids=(target.group_id,))
            others |= set(await self._graph.search.search_entities(target.words[:_TERMS], wanted, _MOST_ENTITIES // 10))
        entities |= {
            one.uuid: one for one in await self._graph.records.get_entities(sorted(others - entities.keys()), groups)
        }
        named = {*target.non_sentences.documents, *(held.uuid for held in trace.of("document"))}
        losing = [one.episode.uuid for one in redactions if one.gone]
        holding = await self._graph.documents.holding(losing, groups, _MOST_DOCUMENTS)
        named -= {one.uuid for one in holding}
        return Material(
            target=target,
            redactions=redactions,
            holding=holding,
            named=await self._graph.documents.documents(sorted(named), groups),
            unsaid=unsaid,
            facts=facts,
            mentioned=mentioned,
            entities=dict(sorted(entities.items())),
            support=await self._graph.records.entity_support(sorted(entities)),
            own=await self._graph.episodes.own_mentions(sorted(set().union(*mentioned.values())), len(redactions) + 1),
            times=await episode_times(self._graph, facts.values(), [one.episode for one in redactions], groups),
            person=await self._persons.uuids(target.group_id),
            reasons=await self._graph.changes.reasons(target.group_id, _MOST_REASONS),
            mode=mode,
        )

    async def _facts_of(self, episodes: Sequence[str], groups: Sequence[str]) -> dict[str, Fact]:
        """Facts of episodes; each query reads all facts of the group, so many episodes share one."""
        found: dict[str, Fact] = {}
        for first in range(0, len(episodes), _AT_ONCE):
            some = episodes[first : first + _AT_ONCE]
            facts = await self._graph.facts.facts_of_episodes(some, groups, MOST_FACTS)
            if len(facts) == MOST_FACTS:  # rather slowly than not all of them
                facts = [
                    fact for one in some for fact in await self._graph.facts.episode_facts(one, groups, MOST_FACTS)
                ]
            found |= {fact.uuid: fact for fact in facts}
        return found

    @property
    def _elsewhere(self) -> str:
        return _CHAT + (_OPEN_GRAPHS if "reasoning" in self._context.settings.toolsets else "")

    async def _beside(self, caller: Caller, stored: str) -> str:
        """A sentence with a leading space on staging and archive of the group, where copies of it may be."""
        names = groups_beside(self._groups.public(stored))
        held = [name for group in await self._groups.visible(caller) if (name := self._groups.public(group)) in names]
        return f" Copies in {' and '.join(held)} stay; forget them there with group_id." if held else ""

    async def _token(self, caller: Caller, what: tuple[str, str, str], plan: ForgetPlan, saved: SavedTrace) -> str:
        """The token of the planned write: it changes with anything that is removed, or stays beside it."""

        def work() -> str:
            write = plan.intent(self._context.now()).model_dump(mode="json", exclude={"uuid", "recorded_at"})
            shown = (caller.visibility, what, plan.material.mode, write, *saved.uuids)
            return confirmation(self._context.signer, "forget", *shown)

        return await in_thread(work)

    async def _preview(
        self, caller: Caller, what: tuple[str, str, str], plan: ForgetPlan, saved: SavedTrace
    ) -> ForgetResponse:
        hints = [*await self._of_another_name(what, plan), *await in_thread(hints_of, plan), *saved.hints]
        if plan.is_nothing and not saved.lost:
            found = await self._afterwards.in_other_forms(plan.material.target, caller)
            return ForgetResponse(
                message=_ONLY_DOUBTFUL if found else "No text states this: there is nothing to forget.",
                status="nothing",
                removed={},
                ask_user=hints or None,
                found_afterwards=found or None,
            )
        asks = ", and ask about ask_user" if hints else ""
        return ForgetResponse(
            message=f"Nothing was forgotten yet. Show the user what would go, for good{asks}; only if they agree, call "
            "forget again with the same arguments and confirm. Copies that the server keeps of a damaged or older "
            f"database go too; backups that the user made stay.{await self._beside(caller, what[2])} {self._elsewhere}",
            status="preview",
            removed=_counts(plan, saved),
            confirm=await self._token(caller, what, plan, saved),
            saved_graphs=saved.names or None,
            sentences=self._sentences(plan) or None,
            facts=[clipped(self._views.sentence(fact), _TEXT) for fact in plan.gone[:_SHOWN]] or None,
            entities=[clipped(entity.name, _TEXT) for entity in plan.entities[:_SHOWN]] or None,
            summaries=self._summaries(plan) or None,
            stays=self._stays(plan) or None,
            ask_user=hints or None,
            restorable=await self._restorable(plan) or None,
        )

    async def _of_another_name(self, what: tuple[str, str, str], plan: ForgetPlan) -> list[str]:
        """Says whose former name or alias the query is, if what is told of them under the present one would go."""
        kind, text, group = what
        key = name_key(group, text)
        name = (await self._graph.records.get_names([key])).get(key) if kind == "query" and plan.gone else None
        if name is None or not name.is_alias:
            return []
        (entity,) = await self._graph.records.get_entities([name.entity_uuid], [group])
        call = {"entity_uuid": entity.uuid[:_UUID], "remove_aliases": [name.text]}
        present = clipped(entity.name, _TEXT)
        goes = (
            f"{clipped(name.text, _TEXT)} is another name of {present}: what these sentences say of {present} goes too."
        )
        return [f"{goes} To take away only the name: update_entity {json.dumps(call, ensure_ascii=False)}"]

    def _sentences(self, plan: ForgetPlan) -> list[str]:
        return [
            f"{self._day(one.episode.valid_at)} [{one.episode.uuid[:_UUID]}] {clipped(text, _TEXT)}"
            for one in plan.material.redactions
            for text in ([sentence.text for sentence in one.removed] or [one.episode.name])
        ][:_SHOWN]

    def _summaries(self, plan: ForgetPlan) -> list[str]:
        """Lines about summaries, and about other removed names."""
        entities = plan.material.entities
        lines = [
            *(f"{one.name}: {'a part' if one.summary else 'all of it'}" for one in plan.summaries),
            *(f"{entities[uuid].name}, also called {name}" for uuid, name in plan.derived.aliases),
        ]
        return [clipped(line, _TEXT) for line in lines[:_SHOWN]]

    def _day(self, moment: datetime) -> str:
        return show_time(moment, self._context.settings.zone)

    def _stays(self, plan: ForgetPlan) -> list[str]:
        return [clipped(reason, _TEXT) for reason in plan.stays[:_MOST_LISTED]]

    async def _restorable(self, plan: ForgetPlan) -> list[str]:
        """Facts that the removed ones had ended or corrected, and that still are."""
        gone = {fact.uuid for fact in plan.gone}
        found = {}
        for fact in plan.gone[:_SHOWN]:
            for ended in await self._graph.facts.retired_by_fact(fact.uuid, [fact.group_id], _MOST_LISTED):
                if ended.uuid not in gone and (ended.voided or ended.invalid_at or ended.expired_at):
                    found[ended.uuid] = ended
        return [f"{uuid[:_UUID]} {clipped(self._views.sentence(one), _TEXT)}" for uuid, one in found.items()][
            :_MOST_LISTED
        ]


def _counts(plan: ForgetPlan, saved: SavedTrace) -> dict[str, int]:
    return {**plan.counts(), **({"saved_graphs": len(saved.lost)} if saved.lost else {})}


def _words_of(target: ForgetTarget, redactions: Sequence[Redaction], names: Sequence[Name]) -> RemovedWords:
    """Words of what is removed, some of which other texts may contain as well."""
    removed = [sentence.text for one in redactions for sentence in one.removed]
    named = {uuid for one in redactions for place in one.gone for uuid in one.named[place]}
    return RemovedWords.of(
        removed,
        named=[
            *(name.text for name in names if name.entity_uuid in named),
            *(text for fact in target.facts for text in (fact.value, fact.text if not target.entity else None) if text),
            *target.names,
        ],
        certain=target.asked,
    )
