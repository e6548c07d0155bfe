"""The part ``documents`` over the tables: documents, their sections, and quotes from them."""

import sqlite3
from collections.abc import Sequence
from datetime import datetime

from graphiti_pkm.core.model.document_records import Document, Instance, Placed, Section
from graphiti_pkm.core.model.documents import DocumentCounts, InstancePage, InstanceRow
from graphiti_pkm.core.model.queries import Window
from graphiti_pkm.core.model.records import Passage
from graphiti_pkm.storage.graph.sqlite import values
from graphiti_pkm.storage.graph.sqlite.file import Row
from graphiti_pkm.storage.graph.sqlite.part import SqlitePart
from graphiti_pkm.storage.graph.sqlite.schema import DUSK
from graphiti_pkm.storage.graph.sqlite.values import IN_GROUPS, as_list, instant_key, micros, moment

_DOCUMENT = ", ".join(f"d.{field} AS d_{field}" for field in Document.model_fields)
_IS_HELD = """EXISTS (SELECT 1 FROM section h JOIN document v ON v.uuid = h.document_uuid
  WHERE h.episode_uuid = {section}.episode_uuid AND v.group_id = {document}.group_id AND v.name = {document}.name
  AND NOT EXISTS (SELECT 1 FROM document w WHERE w.group_id = v.group_id AND w.name = v.name
    AND w.version > v.version))"""
_IS_PRESENT = _IS_HELD.format(section="s", document="d") + " AS is_present"
_START = """length(d.front) + coalesce((SELECT sum(length(b.content)) FROM section o JOIN episode b
  ON b.uuid = o.episode_uuid WHERE o.document_uuid = s.document_uuid AND o.place < s.place), 0) AS start"""
_PLACED = f"{_DOCUMENT}, {_IS_PRESENT}, s.paragraph, {_START}"


class SqliteDocuments(SqlitePart):
    """The port ``GraphDocuments``."""

    async def present(self, group_id: str, name: str) -> Document | None:
        return await self._file.read(
            lambda db: _one(db, "d.group_id = ? AND d.name = ? ORDER BY d.version DESC", group_id, name)
        )

    async def with_digest(self, group_id: str, digest: str) -> Document | None:
        return await self._file.read(
            lambda db: _one(db, "d.group_id = ? AND d.digest = ? ORDER BY d.created_at DESC, d.uuid", group_id, digest)
        )

    async def at_path(self, group_id: str, path: str) -> Document | None:
        return await self._file.read(
            lambda db: _one(db, "d.group_id = ? AND d.path = ? ORDER BY d.created_at DESC, d.uuid", group_id, path)
        )

    async def counts(self, group_id: str) -> DocumentCounts:
        return await self._file.read(lambda db: _counts(db, group_id))

    async def listed(self, group_id: str, window: Window) -> list[Document]:
        return await self._file.read(lambda db: _listed(db, group_id, window))

    async def documents(self, uuids: Sequence[str], group_ids: Sequence[str]) -> list[Document]:
        return await self._file.read(lambda db: _documents(db, uuids, group_ids))

    async def sections(self, document_uuid: str, group_id: str, limit: int) -> list[Section]:
        return await self._file.read(lambda db: _sections(db, document_uuid, group_id, limit))

    async def placed(self, episode_uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, Placed]:
        return await self._file.read(lambda db: _placed_episodes(db, episode_uuids, group_ids))

    async def holding(self, episode_uuids: Sequence[str], group_ids: Sequence[str], limit: int) -> list[Document]:
        return await self._file.read(lambda db: _holding(db, episode_uuids, group_ids, limit))

    async def instances(
        self, entity_uuid: str, group_ids: Sequence[str], window: Window, recorded_until: datetime | None = None
    ) -> InstancePage:
        return await self._file.read(lambda db: _instances(db, entity_uuid, group_ids, window, recorded_until))

    async def evidence_in(self, entity_uuid: str, episode_uuids: Sequence[str], limit: int) -> list[Instance]:
        def read(db: sqlite3.Connection) -> list[Instance]:
            found = db.execute(
                """SELECT * FROM instance WHERE entity_uuid = ? AND episode_uuid IN (SELECT value FROM json_each(?))
                ORDER BY uuid LIMIT ?""",
                (entity_uuid, as_list(episode_uuids), limit),
            )
            return list(map(values.instance, found))

        return await self._file.read(read)


def _document(row: Row) -> Document:
    given = {field: row[f"d_{field}"] for field in Document.model_fields}
    return Document(**{**given, "created_at": moment(given["created_at"])})


def _placed(row: Row) -> Placed:
    return Placed(
        document=_document(row), is_present=bool(row["is_present"]), paragraph=row["paragraph"], start=row["start"]
    )


def _one(db: sqlite3.Connection, where: str, *values: str) -> Document | None:
    found = db.execute(f"SELECT {_DOCUMENT} FROM document d WHERE {where} LIMIT 1", values).fetchone()
    return None if found is None else _document(found)


def _counts(db: sqlite3.Connection, group_id: str) -> DocumentCounts:
    documents, quotes = db.execute(
        """SELECT count(DISTINCT d.name), count(i.uuid) FROM document d LEFT JOIN instance i ON i.document_uuid = d.uuid
        WHERE d.group_id = ?""",
        (group_id,),
    ).fetchone()
    return DocumentCounts(documents=documents, quotes=quotes)


def _listed(db: sqlite3.Connection, group_id: str, window: Window) -> list[Document]:
    (name,) = window.after or ("",)
    found = db.execute(
        f"""SELECT {_DOCUMENT} FROM document d WHERE d.group_id = ? AND d.name > ? AND NOT EXISTS (
          SELECT 1 FROM document w WHERE w.group_id = d.group_id AND w.name = d.name AND w.version > d.version)
        ORDER BY d.name LIMIT ?""",
        (group_id, name, window.limit),
    )
    return list(map(_document, found))


def _documents(db: sqlite3.Connection, uuids: Sequence[str], group_ids: Sequence[str]) -> list[Document]:
    found = db.execute(
        f"""SELECT {_DOCUMENT} FROM document d WHERE d.uuid IN (SELECT value FROM json_each(:uuids))
        AND d.group_id {IN_GROUPS} ORDER BY d.uuid""",
        {"uuids": as_list(dict.fromkeys(uuids)), "groups": as_list(group_ids)},
    )
    return list(map(_document, found))


def _sections(db: sqlite3.Connection, document_uuid: str, group_id: str, limit: int) -> list[Section]:
    found = db.execute(
        """SELECT s.document_uuid, s.place, s.episode_uuid, s.paragraph, length(d.front) + coalesce(
          sum(length(e.content)) OVER (ORDER BY s.place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS start
        FROM document d JOIN section s ON s.document_uuid = d.uuid JOIN episode e ON e.uuid = s.episode_uuid
        WHERE d.uuid = ? AND d.group_id = ? ORDER BY s.place LIMIT ?""",
        (document_uuid, group_id, limit),
    )
    return [Section(**dict(row)) for row in found]


def _placed_episodes(
    db: sqlite3.Connection, episode_uuids: Sequence[str], group_ids: Sequence[str]
) -> dict[str, Placed]:
    found = db.execute(
        f"""SELECT u.value AS episode_uuid, {_PLACED} FROM json_each(:uuids) u
        JOIN section s ON s.episode_uuid = u.value JOIN document d ON d.uuid = s.document_uuid
        WHERE d.group_id {IN_GROUPS} AND (d.uuid, s.place) = (
          SELECT o.uuid, p.place FROM section p JOIN document o ON o.uuid = p.document_uuid
          WHERE p.episode_uuid = u.value
          ORDER BY {_IS_HELD.format(section="p", document="o")} DESC, o.created_at DESC, o.uuid, p.place LIMIT 1)""",
        {"uuids": as_list(dict.fromkeys(episode_uuids)), "groups": as_list(group_ids)},
    )
    return {row["episode_uuid"]: _placed(row) for row in found}


def _holding(
    db: sqlite3.Connection, episode_uuids: Sequence[str], group_ids: Sequence[str], limit: int
) -> list[Document]:
    found = db.execute(
        f"""SELECT {_DOCUMENT} FROM document d WHERE d.group_id {IN_GROUPS} AND d.uuid IN (
          SELECT s.document_uuid FROM json_each(:uuids) u JOIN section s ON s.episode_uuid = u.value)
        ORDER BY d.uuid LIMIT :limit""",
        {"uuids": as_list(dict.fromkeys(episode_uuids)), "groups": as_list(group_ids), "limit": limit},
    )
    return list(map(_document, found))


def _passage(row: Row, name: str) -> Passage:
    return Passage(**{field: row[f"{name}_{field}"] for field in Passage.model_fields})


_ENDS = ", ".join(f'{name}."{field}" AS {name}_{field}' for name in ("a", "z") for field in Passage.model_fields)
_AROUND = """(SELECT min(p.start) FROM passage p WHERE p.episode_uuid = i.episode_uuid AND p.paragraph = a.paragraph)
  AS around_start,
  (SELECT max(p."end") FROM passage p WHERE p.episode_uuid = i.episode_uuid AND p.paragraph = a.paragraph)
  AS around_end"""
_INSTANCES = f"""FROM instance i JOIN document d ON d.uuid = i.document_uuid
  JOIN section s ON s.document_uuid = d.uuid AND s.episode_uuid = i.episode_uuid
  JOIN passage a ON a.uuid = json_extract(i.passages, '$[0]')
  JOIN passage z ON z.uuid = json_extract(i.passages, '$[#-1]')
  WHERE i.entity_uuid = :entity AND i.group_id {IN_GROUPS} AND i.created_at <= :until"""


def _instances(
    db: sqlite3.Connection,
    entity_uuid: str,
    group_ids: Sequence[str],
    window: Window,
    recorded_until: datetime | None,
) -> InstancePage:
    parameters: dict[str, object] = {
        "entity": entity_uuid,
        "groups": as_list(group_ids),
        "until": DUSK if recorded_until is None else micros(recorded_until),
        "limit": window.limit,
    }
    (total,) = db.execute(f"SELECT count(*) {_INSTANCES}", parameters).fetchone()
    further = ""
    if window.after is not None:
        further = """AND (d.created_at < :c0 OR (d.created_at = :c0
          AND (d.uuid, s.place, a.start + i.first, i.uuid) > (:c1, :c2, :c3, :c4)))"""
        parameters |= {f"c{place}": key for place, key in enumerate(window.after)}
        parameters["c0"] = instant_key(window.after[0])
    fields = ", ".join(f"i.{field} AS i_{field}" for field in Instance.model_fields)
    found = db.execute(
        f"""SELECT {fields}, {_PLACED}, s.place, {_ENDS}, {_AROUND} {_INSTANCES} {further}
        ORDER BY d.created_at DESC, d.uuid, s.place, a.start + i.first, i.uuid LIMIT :limit""",
        parameters,
    ).fetchall()
    rows = [
        InstanceRow(
            instance=_instance(row),
            placed=_placed(row),
            first=_passage(row, "a"),
            last=_passage(row, "z"),
            around=(row["around_start"], row["around_end"]),
        )
        for row in found
    ]
    return InstancePage(
        rows=tuple(rows),
        keys=tuple(
            (row["d_created_at"], row["d_uuid"], row["place"], row["a_start"] + row["i_first"], row["i_uuid"])
            for row in found
        ),
        total=total,
    )


def _instance(row: Row) -> Instance:
    return values.instance({field: row[f"i_{field}"] for field in Instance.model_fields})
