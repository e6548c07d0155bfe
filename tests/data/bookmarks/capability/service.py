"""Bookmarks as facts: a write of them is a write like any other, and forgetting reaches them as it reaches facts."""

from graphiti_pkm.capabilities.bookmarks.models import BookmarkList, BookmarkStored, BookmarkView
from graphiti_pkm.capabilities.bookmarks.ports import BOOKMARKED, BookmarkPort
from graphiti_pkm.capabilities.bookmarks.requests import AddBookmark, ListBookmarks

from graphiti_pkm.capabilities.remember.service import Writing
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.requests import ME, AddMemory, FactInput


class Bookmarks:
    """``add_bookmark`` and ``list_bookmarks``."""

    def __init__(self, groups: Groups, writing: Writing, stored: BookmarkPort) -> None:
        self._groups = groups
        self._writing = writing
        self._stored = stored

    async def add_bookmark(self, caller: Caller, request: AddBookmark) -> BookmarkStored:
        """Store one bookmark. Raises as ``add_memory``."""
        fact = FactInput(source=ME, relation=BOOKMARKED, target=request.name, fact=request.note)
        stored = await self._writing.add_memory(caller, AddMemory(episode_body=request.note, facts=(fact,)))
        return BookmarkStored(message=f"Bookmarked {request.name}.", episode_uuid=stored.episode_uuid)

    async def list_bookmarks(self, caller: Caller, request: ListBookmarks) -> BookmarkList:
        """The newest bookmarks."""
        found, total = await self._stored.bookmarks(self._groups.searched(caller, None), request.limit)
        views = [BookmarkView.model_validate(one) for one in found]
        return BookmarkList(message=f"{total} bookmark(s).", total=total, bookmarks=views)
