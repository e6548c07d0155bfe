"""No edge of a picture passes under a box that it does not touch: it would read as two edges that there are not."""

import pytest
from tests.unit.capabilities.scratch.drawing.test_pictures import boxes_of, lines_of, some_graph

from graphiti_pkm.capabilities.scratch.formats.registry import write
from graphiti_pkm.capabilities.scratch.limits import Content, ScratchEdge, ScratchNode

_CLIENT = {
    "_client": "_auth _config _decoders _exceptions _models _status_codes _transports _types _urls _utils",
    "_models": "_content _decoders _exceptions _multipart _status_codes _types _urls _utils",
    "_auth": "_exceptions _models _utils",
    "_types": "_auth _config _models _urls",
    "_config": "_models _types _urls _utils",
    "_content": "_exceptions _multipart _types _utils",
    "_exceptions": "_models",
    "_multipart": "_types _utils",
    "_transports": "_config _exceptions _models _types _urls",
    "_urls": "_types _utils",
    "_utils": "_types _urls",
    "_decoders": "_exceptions",
}
"""Modules of an HTTP client and what they import, with cycles."""


def passed_under(picture: str, nodes: int) -> list[tuple[float, float]]:
    """The points of lines that are in a box at which the line neither begins nor ends."""
    boxes = boxes_of(picture)[:nodes]
    found = []
    for line in lines_of(picture):
        ends = (line[0], line[-1])
        others = [box for box in boxes if not any(_is_in(end, box, -2) for end in ends)]
        found += [point for point in line if any(_is_in(point, box, 1) for box in others)]
    return found


def _is_in(point: tuple[float, float], box: tuple[float, float, float, float], deep: float) -> bool:
    x, y = point
    left, top, right, bottom = box
    return left + deep <= x <= right - deep and top + deep <= y <= bottom - deep


@pytest.mark.parametrize(("nodes", "edges"), [(6, 10), (10, 30), (25, 40), (40, 60), (60, 150)])
@pytest.mark.parametrize("circles", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_no_edge_passes_under_a_box_of_another_node(nodes: int, edges: int, seed: int, *, circles: bool) -> None:
    content = some_graph(nodes, edges, seed, circles=circles)
    assert passed_under(write(content, "svg"), nodes) == []


@pytest.mark.parametrize("most", [8, 10, 13])
def test_no_import_of_modules_in_cycles_passes_under_another_module(most: int) -> None:
    kept = list(_CLIENT)[:most]
    edges = [(one, other) for one in kept for other in _CLIENT[one].split() if other in kept]
    content = Content(
        tuple(ScratchNode(label, "module") for label in kept),
        tuple(ScratchEdge(one, other, "imports") for one, other in edges),
    )
    assert passed_under(write(content, "svg"), len(kept)) == []
