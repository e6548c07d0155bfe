"""The roles for Neo4j Enterprise are what the product's queries need; Community, which has no roles, can read them."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from neo4j import Driver, GraphDatabase
from neo4j.exceptions import ClientError
from tests.integration.cypher_source import Parts, deleted, made, named, procedures, product_texts
from tests.neo4j_server import Neo4jAddress

from graphiti_pkm.storage.graph.queries import sagas as queries_sagas
from graphiti_pkm.storage.graph.queries import write as queries_write

ROOT = Path(__file__).parents[2]
SCRIPT = (ROOT / "docker" / "neo4j-roles-enterprise.cypher").read_text()
TIERS = ("reader", "contributor", "librarian", "curator")
UNSUPPORTED = "Neo.ClientError.Statement.UnsupportedAdministrationCommand"
SYNTAX_ERROR = "Neo.ClientError.Statement.SyntaxError"

STATEMENTS = [one.strip() for one in re.sub("(?m)^//.*", "", SCRIPT).split(";") if one.strip()]
EXAMPLES = re.findall(r"(?m)^// ((?:CREATE USER|GRANT ROLE) .*);$", SCRIPT)


def granted(action: str, tier: str) -> Parts:
    """The labels and types that a role has a right for."""
    found: dict[str, set[str]] = {"NODES": set(), "RELATIONSHIPS": set()}
    for kind, names in re.findall(
        rf"^GRANT {re.escape(action)} ON GRAPH neo4j (NODES|RELATIONSHIPS) (.*) TO mem_{tier};$", SCRIPT, re.MULTILINE
    ):
        found[kind].update(names.split(", "))
    return Parts(frozenset(found["NODES"]), frozenset(found["RELATIONSHIPS"]))


@pytest.fixture(scope="module")
def neo4j(neo4j_server: Neo4jAddress) -> Iterator[Driver]:
    with GraphDatabase.driver(neo4j_server.uri, auth=(neo4j_server.username, neo4j_server.password)) as driver:
        yield driver


def refusal(neo4j: Driver, statement: str) -> str:
    """How the server refuses an administration command; empty if it does not."""
    with neo4j.session(database="system") as session:
        try:
            session.run(statement).consume()
        except ClientError as error:
            return error.code or ""
    return ""


def test_a_real_server_understands_every_line_and_community_refuses_it(neo4j: Driver) -> None:
    assert len(STATEMENTS) > len(TIERS)
    assert {statement: refusal(neo4j, statement) for statement in STATEMENTS} == dict.fromkeys(STATEMENTS, UNSUPPORTED)
    assert refusal(neo4j, "GRANT MERGE {*} ON GRAPH neo4j NODES Entity, TO mem_reader") == SYNTAX_ERROR


def test_the_users_at_its_end_are_commands_too(neo4j: Driver) -> None:
    assert len(EXAMPLES) == 2 * len(TIERS)
    assert [refusal(neo4j, example) for example in EXAMPLES] == ["", UNSUPPORTED] * len(TIERS)
    for tier in TIERS:
        assert refusal(neo4j, f"DROP USER mem_agent_{tier}") == ""


def test_a_contributor_may_make_exactly_what_our_queries_make() -> None:
    texts = product_texts()
    assert granted("MERGE {*}", "contributor") == made(texts)
    assert named(texts) == made(texts)  # nothing is asked for that nobody makes
    assert not re.search("^GRANT DELETE .* TO mem_contributor", SCRIPT, re.MULTILINE)


def test_a_librarian_may_delete_what_goes_with_facts_and_entities_and_no_source() -> None:
    theirs = deleted([*queries_write.DELETE_FACTS, *queries_write.DELETE_ENTITIES, queries_sagas.DELETE_COMMUNITIES])
    # What is detached goes with its relations, which the text does not name.
    detached = {"MENTIONS", "OF", "HAS_MEMBER", "EVIDENCED_BY", "FROM_SOURCE"}
    found = granted("DELETE", "librarian")
    assert found == Parts(theirs.nodes, theirs.relations | detached)
    assert not found.nodes & {"Episodic", "Saga", "Change"}


def test_a_curator_may_all_that_is_left() -> None:
    assert deleted(product_texts()).nodes - granted("DELETE", "librarian").nodes == {
        "Episodic",
        "Saga",
        "Passage",
        "Change",
        "Reading",
        "Write",
        "Meta",
        "EntryRecord",
        "WriteOrigin",
        "DocumentRecord",
    }
    assert "GRANT WRITE ON GRAPH neo4j TO mem_curator" in STATEMENTS


def test_a_reader_may_call_exactly_what_our_queries_call() -> None:
    named_in_script = re.findall(r"^GRANT EXECUTE PROCEDURE (.*) ON DBMS TO mem_reader;$", SCRIPT, re.MULTILINE)
    assert {name for line in named_in_script for name in line.split(", ")} == procedures(product_texts())


def test_the_pages_say_what_it_guards_against_and_what_not() -> None:
    page = " ".join((ROOT / "DOCS" / "operations.md").read_text().split())
    assert "docker/neo4j-roles-enterprise.cypher" in page
    assert "not against one who has the database's password" in page
    assert "has not been run on Enterprise" in page
