"""Decides which key is sent to which address, so that no key is sent to another address than its own."""

import ipaddress
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import SecretStr

from graphiti_pkm.errors import ConfigurationError

OPENAI_URL = "https://api.openai.com/v1"
OPENAI_KEY = "OPENAI_API_KEY"


@dataclass(frozen=True)
class GivenKey:
    """A key, or the file that contains it, with its address and the origins of the settings."""

    setting: str
    key: SecretStr | None
    file: Path | None
    base_url: str
    origins: Mapping[str, str]


@dataclass(frozen=True)
class ChosenKey:
    """The key to send, and where it comes from."""

    key: SecretStr | None
    origin: str
    note: str = ""


def choose_key(
    given: GivenKey, yaml_origins: Collection[str | None], yaml_url: object, variables: Mapping[str, str]
) -> ChosenKey:
    """The key for an address.

    A key in a YAML file belongs to the address in that file (``yaml_url``; None: OpenAI's), even if another source sets
    another address. ``OPENAI_API_KEY`` belongs to OpenAI's address.

    Raises:
        ConfigurationError: the file of the key cannot be read or contains no key.
    """
    setting = given.setting if given.key else given.setting + "_file"
    origin = given.origins[setting]
    if given.key or given.file:
        if origin in yaml_origins and not same_server(given.base_url, str(yaml_url or OPENAI_URL)):
            return ChosenKey(None, "default", f"{given.setting}: not used, because it belongs to another address")
        text = given.key.get_secret_value() if given.key else _read(given.file, given.setting)
        return ChosenKey(_checked(text, origin), origin)
    if is_openai(given.base_url) and (key := variables.get(OPENAI_KEY, "").strip()):
        return ChosenKey(_checked(key, OPENAI_KEY), OPENAI_KEY)
    return ChosenKey(None, "default")


def is_openai(url: str) -> bool:
    """Whether an address is OpenAI's own."""
    return same_server(url, OPENAI_URL)


def is_nearby(url: str) -> bool:
    """Whether an address is on this machine or in a private network, where no proxy is used."""
    host = urlsplit(url).hostname or ""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
    return address.is_loopback or address.is_private or address.is_link_local


def is_loopback(host: str) -> bool:
    """Whether a host is a loopback address."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def same_server(one: str, other: str) -> bool:
    """Whether two addresses have the same scheme, host and port."""
    return _server(one) == _server(other)


def _server(url: str) -> tuple[str, str, int]:
    parts = urlsplit(url.strip())
    return parts.scheme, parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)


def _read(path: Path | None, setting: str) -> str:
    try:
        return path.read_text(encoding="utf-8").strip() if path else ""
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"Cannot read the file of {setting}, {path}: {type(error).__name__}.") from None


def _checked(key: str, origin: str) -> SecretStr:
    """Check that a key can be sent."""
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise ConfigurationError(f"The key from {origin} must be a single word of printable ASCII characters.")
    return SecretStr(key)
