"""Clears whole groups: a preview first; then, with its token, everything in them is removed, also from the journal."""

import contextlib
from collections.abc import Sequence
from datetime import datetime
from uuid import uuid4

from graphiti_pkm.capabilities.forget.requests import ClearGraph
from graphiti_pkm.capabilities.forget.saved_graphs import saved_graphs_note
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.answers import ClearResponse
from graphiti_pkm.core.model.job_records import EraseJob
from graphiti_pkm.core.model.queries import EpisodeFilter, GroupSize, Window
from graphiti_pkm.core.model.records import Deletions, Forgetting, WriteIntent, WriteKind
from graphiti_pkm.core.reading.confirmation import confirmation, is_confirmed
from graphiti_pkm.core.reading.reader import GroupIds
from graphiti_pkm.core.reading.views import size_in_words
from graphiti_pkm.errors import InvalidInput
from graphiti_pkm.storage.commit import Committer
from graphiti_pkm.storage.erasing import Erasing

_MOST = 20
_NOTHING = GroupSize(episodes=0, entities=0, facts=0)


class Clearing:
    """``clear_graph``."""

    def __init__(self, context: Context, groups: Groups, committer: Committer, erasing: Erasing | None = None) -> None:
        self._erasing = erasing or Erasing(context)
        self._context = context
        self._graph = context.graph
        self._groups = groups
        self._committer = committer

    async def clear_graph(self, caller: Caller, request: ClearGraph) -> ClearResponse:
        """A preview with a token; with the token of the same content, the groups are emptied.

        Raises:
            InvalidInput: no group is named by an empty list, or the token fits something else; nothing was cleared.
            NotAllowed: the caller may only read.
        """
        caller.must_write("Nothing was cleared.")
        wanted = self._wanted(caller, request.group_ids)
        if request.confirm is None:
            sizes = await self._sizes(wanted)
            return self._preview(sizes, await self._token(caller, sizes))
        async with contextlib.AsyncExitStack() as locks:
            for group in sorted(
                wanted
            ):  # in a fixed order, so that two callers who clear several groups never wait for each other
                await locks.enter_async_context(self._committer.writing(group))
            sizes = await self._sizes(wanted)
            if not is_confirmed(request.confirm, await self._token(caller, sizes)):
                raise InvalidInput(
                    "Nothing was cleared: confirm is not valid, because the groups or their contents have changed "
                    "since the preview. Call clear_graph without confirm, and show the user what it says."
                )
            saved = ""
            for group in wanted:
                intent = self._intent(group, await self._committer.time(group))
                saved += await saved_graphs_note(self._context, caller, intent)
                await self._committer.commit(intent, {})
        for group in wanted:
            saved += await self._erasing.redact_snapshots(group)
        is_erased = await self._erasing.erase_now()
        return ClearResponse(
            message=f"Cleared {self._named(sizes)}. {self._erasing.message(is_erased=is_erased)}{saved}",
            status="cleared",
            groups=self._shown(sizes),
        )

    def _wanted(self, caller: Caller, group_ids: GroupIds) -> tuple[str, ...]:
        if group_ids is not None and not group_ids:
            raise InvalidInput("Nothing was cleared: group_ids is empty. Name the groups; get_status lists them.")
        wanted = self._groups.searched(caller, group_ids)
        if len(wanted) > _MOST:
            raise InvalidInput(f"Nothing was cleared: at most {_MOST} groups in one call.")
        return wanted

    async def _sizes(self, group_ids: Sequence[str]) -> dict[str, GroupSize]:
        found = await self._graph.records.group_sizes(group_ids)
        return {group: found.get(group, _NOTHING) for group in group_ids}

    async def _token(self, caller: Caller, sizes: dict[str, GroupSize]) -> str:
        """The token for the groups: from their size and the newest episode of each."""
        newest = [
            await self._graph.episodes.recent_episodes(EpisodeFilter(group_ids=(group,)), Window(limit=1))
            for group in sizes
        ]
        held = {group: size.model_dump() for group, size in sizes.items()}
        return confirmation(
            self._context.signer, "clear_graph", caller.visibility, held, [page.keys for page in newest]
        )

    def _preview(self, sizes: dict[str, GroupSize], token: str) -> ClearResponse:
        if all(size == _NOTHING for size in sizes.values()):
            return ClearResponse(
                message=f"There is nothing to clear: {self._named(sizes)} hold(s) nothing.",
                status="empty",
                groups=self._shown(sizes),
            )
        return ClearResponse(
            message=f"Nothing was cleared yet. This would remove everything from {self._named(sizes)}, for good. Show "
            "the user what is in groups; only if they agree, call clear_graph again with the same group_ids and "
            "confirm.",
            status="preview",
            groups=self._shown(sizes),
            confirm=token,
        )

    def _intent(self, group_id: str, recorded_at: datetime) -> WriteIntent:
        return WriteIntent(
            uuid=str(uuid4()),
            group_id=group_id,
            kind=WriteKind.CLEAR_GROUP,
            recorded_at=recorded_at,
            deletions=Deletions(groups=(group_id,)),
            forgets=Forgetting(),
            jobs=(EraseJob(),),
        )

    def _named(self, sizes: dict[str, GroupSize]) -> str:
        return f"group(s) {', '.join(map(self._groups.public, sizes))}"

    def _shown(self, sizes: dict[str, GroupSize]) -> dict[str, str]:
        return {self._groups.public(group): size_in_words(size) for group, size in sizes.items()}
