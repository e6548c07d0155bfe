"""Texts that a model writes about several records: the summary of a saga, the communities of a group."""

from collections.abc import Sequence
from typing import Protocol

from graphiti_pkm.core.model.record import Record
from graphiti_pkm.core.model.saga_records import Saga
from graphiti_pkm.core.ports.extraction import ModelLedger


class Member(Record):
    """An entity as given to a model for its community."""

    uuid: str
    name: str
    text: str


class CommunityText(Record):
    """The name of a community and its summary."""

    name: str
    summary: str


class Summarizer(Protocol):
    """A model that summarises with Graphiti's prompts; does not write to the graph. Raises as ``Extractor``."""

    @property
    def model(self) -> str: ...

    async def summarize(self, saga: Saga, ledger: ModelLedger) -> Saga | None:
        """The saga with a summary that also covers its next episodes; None if there are none."""
        ...

    async def describe(self, members: Sequence[Member], ledger: ModelLedger) -> CommunityText:
        """Describe one community."""
        ...

    async def explain(self, pairs: Sequence[tuple[Member, Member]], ledger: ModelLedger) -> list[str]:
        """Of each pair in a sentence or two what speaks for and against both being the same; "" if nothing was said."""
        ...
