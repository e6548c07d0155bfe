"""User and password inside the address of a database, which is shown and logged: they are taken out of it."""

from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlencode, urlsplit, urlunsplit

_ADDRESSES = {f"{of}_{name}": (f"{of}_uri", name) for of in ("neo4j", "falkordb") for name in ("username", "password")}
_SHOWN = frozenset(
    {"policy", "region", "ssl_ca_certs", "ssl_ca_path", "ssl_certfile", "ssl_keyfile", "ssl_check_hostname"}
)
"""Options of an address whose value is no secret; of any other the name alone is kept, to be refused by it."""


def address_of(setting: str) -> str | None:
    """The setting of the address that may hold this one."""
    return _ADDRESSES[setting][0] if setting in _ADDRESSES else None


def in_address(setting: str, address: object) -> str | None:
    """What an address says of a user or a password."""
    parts = _parts(address)
    text = parts and getattr(parts, _ADDRESSES[setting][1])
    return unquote(text) if text else None


def take_out(given: dict[str, Any]) -> None:
    """Leave addresses without users and passwords; one that has no setting of its own becomes it."""
    for setting, (address, _) in _ADDRESSES.items():
        if not given.get(setting) and (found := in_address(setting, given.get(address))):
            given[setting] = found
    for address in {address for address, _ in _ADDRESSES.values()}:
        parts = _parts(given.get(address))
        if parts and "@" in parts.path + parts.query:
            continue  # cut short by a sign in its password: the setting refuses it, and does not repeat it
        if parts and ("@" in parts.netloc or parts.query):
            options = parse_qsl(parts.query, keep_blank_values=True)
            kept = [(name, value if name in _SHOWN else "") for name, value in options]
            given[address] = urlunsplit(
                parts._replace(netloc=parts.netloc.rpartition("@")[2], query=urlencode(kept, safe="/:"))
            )


def _parts(address: object) -> SplitResult | None:
    try:
        return urlsplit(address.strip()) if isinstance(address, str) else None
    except ValueError:
        return None
