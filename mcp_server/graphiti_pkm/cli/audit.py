"""``audit``: who wrote what and who was refused, as servers kept it; never content."""

import argparse

from graphiti_pkm.cli.output import say, say_json
from graphiti_pkm.core.model.times import parse_instant
from graphiti_pkm.errors import InvalidInput
from graphiti_pkm.server.observability.audit_trail import AuditFilter, AuditLine, read_audit
from graphiti_pkm.settings.loader import Settings

_MOST = 10_000


def audit(settings: Settings, options: argparse.Namespace) -> int:
    """Print the newest lines under a filter."""
    if not 1 <= options.limit <= _MOST:
        raise InvalidInput(f"--limit must be between 1 and {_MOST:,}.")
    since = parse_instant(options.since, settings.zone, "--since") if options.since else None
    wanted = AuditFilter(since=since, principal=options.principal, action=options.action)
    lines, total = read_audit(settings.audit_path, wanted, options.limit)
    if options.json:
        say_json({"total": total, "lines": [line.model_dump(mode="json") for line in lines]})
        return 0
    for line in lines:
        say(_shown(line))
    if total > len(lines):
        say(f"{total - len(lines)} more; use --limit to list them.")
    elif not lines:
        say("No lines.")
    return 0


def _shown(line: AuditLine) -> str:
    who = f"{line.principal or '-'} {line.token or '-'}"
    parts = [f"{line.at:%Y-%m-%d %H:%M:%S}", line.kind, who, line.action, line.outcome]
    if line.times > 1:
        parts.append(f"{line.times} times")
    if line.ms is not None:
        parts.append(f"{line.ms:g} ms")
    parts += [f"{name}={','.join(values)}" for name, values in (("", line.targets), ("groups", line.groups)) if values]
    return "  ".join(part.removeprefix("=") for part in parts)
