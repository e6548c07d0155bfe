"""Draws a graph as SVG: deterministic, without scripts or external resources, for light and dark backgrounds."""

import math
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle, pairwise
from typing import Any

from graphiti_pkm.capabilities.scratch.drawing.lettering import Lettering, Spot
from graphiti_pkm.capabilities.scratch.drawing.picture import picture_of
from graphiti_pkm.capabilities.scratch.drawing.picture_texts import (
    FONT_SIZE,
    LINE,
    Box,
    boxed,
    cut_to,
    width_of,
    xml_text,
)
from graphiti_pkm.capabilities.scratch.drawing.placing import BEND, Point, Way
from graphiti_pkm.capabilities.scratch.limits import Content, ScratchEdge, ScratchNode
from graphiti_pkm.core.model.counted import counted
from graphiti_pkm.errors import InvalidInput

MOST_NODES = 300
MOST_EDGES = 1_000

_MARGIN = 16
_NARROWEST = 288
_STEP = 9
"""The distance between sample points on a line."""
_LONGEST_RELATION = 130
_LONGEST_NAMED = 160
"""For names in the legend."""
_SAMPLE = 28
"""The length of a line in the legend."""
_GREY = "#757d89"
"""For lines and their labels; it contrasts equally with white and black."""
_UNTYPED = ("#eef0f3", "#8b93a1")
_COLOURS = (
    ("#dbeafe", "#3b78d8"),
    ("#dcfce7", "#2f9e58"),
    ("#fef3c7", "#c58a12"),
    ("#fce7f3", "#c94f8f"),
    ("#ede9fe", "#7d5bd0"),
    ("#ffe4d5", "#d06a31"),
    ("#ccfbf1", "#1d958a"),
    ("#fee2e2", "#cf4a4a"),
    ("#e7f0c8", "#7c9420"),
    ("#e0e7ef", "#52708f"),
)
_MANY = ("#e5e1da", "#857a68")
"""For types for which no colour is left."""


def write_svg(content: Content) -> str:
    """A picture of the graph with a legend of its types.

    Raises:
        InvalidInput: the graph is too large for one picture.
    """
    return _drawing(content).drawn()


def _drawing(content: Content) -> "_Drawing":
    for what, many, most in (("nodes", len(content.nodes), MOST_NODES), ("edges", len(content.edges), MOST_EDGES)):
        if many > most:
            raise InvalidInput(
                f"A picture shows at most {most:,} {what}, and these are {many:,}. Nothing was changed: name fewer "
                "nodes, or those of the highest rank, or use the format dot and draw it with Graphviz."
            )
    return _Drawing(content)


_HEAD = (
    "<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='{height}' "
    "viewBox='{left} {top} {width} {height}' "
    f"font-family='Helvetica,Arial,sans-serif' font-size='{FONT_SIZE}' role='img'>"
)
_DASHES = ("7 3", "2 3", "10 3 2 3")
_MOST_OF = 0.5
"""The share of the edges above which a relation is said once."""
_PLAIN = (_GREY, "")


def _tip(colour: str) -> str:
    """The tip of arrows of a colour."""
    return (
        f"<defs><marker id='{_tip_id(colour)}' viewBox='0 0 8 8' refX='7.5' refY='4' markerWidth='6' markerHeight='6' "
        f"orient='auto'><path d='M0 0 8 4 0 8z' fill='{colour}'/></marker></defs>"
    )


def _tip_id(colour: str) -> str:
    return "tip" if colour == _GREY else f"tip{colour[1:]}"


def _strokes(relations: Sequence[str]) -> dict[str, tuple[str, str]]:
    """A colour and a dash for each relation."""
    return {name: (_COLOURS[at % len(_COLOURS)][1], _DASHES[at % len(_DASHES)]) for at, name in enumerate(relations)}


def _stroke(colour: str, dash: str) -> str:
    dashed = f" stroke-dasharray='{dash}'" if dash else ""
    return f"fill='none' stroke='{colour}' stroke-width='1.3'{dashed} marker-end='url(#{_tip_id(colour)})'"


class _Drawing:
    """One picture."""

    def __init__(self, content: Content) -> None:
        self._content = content
        self._number = {node.label: number for number, node in enumerate(content.nodes)}
        self._boxes = [boxed(node.label) for node in content.nodes]
        self._relations: dict[tuple[int, int], list[str]] = {}
        for edge in content.edges:
            ends = self._number[edge.source], self._number[edge.target]
            self._relations.setdefault(ends, []).append(edge.relation)
        names = Counter(edge.relation for edge in content.edges)
        self._only = next(iter(names)) if len(names) == 1 else None
        self._main = next((name for name, count in names.items() if count > _MOST_OF * names.total()), None)
        """The relation of most edges, which is said once below the picture."""
        self._names = [name for name, _ in names.most_common() if name != self._main]
        self._strokes = _strokes(self._names) if self._main else {}
        self._shown = {
            ends: "" if {*relations} == {self._main} else cut_to(", ".join(relations), _LONGEST_RELATION)
            for ends, relations in self._relations.items()
        }
        types = list(dict.fromkeys(node.type for node in content.nodes if node.type is not None))
        self._colours: dict[str | None, tuple[str, str]] = dict.fromkeys(types[len(_COLOURS) :], _MANY)
        self._colours |= dict(zip(types, _COLOURS, strict=False))
        self._colours[None] = _UNTYPED
        self.width = self.height = 0
        """In pixels, once it is drawn."""

    def drawn(self) -> str:
        sizes = [(float(box.width), float(box.height)) for box in self._boxes]
        edges = [ends for ends in self._relations if ends[0] != ends[1]]
        widths = {ends: width_of(shown) + 2 if shown else 0.0 for ends, shown in self._shown.items()}
        picture = picture_of(sizes, edges, widths)
        self._middles, ways = picture.middles, picture.ways
        curves = {ends: _curve(ways[ends]) if ends in ways else self._direct(*ends) for ends in self._relations}
        letters = Lettering(
            [(x, y, box.width, box.height) for (x, y), box in zip(self._middles, self._boxes, strict=True)],
            [points for _, points in curves.values()],
        )
        spots = letters.spots([(widths[ends], LINE) if self._shown[ends] else None for ends in curves])
        without_room = sum(bool(self._shown[ends]) and spot is None for ends, spot in zip(curves, spots, strict=True))
        if without_room and len(self._names) <= len(_COLOURS):
            self._strokes = _strokes(self._names)
        lines: dict[tuple[str, str], list[str]] = {_PLAIN: []}
        texts: dict[str, list[str]] = {}
        for (ends, (path, points)), spot in zip(curves.items(), spots, strict=True):
            stroke = next((self._strokes[one] for one in self._relations[ends] if one in self._strokes), _PLAIN)
            if spot is not None:
                text = f"<text x='{spot.x:.0f}' y='{spot.y + LINE * 0.25:.0f}'>{xml_text(self._shown[ends])}</text>"
                texts.setdefault(stroke[0], []).append(text)
            told = self._told(ends) if self._shown[ends] and (spot is None or "…" in self._shown[ends]) else ""
            line = f"<path d='{path}'{_interrupted(spot, stroke[1], points)}"
            lines.setdefault(stroke, []).append(f"{line}><title>{told}</title></path>" if told else f"{line}/>")
        left, top, right, bottom = letters.extent
        right = max(right, left + _NARROWEST)
        samples = self._strokes if without_room else {}
        legend, bottom = self._legend(left, bottom + _MARGIN, right, samples, without_room)
        frame = {
            "left": math.floor(left - _MARGIN),
            "top": math.floor(top - _MARGIN),
            "width": math.ceil(right - left + 2 * _MARGIN),
            "height": math.ceil(bottom - top + 2 * _MARGIN),
        }
        self.width, self.height = frame["width"], frame["height"]
        nodes, edge_count = len(self._content.nodes), len(self._content.edges)
        return "\n".join(
            [
                _HEAD.format(**frame),
                f"<title>{nodes} nodes, {edge_count} edges</title>",
                *(_tip(colour) for colour in dict.fromkeys(colour for colour, _ in (*lines, *samples.values()))),
                *(line for (colour, dash), paths in lines.items() for line in _group(_stroke(colour, dash), paths)),
                *self._rectangles(),
                *_group("fill='#1b2430' text-anchor='middle'", list(self._labels())),
                *(line for colour, shown in texts.items() for line in _group(_lettered(colour), shown)),
                *legend,
                "</svg>",
                "",
            ]
        )

    def _direct(self, source: int, target: int) -> tuple[str, list[Point]]:
        """A straight line between boxes; opposite edges bend apart, and a self-loop is a loop at the corner."""
        (x, y), (to_x, to_y) = self._middles[source], self._middles[target]
        box = self._boxes[source]
        if source == target:
            left, top = x + box.width / 2 - 26, y - box.height / 2
            path = f"M{left:.0f} {top:.0f}c-2 -16 20 -16 18 -1"
            return path, [(left, top), (left + 2, top - 12), (left + 16, top - 12), (left + 18, top)]
        begin = _edge_of_box((x, y), (to_x, to_y), box)
        end = _edge_of_box((to_x, to_y), (x, y), self._boxes[target])
        bend = BEND if (target, source) in self._relations else 0.0
        middle = (
            (begin[0] + end[0]) / 2 - (end[1] - begin[1]) * bend,
            (begin[1] + end[1]) / 2 + (end[0] - begin[0]) * bend,
        )
        if not bend:
            return f"M{_pair(begin)}L{_pair(end)}", _between(begin, end)
        points = _along(begin, _towards(begin, middle), _towards(end, middle), end)
        return f"M{_pair(begin)}Q{_pair(middle)} {_pair(end)}", points

    def _told(self, ends: tuple[int, int]) -> str:
        nodes = self._content.nodes
        return xml_text(f"{nodes[ends[0]].label} {', '.join(self._relations[ends])} {nodes[ends[1]].label}")

    def _rectangles(self) -> Iterator[str]:
        """The boxes, grouped by colour."""
        by_colour: dict[tuple[str, str], list[str]] = {}
        for node, (x, y), box in zip(self._content.nodes, self._middles, self._boxes, strict=True):
            place = f"x='{x - box.width / 2:.0f}' y='{y - box.height / 2:.0f}'"
            shape = f"<rect {place} width='{box.width}' height='{box.height}' rx='6'"
            by_colour.setdefault(self._colours[node.type], []).append(
                f"{shape}><title>{xml_text(node.label)}</title></rect>" if box.is_cut else f"{shape}/>"
            )
        for (fill, stroke), shapes in by_colour.items():
            yield from _group(f"fill='{fill}' stroke='{stroke}'", shapes)

    def _labels(self) -> Iterator[str]:
        for (x, y), box in zip(self._middles, self._boxes, strict=True):
            first = y - LINE * (len(box.lines) - 1) / 2 + FONT_SIZE * 0.35
            for number, line in enumerate(box.lines):
                yield f"<text x='{x:.0f}' y='{first + number * LINE:.0f}'>{xml_text(line)}</text>"

    def _legend(
        self, begin: float, top: float, end: float, samples: Mapping[str, tuple[str, str]], without_room: int
    ) -> tuple[list[str], float]:
        """Types with their colours, relations with their lines, the relation that is said once, labels left out.

        Also returns the new bottom edge.
        """
        named = {colour: str(kind) for kind, colour in self._colours.items() if kind is not None}
        if _MANY in named:
            named[_MANY] = "other types"
        if named and any(node.type is None for node in self._content.nodes):
            named[_UNTYPED] = "no type"
        rows, shapes = _Rows(begin, top, end), list[str]()
        for (fill, stroke), name in named.items():
            text = cut_to(name, _LONGEST_NAMED)
            x, y = rows.place(width_of(text) + 20)
            chip = f"x='{x:.0f}' y='{y:.0f}' width='{width_of(text) + 12:.0f}' height='20' rx='6'"
            shapes.append(f"<rect {chip} fill='{fill}' stroke='{stroke}'/>")
            shapes.append(f"<text x='{x + 6:.0f}' y='{y + 14:.0f}' fill='#1b2430'>{xml_text(text)}</text>")
        for name, stroke_of in samples.items():
            text = cut_to(name, _LONGEST_NAMED)
            x, y = rows.place(width_of(text) + _SAMPLE + 20)
            shapes += _group(_stroke(*stroke_of), [f"<path d='M{x:.0f} {y + 10:.0f}h{_SAMPLE}'/>"])
            shapes.append(_legend_text(x + _SAMPLE + 6, y, text))
        if self._main is not None:
            text = f"{'every edge' if self._only else 'unlabelled'}: {cut_to(self._main, 200)}"
            shapes.append(_legend_text(*rows.place(width_of(text) + 20), text))
        if without_room:
            where = "colours tell their relations" if samples else "each is shown when the pointer is over its line"
            text = f"{counted(without_room, 'label')} left out: {where}"
            shapes.append(_legend_text(*rows.place(width_of(text) + 20), text))
        return _group("font-size='11'", shapes), rows.top + 20 if shapes else top - _MARGIN


@dataclass
class _Rows:
    """Where the entries of a legend stand."""

    begin: float
    top: float
    end: float
    left: float = field(init=False)

    def __post_init__(self) -> None:
        self.left = self.begin

    def place(self, width: float) -> Point:
        """The left and top of the next entry, in a new row if it does not fit."""
        if self.left > self.begin and self.left + width > self.end:
            self.left, self.top = self.begin, self.top + 26
        x, self.left = self.left, self.left + width
        return x, self.top


def _legend_text(x: float, y: float, text: str) -> str:
    return f"<text x='{x:.0f}' y='{y + 14:.0f}' fill='{_GREY}'>{xml_text(text)}</text>"


def _lettered(colour: str) -> str:
    return f"fill='{colour}' font-size='{FONT_SIZE - 1}' text-anchor='middle'"


def _group(attributes: str, shapes: Sequence[str]) -> list[str]:
    return [f"<g {attributes}>", *shapes, "</g>"] if shapes else []


def _interrupted(spot: Spot | None, dash: str, points: Sequence[Point]) -> str:
    """The attribute of a line that makes room for a label on it, and has the dash of its relation around it."""
    if spot is None or spot.gap is None:
        return ""
    begin, end = spot.gap
    lengths: list[float] = [begin, end - begin]
    if dash:
        rest = sum(math.dist(one, other) for one, other in pairwise(points)) - end + _STEP
        lengths = [*_dashes(dash, begin), end - begin, *_dashes(dash, rest)]
    return f" stroke-dasharray='{' '.join(f'{length:.0f}' for length in lengths)} 9999'"


def _dashes(dash: str, length: float) -> Iterator[float]:
    """The dashes and gaps that fill a length; the last is a dash, if need be of length 0."""
    for number, part in enumerate(cycle(map(int, dash.split()))):
        yield max(0.0, min(part, length))
        length -= part
        if length <= 0 and number % 2 == 0:
            return


def _pair(point: Point) -> str:
    return f"{point[0]:.0f} {point[1]:.0f}"


def _edge_of_box(middle: Point, towards: Point, box: Box) -> Point:
    """The point where a line from the centre of a box leaves it."""
    x, y = towards[0] - middle[0], towards[1] - middle[1]
    share = min(box.width / 2 / abs(x) if x else 9e9, box.height / 2 / abs(y) if y else 9e9, 1.0)
    return middle[0] + x * share, middle[1] + y * share


def _towards(point: Point, middle: Point) -> Point:
    """Converts the control point of a quadratic curve to one of a cubic curve."""
    return point[0] + (middle[0] - point[0]) * 2 / 3, point[1] + (middle[1] - point[1]) * 2 / 3


def _between(begin: Point, end: Point) -> list[Point]:
    steps = max(4, round(math.dist(begin, end) / _STEP))
    return [
        (begin[0] + (end[0] - begin[0]) * at / steps, begin[1] + (end[1] - begin[1]) * at / steps)
        for at in range(steps + 1)
    ]


def _along(begin: Point, first: Point, second: Point, end: Point) -> list[Point]:
    """Sample points of a cubic curve."""
    steps = max(4, round(math.dist(begin, end) / _STEP))
    corners = begin, first, second, end
    points = []
    for number in range(steps + 1):
        at = number / steps
        shares = (1 - at) ** 3, 3 * (1 - at) ** 2 * at, 3 * (1 - at) * at**2, at**3
        points.append(
            (
                sum(share * corner[0] for share, corner in zip(shares, corners, strict=True)),
                sum(share * corner[1] for share, corner in zip(shares, corners, strict=True)),
            )
        )
    return points


def _curve(way: Way) -> tuple[str, list[Point]]:
    """A smooth line: straight within layers, curved between them."""
    path, points = f"M{_pair(way.points[0])}", [way.points[0]]
    for number, (begin, end) in enumerate(pairwise(way.points)):
        if number % 2 == 0:
            if _pair(begin) != _pair(end):
                path += f"L{_pair(end)}"
                points += _between(begin, end)[1:]
            continue
        first = _bent(way.points[number - 1], begin, end, across=way.across)
        second = _bent(way.points[number + 2], end, begin, across=way.across)
        path += f"C{_pair(first)} {_pair(second)} {_pair(end)}"
        points += _along(begin, first, second, end)[1:]
    return path, points


def _bent(before: Point, begin: Point, end: Point, *, across: bool) -> Point:
    """The control point halfway to the end, in the direction of the line so far."""
    main, side = (0, 1) if across else (1, 0)
    run = begin[main] - before[main]
    steep = (begin[side] - before[side]) / run if abs(run) >= 1 else 0.0
    half = (end[main] - begin[main]) / 2
    moved = begin[main] + half, begin[side] + steep * half
    return moved if across else (moved[1], moved[0])


def drawn(
    nodes: Sequence[tuple[str, str | None]],
    edges: Sequence[tuple[str, str, str]],
    *,
    as_png: bool = False,
) -> Iterator[dict[str, Any]]:
    """The job of the worker process: yields the picture of nodes (label, type) and edges (source, target, relation).

    Raises:
        InvalidInput: the graph is too large for one picture, or there is nothing that renders PNG.
    """
    content = Content(
        tuple(ScratchNode(label, kind) for label, kind in nodes), tuple(ScratchEdge(*edge) for edge in edges)
    )
    drawing = _drawing(content)
    svg = drawing.drawn()
    if as_png:
        from graphiti_pkm.capabilities.scratch.drawing.png import rendered  # noqa: PLC0415  (only where it is asked for)

        yield {"png": b64encode(rendered(svg, drawing.width, drawing.height)).decode()}
    else:
        yield {"svg": svg, "width": drawing.width, "height": drawing.height}
