"""``snapshot``, ``rollback``, ``migrate``, ``promote``, ``stats``, ``diff``, ``search``: groups beside the main one.

They run as the local user, who may what ``tier`` says, and read staging and archives because they are named.
"""

import argparse
from collections.abc import Sequence

from graphiti_pkm.bootstrap import Memory
from graphiti_pkm.capabilities.search.requests import SearchMemoryFacts, SearchNodes
from graphiti_pkm.capabilities.search.tools import SEARCHING
from graphiti_pkm.capabilities.staging.counting import attached_in_words
from graphiti_pkm.capabilities.staging.migrating import Migration
from graphiti_pkm.capabilities.staging.models import Attached, MigrationReport, NotCopied, Side, StateReport
from graphiti_pkm.capabilities.staging.tools import COMPARING, MIGRATING, SNAPSHOTS
from graphiti_pkm.cli.opening import local_user, run_on
from graphiti_pkm.cli.output import say, show
from graphiti_pkm.core.model.targets import group_of_target
from graphiti_pkm.core.model.times import parse_instant
from graphiti_pkm.core.reading.views import size_in_words
from graphiti_pkm.errors import InvalidInput, InvalidSettings
from graphiti_pkm.settings.loader import Settings

_MOST = 1_000
_MEGABYTE = 1e6
_TITLE = 13


def group_of(settings: Settings, options: argparse.Namespace) -> str:
    """The group that --group and --target name. Raises InvalidInput."""
    name = options.group or settings.default_group
    return name if options.target is None else group_of_target(name, options.target)


def snapshot(settings: Settings, options: argparse.Namespace) -> int:
    """Write, list or remove snapshots."""
    user = local_user(settings, "snapshot", "reader" if options.tag is None and options.remove is None else "curator")
    group = group_of(settings, options)

    async def run(memory: Memory) -> int:
        service = memory.services[SNAPSHOTS]
        if options.remove is not None:
            done = await service.remove(user, group, options.remove, confirm=options.confirm)
            text = f"Removed snapshot {options.remove}." if done else "Nothing was removed; --confirm removes it."
            show(options, {"tag": options.remove, "done": done}, text)
        elif options.tag is not None:
            made = await service.take(user, group, options.tag)
            text = f"Snapshot {made.tag} of {made.group}: {size_in_words(made.size)}, {made.writes} writes, "
            show(options, made, f"{text}{made.bytes / _MEGABYTE:.1f} MB.")
        else:
            found = await service.listed(user, group)
            lines = [f"{one.tag}  {one.taken_at}  {size_in_words(one.size)}" for one in found.snapshots]
            lines += [f"{tag}  damaged, or of another version" for tag in found.unreadable]
            show(options, found, "\n".join(lines) or f"No snapshots of {group}.")
        return 0

    return run_on(settings, run)


def restore_snapshot(settings: Settings, options: argparse.Namespace) -> int:
    """Give a group the state of a snapshot."""
    if options.file is not None or options.replace:
        raise InvalidSettings("restore takes a FILE, with or without --replace, or --snapshot, not both.")
    user = local_user(settings, "restore --snapshot", "curator")
    group = group_of(settings, options)

    async def run(memory: Memory) -> int:
        service = memory.services[SNAPSHOTS]
        return _shown(options, await service.restore(user, group, options.snapshot, confirm=options.confirm))

    return run_on(settings, run)


def rollback(settings: Settings, options: argparse.Namespace) -> int:
    """Give a group the state that it had before an instant."""
    user = local_user(settings, "rollback", "curator")
    group = group_of(settings, options)
    since = parse_instant(options.since, settings.zone, "--since")

    async def run(memory: Memory) -> int:
        report = await memory.services[SNAPSHOTS].rollback(user, group, since, confirm=options.confirm)
        _shown(options, report)
        if not options.json:
            for title, lines in (
                ("episode", report.episodes),
                ("entity", report.entities),
                ("fact", report.facts),
                ("document", report.documents),
                ("quote", report.quotes),
                ("stays", report.not_undone),
            ):
                for line in lines:
                    say(f"  {title:<8} {line}")
        return 0

    return run_on(settings, run)


def migrate(settings: Settings, options: argparse.Namespace) -> int:
    """Copy or move between the targets of a group."""
    name = options.group or settings.default_group
    wanted = Migration(
        source=group_of_target(name, options.source),
        target=group_of_target(name, options.to),
        concepts=_concepts(options),
        hops=options.hops,
        has_facts=options.all or options.include_relationships,
        has_episodes=options.all or options.include_instances,
        moves=options.move,
        writes=_writes(options),
    )
    return _migrate(settings, options, wanted)


def promote(settings: Settings, options: argparse.Namespace) -> int:
    """Take what is good over from staging."""
    name = options.group or settings.default_group
    wanted = Migration(
        source=group_of_target(name, "staging"),
        target=name,
        concepts=_concepts(options),
        has_facts=True,
        has_episodes=True,
        moves=options.move,
        is_checked=True,
        writes=_writes(options),
    )
    return _migrate(settings, options, wanted)


def _migrate(settings: Settings, options: argparse.Namespace, wanted: Migration) -> int:
    user = local_user(settings, options.command, "curator")

    async def run(memory: Memory) -> int:
        report = await memory.services[MIGRATING].migrate(user, wanted)
        show(options, report, "\n".join(lines_of(report)))
        return 0

    return run_on(settings, run)


def lines_of(report: MigrationReport) -> list[str]:
    """What is printed of a migration; each line of a list begins with what became of it in the target."""
    return [
        report.message,
        *_listed("left", report.left, report.left_total),
        *_listed("held back", report.held_back, report.held_back_total),
        *(f"  {one.kind:<15} {one.uuid}  {one.name}" for one in report.issues),
        *(f"  {'conflict':<{_TITLE}} {line}" for line in report.conflicts),
        *_listed("forgotten", report.forgotten, report.forgotten_total),
        *_listed("redacted", report.redacted, report.redacted_total),
        *_listed("still told", report.still_told, report.still_told_total),
        *_listed("still current", report.still_current, report.still_current_total),
        *_listed("differs", report.differing, report.differing_total),
        f"  Not copied, and left in {report.source}: {_not_copied(report.not_copied)}.",
        *(
            [f"  {report.kept} stay in {report.source}, since others there need them or they differ."]
            if report.kept
            else []
        ),
    ]


def _not_copied(stays: NotCopied) -> str:
    counted = (
        (stays.documents, "document(s), of which only some sections came (ingest --target stores them)"),
        (stays.quotes, "quote(s) from documents that are not copies"),
        (stays.sagas, "saga(s) with other episodes"),
        (stays.corrected_facts, "corrected fact(s)"),
    )
    return ", ".join(["the history", *(f"{count:,} {what}" for count, what in counted if count)])


def _listed(title: str, lines: Sequence[str], total: int) -> list[str]:
    more = [f"  {title}: {total - len(lines)} more"] if total > len(lines) else []
    return [*(f"  {title:<{_TITLE}} {line}" for line in lines), *more]


def _concepts(options: argparse.Namespace) -> tuple[str, ...]:
    """Raises InvalidInput if the list is there and names nothing: that would mean everything."""
    if options.concepts is None:
        return ()
    named = tuple(part.strip() for part in options.concepts.split(",") if part.strip())
    if not named:
        raise InvalidInput("--concepts names nothing. Nothing was done.")
    return named


def _writes(options: argparse.Namespace) -> bool:
    return not options.dry_run and (options.confirm or not options.move)


def stats(settings: Settings, options: argparse.Namespace) -> int:
    """Count what a group holds."""
    user = local_user(settings, "stats", "reader")
    group = group_of(settings, options)

    async def run(memory: Memory) -> int:
        found = await memory.services[COMPARING].stats(user, group)
        lines = [f"{name.replace('_', ' '):<15} {value}" for name, value in found if value is not None]
        show(options, found, "\n".join(lines))
        return 0

    return run_on(settings, run)


def diff(settings: Settings, options: argparse.Namespace) -> int:
    """Compare two groups."""
    user = local_user(settings, "diff", "reader")
    limit = _limit(options.limit)
    name = options.group or settings.default_group
    source, target = (group_of_target(name, one) for one in (options.source, options.to))

    async def run(memory: Memory) -> int:
        found = await memory.services[COMPARING].diff(user, source, target, limit)
        both = _sizes(*(getattr(found, f"{kind}_in_both") for kind in ("entities", "facts", "documents", "sagas")))
        lines = [f"In both: {both}."]
        lines += [*_side(found.source, found.only_source), *_side(found.target, found.only_target)]
        show(options, found, "\n".join(lines))
        return 0

    return run_on(settings, run)


def search(settings: Settings, options: argparse.Namespace) -> int:
    """Find entities and facts of a group."""
    user = local_user(settings, "search", "reader")
    limit = _limit(options.limit, most=50)
    group = group_of(settings, options)

    async def run(memory: Memory) -> int:
        searching = memory.services[SEARCHING]
        nodes = await searching.search_nodes(user, SearchNodes(query=options.text, group_ids=[group], max_nodes=limit))
        facts = await searching.search_memory_facts(
            user, SearchMemoryFacts(query=options.text, group_ids=[group], max_facts=limit)
        )
        found: dict[str, object] = {
            "group": group,
            "entities": [{"uuid": one.uuid, "name": one.name, "summary": one.summary} for one in nodes.nodes],
            "facts": [{"uuid": one.uuid, "fact": one.fact, "status": one.status} for one in facts.facts],
        }
        lines = [f"{one.uuid[:8]}  {one.name}" for one in nodes.nodes]
        lines += [f"{one.uuid[:8]}  {one.fact} ({one.status})" for one in facts.facts]
        show(options, found, "\n".join(lines) or f"Nothing in {group} fits.")
        return 0

    return run_on(settings, run)


COMMANDS = {command.__name__: command for command in (snapshot, rollback, migrate, promote, stats, diff, search)}


def _shown(options: argparse.Namespace, report: StateReport) -> int:
    show(options, report, report.message)
    return 0


def _side(group: str, side: Side) -> Sequence[str]:
    sizes = _sizes(side.entities_total, side.facts_total, side.documents_total, side.sagas_total)
    lines = [f"Only in {group}: {sizes}."]
    for title, names in (
        ("entity", side.entities),
        ("fact", side.facts),
        ("document", side.documents),
        ("saga", side.sagas),
    ):
        lines += [f"  {title:<8} {name}" for name in names]
    return lines


def _sizes(entities: int, facts: int, documents: int, sagas: int) -> str:
    with_them = attached_in_words(Attached(documents=documents, sagas=sagas))
    return ", ".join(filter(None, (f"{entities} entities, {facts} facts", with_them)))


def _limit(limit: int, most: int = _MOST) -> int:
    if not 1 <= limit <= most:
        raise InvalidInput(f"--limit must be between 1 and {most:,}.")
    return limit
