"""The parts of `make docker-check` that need no engine, no root and no Compose."""

from pathlib import Path

import pytest
from tests.docker_check.databases import neo4j_settings
from tests.docker_check.pages import ComposeCommand, parsed
from tests.docker_check.probes import URL, client_of, token_in
from tests.docker_check.service import resolved
from tests.docker_env import services


def test_neo4js_settings_are_those_that_its_image_makes_of_variables() -> None:
    variables = {
        "NEO4J_AUTH": "neo4j/x",
        "NEO4J_server_memory_heap_max__size": "1g",
        "NEO4J_db_logs_query_enabled": "OFF",
    }
    assert neo4j_settings(variables) == {"server.memory.heap.max_size": "1g", "db.logs.query.enabled": "OFF"}
    assert all("__" not in name for name in neo4j_settings(services()["neo4j"]["environment"]))


def test_a_service_is_read_as_compose_prints_it() -> None:
    service = resolved(
        "planted",
        {
            "image": "planted:1.2.3",
            "entrypoint": ["/bin/sh", "/start.sh"],
            "environment": {"PASSWORD": "a$$b", "EMPTY": None},
            "healthcheck": {"test": ["CMD-SHELL", 'test "$$PASSWORD"']},
            "stop_grace_period": "1m30s",
            "read_only": True,
            "volumes": [
                {"type": "bind", "source": "/docker/start.sh", "target": "/start.sh"},
                {"type": "volume", "source": "planted", "target": "/data"},
            ],
        },
    )
    assert service.environment == {"PASSWORD": "a$b", "EMPTY": ""}
    assert service.health == ["CMD-SHELL", 'test "$PASSWORD"']
    assert service.stop_grace_seconds == 90.0
    assert service.file == (Path("/docker/start.sh"), "/start.sh")
    assert (service.read_only, service.builds, service.user) == (True, None, None)


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("--profile embedded build", ComposeCommand(("embedded",), "build")),
        (
            "--profile neo4j run --rm --no-deps memory-neo4j tokens create anna",
            ComposeCommand(("neo4j",), "run", "memory-neo4j", ("tokens", "create", "anna")),
        ),
        ("--profile a --profile b up --detach", ComposeCommand(("a", "b"), "up")),
        ("--profile a cp memory:/data/b c", ComposeCommand(("a",), "cp", "memory", ("/data/b", "c"))),
    ],
)
def test_a_command_is_read_as_compose_reads_it(line: str, command: ComposeCommand) -> None:
    assert parsed(f"docker compose -f docker/compose.yaml {line}") == command


def test_the_token_is_what_the_command_shows_first() -> None:
    assert token_in("0123456789abcdef0123456789\nToken ab of anna.\n") == "0123456789abcdef0123456789"
    assert token_in("") is None
    assert token_in("It cannot be made: there is no directory.\n") is None


@pytest.mark.parametrize("is_service", [False, True])
def test_the_client_is_the_one_that_the_pages_show(is_service: bool) -> None:
    client = client_of("planted", is_service=is_service)
    assert client.pop("url") == f"{URL}/mcp"
    assert client.pop("Authorization") == "Bearer planted"
    assert list(client) == (["X-User-ID"] if is_service else [])
    assert not [value for value in client.values() if "{" in value]
