"""A tokeniser for DOT as https://graphviz.org/doc/info/lang.html defines it. One pass, linear time."""

import re
from collections.abc import Iterator
from html import unescape
from typing import Literal, NamedTuple, TypeAlias

from graphiti_pkm.capabilities.scratch.formats.values import unreadable
from graphiti_pkm.errors import InvalidInput

Kind: TypeAlias = Literal["name", "number", "quoted", "html", "keyword", "sign", "op", "end"]

KEYWORDS = frozenset({"node", "edge", "graph", "digraph", "subgraph", "strict"})
_LONGER_THAN_KEYWORDS = 9
_MOST_WORDS = 500_000
"""About one second of work; more than the largest allowed graph needs."""

# All quantifiers are possessive, or their groups atomic, so the pattern never backtracks.
_TOKEN = re.compile(
    r"""
    [ \t\r\n\f\v\ufeff]*+ (?:
      (?P<name>    [A-Za-z_\x80-\U0010ffff][A-Za-z0-9_\x80-\U0010ffff]*+ )
    | (?P<sign>    [{}\[\];,=:+] )
    | (?P<op>      -> | -- )
    | (?P<quoted>  "[^"\\]*+(?>(?:\\.[^"\\]*+)*)" )
    | (?P<number>  -?(?:\.[0-9]++|[0-9]++(?:\.[0-9]*+)?) )
    | (?P<html>    < )
    | (?P<comment> //[^\n]*+ | \#[^\n]*+ | /\*(?>(?:[^*]++|\*(?!/))*)\*/ )
    | (?P<end>     \Z )
    )
    """,
    re.VERBOSE | re.DOTALL,
)
_ANGLE = re.compile(r"[<>]")
_TAG = re.compile(r"<[^<>]*+>")
_IN_QUOTES = re.compile(r'\\(?:["\\]|\r?\n)')
"""Two backslashes are one escaped backslash: what follows is no escape, not even the end of the line."""


_UNQUOTED = {'\\"': '"', "\\\\": "\\\\"}


class Token(NamedTuple):
    """A token with its text and position."""

    kind: Kind
    text: str
    line: int
    at: int


def tokens(text: str) -> Iterator[Token]:
    """The tokens of a text, followed by one that marks its end.

    Raises:
        InvalidInput: the text contains something that is not a token of DOT.
    """
    at, line, was_name = 0, 1, False
    for _ in range(_MOST_WORDS):
        found = _TOKEN.match(text, at)
        if found is None:
            raise _wrong(text, at, line)
        kind, end = str(found.lastgroup), found.end()
        start = found.start(kind)
        line += text.count("\n", at, start)
        if kind == "end":
            yield Token("end", "", line, start)
            return
        if kind == "html":
            end = _end_of_html(text, start, line)
        if kind in _NAMES:
            if was_name and start == at:
                raise unreadable(line, _OTHER, text[_before(text, at) : end + 20])
            token = _token(kind, text[start:end], line, start)
            was_name = token.kind != "keyword"
            yield token
        else:
            was_name = False
            if kind in ("sign", "op"):
                yield Token("sign" if kind == "sign" else "op", text[start:end], line, start)
        line += text.count("\n", start, end)
        at = end
    raise unreadable(line, f"the text has more than {_MOST_WORDS:,} tokens; send it in parts")


_NAMES = frozenset({"name", "number", "quoted", "html"})
_OTHER = "this is not DOT; a name with characters other than letters, digits and _ needs quotes"
_WRONG = {
    '"': "a quote is opened and never closed",
    "/*": "a comment is opened and never closed",
    "-": "an edge is written -> in a digraph and -- in a graph, and a name with - needs quotes",
    "'": "names are quoted with double quotes",
}


def _wrong(text: str, at: int, line: int) -> InvalidInput:
    start = at + len(text[at:]) - len(text[at:].lstrip("\ufeff \t\r\n\f\v"))
    what = _WRONG.get(text[start : start + 2], _WRONG.get(text[start : start + 1], _OTHER))
    return unreadable(line + text.count("\n", at, start), what, text[_before(text, start) : start + 40])


def _before(text: str, at: int) -> int:
    """Where an excerpt for a message starts: shortly before, on the same line."""
    return max(text.rfind("\n", 0, at) + 1, at - 20)


def _end_of_html(text: str, at: int, line: int) -> int:
    depth = 0
    for angle in _ANGLE.finditer(text, at):
        depth += 1 if angle[0] == "<" else -1
        if depth == 0:
            return angle.end()
    raise unreadable(line, "an HTML text is opened with < and never closed", text[at : at + 40])


def _token(kind: str, word: str, line: int, at: int) -> Token:
    if kind == "name":
        is_keyword = len(word) < _LONGER_THAN_KEYWORDS and word.lower() in KEYWORDS
        return Token("keyword", word.lower(), line, at) if is_keyword else Token("name", word, line, at)
    if kind == "quoted":
        said = word[1:-1]
        if "\\" in said:
            said = _IN_QUOTES.sub(lambda found: _UNQUOTED.get(found[0], ""), said)
        return Token("quoted", said, line, at)
    if kind == "html":
        return Token("html", " ".join(unescape(_TAG.sub(" ", word[1:-1])).split()), line, at)
    return Token("number", word, line, at)


_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


def shown(text: str, node: str) -> str:
    r"""A quoted text as Graphviz displays it, but on one line: ``\n`` becomes a space, ``\N`` the id of the node."""
    if "\\" not in text:
        return text
    return _ESCAPE.sub(lambda found: " " if found[1] in "nlr" else node if found[1] == "N" else found[1], text)
