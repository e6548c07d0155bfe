"""What is read of documents and of evidence."""

from graphiti_pkm.core.model.document_records import Instance, Placed
from graphiti_pkm.core.model.record import Record
from graphiti_pkm.core.model.records import Passage


class InstanceRow(Record):
    """A quote with the places of its ends."""

    instance: Instance
    placed: Placed
    first: Passage
    last: Passage
    around: tuple[int, int]
    """The paragraph, as ``[start, end)`` in the episode."""


class DocumentCounts(Record):
    """How many documents a group has, whatever their versions, and quotes from them."""

    documents: int
    quotes: int


class InstancePage(Record):
    """Quotes with the sort key of each, and the total under the same filter."""

    rows: tuple[InstanceRow, ...]
    keys: tuple[tuple[str | int, ...], ...]
    total: int
