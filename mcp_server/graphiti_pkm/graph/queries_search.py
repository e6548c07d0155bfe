"""Full text. One ``scope`` word per group and kind keeps groups apart inside the index."""

import hashlib
import re
from collections.abc import Sequence
from datetime import datetime
from itertools import product
from typing import Literal

from graphiti_pkm.domain.names import fold, joined_words, word_endings
from graphiti_pkm.domain.queries import EntityFilter, EpisodeFilter, FactFilter
from graphiti_pkm.graph.queries import (
    EPISODE_COLUMNS,
    Conditions,
    entities_matched,
    episode_conditions,
)
from graphiti_pkm.graph.queries_facts import facts_matched
from graphiti_pkm.graph.queries_values import Query
from graphiti_pkm.graph.values import FullText, Instant, SearchText

ScopeKind = Literal["entity", "episode", "fact"]

_MAX_JOINED_WORDS = 6
_MAX_POSSESSIVE_WORDS = 4
_MAX_SPLIT_LENGTH = 48
_WORD_BYTES = 120
"""A longer word than 128 bytes of UTF-8 is indexed and never found."""

_WORD = re.compile(r"[^\W_]+")
_POSSESSIVE = re.compile(r"['’‘ʼ＇]s(?![^\W_])", re.IGNORECASE)

_BEST = "ORDER BY score DESC, uuid LIMIT $limit RETURN uuid, score"
WORDED_ENTITIES = """CALL db.idx.fulltext.queryNodes('SearchText', $words) YIELD node, score
  MATCH (node)-[:OF]->(n:Entity) WHERE"""
WORDED_FACTS = """CALL db.idx.fulltext.queryRelationships('RELATES_TO', $words) YIELD relationship, score
  WITH relationship AS e, score WHERE"""


def scope(group_id: str, kind: ScopeKind) -> str:
    """A word of letters and digits, of fixed length; the digit at its end keeps it from being stemmed."""
    return f"s{hashlib.sha256(group_id.encode()).hexdigest()[:24]}{kind}0"


def searchable(text: str) -> SearchText:
    """What full text holds of a text: its folded words, each cut to what the index can find again."""
    return SearchText(" ".join(_folded(text)))


def searchable_with_parts(text: str) -> SearchText:
    """As ``searchable``, with hyphened words as one, and the endings of long words, by which those inside are found."""
    parts = map(_cut, (*dict.fromkeys(joined_words(text)), *word_endings(text)))
    return SearchText(" ".join((searchable(text), *parts)))


def search_entities(terms: Sequence[str], wanted: EntityFilter, limit: int) -> Query | None:
    """None when there is no word to look for."""
    return entities_worded(terms, wanted.group_ids, entities_matched(WORDED_ENTITIES, wanted, "n, score"), limit)


def search_facts(terms: Sequence[str], wanted: FactFilter, limit: int) -> Query | None:
    """None when there is no word to look for."""
    matched = facts_matched(WORDED_FACTS, wanted, ("score",))
    return facts_worded(terms, wanted.group_ids, (matched.text, matched.values), limit)


def entities_worded(terms: Sequence[str], group_ids: Sequence[str], matched: Conditions, limit: int) -> Query | None:
    """``matched`` begins with ``WORDED_ENTITIES`` and keeps ``n`` and ``score``."""
    words = _words(terms, group_ids, "entity")
    text, values = matched
    if words is None:
        return None
    return Query(
        "search entities",
        f"{text} WITH n.uuid AS uuid, max(score) AS score {_BEST}",
        {**values, "words": words, "limit": limit},
    )


def facts_worded(terms: Sequence[str], group_ids: Sequence[str], matched: Conditions, limit: int) -> Query | None:
    """``matched`` begins with ``WORDED_FACTS`` and keeps ``e`` and ``score``."""
    words = _words(terms, group_ids, "fact", field_prefix="search_")
    text, values = matched
    if words is None:
        return None
    return Query(
        "search facts",
        f"{text} WITH e.uuid AS uuid, score {_BEST}",
        {**values, "words": words, "limit": limit},
    )


def search_episodes(terms: Sequence[str], wanted: EpisodeFilter, limit: int) -> Query | None:
    """None when there is no word to look for."""
    words = _words(terms, wanted.group_ids, "episode")
    conditions, values = episode_conditions(wanted)
    mentions = ""
    if wanted.entity_uuid is not None:
        mentions = "-[:MENTIONS]->(h)"
        conditions = f"{conditions} AND h.uuid = $entity"
        values["entity"] = wanted.entity_uuid
    if words is None:
        return None
    return Query(
        "search episodes",
        f"""CALL db.idx.fulltext.queryNodes('SearchText', $words) YIELD node, score
        MATCH (node)-[:OF]->(e:Episodic){mentions} WHERE {conditions}
        WITH e.uuid AS uuid, max(score) AS score {_BEST}""",
        {**values, "words": words, "limit": limit},
    )


def episodes_naming(group_id: str, name: str, before: datetime, after: str | None, limit: int) -> Query:
    """Spaces and hyphens inside a name may be there or not, so every joining and every cut in two is a phrase."""
    values: dict[str, object] = {
        "before": Instant.of(before),
        "after": after or "",
        "limit": limit,
        "groups": [group_id],
    }
    matching = "coalesce(e.created_at, $dawn) < $before AND coalesce(e.uuid, '') > $after"
    found = f"ORDER BY e.uuid LIMIT $limit RETURN {EPISODE_COLUMNS} ORDER BY uuid"
    phrases = _spellings(name)
    if not phrases:
        return Query(
            "episodes holding",
            f"""MATCH (e:Episodic) WHERE e.group_id IN $groups AND e.content CONTAINS $name AND {matching}
            WITH e ORDER BY e.uuid LIMIT $limit OPTIONAL MATCH (e)<-[:OF]-(s:SearchText)
            RETURN {EPISODE_COLUMNS} ORDER BY uuid""",
            {**values, "name": name},
        )
    return Query(
        "episodes naming",
        f"""CALL db.idx.fulltext.queryNodes('SearchText', $words) YIELD node
        MATCH (node)-[:OF]->(e:Episodic) WHERE coalesce(e.group_id, '') IN $groups AND {matching}
        WITH e, node AS s {found}""",
        {**values, "words": FullText([scope(group_id, "episode")], phrases, are_phrases=True)},
    )


def _spellings(name: str) -> list[str]:
    """Ways in which a name may stand in folded text; a longer name by its first words.

    Between words there may be a space, nothing, or the s of a possessive; one word may be written as two. None for a
    name of symbols only, of which full text knows nothing.
    """
    words = _WORD.findall(_POSSESSIVE.sub("", name))
    if not words:
        return []
    head = words[:_MAX_JOINED_WORDS]
    gaps = (" ", "", " s ") if len(head) <= _MAX_POSSESSIVE_WORDS else (" ", "")
    joinings = (
        "".join(word + gap for word, gap in zip(head, (*between, ""), strict=True))
        for between in product(gaps, repeat=max(len(head) - 1, 0))
    )
    joined = "".join(words)
    cuts = (f"{joined[:i]} {joined[i:]}" for i in range(1, len(joined))) if len(joined) <= _MAX_SPLIT_LENGTH else ()
    return [spelling for spelling in dict.fromkeys(map(searchable, (*joinings, *cuts))) if spelling]


def _folded(text: str) -> list[str]:
    return [word if len(word) <= _WORD_BYTES // 4 else _cut(word) for word in fold(text).split()]


def _cut(word: str) -> str:
    return word.encode()[:_WORD_BYTES].decode(errors="ignore")


def _words(terms: Sequence[str], group_ids: Sequence[str], kind: ScopeKind, field_prefix: str = "") -> FullText | None:
    """Any of the words; folded once more, so that nothing can be query syntax."""
    words = list(dict.fromkeys(word for term in terms for word in _asked(term)))
    return _expression(group_ids, kind, words, field_prefix) if words and group_ids else None


def _asked(term: str) -> list[str]:
    """The words of a term; a "*" at its end stands for whatever follows."""
    words = _folded(term)
    return [*words[:-1], f"{words[-1]}*"] if words and term.endswith("*") else words


def _expression(group_ids: Sequence[str], kind: ScopeKind, words: Sequence[str], prefix: str = "") -> FullText:
    return FullText([scope(group, kind) for group in group_ids], words, prefix)
