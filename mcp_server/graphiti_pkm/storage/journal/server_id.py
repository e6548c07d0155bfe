"""Who a server is to the others of its database: a name that stays with the data directory."""

import os
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

_FILE = "server-id"


def server_id(data_dir: Path) -> str:
    """Of all processes of this directory, whoever asks first. Raises OSError."""
    path = data_dir / _FILE
    if not path.exists():
        data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        made = data_dir / f"{_FILE}.{os.getpid()}.{uuid4().hex}"
        made.write_text(str(uuid4()), encoding="ascii")
        with suppress(FileExistsError):
            os.link(made, path)  # whole or not at all, and never over another's
        made.unlink()
    return path.read_text(encoding="ascii").strip()
