"""Finds the quoted words of a fact in the body of its episode."""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate

_SAME = {
    **dict.fromkeys("‘’‚‛′`´ʼ", "'"),
    **dict.fromkeys("“”„‟″«»", '"'),
    **dict.fromkeys("‐‑‒–—−", "-"),
}
_ALIKE = str.maketrans(_SAME)
_ELLIPSES = ("...", "…", "[…]")
_MARKS = frozenset("\"'“”„«»‘’")
_WORD = re.compile(r"\S+")
_JAMO = range(0x1160, 0x1200)
"""Korean vowels and final consonants, which combine with the preceding letter into one character."""


class QuotedText:
    """A text prepared once for looking up any number of quotes.

    Text and quotes are compared in one normal form (composed, lower case, plain punctuation, single spaces), so a
    search takes linear time. Positions in that form are mapped back to the original text.
    """

    def __init__(self, text: str) -> None:
        self._text = text

    def locate(self, quote: str) -> tuple[int, int] | None:
        """Half-open code-point offsets of the first match: exact, else in the normal form.

        Quotation marks around the whole quote and an ellipsis at its ends are ignored.
        """
        forms = _without_marks(quote)
        for words in forms:
            start = self._text.find(words)
            if start >= 0:
                return start, start + len(words)
        for words in forms:
            compared = " ".join(map(_form_of, words.split()))
            start = self._form.find(compared)
            if start >= 0:
                return self._place(start)[0], self._place(start + len(compared) - 1)[1]
        return None

    @cached_property
    def _words(self) -> list[tuple[int, int]]:
        return [match.span() for match in _WORD.finditer(self._text)]

    @cached_property
    def _forms(self) -> list[str]:
        return [_form_of(self._text[start:end]) for start, end in self._words]

    @cached_property
    def _form(self) -> str:
        return " ".join(self._forms)

    @cached_property
    def _starts(self) -> list[int]:
        """The offset of each word in the normal form."""
        return list(accumulate((len(word) + 1 for word in self._forms), initial=0))

    def _place(self, at: int) -> tuple[int, int]:
        """The original characters behind one character of the normal form; never a space."""
        number = bisect_right(self._starts, at) - 1
        (first, last), at = self._words[number], at - self._starts[number]
        is_as_given = unicodedata.is_normalized("NFC", self._text[first:last])
        if is_as_given and last - first == len(self._forms[number]):
            return first + at, first + at + 1
        ends = self._ends_in(number)
        part = bisect_right(ends, at, key=lambda one: one[0])
        if part == len(ends):  # composed across characters that normally do not combine
            return first, last
        return first + (ends[part - 1][1] if part else 0), first + ends[part][1]

    def _ends_in(self, number: int) -> Sequence[tuple[int, int]]:
        """Where each character of a word ends with its accents, in the normal form and in the original."""
        if number not in self._parts:
            start, end = self._words[number]
            compared = given = 0
            ends = []
            for character in _characters(self._text[start:end]):
                compared, given = compared + len(_form_of(character)), given + len(character)
                ends.append((compared, given))
            self._parts[number] = ends
        return self._parts[number]

    @cached_property
    def _parts(self) -> dict[int, list[tuple[int, int]]]:
        return {}


def _form_of(word: str) -> str:
    plain = word.translate(_ALIKE)
    return plain.lower() if plain.isascii() else unicodedata.normalize("NFC", plain).casefold()


def _characters(word: str) -> Iterator[str]:
    """The characters of a word, each with the accents that follow it."""
    start = 0
    for at, character in enumerate(word[1:], 1):
        if not unicodedata.combining(character) and ord(character) not in _JAMO:
            yield word[start:at]
            start = at
    yield word[start:]


def _without_marks(quote: str) -> list[str]:
    words = quote.strip()
    forms = [words]
    if len(words) > 1 and words[0] in _MARKS and words[-1] in _MARKS:
        words = words[1:-1].strip()
        forms.append(words)
    for ellipsis in _ELLIPSES:
        words = words.removeprefix(ellipsis).removesuffix(ellipsis)
    forms.append(words.strip())
    return [form for form in dict.fromkeys(forms) if form]
