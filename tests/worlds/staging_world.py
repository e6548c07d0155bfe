"""A memory whose groups have snapshots, over fakes; the files are real."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from tests.worlds.writing_world import WritingWorld, line

from graphiti_pkm.capabilities.curation.assembly import CURATION, MERGING
from graphiti_pkm.capabilities.curation.merging import Merging
from graphiti_pkm.capabilities.curation.requests import FlagForReview, MergeEntities
from graphiti_pkm.capabilities.curation.reviews import Reviews
from graphiti_pkm.capabilities.curation.splitting import Splitting
from graphiti_pkm.capabilities.curation.unmerging import Unmerging
from graphiti_pkm.capabilities.forget.clearing import Clearing
from graphiti_pkm.capabilities.forget.deleting import Deleting
from graphiti_pkm.capabilities.forget.models import ForgetResponse
from graphiti_pkm.capabilities.forget.requests import ClearGraph, DeleteEpisode, Forget
from graphiti_pkm.capabilities.forget.service import Forgetting
from graphiti_pkm.capabilities.projects.assembly import PROJECTS
from graphiti_pkm.capabilities.staging.comparing import GroupComparing
from graphiti_pkm.capabilities.staging.migrating import Migrating, Migration
from graphiti_pkm.capabilities.staging.models import MigrationReport, RestoreReport, RollbackReport, SnapshotView
from graphiti_pkm.capabilities.staging.snapshots import Snapshots
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.model.access import LOCAL, Caller
from graphiti_pkm.storage.commit import Committer


class StagingWorld(WritingWorld):
    """One server over fakes, with a data directory."""

    def __init__(self, data_dir: Path, **settings: Any) -> None:
        super().__init__(data_dir=data_dir, **settings)
        groups, committer = Groups(self.graph, self.context.settings), Committer(self.context)
        self.snapshots = Snapshots(self.context, groups, committer)
        stored = (self.graph.part(CURATION), self.graph.part(PROJECTS))
        self.comparing = GroupComparing(self.context, groups, stored[0])
        self.migrating = Migrating(self.context, groups, committer, stored)
        self.reviews = Reviews(self.context, groups, stored[0], committer)
        merges = self.graph.part(MERGING)
        self.merging = Merging(self.context, groups, stored[0], merges, committer)
        self.unmerging = Unmerging(self.context, groups, stored[0], merges, committer, self.merging)
        self.splitting = Splitting(self.context, groups, merges, committer)
        self.forgetting = Forgetting(self.context, groups, committer)
        self.deleting = Deleting(self.context, groups, committer)
        self.clearing = Clearing(self.context, groups, committer)
        self.directory = data_dir / "snapshots"

    async def note(self, body: str, source: str, relation: str, target: str, **fields: Any) -> str:
        """A note with one fact; the uuid of its episode."""
        self.clock.advance(seconds=1)
        given = fields.pop("fact", {})
        fact = {"source": source, "relation": relation, "target": target, "fact": body, **given}
        named = [{"name": source, "type": "Person"}, {"name": target}]
        return (await self.tell(body, fact, entities=named, **fields)).episode_uuid

    async def take(self, tag: str, group: str | None = None, caller: Caller = LOCAL) -> SnapshotView:
        self.clock.advance(seconds=1)
        return await self.snapshots.take(caller, group, tag)

    async def restore(
        self, snapshot: str, group: str | None = None, *, confirm: bool = True, caller: Caller = LOCAL
    ) -> RestoreReport:
        self.clock.advance(seconds=1)
        return await self.snapshots.restore(caller, group, snapshot, confirm=confirm)

    async def rollback(self, since: datetime, *, confirm: bool = True, group: str | None = None) -> RollbackReport:
        self.clock.advance(seconds=1)
        return await self.snapshots.rollback(LOCAL, group, since, confirm=confirm)

    async def migrate(
        self,
        *concepts: str,
        source: str = "default_staging",
        target: str = "default",
        caller: Caller = LOCAL,
        **how: Any,
    ) -> MigrationReport:
        """Everything, or some concepts, with facts and episodes unless told otherwise."""
        self.clock.advance(seconds=1)
        given = {"has_facts": True, "has_episodes": True, **how}
        wanted = Migration(source=source, target=target, concepts=concepts, **given)
        return await self.migrating.migrate(caller, wanted)

    def said(self, group: str = "default") -> list[str]:
        """What the facts of a group say."""
        return sorted(line(one) for one in self.facts if one.group_id == group)

    async def merge(self, keep: str, remove: str) -> None:
        """Preview and deed, as if somebody had flagged them."""
        await self.merge_uuids(self.entity(keep).uuid, self.entity(remove).uuid)

    async def merge_uuids(self, keep: str, remove: str) -> None:
        """The same, by uuid."""
        self.clock.advance(seconds=1)
        uuids = {"keep_uuid": keep, "remove_uuid": remove}
        for uuid in uuids.values():
            self.clock.advance(seconds=1)
            await self.reviews.flag_for_review(LOCAL, FlagForReview(entity_uuid=uuid, reason="One thing?"))
        preview = await self.merging.merge_entities(LOCAL, MergeEntities(**uuids, reason="One thing."))
        request = MergeEntities(**uuids, reason="One thing.", confirm=preview.confirm)
        self.clock.advance(seconds=1)
        await self.merging.merge_entities(LOCAL, request)

    async def forget(self, **what: Any) -> ForgetResponse:
        self.clock.advance(seconds=1)
        preview = await self.forgetting.forget(LOCAL, Forget(**what))
        return await self.forgetting.forget(LOCAL, Forget(**what, confirm=preview.confirm))

    async def delete_episode(self, uuid: str) -> str:
        self.clock.advance(seconds=1)
        return (await self.deleting.delete_episode(LOCAL, DeleteEpisode(uuid=uuid))).message

    async def clear(self, group: str = "default") -> str:
        self.clock.advance(seconds=1)
        preview = await self.clearing.clear_graph(LOCAL, ClearGraph(group_ids=[group]))
        return (await self.clearing.clear_graph(LOCAL, ClearGraph(group_ids=[group], confirm=preview.confirm))).message

    def files_with(self, words: str) -> list[str]:
        """Names of snapshots, finished or not, that hold words."""
        found = [path for path in self.directory.rglob("*") if path.is_file()]
        return sorted(path.name for path in found if words.encode() in path.read_bytes())

    def state(self, group: str = "default") -> dict[str, object]:
        """Everything that the graph holds of a group, without who applied what when."""
        db = self.graph.tables

        def own(records: "Sequence[Any] | Any") -> dict[str, Any]:
            return {one.uuid: one for one in records if one.group_id == group}

        episodes, entities = own(db.episodes.values()), own(db.entities.values())
        facts = own(db.facts.values())
        passages = {uuid: one for uuid, one in db.passages.items() if one.episode_uuid in episodes}
        return {
            "episodes": episodes,
            "entities": entities,
            "facts": facts,
            "names": {key: one for key, one in db.names.items() if one.group_id == group},
            "mentions": {pair for pair in db.mentions if pair[0] in episodes},
            "passages": passages,
            "changes": own(db.changes.values()),
            "origins": {key: one for key, one in db.origins.items() if key[0] == group},
            "sagas": own(db.sagas.values()),
            "saga_steps": {pair for pair in db.saga_steps if pair[1] in episodes},
            "episode_links": {pair for pair in db.episode_links if pair[1] in episodes},
            "documents": own(db.documents.values()),
            "sections": {place: one for place, one in db.sections.items() if one.episode_uuid in episodes},
            "instances": own(db.instances.values()),
            "qualities": {uuid: one for uuid, one in db.qualities.items() if uuid in entities},
            "vectors": {
                uuid: one.tolist() for uuid, one in db.vectors.items() if uuid in {*entities, *passages, *facts}
            },
        }
