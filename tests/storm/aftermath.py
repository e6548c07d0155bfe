"""What a memory must be like after a crash: opened by the product, whole, and with every acknowledged write once."""

import shutil
import sqlite3
from collections import Counter, defaultdict
from contextlib import closing
from pathlib import Path

from tests.integration.planted import files_with
from tests.storm.disk import Directory
from tests.storm.dump import Dump, dump, repeated_facts, repeated_names
from tests.storm.session import Session

from graphiti_pkm.cli.opening import open_without_model
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.storage.journal.connection import MEMORY


def put(left: Directory, session: Session, place: Path) -> Path:
    """Make the files in an empty ``place``; returns the data directory there."""
    shutil.rmtree(place, ignore_errors=True)
    for path, content in left.items():
        file = place / Path(path).relative_to(session.root.resolve())
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return place / session.data_dir.name


async def opened(data_dir: Path, *, rebuilds: bool = False) -> Dump:
    """The graph as a start of the product leaves it, its jobs done; ``rebuilds``: from the journal once more."""
    async with open_without_model(Settings(data_dir=data_dir)) as memory:
        while await memory.jobs.run_once():
            pass
        await memory.journal.check()
        counts = await memory.journal.counts()
        assert (counts["intent"], counts["failed"], counts["jobs_failed"]) == (0, 0, 0)
        assert await memory.journal.rebuild_in_progress() is None
        assert (await memory.recovery.compare()).describe() == ""
        if rebuilds:
            await memory.recovery.rebuilding.rebuild(lambda _done, _total: None)
    with closing(sqlite3.connect(data_dir / MEMORY)) as file:
        assert file.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert file.execute("PRAGMA foreign_key_check").fetchall() == []
        file.execute("INSERT INTO word_index (word_index) VALUES ('integrity-check')")
    return dump(data_dir)


def faults(graph: Dump, session: Session, point: int) -> list[str]:
    """What is lost after that record, should not be there, is there in part or twice."""
    there = {one["uuid"]: one["content"] for one in graph.of("episode")}
    found = [f"lost: {uuid}" for uuid in session.expected(point) if uuid not in there]
    found += [f"not to be there: {uuid}" for uuid in there if uuid in session.gone(point) or uuid not in session.notes]
    found += [f"twice: {what}" for what in (*repeated_names(graph), *repeated_facts(graph))]
    if session.restored[0] <= point and 0 < len(dropped := session.dropped & there.keys()) < len(session.dropped):
        found.append(f"restored in part: {dropped} are left")
    parts = _parts(graph)
    rows = [str(row) for table in graph.tables.values() for row in table.values()]
    for note in session.notes.values():
        begun, ended = session.since(note.hidden)
        is_shown = note.hidden in there.get(note.uuid, "")
        is_there = note.uuid in there and (is_shown or point < begun)
        if is_there and (there[note.uuid], parts[note.uuid]) != (note.body, note.parts):
            found.append(f"in part: {note.uuid}: {there[note.uuid]} {parts[note.uuid]}")
        if note.hidden and (ended <= point or not is_shown):
            found += [f"not forgotten: {row}" for row in rows if note.hidden in row]
    return found


def forgotten_words(session: Session, point: int, data_dir: Path) -> list[str]:
    """Files in which there is still what was said to be gone from them."""
    gone = [word for word, (_, ended) in session.forgotten.items() if ended <= point]
    return [f"{word} in {name}" for word in gone for name in files_with(data_dir, word)]


def _parts(graph: Dump) -> "defaultdict[str, Counter[str]]":
    """What belongs to each episode, by its uuid; a record counts together with its vector."""
    parts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    embedded = {one["uuid"] for one in graph.of("vector")}
    facts = {one["uuid"]: one["text"] for one in graph.of("fact") if one["uuid"] in embedded}
    names = {one["uuid"]: one["name"] for one in graph.of("entity") if one["uuid"] in embedded}
    for one in graph.of("fact_episode"):
        parts[one["episode_uuid"]][facts.get(one["fact_uuid"], "a fact without vector")] += 1
    for one in graph.of("mention"):
        parts[one["episode_uuid"]][names.get(one["entity_uuid"], "an entity without vector")] += 1
    for one in graph.of("passage"):
        parts[one["episode_uuid"]]["sentence" if one["uuid"] in embedded else "a sentence without vector"] += 1
    return parts
