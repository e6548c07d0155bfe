"""Moves user and password out of the address of a database, because addresses are shown and logged."""

from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlencode, urlsplit, urlunsplit

_ADDRESSES = {f"neo4j_{name}": ("neo4j_uri", name) for name in ("username", "password")}
_SHOWN = frozenset({"policy", "region"})
"""Options of an address whose values are not secret. Of others only the name is kept, and they are refused later."""


def address_of(setting: str) -> str | None:
    """The setting of the address that may contain this setting."""
    return _ADDRESSES[setting][0] if setting in _ADDRESSES else None


def in_address(setting: str, address: object) -> str | None:
    """The user or password in an address."""
    parts = _parts(address)
    text = parts and getattr(parts, _ADDRESSES[setting][1])
    return unquote(text) if text else None


def take_out(given: dict[str, Any]) -> None:
    """Remove users and passwords from addresses; they become settings unless these are given separately."""
    for setting, (address, _) in _ADDRESSES.items():
        if not given.get(setting) and (found := in_address(setting, given.get(address))):
            given[setting] = found
    for address in {address for address, _ in _ADDRESSES.values()}:
        parts = _parts(given.get(address))
        if parts and "@" in parts.path + parts.query:
            continue  # an unescaped sign in the password: validation refuses the address without repeating it
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
