"""Places edge labels in a picture: beside or on their own edge and no other, without covering boxes or other labels."""

import math
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from graphiti_pkm.capabilities.scratch.drawing.placing import Point

_CELL = 24
_CLEAR = 4.5
"""The distance that a label keeps from every line but its own, to which it is nearer."""
_BESIDE = 2.0
"""The distance that it keeps from its own."""
_SPACING = 6
"""Points along a line are at least so far apart."""
_MOST_PLACES = 60
_LEAST_LEFT = 14
"""What stays of a line before and after its label."""
_BENT = 9
"""How far a line may stray from a straight one through its label."""

_Area = tuple[float, float, float, float]
"""Left, top, right and bottom."""


class Spot(NamedTuple):
    """The centre of a label."""

    x: float
    y: float
    gap: tuple[float, float] | None = None
    """Where its own line is interrupted for it, from and to, as lengths along the line."""


class Lettering:
    """Keeps track of occupied areas in a grid."""

    def __init__(self, boxes: Sequence[_Area], lines: Sequence[Sequence[Point]]) -> None:
        """``boxes``: centre, width and height; ``lines``: points along each edge."""
        self._taken: dict[tuple[int, int], list[_Area]] = {}
        self._touched: dict[tuple[int, int], list[tuple[float, float, int]]] = {}
        self._lines = lines
        self.extent = (0.0, 0.0, 0.0, 0.0)
        """Left, top, right and bottom of everything drawn."""
        for x, y, width, height in boxes:
            self._take((x - width / 2 - 2, y - height / 2 - 2, x + width / 2 + 2, y + height / 2 + 2))
        for number, line in enumerate(lines):
            xs, ys = [x for x, _ in line], [y for _, y in line]
            self._widen((min(xs), min(ys), max(xs), max(ys)))
            for x, y in line:
                self._touched.setdefault((int(x // _CELL), int(y // _CELL)), []).append((x, y, number))

    def spots(self, sizes: Sequence[tuple[float, float] | None]) -> list[Spot | None]:
        """For each line where its label of this width and height stands; None if there is no room.

        Short lines come first, since they have the fewest places. A label interrupts its line if there is no room
        beside it.
        """
        found: list[Spot | None] = [None] * len(sizes)
        order = sorted(range(len(sizes)), key=lambda number: (len(self._lines[number]), number))
        for places in (self._beside, self._between):
            for number in order:
                if found[number] is None and (size := sizes[number]) is not None:
                    found[number] = next(places(number, *size), None)
                    if (spot := found[number]) is not None:
                        self._take(_area(spot.x, spot.y, *size))
        return found

    def _beside(self, number: int, width: float, height: float) -> Iterator[Spot]:
        for x, y in _candidates(self._lines[number], width, height):
            area = _area(x, y, width, height)
            if self._is_free(area) and self._is_apart(area, number, on_own=False):
                yield Spot(x, y)

    def _between(self, number: int, width: float, height: float) -> Iterator[Spot]:
        points = self._lines[number]
        lengths = [0.0, *accumulate(math.dist(one, other) for one, other in pairwise(points))]
        for at in _from_the_middle(points):
            x, y = points[at]
            area = _area(x, y, width, height)
            begin, end = _passed(points[at - 1], points[at + 1], width, height)
            gap = lengths[at] + begin, lengths[at] + end
            if gap[0] < _LEAST_LEFT or gap[1] > lengths[-1] - _LEAST_LEFT:
                continue
            if not (self._is_free(area) and self._is_apart(area, number, on_own=True)):
                continue
            if all(
                gap[0] - _BENT <= length <= gap[1] + _BENT
                for length, point in zip(lengths, points, strict=True)
                if _holds(area, point)
            ):
                yield Spot(x, y, gap)

    def _is_free(self, area: _Area) -> bool:
        return not any(_overlap(area, other) for cell in _cells(area) for other in self._taken.get(cell, ()))

    def _is_apart(self, area: _Area, own: int, *, on_own: bool) -> bool:
        """Whether no other line comes near the area, and its own line does not cross it unless it is ``on_own``."""
        left, top, right, bottom = area
        low_x, low_y, high_x, high_y = left - _CLEAR, top - _CLEAR, right + _CLEAR, bottom + _CLEAR
        for cell in _cells((low_x, low_y, high_x, high_y)):
            for x, y, number in self._touched.get(cell, ()):
                if low_x <= x <= high_x and low_y <= y <= high_y:
                    if number != own:
                        return False
                    if not on_own and left <= x <= right and top <= y <= bottom:
                        return False
        return True

    def _widen(self, area: _Area) -> None:
        self.extent = (
            min(self.extent[0], area[0]),
            min(self.extent[1], area[1]),
            max(self.extent[2], area[2]),
            max(self.extent[3], area[3]),
        )

    def _take(self, area: _Area) -> None:
        self._widen(area)
        for cell in _cells(area):
            self._taken.setdefault(cell, []).append(area)


def _candidates(points: Sequence[Point], width: float, height: float) -> Iterator[Point]:
    """Candidate centres, from the middle of the edge outwards: above or below flat parts, beside steep ones."""
    reach = int(max(width, height) / _SPACING) + 1
    for at in _from_the_middle(points):
        (before_x, before_y), (x, y), (after_x, after_y) = points[at - 1], points[at], points[at + 1]
        is_flat = abs(after_x - before_x) >= abs(after_y - before_y)
        around = points[max(0, at - reach) : at + reach + 1]
        if is_flat:
            along = [other_y for other_x, other_y in around if abs(other_x - x) <= width / 2]
            yield x, min(along) - _BESIDE - height / 2
            yield x, max(along) + _BESIDE + height / 2
        else:
            along = [other_x for other_x, other_y in around if abs(other_y - y) <= height / 2]
            yield max(along) + _BESIDE + width / 2, y
            yield min(along) - _BESIDE - width / 2, y


def _from_the_middle(points: Sequence[Point]) -> list[int]:
    middle = len(points) // 2
    return sorted(range(1, len(points) - 1), key=lambda at: abs(at - middle))[:_MOST_PLACES]


def _passed(before: Point, after: Point, width: float, height: float) -> tuple[float, float]:
    """How far before and after its middle a line of this direction passes the edge of a label."""
    run, rise = abs(after[0] - before[0]), abs(after[1] - before[1])
    length = math.hypot(run, rise) or 1.0
    half = min(width / 2 * length / run if run else math.inf, height / 2 * length / rise if rise else math.inf)
    return -half, half


def _area(x: float, y: float, width: float, height: float) -> _Area:
    return x - width / 2, y - height / 2, x + width / 2, y + height / 2


def _holds(area: _Area, point: Point) -> bool:
    return area[0] <= point[0] <= area[2] and area[1] <= point[1] <= area[3]


def _cells(area: _Area) -> Iterator[tuple[int, int]]:
    for column in range(int(area[0] // _CELL), int(area[2] // _CELL) + 1):
        for row in range(int(area[1] // _CELL), int(area[3] // _CELL) + 1):
            yield column, row


def _overlap(one: _Area, other: _Area) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
