"""The Neo4j the tests run on is the real one, and each test finds it empty."""

import os
import subprocess
import sys
from pathlib import Path

from neo4j import GraphDatabase
from tests.neo4j_server import Neo4jAddress, empty

ASKS_FOR_NEO4J = """
def test_one(neo4j_server): ...
def test_another(neo4j_server): ...
"""


def values(address: Neo4jAddress, query: str) -> list[object]:
    with (
        GraphDatabase.driver(address.uri, auth=(address.username, address.password)) as driver,
        driver.session(database="neo4j") as session,
    ):
        return session.run(query).value()


def test_it_is_a_community_server_of_the_version_that_is_supported(neo4j_server: Neo4jAddress) -> None:
    found = values(neo4j_server, "CALL dbms.components() YIELD versions, edition RETURN versions[0] + ' ' + edition")
    assert str(found[0]).startswith("5.26.")
    assert str(found[0]).endswith(" community")


def test_emptying_takes_records_and_vector_indexes_and_leaves_the_others(neo4j_server: Neo4jAddress) -> None:
    empty(neo4j_server)
    values(neo4j_server, "CREATE INDEX kept IF NOT EXISTS FOR (n:Hub) ON (n.name)")
    options = "{indexConfig: {`vector.dimensions`: 3, `vector.similarity_function`: 'cosine'}}"
    values(neo4j_server, f"CREATE VECTOR INDEX gone FOR (n:Hub) ON (n.embedding) OPTIONS {options}")
    values(neo4j_server, "CREATE (hub:Hub) WITH hub UNWIND range(1, 30000) AS i CREATE (hub)-[:HAS]->(:Part)")
    empty(neo4j_server)
    assert values(neo4j_server, "MATCH (n) RETURN count(n)") == [0]
    indexes = values(neo4j_server, "SHOW INDEXES YIELD name")
    assert "gone" not in indexes
    assert "kept" in indexes
    values(neo4j_server, "DROP INDEX kept")


def test_a_machine_without_java_says_so_once(tmp_path: Path) -> None:
    asking = tmp_path / "test_asking.py"
    asking.write_text(ASKS_FOR_NEO4J)
    command = [sys.executable, "-m", "pytest", "-rs", "-p", "tests.conftest", "--rootdir", str(tmp_path), str(asking)]
    nothing = {name: value for name, value in os.environ.items() if not name.startswith("NEO4J_")} | {
        "PATH": str(tmp_path),
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }
    run = subprocess.run(command, env=nothing, capture_output=True, text=True, check=False)
    lines = [line for line in run.stdout.splitlines() if "SKIPPED" in line]
    assert len(lines) == 1
    assert "[2]" in lines[0]
    assert "no java, javac, mvn: tests on Neo4j need a JDK (17+) and Maven, or a server in NEO4J_URI" in lines[0]
