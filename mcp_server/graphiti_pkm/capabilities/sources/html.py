"""HTML as Markdown: what a reader sees, without scripts, styles and hidden elements. Pure.

justhtml makes the tree, as browsers do, in time that grows with the length alone; what is written here is Markdown.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, TypeAlias

from graphiti_pkm.errors import InvalidInput

_Node: TypeAlias = Any
"""A node of justhtml, which is imported only where a document is read: with ``name`` and perhaps ``children``."""

DEEPEST = 150
"""Elements in elements."""
MOST_ELEMENTS = 200_000
_DIGITS = 8
"""Of the number of a list's first item; Markdown knows no longer ones."""
_HIDDEN = frozenset(
    {"script", "style", "head", "template", "noscript", "iframe", "object", "svg", "math", "button", "input", "select"}
)
_INLINE = frozenset(
    {
        *("a", "abbr", "b", "bdi", "bdo", "br", "cite", "code", "data", "del", "dfn", "em", "font", "i", "img", "ins"),
        *("kbd", "label", "mark", "q", "s", "samp", "small", "span", "strong", "sub", "sup", "time", "tt", "u", "var"),
        *("wbr", "big", "nobr", "ruby", "rt", "rp", "#text"),
    }
)
_MARKS = {"b": "**", "strong": "**", "i": "*", "em": "*"}
_HEADING = re.compile(r"h[1-6]")
_SPACES = re.compile(r"[ \t\r\n\f]+")
_SPECIAL = re.compile(r"([\\`*<])")
_BLOCK_MARK = re.compile(
    r"^([^\S\n]*)(#{1,6}(?=\s|$)|[-+](?=\s|$)|>|=+[^\S\n]*$|-{2,}[^\S\n]*$|~{3,}|(\d{1,9})[.)](?=\s|$))", re.MULTILINE
)
_LINK = re.compile(r"(?:https?:|mailto:|[^:/?#]*(?:[/?#]|$))", re.IGNORECASE)
_TICKS = re.compile(r"`+")


def html_as_markdown(source: bytes | str) -> str:
    """The Markdown of a page.

    Raises:
        InvalidInput: it is nested too deeply, or has too many elements.
    """
    from justhtml import JustHTML  # noqa: PLC0415 only where a document is read

    root = JustHTML(source, sanitize=False).root
    _check(root)
    blocks = _blocks(_children(root))
    if not any(block.startswith("# ") for block in blocks) and (title := _title(root)):
        blocks.insert(0, f"# {title}")
    return "\n\n".join(blocks) + "\n" if blocks else ""


def _check(root: _Node) -> None:
    """Raises InvalidInput."""
    level, depth, count = [root], 0, 0
    while level:
        depth, count = depth + 1, count + len(level)
        if depth > DEEPEST:
            raise InvalidInput(f"Its elements are nested deeper than {DEEPEST} levels. Nothing of it was stored.")
        if count > MOST_ELEMENTS:
            raise InvalidInput(f"It has more than {MOST_ELEMENTS:,} elements. Nothing of it was stored; divide it.")
        level = [child for node in level for child in _children(node)]


def _children(node: _Node) -> Sequence[_Node]:
    return getattr(node, "children", None) or ()


def _title(root: _Node) -> str:
    level = [root]
    while level:
        for node in level:
            if node.name == "title":
                return _text(node)
        level = [child for node in level if node.name in {"#document", "html", "head"} for child in _children(node)]
    return ""


def _text(node: _Node) -> str:
    """All words below a node, on one line."""
    return " ".join(_SPACES.sub(" ", _plain(node)).split(" ")).strip()


def _plain(node: _Node) -> str:
    if node.name == "#text":
        return str(node.data)
    if node.name == "br":
        return "\n"
    return "".join(_plain(child) for child in _children(node) if _is_shown(child))


def _is_shown(node: _Node) -> bool:
    if node.name == "#text":
        return True
    return not node.name.startswith(("#", "!")) and node.name not in _HIDDEN and "hidden" not in (node.attrs or {})


def _is_inline(node: _Node) -> bool:
    return node.name in _INLINE and all(map(_is_inline, filter(_is_shown, _children(node))))


def _blocks(nodes: Iterable[_Node]) -> list[str]:
    """The blocks of Markdown of these nodes, each without the blank lines around it."""
    blocks = list[str]()
    for is_inline, some in groupby(filter(_is_shown, nodes), _is_inline):
        if is_inline:
            blocks.append(_paragraph(some))
        else:
            blocks += (block for node in some for block in _block(node))
    return [block for block in blocks if block.strip()]


def _block(node: _Node) -> Iterator[str]:
    name = node.name
    if _HEADING.fullmatch(name):
        yield f"{'#' * int(name[1])} {' '.join(_inline(_children(node)).split())}"
    elif name in {"ul", "ol"}:
        yield _list(node)
    elif name == "pre":
        yield _fenced(_plain(node))
    elif name == "blockquote":
        yield "\n".join(f"> {line}".rstrip() for line in "\n\n".join(_blocks(_children(node))).split("\n"))
    elif name == "table":
        yield from _table(node)
    elif name == "hr":
        yield "---"
    else:
        yield from _blocks(_children(node))


def _paragraph(nodes: Iterable[_Node]) -> str:
    lines = (line.strip(" ") for line in _inline(nodes).split("\n"))
    return _BLOCK_MARK.sub(_escaped, "\n".join(line for line in lines if line))


def _escaped(found: re.Match[str]) -> str:
    number = found[3]
    return f"{found[1]}{number}\\{found[2][len(number) :]}" if number else f"{found[1]}\\{found[2]}"


def _inline(nodes: Iterable[_Node]) -> str:
    """The words of inline elements; a break is a line break, other white space a space."""
    said = "".join(map(_span, filter(_is_shown, nodes)))
    return re.sub(r" ?\n ?", "\n", re.sub(r" {2,}", " ", said))


def _span(node: _Node) -> str:
    name = node.name
    if name == "#text":
        return _SPECIAL.sub(r"\\\1", _SPACES.sub(" ", str(node.data)))
    if name == "br":
        return "\n"
    if name == "img":
        return _SPECIAL.sub(r"\\\1", _SPACES.sub(" ", (node.attrs or {}).get("alt") or ""))
    if name in {"code", "kbd", "samp", "tt"}:
        return _code(_text(node))
    said = _inline(_children(node))
    words = said.strip()
    if not words:
        return said
    if name in _MARKS and "\n" not in words:
        words = f"{_MARKS[name]}{words}{_MARKS[name]}"
    elif name == "a":
        to = _SPACES.sub("", (node.attrs or {}).get("href") or "")
        is_kept = to and _LINK.match(to) and not to.startswith("#") and "\n" not in words
        words = f"[{words}](<{to}>)" if is_kept and set("()<>") & set(to) else f"[{words}]({to})" if is_kept else words
    start, end = said[: len(said) - len(said.lstrip())], said[len(said.rstrip()) :]
    return f"{start}{words}{end}"


def _code(text: str) -> str:
    if not text:
        return ""
    ticks = "`" * (1 + max((len(one) for one in _TICKS.findall(text)), default=0))
    space = " " if text[0] == "`" or text[-1] == "`" else ""
    return f"{ticks}{space}{text}{space}{ticks}"


def _fenced(text: str) -> str:
    text = text.replace("\r\n", "\n").strip("\n")
    fence = "`" * max(3, 1 + max((len(one) for one in _TICKS.findall(text)), default=0))
    return f"{fence}\n{text}\n{fence}" if text.strip() else ""


def _list(node: _Node) -> str:
    first = (node.attrs or {}).get("start") or "1"
    number = int(first) if first.isascii() and first.isdecimal() and len(first) <= _DIGITS else 1
    items = list[str]()
    for child in filter(_is_shown, _children(node)):
        blocks = _blocks(_children(child)) if child.name == "li" else _blocks([child])
        if not blocks:
            continue
        mark = f"{number + len(items)}. " if node.name == "ol" else "- "
        is_tight = all(block.startswith(("- ", "1. ")) for block in blocks[1:])
        lines = ("\n" if is_tight else "\n\n").join(blocks).split("\n")
        items.append(
            "\n".join(f"{' ' * len(mark) if place else mark}{line}".rstrip() for place, line in enumerate(lines))
        )
    return "\n".join(items)


def _table(node: _Node) -> Iterator[str]:
    """A table of cells of one line each; what else is in it comes before."""
    rows = list[list[str]]()
    for part in filter(_is_shown, _children(node)):
        if part.name == "caption":
            yield from _blocks(_children(part))
        found = [part] if part.name == "tr" else [one for one in _children(part) if one.name == "tr"]
        for row in filter(_is_shown, found):
            cells = [one for one in _children(row) if one.name in {"td", "th"} and _is_shown(one)]
            rows.append([" ".join(" ".join(_blocks(_children(one))).split()).replace("|", "\\|") for one in cells])
    rows = [row for row in rows if any(row)]
    if not rows:
        return
    width = max(map(len, rows))
    lines = [f"| {' | '.join([*row, *[''] * (width - len(row))])} |" for row in rows]
    yield "\n".join([lines[0], f"|{' --- |' * width}", *lines[1:]])
