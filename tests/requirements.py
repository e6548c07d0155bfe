"""Which catalogue rows this project claims, tied to tests both ways.

A test claims rows with ``@requirement("G-04", "G-06")``, at most three, so that a claim means something. The check
in ``tests/unit/docs/test_requirements.py`` fails on a row without a test, on a claim of a row not listed here, and on a
test that claims more than three.
"""

from collections.abc import Callable
from typing import TypeVar

_T = TypeVar("_T", bound=Callable[..., object])


def _rows(prefix: str, *numbers: int | range) -> list[str]:
    flat = [n for number in numbers for n in (number if isinstance(number, range) else (number,))]
    return [f"{prefix}{n:02d}" for n in flat]


ROWS: frozenset[str] = frozenset(
    _rows("B-", 1, 5)
    + _rows("E-", 7, 43, 61)
    + _rows("E-", range(1, 6), 8, 9, 10, 13, 37, 40, 44, 46, 93, 95, range(101, 106))  # what scratch graphs are for
    + _rows("G-", range(1, 73), 74, 75, 77, 78, range(79, 84))
    + _rows("M-", range(6, 10), 13, 14, 40, range(70, 74), range(80, 98), 101)
    + _rows("C", 16, range(17, 23), 24, 25, 27, 28, 31, 41, range(43, 46), range(51, 57))
    + _rows("K-", range(1, 5), range(7, 12), 50)
    + _rows("E-", 11, 12, 14, 15, 32, 50, range(67, 74), 75, 94, 97)  # analyses
    + _rows("T", 65, 73)
    + _rows("E-", range(2, 5), 6, 13, range(15, 37), range(38, 46))  # scratch graphs
    + _rows("E-", range(47, 50), range(51, 61), range(62, 67), 74, range(84, 90), 102, 103)
    + _rows("C", range(33, 39), 40)
    + _rows("T", 56, 58, 59, 69, 71, 72)
    + _rows("E-", 90, 91, 98)  # the bridge to memory
    + _rows("C", 14, 42)
    + _rows("E-", range(76, 84), 96, 99, 100)  # texts and pictures
    + _rows("C", 39)
    + _rows("T", 66, 67)
    + _rows("T", range(60, 65))
    + _rows("T", range(2, 6), 7, 8, 10, range(15, 28), range(29, 40), 42, 43, 44, range(51, 56), 57, 68, 70, 87, 88)
)

MOST_ROWS_A_TEST = 3


def requirement(*rows: str) -> Callable[[_T], _T]:
    """Mark a test as the one that shows these catalogue rows."""

    def mark(test: _T) -> _T:
        test.__requirements__ = rows  # type: ignore[attr-defined]
        return test

    return mark
