"""Neo4j as the settings mean it, and what differs between the kinds of databases for the rest of the server."""

import asyncio
import importlib
from collections.abc import Callable
from dataclasses import dataclass

from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.storage.graph.database import Database, OpenDatabase


@dataclass(frozen=True)
class Kind:
    """A kind of database."""

    name: str
    """In ``get_status``."""
    is_shared: bool
    """Whether servers with other journals may write to it."""
    remainder: str = ""
    """What deleted data cannot be erased from here: a sentence with a leading space; empty if nothing."""


SQLITE = Kind("SQLite", is_shared=False)
NEO4J = Kind(
    "Neo4j",
    is_shared=True,
    remainder=" Neo4j writes over the space that they took and prunes its transaction logs in its own time, and "
    "keeps a list of all types that it ever had; other servers on this database have journals of their own.",
)


@dataclass
class Opening:
    """A Neo4j that is opened on first use."""

    open_database: OpenDatabase
    on_restart: Callable[[], None] = lambda: None
    """Called when the database answers again after an outage, in which it may have lost writes."""


def opening(settings: Settings) -> Opening:
    """Neo4j as configured; it does not connect yet."""

    def is_back() -> None:
        opened.on_restart()  # as it is by then

    async def open_database() -> Database:
        module = await asyncio.to_thread(importlib.import_module, "graphiti_pkm.storage.graph.neo4j.database")
        database: Database = module.open_neo4j(settings, is_back)
        return database

    opened = Opening(open_database)
    return opened
