"""Settings of the database: embedded or Neo4j, with address and users."""

from collections.abc import Collection
from typing import Any, Literal, TypeAlias
from urllib.parse import urlsplit

from pydantic import BaseModel, Field, SecretStr, field_validator, model_validator

from graphiti_pkm.settings.credentials import take_out

Backend: TypeAlias = Literal["embedded", "neo4j"]
VECTOR_INDEX_THRESHOLD = 5_000
NEO4J_URI = "bolt://localhost:7687"
_SCHEMES = frozenset({"bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc"})
_SAME = {"sqlite": "embedded"}
"""Other names of a kind of database."""
_NO_FALKORDB = (
    "FalkorDB is no longer supported. Without this setting the memory is one SQLite file in the data directory; with "
    "backend neo4j it is on a Neo4j server. DOCS/operations.md says how to bring the memory along"
)


class DatabaseSettings(BaseModel, defer_build=True):
    """Settings that say where the graph is."""

    backend: Literal["auto", "embedded", "neo4j"] = Field(
        default="auto",
        description="Database of the graph: embedded, one SQLite file in the data directory, or neo4j. auto uses Neo4j "
        "if neo4j_uri is set, else the embedded one.",
    )
    vector_index_threshold: int = Field(
        default=VECTOR_INDEX_THRESHOLD,
        ge=1,
        description="Neo4j: a group with more entities, facts or sentences than this is searched by meaning through an "
        "index, which is built in the background; smaller groups are scanned.",
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
    database_connections: int = Field(
        default=24, ge=2, le=1_000, description="Maximum connections of one server process to Neo4j."
    )

    @field_validator("neo4j_uri")
    @classmethod
    def _checked_uri(cls, uri: str | None) -> str | None:
        """Raises ValueError, whose message repeats no part of the address, because that may contain a password."""
        if uri is None or not uri.strip():
            return None
        try:
            parts = urlsplit(uri.strip())
            fits = parts.scheme in _SCHEMES and bool(parts.hostname) and (parts.port or 1) > 0
        except ValueError:
            fits = False
        if not fits:
            raise ValueError(f"not an address such as {NEO4J_URI}; it must start with {', '.join(sorted(_SCHEMES))}")
        if "@" in uri:  # a password with an unescaped special character
            raise ValueError("special characters of a user or password in it must be written as %2F and so on")
        return uri.strip()

    @field_validator("backend", mode="before")
    @classmethod
    def _known(cls, backend: object) -> object:
        if backend == "falkordb":
            raise ValueError(_NO_FALKORDB)
        return _SAME.get(backend, backend) if isinstance(backend, str) else backend

    @model_validator(mode="before")
    @classmethod
    def _usual(cls, given: Any) -> Any:
        """Fills in the defaults that depend on the kind of database."""
        if not isinstance(given, dict):
            return given
        filled = dict(given)
        if given.get("backend") == "neo4j" and not given.get("neo4j_uri"):
            filled["neo4j_uri"] = NEO4J_URI
        take_out(filled)
        return filled

    @model_validator(mode="after")
    def _readers(self) -> "DatabaseSettings":
        if (self.neo4j_reader_username is None) != (self.neo4j_reader_password is None):
            raise ValueError("neo4j_reader_username and neo4j_reader_password must be set together")
        return self

    @property
    def effective_backend(self) -> Backend:
        """The database to use, with ``auto`` resolved."""
        if self.backend != "auto":
            return self.backend
        return "neo4j" if self.neo4j_uri else "embedded"


def unused_databases(settings: DatabaseSettings, given: Collection[str]) -> list[str]:
    """Notes about settings for a database that is not used, one line each."""
    names = [name for name in given if name.startswith("neo4j_")]
    is_used = not names or settings.effective_backend == "neo4j"
    return [] if is_used else [f"{', '.join(names)}: not used, because the database is embedded"]
