"""The audit log: one line per write and per refusal, with caller, token, action, records and outcome."""

import logging
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from graphiti_pkm.core.model.access import Caller, Token
from graphiti_pkm.server.observability.logging import current_request
from graphiti_pkm.settings.loader import Settings

if TYPE_CHECKING:  # stdio starts faster without SQLite
    from graphiti_pkm.server.observability.audit_trail import AuditTrail

_log = logging.getLogger("graphiti_pkm.audit")

REFUSALS = frozenset({"not_allowed", "permission_denied", "too_many_calls", "too_large", "unknown_tool"})
"""Errors that deny something to a caller; invalid input is not one of them."""
_UUID = re.compile(r"[0-9a-fA-F-]{8,36}")
_GROUP = re.compile(r"(?:[A-Za-z0-9][A-Za-z0-9._@+:-]{0,256}/)?[A-Za-z0-9_-]{1,64}")
_MOST = 20

_trail: "AuditTrail | None" = None
"""Keeps the lines of this process, as the log does."""


def audit(
    caller: Caller | None,
    token: Token | None,
    action: str,
    outcome: str,
    arguments: Mapping[str, Any] | None = None,
    answer: Mapping[str, Any] | None = None,
    began: float | None = None,
) -> None:
    """Write one line.

    Args:
        caller: the caller; None if it is unknown.
        token: the token of the request.
        action: the name of the tool, or another kind of request.
        outcome: ``ok``, or the code of the error.
        arguments: the arguments of the call, of which only uuids and group names are logged.
        answer: the answer, of which only uuids and group names are logged.
        began: the value of ``time.perf_counter`` when the call began; None to log no duration.
    """
    _write(
        audit="refused" if outcome in REFUSALS else "write",
        principal=caller.principal if caller else None,
        token=caller.token if caller else token.id if token else None,
        action=action,
        outcome=outcome,
        ms=None if began is None else round((time.perf_counter() - began) * 1000, 1),
        request=current_request(),
        **_places({**(arguments or {}), **{key: (answer or {}).get(key) for key in ("episode_uuid", "group_id")}}),
    )


def log_refused_request(outcome: str, token: Token | None = None) -> None:
    """Write the line of a request that was refused before it became a call; ``outcome`` is a fixed word."""
    _write(audit="refused", token=token.id if token else None, action="connect", outcome=outcome)


@contextmanager
def kept(settings: Settings) -> Iterator[None]:
    """Keep the lines of this process in the data directory, at any log level, for the command ``audit``."""
    global _trail  # noqa: PLW0603 like the log, it belongs to the process
    if not settings.audit_days:
        yield
        return
    from graphiti_pkm.server.observability.audit_trail import AuditTrail  # noqa: PLC0415

    _trail = AuditTrail(settings.audit_path, settings.audit_days)
    try:
        yield
    finally:
        _trail.close()
        _trail = None


def always() -> None:
    """Write the audit log at any log level, for servers that others connect to."""
    _log.setLevel(logging.INFO)


def _write(**event: object) -> None:
    given = {key: value for key, value in event.items() if value is not None}
    _log.info("audit", extra={"event": given})
    if _trail is not None:
        _trail.keep(given)


def _places(values: Mapping[str, Any]) -> dict[str, object]:
    uuids = [text for key, value in values.items() if "uuid" in key for text in _texts(value) if _UUID.fullmatch(text)]
    groups = [
        text for key, value in values.items() if "group" in key for text in _texts(value) if _GROUP.fullmatch(text)
    ]
    found = {"targets": list(dict.fromkeys(uuids))[:_MOST], "groups": list(dict.fromkeys(groups))[:_MOST]}
    return {name: texts for name, texts in found.items() if texts}


def _texts(value: Any) -> list[str]:
    return [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, str)]
