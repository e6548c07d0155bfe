"""Merges of two entities: what a part of one does to the tables, and what is asked before it."""

import json
import sqlite3
from collections.abc import Sequence

from graphiti_pkm.core.model.merges import MergeHead, MergeSizes
from graphiti_pkm.core.model.records import BECAUSE_OF, Fact, Mention, Merge, Name, Project, WriteIntent, WriteKind
from graphiti_pkm.core.model.redaction import redacted_merge
from graphiti_pkm.storage.graph.sqlite import facts, values, words
from graphiti_pkm.storage.graph.sqlite.part import SqlitePart
from graphiti_pkm.storage.graph.sqlite.schema import DAWN, ENTITY, HAS_CAUSE
from graphiti_pkm.storage.graph.sqlite.tables import Tables
from graphiti_pkm.storage.graph.sqlite.values import IN_GROUPS, NAME_COLUMNS, as_list, known_moment, micros, moment

_CAUSE = f"json_extract(attributes, '$.{BECAUSE_OF}')"


def is_former(db: sqlite3.Connection, entity_uuid: str) -> bool:
    """Whether the entity was merged into another."""
    return db.execute("SELECT 1 FROM former_uuid WHERE uuid = ?", (entity_uuid,)).fetchone() is not None


def begin(tables: Tables, intent: WriteIntent) -> None:
    """What comes before the records of the write: the first part frees names, undoing the last one frees the uuid.

    Quotes are not written over, so those of a split make room for what they become.
    """
    db, merge = tables.db, intent.merge
    if intent.kind is WriteKind.SPLIT:
        db.executemany("DELETE FROM instance WHERE uuid = ?", [(one.uuid,) for one in intent.instances])
    if merge is None:
        return
    removed = merge.removed_uuid
    if merge.undoes and merge.is_last:
        db.execute("DELETE FROM former_uuid WHERE uuid = ?", (removed,))
        db.execute(
            "UPDATE former_uuid SET entity_uuid = ? WHERE uuid IN (SELECT value FROM json_each(?)) AND entity_uuid = ?",
            (removed, as_list(merge.former), merge.kept_uuid),
        )
    elif not merge.undoes and merge.place == 0:
        tables.renamed.add(intent.group_id)
        db.execute("DELETE FROM name WHERE entity_uuid = ?", (removed,))
        words.remove(db, tables.prefix(intent.group_id, ENTITY), removed, kept_parts=[""])


def finish(tables: Tables, intent: WriteIntent) -> None:
    """What comes after them: records move, and the last part takes the removed entity out. Without both it is void.

    Of a split, the events of facts go where these went.
    """
    db, merge = tables.db, intent.merge
    if intent.kind is WriteKind.SPLIT:
        db.executemany(
            """UPDATE change SET source_uuid = f.source_uuid, target_uuid = f.target_uuid
            FROM fact f WHERE f.uuid = ?1 AND change.fact_uuid = f.uuid""",
            [(one.uuid,) for one in intent.facts],
        )
    if merge is None:
        return
    there = db.execute("SELECT 1 FROM entity WHERE uuid IN (?, ?)", (merge.kept_uuid, merge.removed_uuid)).fetchall()
    if len(there) == len({merge.kept_uuid, merge.removed_uuid}):
        _move(db, merge)
        if merge.undoes:
            db.executemany("INSERT OR IGNORE INTO apart VALUES (?, ?)", merge.apart)
        else:
            _take_out(tables, intent, merge)
    if merge.undoes:
        db.execute("DELETE FROM merge_part WHERE uuid = ? AND place = ?", (merge.uuid, merge.place))
        db.execute("UPDATE merge_part SET is_undone = 1 WHERE uuid = ?", (merge.uuid,))


def _take_out(tables: Tables, intent: WriteIntent, merge: Merge) -> None:
    db, kept, removed = tables.db, merge.kept_uuid, merge.removed_uuid
    tables.delete_facts(merge.facts)
    db.executemany(
        "DELETE FROM mention WHERE episode_uuid = ? AND entity_uuid = ?", [(one, removed) for one in merge.mentions]
    )
    db.execute(
        """INSERT OR REPLACE INTO merge_part (uuid, place, group_id, kept_uuid, removed_uuid, recorded_at, is_last,
        content) VALUES (?, ?, ?, ?, ?, ?, ?, ?)""",
        (
            *(merge.uuid, merge.place, intent.group_id, kept, removed, micros(intent.recorded_at), int(merge.is_last)),
            merge.model_dump_json(),
        ),
    )
    if not merge.is_last:
        return
    words.remove(db, tables.prefix(intent.group_id, ENTITY), removed)
    db.execute("DELETE FROM entity WHERE uuid = ?", (removed,))
    db.execute("UPDATE former_uuid SET entity_uuid = ? WHERE entity_uuid = ?", (kept, removed))
    db.execute("INSERT OR REPLACE INTO former_uuid VALUES (?, ?, ?)", (removed, intent.group_id, kept))


def _move(db: sqlite3.Connection, merge: Merge) -> None:
    ends = (merge.removed_uuid, merge.kept_uuid)
    before, after = ends[::-1] if merge.undoes else ends
    moved = merge.moved
    for table, column, uuids in (
        ("fact", "source_uuid", moved.sources),
        ("fact", "target_uuid", moved.targets),
        ("change", "source_uuid", moved.change_sources),
        ("change", "target_uuid", moved.change_targets),
        ("instance", "entity_uuid", moved.evidence),
    ):
        db.executemany(
            f"UPDATE {table} SET {column} = ? WHERE uuid = ? AND {column} = ?", [(after, one, before) for one in uuids]
        )
    for fact in moved.causes:
        row = values.one(db, f"SELECT attributes FROM fact WHERE uuid = ? AND {_CAUSE} = ?", (fact, before))
        if row is not None:
            attributes = values.stored_attributes({**json.loads(row["attributes"]), BECAUSE_OF: after})
            db.execute("UPDATE fact SET attributes = ? WHERE uuid = ?", (attributes, fact))
    for episode in moved.mentions:  # taken out and put in again, since relevance counts what comes and goes
        row = values.one(db, "SELECT * FROM mention WHERE episode_uuid = ? AND entity_uuid = ?", (episode, before))
        if row is not None:
            db.execute("DELETE FROM mention WHERE episode_uuid = ? AND entity_uuid = ?", (episode, before))
            columns = [after if column == "entity_uuid" else row[column] for column in row.keys()]  # noqa: SIM118
            db.execute(f"INSERT OR IGNORE INTO mention VALUES ({', '.join('?' * len(columns))})", columns)
    db.executemany(
        """UPDATE entry SET project_uuid = ?1 WHERE uuid = ?2 AND project_uuid IS ?3
        AND EXISTS (SELECT 1 FROM project WHERE uuid = ?1)""",
        [(after, one, before) for one in moved.entries],
    )


def forget(tables: Tables, forgetting: WriteIntent) -> None:
    """Take out of what merges keep what a write forgets."""
    held = tables.db.execute(
        "SELECT uuid, place, content FROM merge_part WHERE group_id = ?", (forgetting.group_id,)
    ).fetchall()
    for row in held:
        left = redacted_merge(Merge.model_validate_json(row["content"]), forgetting).model_dump_json()
        if left != row["content"]:
            tables.db.execute(
                "UPDATE merge_part SET content = ? WHERE uuid = ? AND place = ?", (left, row["uuid"], row["place"])
            )


# What is asked


def former(db: sqlite3.Connection, group_id: str) -> dict[str, str]:
    """Uuids of merged entities with those that they mean now."""
    found = db.execute("SELECT uuid, entity_uuid FROM former_uuid WHERE group_id = ?", (group_id,))
    return {row["uuid"]: row["entity_uuid"] for row in found}


class SqliteMerging(SqlitePart):
    """The port ``GraphMerging``."""

    async def sizes(self, kept_uuid: str, removed_uuid: str) -> MergeSizes:
        return await self._file.read(lambda db: _sizes(db, kept_uuid, removed_uuid))

    async def facts(self, entity_uuid: str, limit: int, after: str = "") -> list[Fact]:
        found = """fact f WHERE f.uuid IN (SELECT uuid FROM (
          SELECT uuid FROM fact WHERE source_uuid = :entity AND uuid > :after
          UNION SELECT uuid FROM fact WHERE target_uuid = :entity AND uuid > :after
          ORDER BY uuid LIMIT :limit))"""
        asked = {"entity": entity_uuid, "limit": limit, "after": after}
        return await self._file.read(lambda db: _facts(db, found, asked))

    async def facts_like(self, entity_uuid: str, facts: Sequence[Fact], limit: int) -> list[Fact]:
        is_like = (
            "starts IN (SELECT value FROM json_each(:starts)) AND relation IN (SELECT value FROM json_each(:relations))"
        )
        found = f"""fact f WHERE f.uuid IN (SELECT uuid FROM (
          SELECT uuid FROM fact WHERE source_uuid = :entity AND {is_like}
            AND target_uuid IN (SELECT value FROM json_each(:others))
          UNION SELECT uuid FROM fact WHERE target_uuid = :entity AND {is_like}
            AND source_uuid IN (SELECT value FROM json_each(:others))
          ORDER BY uuid LIMIT :limit))"""
        starts = {DAWN if one.valid_at is None else micros(one.valid_at) for one in facts}
        asked = {
            "entity": entity_uuid,
            "others": as_list(
                sorted({uuid for one in facts for uuid in (one.source_uuid, one.target_uuid)} | {entity_uuid})
            ),
            "relations": as_list(sorted({one.relation for one in facts})),
            "starts": as_list(sorted(starts)),
            "limit": limit,
        }
        return await self._file.read(lambda db: _facts(db, found, asked))

    async def open_facts(
        self, entity_uuid: str, others: Sequence[str], relations: Sequence[str], limit: int
    ) -> list[Fact]:
        is_open = "NOT voided AND expired_at IS NULL"
        found = f"""fact f WHERE f.uuid IN (SELECT uuid FROM (
          SELECT uuid FROM fact WHERE source_uuid = :entity AND {is_open}
            AND (target_uuid IN (SELECT value FROM json_each(:others))
              OR relation IN (SELECT value FROM json_each(:relations)))
          UNION SELECT uuid FROM fact WHERE target_uuid = :entity AND {is_open}
            AND source_uuid IN (SELECT value FROM json_each(:others))
          ORDER BY uuid LIMIT :limit))"""
        asked = {"entity": entity_uuid, "others": as_list(others), "relations": as_list(relations), "limit": limit}
        return await self._file.read(lambda db: _facts(db, found, asked))

    async def mentions(self, entity_uuid: str, limit: int, after: str = "") -> list[Mention]:
        return await self._mentions("episode_uuid > ? ORDER BY episode_uuid LIMIT ?", entity_uuid, after, limit)

    async def _mentions(self, that: str, *asked: object) -> list[Mention]:
        def read(db: sqlite3.Connection) -> list[Mention]:
            columns = "uuid, episode_uuid, entity_uuid, created_at"
            found = db.execute(f"SELECT {columns} FROM mention WHERE entity_uuid = ? AND {that}", asked)
            return [Mention.model_validate({**dict(row), "created_at": moment(row["created_at"])}) for row in found]

        return await self._file.read(read)

    async def mentions_in(self, entity_uuid: str, episode_uuids: Sequence[str]) -> list[Mention]:
        return await self._mentions(
            "episode_uuid IN (SELECT value FROM json_each(?)) ORDER BY episode_uuid",
            entity_uuid,
            as_list(episode_uuids),
        )

    async def entries(self, project_uuid: str, limit: int) -> list[str]:
        return await self._uuids(
            "SELECT uuid FROM entry WHERE project_uuid = ? ORDER BY uuid LIMIT ?", (project_uuid, limit)
        )

    async def evidence(self, entity_uuid: str, limit: int) -> list[str]:
        return await self._uuids(
            "SELECT uuid FROM instance WHERE entity_uuid = ? ORDER BY uuid LIMIT ?", (entity_uuid, limit)
        )

    async def project(self, uuid: str) -> Project | None:
        found = await self._projects("uuid = ?", (uuid,))
        return found[0] if found else None

    async def pinning(self, entity_uuid: str, group_id: str, limit: int) -> list[Project]:
        is_pinned = "EXISTS (SELECT 1 FROM json_each(pins) x WHERE x.value = ?)"
        return await self._projects(
            f"group_id = ? AND {is_pinned} ORDER BY uuid LIMIT ?", (group_id, entity_uuid, limit)
        )

    async def _projects(self, where: str, asked: Sequence[object]) -> list[Project]:
        def read(db: sqlite3.Connection) -> list[Project]:
            found = db.execute(f"SELECT * FROM project WHERE {where}", asked)
            return [
                Project.model_validate(
                    {**dict(row), "created_at": moment(row["created_at"]), "pins": tuple(json.loads(row["pins"]))}
                )
                for row in found
            ]

        return await self._file.read(read)

    async def caused(self, entity_uuid: str, group_id: str, limit: int) -> list[str]:
        return await self._uuids(
            f"""SELECT uuid FROM fact WHERE group_id = ? AND {HAS_CAUSE.format(fact="")} AND {_CAUSE} = ?
            ORDER BY uuid LIMIT ?""",
            (group_id, entity_uuid, limit),
        )

    async def change_ends(self, entity_uuid: str, limit: int) -> tuple[list[str], list[str]]:
        sources, targets = (
            f"SELECT uuid FROM change WHERE {end} = ? LIMIT ?" for end in ("source_uuid", "target_uuid")
        )
        return await self._uuids(sources, (entity_uuid, limit)), await self._uuids(targets, (entity_uuid, limit))

    async def names(self, entity_uuid: str) -> list[Name]:
        def read(db: sqlite3.Connection) -> list[Name]:
            found = db.execute(
                f"SELECT {NAME_COLUMNS} FROM name k WHERE k.entity_uuid = ? ORDER BY k.key", (entity_uuid,)
            )
            return list(map(values.name, found))

        return await self._file.read(read)

    async def apart(self, entity_uuid: str) -> list[tuple[str, str]]:
        def read(db: sqlite3.Connection) -> list[tuple[str, str]]:
            found = db.execute("SELECT one, other FROM apart WHERE ? IN (one, other) ORDER BY 1, 2", (entity_uuid,))
            return [(row["one"], row["other"]) for row in found]

        return await self._file.read(read)

    async def heads(self, entity_uuid: str | None, group_ids: Sequence[str] | None, limit: int) -> list[MergeHead]:
        return await self._file.read(lambda db: _heads(db, entity_uuid, group_ids, limit))

    async def part(self, merge_uuid: str, place: int) -> Merge | None:
        def read(db: sqlite3.Connection) -> Merge | None:
            row = values.one(db, "SELECT content FROM merge_part WHERE uuid = ? AND place = ?", (merge_uuid, place))
            return None if row is None else Merge.model_validate_json(row["content"])

        return await self._file.read(read)

    async def _uuids(self, text: str, asked: Sequence[object]) -> list[str]:
        return await self._file.read(lambda db: [row[0] for row in db.execute(text, asked)])


def _facts(db: sqlite3.Connection, found: str, asked: dict[str, object]) -> list[Fact]:
    text = (
        f"SELECT {facts.COLUMNS} FROM {found.replace('fact f WHERE', f'fact f {facts.ENDS} WHERE', 1)} ORDER BY f.uuid"
    )
    return list(map(values.fact, db.execute(text, asked)))


def _sizes(db: sqlite3.Connection, kept: str, removed: str) -> MergeSizes:
    def count(text: str, *asked: object) -> int:
        (number,) = db.execute(text, asked).fetchone()
        return int(number or 0)

    def facts_of(uuid: str) -> int:
        return count(
            """SELECT count(*) FROM (SELECT uuid FROM fact WHERE source_uuid = ?1
            UNION SELECT uuid FROM fact WHERE target_uuid = ?1)""",
            uuid,
        )

    def mentions_of(uuid: str) -> int:
        return count("SELECT count(*) FROM mention WHERE entity_uuid = ?", uuid)

    newest = [
        count(f"SELECT max({at}) FROM {table} WHERE {column} = ?", uuid)
        for uuid in (kept, removed)
        for table, at, columns in (
            ("fact", "created_at", ("source_uuid", "target_uuid")),
            ("change", "recorded_at", ("source_uuid", "target_uuid", "fact_uuid")),
        )
        for column in columns
    ]
    return MergeSizes(
        facts=(facts_of(kept), facts_of(removed)),
        mentions=(mentions_of(kept), mentions_of(removed)),
        entries=count("SELECT count(*) FROM entry WHERE project_uuid = ?", removed),
        pair=count(
            """SELECT count(*) FROM fact WHERE (source_uuid = ?1 AND target_uuid = ?2)
            OR (source_uuid = ?2 AND target_uuid = ?1)""",
            *(kept, removed),
        ),
        newest=known_moment(max(newest) or None),
    )


def _heads(
    db: sqlite3.Connection, entity_uuid: str | None, group_ids: Sequence[str] | None, limit: int
) -> list[MergeHead]:
    """Of an entity in either part, or those that are not whole; the newest first."""
    asked: dict[str, object] = {"entity": entity_uuid, "limit": limit}
    where, having = "", "HAVING max(is_last) = 0 OR max(is_undone) = 1"
    if entity_uuid is not None:
        where, having = "WHERE (kept_uuid = :entity OR removed_uuid = :entity)", ""
    if group_ids is not None:
        where = f"{where} {'AND' if where else 'WHERE'} group_id {IN_GROUPS}"
        asked["groups"] = as_list(group_ids)
    found = db.execute(
        f"""SELECT uuid, group_id, kept_uuid, removed_uuid, min(recorded_at) AS at, max(place) + 1 AS parts,
          max(is_last) AS is_whole, max(is_undone) AS is_undone FROM merge_part {where}
        GROUP BY uuid {having} ORDER BY at DESC, uuid LIMIT :limit""",
        asked,
    )
    return [
        MergeHead(
            uuid=row["uuid"],
            group_id=row["group_id"],
            kept_uuid=row["kept_uuid"],
            removed_uuid=row["removed_uuid"],
            recorded_at=moment(row["at"]),
            parts=row["parts"],
            is_whole=bool(row["is_whole"]),
            is_undone=bool(row["is_undone"]),
        )
        for row in found
    ]
