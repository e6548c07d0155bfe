"""The id of a server among those that share its database; stored in the data directory."""

import os
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from graphiti_pkm.core.operating_system import publish

SERVER_ID = "server-id"


def server_id(data_dir: Path) -> str:
    """The id shared by all processes of this directory, created by the first. Raises OSError."""
    path = data_dir / SERVER_ID
    if not path.exists():
        data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        made = data_dir / f"{SERVER_ID}.{os.getpid()}.{uuid4().hex}"
        made.write_text(str(uuid4()), encoding="ascii")
        with suppress(FileExistsError):
            publish(made, path)
        made.unlink(missing_ok=True)
    return path.read_text(encoding="ascii").strip()
