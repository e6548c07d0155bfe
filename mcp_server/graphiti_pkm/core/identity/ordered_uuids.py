"""Uuids of records that one write makes in an order: they sort as these do, since lists show by uuid what has one time.

The version 8 tells that their order counts, so that the uuids of copies sort alike.
"""

import re
from uuid import UUID, uuid4, uuid5

_ORDERED = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
_DIGITS = 12
"""Before the digit of the version."""
_ALL = 16**_DIGITS
_WHOLE = 2**16


def ordered_uuids(count: int) -> list[str]:
    """New uuids in their order."""
    return sorted(f"{one[:14]}8{one[15:]}" for one in (str(uuid4()) for _ in range(count)))


def uuid_of_copy(namespace: UUID, original: str) -> str:
    """Always the same one for an original; those of ordered ones are ordered too."""
    copy = str(uuid5(namespace, original))
    if not _ORDERED.fullmatch(original):
        return copy
    place = int(original[:8] + original[9:13], 16)
    # A rising curve, bent by the namespace from a quarter to three quarters: a copy begins with digits of its own.
    bend = _WHOLE // 4 + int.from_bytes(namespace.bytes[:2]) // 2
    digits = f"{place + bend * place * (_ALL - place) // (_WHOLE * _ALL):0{_DIGITS}x}"
    return f"{digits[:8]}-{digits[8:]}-8{copy[15:]}"
