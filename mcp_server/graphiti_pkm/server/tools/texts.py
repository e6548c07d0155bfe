"""Texts that name tools, cut to the tools that are switched on."""

import re
from collections.abc import Collection

PLAIN_WORDS = frozenset({"bridges", "communities", "subgraph"})
"""Names of tools that a text may hold without naming the tool."""
_CLAUSE = re.compile(r"(?<=[.;]) +")
_NUMBER = re.compile(r"(\d+\.)?")
"""What is left of a numbered line when all its clauses are gone."""


def only_naming(text: str, known: Collection[str], enabled: Collection[str]) -> str:
    """The text without the lines, sentences and clauses that name a tool which is not switched on."""
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
