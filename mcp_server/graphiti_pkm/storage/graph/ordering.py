"""Records in the order in which they were asked for; a database returns them in its own."""

from collections.abc import Iterable, Sequence
from typing import Protocol, TypeVar


class _WithUuid(Protocol):
    @property
    def uuid(self) -> str: ...


_Record = TypeVar("_Record", bound=_WithUuid)


def in_order(uuids: Sequence[str], found: Iterable[_Record]) -> list[_Record]:
    """Those of ``uuids`` that were found."""
    by_uuid = {record.uuid: record for record in found}
    return [by_uuid[uuid] for uuid in uuids if uuid in by_uuid]
