"""Graphiti on our graph: its pipeline, which only reads, and its driver for whoever uses Graphiti itself.

What is done with the pipeline's results is decided in ``extraction``.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphiti_pkm.graphiti_adapter.sqlite_driver.driver import SqliteDriver as SqliteDriver

__all__ = ["SqliteDriver"]


def __getattr__(name: str) -> Any:
    """``SqliteDriver`` on first use: graphiti_core takes a second to import."""
    if name == "SqliteDriver":
        from graphiti_pkm.graphiti_adapter.sqlite_driver.driver import SqliteDriver  # noqa: PLC0415

        return SqliteDriver
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
