"""Deletes an episode with what only it supported, or one fact; the answers list what was removed and what stayed."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import uuid4

from graphiti_pkm.capabilities.forget.derived_data import DerivedData, find_derived_data, reworded, texts_of
from graphiti_pkm.capabilities.forget.requests import DeleteEntityEdge, DeleteEpisode
from graphiti_pkm.capabilities.forget.saved_graphs import saved_graphs_note
from graphiti_pkm.capabilities.forget.text import sentences_in
from graphiti_pkm.capabilities.forget.trace import Traces
from graphiti_pkm.capabilities.forget.words import RemovedWords, VanishedWords
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.facts.history import change_of
from graphiti_pkm.core.facts.known_from import episode_times, known_without
from graphiti_pkm.core.facts.saga_plan import close_sagas
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.identity.persons import Persons
from graphiti_pkm.core.identity.uuids import resolve_within, unknown
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.answers import DeleteResponse
from graphiti_pkm.core.model.document_records import DocumentTexts
from graphiti_pkm.core.model.job_records import EraseJob
from graphiti_pkm.core.model.queries import Window
from graphiti_pkm.core.model.records import (
    Deletions,
    Entity,
    Episode,
    Fact,
    FactChange,
    FactUpdate,
    Forgetting,
    Vectors,
    WriteIntent,
    WriteKind,
)
from graphiti_pkm.core.reading.views import clipped
from graphiti_pkm.core.waiting import in_thread
from graphiti_pkm.embedding.write_vectors import embed_by_text
from graphiti_pkm.storage.commit import Committer
from graphiti_pkm.storage.erasing import Erasing

_MOST = 10_000
"""More facts and entities of one episode than add_memory can write."""
_MOST_PASSAGES = 25_000
_MOST_LISTED = 20
_CAUSES = 200
"""Facts of an episode for which the facts they ended are read; a note has few."""
_NAME = 100
_UUID = 8
_STAYS = " Summaries and aliases of what stays (kept_because) are kept unchanged"
_ERASED_BUT = (
    "What went is gone from the database's and the journal's files, but texts that stay hold words of it "
    "(kept_because). Backups that you made are not touched."
)
_NOT_ERASED = "The journal and backups still hold it"


@dataclass(frozen=True)
class _Support:
    """What else supports an entity."""

    entity: Entity
    mentions: int
    facts: int
    is_person: bool = False
    is_only_linked: bool = False
    """Whether all other mentions are links created when the removed episode introduced it."""

    @property
    def is_unsupported(self) -> bool:
        return self.is_only_linked or not (self.mentions or self.facts or self.is_person)

    def reason(self, *, has_aliases: bool = False) -> str:
        parts = [f"{self.mentions} other mention(s)"] if self.mentions else []
        parts += [f"{self.facts} other fact(s)"] if self.facts else []
        parts += ["the person this memory belongs to"] if self.is_person else []
        return f"{clipped(self.entity.name, _NAME)}: {', '.join(parts)}{self._stays(has_aliases)}"

    def _stays(self, has_aliases: bool) -> str:
        """Why texts of a remaining entity stay: it is not known which episode gave them."""
        if self.entity.summary and has_aliases:
            return "; its summary and aliases stay, whichever episode gave them"
        if self.entity.summary:
            return "; its summary stays, whichever episode gave it"
        return "; its aliases stay, whichever episode gave them" if has_aliases else ""


class Deleting:
    """``delete_episode`` and ``delete_entity_edge``."""

    def __init__(self, context: Context, groups: Groups, committer: Committer, erasing: Erasing | None = None) -> None:
        self._erasing = erasing or Erasing(context)
        self._traces = Traces(context)
        self._context = context
        self._graph = context.graph
        self._groups = groups
        self._persons = Persons(context.graph, context.settings)
        self._committer = committer

    async def delete_episode(self, caller: Caller, request: DeleteEpisode) -> DeleteResponse:
        """Remove an episode and the facts, entities and mentions that nothing else supports. Raises NotFound."""
        visible = await self._writable(caller)
        whole = await resolve_within(self._graph, visible, "episode", request.uuid)
        group = (await self._episode(whole, visible)).group_id
        vectors = await self._requoted(whole, visible)
        async with self._committer.writing(group):
            now = await self._committer.time(group)
            episode = await self._episode(whole, visible)  # another caller may have deleted it meanwhile
            facts = await self._graph.facts.episode_facts(whole, visible, _MOST)
            lost = [fact for fact in facts if set(fact.episodes) <= {whole}]
            shared = [fact for fact in facts if not set(fact.episodes) <= {whole}]
            mentioned, mentions = await self._graph.episodes.episode_entities([whole], visible, Window(limit=_MOST))
            left = await self._introduced(whole, await self._left(group, mentioned, lost, mentions=1))
            passages = await self._graph.episodes.passages(whole, without_vector=False, limit=_MOST_PASSAGES)
            removed = [item.entity for item in left if item.is_unsupported]
            kept = [item for item in left if not item.is_unsupported]
            retired = await self._retired(whole, lost, visible)
            derived, left_as, vanished = await self._derived_data(episode, [item.entity for item in kept], removed)
            reasons = [
                *retired,
                *await self._why_kept(kept[:_MOST_LISTED], derived, left_as),
                *(
                    f"{clipped(fact.text, _NAME)} - {len(set(fact.episodes) - {whole})} other episode(s)"
                    for fact in shared
                ),
            ]
            requoted = [fact for fact in shared if fact.quote_episode_uuid == whole]
            times = await episode_times(self._graph, shared, [episode], visible)
            holding = await self._graph.documents.holding([whole], [group], _MOST)
            intent = WriteIntent(
                uuid=str(uuid4()),
                group_id=group,
                kind=WriteKind.DELETE_EPISODE,
                recorded_at=now,
                entities=left_as,
                facts=tuple(_without_quote(fact, whole) for fact in requoted),
                fact_updates=tuple(
                    _without_episode(fact, whole, known_without(fact, {whole}, times)) for fact in shared
                ),
                changes=self._deleted(lost, caller, now),
                deletions=Deletions(
                    episodes=(whole,),
                    entities=(*(entity.uuid for entity in removed), *derived.entities),
                    facts=(*(fact.uuid for fact in lost), *derived.facts),
                ),
                forgets=Forgetting(
                    names=derived.names,
                    reasons=tuple(sorted(derived.reasons)),
                    qualities=tuple(sorted(derived.reviews)),
                    documents=tuple(
                        DocumentTexts(uuid=one.uuid, name=one.name, path=one.path, front=one.front) for one in holding
                    ),
                    answers=derived.answers,
                ),
                jobs=(EraseJob(),),
            )
            intent = await close_sagas(self._graph, intent, [entity.uuid for entity in mentioned])
            saved = await saved_graphs_note(self._context, caller, intent)
            await self._committer.commit(intent, {key: vectors[key] for f in requoted if (key := f.uuid) in vectors})
        saved += await self._erasing.redact_snapshots(group)
        is_erased = await self._erasing.erase_now()
        held = await self._texts_with_removed_words(episode, vanished)
        erased = self._erasing.message(is_erased=is_erased, but=_ERASED_BUT if held else None)
        reasons = [*held[: _MOST_LISTED // 2], *reasons]
        stays = f"{_STAYS}{self._way_out(caller, group, 'them out')}" if reasons else ""
        return DeleteResponse(
            message=f"Deleted episode '{clipped(episode.name, _NAME)}' ({whole}) and what only it supported. "
            f"{erased}{saved}{stays}",
            removed={
                "episodes": 1,
                "facts": len(lost),
                "entities": len(removed),
                "mentions": mentions + sum(item.mentions for item in left if item.is_only_linked),
                "passages": len(passages),
            },
            removed_names=[clipped(entity.name, _NAME) for entity in removed[:_MOST_LISTED]],
            kept={"entities": len(kept), "facts": len(shared)},
            kept_because=reasons[:_MOST_LISTED],
        )

    async def _derived_data(
        self, episode: Episode, kept: Sequence[Entity], removed: Sequence[Entity]
    ) -> tuple[DerivedData, tuple[Entity, ...], VanishedWords]:
        """Other data derived only from it; remaining entities are written whole, so older texts of them are removed."""
        group, touched = episode.group_id, {episode.uuid}
        names = [entity.name for entity in removed]
        said = await in_thread(sentences_in, episode.content)
        gone = await in_thread(RemovedWords.of, [*said, episode.source_description], named=names)
        trace = await self._traces.read(group, gone, touched, touched, is_own=frozenset(names).__contains__)
        near = {entity.uuid: entity for entity in kept}
        more = trace.entities.difference(near, (entity.uuid for entity in removed))
        entities = near | {one.uuid: one for one in await self._graph.records.get_entities(sorted(more), [group])}
        texts = map(texts_of, entities.values())
        around = await self._traces.around(group, gone, trace, texts, touched, entities.keys())
        lost = {entity.uuid for entity in removed}

        def without() -> tuple[DerivedData, dict[str, Entity]]:
            derived = find_derived_data(
                around, _says_nothing, {**entities, **{one.uuid: one for one in removed}}, near, lost
            )
            return derived, {
                uuid: reworded(entity, _says_nothing, around.vanished, is_near=uuid in near)
                for uuid, entity in entities.items()
            }

        derived, left = await in_thread(without)
        written = near.keys() | derived.older | {uuid for uuid, entity in left.items() if entity != entities[uuid]}
        return derived, tuple(left[uuid] for uuid in sorted(written)), around.vanished

    async def _texts_with_removed_words(self, episode: Episode, vanished: VanishedWords) -> list[str]:
        """Remaining texts that contain words only it contained."""
        trace = await self._traces.read(episode.group_id, vanished.gone, {episode.uuid})
        held = await in_thread(lambda: [one for one in trace.held if vanished.suggests(one.text)])
        return list(
            dict.fromkeys(
                f"{one.kind} {one.uuid[:_UUID]} contains a word that only the deleted text contained" for one in held
            )
        )

    async def _retired(self, episode_uuid: str, lost: Sequence[Fact], group_ids: Sequence[str]) -> list[str]:
        """Facts ended or corrected by the episode, or by a fact removed with it."""
        most = _MOST_LISTED + len(lost)
        found = await asyncio.gather(
            self._graph.facts.retired_by_episode(episode_uuid, group_ids, most),
            *(self._graph.facts.retired_by_fact(fact.uuid, group_ids, most) for fact in lost[:_CAUSES]),
        )
        retired = {fact.uuid: fact for facts in found for fact in facts}
        replaced = await self._graph.changes.replacements(list(retired), group_ids) if retired else {}
        gone = {fact.uuid for fact in lost}
        staying = {
            one.uuid: one for one in await self._graph.records.get_facts(sorted({*replaced.values()} - gone), group_ids)
        }
        by = {uuid: staying[other] for uuid, other in replaced.items() if other in staying}
        return _still_retired(list(retired.values()), lost, by)

    def _way_out(self, caller: Caller, group_id: str, what: str) -> str:
        """The end of a sentence: names ``forget`` only to a caller who may use it, if it is enabled."""
        settings = self._context.settings
        is_on = "forget" not in settings.exclude_tools and (not settings.tools or "forget" in settings.tools)
        return f"; forget takes {what}." if is_on and self._groups.may(caller, group_id, "curator") else "."

    async def delete_entity_edge(self, caller: Caller, request: DeleteEntityEdge) -> DeleteResponse:
        """Remove one fact; its entities and episodes stay, and what it ended stays ended. Raises NotFound."""
        visible = await self._writable(caller)
        whole = await resolve_within(self._graph, visible, "fact", request.uuid)
        group = (await self._fact(whole, visible)).group_id
        async with self._committer.writing(group):
            now = await self._committer.time(group)
            fact = await self._fact(whole, visible)  # another caller may have deleted it meanwhile
            ends = list(dict.fromkeys((fact.source_uuid, fact.target_uuid)))
            retired = await self._graph.facts.retired_by_fact(whole, visible, _MOST_LISTED + 1)
            left = await self._left(group, await self._graph.records.get_entities(ends, visible), [fact], mentions=0)
            intent = WriteIntent(
                uuid=str(uuid4()),
                group_id=group,
                kind=WriteKind.DELETE_FACT,
                recorded_at=now,
                changes=self._deleted([fact], caller, now),
                deletions=Deletions(facts=(whole,)),
            )
            await self._committer.commit(intent, {})
        return DeleteResponse(
            message=f"Deleted fact {whole} '{clipped(fact.text, _NAME)}'. "
            f"{_NOT_ERASED}{self._way_out(caller, group, 'it out of the journal')}",
            removed={"episodes": 0, "facts": 1, "entities": 0, "mentions": 0, "passages": 0},
            removed_names=[],
            kept={"entities": len(left), "facts": 0},
            kept_because=[
                *_still_retired(retired, [fact])[: _MOST_LISTED - len(left)],
                *(
                    f"{clipped(item.entity.name, _NAME)}: kept, though no episode or fact is left that names it"
                    if item.is_unsupported
                    else item.reason()
                    for item in left
                ),
            ],
        )

    @staticmethod
    def _deleted(facts: Sequence[Fact], caller: Caller, now: datetime) -> tuple[FactChange, ...]:
        """The deleted facts as events without words: what_changed still lists that and when they existed."""
        return tuple(change_of(str(uuid4()), fact, "deleted", now, caller=caller.principal) for fact in facts)

    async def _writable(self, caller: Caller) -> tuple[str, ...]:
        caller.must_write("Nothing was deleted.")
        return await self._groups.visible(caller)

    async def _episode(self, uuid: str, group_ids: Sequence[str]) -> Episode:
        found = await self._graph.records.get_episodes([uuid], group_ids)
        if not found:
            raise unknown("episode", uuid)
        return found[0]

    async def _fact(self, uuid: str, group_ids: Sequence[str]) -> Fact:
        found = await self._graph.records.get_facts([uuid], group_ids)
        if not found:
            raise unknown("fact", uuid)
        return found[0]

    async def _left(
        self, group_id: str, entities: Sequence[Entity], lost: Sequence[Fact], *, mentions: int
    ) -> list[_Support]:
        """What supports each entity after these facts and mentions are removed."""
        support = await self._graph.records.entity_support([entity.uuid for entity in entities])
        gone = Counter(uuid for fact in lost for uuid in {fact.source_uuid, fact.target_uuid})
        person = await self._persons.uuids(group_id)
        return [_left_of(entity, support, gone[entity.uuid], mentions, person) for entity in entities]

    async def _introduced(self, episode_uuid: str, left: Sequence[_Support]) -> list[_Support]:
        """Marks entities that no other episode mentions on its own."""
        asked = [one.entity.uuid for one in left if one.mentions and not (one.facts or one.is_person)]
        own = await self._graph.episodes.own_mentions(asked, 2)
        return [replace(one, is_only_linked=own.get(one.entity.uuid) == [episode_uuid]) for one in left]

    async def _why_kept(self, kept: Sequence[_Support], derived: DerivedData, left_as: Sequence[Entity]) -> list[str]:
        uuids = [item.entity.uuid for item in kept if not item.is_person]
        aliases = await self._graph.records.aliases(uuids, 1) if uuids else {}
        aliases |= {left.entity_uuid: [name.text for name in left.names[1:]] for left in derived.names}
        left = {entity.uuid: entity for entity in left_as}
        items = [replace(item, entity=left.get(item.entity.uuid, item.entity)) for item in kept]
        return [item.reason(has_aliases=bool(aliases.get(item.entity.uuid))) for item in items]

    async def _requoted(self, episode_uuid: str, group_ids: Sequence[str]) -> Vectors:
        """Embeddings of shared facts that lose their quote with the episode, made before any lock is taken."""
        facts = await self._graph.facts.episode_facts(episode_uuid, group_ids, _MOST)
        texts = {
            fact.uuid: fact.text
            for fact in facts
            if fact.quote_episode_uuid == episode_uuid and not set(fact.episodes) <= {episode_uuid}
        }
        vectors = (await embed_by_text(self._context.embedder, list(texts.values())) if texts else None) or {}
        return {uuid: vectors[text] for uuid, text in texts.items() if text in vectors}


def _says_nothing(_: str) -> bool:
    """Never matches: a deletion concerns a whole text, not particular words."""
    return False


def _left_of(
    entity: Entity, support: Mapping[str, tuple[int, int]], facts_gone: int, mentions_gone: int, person: frozenset[str]
) -> _Support:
    mentions, facts = support.get(entity.uuid, (0, 0))
    return _Support(entity, max(mentions - mentions_gone, 0), max(facts - facts_gone, 0), entity.uuid in person)


def _still_retired(
    retired: Sequence[Fact], lost: Sequence[Fact], staying: Mapping[str, Fact] | None = None
) -> list[str]:
    """Keep facts ended that the removed ones had ended: the record shows the ending.

    ``staying``: the replacement of each fact, if something else supports that as well.
    """
    gone = {fact.uuid for fact in lost}
    return [
        _still(fact, (staying or {}).get(fact.uuid))
        for fact in retired
        if fact.uuid not in gone and (fact.voided or fact.invalid_at or fact.expired_at)
    ]


def _still(fact: Fact, by: Fact | None) -> str:
    state, how = ("void", "corrected") if fact.voided else ("ended", "replaced")
    text = clipped(fact.text, _NAME)
    what = f"{clipped(by.text, _NAME)}, which stays" if by else "what is removed"
    return f"still {state}: {text} ({how} by {what}; restore_fact {fact.uuid[:_UUID]} brings it back)"


def _without_episode(fact: Fact, episode_uuid: str, known_from: datetime | None) -> FactUpdate:
    return FactUpdate(
        uuid=fact.uuid,
        episodes=tuple(uuid for uuid in fact.episodes if uuid != episode_uuid),
        valid_at=fact.valid_at,
        invalid_at=fact.invalid_at,
        expired_at=fact.expired_at,
        voided=fact.voided,
        reference_time=known_from,
    )


def _without_quote(fact: Fact, episode_uuid: str) -> Fact:
    """Remove the quote, so that words of a deleted episode do not remain in a fact that others support too."""
    episodes = tuple(uuid for uuid in fact.episodes if uuid != episode_uuid)
    nothing = dict.fromkeys(("quote", "quote_start", "quote_end", "quote_episode_uuid"))
    return fact.model_copy(update={"episodes": episodes, **nothing})
