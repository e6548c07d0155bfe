"""The database port on a real Neo4j: who may connect, what reads cannot do, what happens in a race."""

import asyncio
import logging
from collections.abc import AsyncIterator

import pytest
from pydantic import SecretStr
from tests.builders import GROUP, a_name, a_write, an_entity
from tests.neo4j_server import Neo4jAddress

from graphiti_pkm.core.model.names import name_key
from graphiti_pkm.errors import ConfigurationError, NewerSchema, Unavailable
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.storage.graph.database import Refused
from graphiti_pkm.storage.graph.neo4j.database import Neo4jDatabase, open_neo4j
from graphiti_pkm.storage.graph.queries.values import Query
from graphiti_pkm.storage.graph.store import GraphStore

PLANTED = "PLANTED-secret-words"
NOBODY = "bolt://127.0.0.1:9"


def opened(address: Neo4jAddress, **changed: object) -> Neo4jDatabase:
    given = {
        "neo4j_uri": address.uri,
        "neo4j_username": address.username,
        "neo4j_password": SecretStr(address.password),
    }
    return open_neo4j(Settings.model_validate({**given, **changed}))


@pytest.fixture
async def database(neo4j_graph: GraphStore) -> Neo4jDatabase:
    found = await neo4j_graph.database()
    assert isinstance(found, Neo4jDatabase)
    return found


@pytest.fixture
async def another(neo4j_server: Neo4jAddress) -> AsyncIterator[GraphStore]:
    """As another host has it."""

    async def open_database() -> Neo4jDatabase:
        return opened(neo4j_server)

    store = GraphStore(open_database)
    yield store
    await store.close()


async def test_a_wrong_password_is_a_matter_of_the_settings(neo4j_server: Neo4jAddress) -> None:
    database = opened(neo4j_server, neo4j_password=SecretStr(PLANTED))
    with pytest.raises(ConfigurationError, match="refuses the user name or the password") as caught:
        await database.prepare()
    assert PLANTED not in str(caught.value)
    await database.close()


async def test_a_wrong_password_of_the_reader_names_the_readers_settings(neo4j_server: Neo4jAddress) -> None:
    reader = {"neo4j_reader_username": "reader", "neo4j_reader_password": SecretStr(PLANTED)}
    database = opened(neo4j_server, **reader)
    assert await database.write(Query("one", "RETURN 1 AS one", {})) == [{"one": 1}]
    with pytest.raises(ConfigurationError, match="neo4j_reader_username and neo4j_reader_password") as caught:
        await database.read(Query("one", "RETURN 1 AS one", {}))
    assert "neo4j_username" not in str(caught.value)
    await database.close()


async def test_a_database_that_is_not_there_is_named(neo4j_server: Neo4jAddress) -> None:
    database = opened(neo4j_server, neo4j_database="elsewhere")
    with pytest.raises(ConfigurationError, match="no database elsewhere"):
        await database.prepare()
    await database.close()


async def test_a_server_that_does_not_listen_is_unavailable_at_once(neo4j_server: Neo4jAddress) -> None:
    database = opened(neo4j_server, neo4j_uri=NOBODY)
    with pytest.raises(Unavailable, match="does not answer"):
        await asyncio.wait_for(database.prepare(), 10)
    await database.close()


async def test_reads_cannot_write_whatever_their_text(database: Neo4jDatabase) -> None:
    with pytest.raises(Refused):
        await database.attempt(Query("sneaky", "CREATE (:Sneaky)", {}))
    assert await database.read(Query("look", "MATCH (n:Sneaky) RETURN n.uuid AS uuid", {})) == [[]]


async def test_neither_logs_nor_errors_quote_what_was_asked(
    database: Neo4jDatabase, neo4j_graph: GraphStore, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="graphiti_pkm")
    for text in (f"RETURN {PLANTED}(", "RETURN $text / 0", "RETURN date($text)"):
        with pytest.raises(Unavailable) as caught:
            await database.read(Query("broken", text, {"text": PLANTED}))
        assert PLANTED not in caught.value.message
        assert caught.value.__cause__ is None
    driver = await neo4j_graph.driver()
    with pytest.raises(Unavailable) as caught:
        await driver.execute_query("RETURN date($text)", params={"text": PLANTED})
    assert PLANTED not in str(caught.value)
    await driver.close()
    assert PLANTED not in caplog.text
    *ours, theirs = [record.message for record in caplog.records]
    assert ours == ["the database refused the query broken: Neo.ClientError.Statement.SyntaxError"] * 3
    assert theirs == "the database refused a query of graphiti_core: Neo.ClientError.Statement.SyntaxError"


async def test_hosts_in_a_race_for_a_name_leave_one_holder(neo4j_graph: GraphStore, another: GraphStore) -> None:
    rivals = [an_entity("Sarah Miller") for _ in range(12)]
    writes = [a_write(one, a_name(one)) for one in rivals]
    stores = (neo4j_graph, another)
    await asyncio.gather(*(stores[i % 2].writer.apply(write, {}) for i, write in enumerate(writes)))
    (name,) = (await another.records.get_names([name_key(GROUP, "Sarah Miller")])).values()
    assert name.entity_uuid in {one.uuid for one in rivals}
    database = await neo4j_graph.database()
    assert await database.read(Query("names", "MATCH (k:Name) RETURN count(k) AS n", {})) == [[{"n": 1}]]


async def test_the_same_write_from_two_hosts_at_once_is_there_once(
    neo4j_graph: GraphStore, another: GraphStore
) -> None:
    await asyncio.gather(neo4j_graph.ready(), another.ready())
    entity = an_entity("Sarah Miller")
    write = a_write(entity, a_name(entity))
    await asyncio.gather(*(store.writer.apply(write, {}) for store in (neo4j_graph, another) for _ in range(4)))
    database = await neo4j_graph.database()
    for label in ("Write", "Entity", "Name"):
        found = await database.read(Query("count", f"MATCH (n:{label}) RETURN count(n) AS n", {}))
        assert found == [[{"n": 1}]], label


async def test_data_of_a_newer_version_is_refused(database: Neo4jDatabase, neo4j_server: Neo4jAddress) -> None:
    await database.write(Query("newer", "MATCH (m:Meta {id: 'database'}) SET m.schema_version = 99", {}))
    newcomer = opened(neo4j_server)
    with pytest.raises(NewerSchema, match="99"):
        await newcomer.prepare()
    await newcomer.close()
    await database.write(Query("as it was", "MATCH (m:Meta {id: 'database'}) DETACH DELETE m", {}))
