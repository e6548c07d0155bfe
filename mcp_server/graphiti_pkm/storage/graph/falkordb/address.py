"""Where a FalkorDB listens and as whom we connect to it; light enough for a start."""

from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from pydantic import SecretStr

from graphiti_pkm.errors import ConfigurationError

PORT = 6379
_OPTIONS = frozenset({"ssl_ca_certs", "ssl_ca_path", "ssl_certfile", "ssl_keyfile", "ssl_check_hostname"})


@dataclass(frozen=True)
class Address:
    """One server and one user of it."""

    uri: str
    """``redis://``, ``rediss://`` or ``unix://``, without user and password."""
    username: str | None = None
    password: SecretStr | None = field(default=None, repr=False)
    is_ours: bool = False
    """The embedded database: we start it ourselves."""

    @classmethod
    def of_socket(cls, path: Path) -> "Address":
        """The embedded database's, which asks for no password."""
        return cls(f"unix://{quote(str(path))}", is_ours=True)

    @property
    def shown(self) -> str:
        """What an error may say of it."""
        parts = urlsplit(self.uri)
        return unquote(parts.path) if parts.scheme == "unix" else f"{parts.hostname}:{parts.port or PORT}"

    def check(self) -> None:
        """Raises ConfigurationError for options that would not be kept, or have a setting of their own."""
        unknown = {name for name, _ in parse_qsl(urlsplit(self.uri).query, keep_blank_values=True)} - _OPTIONS
        if unknown:
            raise ConfigurationError(
                f"falkordb_uri has options that are not known: {', '.join(sorted(unknown))}. "
                f"It may have {', '.join(sorted(_OPTIONS))}; user and password are settings of their own."
            )
