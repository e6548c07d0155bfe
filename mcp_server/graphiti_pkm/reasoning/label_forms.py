"""The forms in which two labels are compared: as the same, as near enough to be found, as words to embed.

Adding ignores only case, spaces, hyphens and underscores, so that ``C``, ``C++`` and ``C#``, ``.env`` and ``env``
stay apart; looking up may ignore all punctuation, as it changes nothing.
"""

import unicodedata

_INVISIBLE = frozenset("\u00ad\u200b\u2060\ufeff")
"""Soft hyphen, zero width space, word joiner, byte order mark."""


def same_key(label: str) -> str:
    """Two labels with the same key are one node; never empty unless the label is."""
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", label).casefold())
    return "".join(char for char in folded if not _joins(char)) or folded.strip()


def loose_key(label: str) -> str:
    """Letters and digits alone; empty for a label without any, which then is like no other."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", label).casefold())
    return "".join(char for char in folded if unicodedata.category(char)[0] in "LNM")


def _joins(char: str) -> bool:
    return char == "_" or char in _INVISIBLE or char.isspace() or unicodedata.category(char) == "Pd"
