"""``split_entity``: what was taken for one entity becomes two, in one write."""

from collections.abc import Sequence
from dataclasses import dataclass

from graphiti_pkm.capabilities.curation.merging import MOST_MERGES, shown_entity
from graphiti_pkm.capabilities.curation.models import SplitResponse
from graphiti_pkm.capabilities.curation.ports import GraphMerging
from graphiti_pkm.capabilities.curation.requests import MOST_SPLIT, SplitEntity
from graphiti_pkm.capabilities.curation.split_plan import Split, plan_split
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.facts.given_names import given_name
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.identity.uuids import resolve_within, unknown
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.job_records import EmbedMissingJob
from graphiti_pkm.core.model.names import name_key
from graphiti_pkm.core.model.records import Entity, Episode, Fact, Mention, Name, Vectors
from graphiti_pkm.core.ports.graph import RecordKind
from graphiti_pkm.core.reading.confirmation import confirmation, is_confirmed
from graphiti_pkm.core.reading.reader import Reader
from graphiti_pkm.core.reading.views import clipped
from graphiti_pkm.embedding.write_vectors import embed_by_text
from graphiti_pkm.errors import ConflictingContent, InvalidInput
from graphiti_pkm.storage.commit import Committer

_NAME, _TEXT, _UUID = 200, 160, 8
_SHOWN = 50
_MOST_TELLING = 10_000
"""Facts of the episodes named that are read."""


@dataclass(frozen=True)
class _Asked:
    """What to split off, by whole uuids of one group."""

    entity_uuid: str
    group_id: str
    facts: Sequence[str]
    episodes: Sequence[str]
    name: str


class Splitting(Reader):
    """Undoes an identification that was wrong; ``merge_entities`` undoes the split."""

    def __init__(self, context: Context, groups: Groups, stored: GraphMerging, committer: Committer) -> None:
        super().__init__(context, groups)
        self._stored = stored
        self._committer = committer

    async def split_entity(self, caller: Caller, request: SplitEntity) -> SplitResponse:
        """A preview with a token; with the token of exactly that preview, there are two.

        Raises:
            InvalidInput, NotFound: that cannot be split off; nothing was changed.
            ConflictingContent: something of it has changed since the preview; nothing was changed.
        """
        caller.must_write("Nothing was changed.")
        asked = await self._asked(caller, request)
        split = await self._read(asked)
        if request.confirm is None:
            return self._answer("preview", split, asked.name, confirm=self._token(caller, asked, split))
        made = await embed_by_text(self._context.embedder, [asked.name]) or {}
        async with self._committer.writing(asked.group_id):
            split = await self._read(asked)
            if not is_confirmed(request.confirm, self._token(caller, asked, split)):
                raise _conflict()
            intent = plan_split(
                split, asked.name, caller.principal, await self._committer.time(asked.group_id, self._context.now())
            )
            (new,) = intent.entities
            facts = [one.uuid for one in intent.facts]
            vectors: Vectors = await self._graph.embeddings.vectors_of(facts, [asked.group_id])
            if asked.name in made:
                vectors[new.uuid] = made[asked.name]
            jobs = () if vectors.keys() >= {new.uuid, *facts} else (EmbedMissingJob(),)
            intent = intent.model_copy(update={"origin": caller.origin(), "jobs": jobs})
            await self._committer.commit(intent, vectors)
        return self._answer("split", split, asked.name, new_uuid=new.uuid)

    # What is asked

    async def _asked(self, caller: Caller, request: SplitEntity) -> _Asked:
        """Raises InvalidInput, NotFound."""
        name = given_name(request.name, "name")
        if not (request.fact_uuids or request.episode_uuids):
            raise InvalidInput("give what is of the other: fact_uuids, episode_uuids or both.")
        visible = await self._groups.visible(caller)
        uuid = await resolve_within(self._graph, visible, "entity", request.entity_uuid)
        found = await self._graph.records.get_entities([uuid], visible)
        if not found:
            raise unknown("entity", uuid)
        (entity,) = found
        if entity.uuid != uuid:
            raise InvalidInput(
                f"{uuid} was merged into {entity.uuid}; unmerge_entities undoes that. To split that one, give its uuid."
            )
        return _Asked(
            entity_uuid=uuid,
            group_id=entity.group_id,
            facts=await self._whole(visible, "fact", request.fact_uuids or ()),
            episodes=await self._whole(visible, "episode", request.episode_uuids or ()),
            name=name,
        )

    async def _whole(self, visible: Sequence[str], kind: RecordKind, given: Sequence[str]) -> list[str]:
        found = [await resolve_within(self._graph, visible, kind, text) for text in given]
        return list(dict.fromkeys(found))

    async def _read(self, asked: _Asked) -> Split:
        """Raises InvalidInput, NotFound: the entity, or a fact or episode, is not what was asked for."""
        uuid, groups = asked.entity_uuid, [asked.group_id]
        found = await self._graph.records.get_entities([uuid], groups)
        if [one.uuid for one in found] != [uuid]:
            raise _conflict()
        entity = found[0]
        alias = await self._alias(entity, asked.name)
        facts = await self._facts(asked)
        named = await self._mentions(asked)
        moved, own = set(asked.facts), {one.episode_uuid for one in named}
        told = await self._graph.facts.facts_of_episodes(asked.episodes, groups, _MOST_TELLING) if own else []
        staying = [one for one in told if uuid in (one.source_uuid, one.target_uuid) and one.uuid not in moved]
        telling = {episode for one in staying for episode in one.episodes} & own
        others = dict.fromkeys(episode for one in facts for episode in one.episodes if episode not in own)
        split = Split(
            entity=entity,
            alias=alias,
            facts=facts,
            named=named,
            beside=await self._stored.mentions_in(uuid, list(others)),
            telling=own if len(told) == _MOST_TELLING else telling,
            evidence=await self._graph.documents.evidence_in(uuid, asked.episodes, MOST_SPLIT + 1),
            sizes=await self._stored.sizes(uuid, uuid),
        )
        if split.leaves_nothing:
            raise InvalidInput("that is all it has, so nothing would be left. update_entity gives it another name.")
        if len(split.evidence) > MOST_SPLIT:
            raise InvalidInput(f"more than {MOST_SPLIT} quotes from these episodes are evidence of it. Name fewer.")
        return split

    async def _alias(self, entity: Entity, name: str) -> Name | None:
        """The name, if it is an alias of the entity. Raises InvalidInput if that entity or that name is no use."""
        names = await self._stored.names(entity.uuid)
        if any(not one.is_linkable for one in names):
            raise InvalidInput("it is the user, a value or a measure, which stay as they are.")
        if await self._stored.project(entity.uuid) is not None:
            raise InvalidInput("it is a project. create_project makes another; entries stay where they were written.")
        for head in await self._stored.heads(entity.uuid, [entity.group_id], MOST_MERGES):
            if not head.is_whole or head.is_undone:
                raise InvalidInput("a merge of it was interrupted and is being finished. Try again in a minute.")
        key = name_key(entity.group_id, name)
        if key == name_key(entity.group_id, entity.name):
            raise InvalidInput(
                "name is its own name. Give the other one a name, or update_entity gives this one another."
            )
        holder = (await self._graph.records.get_names([key])).get(key)
        if holder is not None and holder.entity_uuid != entity.uuid:
            raise InvalidInput(f"name belongs to another entity, {holder.entity_uuid}, and stays with it.")
        return holder

    async def _facts(self, asked: _Asked) -> list[Fact]:
        found = await self._graph.records.get_facts(asked.facts, [asked.group_id])
        _all_there("fact", asked.facts, found)
        for fact in found:
            if asked.entity_uuid not in (fact.source_uuid, fact.target_uuid):
                raise InvalidInput(f"{fact.uuid} is no fact of it. get_entity_connections lists those that are.")
        return found

    async def _mentions(self, asked: _Asked) -> list[Mention]:
        found = await self._graph.records.get_episodes(asked.episodes, [asked.group_id])
        _all_there("episode", asked.episodes, found)
        mentions = await self._stored.mentions_in(asked.entity_uuid, asked.episodes)
        silent = set(asked.episodes) - {one.episode_uuid for one in mentions}
        if silent:
            raise InvalidInput(f"{min(silent)} does not mention it. get_entity_timeline lists the episodes that do.")
        return mentions

    def _token(self, caller: Caller, asked: _Asked, split: Split) -> str:
        return confirmation(self._context.signer, "split", caller.principal, asked.name, split.shown)

    def _answer(
        self, status: str, split: Split, name: str, *, new_uuid: str | None = None, confirm: str | None = None
    ) -> SplitResponse:
        new, old = clipped(name, _NAME), clipped(split.entity.name, _NAME)
        done = (
            f"{new!r} would be an entity of its own, beside {old!r}. Call split_entity again with the same arguments "
            "and confirm."
            if status == "preview"
            else f"{new!r} is an entity of its own, beside {old!r}. merge_entities with keep_uuid {split.entity.uuid} "
            f"and remove_uuid {new_uuid} undoes it."
        )
        return SplitResponse.model_validate(
            {
                "message": done,
                "status": status,
                "entity": shown_entity(split.entity),
                "new_uuid": new_uuid,
                "name": new,
                "facts": [f"{one.uuid[:_UUID]} {clipped(self._views.sentence(one), _TEXT)}" for one in split.facts][
                    :_SHOWN
                ],
                "facts_moved": len(split.facts),
                "mentions_moved": len(split.moving),
                "mentioned_both": len(split.shared),
                "evidence_moved": len(split.evidence),
                "facts_left": split.sizes.facts[0] - len(split.facts),
                "mentions_left": split.sizes.mentions[0] - len(split.moving),
                "confirm": confirm,
                "group_id": self._groups.public(split.entity.group_id),
            }
        )


def _all_there(kind: RecordKind, asked: Sequence[str], found: Sequence[Fact | Episode]) -> None:
    """Raises NotFound."""
    if missing := set(asked) - {one.uuid for one in found}:
        raise unknown(kind, min(missing))


def _conflict() -> ConflictingContent:
    return ConflictingContent(
        "confirm is not valid, because something of the entity has changed since that preview. Call split_entity "
        "without confirm and look again."
    )
