"""Settings of the database: the embedded one, or a server, and who connects to it."""

from collections.abc import Collection
from typing import Any, Literal, TypeAlias
from urllib.parse import urlsplit

from pydantic import BaseModel, Field, SecretStr, field_validator, model_validator

from graphiti_pkm.settings.credentials import take_out

Backend: TypeAlias = Literal["embedded", "falkordb", "neo4j"]
VECTOR_INDEX_THRESHOLD = 50_000
"""Of an embedded database, which builds its indexes anew after every start."""
SERVER_VECTOR_INDEX_THRESHOLD = 5_000
"""Of a server that keeps its indexes."""
NEO4J_URI = "bolt://localhost:7687"
FALKORDB_URI = "redis://localhost:6379"
_NEO4J_SCHEMES = frozenset({"bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc"})
_FALKORDB_SCHEMES = frozenset({"redis", "rediss", "unix"})
_SERVERS = {"neo4j": NEO4J_URI, "falkordb": FALKORDB_URI}


class DatabaseSettings(BaseModel):
    """The part of the settings that says where the graph is."""

    backend: Literal["auto", "embedded", "falkordb", "neo4j"] = Field(
        default="auto",
        description="Database of the graph: embedded, falkordb or neo4j; auto is the server whose address is given, "
        "else embedded.",
    )
    idle_seconds: float = Field(
        default=30.0, gt=0, description="How long the embedded database outlives its last client, in seconds."
    )
    vector_index_threshold: int = Field(
        default=VECTOR_INDEX_THRESHOLD,
        ge=1,
        description="A group with more entities, facts or sentences than this is searched by meaning through an index, "
        "built in the background after each start; smaller ones are scanned. 5000 on a server, which keeps them.",
    )
    neo4j_uri: str | None = Field(
        default=None, description=f"Address of a Neo4j server, 5.26 or newer, e.g. {NEO4J_URI}."
    )
    neo4j_username: str = Field(default="neo4j", min_length=1, description="User on that server.")
    neo4j_password: SecretStr | None = Field(default=None, description="Password of that user.")
    neo4j_database: str = Field(default="neo4j", min_length=1, description="Database on that server.")
    neo4j_reader_username: str | None = Field(
        default=None, description="User for all that only reads, if it is to be another: one who may not write."
    )
    neo4j_reader_password: SecretStr | None = Field(default=None, description="Password of that user.")
    falkordb_uri: str | None = Field(
        default=None,
        description=f"Address of a FalkorDB server, e.g. {FALKORDB_URI}; rediss:// for TLS, unix:///PATH for a socket.",
    )
    falkordb_username: str | None = Field(
        default=None, description="User on that server; its default user if left out."
    )
    falkordb_password: SecretStr | None = Field(default=None, description="Password of that user.")
    falkordb_database: str = Field(default="default_db", min_length=1, description="Graph on that server.")
    falkordb_reader_username: str | None = Field(
        default=None, description="User for all that only reads, if it is to be another: one who may not write."
    )
    falkordb_reader_password: SecretStr | None = Field(default=None, description="Password of that user.")
    database_connections: int = Field(
        default=24, ge=2, le=1_000, description="Most connections of one server process to its database."
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
        """What follows from the kind of database, unless it is given."""
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
            raise ValueError("neo4j_uri and falkordb_uri are both given: say which with backend")
        for of in ("neo4j", "falkordb"):
            if (getattr(self, f"{of}_reader_username") is None) != (getattr(self, f"{of}_reader_password") is None):
                raise ValueError(f"{of}_reader_username and {of}_reader_password are given together or not at all")
        return self

    @property
    def effective_backend(self) -> Backend:
        """The database that is meant, what ``auto`` stands for decided."""
        if self.backend != "auto":
            return self.backend
        if self.neo4j_uri:
            return "neo4j"
        return "falkordb" if self.falkordb_uri else "embedded"


def _address(uri: str | None, schemes: frozenset[str], example: str) -> str | None:
    """Raises ValueError, which repeats nothing of the address: it may hold a password."""
    if uri is None or not uri.strip():
        return None
    try:
        parts = urlsplit(uri.strip())
        place = parts.path if parts.scheme == "unix" else parts.hostname
        fits = parts.scheme in schemes and bool(place) and (parts.port or 1) > 0
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(f"not an address such as {example}; it starts with {', '.join(sorted(schemes))}")
    if parts.scheme != "unix" and "@" in uri:  # what is left of a password that holds a / or the like
        raise ValueError("a user or password in it must have its special characters as %2F and so on")
    return uri.strip()


def unused_databases(settings: DatabaseSettings, given: Collection[str]) -> list[str]:
    """What was given for a database that is not the one, one line each."""
    backend = settings.effective_backend
    notes = []
    for of in _SERVERS:
        names = [name for name in given if name.startswith(f"{of}_")]
        if names and of != backend:
            notes.append(f"{', '.join(names)}: not used, the database is {backend}")
    return notes
