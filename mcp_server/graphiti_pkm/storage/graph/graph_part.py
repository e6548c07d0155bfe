"""The classes behind a port that one capability alone asks of the store: one for each kind of store."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

P = TypeVar("P")


@dataclass(frozen=True)
class GraphPart(Generic[P]):
    """The classes that answer a capability's port."""

    cypher: Callable[[Any], P]
    """For the databases that speak Cypher; it is given their ``OpenGraph``."""
    sqlite: Callable[[Any], P]
    """For the embedded file; it is given the ``OpenFile``."""
