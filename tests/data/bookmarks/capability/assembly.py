"""The service of this capability, built from the shared parts of a process."""

from graphiti_pkm.capabilities.bookmarks.ports import BookmarkPort
from graphiti_pkm.capabilities.bookmarks.service import Bookmarks
from graphiti_pkm.capabilities.bookmarks.tools import BOOKMARKS
from graphiti_pkm.storage.graph.bookmarks import CypherBookmarks, SqliteBookmarks

from graphiti_pkm.capabilities.remember.tools import WRITING
from graphiti_pkm.storage.graph.graph_part import GraphPart
from graphiti_pkm.toolkit.capability import Built
from graphiti_pkm.toolkit.kernel import Kernel

BOOKMARK_PART = GraphPart[BookmarkPort](cypher=CypherBookmarks, sqlite=SqliteBookmarks)


def build(kernel: Kernel) -> Built:
    """Build the service under the key that the tools use."""
    stored = kernel.parts.part(BOOKMARK_PART)
    return Built({BOOKMARKS: Bookmarks(kernel.groups, kernel.services[WRITING], stored)})
