"""Callers share the connections of their server to the database, whoever they are and whatever their tier is."""

from datetime import UTC, datetime
from pathlib import Path

from neo4j import GraphDatabase
from tests.e2e.support import call, over_http, serving
from tests.neo4j_server import Neo4jAddress

from graphiti_pkm.core.model.access import TIERS, Token
from graphiti_pkm.server.auth.tokens import hash_of, new_secret, write_tokens

CALLERS = 24


def connections(server: Neo4jAddress) -> int:
    """But the one that asks."""
    with GraphDatabase.driver(server.uri, auth=(server.username, server.password)) as driver:
        return len(driver.execute_query("CALL dbms.listConnections()").records) - 1


async def test_another_token_costs_no_connection(neo4j_server: Neo4jAddress, tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    secrets = [new_secret() for _ in range(CALLERS)]
    entries = [
        {"hash": hash_of(one), "principal": f"p{number}", "tier": TIERS[number % 4], "created": datetime.now(UTC)}
        for number, one in enumerate(secrets)
    ]
    write_tokens(data_dir / "tokens.json", [Token.model_validate(entry) for entry in entries])
    settings = {"uri": neo4j_server.uri, "username": neo4j_server.username, "password": neo4j_server.password}
    neo4j = {f"neo4j_{name}": value for name, value in settings.items()}
    with serving(data_dir, database_connections=6, **neo4j) as server:
        opened = []
        for secret in secrets:
            async with over_http(server.endpoint, authorization=f"Bearer {secret}") as client:
                assert (await call(client, "get_status"))["groups"] == {}
                await call(client, "search_nodes", query="anybody")
            opened.append(connections(neo4j_server))
        assert max(opened) < CALLERS  # of those who write and of those who read six each
