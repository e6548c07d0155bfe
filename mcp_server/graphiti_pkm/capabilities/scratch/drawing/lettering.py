"""Places edge labels in a picture: beside their own edge, without covering boxes or other labels."""

from collections.abc import Iterator, Sequence

from graphiti_pkm.capabilities.scratch.drawing.placing import Point

_CELL = 24
_MOST_TOUCHED = 4
"""Points of other lines that a label may cover and still be readable."""

_FARTHER = 0.05
"""The cost of each step away from the middle of the edge, in covered points."""
_MOST_PLACES = 24


class Lettering:
    """Keeps track of occupied areas in a grid."""

    def __init__(self, boxes: Sequence[tuple[float, float, float, float]], lines: Sequence[Sequence[Point]]) -> None:
        """``boxes``: centre, width and height; ``lines``: points along each edge."""
        self._taken: dict[tuple[int, int], list[tuple[float, float, float, float]]] = {}
        self._touched: dict[tuple[int, int], list[Point]] = {}
        self.extent = (0.0, 0.0, 0.0, 0.0)
        """Left, top, right and bottom of everything drawn."""
        for x, y, width, height in boxes:
            self._take((x - width / 2 - 2, y - height / 2 - 2, x + width / 2 + 2, y + height / 2 + 2))
        for line in lines:
            xs, ys = [x for x, _ in line], [y for _, y in line]
            self._widen((min(xs), min(ys), max(xs), max(ys)))
            for x, y in line:
                self._touched.setdefault((int(x // _CELL), int(y // _CELL)), []).append((x, y))

    def spot(self, points: Sequence[Point], width: float, height: float) -> Point | None:
        """The centre and baseline for a label beside its edge; None if there is no room."""
        best: tuple[float, Point, tuple[float, float, float, float]] | None = None
        for rank, (x, y) in enumerate(_candidates(points, width, height)):
            area = (x - width / 2, y - height / 2, x + width / 2, y + height / 2)
            if any(_overlap(area, other) for cell in _cells(area) for other in self._taken.get(cell, ())):
                continue
            most = _MOST_TOUCHED if best is None else min(_MOST_TOUCHED, best[0])
            cost = self._covered(area, most) + rank * _FARTHER
            if cost <= most:
                best = (cost, (x, y + height * 0.25), area)
        if best is None:
            return None
        self._take(best[2])
        return best[1]

    def _covered(self, area: tuple[float, float, float, float], most: float) -> int:
        """The number of line points in an area; counting stops above ``most``."""
        covered = 0
        for cell in _cells(area):
            for x, y in self._touched.get(cell, ()):
                if area[0] <= x <= area[2] and area[1] <= y <= area[3]:
                    covered += 1
                    if covered > most:
                        return covered
        return covered

    def _widen(self, area: tuple[float, float, float, float]) -> None:
        self.extent = (
            min(self.extent[0], area[0]),
            min(self.extent[1], area[1]),
            max(self.extent[2], area[2]),
            max(self.extent[3], area[3]),
        )

    def _take(self, area: tuple[float, float, float, float]) -> None:
        self._widen(area)
        for cell in _cells(area):
            self._taken.setdefault(cell, []).append(area)


def _candidates(points: Sequence[Point], width: float, height: float) -> Iterator[Point]:
    """Candidate centres, from the middle of the edge outwards: above or below flat parts, beside steep ones."""
    middle = len(points) // 2
    steps = sorted(range(1, len(points) - 1), key=lambda at: abs(at - middle))
    for at in steps[:_MOST_PLACES]:
        (before_x, before_y), (x, y), (after_x, after_y) = points[at - 1], points[at], points[at + 1]
        run, rise = abs(after_x - before_x), abs(after_y - before_y)
        if run >= rise:
            lift = height / 2 + 1 + min(rise / max(run, 1) * width / 2, height)
            yield x, y - lift
            yield x, y + lift
        else:
            shift = width / 2 + 4 + min(run / max(rise, 1) * height / 2, 6)
            yield x + shift, y
            yield x - shift, y


def _cells(area: tuple[float, float, float, float]) -> Iterator[tuple[int, int]]:
    for column in range(int(area[0] // _CELL), int(area[2] // _CELL) + 1):
        for row in range(int(area[1] // _CELL), int(area[3] // _CELL) + 1):
            yield column, row


def _overlap(one: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
