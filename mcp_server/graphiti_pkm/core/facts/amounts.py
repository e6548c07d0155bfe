"""Reads the one number in a value as it was told: "5 and a half hours", "1.25 million", "6/10", "4-5"."""

import math
import re
from dataclasses import dataclass

from graphiti_pkm.core.model.names import words_of

TIME = "time"
"""The kind of all units of time."""
SECONDS = {"s": 1.0, "min": 60.0, "h": 3600.0, "day": 86400.0}
"""Units of time, as ``Amount.unit`` has them: the only ones that are converted into each other."""

_TOKEN = re.compile(r"\d[\d.,'’]*|[^\W\d_]+|[^\s]")
_FRACTIONS = {"½": " and a half", "¼": " and a quarter", "¾": " and three quarters"}
_PARTS = {("a", "half"): 0.5, ("a", "quarter"): 0.25, ("three", "quarters"): 0.75}
_SMALL = {
    word: float(number)
    for number, word in enumerate(
        (
            *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"),
            *("twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
        )
    )
}
_TENS = {
    word: 10.0 * number
    for number, word in enumerate(
        ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"), start=2
    )
}
_SCALES = {
    "dozen": 12.0,
    "hundred": 100.0,
    "thousand": 1e3,
    "k": 1e3,
    "million": 1e6,
    "millions": 1e6,
    "mio": 1e6,
    "mn": 1e6,
    "billion": 1e9,
    "bn": 1e9,
}
_ABOUT = words_of("about around roughly approximately approx ca circa c almost nearly only just some from between ~ ≈")
_TO = words_of("- – — − to or")
_MINUS = words_of("- − –")
_NO_UNIT = words_of(
    """st nd rd th am pm january february march april may june july august september october november december jan feb
    mar apr jun jul aug sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday and"""
)
_CURRENCIES = {"€": "eur", "$": "usd", "£": "gbp", "eur": "eur", "usd": "usd", "gbp": "gbp", "nok": "nok", "chf": "chf"}
_TIMES = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), "s"),
    **dict.fromkeys(("min", "mins", "minute", "minutes"), "min"),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), "h"),
    **dict.fromkeys(("d", "day", "days"), "day"),
}
_UNIT_WORDS = 4
_UNIT_MARKS = frozenset("%°/€$£²³.")
_PLURAL = 4
_THOUSAND = 3


@dataclass(frozen=True)
class Amount:
    """One number, or a range of two."""

    low: float
    high: float | None = None
    unit: str | None = None
    """In one spelling: "h" of "hours a night"; "/10" of "6 of 10"."""

    @property
    def kind(self) -> str:
        """Amounts of one kind can be compared: all times, or one unit."""
        return TIME if self.unit in SECONDS else self.unit or ""

    @property
    def middle(self) -> float:
        """The number, of a range its middle; of a time in seconds."""
        number = self.low if self.high is None else (self.low + self.high) / 2
        return number * SECONDS.get(self.unit or "", 1.0)


def amount_of(value: str | None, unit: str | None = None) -> Amount | None:
    """The number that a value says, with its unit; None if it says none, or several.

    A unit in the value counts more than the one beside it.
    """
    if not value:
        return None
    for mark, words in _FRACTIONS.items():
        value = value.replace(mark, words)
    amount = _Tokens(_TOKEN.findall(value), unit).amount()
    numbers = [] if amount is None else [amount.low, amount.high or 0.0]
    return amount if numbers and all(map(math.isfinite, numbers)) else None


def unit_key(unit: str | None) -> str | None:
    """A unit in one spelling."""
    words = [] if unit is None else unit.lower().split()
    if not words:
        return None
    first = words[0].rstrip(".")
    if first in _TIMES:
        return _TIMES[first]
    joined = _CURRENCIES.get(" ".join(words), " ".join(words))
    return joined[:-1] if len(joined) > _PLURAL and joined.endswith("s") else joined


class _Tokens:
    """The words of a value, read from left to right."""

    def __init__(self, tokens: list[str], unit: str | None) -> None:
        self._tokens = tokens
        self._lower = [token.lower() for token in tokens]
        self._given = unit_key(unit)
        self._is_money = not {*self._lower, self._given}.isdisjoint((*_CURRENCIES, *_CURRENCIES.values()))
        self._at = 0

    def amount(self) -> Amount | None:
        while self._next() in _ABOUT:
            self._at += 1
        currency = _CURRENCIES.get(self._next())
        if currency is not None:
            self._at += 1
        low = self._timed()
        if low is None:
            return None
        is_between = self._lower[0] == "between" and self._next() == "and"
        high = None
        if is_between or self._next() in _TO or (self._next() in _TIMES and self._next(1) in _TO):
            self._at += 1 if is_between or self._next() in _TO else 2
            high = self._timed()
            if high is None or high < low:
                return None
        if self._next() == "/" or self._next() == "of" or (self._next() == "out" and self._next(1) == "of"):
            return self._share(low, high)
        return self._with_unit(low, high, currency)

    def _share(self, low: float, high: float | None) -> Amount | None:
        """The number of "6/10", "6 of 10", "4-5 out of 10"."""
        start = self._at
        self._at += 2 if self._next() == "out" else 1
        whole = self._number()
        if whole is None:
            self._at = start
            return self._with_unit(low, high, None) if self._next() == "/" else None
        is_share = low >= 0 and (high or low) <= whole and whole > 0
        return Amount(low, high, f"/{whole:g}") if is_share and self._with_unit(low, high, None) else None

    def _with_unit(self, low: float, high: float | None, currency: str | None) -> Amount | None:
        rest = self._lower[self._at :]
        if rest[:2] == ["or", "so"]:
            rest = rest[2:]
        if rest and rest[-1] in {".", "!"}:
            rest = rest[:-1]
        is_unit = all(token in _UNIT_MARKS or token[0].isalpha() for token in rest)
        if len(rest) > _UNIT_WORDS or not is_unit or (rest and (rest[0] in _NO_UNIT or rest[0] in _SMALL)):
            return None
        own = currency or unit_key(" ".join(rest))
        return Amount(low, high, own or self._given)

    def _timed(self) -> float | None:
        """A number, or hours with minutes: "7h 20m", "7 hours and 20 minutes"; in hours."""
        first = self._signed()
        if first is None or self._unit_at(0) != "h":
            return self._clock(first)
        start = self._at
        self._at += 2 if self._next(1) == "and" else 1
        minutes = self._number()
        if minutes is None or self._next() not in {*_TIMES, "m", ""} or self._unit_at(0) not in {"min", "m", ""}:
            self._at = start
            return first
        if self._next():
            self._at += 1
        self._given = "h"
        return first + minutes / 60

    def _clock(self, first: float | None) -> float | None:
        """Hours of "7:20" if the unit says so; otherwise it is a time of day."""
        if first is None or self._next() != ":":
            return first
        if self._given != "h":
            return None
        self._at += 1
        minutes = self._number()
        return None if minutes is None else first + minutes / 60

    def _unit_at(self, ahead: int) -> str:
        word = self._next(ahead)
        return _TIMES.get(word, word)

    def _signed(self) -> float | None:
        if self._next() in _MINUS:
            self._at += 1
            number = self._number()
            return None if number is None else -number
        return self._number()

    def _number(self) -> float | None:
        """Digits or words with what belongs to them: "five and a half", "1.25 million", "twenty-five"."""
        number = self._simple()
        if number is None:
            return None
        number += self._part()
        for _ in range(2):
            scale = self._scale()
            if scale is None:
                break
            number *= scale
            if self._next() == "and" and (more := self._small(1)) is not None:
                number += more
        return number

    def _simple(self) -> float | None:
        word = self._next()
        if word[:1].isdecimal():
            return self._digits()
        if word == "half":
            self._at += 2 if self._next(1) in {"a", "an"} else 1
            return 0.5
        if word in {"a", "an"} and (self._next(1) in _TIMES or self._next(1) in _SCALES or self._next(1) == "half"):
            self._at += 1
            return self._simple() if self._next() == "half" else 1.0
        return self._small(0)

    def _small(self, ahead: int) -> float | None:
        """A number below a hundred in words."""
        word = self._next(ahead)
        if word in _SMALL:
            self._at += ahead + 1
            return _SMALL[word]
        if word not in _TENS:
            return None
        self._at += ahead + 1
        skip = 1 if self._next() == "-" else 0
        ones = _SMALL.get(self._next(skip), 0.0)
        if 0 < ones < min(_TENS.values()) / 2:
            self._at += skip + 1
            return _TENS[word] + ones
        return _TENS[word]

    def _part(self) -> float:
        if self._next() == "and" and (part := _PARTS.get((self._next(1), self._next(2)))) is not None:
            self._at += 3
            return part
        return 0.0

    def _scale(self) -> float | None:
        scale = 1e6 if self._at < len(self._tokens) and self._tokens[self._at] == "M" else _SCALES.get(self._next())
        if scale is not None:
            self._at += 1
        return scale

    def _digits(self) -> float | None:
        text = self._next()
        self._at += 1
        while text.isdecimal() and len(self._next()) == _THOUSAND and self._next().isdecimal():
            text += self._next()
            self._at += 1
        text = text.rstrip(".,'’")
        if self._is_money and text.count(".") == 1 and _is_grouped(text, "."):  # "1.000 EUR" has no tenths of a cent
            text = text.replace(".", "")
        return _plain(text)

    def _next(self, ahead: int = 0) -> str:
        return self._lower[self._at + ahead] if self._at + ahead < len(self._lower) else ""


def _plain(text: str) -> float | None:
    """Digits with separators: "1,250.50", "1.250,50", "7,5", "1'250"."""
    text = text.replace("’", "'")
    marks = [mark for mark in text if mark in ".,'"]
    decimal = marks[-1] if len(set(marks)) > 1 else ""
    if len(marks) == 1 and not (marks[0] != "." and _is_grouped(text, marks[0])):
        decimal = marks[0]
    if decimal == "'" or (decimal and marks.count(decimal) > 1):
        return None
    whole, _, rest = text.rpartition(decimal) if decimal else (text, "", "")
    groups = set(whole) & set(".,'")
    if len(groups) > 1 or (groups and not _is_grouped(whole, groups.pop())):
        return None
    return float(f"{''.join(filter(str.isdecimal, whole)) or '0'}.{rest or '0'}")


def _is_grouped(text: str, mark: str) -> bool:
    """Whether a mark parts thousands: "1,250", but not "0,125"."""
    first, *others = text.split(mark)
    is_first = 0 < len(first) <= _THOUSAND and not first.startswith("0")
    return is_first and bool(others) and all(len(part) == _THOUSAND and part.isdecimal() for part in others)
