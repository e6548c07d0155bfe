"""The migration to names whose numbers are told apart.

A name gets the key of its text, and spellings that are another name by now become aliases of the same entity. The
journal needs none: its names get their keys when they are read.
"""

import json
import sqlite3

from graphiti_pkm.core.model.name_records import Name, names_apart

_COLUMNS = "key, group_id, text, spellings, entity_uuid, is_alias, is_linkable"
_BATCH = 1_000


def tell_numbers_apart(connection: sqlite3.Connection) -> None:
    """Inside a write transaction. A key that another entity has stays with it."""
    after = ""
    query = f"SELECT {_COLUMNS} FROM name WHERE key > ? ORDER BY key LIMIT ?"
    while rows := connection.execute(query, (after, _BATCH)).fetchall():
        for row in rows:
            key, group, text, spellings, entity, is_alias, is_linkable = row
            name = Name(
                key=key,
                group_id=group,
                text=text,
                spellings=json.loads(spellings),
                entity_uuid=entity,
                is_alias=bool(is_alias),
                is_linkable=bool(is_linkable),
            )
            apart = names_apart([name])
            if apart != (name,):
                _replace(connection, name, apart)
        after = rows[-1][0]


def _replace(connection: sqlite3.Connection, name: Name, apart: tuple[Name, ...]) -> None:
    first, *others = apart
    renewed = connection.execute(
        "UPDATE OR IGNORE name SET key = ?, spellings = ? WHERE key = ?", (first.key, _spelt(first), name.key)
    )
    if not renewed.rowcount:  # another entity has the key
        connection.execute("DELETE FROM name WHERE key = ?", (name.key,))
    for one in others:
        _add(connection, one)
    moved = [(name.key, first.key)]
    for one in apart:
        for text in one.spellings if one is first else (one.text, *one.spellings):
            is_main = one is not first and text == one.text
            moved.append((f"{name.key}\x1f{text}", one.key if is_main else f"{one.key}\x1f{text}"))
    connection.executemany(
        "UPDATE OR IGNORE search_text SET part = ? WHERE record_uuid = ? AND part = ?",
        [(new, name.entity_uuid, old) for old, new in moved if old != new],
    )


def _add(connection: sqlite3.Connection, name: Name) -> None:
    connection.execute(
        f"INSERT INTO name ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (
            *(name.key, name.group_id, name.text, _spelt(name)),
            *(name.entity_uuid, name.is_alias, name.is_linkable),
        ),
    )


def _spelt(name: Name) -> str:
    return json.dumps(list(dict.fromkeys((name.text, *name.spellings))), ensure_ascii=False)
