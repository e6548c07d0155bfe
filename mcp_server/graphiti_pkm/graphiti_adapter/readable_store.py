"""What Graphiti's pipeline asks of a store; each kind of store has it."""

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
        """Graphiti's ``SearchInterface``; ``for_model``: only facts that a new one may repeat or contradict.

        Imports graphiti_core, which takes long: to be called off the event loop, or after it is loaded.
        """
        ...
