"""``curate run``: checks of a whole group, by the local user."""

import argparse

from graphiti_pkm.bootstrap import Memory
from graphiti_pkm.capabilities.curation.capability import CHECKS
from graphiti_pkm.capabilities.curation.models import FindingView
from graphiti_pkm.cli.opening import local_user, run_on
from graphiti_pkm.cli.output import complain, show
from graphiti_pkm.cli.staging import group_of
from graphiti_pkm.settings.loader import Settings


def curate(settings: Settings, options: argparse.Namespace) -> int:
    """Flag what the checks find; returns 1 if one could not look at everything."""
    user = local_user(settings, "curate run", "librarian")
    group = group_of(settings, options)

    async def run(memory: Memory) -> int:
        report = await memory.services[CHECKS].run(user, group, options.check, writes=not options.dry_run)
        lines = [report.message]
        for one in report.checks:
            found, entities = (f"{one.found} pair(s)", " entities") if one.check == "duplicates" else (one.found, "")
            lines.append(f"{one.check}: {found} found, {one.newly_flagged}{entities} new, {one.settled} settled before")
            lines += [_line(view) for view in one.entities]
            if one.found > len(one.entities):
                lines.append(f"  {one.found - len(one.entities)} more")
        show(options, report, "\n".join(lines))
        failed = [one for one in report.checks if one.failed]
        for one in failed:
            complain(f"{one.check} did not look at everything: {one.failed}")
        return 1 if failed else 0

    return run_on(settings, run)


def _line(view: FindingView) -> str:
    other = "" if view.other_uuid is None else f"{view.other_uuid[:8]}  "
    return f"  {view.state:<8} {view.entity_uuid[:8]}  {view.name}{f' ({other}{view.detail})' if view.detail else ''}"
