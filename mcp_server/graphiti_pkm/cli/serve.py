"""``serve``: the MCP server. Heavy modules are imported after the first client got its list of tools."""

import gc
import logging
import sys
from contextlib import AbstractAsyncContextManager
from importlib.metadata import version

from graphiti_pkm.core.ports.metrics import UNCOUNTED, Counted, Metrics
from graphiti_pkm.server.app import run
from graphiti_pkm.server.backend import Start
from graphiti_pkm.server.observability.logging import configure_logging
from graphiti_pkm.settings.loader import LoadedSettings, Settings
from graphiti_pkm.toolkit.services import Services

_log = logging.getLogger(__name__)


def serve(loaded: LoadedSettings) -> int:
    """Serve until the client closes the connection or the server is stopped."""
    settings = loaded.settings
    configure_logging(settings.log_level, settings.log_format)

    def starting() -> None:
        _log.info("starting", extra={"event": _effective(loaded)})
        for note in (*loaded.warnings, *loaded.notes):
            _log.warning("%s", note)
        if settings.transport == "stdio" and sys.stdin.isatty():
            _log.warning(
                "waiting for an MCP client on stdin; clients normally start this command themselves. Press Ctrl-C to "
                "stop"
            )

    def parts() -> tuple[Start, Counted | None]:
        counted = _counted(settings)
        return lambda: _open(settings, counted or UNCOUNTED), counted

    run(settings, parts, starting)
    return 0


def _effective(loaded: LoadedSettings) -> dict[str, object]:
    """The fields of the first line in the log."""
    changed = {
        name: {"value": value, "origin": origin} for name, value, origin in loaded.effective() if origin != "default"
    }
    return {
        "version": version("graphiti-pkm"),
        "data_dir": str(loaded.settings.data_dir),
        "transport": loaded.settings.transport,
        **_address(loaded.settings),
        "env_file": str(loaded.env_file) if loaded.env_file else None,
        "settings": changed,
    }


def _address(settings: Settings) -> dict[str, str]:
    """The address for clients."""
    if settings.transport == "stdio":
        return {}
    from graphiti_pkm.server.transports.http import SSE_PATH  # noqa: PLC0415  (stdio starts faster without a web server)

    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return {"url": f"http://{host}:{settings.port}{SSE_PATH if settings.transport == 'sse' else settings.path}"}


def _counted(settings: Settings) -> Counted | None:
    """The metrics collector if metrics are on; over stdio nobody could read them."""
    if not settings.metrics or settings.transport == "stdio":
        return None
    from graphiti_pkm.server.observability.prometheus import PrometheusMetrics  # noqa: PLC0415  (imported only if metrics are on)

    return PrometheusMetrics()


def _open(settings: Settings, metrics: Metrics) -> AbstractAsyncContextManager[Services]:
    # Called in a thread, because this imports the database client, Graphiti and NumPy.
    try:
        from graphiti_pkm.bootstrap import open_services  # noqa: PLC0415
    finally:
        gc.freeze()
        gc.enable()  # ``main`` turned it off during the imports
    return open_services(settings, metrics)
