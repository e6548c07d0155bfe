"""Full text. One ``scope`` word per group and kind keeps groups apart inside the index.

The indexes are Lucene's, with its English analyzer. Both stores fold texts, weigh words and spell names as here.
"""

import hashlib
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import accumulate, product
from typing import Literal, NamedTuple, Protocol, TypeVar

from graphiti_pkm.core.facts.observations import TYPE
from graphiti_pkm.core.model.name_forms import identifier_words
from graphiti_pkm.core.model.names import fold, joined_words, name_beginnings, phone_number, word_parts
from graphiti_pkm.core.model.passages import without_left_out
from graphiti_pkm.core.model.queries import EntityFilter, EpisodeFilter, FactFilter
from graphiti_pkm.core.model.records import Name
from graphiti_pkm.storage.graph.queries.facts import facts_matched
from graphiti_pkm.storage.graph.queries.parts import (
    EPISODE_COLUMNS,
    Conditions,
    entities_matched,
    episode_conditions,
)
from graphiti_pkm.storage.graph.queries.values import Query

ScopeKind = Literal["entity", "episode", "fact"]

_MAX_JOINED_WORDS = 6
_MAX_POSSESSIVE_WORDS = 4
_MAX_SPLIT_LENGTH = 48
_WORD_BYTES = 120
"""Longer words are cut, in texts and in questions."""

_WORD = re.compile(r"[^\W_]+")
_POSSESSIVE = re.compile(r"['’‘ʼ＇]s(?![^\W_])", re.IGNORECASE)

NODES_INDEX, FACTS_INDEX = "pkm_search_text", "pkm_facts"
_STOP_WORDS = re.compile(
    "a|an|and|are|as|at|be|but|by|for|if|in|into|is|it|no|not|of|on|or|such|that|the|their|then|there|these|they|"
    "this|to|was|will|with"
)
"""The analyzer drops these, of which names are made ("Will"). With a digit at the end they are ordinary words."""

_ASKED = "UNWIND range(0, size($asked) - 1) AS place WITH place, $asked[place] AS one"
_FOUND_NODES = f"CALL db.index.fulltext.queryNodes('{NODES_INDEX}', one.words) YIELD node"
_FOUND_FACTS = f"CALL db.index.fulltext.queryRelationships('{FACTS_INDEX}', one.words) YIELD relationship"
WORDED_ENTITIES = f"""{_ASKED} {_FOUND_NODES} WITH node, place, one.weight AS weight
  MATCH (node)-[:OF]->(n:Entity) WHERE"""
WORDED_FACTS = f"""{_ASKED} {_FOUND_FACTS}
  WITH relationship AS e, place, one.weight AS weight WHERE"""
KEPT = ("place", "weight")
"""Variables that every condition after ``WORDED_…`` must carry beside the record."""
_MOST_HITS = 5_000
"""After this many hits of rare words, more common words of a search are not searched."""
_UNIT = 1_000_000


def scope(group_id: str, kind: ScopeKind) -> str:
    """A word of letters and digits, of fixed length; the final digit prevents stemming."""
    return f"s{hashlib.sha256(group_id.encode()).hexdigest()[:24]}{kind}0"


def searchable(text: str) -> str:
    """The folded words of a text, none of them too long."""
    return " ".join(_folded(text))


def searchable_with_parts(text: str) -> str:
    """As ``searchable``, with hyphenated words as one, and with parts of words, by which inner words are found."""
    text = without_left_out(text)
    parts = map(_cut, (*dict.fromkeys(joined_words(text)), *word_parts(text)))
    return " ".join((searchable(text), *parts))


def searchable_name(name: str, summary: str = "") -> str:
    """As ``searchable``, with beginnings of a name's words, by which similar spellings are found."""
    return " ".join((searchable(f"{name} {summary}"), *name_beginnings(name)))


def searchable_entity(name: str, summary: str, attributes: Mapping[str, object]) -> str:
    """As ``searchable_name``, with the words of a type as it was sent (``core.facts.observations``)."""
    given = attributes.get(TYPE)
    if not isinstance(given, str):
        return searchable_name(name, summary)
    return searchable_name(name, " ".join((summary, given, *identifier_words(given))))


def searchable_fact(relation: str, text: str, quote: str | None) -> str:
    """The words of a relation, a sentence and, last, the words behind it."""
    said = searchable(f"{relation.replace('_', ' ')} {text}")
    return f"{said} {searchable(quote)}" if quote and quote != text else said


def indexed(searchable_text: str) -> str:
    """The words as the index takes them, so that none is dropped."""
    return " ".join(f"{word}0" if _STOP_WORDS.fullmatch(word) else word for word in searchable_text.split())


def spelling_key(name: Name, text: str) -> str:
    """What marks the search text of one spelling among those of an entity."""
    return f"{name.key}\x1f{text}"


def name_texts(name: Name) -> Iterator[tuple[str, str]]:
    """Each alias and spelling with its key: a separate search text, so that adding one needs no others."""
    if name.is_alias:
        yield name.key, name.text
    for spelling in name.spellings:
        yield spelling_key(name, spelling), spelling


class Weighed(NamedTuple):
    """A word of a search, and what it adds to the score of a record."""

    words: str
    """As the index is asked."""
    weight: int
    held: int
    """The number of texts of the groups that contain it."""


def asked_words(terms: Sequence[str], group_ids: Sequence[str], kind: ScopeKind) -> list[str]:
    """Each word of the terms separately, in these groups; folded again, so that nothing can be query syntax."""
    return [_lucene([word], group_ids=group_ids, kind=kind) for word in words_asked(terms)] if group_ids else []


def words_asked(terms: Sequence[str]) -> list[str]:
    """The words of the terms, each once, in order."""
    return list(dict.fromkeys(word for term in terms for word in _folded(term)))


def _lucene(*needed: Sequence[str], group_ids: Sequence[str], kind: ScopeKind) -> str:
    """Any phrase of each of these in any of the groups; the scope does not affect the score.

    A word is a phrase too: the analyzer splits characters without spaces into words, which must be adjacent.
    """
    prefix = "search_" if kind == "fact" else ""
    scopes = " OR ".join(scope(group, kind) for group in group_ids)
    quoted = [" OR ".join(f'"{indexed(phrase)}"' for phrase in phrases) for phrases in needed]
    return " ".join((f"+{prefix}scope:({scopes})^0", *(f"+{prefix}text:({phrases})" for phrases in quoted)))


def word_counts(asked: Sequence[str], kind: ScopeKind) -> Query:
    """The number of texts of the groups that contain each word, by its position; words without any are left out."""
    found, hit = (_FOUND_FACTS, "relationship") if kind == "fact" else (_FOUND_NODES, "node")
    return Query(
        "word counts",
        f"{_ASKED} {found} RETURN place, count({hit}) AS held",
        {"asked": [{"words": words} for words in asked]},
    )


def later_counts(asked: Sequence[str], group_ids: Sequence[str], until: datetime) -> Query:
    """Of ``word_counts`` of episodes, those recorded later: looked for by the index on ``created_at``."""
    return Query(
        "later word counts",
        f"""MATCH (e:Episodic) WHERE e.created_at > $until AND coalesce(e.group_id, '') IN $groups
        WITH collect(e.uuid) AS later WHERE size(later) > 0
        {_ASKED.replace("WITH place,", "WITH later, place,")} {_FOUND_NODES} WITH later, place, node
        MATCH (node)-[:OF]->(e:Episodic) WHERE e.uuid IN later RETURN place, count(node) AS held""",
        {"asked": [{"words": words} for words in asked], "groups": group_ids, "until": until},
    )


def weighed(asked: Sequence[str], held: Mapping[int, int]) -> list[Weighed]:
    """The words that occur, rarest first, weighed by their rarity in the groups.

    The engine's own weights count the texts of all groups: other users' texts would decide what is found.
    """
    total = sum(held.values())
    rarest = sorted(held, key=lambda place: (held[place], place))
    return [Weighed(asked[i], weight(held[i], total), held[i]) for i in rarest]


def weight(held: int, total: int) -> int:
    """Of a word that ``held`` texts contain, where the words of the search have ``total`` hits together."""
    return round(_UNIT * math.log1p(total / held))


class Counted(Protocol):
    """A word of a search."""

    @property
    def held(self) -> int:
        """The number of texts that contain it."""
        ...


_Word = TypeVar("_Word", bound=Counted)


def deciding(words: Sequence[_Word]) -> Sequence[_Word]:
    """The rarest words, up to the one with which the hits are so many that common words hardly change the best."""
    before = accumulate((word.held for word in words), initial=0)
    return [word for word, hits in zip(words, before, strict=False) if hits < _MOST_HITS]


def search_entities(words: Sequence[Weighed], wanted: EntityFilter, limit: int) -> Query:
    """Entities that have any of the words."""
    kept = ", ".join(("n", *KEPT))
    return entities_worded(words, entities_matched(WORDED_ENTITIES, wanted, kept), limit)


def search_facts(words: Sequence[Weighed], wanted: FactFilter, limit: int) -> Query:
    """Facts that have any of the words."""
    matched = facts_matched(WORDED_FACTS, wanted, KEPT)
    return facts_worded(words, (matched.text, matched.values), limit)


def entities_worded(words: Sequence[Weighed], matched: Conditions, limit: int) -> Query:
    """``matched`` begins with ``WORDED_ENTITIES`` and keeps ``n`` and ``KEPT``."""
    # An entity has a text for each of its names: a word counts once.
    text = f"{matched[0]} WITH DISTINCT n, place, weight WITH n, sum(weight) AS score"
    return _best("search entities", text, "n", "created_at", words, matched[1], limit)


def facts_worded(words: Sequence[Weighed], matched: Conditions, limit: int) -> Query:
    """``matched`` begins with ``WORDED_FACTS`` and keeps ``e`` and ``KEPT``."""
    text = f"{matched[0]} WITH e, sum(weight) AS score"
    return _best("search facts", text, "e", "created_at", words, matched[1], limit)


def search_episodes(words: Sequence[Weighed], wanted: EpisodeFilter, limit: int) -> Query:
    """Episodes that have any of the words."""
    conditions, values = episode_conditions(wanted)
    mentions = ""
    if wanted.entity_uuid is not None:
        mentions = "-[:MENTIONS]->(h)"
        conditions = f"{conditions} AND h.uuid = $entity"
        values["entity"] = wanted.entity_uuid
    text = f"""{_ASKED} {_FOUND_NODES}
    MATCH (node)-[:OF]->(e:Episodic){mentions} WHERE {conditions}
    WITH DISTINCT e, place, one.weight AS weight WITH e, sum(weight) AS score"""
    return _best("search episodes", text, "e", "valid_at", words, values, limit)


def _best(
    name: str, text: str, record: str, newest: str, words: Sequence[Weighed], values: Mapping[str, object], limit: int
) -> Query:
    """Of equal weight the newest, so that of any number of hits the same are taken, whoever else writes."""
    return Query(
        name,
        f"""{text} WITH {record}.uuid AS uuid, score, coalesce({record}.{newest}, $dawn) AS at
        ORDER BY score DESC, at DESC, uuid LIMIT $limit RETURN uuid, score""",
        {**values, "asked": [{"words": one.words, "weight": one.weight} for one in words], "limit": limit},
    )


def episodes_naming(
    group_id: str, name: str, before: datetime, after: str | None, limit: int, *, only_linking: bool
) -> Query:
    """Spaces and hyphens inside a name are optional, so every joining and every division in two is a phrase."""
    values: dict[str, object] = {"before": before, "after": after or "", "limit": limit, "groups": [group_id]}
    matching = "coalesce(e.created_at, $dawn) < $before AND coalesce(e.uuid, '') > $after"
    if only_linking:
        matching += " AND NOT EXISTS { MATCH (y:EntryRecord {uuid: e.uuid}) WHERE NOT y.links_names }"
    needed = naming_phrases(name)
    if not needed:
        return Query(
            "episodes holding",
            f"""MATCH (e:Episodic) WHERE e.group_id IN $groups AND e.content CONTAINS $name AND {matching}
            WITH e ORDER BY e.uuid LIMIT $limit OPTIONAL MATCH (e)<-[:OF]-(s:SearchText)
            RETURN {EPISODE_COLUMNS} ORDER BY uuid""",
            {**values, "name": name},
        )
    return Query(
        "episodes naming",
        f"""CALL db.index.fulltext.queryNodes('{NODES_INDEX}', $words) YIELD node
        MATCH (node)-[:OF]->(e:Episodic) WHERE coalesce(e.group_id, '') IN $groups AND {matching}
        WITH e, node AS s ORDER BY e.uuid LIMIT $limit RETURN {EPISODE_COLUMNS} ORDER BY uuid""",
        {**values, "words": _lucene(*needed, group_ids=[group_id], kind="episode")},
    )


def naming_phrases(name: str) -> list[list[str]]:
    """What a text that holds a name has: of each list a phrase. None for a name of which full text knows nothing.

    Of a telephone number, whose digits may be grouped in any way: a beginning and an end.
    """
    number = phone_number(name)
    if number is None:
        spellings = name_spellings(name)
        return [spellings] if spellings else []
    digits = number.removeprefix("+")
    return [[digits[:at] for at in range(1, len(digits) + 1)], [digits[at:] for at in range(len(digits))]]


def name_spellings(name: str) -> list[str]:
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
