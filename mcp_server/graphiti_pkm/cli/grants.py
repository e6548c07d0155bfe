"""``tokens create NAME --memory TEAM``: opens the groups of one memory to another principal. It makes no token."""

import argparse
import secrets
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeAlias

from pydantic import ValidationError

from graphiti_pkm.cli.output import say, say_json
from graphiti_pkm.core.model.access import TIERS, Tier
from graphiti_pkm.errors import InvalidInput
from graphiti_pkm.server.auth.grants import Grant, read_grants, read_members, write_grants
from graphiti_pkm.server.auth.tokens import parse, read_tokens
from graphiti_pkm.settings.loader import Settings

_ID_BYTES = 4

Lock: TypeAlias = Callable[[Path], AbstractContextManager[None]]


def share(settings: Settings, options: argparse.Namespace, locked: Lock) -> int:
    """Add a grant."""
    if options.entry or options.may_impersonate:
        raise InvalidInput("Nothing was shared: --memory makes no token, so --entry and --may-impersonate do not fit.")
    now = datetime.now(UTC).replace(microsecond=0)
    try:
        grant = Grant(
            id=secrets.token_hex(_ID_BYTES),
            principal=options.name,
            memory=options.memory,
            tier=options.token_tier,
            groups=tuple(options.group),
            members=None if options.members is None else options.members.expanduser().absolute(),
            created=now,
            expires=now + timedelta(days=options.days) if options.days else None,
        )
    except (ValidationError, OverflowError):
        raise InvalidInput(
            "Nothing was shared. NAME and TEAM are principals, and not the same: 1 to 128 letters, digits or "
            ". _ @ + -, a user of a service SERVICE:USER, a person of an issuer oauth:ISSUER:NAME; with --members NAME "
            "is the service or oauth:ISSUER. A group has 1 to 64 letters, digits, - or _; --days must end before the "
            "year 10000."
        ) from None
    count = None if grant.members is None else len(read_members(grant.members))
    best = None if grant.members else _best_tier(settings, grant.principal, now)
    path = settings.grants_path
    with locked(path):
        write_grants(path, [*read_grants(path), grant])
    if options.json:
        say_json({"grant": as_listed(grant, now), "file": str(path)})
        return 0
    say(f"Grant {grant.id}: {described(grant)}. Running servers know it now; no token was made.")
    if best is not None and TIERS.index(best) < TIERS.index(grant.tier):
        say(
            f"No token of {grant.principal} is above {best}, so that is what it may there; "
            f"tokens create {grant.principal} --tier {grant.tier} makes one."
        )
    if count is not None:
        say(f"The list has {count} member(s) now and is looked at on every request.")
    return 0


def _best_tier(settings: Settings, principal: str, now: datetime) -> Tier | None:
    """The highest tier of the principal's valid tokens: a grant lifts none of them."""
    given = parse(settings.tokens.get_secret_value(), "the setting tokens") if settings.tokens else ()
    own = [one for one in (*read_tokens(settings.token_path), *given) if one.principal == principal]
    return max((one.tier for one in own if one.state(now) == "valid"), key=TIERS.index, default=None)


def withdraw(settings: Settings, options: argparse.Namespace, locked: Lock) -> bool:
    """Revoke the grant of this id; False if there is none."""
    path = settings.grants_path
    if not any(one.id == options.name for one in read_grants(path)):
        return False
    now = datetime.now(UTC).replace(microsecond=0)
    with locked(path):
        changed = [
            one.model_copy(update={"revoked": one.revoked or now}) if one.id == options.name else one
            for one in read_grants(path)
        ]
        write_grants(path, changed)
    if options.json:
        say_json({"revoked": options.name})
    else:
        say(f"Grant {options.name} is revoked; running servers know it now.")
    return True


def as_listed(grant: Grant, now: datetime) -> dict[str, object]:
    """As ``tokens list --json`` shows it."""
    return {"state": grant.state(now), **grant.model_dump(mode="json")}


def described(grant: Grant) -> str:
    """Who has what, in words."""
    who = grant.principal if grant.members is None else f"users of {grant.principal} in {grant.members}"
    what = ", ".join(f"{grant.memory}/{group}" for group in grant.groups or ("GROUP",))
    return f"{who} ({grant.tier}) may use {what}"
