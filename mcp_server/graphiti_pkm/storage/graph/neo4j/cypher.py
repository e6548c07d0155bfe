"""Translates FalkorDB's constructs, values and full text to Neo4j's Cypher.

The texts of queries are shared. They are constants except for labels, so each is translated once.
"""

import functools
import math
import re
from array import array
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from neo4j.time import Date, DateTime, Duration, Time

from graphiti_pkm.core.model.times import iso
from graphiti_pkm.errors import InvalidInput
from graphiti_pkm.storage.graph.queries.values import checked_integer, checked_key, checked_number, checked_text
from graphiti_pkm.storage.graph.values import DAWN, DUSK, FullText, Instant, SearchText

NODES_FULLTEXT, FACTS_FULLTEXT = "pkm_search_text", "pkm_facts"
UNKNOWN = {
    DAWN: DateTime(1, 1, 1, tzinfo=UTC),
    DUSK: DateTime(9999, 12, 31, 23, 59, 59, 999_999_999, tzinfo=UTC),
}
"""The first and last instants that the driver knows."""

_DIFFERENCES = (
    # A vector is a list of floats, its cosine is given as (1 + cosine) / 2.
    (r"1 - vec\.cosineDistance\(([\w.]+), (vecf32\(\$\w+\)|[\w.]+)\)", r"2 * vector.similarity.cosine(\1, \2) - 1"),
    (
        r"CALL db\.idx\.vector\.query(Nodes|Relationships)\('(\w+)', '(\w+)',",
        r"CALL db.index.vector.query\1('pkm_\2_\3',",
    ),
    (r"vecf32\(([^()]*)\)", r"\1"),
    (r" AND typeOf\(\w+\[k\]\) <> 'Vectorf32'", ""),
    (r"CALL db\.idx\.fulltext\.queryNodes\('SearchText',", f"CALL db.index.fulltext.queryNodes('{NODES_FULLTEXT}',"),
    (
        r"CALL db\.idx\.fulltext\.queryRelationships\('RELATES_TO',",
        f"CALL db.index.fulltext.queryRelationships('{FACTS_FULLTEXT}',",
    ),
    (
        r"indegree\((\w+), 'RELATES_TO'\) \+ outdegree\(\1, 'RELATES_TO'\)",
        r"COUNT { (\1)-[:RELATES_TO]->() } + COUNT { (\1)<-[:RELATES_TO]-() }",
    ),
    # Two edges that join the same two are two rows, also while they have no name.
    (r"MATCH \(h\)<-\[:MENTIONS\]-\(e\) WHERE", "MATCH (h)<-[:MENTIONS]-(e) WITH DISTINCT e, h WHERE"),
)

_STOP_WORDS = re.compile(
    "a|an|and|are|as|at|be|but|by|for|if|in|into|is|it|no|not|of|on|or|such|that|the|their|then|there|these|they|"
    "this|to|was|will|with"
)
"""Stop words of Lucene's English analyzer, which drops them. With a digit at the end they are ordinary words."""


@functools.cache
def translated(text: str) -> str:
    """The same query in Neo4j's Cypher."""
    for falkordb, neo4j in _DIFFERENCES:
        text = re.sub(falkordb, neo4j, text)
    return text


def parameters(text: str, given: Mapping[str, object]) -> dict[str, object]:
    """Parameters in the driver's types, with those that the text needs additionally.

    Raises:
        InvalidInput: a value cannot be stored (NUL, lone surrogate, not a number, an integer too large).
    """
    unknown = {name: value for name, value in UNKNOWN.items() if f"${name}" in text}
    return {**{name: native(value) for name, value in given.items()}, **unknown}


def native(value: object) -> object:  # noqa: C901, PLR0911 one for each type
    """A value in the driver's types. Raises InvalidInput."""
    match value:
        case None | bool():
            return value
        case Instant():
            return datetime.fromisoformat(value) if value else UNKNOWN[DAWN]
        case SearchText():
            return checked_text(" ".join(map(_kept, value.split())))
        case str():
            return checked_text(value)
        case int():
            return checked_integer(value)
        case float():
            return checked_number(value)
        case FullText():
            return _lucene(value)
        case array():
            return _vector(value)
        case Mapping():
            return {checked_key(str(key)): native(item) for key, item in value.items()}
        case Sequence() | set() | frozenset():
            return [native(item) for item in value]
        case _:
            raise InvalidInput("A value of an unknown type cannot be stored.")


def plain(value: Any) -> Any:
    """A value of an answer in the store's types: instants are texts."""
    match value:
        case DateTime():
            return iso(value.to_native())
        case list():
            return [plain(item) for item in value]
        case dict():
            return {key: plain(item) for key, item in value.items()}
        case Date() | Time() | Duration():
            return value.iso_format()
        case _:
            return value


def _vector(value: "array[float]") -> list[float]:
    if not all(map(math.isfinite, value)):
        raise InvalidInput("A vector that is not finite cannot be stored or searched.")
    return list(value)


def _lucene(asked: FullText) -> str:
    """The scope filters but does not affect the score."""
    scopes = " OR ".join(asked.scopes)
    words = " OR ".join(map(_phrase, asked.words))
    return f"+{asked.prefix}scope:({scopes})^0 +{asked.prefix}text:({words})"


def _phrase(words: str) -> str:
    """A phrase, also of one word: Lucene splits characters without spaces into words, which must be adjacent."""
    return '"' + " ".join(map(_kept, words.split())) + '"'


def _kept(word: str) -> str:
    return f"{word}0" if _STOP_WORDS.fullmatch(word) else word
