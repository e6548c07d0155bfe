"""Tables of the journal, and migrations of older files.

``user_version`` of the file is the schema version: the number of migrations applied.
"""

import contextlib
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

from graphiti_pkm.core.operating_system import replace, sync_directory, sync_file
from graphiti_pkm.errors import DamagedStore, NewerSchema
from graphiti_pkm.storage.journal.partial import partial

APPLICATION_ID = 0x504B4D4A
"""Marks the file as ours: "PKMJ"."""

Migration = Sequence[str]

# Small, frequently changed columns are separate from the contents: marking a row must not rewrite its vectors.
_FIRST: Migration = (
    """
    CREATE TABLE writes (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        uuid TEXT NOT NULL UNIQUE,
        group_id TEXT NOT NULL,
        kind TEXT NOT NULL,
        recorded_at TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('intent', 'written', 'applied', 'failed')),
        reason TEXT NOT NULL DEFAULT ''
    )
    """,
    "CREATE INDEX writes_by_state ON writes (state)",
    """
    CREATE TABLE contents (
        seq INTEGER PRIMARY KEY REFERENCES writes ON DELETE CASCADE,
        intent TEXT NOT NULL,
        vector_uuids TEXT NOT NULL,
        dimension INTEGER NOT NULL,
        vectors BLOB NOT NULL,
        request_hash TEXT NOT NULL,
        answer TEXT NOT NULL
    )
    """,
    # Receipts of add_memory, found by a repeated uuid; deleted_by is a write's uuid.
    """
    CREATE TABLE episodes (
        uuid TEXT NOT NULL,
        seq INTEGER NOT NULL REFERENCES writes ON DELETE CASCADE,
        deleted_by TEXT,
        PRIMARY KEY (uuid, seq)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX episodes_by_write ON episodes (seq)",
    "CREATE INDEX episodes_by_deletion ON episodes (deleted_by) WHERE deleted_by IS NOT NULL",
    # Times are seconds since the epoch.
    """
    CREATE TABLE jobs (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        seq INTEGER NOT NULL REFERENCES writes ON DELETE CASCADE,
        group_id TEXT NOT NULL,
        entity_uuid TEXT,
        payload TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'failed', 'done')),
        attempts INTEGER NOT NULL DEFAULT 0,
        not_before REAL NOT NULL,
        owner TEXT,
        lease_until REAL,
        reason TEXT NOT NULL DEFAULT ''
    )
    """,
    "CREATE INDEX jobs_by_state ON jobs (state)",
    "CREATE INDEX jobs_by_write ON jobs (seq)",
    "CREATE INDEX jobs_by_entity ON jobs (entity_uuid) WHERE entity_uuid IS NOT NULL",
)

_EVENTS: Migration = ()
"""No table changes, but rows may contain events and writes that version 1 would take for damage."""

_FORGETTING: Migration = ()
"""No table changes, but a write may forget, which an older version would not repeat in a rebuild."""

_ATTEMPTS: Migration = ("ALTER TABLE writes ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0",)
"""Attempts to apply a write that never ended: after the third, the write itself may be what ends the process."""

# Jobs requested later by a person or a command belong to no write: seq is NULL. Open jobs are few compared
# with done ones, so the index for claims contains only those.
_EXTRACTIONS: Migration = (
    """
    CREATE TABLE extractions (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        job TEXT NOT NULL UNIQUE,
        seq INTEGER REFERENCES writes ON DELETE CASCADE,
        group_id TEXT NOT NULL,
        episode_uuid TEXT NOT NULL,
        payload TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'done', 'failed', 'cancelled')),
        attempts INTEGER NOT NULL DEFAULT 0,
        not_before REAL NOT NULL,
        owner TEXT,
        lease_until REAL,
        reason TEXT NOT NULL DEFAULT '',
        remedy TEXT NOT NULL DEFAULT '',
        queued_at REAL NOT NULL,
        finished_at REAL,
        calls INTEGER NOT NULL DEFAULT 0,
        prompt_tokens INTEGER NOT NULL DEFAULT 0,
        completion_tokens INTEGER NOT NULL DEFAULT 0
    )
    """,
    "CREATE INDEX extractions_open ON extractions (group_id) WHERE state IN ('queued', 'running')",
    "CREATE INDEX extractions_by_state ON extractions (state)",
    "CREATE INDEX extractions_by_group ON extractions (group_id, state)",
    "CREATE INDEX extractions_by_episode ON extractions (episode_uuid)",
    "CREATE INDEX extractions_by_write ON extractions (seq)",
    """
    CREATE TABLE model_answers (
        extraction_id INTEGER NOT NULL REFERENCES extractions ON DELETE CASCADE,
        request_hash TEXT NOT NULL,
        answer TEXT NOT NULL,
        PRIMARY KEY (extraction_id, request_hash)
    )
    """,
    """
    CREATE TABLE model_usage (
        day TEXT PRIMARY KEY,
        calls INTEGER NOT NULL,
        prompt_tokens INTEGER NOT NULL,
        completion_tokens INTEGER NOT NULL
    ) WITHOUT ROWID
    """,
    # One row while jobs are paused.
    "CREATE TABLE extraction_pause (only INTEGER PRIMARY KEY CHECK (only = 1))",
)

# At most one row: the model of the vectors in ``contents``. Earlier versions had a single model.
_EMBEDDING: Migration = (
    """
    CREATE TABLE embedding (
        only INTEGER PRIMARY KEY CHECK (only = 1),
        model TEXT NOT NULL,
        dimension INTEGER NOT NULL,
        is_changing INTEGER NOT NULL DEFAULT 0
    )
    """,
    """
    INSERT INTO embedding
    SELECT 1, 'all-MiniLM-L6-v2', 384, 0
    WHERE EXISTS (SELECT 1 FROM contents WHERE dimension = 384)
    """,
)

# Scratch graphs saved by their owner; ``groups`` are those of memory that parts were loaded from.
_SAVED_GRAPHS: Migration = (
    """
    CREATE TABLE saved_graphs (
        uuid TEXT NOT NULL UNIQUE,
        owner TEXT NOT NULL,
        name TEXT NOT NULL,
        saved_at TEXT NOT NULL,
        groups TEXT NOT NULL,
        nodes INTEGER NOT NULL,
        edges INTEGER NOT NULL,
        content TEXT NOT NULL,
        PRIMARY KEY (owner, name)
    )
    """,
)

# At most one row, during a rebuild: until it is removed, the graph does not match the journal.
# ``former`` is the name of the copy that was made of a journal before it was replaced.
_REBUILD: Migration = (
    """
    CREATE TABLE rebuild (
        only INTEGER PRIMARY KEY CHECK (only = 1),
        command TEXT NOT NULL,
        began_at TEXT NOT NULL,
        is_cleared INTEGER NOT NULL DEFAULT 0,
        drops_unknown INTEGER NOT NULL DEFAULT 0,
        former TEXT NOT NULL DEFAULT ''
    )
    """,
)

# The time of ``SteadyClock`` when the machine was started: one row, of the latest start.
_CLOCK: Migration = (
    "CREATE TABLE clock (only INTEGER PRIMARY KEY CHECK (only = 1), boot TEXT NOT NULL, anchor REAL NOT NULL)",
)

# Counters of fitness: totals of what the servers of this data directory counted. ``is_sent``: whether the graph, where
# it is elsewhere, has them.
_USAGE: Migration = (
    """
    CREATE TABLE usage (
        uuid TEXT PRIMARY KEY,
        group_id TEXT NOT NULL,
        hits INTEGER NOT NULL,
        relevance REAL NOT NULL,
        useful INTEGER NOT NULL,
        is_sent INTEGER NOT NULL DEFAULT 0
    ) WITHOUT ROWID
    """,
    "CREATE INDEX usage_by_group ON usage (group_id)",
    "CREATE INDEX usage_unsent ON usage (uuid) WHERE NOT is_sent",
)

MIGRATIONS: tuple[Migration, ...] = (
    _FIRST,
    _EVENTS,
    _FORGETTING,
    _ATTEMPTS,
    _EXTRACTIONS,
    _EMBEDDING,
    _SAVED_GRAPHS,
    _REBUILD,
    _CLOCK,
    _USAGE,
)
"""The n-th migrates version n to version n + 1; a published one never changes."""

TABLES = (
    "writes",
    "contents",
    "episodes",
    "jobs",
    "extractions",
    "model_answers",
    "embedding",
    "saved_graphs",
    "usage",
)
"""In the order of references. Costs, a pause of the queue, and an unfinished rebuild are not part of the memory."""


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """One write transaction: committed at the end, rolled back on any error."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def version(connection: sqlite3.Connection) -> int:
    """Schema version of a file; 0 is an empty one."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def statements() -> Iterator[str]:
    """The statements that create a current file."""
    for migration in MIGRATIONS:
        yield from migration


def refuse_newer(connection: sqlite3.Connection, what: str, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Raise NewerSchema if a newer version of this product wrote ``what``."""
    found = version(connection)
    if found > len(migrations):
        raise NewerSchema(
            f"{what} has schema version {found}, written by a newer graphiti-pkm; this one knows versions up to "
            f"{len(migrations)}. Nothing was changed. Install the newer version again."
        )


def is_ours(connection: sqlite3.Connection) -> bool:
    """Whether the file is a journal rather than some other SQLite database."""
    return int(connection.execute("PRAGMA application_id").fetchone()[0]) == APPLICATION_ID


def migrate(connection: sqlite3.Connection, path: Path, migrations: Sequence[Migration] = MIGRATIONS) -> Path | None:
    """Migrate the file to the current version in one transaction; returns the backup of an older one, if made."""
    refuse_newer(connection, "The journal", migrations)
    found = version(connection)
    if found == len(migrations):
        return None
    kept = _keep_older(connection, path, found) if found else None
    with transaction(connection):
        found = version(connection)  # another process may have been quicker
        refuse_newer(connection, "The journal", migrations)
        if found == 0 and connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
            raise DamagedStore(
                f"{path.name} in the data directory is a SQLite database, but no journal of graphiti-pkm. "
                "It was left as it is; move it away."
            )
        for migration in migrations[found:]:
            for statement in migration:
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {len(migrations)}")
    return kept


def _keep_older(connection: sqlite3.Connection, path: Path, found: int) -> Path:
    """Keep a copy of the file before its migration; an existing copy is kept."""
    kept = path.with_name(f"{path.stem}-version-{found}{path.suffix}")
    if not kept.exists():
        with partial(kept.parent, kept.name) as copy:
            copy_to(connection, copy)
            replace(copy, kept)
            sync_directory(kept.parent)
    return kept


def copy_to(source: sqlite3.Connection, path: Path) -> None:
    """Copy consistently to an existing empty file; it is on disk when this returns."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as target:
        source.backup(target)
        target.execute("PRAGMA journal_mode = DELETE")
    sync_file(path)
