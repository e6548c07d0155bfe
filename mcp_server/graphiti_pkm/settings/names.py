"""The names of settings: our own, and those of similar servers."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from graphiti_pkm.errors import ConfigurationError

ENV_PREFIX = "GRAPHITI_PKM_"


@dataclass(frozen=True)
class Aliases:
    """Further names of a setting, equivalent to our own."""

    variables: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()


ALIASES: Mapping[str, Aliases] = {
    "neo4j_uri": Aliases(("NEO4J_URI", "NEO4J_URL"), ("--db-uri", "--db-url")),
    "neo4j_username": Aliases(("NEO4J_USERNAME", "NEO4J_USER"), ("--username",)),
    "neo4j_password": Aliases(("NEO4J_PASSWORD",), ("--password",)),
    "neo4j_database": Aliases(("NEO4J_DATABASE",), ("--database",)),
    "transport": Aliases(("NEO4J_TRANSPORT",)),
    "host": Aliases(("NEO4J_MCP_SERVER_HOST",), ("--server-host",)),
    "port": Aliases(("NEO4J_MCP_SERVER_PORT",), ("--server-port",)),
    "path": Aliases(("NEO4J_MCP_SERVER_PATH",), ("--server-path",)),
    "allowed_hosts": Aliases(("NEO4J_MCP_SERVER_ALLOWED_HOSTS",)),
    "embedding_mode": Aliases(("EMBEDDING_MODE",)),
    "embedding_model": Aliases(("EMBEDDING_MODEL",)),
    "embedding_api_key": Aliases(("EMBEDDING_API_KEY",)),
    "default_group": Aliases(("GRAPHITI_GROUP_ID",)),
}
_NONE = Aliases()
_NO_FALKORDB = "FalkorDB is no longer supported: the memory is in one SQLite file, or on Neo4j"
RETIRED: Mapping[str, str] = {
    "idle_seconds": "the embedded database is a file, without a process that could stop",
    **{
        f"falkordb_{name}": _NO_FALKORDB
        for name in ("uri", "username", "password", "database", "reader_username", "reader_password")
    },
}
"""Settings of earlier versions, with the reason why they are not used. They may still be given, and then a note says
so: a server must not stop starting over a setting that no longer matters."""


def is_blank(value: object) -> bool:
    """Whether a value counts as not given: launchers pass unset variables on as empty texts."""
    return value is None or (isinstance(value, str) and not value.strip())


def environment_name(setting: str) -> str:
    """Our own environment variable of a setting."""
    return ENV_PREFIX + setting.upper()


def variables_of(setting: str) -> tuple[str, ...]:
    """Every environment variable of a setting, our own first."""
    return environment_name(setting), *ALIASES.get(setting, _NONE).variables


def names_of_retired(setting: str) -> tuple[str, ...]:
    """The environment variables that a retired setting had."""
    own = environment_name(setting)
    return (own, setting.upper()) if setting.startswith("falkordb_") else (own,)


def flags_of(setting: str) -> tuple[str, ...]:
    """Every flag of a setting, our own first."""
    return "--" + setting.replace("_", "-"), *ALIASES.get(setting, _NONE).flags


def one_of(setting: str, given: Iterable[tuple[str, object]], where: str) -> tuple[str, object] | None:
    """The name and value of a setting on one level; two names may have the same value.

    Raises:
        ConfigurationError: two names have different values. It does not show them, because they may be secrets.
    """
    named = list(given)
    for name, value in named[1:]:
        if str(value).strip() != str(named[0][1]).strip():
            raise ConfigurationError(
                f"{named[0][0]} and {name} {where} are names of the same setting, {setting}, but have different "
                "values: remove one of them."
            )
    return named[0] if named else None
