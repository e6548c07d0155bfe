"""The database server of compose.yaml where its image cannot be had: the same program with the settings of its service.

It is the Community server of the tests.
"""

import os
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from neo4j import GraphDatabase
from tests.docker_check.rules import DATABASES
from tests.docker_check.service import Service
from tests.neo4j_server import Neo4jServer, missing_tools


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
    return None


def start(service: Service, directory: Path) -> Database:
    """Start the database of a service; it is there when it is healthy."""
    assert service.name in DATABASES
    directory.mkdir(exist_ok=True)
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
