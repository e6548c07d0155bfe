"""Makes backups of the journal and restores them."""

import contextlib
import logging
import sqlite3
from collections.abc import Iterator
from pathlib import Path, PurePath

from graphiti_pkm.core.operating_system import publish, sync_directory, sync_file
from graphiti_pkm.core.ports.rebuilding import RebuildInProgress
from graphiti_pkm.errors import ConflictingContent, DamagedStore, InvalidInput, Unavailable
from graphiti_pkm.storage.journal import embedding, rebuilds, redaction, saved_graphs, usage
from graphiti_pkm.storage.journal.checking import check_whole, journal_tables
from graphiti_pkm.storage.journal.connection import JournalFile, check, connect, is_about_the_disk, plain_errors
from graphiti_pkm.storage.journal.partial import partial, sweep
from graphiti_pkm.storage.journal.rows import decode, encode, insert
from graphiti_pkm.storage.journal.schema import TABLES, copy_to, is_ours, migrate, refuse_newer, transaction, version

_log = logging.getLogger(__name__)
_EXTRACTION = (
    "job, group_id, episode_uuid, payload, state, attempts, not_before, reason, remedy, queued_at, finished_at, calls, "
    "prompt_tokens, completion_tokens"
)
"""The columns of a job that do not belong to one file (its id, the number of its write, its owner)."""


def back_up(file: JournalFile, path: Path) -> None:
    """Copy the journal consistently to a new file; writers continue on their own connections."""
    _refuse_existing(path)
    with plain_errors(file), contextlib.closing(file.open("NORMAL")) as source:
        try:
            sweep(path.parent, is_shared=True)  # of backups that were killed there
            with partial(path.parent, path.name) as copy:
                copy_to(source, copy)
                with contextlib.closing(connect(copy)) as copied:
                    _keep_the_journal(copied)
                    check(copied)
                sync_file(copy)  # VACUUM cuts it after its last sync
                _publish(copy, path)
                sync_directory(path.parent)
        except (OSError, sqlite3.OperationalError) as error:
            raise Unavailable(
                f"The backup {path.name} could not be written (directory missing, read-only or full). "
                "Nothing was left behind; the journal is unchanged."
            ) from error


def _keep_the_journal(connection: sqlite3.Connection) -> None:
    """Drop a graph that lies in the same file: a restore makes it from the journal again."""
    known = journal_tables()
    others = [
        (kind, name)
        for kind, name, table in connection.execute(
            "SELECT type, name, tbl_name FROM sqlite_schema WHERE type IN ('table', 'trigger') "
            "AND name NOT LIKE 'sqlite_%' ORDER BY type DESC, sql LIKE 'CREATE VIRTUAL%' DESC"
        ).fetchall()
        if table not in known
    ]
    if not others:
        return
    connection.execute("PRAGMA foreign_keys = OFF")
    with transaction(connection):
        for kind, name in others:
            connection.execute(f'DROP {kind} IF EXISTS "{name}"')
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("VACUUM")


def rows_in(path: Path, directory: Path) -> int:
    """Number of writes in a backup, after all checks that ``restore`` makes."""
    with checked_copy(path, directory) as copy, contextlib.closing(connect(copy)) as connection:
        return int(connection.execute("SELECT count(*) FROM writes").fetchone()[0])


def restore(connection: sqlite3.Connection, path: Path, directory: Path, rebuild: RebuildInProgress) -> int:
    """Replace all rows by those of a backup and record the pending rebuild, in one transaction.

    Running servers have the file open, so it is not replaced by another file: they see all of the change or none. Jobs
    that were running in the backup are queued again.
    """
    with checked_copy(path, directory) as copy:
        connection.execute("ATTACH DATABASE ? AS backup", (str(copy),))
        try:
            with transaction(connection):
                for table in reversed(TABLES):
                    connection.execute(f"DELETE FROM main.{table}")  # noqa: S608 our own names
                for table in TABLES:
                    connection.execute(f"INSERT INTO main.{table} SELECT * FROM backup.{table}")  # noqa: S608
                _queue_again(connection)
                _join_spending(connection, connection, "backup")
                usage.send_again(connection)
                rebuilds.record(connection, rebuild)
                count = int(connection.execute("SELECT count(*) FROM main.writes").fetchone()[0])
        finally:
            connection.execute("DETACH DATABASE backup")
    # The replaced rows leave the write-ahead log as well, unless a reader still uses it.
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return count


def replace_damaged(file: JournalFile, path: Path, rebuild: RebuildInProgress, at: float) -> int:
    """Replace a damaged journal by a backup plus everything newer in it that is readable.

    The new file is built beside it; the damaged journal stays in place until then, and is kept afterwards.
    """
    with plain_errors(file), checked_copy(path, file.data_dir) as copy:
        with contextlib.closing(connect(copy)) as connection:
            count = int(connection.execute("SELECT count(*) FROM writes").fetchone()[0])
            count += _salvage(connection, file.path, at)
            with transaction(connection):
                _queue_again(connection)
                redaction.redact_again(connection)
                rebuilds.record(connection, rebuild)
        sync_file(copy)
        kept = file.replace_damaged(copy)
    _log.warning("damaged journal kept as %s", kept.name)
    return count


def _queue_again(connection: sqlite3.Connection) -> None:
    """Queue jobs again that were running when the copy was made; waiting times of another clock are dropped."""
    for table in ("jobs", "extractions"):
        connection.execute(
            f"UPDATE main.{table} SET state = 'queued', owner = NULL, lease_until = NULL "  # noqa: S608 our own names
            "WHERE state = 'running'"
        )
        connection.execute(f"UPDATE main.{table} SET not_before = 0 WHERE state = 'queued'")  # noqa: S608 same


def _salvage(connection: sqlite3.Connection, damaged: Path, at: float) -> int:
    """Add newer rows of a damaged journal that can still be read; returns how many."""
    saved = left_out = 0
    with contextlib.closing(connect(damaged)) as source:
        for seq in _readable(source, "writes", "seq"):
            try:
                with contextlib.suppress(sqlite3.Error), transaction(connection):
                    saved += _save(connection, source, seq, at)
            except ConflictingContent:
                left_out += 1
        for job_id in _readable(source, "extractions", "id"):
            with contextlib.suppress(sqlite3.Error), transaction(connection):
                _save_extraction(connection, source, job_id)
        for row in _readable(source, "saved_graphs", "rowid"):
            with contextlib.suppress(sqlite3.Error), transaction(connection):
                saved_graphs.copy(connection, source, row)
        with contextlib.suppress(sqlite3.Error), transaction(connection):
            _join_spending(connection, source, "main")
        with contextlib.suppress(sqlite3.Error), transaction(connection):
            usage.salvage(connection, source)
            usage.send_again(connection)
    if left_out:
        _log.warning("%d memories of the damaged journal have the uuid of another one in the backup", left_out)
    return saved


def _join_spending(connection: sqlite3.Connection, source: sqlite3.Connection, schema: str) -> None:
    """Take over the costs, and a pause, of both files."""
    connection.executemany(
        """
        INSERT INTO main.model_usage VALUES (?, ?, ?, ?) ON CONFLICT (day) DO UPDATE SET
            calls = max(calls, excluded.calls), prompt_tokens = max(prompt_tokens, excluded.prompt_tokens),
            completion_tokens = max(completion_tokens, excluded.completion_tokens)
        """,
        source.execute(f"SELECT * FROM {schema}.model_usage").fetchall(),  # noqa: S608 our own names
    )
    connection.executemany(
        "INSERT OR IGNORE INTO main.extraction_pause VALUES (?)",
        source.execute(f"SELECT * FROM {schema}.extraction_pause").fetchall(),  # noqa: S608
    )


def _readable(source: sqlite3.Connection, table: str, key: str) -> range:
    with contextlib.suppress(sqlite3.Error):
        return range(1, int(source.execute(f"SELECT coalesce(max({key}), 0) FROM {table}").fetchone()[0]) + 1)  # noqa: S608
    return range(0)


def _save(connection: sqlite3.Connection, source: sqlite3.Connection, seq: int, at: float) -> int:
    """Read each row separately, so that a broken page costs only its own rows."""
    head = source.execute("SELECT uuid, state FROM writes WHERE seq = ? AND state <> 'failed'", (seq,)).fetchone()
    if head is None or connection.execute("SELECT 1 FROM writes WHERE uuid = ?", (head[0],)).fetchone():
        return 0
    *columns, request_hash, answer = (
        source.execute(
            "SELECT intent, vector_uuids, dimension, vectors, request_hash, answer FROM contents WHERE seq = ?", (seq,)
        ).fetchone()
        or [""] * 6
    )
    row = decode(seq, *columns)
    vectors = row.vectors if embedding.of_file(source) == embedding.recorded(connection) else {}
    encoded = encode(row.intent, vectors, {})
    kept = type(encoded)(**{**vars(encoded), "answer": answer})
    insert(connection, row.intent, kept, request_hash, at, head[1])
    return 1


def _save_extraction(connection: sqlite3.Connection, source: sqlite3.Connection, job_id: int) -> None:
    """Save a job that the other file lacks, or that ended in the damaged file and waits in the other."""
    found = source.execute(
        f"SELECT {_EXTRACTION}, (SELECT uuid FROM writes WHERE writes.seq = extractions.seq) "  # noqa: S608
        "FROM extractions WHERE id = ?",
        (job_id,),
    ).fetchone()
    if found is None:
        return
    *values, write = found
    row = dict(zip(_EXTRACTION.split(", "), values, strict=True))
    if row["state"] == "running":
        row["state"] = "queued"
    columns = ", ".join(f":{name}" for name in row)
    kept = connection.execute(
        f"""
        INSERT INTO extractions ({_EXTRACTION}, seq)
        VALUES ({columns}, (SELECT seq FROM writes WHERE uuid = :write))
        ON CONFLICT (job) DO UPDATE SET ({_EXTRACTION}) = ({columns}) WHERE state = 'queued'
        RETURNING id
        """,  # noqa: S608
        {**row, "write": write},
    ).fetchall()
    answers = source.execute("SELECT request_hash, answer FROM model_answers WHERE extraction_id = ?", (job_id,))
    for (new_id,) in kept:
        connection.executemany(
            "INSERT OR IGNORE INTO model_answers VALUES (?, ?, ?)", [(new_id, *one) for one in answers.fetchall()]
        )


@contextlib.contextmanager
def checked_copy(path: Path, directory: Path) -> Iterator[Path]:
    """A private copy of a backup, migrated and checked in every row; the backup itself is never written to.

    Raises:
        InvalidInput: there is no such file, or it is no backup of a journal.
        DamagedStore: it is damaged.
        NewerSchema: a newer version wrote it.
    """
    if not path.is_file():
        raise InvalidInput(f"There is no backup file {path.name}. Nothing was changed.")
    with partial(directory, "restore") as copy:
        with contextlib.closing(sqlite3.connect(read_only(path.absolute()), uri=True)) as backup:
            try:
                if not is_ours(backup) or not version(backup):
                    raise InvalidInput(f"{path.name} is no backup of a graphiti-pkm journal. Nothing was changed.")
                refuse_newer(backup, f"The backup {path.name}")
                check(backup)
            except sqlite3.DatabaseError as error:
                raise _damaged(path, error) from error
            copy_to(backup, copy)
        with contextlib.closing(connect(copy)) as connection:
            _check_copy(connection, copy, path)
        yield copy


def read_only(path: PurePath) -> str:
    """The address by which SQLite opens a file for reading only; it takes no name of another machine after the //."""
    uri = path.as_uri()
    return f"{uri if uri.startswith('file:///') else uri.replace('//', '////', 1)}?mode=ro"


def _check_copy(connection: sqlite3.Connection, copy: Path, path: Path) -> None:
    try:
        older = migrate(connection, copy)
        if older is not None:
            older.unlink(missing_ok=True)
        if connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'graph_meta'").fetchone():
            _keep_the_journal(connection)  # a copy of the file that holds the graph as well
        check_whole(connection)
    except sqlite3.Error as error:
        if is_about_the_disk(error):
            raise
        raise _damaged(path, error) from error


def _damaged(path: Path, error: sqlite3.Error) -> DamagedStore:
    code = getattr(error, "sqlite_errorname", None)
    why = f"SQLite says {code}" if code else str(error)
    return DamagedStore(
        f"The backup {path.name} is damaged or no backup at all ({why}). Nothing was changed. Take another backup."
    )


def _refuse_existing(path: Path) -> None:
    if path.exists():
        raise InvalidInput(f"{path.name} exists already and was not overwritten. Name another file.")


def _publish(copy: Path, path: Path) -> None:
    """Name the finished copy, unless another file has that name by now."""
    try:
        publish(copy, path)
    except FileExistsError:
        _refuse_existing(path)
        raise
