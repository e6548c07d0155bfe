"""A memory that version 0.2 wrote before statuses, series and dates were read as they are now.

``tests/data/memory_of_0_2.tar.gz`` was written by commit eec11e7 over its MCP tools, as ``tests.worlds.older_memory``
says: ten notes, a plan dropped, a fact retired and restored. Its tables have version 2; its vectors are of a small
model of the tests, because the file holds each twice. A memory that this version writes from the same calls answers the
same but for what the old record does not say, as ``UNLIKE`` and the last notes of ``test_it_goes_on`` show:

- Dates lost their precision: "2025-04" is the first of April.
- An event without a date has the time of its note; a note that dates it later tells of another event.
- SUPERSEDES gave no status: what was superseded has the one that it had.
- A measure is a name like any other: texts that use its word are linked to it.
"""

import sqlite3
import subprocess
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client
from tests.e2e.support import CALL_SECONDS, COMMAND, call, environment, over_stdio, run, unpack
from tests.embedding_service import EmbeddingService
from tests.integration.planted import files_with
from tests.neo4j_server import Neo4jAddress, empty
from tests.storm.dump import Dump, differences, dump
from tests.worlds.older_memory import DIMENSION, NOTES, embedding_of, tell

from graphiti_pkm.errors import NewerSchema
from graphiti_pkm.storage.graph.sqlite import episode_stems, schema
from graphiti_pkm.storage.graph.sqlite.schema import SCHEMA_VERSION
from graphiti_pkm.storage.graph.sqlite.store import SqliteGraph
from graphiti_pkm.storage.journal.connection import MEMORY, JournalFile

pytestmark = pytest.mark.timeout(300)

KEPT = Path(__file__).parents[1] / "data" / "memory_of_0_2.tar.gz"
KNOWN_TO_IT = 2
"""The version of the tables that commit eec11e7 knows; it refuses every higher one and changes nothing."""
WORDS = (
    *("paused", "on hold", "in progress", "postponed", "accepted", "live", "superseded", "pending", "done"),
    *("open", "active", "dropped"),
)
Answers = dict[str, Any]


@pytest.fixture
def service() -> Iterator[EmbeddingService]:
    service = EmbeddingService(DIMENSION)
    yield service
    service.close()


@pytest.fixture
def older(tmp_path: Path) -> Path:
    """The directory, as it was left."""
    unpack(KEPT, tmp_path)
    return tmp_path / "data"


def opened(data_dir: Path, service: EmbeddingService) -> AbstractAsyncContextManager[Client]:
    return over_stdio(data_dir, **embedding_of(service))


@asynccontextmanager
async def anew(data_dir: Path, service: EmbeddingService) -> AsyncIterator[Client]:
    """A memory of this version that was told the same."""
    async with opened(data_dir, service) as client:

        async def do(tool: str, **arguments: Any) -> dict[str, Any]:
            return await call(client, tool, **arguments)

        await tell(do)
        yield client


def version(data_dir: Path) -> int:
    with closing(sqlite3.connect(data_dir / MEMORY)) as db:
        (found,) = db.execute("SELECT value FROM graph_meta WHERE key = 'schema_version'").fetchone()
    return int(found)


def rebuilt(data_dir: Path, service: EmbeddingService) -> list[str]:
    """What a rebuild changes in any table of the graph, once the job that counts earlier texts is done."""
    with closing(sqlite3.connect(data_dir / MEMORY)) as db, db:
        db.row_factory = sqlite3.Row
        episode_stems.fill(db, len(NOTES))
    before = dump(data_dir)
    done = run("rebuild", data_dir=data_dir, **embedding_of(service))
    assert done.returncode == 0, done.stderr
    return differences(before, dump(data_dir))


async def answers(client: Client) -> Answers:
    """Every answer about statuses, series, plans, events, people and dates, with names in place of uuids."""

    async def facts(**asked: Any) -> list[dict[str, Any]]:
        return list((await call(client, "search_memory_facts", max_facts=50, **asked))["facts"])

    async def nodes(**asked: Any) -> list[str]:
        return sorted(one["name"] for one in (await call(client, "search_nodes", max_nodes=50, **asked))["nodes"])

    async def connections(name: str) -> dict[str, Any]:
        (node, *_) = (await call(client, "search_nodes", names=[name]))["nodes"]
        return await call(client, "get_entity_connections", entity_uuid=node["uuid"], max_connections=50)

    def line(fact: dict[str, Any]) -> str:
        told = fact.get("told_start") or fact.get("valid_at") or f"known from {fact.get('reference_time')}"
        state = fact.get("outcome") or fact["status"]
        return f"{fact['fact']} | {fact.get('value')} | {state} | {told}"

    people = await call(client, "search_nodes", names=["Jonas", "my coach", "Maggie", "Otto Lindqvist"])
    decision = await call(client, "search_nodes", names=["Decision 1"])
    changes = await call(client, "what_changed", since="2020-01-01", limit=50)
    by_query = await call(client, "search_memory_facts", query="readings of sleep")
    by_measure = await connections("sleep")
    listed = await call(client, "search_memory_facts", kind="reading", max_facts=50)
    return {
        "statuses": {word: found for word in WORDS if (found := await nodes(status=word))},
        "of the roof": [line(one) for one in (await connections("Dome roof"))["facts"]],
        "attributes of statuses": [
            one["attributes"] for one in await facts(edge_types=["HAS_STATUS"]) if one["attributes"]
        ],
        "statuses in May": sorted(line(one) for one in await facts(edge_types=["HAS_STATUS"], as_of="2025-05-01")),
        "readings of sleep": [line(one) for one in by_query["facts"]],
        "by measure": [line(one) for one in by_measure["facts"]],
        "series of sleep": by_query["series"],
        "series by measure": by_measure["series"],
        "series": {f"{one['measure']} {one['unit']}": one for one in listed["series"]},
        "readings": sorted(line(one) for one in listed["facts"]),
        "plans": sorted(line(one) for one in await facts(kind="plan")),
        "open plans": sorted(line(one) for one in await facts(status="planned")),
        "open plans in March": sorted(line(one) for one in await facts(status="planned", as_of="2025-03-20")),
        "events": sorted(line(one) for one in await facts(kind="event")),
        "supplies": [line(one) for one in await facts(edge_types=["SUPPLIES"])],
        "deadlines": sorted(line(one) for one in await facts(edge_types=["HAS_DEADLINE"])),
        "grinds": [line(one) for one in await facts(edge_types=["GRINDS"])],
        "people": sorted(one["name"] for one in people["nodes"]),
        "summaries": [one.get("past_summary") for one in people["nodes"] if one["name"] == "Otto Lindqvist"],
        "ambiguous": sorted(one.split(" (")[0] for one in people["ambiguous"]["Jonas"]),
        "coaches": [one.split(" (")[0] + one.partition("),")[2] for one in people["roles"]["my coach"]],
        "decision": decision["nodes"][0]["facts"],
        "changes": dict(Counter(one["change"] for one in changes["changes"])),
        "last note": sorted(await mentioned(client, NOTES[-1]["episode_body"])),
    }


async def episode(client: Client, body: str) -> str:
    listed = (await call(client, "get_episodes", max_episodes=50))["episodes"]
    (uuid,) = [one["uuid"] for one in listed if one["content"] == body]
    return str(uuid)


async def mentioned(client: Client, body: str) -> dict[str, str]:
    """Names and uuids of what an episode is linked to."""
    found = await call(client, "get_episode_entities", episode_uuids=[await episode(client, body)])
    return {one["name"]: one["uuid"] for one in found["entities"]}


SLEEP = {
    "source": "me",
    "measure": "sleep",
    "unit": "h",
    "readings": 4,
    "first": "5 and a half hours (2025-02-03 19:30)",
    "last": "8 h (2025-04-14 19:30)",
    "least": "5 and a half hours (2025-02-03 19:30)",
    "most": "8 h (2025-04-14 19:30)",
    "mean": {"2025-02": 6.33, "2025-04": 8.0},
    "without_number": None,
}
SLEEP_IN_WORDS = {
    "source": "me",
    "measure": "sleep",
    "unit": None,
    "readings": 1,
    **dict.fromkeys(("first", "last"), "badly (2025-03-03 19:30)"),
    **dict.fromkeys(("least", "most", "mean", "without_number")),
}
MOOD = {
    "source": "me",
    "measure": "mood",
    "unit": "/10",
    "readings": 3,
    "first": "6/10 (2025-02-10 19:30)",
    "last": "8/10 (2025-06-02 19:30)",
    "least": "4/10 (2025-03-03 19:30)",
    "most": "8/10 (2025-06-02 19:30)",
    "mean": {"2025-02": 6.0, "2025-03": 4.0, "2025-06": 8.0},
    "without_number": None,
}
READINGS_OF_SLEEP = [
    "me: sleep 5 and a half hours | 5 and a half hours | reading | 2025-02-03T19:30:00+00:00",
    "me: hours of sleep 6.5 hours | 6.5 | reading | 2025-02-10T19:30:00+00:00",
    "me: sleep 7 hours | 7 | reading | 2025-02-17T19:30:00+00:00",
    "me: sleep badly | badly | reading | 2025-03-03T19:30:00+00:00",
    "me: sleep 8 h | 8 | reading | 2025-04-14T19:30:00+00:00",
]
OTHER_READINGS = [
    "Star catalogue: entries 1.25 million | 1.25 million | reading | 2025-02-17T19:30:00+00:00",
    "me: mood 4/10 | 4/10 | reading | 2025-03-03T19:30:00+00:00",
    "me: mood 6/10 | 6/10 | reading | 2025-02-10T19:30:00+00:00",
    "me: mood 8/10 | 8/10 | reading | 2025-06-02T19:30:00+00:00",
]
STATUSES = {
    "paused": ["Guide book"],
    "on hold": ["Dome roof", "Guide book"],
    "in progress": ["Dome motor"],
    "postponed": ["Dome roof"],
    "live": ["Star catalogue"],
    "done": ["Old mount", "Star catalogue"],
}
BUYS = "me buys Spectrograph | None | {} | known from 2025-03-10T19:30:00+00:00"
HIRES = "me hires Wick & Sons | None | {} | known from 2025-03-10T19:30:00+00:00"
HIRES_NOW = "me hires Tarn Brothers | None | planned | known from 2025-04-14T19:30:00+00:00"
VISITS = "me visited Sable Point | None | {} | {}"
EVENTS = [
    "Jonas Pell met Marguerite Vane | None | event | 2025-03-01T00:00:00+00:00",
    "me visited Sable Point | None | event | 2025-04-12T00:00:00+00:00",
]
VISITED = "me visited Brindle Works | None | event | {}"
SUPPLIES = "Brindle Works supplies Lantern Hill Observatory | None | current | {}"
DUE = "Lantern Hill Observatory has deadline: {} | {} | {} | known from 2025-03-10T19:30:00+00:00"
COACH = "before: Otto Lindqvist from {} until 2025-05-12 19:30"
SUPERSEDES = "Decision 2 supersedes Decision 1 (since at least 2025-05-05 19:30, start unknown)"
APRIL = "2025-04-01T00:00:00+00:00"
EXPECTED: Answers = {
    "statuses": {
        **STATUSES,
        "accepted": ["Decision 1", "Decision 2", "Telescope loan"],
        "active": ["Decision 1", "Decision 2", "Dome motor", "Telescope loan"],
    },
    "of the roof": [
        "Dome roof has status: postponed | postponed | current | 2025-06-02T19:30:00+00:00",
        "Jonas Ruud works on Dome roof | None | current | known from 2025-02-10T19:30:00+00:00",
        "Dome roof has status: paused | paused | ended | known from 2025-02-03T19:30:00+00:00",
    ],
    "attributes of statuses": [],
    "statuses in May": [
        "Decision 1 has status: accepted | accepted | current | known from 2025-03-03T19:30:00+00:00",
        "Decision 2 has status: accepted | accepted | possible | known from 2025-05-05T19:30:00+00:00",
        "Dome motor has status: on hold | on hold | current | known from 2025-02-10T19:30:00+00:00",
        "Dome roof has status: paused | paused | current | known from 2025-02-03T19:30:00+00:00",
        "Guide book has status: paused | paused | current | known from 2025-02-03T19:30:00+00:00",
        "Old mount has status: done | done | current | known from 2025-03-03T19:30:00+00:00",
        "Star catalogue has status: in progress | in progress | current | known from 2025-02-03T19:30:00+00:00",
        "Telescope loan has status: accepted | accepted | current | known from 2025-02-10T19:30:00+00:00",
    ],
    "readings of sleep": READINGS_OF_SLEEP,
    "by measure": READINGS_OF_SLEEP,
    "series of sleep": [SLEEP, SLEEP_IN_WORDS],
    "series by measure": [SLEEP, SLEEP_IN_WORDS],
    "series": {"sleep h": SLEEP, "sleep None": SLEEP_IN_WORDS, "mood /10": MOOD},
    "readings": sorted([*READINGS_OF_SLEEP, *OTHER_READINGS]),
    "plans": [BUYS.format("ended"), HIRES_NOW, HIRES.format("replaced"), VISITS.format("fulfilled", APRIL)],
    "open plans": [HIRES_NOW],
    "open plans in March": [BUYS.format("planned"), HIRES.format("planned"), VISITS.format("planned", APRIL)],
    "events": sorted([*EVENTS, VISITED.format("2025-03-03T19:30:00+00:00")]),
    "supplies": [SUPPLIES.format("2025-01-01T00:00:00+00:00")],
    "deadlines": [
        DUE.format("2025-06-01", "2025-06-01", "voided"),
        DUE.format("2025-06-15", "2025-06-15", "current"),
    ],
    "grinds": ["Jonas Pell grinds Quartz mirror | None | current | known from 2025-02-10T19:30:00+00:00"],
    "people": ["Jonas Pell", "Jonas Ruud", "Marguerite Vane", "Otto Lindqvist", "Petra Holm"],
    "summaries": ["The user's coach."],
    "ambiguous": ["Jonas Pell", "Jonas Ruud"],
    "coaches": ["now: Petra Holm from 2025-05-12 19:30", COACH.format("2024-11-01")],
    "decision": [SUPERSEDES, "Decision 1 has status: accepted (since at least 2025-03-03 19:30, start unknown)"],
    "changes": {"restored": 1, "retired": 8, "added": 36, "voided": 1},
    "last note": ["Jonas Ruud", "Marguerite Vane"],
}
UNLIKE: Answers = {
    "statuses": {
        **STATUSES,
        "accepted": ["Decision 2", "Telescope loan"],
        "active": ["Decision 2", "Dome motor", "Telescope loan"],
        "superseded": ["Decision 1"],
        "dropped": ["Decision 1"],
    },
    "plans": [BUYS.format("ended"), HIRES_NOW, HIRES.format("replaced"), VISITS.format("fulfilled", "2025-04")],
    "open plans in March": [BUYS.format("planned"), HIRES.format("planned"), VISITS.format("planned", "2025-04")],
    "events": sorted([*EVENTS, VISITED.format("known from 2025-03-03T19:30:00+00:00")]),
    "supplies": [SUPPLIES.format("2025-01")],
    "coaches": ["now: Petra Holm from 2025-05-12 19:30", COACH.format("2024-11")],
    "decision": [
        "Decision 1 has status: superseded (from 2025-05-05 19:30, because of Decision 2 supersedes Decision 1)",
        SUPERSEDES,
    ],
    "changes": {"restored": 1, "retired": 9, "added": 37, "voided": 1},
}
"""What a memory of this version answers otherwise."""


async def test_it_opens_with_every_answer_by_the_present_rules_and_a_rebuild_is_equal(
    older: Path, service: EmbeddingService
) -> None:
    before = dump(older)
    async with opened(older, service) as client:
        found, status = await answers(client), await call(client, "get_status")
    assert found == EXPECTED
    assert status["groups"] == {"default": "10 episodes, 28 entities, 36 facts"}
    after = dump(older)
    assert (len(after.of("episode")), len(after.of("entity")), len(after.of("fact"))) == (10, 28, 36)
    assert differences(before, as_before(after, before)) == []
    assert not any(after.of(table) for table in after.tables.keys() - before.tables.keys() - DERIVED)
    assert rebuilt(older, service) == []
    async with opened(older, service) as client:
        found = await answers(client)
    assert found == EXPECTED


DERIVED = {"episode_stems", "nameless"}
"""Tables that a migration fills from the others."""


def as_before(after: Dump, before: Dump) -> Dump:
    """The tables and columns that there were, of which nothing else than the version may have changed."""
    tables = {}
    for name, rows in before.tables.items():
        columns = {column for row in rows.values() for column in row}
        tables[name] = {key: {k: row[k] for k in columns} for key, row in after.tables[name].items()}
    tables["graph_meta"]["schema_version",]["value"] = str(KNOWN_TO_IT)
    return Dump(tables)


async def test_a_memory_of_this_version_says_more_only_where_the_old_record_is_silent(
    tmp_path: Path, service: EmbeddingService
) -> None:
    assert all(EXPECTED[name] != value for name, value in UNLIKE.items())
    async with anew(tmp_path / "data", service) as client:
        found = await answers(client)
    assert found == EXPECTED | UNLIKE


def fact(source: str, relation: str, target: str | None = None, **more: Any) -> dict[str, Any]:
    return {"source": source, "relation": relation, **({"target": target} if target else {}), **more}


async def test_it_goes_on(older: Path, service: EmbeddingService) -> None:
    """Notes that follow continue its statuses, series, plans and decisions by the present rules."""
    async with opened(older, service) as client:

        async def note(day: str, body: str, *facts: dict[str, Any]) -> dict[str, Any]:
            return await call(client, "add_memory", reference_time=day, episode_body=body, facts=list(facts))

        answer = await note(
            "2025-07-01",
            "The guide book is in progress, the roof still postponed and to be of copper. Slept 6 hours. Tarn Brothers "
            "are hired. Jonas came.",
            fact("Guide book", "HAS_STATUS", value="in progress"),
            fact("Dome roof", "HAS_STATUS", value="postponed"),
            fact("me", "MEASURED", kind="reading", measure="sleep duration", value="6", unit="hours"),
            fact("Dome roof", "MADE_OF", "Copper", because_of="Decision 2"),
            fact("me", "HIRES", "Tarn Brothers", kind="event", valid_at="2025-06-30"),
        )
        assert [one["outcome"] for one in answer["facts"]] == ["created", "duplicate", *["created"] * 3]
        assert {(one["fact"], one["kind"]) for one in answer["retired"]} == {
            ("Guide book has status: paused", "retired"),
            ("me hires Tarn Brothers", "fulfilled"),
        }
        assert "shared_name" in {one["what"] for one in answer["needs_attention"]}
        answer = await note(
            "2025-07-02", "Decision 3 supersedes decision 2.", fact("Decision 3", "SUPERSEDES", "Decision 2")
        )
        (rests,) = [one for one in answer["needs_attention"] if one["what"] == "still_rests"]
        assert "Dome roof made of Copper" in rests["candidates"][0]

        await note(
            "2025-07-03",
            "Brindle Works was on 2 March.",
            fact("me", "VISITED", "Brindle Works", kind="event", valid_at="2025-03-02"),
        )
        await note("2025-07-04", "I will sleep on it.")
        found = await answers(client)
        assert found["statuses"]["in progress"] == ["Dome motor", "Guide book"]
        assert found["statuses"]["superseded"] == ["Decision 2"]
        series, in_words = found["series by measure"]
        assert in_words == SLEEP_IN_WORDS
        assert (series["readings"], series["last"]) == (5, "6 hours (2025-07-01)")
        assert found["open plans"] == []
        assert {VISITED.format(f"2025-03-0{at}:00+00:00") for at in ("2T00:00", "3T19:30")} < {*found["events"]}
        assert [*await mentioned(client, "I will sleep on it.")] == ["sleep"]
    assert rebuilt(older, service) == []


async def test_what_it_does_not_say_can_be_put_right(older: Path, service: EmbeddingService) -> None:
    """As DOCS/operations.md advises."""
    async with opened(older, service) as client:
        events = (await call(client, "search_memory_facts", kind="event"))["facts"]
        (visit,) = [one["uuid"] for one in events if one["target_node_name"] == "Brindle Works"]
        await call(client, "delete_entity_edge", uuid=visit)
        again = {"valid_at": "January 2025", "replaces": ["current"], "change": "corrected"}
        told = await call(
            client,
            "add_memory",
            reference_time="2025-03-03T19:30:00+00:00",
            episode_body="Brindle Works supply us since January. I went there. Decision 1 was superseded in May.",
            facts=[
                fact("Brindle Works", "SUPPLIES", "Lantern Hill Observatory", **again),
                fact("me", "VISITED", "Brindle Works", kind="event"),
                fact("Decision 1", "HAS_STATUS", value="superseded", valid_at="2025-05-05"),
            ],
        )
        body = NOTES[0]["episode_body"]
        sleep = (await mentioned(client, body))["sleep"]
        await call(client, "update_entity", entity_uuid=sleep, unlink_episodes=[await episode(client, body)])
        found, linked = await answers(client), await mentioned(client, body)
    assert told["needs_attention"] == []
    assert SUPPLIES.format("January 2025") in found["supplies"]
    assert found["events"] == UNLIKE["events"]
    assert found["statuses"] == UNLIKE["statuses"]
    assert "sleep" not in linked
    assert rebuilt(older, service) == []


async def test_what_is_forgotten_of_it_is_gone_from_its_files(older: Path, service: EmbeddingService) -> None:
    async with opened(older, service) as client:
        (otto,) = (await call(client, "search_nodes", names=["Otto Lindqvist"]))["nodes"]
        preview = await call(client, "forget", entity_uuid=otto["uuid"])
        await call(client, "forget", entity_uuid=otto["uuid"], confirm=preview["confirm"])
        assert (await call(client, "get_status"))["jobs"]["failed"] == 0
    assert files_with(older, "Lindqvist") == []
    assert rebuilt(older, service) == []


async def test_the_older_version_refuses_it_and_changes_nothing(
    older: Path, service: EmbeddingService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own command was run by hand: "This memory has schema version …, this version of graphiti-pkm knows 2"."""
    assert version(older) == KNOWN_TO_IT < SCHEMA_VERSION
    async with opened(older, service) as client:
        assert (await call(client, "get_status"))["status"] == "ok"
    assert version(older) == SCHEMA_VERSION
    before = (older / MEMORY).read_bytes()
    monkeypatch.setattr(schema, "SCHEMA_VERSION", KNOWN_TO_IT)
    monkeypatch.setattr(schema, "_MIGRATIONS", schema._MIGRATIONS[:KNOWN_TO_IT])
    graph = SqliteGraph(JournalFile(older, name=MEMORY))
    with pytest.raises(NewerSchema, match=f"schema version {SCHEMA_VERSION}"):
        await graph.records.groups()
    await graph.close()
    assert (older / MEMORY).read_bytes() == before


def patiently(command: str, copy: Path, **settings: Any) -> None:
    """A busy machine takes a minute to fill Neo4j."""
    subprocess.run([COMMAND, command, str(copy)], env=environment(**settings), check=True, timeout=CALL_SECONDS * 2)


@pytest.mark.timeout(600)
async def test_its_journal_gives_the_same_answers_on_neo4j(
    older: Path, service: EmbeddingService, tmp_path: Path, neo4j_server: Neo4jAddress
) -> None:
    empty(neo4j_server)
    on_neo4j: dict[str, Any] = {
        "data_dir": tmp_path / "of-a-server",
        **neo4j_server.product_settings(),
        **embedding_of(service),
    }
    copy = tmp_path / "copy"
    patiently("backup", copy, data_dir=older, **embedding_of(service))
    patiently("restore", copy, **on_neo4j)
    async with over_stdio(**on_neo4j) as client:
        found, status = await answers(client), await call(client, "get_status")
    assert (found, status["backend"]) == (EXPECTED, "Neo4j")
    empty(neo4j_server)
