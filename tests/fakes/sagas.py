"""Sagas and communities of the fake graph."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from tests.fakes.part import FakePart
from tests.fakes.tables import Tables

from graphiti_pkm.core.model.queries import Window
from graphiti_pkm.core.model.records import Deletions, Episode, Forgetting, Vectors, WriteIntent
from graphiti_pkm.core.model.saga_records import Community, Saga, SagaMembers


class FakeSagas(FakePart):
    """The port ``GraphSagas``."""

    async def find_sagas(self, group_id: str, uuids: Sequence[str], name: str) -> list[Saga]:
        db = await self._db()
        found = [
            one for one in db.sagas.values() if one.group_id == group_id and (one.uuid in uuids or one.name == name)
        ]
        return sorted(found, key=lambda one: (one.created_at, one.uuid))[:10]

    async def listed(self, group_id: str, window: Window) -> list[Saga]:
        db = await self._db()
        found = {(one.name, one.uuid): one for one in db.sagas.values() if one.group_id == group_id}
        return [found[key] for key in sorted(found) if key > (window.after or ())][: window.limit]

    async def latest_of_saga(self, saga_uuid: str) -> str | None:
        held = held_by(await self._db(), saga_uuid)
        latest = max(held, key=lambda one: one.order, default=None)
        return latest.uuid if latest else None

    async def episodes_of_saga(self, saga_uuid: str, recorded_after: datetime | None, limit: int) -> list[Episode]:
        held = held_by(await self._db(), saga_uuid)
        return [one for one in held if recorded_after is None or one.created_at > recorded_after][:limit]

    async def sagas_of_episodes(
        self, episode_uuids: Sequence[str], group_ids: Sequence[str], without: Sequence[str]
    ) -> list[SagaMembers]:
        db = await self._db()
        uuids = {saga for saga, episode in db.saga_steps if episode in episode_uuids}
        found = []
        for uuid in sorted(uuids):
            left = [one.uuid for one in sorted(held_by(db, uuid), key=lambda one: one.order) if one.uuid not in without]
            if db.sagas[uuid].group_id in group_ids:
                first, last = (left[0], left[-1]) if left else (None, None)
                found.append(SagaMembers(saga=db.sagas[uuid], first_remaining=first, last_remaining=last))
        return found

    async def links_around(self, episode_uuids: Sequence[str]) -> list[tuple[str, str]]:
        db = await self._db()
        return sorted(link for link in db.episode_links if not set(episode_uuids).isdisjoint(link))


class FakeCommunities(FakePart):
    """The port ``GraphCommunities``."""

    async def joined_entities(self, group_id: str, limit: int) -> list[tuple[str, str, int]]:
        db = await self._db()
        joined = Counter(
            (min(ends), max(ends))
            for fact in db.facts.values()
            if fact.group_id == group_id and not fact.voided and len(ends := {fact.source_uuid, fact.target_uuid}) > 1
        )
        return sorted(((*pair, facts) for pair, facts in joined.items()), key=lambda one: (-one[2], one))[:limit]

    async def communities(self, group_ids: Sequence[str], limit: int) -> list[Community]:
        db = await self._db()
        found = [one for one in db.communities.values() if one.group_id in group_ids]
        present = [
            one.model_copy(update={"members": tuple(sorted(uuid for uuid in one.members if uuid in db.entities))})
            for one in found
        ]
        return sorted(present, key=lambda one: (-len(one.members), one.uuid))[:limit]


def held_by(db: Tables, saga_uuid: str) -> list[Episode]:
    """The episodes of a saga as they were recorded."""
    held = [db.episodes[episode] for saga, episode in db.saga_steps if saga == saga_uuid]
    group = db.sagas[saga_uuid].group_id if saga_uuid in db.sagas else ""
    return sorted((one for one in held if one.group_id == group), key=lambda one: (one.created_at, one.uuid))


def add_sagas(db: Tables, intent: WriteIntent, vectors: Vectors) -> None:
    """As the writer of the graph."""
    db.sagas.update((saga.uuid, saga) for saga in intent.sagas)
    for step in intent.saga_steps:
        pair = (step.saga_uuid, step.episode_uuid)
        if step.saga_uuid in db.sagas and step.episode_uuid in db.episodes and pair not in db.saga_steps:
            db.saga_steps.append(pair)
    for link in intent.episode_links:
        pair = (link.previous_uuid, link.next_uuid)
        if set(pair) <= db.episodes.keys() and pair not in db.episode_links:
            db.episode_links.append(pair)
    if intent.communities is None:
        return
    _keep_communities(db, {uuid for uuid, one in db.communities.items() if one.group_id != intent.group_id})
    for community in intent.communities:
        db.communities[community.uuid] = community
        if community.uuid in vectors:
            db.vectors[community.uuid] = vectors[community.uuid]


def forget_communities(db: Tables, told: Forgetting) -> None:
    """Those that have one of the members."""
    members = set(told.members)
    _keep_communities(db, {uuid for uuid, one in db.communities.items() if members.isdisjoint(one.members)})


def delete_sagas(db: Tables, deletions: Deletions) -> None:
    """With the edges of whatever has gone."""
    db.sagas = {
        uuid: one
        for uuid, one in db.sagas.items()
        if uuid not in deletions.sagas and one.group_id not in deletions.groups
    }
    _keep_communities(db, {uuid for uuid, one in db.communities.items() if one.group_id not in deletions.groups})
    db.saga_steps = [(saga, one) for saga, one in db.saga_steps if saga in db.sagas and one in db.episodes]
    db.episode_links = [link for link in db.episode_links if set(link) <= db.episodes.keys()]


def _keep_communities(db: Tables, kept: set[str]) -> None:
    for uuid in db.communities.keys() - kept:
        del db.communities[uuid]
        db.vectors.pop(uuid, None)
