"""``tokens``: who may connect over HTTP. A token is shown once, when it is created; only its hash is stored."""

import argparse
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pydantic import ValidationError

from graphiti_pkm.cli.grants import as_listed, described, share, withdraw
from graphiti_pkm.cli.output import complain, say, say_json
from graphiti_pkm.core.model.access import Token
from graphiti_pkm.core.operating_system import open_lock, wait_for_lock
from graphiti_pkm.errors import ConfigurationError, InvalidInput, NotFound
from graphiti_pkm.server.auth.grants import read_grants
from graphiti_pkm.server.auth.tokens import as_entry, hash_of, new_secret, parse, read_tokens, write_tokens
from graphiti_pkm.settings.loader import Settings

_USAGE = 2
_ENVIRONMENT = "GRAPHITI_PKM_TOKENS"


def tokens(settings: Settings, options: argparse.Namespace) -> int:
    """Create, list or revoke tokens, and what opens a memory to others; running servers notice the change."""
    needs_name = options.action != "list"
    if needs_name != bool(options.name):
        what = {"create": "needs the name of a principal", "revoke": "needs the id of a token", "list": "takes no name"}
        complain(f"tokens {options.action} {what[options.action]}. See `graphiti-pkm tokens --help`.")
        return _USAGE
    return _DO[options.action](settings, options)


def _create(settings: Settings, options: argparse.Namespace) -> int:
    if options.days is not None and options.days < 1:
        raise InvalidInput("No token was created: --days must be at least 1; without it the token does not expire.")
    if options.memory is not None:
        return share(settings, options, locked)
    if options.members is not None:
        raise InvalidInput("No token was created: --members needs --memory, which says what is opened to them.")
    secret, now = new_secret(), datetime.now(UTC).replace(microsecond=0)
    try:
        token = Token(
            hash=hash_of(secret),
            principal=options.name,
            tier=options.token_tier,
            groups=tuple(options.group),
            may_impersonate=options.may_impersonate,
            created=now,
            expires=now + timedelta(days=options.days) if options.days else None,
        )
    except (ValidationError, OverflowError):
        raise InvalidInput(
            "No token was created. A principal has 1 to 128 letters, digits or . _ @ + -; a user of a service is "
            "SERVICE:USER; a service with --may-impersonate has a name without : that is not local; a group has 1 to "
            "64 letters, digits, - or _; --days must end before the year 10000."
        ) from None
    path = settings.token_path
    if not options.entry:
        with locked(path):
            write_tokens(path, [*read_tokens(path), token])
    if options.json:
        say_json({"token": secret, "file": None if options.entry else str(path), "entry": as_entry(token)})
        return 0
    say(secret)
    say(f"Token {token.id} of {_of(token)}. It is not shown again; only its hash is stored.")
    if options.entry:
        say(f"It was not written to a file. Entry for {_ENVIRONMENT}, which contains a list of entries:")
        say(json.dumps(as_entry(token)))
    else:
        say(f"Its hash is in {path}. Running servers accept it now, and refuse callers without a token.")
    return 0


def _list(settings: Settings, options: argparse.Namespace) -> int:
    now, path = datetime.now(UTC), settings.token_path
    given = parse(settings.tokens.get_secret_value(), "the setting tokens") if settings.tokens else ()
    found = [(one, str(path)) for one in read_tokens(path)] + [(one, _ENVIRONMENT) for one in given]
    grants = read_grants(settings.grants_path)
    if options.json:
        listed = [
            {"id": one.id, "state": one.state(now), "from": origin, **one.model_dump(mode="json", exclude={"hash"})}
            for one, origin in found
        ]
        say_json({"tokens": listed, "grants": [as_listed(one, now) for one in grants]})
        return 0
    for one, origin in found:
        until = f"until {_day(one.expires)}" if one.expires else "does not expire"
        say(f"{one.id}  {one.state(now):<8}{_of(one)}, created {_day(one.created)}, {until}, from {origin}")
    if not found:
        say(f"There are no tokens in {path}. Until there is one, local clients need none.")
    for grant in grants:
        until = f"until {_day(grant.expires)}" if grant.expires else "does not expire"
        say(f"{grant.id}  {grant.state(now):<8}{described(grant)}, created {_day(grant.created)}, {until}")
    return 0


def _revoke(settings: Settings, options: argparse.Namespace) -> int:
    path = settings.token_path
    if withdraw(settings, options, locked):
        return 0
    with locked(path):
        kept = read_tokens(path)
        meant = [one for one in kept if one.id == options.name]
        if not meant:
            raise NotFound(
                f"There is no token {options.name!a} in {path}. `graphiti-pkm tokens list` lists all. To revoke one in "
                f"{_ENVIRONMENT}, remove it there and restart the server."
            )
        now = datetime.now(UTC).replace(microsecond=0)
        changed = [one.model_copy(update={"revoked": one.revoked or now}) if one in meant else one for one in kept]
        write_tokens(path, changed)
    if options.json:
        say_json({"revoked": options.name})
    else:
        say(f"Token {options.name} is revoked; running servers refuse it now.")
    return 0


_DO: dict[str, Callable[[Settings, argparse.Namespace], int]] = {"create": _create, "list": _list, "revoke": _revoke}


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Lock the file, so that two commands at once do not lose each other's changes."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = open_lock(path.with_name(f".{path.name}.lock"))
    except OSError as error:
        raise ConfigurationError(
            f"Cannot write to the directory of {path}: {error.strerror}. Nothing was changed."
        ) from None
    try:
        wait_for_lock(lock, "exclusive")
        yield
    finally:
        os.close(lock)


def _of(token: Token) -> str:
    groups = f", groups {', '.join(token.groups)}" if token.groups else ""
    return f"{token.principal} ({token.tier}{', may impersonate' if token.may_impersonate else ''}{groups})"


def _day(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
