"""PNG: rendered by what is installed, with letters, or an error that says what to do."""

import random

import pytest

from graphiti_pkm.capabilities.scratch.drawing import png
from graphiti_pkm.capabilities.scratch.drawing.svg import drawn
from graphiti_pkm.errors import InvalidInput

NODES, EDGES = (("deploy", None), ("outage", "effect")), (("deploy", "outage", "causes"),)


def size_of(content: bytes) -> tuple[int, int]:
    """Width and height of a PNG."""
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    return int.from_bytes(content[16:20]), int.from_bytes(content[20:24])


@pytest.mark.parametrize("name", ["resvg_py"])
def test_a_small_picture_is_enlarged_and_has_its_letters(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(png, "RENDERERS", {name: png.RENDERERS[name]})
    (found,) = drawn(NODES, EDGES)
    content = png.rendered(found["svg"], found["width"], found["height"])
    assert size_of(content) == (2 * found["width"], 2 * found["height"])
    blank = png.rendered(found["svg"].replace(">deploy<", "><"), found["width"], found["height"])
    assert content != blank


def test_a_large_picture_is_made_smaller() -> None:
    svg = "<svg xmlns='http://www.w3.org/2000/svg' width='9000' height='6000'><rect width='9000' height='6000'/></svg>"
    width, height = size_of(png.rendered(svg, 9_000, 6_000))
    assert width * height <= 8_010_000
    assert width / height == pytest.approx(1.5, rel=0.01)


def test_a_picture_of_many_bytes_is_made_smaller() -> None:
    dice = random.Random(1)  # noqa: S311
    places = ((dice.randrange(1_600), dice.randrange(1_600), dice.randrange(16**6)) for _ in range(80_000))
    dots = "".join(f"<rect x='{x}' y='{y}' width='4' height='4' fill='#{colour:06x}'/>" for x, y, colour in places)
    svg = f"<svg xmlns='http://www.w3.org/2000/svg' width='1600' height='1600'>{dots}</svg>"
    content = png.rendered(svg, 1_600, 1_600)
    assert len(content) <= 700_000
    assert size_of(content)[0] < 1_600


def test_without_a_renderer_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(png, "RENDERERS", {})
    assert png.installed() is None
    with pytest.raises(InvalidInput, match=r"graphiti-pkm\[png\]"):
        list(drawn(NODES, EDGES, as_png=True))
