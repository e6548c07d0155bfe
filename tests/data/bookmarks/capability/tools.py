"""Tools of bookmarks. Their docstrings are prompts."""

from typing import TYPE_CHECKING

from graphiti_pkm.capabilities.bookmarks.models import BookmarkList, BookmarkStored
from graphiti_pkm.capabilities.bookmarks.requests import AddBookmark, ListBookmarks

from graphiti_pkm.toolkit.call import Call
from graphiti_pkm.toolkit.services import ServiceKey

if TYPE_CHECKING:
    from graphiti_pkm.capabilities.bookmarks.service import Bookmarks

BOOKMARKS: ServiceKey["Bookmarks"] = ServiceKey("bookmarks")


async def add_bookmark(call: Call, request: AddBookmark) -> BookmarkStored:
    """Mark an entity to come back to, with a note."""
    return await call.services[BOOKMARKS].add_bookmark(call.caller, request)


async def list_bookmarks(call: Call, request: ListBookmarks) -> BookmarkList:
    """List the bookmarks, newest first."""
    return await call.services[BOOKMARKS].list_bookmarks(call.caller, request)
