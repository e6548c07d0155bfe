"""Settings of the database: embedded or a server, with addresses and users."""

from collections.abc import Collection
from typing import Any, Literal, TypeAlias
from urllib.parse import urlsplit

from pydantic import BaseModel, Field, SecretStr, field_validator, model_validator

from graphiti_pkm.settings.credentials import take_out

Backend: TypeAlias = Literal["embedded", "sqlite", "falkordb", "neo4j"]
VECTOR_INDEX_THRESHOLD = 50_000
"""Default with the embedded database, which rebuilds its indexes after every start."""
SERVER_VECTOR_INDEX_THRESHOLD = 5_000
"""Default with a database server, which stores its indexes."""
NEO4J_URI = "bolt://localhost:7687"
FALKORDB_URI = "redis://localhost:6379"
_NEO4J_SCHEMES = frozenset({"bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc"})
_FALKORDB_SCHEMES = frozenset({"redis", "rediss", "unix"})
_SERVERS = {"neo4j": NEO4J_URI, "falkordb": FALKORDB_URI}


class DatabaseSettings(BaseModel):
    """Settings that say where the graph is."""

    backend: Literal["auto", "embedded", "sqlite", "falkordb", "neo4j"] = Field(
        default="auto",
        description="Database of the graph: embedded, sqlite, falkordb or neo4j. auto uses the server whose address is "
        "set, else the embedded one. sqlite keeps graph and journal in one file, memory.sqlite3; it will become the "
        "embedded one, and does not read a memory that embedded wrote.",
    )
    idle_seconds: float = Field(
        default=30.0, gt=0, description="Seconds after which the embedded database stops when no process uses it."
    )
    vector_index_threshold: int = Field(
        default=VECTOR_INDEX_THRESHOLD,
        ge=1,
        description="A group with more entities, facts or sentences than this is searched by meaning through an index, "
        "which is built in the background after each start; smaller groups are scanned. The default is 5000 with a "
        "database server, which stores its indexes.",
    )
    neo4j_uri: str | None = Field(
        default=None, description=f"Address of a Neo4j server, version 5.26 or newer, e.g. {NEO4J_URI}."
    )
    neo4j_username: str = Field(default="neo4j", min_length=1, description="User on the Neo4j server.")
    neo4j_password: SecretStr | None = Field(default=None, description="Password of the Neo4j user.")
    neo4j_database: str = Field(default="neo4j", min_length=1, description="Database on the Neo4j server.")
    neo4j_reader_username: str | None = Field(
        default=None, description="Neo4j user without write access, for all reads. Default: the main user."
    )
    neo4j_reader_password: SecretStr | None = Field(default=None, description="Password of neo4j_reader_username.")
    falkordb_uri: str | None = Field(
        default=None,
        description=f"Address of a FalkorDB server, e.g. {FALKORDB_URI}; rediss:// for TLS, unix:///PATH for a socket.",
    )
    falkordb_username: str | None = Field(
        default=None, description="User on the FalkorDB server. Default: the server's default user."
    )
    falkordb_password: SecretStr | None = Field(default=None, description="Password of the FalkorDB user.")
    falkordb_database: str = Field(default="default_db", min_length=1, description="Graph on the FalkorDB server.")
    falkordb_reader_username: str | None = Field(
        default=None, description="FalkorDB user without write access, for all reads. Default: the main user."
    )
    falkordb_reader_password: SecretStr | None = Field(
        default=None, description="Password of falkordb_reader_username."
    )
    database_connections: int = Field(
        default=24, ge=2, le=1_000, description="Maximum connections of one server process to the database."
    )

    @field_validator("neo4j_uri")
    @classmethod
    def _neo4j_address(cls, uri: str | None) -> str | None:
        return _address(uri, _NEO4J_SCHEMES, NEO4J_URI)

    @field_validator("falkordb_uri")
    @classmethod
    def _falkordb_address(cls, uri: str | None) -> str | None:
        return _address(uri, _FALKORDB_SCHEMES, FALKORDB_URI)

    @model_validator(mode="before")
    @classmethod
    def _usual(cls, given: Any) -> Any:
        """Fills in the defaults that depend on the kind of database."""
        if not isinstance(given, dict):
            return given
        backend, filled = given.get("backend"), dict(given)
        for of, usual in _SERVERS.items():
            if backend == of and not given.get(f"{of}_uri"):
                filled[f"{of}_uri"] = usual
        take_out(filled)
        if backend in _SERVERS or (backend in (None, "auto") and any(filled.get(f"{of}_uri") for of in _SERVERS)):
            filled.setdefault("vector_index_threshold", SERVER_VECTOR_INDEX_THRESHOLD)
        return filled

    @model_validator(mode="after")
    def _one_database(self) -> "DatabaseSettings":
        if self.backend == "auto" and self.neo4j_uri and self.falkordb_uri:
            raise ValueError("neo4j_uri and falkordb_uri are both set; choose one of them with backend")
        for of in ("neo4j", "falkordb"):
            if (getattr(self, f"{of}_reader_username") is None) != (getattr(self, f"{of}_reader_password") is None):
                raise ValueError(f"{of}_reader_username and {of}_reader_password must be set together")
        return self

    @property
    def effective_backend(self) -> Backend:
        """The database to use, with ``auto`` resolved."""
        if self.backend != "auto":
            return self.backend
        if self.neo4j_uri:
            return "neo4j"
        return "falkordb" if self.falkordb_uri else "embedded"


def _address(uri: str | None, schemes: frozenset[str], example: str) -> str | None:
    """Raises ValueError, whose message repeats no part of the address, because that may contain a password."""
    if uri is None or not uri.strip():
        return None
    try:
        parts = urlsplit(uri.strip())
        place = parts.path if parts.scheme == "unix" else parts.hostname
        fits = parts.scheme in schemes and bool(place) and (parts.port or 1) > 0
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(f"not an address such as {example}; it must start with {', '.join(sorted(schemes))}")
    if parts.scheme != "unix" and "@" in uri:  # a password with an unescaped special character
        raise ValueError("special characters of a user or password in it must be written as %2F and so on")
    return uri.strip()


def unused_databases(settings: DatabaseSettings, given: Collection[str]) -> list[str]:
    """Notes about settings for a database that is not used, one line each."""
    backend = settings.effective_backend
    notes = []
    for of in _SERVERS:
        names = [name for name in given if name.startswith(f"{of}_")]
        if names and of != backend:
            notes.append(f"{', '.join(names)}: not used, because the database is {backend}")
    return notes
