"""``serve``: the MCP server; what is heavy is imported when the first client has its list of tools."""

from contextlib import AbstractAsyncContextManager

from graphiti_pkm.config import LoadedSettings, Settings
from graphiti_pkm.server import run
from graphiti_pkm.services.services import Services


def serve(loaded: LoadedSettings) -> int:
    """Serve until the client closes the connection or the operator stops it."""
    run(loaded.settings, lambda: _open(loaded.settings))
    return 0


def _open(settings: Settings) -> AbstractAsyncContextManager[Services]:
    # Called in a thread: this import brings the database client, Graphiti and numpy.
    from graphiti_pkm.bootstrap import open_services  # noqa: PLC0415

    return open_services(settings)
