"""Snapshots of a group, and groups that get the state of a snapshot or of an earlier instant."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4, uuid5

from graphiti_pkm.capabilities.staging.counting import attached_in_words
from graphiti_pkm.capabilities.staging.history import GroupHistory, kept_writes, read_history
from graphiti_pkm.capabilities.staging.models import (
    Attached,
    RestoreReport,
    RollbackReport,
    SnapshotList,
    SnapshotView,
)
from graphiti_pkm.capabilities.staging.renaming import Renaming
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.facts.saga_plan import closed_sagas
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.document_records import Instance
from graphiti_pkm.core.model.group_tally import GroupTally
from graphiti_pkm.core.model.passages import MOST_PASSAGES
from graphiti_pkm.core.model.queries import GroupSize
from graphiti_pkm.core.model.records import (
    Deletions,
    RestoreStep,
    Vectors,
    WriteIntent,
    WriteKind,
)
from graphiti_pkm.core.model.snapshots import Forgettings, SnapshotHeader, remaining_deletion
from graphiti_pkm.core.model.times import show_time
from graphiti_pkm.core.reading.views import clipped, size_in_words
from graphiti_pkm.errors import DamagedStore, InvalidInput, NewerSchema, PermissionDenied, PkmError
from graphiti_pkm.storage.commit import Committer
from graphiti_pkm.storage.snapshots import files

NOTHING = GroupSize(episodes=0, entities=0, facts=0)
_ROWS = 5
"""Few: one write may have thousands of vectors."""
_LISTED = 20
_NAME = 100


class Snapshots:
    """``snapshot``, ``restore --snapshot`` and ``rollback``."""

    def __init__(self, context: Context, groups: Groups, committer: Committer) -> None:
        self._context = context
        self._graph = context.graph
        self._journal = context.journal
        self._groups = groups
        self._committer = committer
        self._data_dir = context.settings.data_dir

    async def take(self, caller: Caller, group: str | None, tag: str) -> SnapshotView:
        """Write a snapshot of a group.

        Raises:
            InvalidInput: the tag is taken or none, the group holds nothing, or more than the journal knows of.
            NotAllowed: the caller may not write to this group.
            Unavailable: the file cannot be written; nothing is left behind.
        """
        stored = self._writable(caller, group)
        path = files.snapshot_path(self._data_dir, stored, tag)
        async with self._committer.writing(stored):
            history = await self._history(stored)
            if history.now.size == NOTHING:
                raise InvalidInput(f"Group {self._groups.public(stored)} holds nothing. No snapshot was written.")
            header = await self._write(history, path, tag)
        return await asyncio.to_thread(_view, path, header)

    async def listed(self, caller: Caller, group: str | None) -> SnapshotList:
        """The snapshots of a group, oldest first."""
        stored = self._groups.one(caller, group)
        views, unreadable = [], []
        for path in await asyncio.to_thread(files.snapshots_in, self._data_dir, stored):
            try:
                views.append(await asyncio.to_thread(_view, path, None))
            except (InvalidInput, DamagedStore, NewerSchema):
                unreadable.append(path.stem)
        return SnapshotList(snapshots=tuple(sorted(views, key=lambda one: one.taken_at)), unreadable=tuple(unreadable))

    async def remove(self, caller: Caller, group: str | None, tag: str, *, confirm: bool) -> bool:
        """Remove a snapshot, if confirmed; whether it was. Raises InvalidInput if there is none."""
        path = files.snapshot_path(self._data_dir, self._writable(caller, group), tag)
        if not await asyncio.to_thread(path.is_file):
            raise InvalidInput(f"There is no snapshot {tag}. Nothing was changed.")
        if confirm:
            await asyncio.to_thread(path.unlink)
        return confirm

    async def restore(self, caller: Caller, group: str | None, snapshot: str, *, confirm: bool) -> RestoreReport:
        """Give a group the state of a snapshot, named by its tag or, with a path, by its file.

        The state before is kept in a snapshot first. If it is interrupted, repeating it ends it.

        Raises:
            InvalidInput: there is no such snapshot.
            DamagedStore, NewerSchema: it cannot be read; nothing was changed.
            NotAllowed: the caller may not write to this group.
            WriteFailed, Unavailable: it stopped; the message names the snapshot of before.
        """
        stored = self._writable(caller, group)
        is_path = Path(snapshot).name != snapshot
        path = Path(snapshot) if is_path else files.snapshot_path(self._data_dir, stored, snapshot)
        header = await asyncio.to_thread(files.verified, path)
        name, public = header.tag, self._groups.public(stored)
        async with self._committer.writing(stored):
            history = await self._history(stored)
            before = history.now.size
            if not confirm:
                return RestoreReport(
                    message=f"Nothing was changed. With --confirm, {public} ({size_in_words(before)}) would get the "
                    f"state of snapshot {name} ({size_in_words(header.size)}); a snapshot of what it holds now would "
                    "be made first.",
                    done=False,
                    group=public,
                    before=before,
                    after=header.size,
                    snapshot=name,
                )
            safety = await self._safety(history, "restore")
            await self._replay(stored, path, header, safety)
            after = await self._size(stored)
        return RestoreReport(
            message=f"{public} has the state of snapshot {name}: {size_in_words(after)}.{_kept(safety)}",
            done=True,
            group=public,
            before=before,
            after=after,
            safety=safety,
            snapshot=name,
        )

    async def rollback(self, caller: Caller, group: str | None, since: datetime, *, confirm: bool) -> RollbackReport:
        """Give a group the state that it had just before an instant.

        Raises as ``restore``.
        """
        stored = self._writable(caller, group)
        public = self._groups.public(stored)
        async with self._committer.writing(stored):
            history = await self._history(stored, since)
            report = await self._rollback_report(history, since, public)
            if not confirm or not _differs(history):
                return report
            safety = await self._safety(history, "rollback")
            with files.temporary(self._data_dir, stored) as path:
                header = await self._write(history, path, f"state before {report.since}", is_temporary=True)
                await self._replay(stored, path, header, safety)
            after = await self._size(stored)
        return report.model_copy(
            update={
                "message": f"{public} is as it was before {report.since}: {size_in_words(after)}.{_kept(safety)}"
                f"{_not_undone(report)}",
                "done": True,
                "after": after,
                "safety": safety,
            }
        )

    # Reading

    async def _history(self, stored: str, before: datetime | None = None) -> GroupHistory:
        """The group's writes. Raises InvalidInput if the graph holds other records than they make."""
        history = await read_history(self._journal, stored, before)
        held = await self._size(stored)
        if held != history.now.size:
            raise InvalidInput(
                f"Group {self._groups.public(stored)} holds {size_in_words(held)}, and the journal of this data "
                f"directory makes {size_in_words(history.now.size)}: another program or another server wrote to the "
                "database. Going back would lose what it wrote, so nothing was changed and no snapshot was made."
            )
        return history

    async def _size(self, stored: str) -> GroupSize:
        return (await self._graph.records.group_sizes([stored])).get(stored, NOTHING)

    def _writable(self, caller: Caller, group: str | None) -> str:
        """The stored group. Raises NotAllowed, PermissionDenied."""
        stored = self._groups.one(caller, group)
        if caller.read_only or not caller.may("curator"):
            raise PermissionDenied("Nothing was changed: snapshots are for curators.")
        return stored

    async def _rollback_report(self, history: GroupHistory, since: datetime, public: str) -> RollbackReport:
        now, then = history.now, history.then
        gone, back = _only_in(now, then), _only_in(then, now)
        groups = [history.group_id]
        some = {kind: sorted(uuids)[:_LISTED] for kind, uuids in gone.items()}
        episodes = await self._graph.records.get_episodes(some["episodes"], groups)
        entities = await self._graph.records.get_entities(some["entities"], groups)
        facts = await self._graph.records.get_facts(some["facts"], groups)
        documents = await self._graph.documents.documents(some["documents"], groups)
        quotes = now.quotes
        zone = self._context.settings.zone
        at = show_time(since, zone)
        report = RollbackReport(
            message="",
            done=False,
            group=public,
            since=at,
            before=now.size,
            after=then.size,
            **_counted("removed", gone),
            **_counted("brought_back", back),
            facts_changed=_changed(now.facts, then.facts),
            entities_changed=_changed(now.entities, then.entities),
            episodes=tuple(clipped(one.name, _NAME) for one in episodes),
            entities=tuple(clipped(one.name, _NAME) for one in entities),
            facts=tuple(clipped(one.text, _NAME) for one in facts),
            documents=tuple(f"{clipped(one.name, _NAME)}, version {one.version}" for one in documents),
            quotes=await self._words([quotes[uuid] for uuid in some["quotes"]], groups),
            not_undone=tuple(
                f"{show_time(one.came_at, zone)}: {one.kind.value}" for one in history.forgotten[:_LISTED]
            ),
        )
        if not _differs(history):
            message = f"Nothing that {public} holds came or changed since {at}."
        else:
            message = (
                f"Nothing was changed. With --confirm, what came since {at} would go "
                f"({_in_words(report.removed, report.removed_with_them)}), what went would come back "
                f"({_in_words(report.brought_back, report.brought_back_with_them)}), and "
                f"{report.facts_changed} fact(s) and {report.entities_changed} entities would be as before, with "
                f"names, reviews and projects.{_not_undone(report)}"
            )
        return report.model_copy(update={"message": message})

    async def _words(self, quotes: Sequence[Instance], groups: Sequence[str]) -> tuple[str, ...]:
        """What is quoted."""
        episodes = await self._graph.records.get_episodes([one.episode_uuid for one in quotes], groups)
        texts = {one.uuid: one.content for one in episodes}
        words = []
        for one in quotes:
            passages = await self._graph.episodes.passages(one.episode_uuid, without_vector=False, limit=MOST_PASSAGES)
            starts = {passage.uuid: passage.start for passage in passages}
            start, last = (starts.get(uuid, 0) for uuid in (one.passages[0], one.passages[-1]))
            words.append(clipped(texts.get(one.episode_uuid, "")[start + one.first : last + one.last], _NAME))
        return tuple(words)

    # Writing

    async def _safety(self, history: GroupHistory, command: str) -> str | None:
        """A snapshot of what the group holds now; its tag."""
        if history.now.size == NOTHING:
            return None
        tag = f"before-{command}-{self._context.now().astimezone(UTC):%Y%m%dT%H%M%S%f}"
        whole = await read_history(self._journal, history.group_id)
        await self._write(whole, files.snapshot_path(self._data_dir, history.group_id, tag), tag)
        return tag

    async def _write(
        self, history: GroupHistory, path: Path, tag: str, *, is_temporary: bool = False
    ) -> SnapshotHeader:
        recorded = await self._journal.embedding()
        taken_at = self._context.now()
        header = SnapshotHeader(
            tag=tag,
            group=self._groups.public(history.group_id),
            group_id=history.group_id,
            taken_at=taken_at,
            made_by=files.program(),
            model=recorded.model if recorded else None,
            dimension=recorded.dimension if recorded else None,
            writes=0,
            size=history.then.size,
        )
        with files.writing(path, is_temporary=is_temporary) as writer:
            async for intent, vectors in kept_writes(self._journal, history):
                await asyncio.to_thread(writer.add, intent, vectors)
            return await asyncio.to_thread(writer.finish, header, history.newest or taken_at)

    async def _replay(self, stored: str, path: Path, header: SnapshotHeader, safety: str | None) -> None:
        """Empty the group and write everything again, as writes of now. Raises DamagedStore if the state is another."""
        step = RestoreStep(checksum=header.checksum)
        now = await self._committer.time(stored)
        begin = _step(stored, now, step).model_copy(update={"deletions": Deletions(groups=(stored,))})
        recorded = await self._journal.embedding()
        has_vectors = recorded is None or (recorded.model, recorded.dimension) == (header.model, header.dimension)
        late = await self._forgotten_since(path, header, stored)
        tally = GroupTally(stored)
        place = 0

        async def write(intent: WriteIntent, vectors: Vectors) -> None:
            nonlocal place
            place += 1
            uuid = str(uuid5(UUID(begin.uuid), str(place)))
            intent = intent.model_copy(update={"uuid": uuid, "arrived_at": now})
            tally.add(intent)
            await self._committer.commit(intent, vectors)

        try:
            await self._committer.commit(begin, {})
            async for intent, vectors in _rows_of(path):
                await write(*late.left_of(intent, vectors if has_vectors else {}))
            for intent in late.deletions:
                await write(intent, {})
            untold = tally.lose_untold()
            for intent in await self._without_untold(stored, now, untold, tally.unclosed_sagas):
                await write(intent, {})
            end = _step(stored, await self._committer.time(stored), step.model_copy(update={"is_end": True}))
            await self._committer.commit(end, {})
        except PkmError as error:
            raise type(error)(
                f"{error.message} The group holds a part of {header.tag}: repeat the command to end it.{_kept(safety)}"
            ) from error
        is_less = late.deletions or untold.facts
        wanted, made = tally.size if is_less else header.size, await self._size(stored)
        if made != wanted:
            raise DamagedStore(
                f"The group should hold {size_in_words(wanted)} and holds {size_in_words(made)}.{_kept(safety)}"
            )

    async def _without_untold(
        self, stored: str, now: datetime, untold: Deletions, unclosed: Sequence[str]
    ) -> list[WriteIntent]:
        """What the deletion of episodes would have done besides, had it been made in this state."""
        facts = WriteIntent(
            uuid=str(uuid4()),
            group_id=stored,
            kind=WriteKind.DELETE_FACT,
            recorded_at=now,
            deletions=Deletions(facts=untold.facts),
        )
        sagas = facts.model_copy(
            update={
                "kind": WriteKind.DELETE_EPISODE,
                "sagas": await closed_sagas(self._graph, stored, unclosed),
                "deletions": Deletions(sagas=untold.sagas),
            }
        )
        return [*([facts] if untold.facts else ()), *([sagas] if unclosed or untold.sagas else ())]

    async def _forgotten_since(self, path: Path, header: SnapshotHeader, stored: str) -> "_Late":
        """What was forgotten since the snapshot was made: a file outside of the data directory was not redacted.

        The group that it is of, and the group that gets it, may have forgotten different things. That a group was
        cleared does not count: who restores it wants it back.
        """
        until = await asyncio.to_thread(files.redacted_until, path)
        own = await self._journal.forgetting_writes(header.group_id)
        own = [one for one in own if one.recorded_at > until and not one.deletions.groups]
        if header.group_id == stored:
            return _Late(own)
        theirs = [one for one in await self._journal.forgetting_writes(stored) if not one.deletions.groups]
        return _Late(own, Renaming(stored), theirs)


class _Late:
    """What is left of a snapshot's writes in the group that gets them."""

    def __init__(
        self, own: Sequence[WriteIntent], renaming: Renaming | None = None, theirs: Sequence[WriteIntent] = ()
    ) -> None:
        self._own, self._renaming, self._theirs = Forgettings(own), renaming, Forgettings(theirs)
        self.deletions = [
            *(remaining_deletion(renaming.write(one) if renaming else one) for one in own),
            *map(remaining_deletion, theirs),
        ]

    def left_of(self, intent: WriteIntent, vectors: Vectors) -> tuple[WriteIntent, Vectors]:
        intent, vectors = self._own.redacted(intent, vectors)
        if self._renaming is None:
            return intent, vectors
        copy = self._renaming.write(intent)
        copy = copy.model_copy(update={"copies": (*copy.copies, *self._renaming.copies(intent))})
        return self._theirs.redacted(copy, self._renaming.vectors(vectors))


def _step(stored: str, at: datetime, step: RestoreStep) -> WriteIntent:
    return WriteIntent(
        uuid=str(uuid4()), group_id=stored, kind=WriteKind.RESTORE_SNAPSHOT, recorded_at=at, restores=step
    )


async def _rows_of(path: Path) -> AsyncIterator[tuple[WriteIntent, Vectors]]:
    place = 0
    while rows := await asyncio.to_thread(files.rows_after, path, place, _ROWS):
        for row in rows:
            yield row.intent, row.vectors
        place = rows[-1].seq


def _view(path: Path, header: SnapshotHeader | None) -> SnapshotView:
    header = header or files.header_of(path)
    return SnapshotView(
        tag=header.tag,
        group=header.group,
        taken_at=header.taken_at.isoformat(timespec="seconds"),
        writes=header.writes,
        size=header.size,
        checksum=header.checksum,
        model=header.model,
        bytes=path.stat().st_size,
    )


def _differs(history: GroupHistory) -> bool:
    now, then = history.now, history.then
    is_same = (now.entities, now.facts) == (then.entities, then.facts)
    return not is_same or any(_only_in(now, then).values()) or any(_only_in(then, now).values())


def _only_in(one: GroupTally, other: GroupTally) -> dict[str, set[str]]:
    """Records that one has and the other has not, by kind."""
    return {
        "episodes": one.episodes - other.episodes,
        "entities": one.entities.keys() - other.entities.keys(),
        "facts": one.facts.keys() - other.facts.keys(),
        "documents": one.documents - other.documents,
        "quotes": one.quotes.keys() - other.quotes.keys(),
        "sagas": one.sagas - other.sagas,
    }


def _counted(what: str, records: Mapping[str, set[str]]) -> dict[str, Any]:
    """Fields of a report."""
    size, with_them = ({kind: len(records[kind]) for kind in of.model_fields} for of in (GroupSize, Attached))
    return {what: GroupSize(**size), f"{what}_with_them": Attached(**with_them)}


def _in_words(size: GroupSize, with_them: Attached) -> str:
    return ", ".join(filter(None, (size_in_words(size), attached_in_words(with_them))))


def _changed(now: dict[str, int], then: dict[str, int]) -> int:
    return sum(then.get(uuid, value) != value for uuid, value in now.items())


def _kept(safety: str | None) -> str:
    return f" What it held before is in snapshot {safety}." if safety else ""


def _not_undone(report: RollbackReport) -> str:
    count = len(report.not_undone)
    return f" {count} forgetting(s) or deletion(s) since stay as they are." if count else ""
