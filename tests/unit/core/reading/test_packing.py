"""Values of a cursor."""

import random
import string
import uuid
from datetime import UTC, datetime, timedelta

import pytest

from graphiti_pkm.core.reading.packing import pack, unpack

NEARLY = [
    *("2026-01-01T00:00:00Z", "2026-01-01", "2026-01-01T00:00:00+02:00", "20260101T000000+00:00", "A" * 36, "0" * 32),
    *("", "0", "133AB579-6622-42A5-B7EA-7BCE96A45E1E", "Ünïcode 東京 🎉", "x" * 30, "x" * 31, "x" * 60_000),
    *("0001-01-01T00:00:00+00:00", "9999-12-31T23:59:59.999999+00:00", "1969-12-31T23:59:59.999999+00:00"),
]


def a_value(draw: random.Random) -> str | int:
    instant = datetime(1800, 1, 1, tzinfo=UTC) + timedelta(seconds=draw.randrange(10**10))
    return draw.choice(
        [
            draw.randrange(-(2 ** draw.randrange(1, 70)), 2 ** draw.randrange(1, 70)),
            str(uuid.UUID(int=draw.getrandbits(128))),
            instant.isoformat(),
            (instant + timedelta(microseconds=draw.randrange(10**6))).isoformat(),
            instant.replace(hour=0, minute=0, second=0).isoformat(),
            "".join(draw.choices(string.printable + "äß東🎉", k=draw.randrange(40))),
            draw.choice(NEARLY),
        ]
    )


def test_what_is_packed_comes_back_as_it_was() -> None:
    draw = random.Random(1)  # noqa: S311 (not for secrets)
    for _ in range(3_000):
        values = [a_value(draw) for _ in range(draw.randrange(6))]
        assert unpack(pack(values)) == values
    for value in (
        *NEARLY,
        *range(-300, 300),
        *(sign * 2**bits + off for bits in range(70) for sign in (1, -1) for off in (-1, 0, 1)),
    ):
        assert unpack(pack([value])) == [value]


@pytest.mark.parametrize(
    ("value", "size"),
    [
        ("133ab579-6622-42a5-b7ea-7bce96a45e1e", 17),
        ("2025-01-04T00:00:00+00:00", 3),
        ("2025-01-04T08:30:15.123456+00:00", 8),
        (0, 1),
        (-500_000, 4),
    ],
)
def test_values_of_cursors_are_short(value: str | int, size: int) -> None:
    assert len(pack([value])) == size
