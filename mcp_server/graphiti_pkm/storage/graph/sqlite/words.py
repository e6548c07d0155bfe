"""Full text. Every word is indexed with its group before it, so that a group has posting lists of its own.

What others write changes neither what is found nor how fast, and no weight is counted over more than the groups asked
for. The words are folded already (``core.model.names``); the index only stems them. The prefix has consonants and
digits, which the stemmer takes as the beginning of a word. It stems no word of two letters ("is" is not a plural), so
such a word gets a digit at its end, since the prefix makes it longer.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from graphiti_pkm.core.model.names import fold
from graphiti_pkm.core.model.queries import EntityFilter, EpisodeFilter, FactFilter
from graphiti_pkm.core.model.records import Episode
from graphiti_pkm.storage.graph.queries.search import deciding, naming_phrases, searchable, weight
from graphiti_pkm.storage.graph.sqlite import episodes, facts, lookups, values
from graphiti_pkm.storage.graph.sqlite.schema import COMMUNITY, ENTITY, EPISODE, FACT
from graphiti_pkm.storage.graph.sqlite.values import EPISODE_COLUMNS, micros

_LETTERS = {ENTITY: "n", EPISODE: "p", FACT: "f", COMMUNITY: "c"}
_UNSTEMMED = 2
"""The most letters of a word that is never stemmed."""
_MORE = 4


def prefix(group_number: int, kind: str) -> str:
    """What stands before each word of a group's records of a kind."""
    return f"{_LETTERS[kind]}{group_number}q"


def put(db: sqlite3.Connection, before: str, record_uuid: str, part: str, words: str) -> None:
    """Index the words of a record, or of one of its names (``part``), in place of its former ones."""
    old = values.one(db, "SELECT id, words FROM search_text WHERE record_uuid = ? AND part = ?", (record_uuid, part))
    if old is not None and old["words"] == words:
        return
    if old is not None:
        _unindex(db, before, old["id"], old["words"])
    (number,) = db.execute(
        """INSERT INTO search_text (record_uuid, part, words) VALUES (?, ?, ?)
        ON CONFLICT (record_uuid, part) DO UPDATE SET words = excluded.words RETURNING id""",
        (record_uuid, part, words),
    ).fetchone()
    db.execute("INSERT INTO word_index (rowid, text) VALUES (?, ?)", (number, _prefixed(before, words)))


def remove(db: sqlite3.Connection, before: str, record_uuid: str, kept_parts: Sequence[str] = ()) -> None:
    """Remove all words of a record but those of some of its parts."""
    for row in db.execute("SELECT id, part, words FROM search_text WHERE record_uuid = ?", (record_uuid,)).fetchall():
        if row["part"] not in kept_parts:
            _unindex(db, before, row["id"], row["words"])
            db.execute("DELETE FROM search_text WHERE id = ?", (row["id"],))


def remove_parts(db: sqlite3.Connection, before: str, record_uuid: str, parts: Sequence[str]) -> None:
    """Remove the words of some parts of a record."""
    held = db.execute("SELECT part FROM search_text WHERE record_uuid = ?", (record_uuid,))
    remove(db, before, record_uuid, [row["part"] for row in held.fetchall() if row["part"] not in parts])


def _unindex(db: sqlite3.Connection, before: str, number: int, words: str) -> None:
    """Remove words from the index, which has no content and must be told which words to forget."""
    db.execute(
        "INSERT INTO word_index (word_index, rowid, text) VALUES ('delete', ?, ?)", (number, _prefixed(before, words))
    )


def _prefixed(before: str, words: str) -> str:
    return " ".join(_indexed(before, word) for word in words.split())


def _indexed(before: str, word: str) -> str:
    return f"{before}{word}" if len(word) > _UNSTEMMED else f"{before}{word}0"


class _Word(NamedTuple):
    """A word of a search, and what a record that has it gains by it."""

    expression: str
    weight: int
    held: int
    """The number of texts of the groups that contain it."""


_LATER = f"""SELECT t.id FROM episode e JOIN search_text t ON t.record_uuid = e.uuid
  WHERE e.group_id {values.IN_GROUPS} AND e.created_at > :until"""


def episodes_holding(db: sqlite3.Connection, terms: Sequence[str], wanted: EpisodeFilter) -> dict[str, int]:
    """The number of episodes that have each word; those recorded later, which are few, are counted apart."""
    counted = _counted(db, terms, wanted.group_ids, EPISODE)
    if wanted.recorded_until is None:
        return {word: hits for word, (hits, _) in counted.items()}
    given = {"groups": values.as_list(wanted.group_ids), "until": values.micros(wanted.recorded_until)}
    later = f"SELECT count(*) FROM word_index WHERE word_index MATCH :words AND rowid IN ({_LATER})"
    held = {
        word: hits - db.execute(later, {**given, "words": words}).fetchone()[0]
        for word, (hits, words) in counted.items()
    }
    return {word: hits for word, hits in held.items() if hits}


def _asked(db: sqlite3.Connection, terms: Sequence[str], group_ids: Sequence[str], kind: str) -> list[_Word]:
    """The words that stand in any text of these groups, the rarest first, weighed by how rare they are there."""
    counted = sorted(_counted(db, terms, group_ids, kind).values(), key=lambda one: one[0])
    total = sum(hits for hits, _ in counted)
    return [_Word(text, weight(hits, total), hits) for hits, text in counted]


def _counted(
    db: sqlite3.Connection, terms: Sequence[str], group_ids: Sequence[str], kind: str
) -> dict[str, tuple[int, str]]:
    """Of the words that stand in any text of these groups, the number of texts, and how to ask for them."""
    numbers = [
        row[0]
        for row in db.execute(
            "SELECT id FROM groups WHERE group_id IN (SELECT value FROM json_each(?))", (values.as_list(group_ids),)
        )
    ]
    folded = dict.fromkeys(word for term in terms for word in searchable(fold(term)).split())
    counted: dict[str, tuple[int, str]] = {}
    for word in folded if numbers else ():
        expression = " OR ".join(f'"{_indexed(prefix(number, kind), word)}"' for number in numbers)
        (hits,) = db.execute("SELECT count(*) FROM word_index WHERE word_index MATCH ?", (expression,)).fetchone()
        if hits:
            counted[word] = hits, expression
    return counted


class Found(NamedTuple):
    """The hits of a search, and which of them count."""

    table: str
    where: str
    at: str
    parameters: dict[str, object]


def search_entities(db: sqlite3.Connection, terms: Sequence[str], wanted: EntityFilter, limit: int) -> dict[str, float]:
    """Entities found by names, aliases and summaries."""
    where, parameters = lookups.entity_condition(wanted)
    found = Found("entity n ON n.uuid = h.uuid", where, "n.created_at", parameters)
    return search(db, terms, wanted.group_ids, ENTITY, found, limit)


def search_facts(db: sqlite3.Connection, terms: Sequence[str], wanted: FactFilter, limit: int) -> dict[str, float]:
    """Facts found by relation names, texts and quotes."""
    asked = facts.condition(wanted)
    found = Found(f"fact f ON f.uuid = h.uuid {asked.join}", asked.where, "f.created_at", asked.values)
    return search(db, terms, wanted.group_ids, FACT, found, limit)


def search_episodes(
    db: sqlite3.Connection, terms: Sequence[str], wanted: EpisodeFilter, limit: int
) -> dict[str, float]:
    """Episodes found by names and contents."""
    where, parameters = episodes.matched(wanted)
    found = Found("episode e ON e.uuid = h.uuid", where, "e.valid_at", parameters)
    return search(db, terms, wanted.group_ids, EPISODE, found, limit)


def search(
    db: sqlite3.Connection, terms: Sequence[str], group_ids: Sequence[str], kind: str, found: Found, limit: int
) -> dict[str, float]:
    """By the rarer words, and by all if these do not fill the limit; of equal weight the newest."""
    words = _asked(db, terms, group_ids, kind)
    if not words:
        return {}
    best = _best_of_single_texts if _has_single_texts(db, kind) else _best
    rarer = deciding(words)
    hits = best(db, rarer, found, limit)
    return hits if len(hits) >= limit or len(rarer) == len(words) else best(db, words, found, limit)


def _has_single_texts(db: sqlite3.Connection, kind: str) -> bool:
    """Whether each record of the kind has one text: entities have one for each name, some episodes one of a source."""
    if kind == EPISODE:
        return db.execute("SELECT 1 FROM search_text WHERE part = 'source' LIMIT 1").fetchone() is None
    return kind == FACT


def _best_of_single_texts(db: sqlite3.Connection, words: Sequence[_Word], found: Found, limit: int) -> dict[str, float]:
    """As ``_best``. Only records that can be among the best are looked up, not all that have a word."""
    count = _outweighing(words, limit)
    if count:
        rare = " OR ".join(word.expression for word in words[:count])
        with_rare = [word._replace(expression=f"({word.expression}) AND ({rare})") for word in words[count:]]
        hits = _best_looked_up(db, [*words[:count], *with_rare], found, limit)
        if len(hits) >= limit:
            return hits
    return _best_looked_up(db, words, found, limit)


def _outweighing(words: Sequence[_Word], limit: int) -> int:
    """How many of the rarest words weigh each more than all others, if enough texts have one; 0 if there are none.

    All of the best have one of these words then, and the common words need not be looked for in other texts.
    """
    for count in range(1, len(words)):
        is_enough = sum(word.held for word in words[:count]) >= limit
        if is_enough and words[count - 1].weight > sum(word.weight for word in words[count:]):
            return count
    return 0


def _best_looked_up(db: sqlite3.Connection, words: Sequence[_Word], found: Found, limit: int) -> dict[str, float]:
    each = " UNION ALL ".join(
        f"SELECT rowid AS id, :weight{place} AS weight FROM word_index WHERE word_index MATCH :word{place}"
        for place in range(len(words))
    )
    levels = db.execute(
        f"""SELECT score, count(*), json_group_array(id)
        FROM (SELECT id, sum(weight) AS score FROM ({each}) GROUP BY id) GROUP BY score ORDER BY score DESC""",
        _parameters(words),
    )
    hits: dict[str, float] = {}
    # A level is read once: with ``json_extract`` beside its ids SQLite would compare its whole text again for each.
    for asked in _batches(levels, limit):
        looked_up = db.execute(
            f"""WITH level(score, ids) AS MATERIALIZED (
              SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(:levels))
            SELECT h.uuid, h.score FROM (SELECT t.record_uuid AS uuid, level.score
              FROM level CROSS JOIN json_each(level.ids) i CROSS JOIN search_text t ON t.id = i.value) h
            CROSS JOIN {found.table} WHERE {found.where} ORDER BY h.score DESC, {found.at} DESC, h.uuid LIMIT :limit""",
            {**found.parameters, "levels": asked, "limit": limit - len(hits)},
        )
        hits |= {row["uuid"]: float(row["score"]) for row in looked_up}
        if len(hits) >= limit:
            break
    return hits


def _batches(levels: Iterable[tuple[int, int, str]], size: int) -> Iterator[str]:
    """Scores with the ids that have them, best first, ``size`` ids and more at a time, as JSON."""
    batch: list[str] = []
    count = 0
    for score, number, ids in levels:
        if count >= size:
            yield f"[{','.join(batch)}]"
            batch, count, size = [], 0, size * _MORE
        batch.append(f"[{score},{ids}]")
        count += number
    if batch:
        yield f"[{','.join(batch)}]"


def _parameters(words: Sequence[_Word]) -> dict[str, object]:
    parameters: dict[str, object] = {}
    for place, word in enumerate(words):
        parameters |= {f"word{place}": word.expression, f"weight{place}": word.weight}
    return parameters


def _best(db: sqlite3.Connection, words: Sequence[_Word], found: Found, limit: int) -> dict[str, float]:
    each = " UNION ALL ".join(
        f"""SELECT DISTINCT t.record_uuid AS uuid, :weight{place} AS weight
        FROM word_index w CROSS JOIN search_text t ON t.id = w.rowid WHERE w.word_index MATCH :word{place}"""
        for place in range(len(words))
    )
    hits = db.execute(
        f"""SELECT h.uuid, h.score FROM (SELECT uuid, sum(weight) AS score FROM ({each}) GROUP BY uuid) h
        CROSS JOIN {found.table} WHERE {found.where} ORDER BY h.score DESC, {found.at} DESC, h.uuid LIMIT :limit""",
        {**found.parameters, **_parameters(words), "limit": limit},
    )
    return {row["uuid"]: float(row["score"]) for row in hits}


def episodes_naming(
    db: sqlite3.Connection,
    group_id: str,
    name: str,
    before: datetime,
    after: str | None,
    limit: int,
    *,
    only_linking: bool,
) -> list[Episode]:
    """Episodes whose text may hold the name: all words of one of the ways in which it may be written."""
    group = values.one(db, "SELECT id FROM groups WHERE group_id = ?", (group_id,))
    if group is None:
        return []
    parameters: dict[str, object] = {"only_linking": only_linking, "name": name}
    parameters |= {"group": group_id, "before": micros(before), "after": after or "", "limit": limit}
    needed = naming_phrases(name)
    matched = "instr(e.content, :name)"
    if needed:
        letters = prefix(group[0], EPISODE)
        any_of_each = (" OR ".join(_all_of(letters, phrase.split()) for phrase in phrases) for phrases in needed)
        parameters["words"] = " AND ".join(f"({phrases})" for phrases in any_of_each)
        matched = """e.uuid IN (SELECT t.record_uuid FROM word_index w CROSS JOIN search_text t ON t.id = w.rowid
          WHERE w.word_index MATCH :words)"""
    found = db.execute(
        f"""SELECT {EPISODE_COLUMNS} FROM episode e WHERE {matched} AND e.group_id = :group
        AND e.created_at < :before AND e.uuid > :after AND NOT (:only_linking AND EXISTS (
          SELECT 1 FROM entry y WHERE y.uuid = e.uuid AND NOT y.links_names)) ORDER BY e.uuid LIMIT :limit""",
        parameters,
    )
    return list(map(values.episode, found))


def _all_of(letters: str, words: Iterable[str]) -> str:
    return "(" + " AND ".join(f'"{_indexed(letters, word)}"' for word in dict.fromkeys(words)) + ")"
