"""Normalises names, relations and search words for comparison.

Two spellings are one name if they differ only in case, composition of accents, spaces, ``-``, ``_``, control and
invisible characters: "user service", "User-Service" and "userservice". Other punctuation counts: C, C++ and C# are
three names. Numbers stay apart: between two digits spaces, ``-`` and ``_`` stand for each other but not for nothing
("rack 1-12", "rack 1 12", not "rack 11-2"), and a number keeps its sign (-1 is not 1).
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

_INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0100-\U000e01ef"
)
"""Zero-width, direction and variation marks, and fillers that display as nothing. Not the tags of flags."""
_INSIDE_WORD = re.compile(rf"(?<=\w)[{_INVISIBLE}]+(?=\w)")
_UNSEEN = re.compile(rf"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f{_INVISIBLE}]+")
_JOINER = r"[\s\-_‐‑‒–—]"
_DIGITS_JOINED = re.compile(rf"(?<=\d){_JOINER}+(?=\d)")
_SIGN = re.compile(r"(?<!\d\s)(?<![^\s(\[{<>=≤≥≈~,:;/|*×±$€£¥\"'«„“‘])[-‐–](?=\d)")
"""After a space, at the beginning, or after what opens or compares: not in "C++-11", "(a)-1" and "1 -12"."""
_DIGIT = re.compile(r"\d")
_JOINERS = re.compile(rf"{_JOINER}+")
_ELSEWHERE = re.compile(rf"(?<!\d){_JOINER}+|{_JOINER}+(?!\d)")
NUMBERS_APART = BETWEEN_DIGITS, MINUS = "-", "−"
"""What a normalised name keeps of joiners between two digits, and of signs."""
_PHONE = re.compile(rf"\+(?:{_JOINER}*\d){{7,15}}{_JOINER}*")
"""An international telephone number, which is the same however its digits are grouped."""
_LONGEST_PHONE = 15
_MORE_DIGITS = re.compile(r"(?:(?:(?!\n)[\s\-_‐‑‒–—])*\d++(?![.:/,]\d))+")
"""On the same line, and no part of a time, a date or a fraction."""
_NOT_WORD = re.compile(r"[^\w]+")
_WORD = re.compile(r"[^\W_]+")
_HYPHEN = re.compile(r"[-‐‑]\s{0,2}")
"""Including a line break after the hyphen, as in hard-wrapped texts."""
_HYPHENED = re.compile(rf"(?<![^\W\d_])[^\W\d_]++(?:{_HYPHEN.pattern}[^\W\d_]++)+")
"""Matches from the start of a word only and without backtracking; otherwise a long run of letters takes quadratic
time."""
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff぀-ヿ㐀-䶿一-鿿가-힯豈-﫿"
"""Thai, Lao, Burmese, Khmer, CJK: scripts written without spaces."""
_RUN = re.compile(rf"(?P<unspaced>[{_UNSPACED}]+)|[^{_UNSPACED}]+")
_REMEMBERED = 4_096
"""Names whose form is kept: a call of 500 edges compares each of its labels about sixteen times."""
_KEY_SEPARATOR = "\x1f"
_KEY_BYTES = 1000
"""Longer names are kept as a digest: an index of Neo4j refuses a key of more than 8 kB."""
_KEPT_OF_LONG = 64
SHORTEST_PART = 5
"""The fewest letters of a word that is searched inside others."""
_INSIDE, _BEGUN = "0", "1"
"""Mark parts of words in full text; no other word of letters begins so.

Parts are words of the index. To ask it for all words with a beginning would look through the words of every group, and
at the first few hundred of them only: what others write would decide what is found.
"""
_PART = SHORTEST_PART
_PARTS_ASKED = 4
_LONGER_WORD = 6
_LONG_WORD = 10
_LONGEST_WORD = 100
"""A longer run of letters is not a word, but data or a stuck key."""
_FIRST_PART = 3
_STEMMED = 2
_MOST_PARTS = 20_000
_BEGINNINGS = range(3, 9)
"""Lengths of beginnings by which a name's word is found if the rest is spelled differently."""


def display_name(text: str) -> str:
    """A name as it is stored and shown: composed, trimmed, single spaces."""
    return " ".join(unicodedata.normalize("NFC", text).split())


@lru_cache(maxsize=_REMEMBERED)
def normalise_name(text: str) -> str:
    """The form in which names are compared; empty if only joiners and invisible characters are left.

    Its own normalised name is itself.
    """
    name = _caseless(text)
    if not _DIGIT.search(name):
        return _JOINERS.sub("", name)
    if _PHONE.fullmatch(name):
        return _JOINERS.sub("", name)
    return _ELSEWHERE.sub("", signed(_DIGITS_JOINED.sub(BETWEEN_DIGITS, name)))


def phone_number(text: str) -> str | None:
    """A text that is an international telephone number and nothing else: ``+`` and its digits; else None."""
    name = normalise_name(text)
    return name if _PHONE.fullmatch(name) and not _JOINERS.search(name) else None


def goes_on_as_phone(number: str, text: str, end: int) -> bool:
    """Whether digits follow in a text on the line of a telephone number that may be the rest of a longer one."""
    more = _MORE_DIGITS.match(text, end)
    return more is not None and len(number) - 1 + sum(map(str.isdecimal, more.group())) <= _LONGEST_PHONE


def signed(text: str) -> str:
    """A text in which a sign of a number is no hyphen; as long as before."""
    return _SIGN.sub(MINUS, text)


def _caseless(text: str) -> str:
    return _UNSEEN.sub("", unicodedata.normalize("NFKC", text).casefold())


def visible(text: str) -> str:
    """Composed, and without invisible characters inside words."""
    return text if text.isascii() else _INSIDE_WORD.sub("", unicodedata.normalize("NFKC", text))


def same_key(label: str) -> str:
    """Labels of a scratch graph with the same key are one node; never empty unless the label is."""
    return normalise_name(label) or unicodedata.normalize("NFC", label.strip())


def name_key(group_id: str, text: str) -> str:
    """The unique key of a ``Name``: stored group and normalised name (a digest, if very long)."""
    return _key(group_id, normalise_name(text))


def former_key(group_id: str, text: str) -> str:
    """The key that earlier versions gave, which left out every joiner: "rack 1-12" was "rack 11-2"."""
    return _key(group_id, _JOINERS.sub("", _caseless(text)))


def _key(group_id: str, name: str) -> str:
    data = name.encode(errors="surrogatepass")
    if len(data) > _KEY_BYTES:
        name = name[:_KEPT_OF_LONG] + hashlib.sha256(data).hexdigest()
    return f"{group_id}{_KEY_SEPARATOR}{name}"


def relation_name(text: str) -> str:
    """A relation in UPPER_SNAKE, as it is stored; empty if it has no letter or digit."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", text.strip())
    return _NOT_WORD.sub("_", spaced).strip("_").upper()


def words_of(text: str) -> frozenset[str]:
    """The words of a list written as one text."""
    return frozenset(text.split())


def measure_key(text: str) -> str:
    """The form in which names of measures are compared."""
    return normalise_name(text)


def fold(text: str) -> str:
    """Lower-case text without accents, with runs of CJK and other unspaced scripts cut into overlapping pairs."""
    if text.isascii():  # most texts; nothing of them is decomposed or unspaced
        return " ".join(_WORD.findall(text.lower()))
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    plain = "".join(c for c in decomposed if not unicodedata.combining(c))
    recomposed = unicodedata.normalize("NFC", plain)
    return " ".join(_words(recomposed))


def joined_words(text: str) -> list[str]:
    """Hyphenated words joined into one, as often as they occur: "fire-works" is found by "fireworks" too."""
    hyphened = _HYPHENED.findall(text)
    return [joined for word in hyphened for joined in fold(_HYPHEN.sub("", word)).split()[:1]]


def word_parts(text: str) -> list[str]:
    """Parts of words stored in full text beside the words, so that words are found by what they contain.

    Five letters from each position where another word may begin ("haushaltsplanung" has those of "planung"), marked;
    each character for scripts without spaces.
    """
    found: dict[str, None] = {}
    for word in dict.fromkeys(fold(text).split()):
        for part in _parts(word):
            if len(found) == _MOST_PARTS:
                return list(found)
            found[part] = None
    return list(found)


def part_terms(term: str) -> list[str]:
    """The term that finds words beginning with or containing a word; results may include others and must be checked.

    A long word is cut, as its ending may differ. None for a word that would be part of too many.
    """
    if (run := _RUN.fullmatch(term)) and run["unspaced"]:
        return [term] if len(term) == 1 else []
    if len(term) < SHORTEST_PART or not term.isalpha():
        return []
    stem = term[: max(SHORTEST_PART, len(term) - _STEMMED)]
    starts = (*range(0, len(stem) - _PART + 1, _PART), len(stem) - _PART)
    parts = dict.fromkeys(stem[start : start + _PART] for start in starts)
    return [_INSIDE + part for part in parts][:_PARTS_ASKED]


def name_beginnings(name: str) -> list[str]:
    """Beginnings of words stored in full text beside the words of a name, marked."""
    words = dict.fromkeys(fold(name).split())
    return list(
        dict.fromkeys(f"{_BEGUN}{word[:count]}" for word in words for count in _BEGINNINGS if count <= len(word))
    )


def beginning_term(word: str) -> str:
    """The term that finds names with a word of the same beginning, by half of its letters."""
    return f"{_BEGUN}{word[: min(_BEGINNINGS[-1], max(_BEGINNINGS[0], len(word) // 2))]}"


def typed_terms(text: str) -> list[str]:
    """The terms that find names with the words of an unfinished text; empty if its last word is too short for that."""
    *words, last = fold(text).split() or [""]
    if len(last) < _BEGINNINGS[0]:
        return []
    return [*words, f"{_BEGUN}{last[: _BEGINNINGS[-1]]}"]


def search_terms(text: str, limit: int = 64) -> list[str]:
    """Distinct words of a query in the form of ``fold``, in order, at most ``limit``."""
    return list(dict.fromkeys(fold(text).split()))[:limit]


def _words(text: str) -> list[str]:
    """Splits words; a Latin word inside Chinese text without spaces counts as a word."""
    words: list[str] = []
    for word in _WORD.findall(text):
        for run in _RUN.finditer(word):
            words.extend(_pairs(run.group()) if run["unspaced"] else [run.group()])
    return words


def _pairs(word: str) -> list[str]:
    return [word] if len(word) == 1 else [word[i : i + 2] for i in range(len(word) - 1)]


def _parts(word: str) -> Iterator[str]:
    if (run := _RUN.fullmatch(word)) and run["unspaced"]:
        yield from word
    elif _LONGER_WORD <= len(word) <= _LONGEST_WORD and word.isalpha():
        yield _INSIDE + word[:_PART]
        if len(word) >= _LONG_WORD:
            yield from (_INSIDE + word[at : at + _PART] for at in range(_FIRST_PART, len(word) - _PART + 1))
