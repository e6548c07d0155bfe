"""The whole graph as comparable values, and what a storm must not have done to it."""

import sqlite3
from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphiti_pkm.core.model.names import normalise_name
from graphiti_pkm.storage.journal.checking import journal_tables
from graphiti_pkm.storage.journal.connection import MEMORY

_LEFT_OUT = frozenset({"applied_write", "vector_removals"})
"""Tables that say when a write reached the graph, not what it said."""
_KEYS = {"groups": ["group_id"], "search_text": ["record_uuid", "part"], "vector": ["uuid"]}
"""Of tables whose own key counts rows."""
_WHEN_APPLIED = {"groups": {"id", "names_version", "recorded_at"}, "search_text": {"id"}, "vector": {"id"}}

Properties = dict[str, Any]


@dataclass(frozen=True)
class Dump:
    """Rows by table and key."""

    tables: dict[str, dict[tuple[Any, ...], Properties]]

    def of(self, table: str) -> list[Properties]:
        return list(self.tables[table].values())

    def without(self, *tables: str) -> "Dump":
        return Dump({name: rows for name, rows in self.tables.items() if name not in tables})

    def mentions(self) -> set[tuple[str, str]]:
        """Uuids of episode and entity."""
        return {(one["episode_uuid"], one["entity_uuid"]) for one in self.of("mention")}


def dump(data_dir: Path) -> Dump:
    """Every table of the graph; vectors with all their numbers."""
    with closing(sqlite3.connect(data_dir / MEMORY)) as db:
        db.row_factory = sqlite3.Row
        db.execute("BEGIN")  # all from one moment
        names = [
            name
            for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
            if not name.startswith(("sqlite_", "word_index")) and name not in journal_tables() | _LEFT_OUT
        ]
        tables = {name: _rows(db, name) for name in names}
    for key in ("probe", "origin"):  # whether the file can be written; which tables these are
        tables["graph_meta"].pop((key,), None)
    return Dump(tables)


def _rows(db: sqlite3.Connection, table: str) -> dict[tuple[Any, ...], Properties]:
    own = db.execute("SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk", (table,))
    key, passing = _KEYS.get(table) or [name for (name,) in own], _WHEN_APPLIED.get(table, set())
    rows = db.execute(f'SELECT * FROM "{table}" ORDER BY {", ".join(key)}')  # noqa: S608 names of ours
    return {tuple(row[name] for name in key): {k: row[k] for k in row.keys() if k not in passing} for row in rows}  # noqa: SIM118 a Row iterates over values


def differences(before: Dump, after: Dump) -> list[str]:
    """What is not the same in both, in words, at most twenty."""
    found: list[str] = []
    for table in sorted(before.tables.keys() | after.tables.keys()):
        one, other = before.tables.get(table, {}), after.tables.get(table, {})
        for key in sorted(one.keys() | other.keys(), key=str):
            a, b = one.get(key), other.get(key)
            if a is None or b is None:
                found.append(f"{table} {key}: only {'after' if a is None else 'before'}")
            elif a != b:
                found.append(f"{table} {key}: other {', '.join(sorted(name for name in a if a[name] != b.get(name)))}")
    return found[:20]


def repeated_names(graph: Dump) -> list[str]:
    """Names held by more than one entity of a group."""
    return _several(Counter((one["group_id"], normalise_name(one["name"])) for one in graph.of("entity")))


def repeated_tokens(graph: Dump, tokens: Iterable[str]) -> list[str]:
    """Notes that stand in more than one episode."""
    words = Counter(word for one in graph.of("episode") for word in one["content"].replace("(", " ").split())
    return [token for token in tokens if words[f"{token})."] > 1]


def repeated_facts(graph: Dump) -> list[str]:
    """States told twice between the same entities in the same words, both still held true."""
    held = Counter(
        (one["source_uuid"], one["target_uuid"], one["relation"], one["text"].casefold())
        for one in graph.of("fact")
        if one["kind"] == "state" and not one["voided"] and one["expired_at"] is None
    )
    return _several(held)


def several_current(graph: Dump, relation: str) -> list[str]:
    """Entities with more than one current fact of a relation."""
    held = Counter(
        one["source_uuid"]
        for one in graph.of("fact")
        if one["relation"] == relation and not one["voided"] and one["invalid_at"] is None
    )
    return _several(held)


def _several(counted: "Counter[Any]") -> list[str]:
    return [f"{what}: {times}" for what, times in counted.items() if times > 1]
