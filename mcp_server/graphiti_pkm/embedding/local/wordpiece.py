"""BERT's uncased tokenizer: clean and split into words, then greedy longest-match word pieces.

It is equivalent to the reference tokenizer with one intended difference: ``[SEP]`` and the like in a text are
ordinary characters, so that nobody can control the model with them.
"""

import re
import unicodedata
from collections.abc import Iterator

MAX_TOKENS = 256

_LONGEST_WORD = 100
"""Characters; the reference tokenizer gives up on longer words."""

_REMEMBERED = 50_000
"""Maximum number of entries in each of the two caches, so that no input can exhaust the memory."""

_WINDOW = 4096
"""Characters read at a time. The model uses only the beginning of a long text, so the rest is never read."""

_GAP = re.compile(r"[ \t\n\r]")

_CJK = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)
"""Ideographs, each of which is a word of its own."""


class WordPiece:
    """Turns text into at most 256 token ids, including ``[CLS]`` and ``[SEP]``. Not thread-safe."""

    def __init__(self, vocabulary: str) -> None:
        self._ids = {token: number for number, token in enumerate(vocabulary.removesuffix("\n").split("\n"))}
        self._start, self._end, self._unknown = (self._ids[token] for token in ("[CLS]", "[SEP]", "[UNK]"))
        self._cleaned = _Cleaned()
        self._known_words: dict[str, list[int]] = {}

    def encode(self, text: str) -> list[int]:
        """Token ids of the first 254 pieces of the text, between the start and end tokens."""
        ids = [self._start]
        for word in self._words(text):
            ids += self._pieces(word)
            if len(ids) >= MAX_TOKENS - 1:
                break
        return [*ids[: MAX_TOKENS - 1], self._end]

    def _words(self, text: str) -> Iterator[str]:
        begin = 0
        while begin < len(text):
            gap = _GAP.search(text, begin + _WINDOW)
            end = gap.start() if gap else len(text)
            yield from text[begin:end].translate(self._cleaned).split()
            begin = end

    def _pieces(self, word: str) -> list[int]:
        known = self._known_words.get(word)
        if known is None:
            known = self._split(word) if len(word) <= _LONGEST_WORD else [self._unknown]
            if len(self._known_words) < _REMEMBERED:
                self._known_words[word] = known
        return known

    def _split(self, word: str) -> list[int]:
        """Split off the longest known piece repeatedly; if a remainder has none, the whole word is unknown."""
        pieces: list[int] = []
        begin = 0
        while begin < len(word):
            for end in range(len(word), begin, -1):
                piece = self._ids.get(word[begin:end] if begin == 0 else "##" + word[begin:end])
                if piece is not None:
                    pieces.append(piece)
                    begin = end
                    break
            else:
                return [self._unknown]
        return pieces


class _Cleaned(dict[int, str]):
    """Replacements of characters for ``str.translate``, computed on first use."""

    def __missing__(self, code: int) -> str:
        cleaned = _clean(chr(code))
        if len(self) < _REMEMBERED:
            self[code] = cleaned
        return cleaned


def _clean(char: str) -> str:
    """Lower case without accents; nothing for controls; spaces around punctuation and ideographs."""
    if char in "\t\n\r":
        return " "
    category = unicodedata.category(char)
    if category in {"Zs", "Zl", "Zp"}:
        return " "
    # Unassigned ones (Cn) are kept: they may be emoji of a newer Unicode, and the model has a token for "unknown".
    if category in {"Cc", "Cf", "Co", "Cs"} or char == "\ufffd":
        return ""
    bare = "".join(part for part in unicodedata.normalize("NFD", char) if unicodedata.category(part) != "Mn").lower()
    if any(first <= ord(char) <= last for first, last in _CJK):
        return f" {bare} "
    return "".join(f" {part} " if _is_punctuation(part) else part for part in bare)


def _is_punctuation(char: str) -> bool:
    # BERT also treats ASCII symbols as punctuation that Unicode does not, such as $ + < = > ^ ` | ~.
    return (char.isascii() and char.isprintable() and not char.isalnum() and char != " ") or (
        unicodedata.category(char)[0] == "P"
    )
