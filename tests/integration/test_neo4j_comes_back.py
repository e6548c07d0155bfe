"""A Neo4j that falls silent, comes back as another or refuses for a while: calls end, and nobody has to help."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator

import pytest
from neo4j import GraphDatabase
from pydantic import SecretStr
from tests.neo4j_server import Neo4jServer, skip_without_tools

from graphiti_pkm.errors import ConfigurationError, Unavailable
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.storage.graph.neo4j import pulse as neo4j_pulse
from graphiti_pkm.storage.graph.neo4j.database import Neo4jDatabase, open_neo4j
from graphiti_pkm.storage.graph.queries.values import Query, Row

COUNT = Query("count", "MATCH (n:Heron) RETURN count(n) AS n", {})
pytestmark = pytest.mark.timeout(180)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Neo4jServer]:
    skip_without_tools()
    server = Neo4jServer(tmp_path_factory.mktemp("neo4j"), settings={"db.lock.acquisition.timeout": "50ms"})
    server.start()
    yield server
    server.kill()


@pytest.fixture
def returns() -> list[str]:
    """An entry each time the database said that it is back."""
    return []


@pytest.fixture
async def database(server: Neo4jServer, returns: list[str]) -> AsyncIterator[Neo4jDatabase]:
    settings = Settings(neo4j_uri=server.uri, neo4j_password=SecretStr(server.password))
    database = open_neo4j(settings, lambda: returns.append("back"))
    await database.prepare()
    yield database
    await database.close()


class Refusals(logging.Handler):
    """Counts the tries of the query ``note`` that found a lock taken."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self._left = asyncio.Semaphore(0)

    def emit(self, record: logging.LogRecord) -> None:
        if "query note: Neo.TransientError.Transaction.LockAcquisitionTimeout; trying again" in record.getMessage():
            self._left.release()

    async def reached(self, count: int) -> None:
        for _ in range(count):
            await self._left.acquire()


@pytest.fixture
def refusals(caplog: pytest.LogCaptureFixture) -> Iterator[Refusals]:
    caplog.set_level(logging.INFO, logger="graphiti_pkm")
    counting, ours = Refusals(), logging.getLogger("graphiti_pkm")
    ours.addHandler(counting)
    yield counting
    ours.removeHandler(counting)


async def answered(database: Neo4jDatabase) -> list[list[Row]]:
    """Once a failure stands no more; the test's own time limit ends it."""
    while True:
        try:
            return await database.read(COUNT)
        except Unavailable:
            await asyncio.sleep(0.02)


async def test_a_silent_server_keeps_no_call_and_is_used_again_when_it_speaks(
    server: Neo4jServer, database: Neo4jDatabase, returns: list[str]
) -> None:
    server.freeze()
    try:
        async with asyncio.timeout(60):  # the driver alone would wait until the server speaks
            outcomes = await asyncio.gather(*(database.read(COUNT) for _ in range(5)), return_exceptions=True)
    finally:
        server.thaw()
    assert {type(outcome) for outcome in outcomes} == {Unavailable}
    assert await answered(database) == [[{"n": 0}]]
    assert returns == ["back"]


@pytest.mark.storm
async def test_a_silent_server_keeps_nothing_of_what_graphiti_asks(
    server: Neo4jServer, database: Neo4jDatabase
) -> None:
    driver = database.driver()

    async def in_a_session() -> None:
        async with driver.session() as session:
            await session.run("RETURN 1")

    async def writing() -> None:
        async with driver.session() as session:
            await session.execute_write(lambda tx: tx.run("CREATE (:Nobody)"))

    await asyncio.gather(driver.health_check(), in_a_session(), writing())
    server.freeze()
    try:
        async with asyncio.timeout(60):
            asked = (driver.health_check(), in_a_session(), writing())
            outcomes = await asyncio.gather(*asked, return_exceptions=True)
    finally:
        server.thaw()
    assert {type(outcome) for outcome in outcomes} == {Unavailable}
    await answered(database)
    await driver.close()


@pytest.mark.storm
async def test_a_server_that_comes_back_with_another_password_says_what_to_check(
    server: Neo4jServer, database: Neo4jDatabase
) -> None:
    server.kill()
    with pytest.raises(Unavailable):
        await database.read(COUNT)
    server.lose()
    ours, server.password = server.password, "another-password"
    server.start()
    with pytest.raises(ConfigurationError, match="refuses the user name or the password"):
        await database.read(COUNT)
    server.kill()
    server.lose()
    server.password = ours
    server.start()


@pytest.mark.storm
async def test_a_slow_answer_is_waited_for(
    database: Neo4jDatabase, returns: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(neo4j_pulse, "SILENT_SECONDS", 0.01)
    slow = Query("slow", "UNWIND range(1, 3000000) AS i RETURN sum(i % 7) AS n", {})
    assert await database.read(slow) == [[{"n": 8_999_997}]]
    assert returns == []


async def test_a_server_that_comes_back_empty_is_prepared_and_says_so(
    server: Neo4jServer, database: Neo4jDatabase, returns: list[str]
) -> None:
    await database.write(Query("add", "CREATE (:Heron)", {}))
    server.kill()
    with pytest.raises(Unavailable, match="does not answer"):
        await database.read(COUNT)
    server.lose()
    server.start()
    assert await answered(database) == [[{"n": 0}]]
    assert returns == ["back"]
    assert await database.is_ready()
    found = "SHOW INDEXES YIELD name, state WHERE name = 'pkm_search_text' RETURN state"
    assert await database.read(Query("state", found, {})) == [[{"state": "ONLINE"}]]


async def test_a_write_is_tried_for_seconds_while_another_one_holds_its_locks(
    server: Neo4jServer, database: Neo4jDatabase, refusals: Refusals
) -> None:
    note = Query("note", "MERGE (n:Egret {id: 'one'}) SET n.seen = coalesce(n.seen, 0) + 1 RETURN n.seen AS seen", {})
    assert await database.write(note) == [{"seen": 1}]
    with (
        GraphDatabase.driver(server.uri, auth=(server.username, server.password)) as driver,
        driver.session() as session,
        session.begin_transaction() as other,
    ):
        other.run("MATCH (n:Egret {id: 'one'}) SET n.held = true").consume()
        waiting = asyncio.create_task(database.write(note))
        refused = asyncio.create_task(refusals.reached(7))
        await asyncio.wait({waiting, refused}, return_when=asyncio.FIRST_COMPLETED)
        refused.cancel()
        other.rollback()
    assert await waiting == [{"seen": 2}]
