"""Connections to one Neo4j, and what its errors mean."""

from neo4j import AsyncDriver, AsyncGraphDatabase, NotificationMinimumSeverity
from neo4j.exceptions import ConfigurationError as DriverConfigurationError
from neo4j.exceptions import ConstraintError, DatabaseUnavailable, DriverError, Neo4jError, TransientError
from pydantic import SecretStr

from graphiti_pkm.errors import ConfigurationError
from graphiti_pkm.storage.graph.database import Refused

LOST = (DriverError, DatabaseUnavailable, OSError)

_CONNECT_SECONDS = 5.0
_ACQUIRE_SECONDS = 20.0


class Neo4jRefused(Refused):
    """A refusal by Neo4j, with its error code but without its message."""

    def __init__(self, query: str, error: Neo4jError) -> None:
        code = error.code or "no code"
        is_of_server = isinstance(error, TransientError) or "DatabaseError" in code
        super().__init__(query, code, is_transient=is_of_server or "TimedOut" in code or "Terminated" in code)
        self.is_existing_index = "AlreadyExists" in code
        self.may_be_repeated = isinstance(error, TransientError | ConstraintError)
        """A deadlock, or two transactions that created the same node at once: the second will find it.

        Not a ``DatabaseError``: a full disk stays full for longer than a call waits, and a value too large for an index
        of somebody else's stays too large.
        """


def open_driver(uri: str, username: str, password: SecretStr | None, most: int) -> AsyncDriver:
    """Open a driver, which connects when it is used. Raises ConfigurationError."""
    try:
        return AsyncGraphDatabase.driver(
            uri,
            auth=(username, password.get_secret_value()) if password is not None else None,
            max_connection_pool_size=most,
            connection_timeout=_CONNECT_SECONDS,
            connection_acquisition_timeout=_ACQUIRE_SECONDS,
            keep_alive=True,
            notifications_min_severity=NotificationMinimumSeverity.OFF,
            telemetry_disabled=True,
        )
    except (DriverConfigurationError, ValueError):
        raise ConfigurationError(f"{uri} is no address of a Neo4j. Use bolt://host:7687 or neo4j://host.") from None
