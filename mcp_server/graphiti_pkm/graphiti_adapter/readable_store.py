"""What Graphiti's pipeline requires of a store; every kind of store implements it."""

from typing import Any, Protocol

from graphiti_pkm.core.ports.graph import GraphEpisodes, GraphRecords, GraphSagas


class ReadableStore(Protocol):
    """Reads of a store, and Graphiti's searches over it."""

    @property
    def records(self) -> GraphRecords: ...
    @property
    def episodes(self) -> GraphEpisodes: ...
    @property
    def sagas(self) -> GraphSagas: ...

    def graphiti_search(self, *, for_model: bool = False) -> Any:
        """Graphiti's ``SearchInterface``; ``for_model`` restricts it to facts that a new one may repeat or contradict.

        This imports graphiti_core, which is slow: call it in a thread, or after graphiti_core is loaded.
        """
        ...
