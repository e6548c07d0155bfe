"""Records in the order in which they were asked for; a database returns them in its own."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, TypeVar


class _WithUuid(Protocol):
    @property
    def uuid(self) -> str: ...


_Record = TypeVar("_Record", bound=_WithUuid)


def in_order(uuids: Sequence[str], found: Iterable[_Record]) -> list[_Record]:
    """Those of ``uuids`` that were found."""
    by_uuid = {record.uuid: record for record in found}
    return [by_uuid[uuid] for uuid in uuids if uuid in by_uuid]


def as_asked(uuids: Sequence[str], held: Mapping[str, _Record]) -> list[_Record]:
    """Those found under ``uuids``, each once where it is asked for under its own uuid or first under a former one."""
    own = set(uuids)
    found: dict[str, _Record] = {}
    order: list[_Record] = []
    for uuid in uuids:
        record = held.get(uuid)
        if record is None or (record.uuid != uuid and (record.uuid in own or record.uuid in found)):
            continue
        found[record.uuid] = record
        order.append(record)
    return order
