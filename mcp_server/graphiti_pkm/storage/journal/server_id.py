"""The id of a server among those that share its database; stored in the data directory."""

from pathlib import Path
from uuid import UUID, uuid4

from graphiti_pkm.storage.journal.shared_text import shared_text

SERVER_ID = "server-id"


def server_id(data_dir: Path) -> str:
    """The id shared by all processes of this directory, created by the first. Raises OSError."""
    return shared_text(data_dir / SERVER_ID, lambda: str(uuid4()), _is_uuid)


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True
