"""Restricts texts that name tools to the enabled ones."""

import re
from collections.abc import Collection

PLAIN_WORDS = frozenset({"bridges", "communities", "subgraph"})
"""Tool names that are also plain words, so that a text may contain them without meaning the tool."""
_CLAUSE = re.compile(r"(?<=[.;]) +")
_NUMBER = re.compile(r"(\d+\.)?")
"""Matches a numbered line from which all clauses were removed."""


def only_naming(text: str, known: Collection[str], enabled: Collection[str]) -> str:
    """The text without the lines, sentences and clauses that name a tool that is not enabled."""
    off = set(known) - set(enabled) - PLAIN_WORDS
    if not off:
        return text
    pattern = re.compile(rf"\b(?:{'|'.join(sorted(off))})\b")
    if not pattern.search(text):
        return text
    lines = (_cut(line, pattern) for line in text.split("\n"))
    return "\n".join(line for line in lines if line is not None).strip()


def _cut(line: str, pattern: re.Pattern[str]) -> str | None:
    if not pattern.search(line):
        return line
    kept = " ".join(clause for clause in _CLAUSE.split(line) if not pattern.search(clause))
    return None if _NUMBER.fullmatch(kept) else re.sub(";$", ".", kept)
