"""Copies the present records of one group into another, in bounded writes; a second run finds what the first did."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TypeVar
from uuid import uuid4

from graphiti_pkm.capabilities.projects.ports import GraphProjects
from graphiti_pkm.capabilities.staging.counterparts import Counterparts
from graphiti_pkm.capabilities.staging.counting import Counts, Found
from graphiti_pkm.capabilities.staging.models import ApprovedEntity, Issue
from graphiti_pkm.capabilities.staging.reading import GroupReading
from graphiti_pkm.capabilities.staging.same_facts import is_repeated, same_words, stated
from graphiti_pkm.capabilities.staging.times import in_whole_writes, time_of
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.identity.relation_kinds import has_single_target
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.names import name_key
from graphiti_pkm.core.model.queries import Window
from graphiti_pkm.core.model.records import (
    BECAUSE_OF,
    Copied,
    Entity,
    Episode,
    Fact,
    FactChange,
    FactUpdate,
    Mention,
    Name,
    WriteIntent,
    WriteKind,
)
from graphiti_pkm.core.model.targets import words_of
from graphiti_pkm.storage.commit import Committer

_T = TypeVar("_T")

FACTS = 500
"""Of one write: each waits for the disk and merges indexes."""
_EPISODES = 20
"""Of one write, if they do not have one time: each may have thousands of passages."""
_ALIASES = 100
_MENTIONED = 10_000
_PAIRS = 5_000
PASSAGES = 25_000
"""Of one episode: more than there are."""
_FACTS_OF_PAIR = 50


class Copying:
    """One copy from a stored group into another; both locks are held."""

    def __init__(
        self,
        context: Context,
        committer: Committer,
        projects: GraphProjects,
        groups: tuple[str, str],
        caller: Caller,
        *,
        writes: bool,
    ) -> None:
        """``groups``: from, to. ``writes``: otherwise it only counts."""
        self._context = context
        self._graph = context.graph
        self._committer = committer
        self._projects = projects
        self.source, self.target = groups
        self.there = GroupReading(context, self.source)
        self._caller = caller
        self.writes = writes
        self.counterparts = Counterparts(context, self.source, self.target)
        self.gone = self.counterparts.gone
        self.reason = f"from {words_of(self.source)}"
        self.principal = caller.principal
        self.entities: dict[str, str] = {}
        """By the uuid there: the uuid here; as the others."""
        self.episodes: dict[str, str] = {}
        self.made: set[str] = set()
        """Episodes here that this run makes; what comes back has the uuid that it had."""
        self.redacted: dict[str, str] = {}
        """Episodes that lost words here: they stay as they are, and so do those there."""
        self._away: set[str] = set()
        """Episodes there that were forgotten here, or name what was."""
        self.staying: set[str] = set()
        """Facts there that are not here as they are there, so that no move removes them."""
        self.ending: set[str] = set()
        """Facts here that end because they ended there."""
        self.coming: set[str] = set()
        """Of the facts that were copied last, those there that this run copied, or found here for the first time."""
        self._joined: set[str] = set()
        """Entities of the target that were there already, with facts of their own."""
        self.copied, self.known, self.joined = Counts(), Counts(), Counts()
        self.left, self.held_back, self.conflicts = Found(), Found(), Found()
        self.forgotten, self.redactions = Found(), Found()
        self.issues: list[Issue] = []
        self.approved: list[ApprovedEntity] = []
        self._corrected: set[str] = set()
        self._merged: dict[str, str] = {}
        """Entities that went into others here, which stand for them."""

    async def begin(self) -> None:
        """Read what earlier runs copied, and what was forgotten since."""
        await self.counterparts.read()
        self._merged = await self._graph.records.former_uuids(self.target)

    # Entities

    async def remembered(self, entities: Sequence[Entity]) -> list[Entity]:
        """Those that were not forgotten here, or of which the target was told anew. The others are reported."""
        gone = {one.uuid for one in entities if self.copy_of(one.uuid) in self.gone.entities}
        gone -= (await self._here("entity", list(gone))).keys() if gone else set()
        keys = {one.uuid: name_key(self.target, one.name) for one in entities if one.uuid in gone}
        held = await self._graph.records.get_names(list(keys.values())) if keys else {}
        gone = {uuid for uuid, key in keys.items() if key not in held}
        for one in entities:
            if one.uuid in gone:
                self.forgotten.add(one.name)
        return [one for one in entities if one.uuid not in gone]

    def _is_forgotten(self, uuid: str) -> bool:
        """Whether an entity there was forgotten here."""
        return uuid not in self.entities and self.copy_of(uuid) in self.gone.entities

    async def copy_entities(self, entities: Sequence[Entity]) -> None:
        """Copy some, or find them: copied earlier, or of the same name and type."""
        names = await self._names(entities)
        here = await self._here("entity", [one.uuid for one in entities])
        keys = [key for one in names.values() for name in one if (key := name_key(self.target, name.text))]
        keys += [name_key(self.target, one.name) for one in entities]
        held = await self._graph.records.get_names(list(dict.fromkeys(keys)))
        holders = await self._graph.records.get_entities(
            list(dict.fromkeys(name.entity_uuid for name in held.values())), [self.target]
        )
        by_uuid = {one.uuid: one for one in holders}
        new: list[Entity] = []
        added: list[Name] = []
        copies: list[Copied] = []
        for entity in entities:
            same = held.get(name_key(self.target, entity.name))
            holder = by_uuid.get(same.entity_uuid) if same else None
            if entity.uuid in here:
                uuid = here[entity.uuid]
                self._count_known(entity.uuid, uuid).entities += 1
                self._joined.add(uuid)
            elif holder is not None and not _same_type(entity, holder):
                self.held_back.add(f"{entity.name}: it is a {entity.label}, and of type {holder.label} in the target")
                continue
            elif holder is not None:
                self.joined.entities += 1
                uuid = holder.uuid
                self._joined.add(uuid)
                copies.append(Copied(uuid=uuid, origin_uuid=entity.uuid))
            else:
                self.copied.entities += 1
                uuid = self.counterparts.new(entity.uuid)
                new.append(entity)
                copies.append(Copied(uuid=uuid, origin_uuid=entity.uuid))
            self.entities[entity.uuid] = uuid
            if self.counterparts.is_original(uuid, entity.uuid):
                continue  # its names are its own: one that it lost here would come back
            for name in names[entity.uuid]:
                key = name_key(self.target, name.text)
                if key not in held and uuid not in self.gone.renamed:
                    fields = {"key": key, "group_id": self.target, "entity_uuid": uuid}
                    is_alias = name.is_alias or uuid in self._joined
                    added.append(name.model_copy(update={**fields, "is_alias": is_alias}))
        self.counterparts.keep(copies)
        if copies or added:
            await self._write_entities(new, added, copies)

    def _count_known(self, there: str, here: str) -> Counts:
        """Where to count what is here: its original was here already, a copy came with an earlier run."""
        return self.joined if self.counterparts.is_original(here, there) else self.known

    @property
    def corrected(self) -> int:
        """How many facts stay because they never held."""
        return len(self._corrected)

    async def _write_entities(self, new: Sequence[Entity], names: Sequence[Name], copies: Sequence[Copied]) -> None:
        intent = await self.intent(copies)
        intent = intent.model_copy(
            update={
                "entities": tuple(
                    one.model_copy(
                        update={
                            "uuid": self.entities[one.uuid],
                            **self._place(intent),
                            "created_at": intent.recorded_at,
                        }
                    )
                    for one in new
                ),
                "names": tuple(names),
                "changes": tuple(
                    FactChange(
                        uuid=str(uuid4()),
                        fact_uuid=one.uuid,
                        kind="migrated",
                        recorded_at=intent.recorded_at,
                        reason=self.reason,
                        caller=self.principal,
                    )
                    for one in copies
                ),
            }
        )
        await self.commit(intent, {one.uuid: self.entities[one.uuid] for one in new})

    async def _names(self, entities: Sequence[Entity]) -> dict[str, list[Name]]:
        """The names of each entity in the source."""
        aliases = await self._graph.records.aliases([one.uuid for one in entities], _ALIASES)
        keys = {
            one.uuid: [name_key(self.source, text) for text in (one.name, *aliases.get(one.uuid, ()))]
            for one in entities
        }
        held = await self._graph.records.get_names([key for some in keys.values() for key in some])
        return {
            uuid: [held[key] for key in dict.fromkeys(some) if key in held and held[key].entity_uuid == uuid]
            for uuid, some in keys.items()
        }

    # Episodes

    async def copy_episodes(self, episodes: Sequence[Episode]) -> None:
        """Copy some with their passages, entries and mentions of what was copied."""
        for some in in_whole_writes(episodes, time_of, _EPISODES):
            uuids = [one.uuid for one in some]
            found = await self._here("episode", uuids)
            away = await self._leave_away([one for one in some if one.uuid not in found])
            shorter = await self._shorter(some, found)
            redacted = {uuid: one for uuid, one in found.items() if one in self.gone.redacted or uuid in shorter}
            for one in some:
                if one.uuid in redacted:
                    self.redactions.add(one.name)
            self.redacted |= redacted
            here = {uuid: one for uuid, one in found.items() if uuid not in redacted}
            for uuid, held in here.items():
                self._count_known(uuid, held).episodes += 1
            self.episodes |= here
            uuids = [one for one in uuids if one not in redacted and one not in away]
            new = [one for one in some if one.uuid not in found and one.uuid not in away]
            self.episodes |= {one.uuid: self.copy_of(one.uuid) for one in new}
            self.made |= {self.episodes[one.uuid] for one in new}
            self.copied.episodes += len(new)
            pairs = list(
                dict.fromkeys(
                    (self.episodes[one], self.entities[other])
                    for one, other in await self._mentions(uuids, self.entities.__contains__)
                )
            )
            there = await self._graph.records.mentioned(pairs) if pairs else set()
            missing = [pair for pair in pairs if pair not in there]
            if new or missing:
                await self._write_episodes(new, missing)

    async def _shorter(self, episodes: Sequence[Episode], found: Mapping[str, str]) -> set[str]:
        """Those that both come from a note that lost words on the way here: nothing in this group says so."""
        kin = {
            found[one.uuid]: one for one in episodes if self.counterparts.is_original(found.get(one.uuid, ""), one.uuid)
        }
        here = await self._graph.records.get_episodes(list(kin), [self.target]) if kin else []
        return {kin[one.uuid].uuid for one in here if len(one.content) < len(kin[one.uuid].content)}

    async def _leave_away(self, new: Sequence[Episode]) -> set[str]:
        """Those that are not here since they were forgotten, or that name what was."""
        away = {one.uuid for one in new if self.gone.tells_of(self.copy_of(one.uuid))}
        left = [one.uuid for one in new if one.uuid not in away]
        if self.gone.entities and left:
            away |= {episode for episode, _ in await self._mentions(left, self._is_forgotten)}
        for one in new:
            if one.uuid in away:
                self.forgotten.add(one.name)
        self._away |= away
        return away

    async def _write_episodes(self, new: Sequence[Episode], mentions: Sequence[tuple[str, str]]) -> None:
        passages = [
            passage
            for one in new
            for passage in await self._graph.episodes.passages(one.uuid, without_vector=False, limit=PASSAGES)
        ]
        entries = await self._projects.entries([one.uuid for one in new], [self.source]) if new else {}
        intent = await self.intent([Copied(uuid=self.episodes[one.uuid], origin_uuid=one.uuid) for one in new])
        at = intent.recorded_at
        intent = intent.model_copy(
            update={
                "episodes": tuple(
                    one.model_copy(update={"uuid": self.episodes[one.uuid], **self._place(intent), "created_at": at})
                    for one in new
                ),
                "entries": tuple(
                    one.model_copy(
                        update={
                            "uuid": self.episodes[uuid],
                            **self._place(intent),
                            "project_uuid": self.entities.get(one.project_uuid or ""),
                        }
                    )
                    for uuid, one in entries.items()
                ),
                "mentions": tuple(
                    Mention(uuid=str(uuid4()), episode_uuid=episode, entity_uuid=entity, created_at=at)
                    for episode, entity in mentions
                ),
                "passages": tuple(
                    one.model_copy(
                        update={
                            "uuid": self.counterparts.new(one.uuid),
                            "episode_uuid": self.episodes[one.episode_uuid],
                        }
                    )
                    for one in passages
                ),
            }
        )
        await self.commit(intent, {one.uuid: self.counterparts.new(one.uuid) for one in passages})

    async def _mentions(self, episodes: Sequence[str], wants: Callable[[str], bool]) -> list[tuple[str, str]]:
        """Which of the episodes mention which of the wanted entities there."""
        if len(episodes) > _EPISODES:
            return [pair for some in _in_parts(episodes, _EPISODES) for pair in await self._mentions(some, wants)]
        if not episodes:
            return []
        found, total = await self._graph.episodes.episode_entities(episodes, [self.source], Window(limit=_MENTIONED))
        if total > len(found) and len(episodes) > 1:
            return [pair for one in episodes for pair in await self._mentions([one], wants)]
        asked = [(episode, one.uuid) for episode in episodes for one in found if wants(one.uuid)]
        held: set[tuple[str, str]] = set()
        for some in _in_parts(asked, _PAIRS):
            held |= await self._graph.records.mentioned(some)
        return [pair for pair in asked if pair in held]

    # Facts

    async def copy_facts(self, facts: Sequence[Fact]) -> list[tuple[str, str]]:
        """Copy some whose ends were copied; what was corrected never held, and stays.

        Returns the uuids there and here.
        """
        self.coming.clear()
        ready = []
        for fact in facts:
            if fact.voided:
                self._corrected.add(fact.uuid)
                continue
            if {fact.source_uuid, fact.target_uuid} <= self.entities.keys():
                ready.append(fact)
            elif any(map(self._is_forgotten, (fact.source_uuid, fact.target_uuid))):
                self._leave_forgotten(fact)
            else:
                self.left.add(fact.text)
        return [pair for some in _in_parts(ready, FACTS) for pair in await self._copy_ready(some)]

    def _leave_forgotten(self, fact: Fact) -> None:
        self.forgotten.add(fact.text)
        self.staying.add(fact.uuid)

    def _is_fact_forgotten(self, fact: Fact) -> bool:
        """Whether it was, or only episodes tell it of which words were: nobody knows which words."""
        copy = self.copy_of(fact.uuid)
        if self.gone.has_fact(copy) or copy in self.gone.reworded:
            return True
        told = [one in self._away or self.gone.tells_of(self.copy_of(one)) for one in fact.episodes]
        return bool(told) and all(told)

    async def _copy_ready(self, facts: Sequence[Fact]) -> list[tuple[str, str]]:
        here = await self._here("fact", [one.uuid for one in facts])
        for there, held in here.items():
            self._count_known(there, held).facts += 1
        pending = [one for one in facts if one.uuid not in here]
        between = await self._facts_between(pending)
        same = {
            one.uuid: next((other for other in between.get(self._ends(one), ()) if self._is_told(one, other)), None)
            for one in pending
        }
        new: list[Fact] = []
        for fact in pending:
            if (known := same[fact.uuid]) is not None:
                self.joined.facts += 1
                here[fact.uuid] = known.uuid
            elif self._is_fact_forgotten(fact):
                self._leave_forgotten(fact)
            else:
                self.copied.facts += 1
                new.append(fact)
                here[fact.uuid] = self.counterparts.new(fact.uuid)
        copies = [Copied(uuid=here[one.uuid], origin_uuid=one.uuid) for one in pending if one.uuid in here]
        self.counterparts.keep(copies)
        self.coming.update(one.origin_uuid for one in copies)
        await self._report_conflicts(new)
        made = {one.uuid for one in new}
        updates = await self._told_more([one for one in facts if one.uuid in here and one.uuid not in made], here)
        if copies or updates:
            intent = await self.intent(copies)
            facts_made = tuple(self._fact(one, here[one.uuid], intent) for one in new)
            intent = intent.model_copy(update={"facts": facts_made, "fact_updates": tuple(updates)})
            await self.commit(intent, {one.uuid: here[one.uuid] for one in new})
        reworded = await self._reworded([one for one in facts if one.uuid in here], here)
        self.staying |= reworded
        return [(one.uuid, here[one.uuid]) for one in facts if one.uuid in here and one.uuid not in reworded]

    async def _told_more(self, facts: Sequence[Fact], here: Mapping[str, str]) -> list[FactUpdate]:
        """Facts that are here and get the episodes of those there, as far as these came."""
        told = {one.uuid: [self.episodes[there] for there in one.episodes if there in self.episodes] for one in facts}
        wanted = list({here[uuid] for uuid, episodes in told.items() if episodes} - self.gone.reworded)
        found = {one.uuid: one for one in await self._graph.records.get_facts(wanted, [self.target])} if wanted else {}
        more: dict[str, dict[str, None]] = {uuid: dict.fromkeys(one.episodes) for uuid, one in found.items()}
        for uuid, episodes in told.items():
            more.get(here[uuid], {}).update(dict.fromkeys(episodes))
        return [
            _with_episodes(one, tuple(more[uuid])) for uuid, one in found.items() if len(more[uuid]) > len(one.episodes)
        ]

    async def _reworded(self, facts: Sequence[Fact], here: Mapping[str, str]) -> set[str]:
        """Those that say something else here: words were forgotten, or they were joined by other rules."""
        counterparts, gone = self.counterparts, self.gone.reworded
        asked = [
            one
            for one in facts
            if (uuid := here[one.uuid]) in gone
            or not (
                one.uuid in self.coming
                or counterparts.is_made(uuid, one.uuid)
                or counterparts.is_original(uuid, one.uuid)
            )
        ]
        found = await self._graph.records.get_facts([here[one.uuid] for one in asked], [self.target]) if asked else []
        said = {one.uuid: one for one in found}
        return {one.uuid for one in asked if not _says_still(one, said.get(here[one.uuid]))}

    def _is_told(self, there: Fact, here: Fact) -> bool:
        told = [self.episodes[one] for one in there.episodes if one in self.episodes]
        return is_repeated(there, here, told, self._attributes(there))

    def _ends(self, fact: Fact) -> tuple[str, str]:
        return self.entities[fact.source_uuid], self.entities[fact.target_uuid]

    async def _facts_between(self, facts: Sequence[Fact]) -> dict[tuple[str, str], list[Fact]]:
        """What the target states between the same ends. An entity that has just come has no facts of its own."""
        ends = list(dict.fromkeys(pair for pair in map(self._ends, facts) if self._joined.issuperset(pair)))
        if not ends:
            return {}
        found = await self._graph.facts.facts_between(self.target, ends, _FACTS_OF_PAIR)
        return dict(zip(ends, found, strict=True))

    def _fact(self, fact: Fact, uuid: str, intent: WriteIntent) -> Fact:
        """The fact as the target learns it now: how it holds in the world, without the history of the record."""
        told = tuple(self.episodes[one] for one in fact.episodes if one in self.episodes)
        quoted = self.episodes.get(fact.quote_episode_uuid or "")
        return fact.model_copy(
            update={
                "uuid": uuid,
                **self._place(intent),
                "source_uuid": self.entities[fact.source_uuid],
                "target_uuid": self.entities[fact.target_uuid],
                "created_at": intent.recorded_at,
                "expired_at": fact.expired_at and intent.recorded_at,
                "episodes": told,
                "quote_episode_uuid": quoted,
                "attributes": self._attributes(fact),
                **({} if quoted else dict.fromkeys(("quote", "quote_start", "quote_end"))),
            }
        )

    def _attributes(self, fact: Fact) -> dict[str, object]:
        if fact.cause_uuid is None:
            return fact.attributes
        cause = self.entities.get(fact.cause_uuid) or self.copy_of(fact.cause_uuid)
        return {**fact.attributes, BECAUSE_OF: cause}

    async def _report_conflicts(self, facts: Sequence[Fact]) -> None:
        """Facts of the target that should have ended when these began: nothing is ended on a guess."""
        asked = [
            one
            for one in facts
            if one.kind == "state"
            and one.is_open
            and one.invalid_at is None
            and self.entities[one.source_uuid] in self._joined
            and has_single_target(one.relation)
        ]
        pairs = [(self.entities[one.source_uuid], one.relation) for one in asked]
        found = await self._graph.facts.facts_with_relation(self.target, pairs, _FACTS_OF_PAIR) if pairs else []
        for fact, others in zip(asked, found, strict=True):
            for other in others:
                if (
                    other.is_open
                    and other.invalid_at is None
                    and other.kind == "state"
                    and other.uuid not in self.ending
                ):
                    self.conflicts.add(f"{fact.text} / {other.text}")

    # Reading and writing

    def copy_of(self, uuid: str) -> str:
        """What a record there is here, or would be."""
        return self.counterparts.of(uuid)

    async def _here(self, kind: str, uuids: Sequence[str]) -> dict[str, str]:
        """Of records there, those that an earlier run copied and that are still here."""
        mapped = {uuid: self.copy_of(uuid) for uuid in uuids}
        records, groups, wanted = self._graph.records, [self.target], list(mapped.values())
        if kind == "entity":
            found = {one.uuid for one in await records.get_entities(wanted, groups)}
            mapped = {uuid: self._merged.get(here, here) for uuid, here in mapped.items()}
        elif kind == "episode":
            found = {one.uuid for one in await records.get_episodes(wanted, groups)}
        else:
            found = {one.uuid for one in await records.get_facts(wanted, groups)}
        return {uuid: here for uuid, here in mapped.items() if here in found}

    def _place(self, intent: WriteIntent) -> dict[str, object]:
        return {"group_id": intent.group_id}

    async def intent(self, copies: Sequence[Copied]) -> WriteIntent:
        """A write of the copy, without its records."""
        return WriteIntent(
            uuid=str(uuid4()),
            group_id=self.target,
            kind=WriteKind.MIGRATE,
            recorded_at=await self._committer.time(self.target),
            origin=self._caller.origin(),
            copies=tuple(self.counterparts.with_origins(copies)),
        )

    async def commit(self, intent: WriteIntent, renamed: Mapping[str, str] = MappingProxyType({})) -> None:
        """Write it with the vectors that the originals have; ``renamed``: the uuids here by those there."""
        if not self.writes:
            return
        vectors = await self._graph.embeddings.vectors_of(list(renamed), [self.source]) if renamed else {}
        await self._committer.commit(intent, {renamed[uuid]: vector for uuid, vector in vectors.items()})


def _same_type(one: Entity, other: Entity) -> bool:
    """One of them may have none, or a more general one."""
    return one.label is None or other.label is None or one.label.casefold() == other.label.casefold()


def _says_still(there: Fact, here: Fact | None) -> bool:
    return here is not None and stated(there) == stated(here) and same_words(there, here)


def _with_episodes(fact: Fact, episodes: tuple[str, ...]) -> FactUpdate:
    return FactUpdate(
        uuid=fact.uuid,
        episodes=episodes,
        valid_at=fact.valid_at,
        invalid_at=fact.invalid_at,
        expired_at=fact.expired_at,
        voided=fact.voided,
    )


def _in_parts(records: Sequence[_T], size: int) -> list[Sequence[_T]]:
    return [records[start : start + size] for start in range(0, len(records), size)]
