"""What a model makes of several records at once: the summary of a saga, the communities of a group."""

from collections.abc import Sequence
from typing import Protocol

from graphiti_pkm.core.model.record import Record
from graphiti_pkm.core.model.saga_records import Saga
from graphiti_pkm.core.ports.extraction import ModelLedger


class Member(Record):
    """An entity as a model reads it for its community."""

    uuid: str
    name: str
    text: str


class CommunityDigest(Record):
    """What a community is called, and what is said of it."""

    name: str
    summary: str


class Digester(Protocol):
    """A model with Graphiti's prompts; writes nothing to the graph. Raises as ``Extractor``."""

    @property
    def model(self) -> str: ...

    async def summarize(self, saga: Saga, ledger: ModelLedger) -> Saga | None:
        """The saga with a summary that covers the next of its episodes too; None if there are no further ones."""
        ...

    async def describe(self, members: Sequence[Member], ledger: ModelLedger) -> CommunityDigest:
        """One community."""
        ...
