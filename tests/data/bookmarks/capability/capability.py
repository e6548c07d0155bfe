"""Marks entities to come back to."""

from graphiti_pkm.capabilities.bookmarks.tools import add_bookmark, list_bookmarks

from graphiti_pkm.toolkit.capability import Capability
from graphiti_pkm.toolkit.tool import ADDS, ToolSpec

CAPABILITY = Capability(
    name="bookmarks",
    assembly="graphiti_pkm.capabilities.bookmarks.assembly",
    tools={
        "memory": (
            ToolSpec(add_bookmark, "Add Bookmark", ADDS),
            ToolSpec(list_bookmarks, "List Bookmarks"),
        ),
    },
)
