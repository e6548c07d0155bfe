"""Whether the disk of the journal takes anything, found out before somebody's write has to."""

import asyncio
import errno
import os
import sqlite3
import tempfile

from graphiti_pkm.core.health import LastWrite
from graphiti_pkm.errors import PkmError
from graphiti_pkm.storage.journal.connection import FAILING, FULL, SILENT, Connection, JournalFile
from graphiti_pkm.storage.journal.schema import transaction, version

_BYTES = 2**20
"""Room for a write of the usual size."""
_PAGE = 4_096


def last_write(file: JournalFile, durable: Connection) -> LastWrite:
    """Of the journal in ``file``, whose writes go through ``durable``."""

    async def attempt(was_refused: bool) -> str | None:
        if (reason := await asyncio.to_thread(_without_room, file)) is not None or not was_refused:
            return reason
        try:
            await durable.run(_write)
        except PkmError as error:
            return error.message
        return None

    return LastWrite(attempt, SILENT.format(data_dir=file.data_dir))


def _without_room(file: JournalFile) -> str | None:
    """Try a file without a name beside the journal: room for it is reserved, and a page of it is written."""
    try:
        file.make()
        with tempfile.TemporaryFile(dir=file.data_dir, buffering=0) as spare:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(spare.fileno(), 0, _BYTES)
            spare.write(bytes(_PAGE))
            os.fsync(spare.fileno())
    except PkmError as error:
        return error.message
    except OSError as error:
        is_full = error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
        return (FULL if is_full else FAILING).format(data_dir=file.data_dir)
    return None


def _write(connection: sqlite3.Connection) -> None:
    """Write the header of the file as it is."""
    with transaction(connection):
        connection.execute(f"PRAGMA user_version = {version(connection)}")
