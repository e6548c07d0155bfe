"""Renders a picture as PNG, with a renderer that may be installed beside this package; it needs none itself."""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec

from graphiti_pkm.errors import InvalidInput

_WIDE = 1_600
"""Pixels that a small picture is enlarged to."""
_MOST_ENLARGED = 2.0
_MOST_PIXELS = 8_000_000
_MOST_BYTES = 700_000
"""In base64 they stay below the 1 MiB that clients accept."""
_FAMILIES = (
    *("Helvetica", "Arial", "Liberation Sans", "DejaVu Sans", "Noto Sans", "Segoe UI", "Helvetica Neue", "Roboto"),
    *("Open Sans", "Ubuntu", "Cantarell", "FreeSans"),
)
_LETTER = "<svg xmlns='http://www.w3.org/2000/svg' width='20' height='20'><text y='16' font-family='{}'>{}</text></svg>"


def _by_cairo(svg: str, scale: float) -> bytes:
    png: bytes = import_module("cairosvg").svg2png(bytestring=svg.encode(), scale=scale, background_color="white")
    return png


def _by_resvg(svg: str, scale: float) -> bytes:
    return _resvg(svg, zoom=scale, background="white", sans_serif_family=_installed_family())


def _resvg(svg: str, **options: object) -> bytes:
    return bytes(import_module("resvg_py").svg_to_bytes(svg_string=svg, **options))


@cache
def _installed_family() -> str:
    """A font of this machine; resvg leaves out the text of any other, and does not say which there are."""
    blank = _resvg(_LETTER.format("", ""))
    for family in _FAMILIES:
        if _resvg(_LETTER.format(family, "M")) != blank:
            return family
    raise InvalidInput(f"No font for a PNG is installed here, e.g. {_FAMILIES[2]}. The address with .svg needs none.")


RENDERERS: dict[str, Callable[[str, float], bytes]] = {"cairosvg": _by_cairo, "resvg_py": _by_resvg}
"""By module, in order of preference; each takes an SVG and a scale."""


def installed() -> str | None:
    """The renderer that is used; None if there is none."""
    return next((name for name in RENDERERS if find_spec(name) is not None), None)


def rendered(svg: str, width: int, height: int) -> bytes:
    """The picture as PNG on white, enlarged up to 1,600 pixels.

    Raises:
        InvalidInput: no renderer or no font is installed.
    """
    name = installed()
    if name is None:
        raise InvalidInput(
            "Nothing here renders PNG: whoever runs the server can install graphiti-pkm[png]. The same address with "
            ".svg gives the picture."
        )
    scale = min(max(1.0, _WIDE / width), _MOST_ENLARGED, (_MOST_PIXELS / (width * height)) ** 0.5)
    content = RENDERERS[name](svg, scale)
    while len(content) > _MOST_BYTES:
        scale *= 0.9 * (_MOST_BYTES / len(content)) ** 0.5
        content = RENDERERS[name](svg, scale)
    return content
