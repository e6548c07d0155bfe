"""Texts in pictures: their size, line breaks and escapes. Widths are generous estimates for common fonts."""

import re
import unicodedata
from dataclasses import dataclass
from xml.sax.saxutils import escape

FONT_SIZE = 12
LINE = 15
"""The height of a line; all sizes are in pixels."""

_WIDEST_LINE = 150
_MOST_LINES = 3
_PADDING = (10, 7)
_NARROW = frozenset("ijl.,'|!:;ft()[]{} Ir-/\\`")
_BROAD = frozenset("mwMW@%&")
_PIECE = re.compile(r"\s+|[^\s]+?(?:[-_./:]+|(?<=[a-z0-9])(?=[A-Z])|(?=\s)|$)")


@dataclass(frozen=True, slots=True)
class Box:
    """A label in its box."""

    lines: tuple[str, ...]
    width: int
    height: int
    is_cut: bool


def width_of(text: str) -> float:
    """The width of a text in one line."""
    return sum(map(_width, text)) * FONT_SIZE


def _width(character: str) -> float:
    if character in _NARROW:
        return 0.38
    if character in _BROAD:
        return 0.95
    if character.isascii():
        return 0.7 if character.isupper() else 0.6
    if unicodedata.combining(character) or unicodedata.category(character) in ("Cf", "Mn"):
        return 0.0
    return 1.05 if unicodedata.east_asian_width(character) in "WF" else 0.75


def boxed(label: str) -> Box:
    """A label in at most three lines; the rest is cut."""
    lines: list[str] = [""]
    for piece in _PIECE.findall(" ".join(label.split())):
        if width_of(lines[-1] + piece) <= _WIDEST_LINE:
            lines[-1] += piece
            continue
        if lines[-1].strip():
            lines.append("")
        for character in piece.lstrip():
            if width_of(lines[-1] + character) > _WIDEST_LINE:
                lines.append("")
            lines[-1] += character
        if len(lines) > _MOST_LINES:
            break
    is_cut = len(lines) > _MOST_LINES
    shown = [line.strip() for line in lines[:_MOST_LINES]]
    if is_cut:
        shown[-1] = shown[-1].rstrip()[:-1] + "…"
    width = max(width_of(line) for line in shown)
    return Box(tuple(shown), round(max(width, 24) + 2 * _PADDING[0]), LINE * len(shown) + 2 * _PADDING[1], is_cut)


def cut_to(text: str, width: float) -> str:
    """A text in one line, cut to a width."""
    line = " ".join(text.split())
    while width_of(line) > width:
        line = line.rstrip("…")[: len(line) * 9 // 10 - 1].rstrip() + "…"
    return line


_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def xml_text(text: str) -> str:
    """Escapes a text for XML content and attributes; characters that XML does not allow become �."""
    clean = _NO_XML.sub("�", text)
    return escape(clean, {'"': "&quot;", "'": "&#39;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})
