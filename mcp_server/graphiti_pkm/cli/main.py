"""The command line: one parser, and one function for each command, imported only when the command runs."""

import argparse
import functools
import gc
import io
import os
import sys
from collections.abc import Callable, Container, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import get_args

from graphiti_pkm.cli.flags import add_settings, given_flags, path_of
from graphiti_pkm.core.model.access import Tier
from graphiti_pkm.core.model.quality_checks import CHECKS
from graphiti_pkm.core.model.targets import TARGETS
from graphiti_pkm.errors import ConfigurationError, InvalidSettings
from graphiti_pkm.settings.loader import LoadedSettings, Settings, load_settings

_SHOWS_WARNINGS = frozenset({"serve", "doctor"})
"""Commands that print the warnings of the settings themselves."""
_BEGIN = """\
graphiti-pkm demo     show with example notes what the memory does
graphiti-pkm doctor   check this machine, and say what is missing
graphiti-pkm serve    run the MCP server; a client starts it itself. --help lists all commands."""
_Add = Callable[..., argparse.ArgumentParser]
"""Adds a command: its name, its summary, and whether it serves or prints JSON."""
EXIT_OK, EXIT_FAILED, EXIT_USAGE, EXIT_INTERRUPTED = 0, 1, 2, 130


class _Version(argparse.Action):
    """Reads the installed version only on request, because that takes time at every start."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object, **__: object) -> None:
        print("graphiti-pkm", version("graphiti-pkm"))  # noqa: T201  (a result belongs on stdout; exit would print it on stderr)
        parser.exit()


def build_parser(*, shows_all_settings: bool = False, given: Container[str] | None = None) -> argparse.ArgumentParser:
    """The whole command line. The help of its commands shows the everyday settings or all of them.

    ``given``: what was typed; a command that is not among it gets no settings, which take longer than all else here.
    None: each gets its own.
    """
    parser = argparse.ArgumentParser(
        prog="graphiti-pkm",
        description="A temporal personal memory for MCP clients.",
        epilog="`graphiti-pkm COMMAND --help` lists the options of a command. "
        "Exit codes: 0 done, 1 failed (with the reason on stderr), 2 wrong usage or invalid settings.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", title="commands")
    add = functools.partial(_command, commands, shows_all=shows_all_settings, given=given)

    add("serve", "Run the MCP server, over stdio by default.", serve=True)
    demo = add("demo", "Show what the memory does, with example notes in a temporary directory.")
    demo.add_argument("--keep", action="store_true", help="keep the temporary data directory and print its path")
    demo.add_argument(
        "--examples",
        type=path_of,
        metavar="DIR",
        help="directory with a folder of Markdown notes with front matter for each group (default: the package's)",
    )
    check = add("doctor", "Check platform, directories, database, models and settings.", json=True)
    check.add_argument("--probe", action="store_true", help="also send a test request to the configured services")
    check.add_argument(
        "--settings", action="store_true", help="also list every setting with where its value comes from"
    )
    add("status", "Show what the memory contains and whether anything is waiting or has failed.", json=True)
    backup = add("backup", "Write the whole memory to one file, while servers run.")
    backup.add_argument("file", type=Path, metavar="FILE", help="file to write; it must not exist yet")
    restore = add("restore", "Read a backup of the memory, or a snapshot of one group, back.", json=True)
    restore.add_argument("file", nargs="?", type=Path, metavar="FILE", help="file that backup wrote: the whole memory")
    restore.add_argument(
        "--replace", action="store_true", help="replace an existing memory; a copy of it stays in the data directory"
    )
    restore.add_argument(
        "--snapshot", metavar="TAG", help="give one group the state of this snapshot: its tag, or a path to its file"
    )
    _add_group(restore, confirms=True)
    rebuild = add("rebuild", "Build the graph again from the journal.")
    rebuild.add_argument(
        "--force",
        action="store_true",
        help="rebuild even if the graph contains episodes that are not in the journal; they are lost",
    )
    _add_ingest(add)
    _add_staging(add)
    _add_curate(add)
    _add_queue(add)
    _add_tokens(add)
    _add_audit(add)
    _add_reextract(add)
    embed = add("reembed", "Compute all vectors again with the configured embedding model.")
    embed.add_argument(
        "--dry-run", action="store_true", help="only report how much would be embedded, and what would be sent where"
    )
    add("fetch-model", "Fetch the weights of the local embedding model.")
    return parser


def started() -> int:
    """The installed command. Without a command it serves, as clients expect; at a terminal it says where to begin."""
    arguments = sys.argv[1:]
    if not arguments and sys.stdin is not None and sys.stdin.isatty():
        print(_BEGIN)  # noqa: T201 a result belongs on stdout
        return EXIT_OK
    asks = arguments and arguments[0] in {"-h", "--help", "--version"}
    return main(arguments if asks or (arguments and not arguments[0].startswith("-")) else ["serve", *arguments])


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; a failure is one line on stderr and an exit code."""
    try:
        try:
            return _main(arguments)
        finally:
            sys.stdout.flush()
    except BrokenPipeError:  # the reader of our output has stopped, as in `graphiti-pkm doctor | head -1`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_FAILED


def _main(arguments: Sequence[str] | None) -> int:
    options = _parsed(arguments)
    from graphiti_pkm.cli.output import complain, explain, first_cause  # noqa: PLC0415  (--help does not need it)

    try:
        loaded = _load(options)
        for warning in loaded.warnings if options.command not in _SHOWS_WARNINGS else ():
            complain(warning)
        return _run(options, loaded)
    except KeyboardInterrupt:
        complain("interrupted")
        return EXIT_INTERRUPTED
    except Exception as error:
        cause = first_cause(error)
        if isinstance(cause, BrokenPipeError):
            raise cause from error
        complain(explain(cause))
        return EXIT_USAGE if isinstance(cause, InvalidSettings) else EXIT_FAILED


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    given = sys.argv[1:] if arguments is None else arguments
    parser = build_parser(shows_all_settings="--help-settings" in given, given=given)
    options, rest = parser.parse_known_args(arguments)
    if options.command == "queue" and not any(word.startswith("-") for word in rest):
        options.jobs += rest  # argparse accepts no optional positional arguments after an option
    elif rest:
        options_of = f"`graphiti-pkm {options.command} --help-settings` lists its options."
        parser.error(f"{options.command} does not take: {' '.join(rest)}. {options_of}")
    return options


def _load(options: argparse.Namespace) -> LoadedSettings:
    try:
        return load_settings(given_flags(options), config_file=options.config, env_file=options.env_file)
    except ConfigurationError as error:
        raise InvalidSettings(error.message) from error


def _command(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]",
    name: str,
    summary: str,
    *,
    serve: bool = False,
    json: bool = False,
    shows_all: bool,
    given: Container[str] | None,
) -> argparse.ArgumentParser:
    usage = "%(prog)s [options]" if serve else argparse.SUPPRESS if shows_all else None  # settings are listed below
    parser = commands.add_parser(name, help=summary, description=summary, usage=usage, allow_abbrev=False)
    if json:
        parser.add_argument("--json", action="store_true", help="print JSON")
    if given is None or name in given:
        add_settings(parser, name, serves=serve, shows_all=shows_all)
    return parser


def _add_ingest(add: _Add) -> None:
    ingest = add("ingest", "Store files as documents, one episode a section.", json=True)
    ingest.add_argument(
        "files",
        nargs="+",
        type=Path,
        metavar="FILE",
        help="file under this directory (--document-root: another) ending in .md, .txt or .html, with the extra "
        "documents in .pdf or .docx too",
    )
    ingest.add_argument(
        "--name",
        metavar="NAME",
        help="name of the document; of several files, and of one more file of such a set, the beginning of their "
        "names, as NAME/FILE. Default: that of the file without its ending",
    )
    _add_group(ingest)


def _add_group(parser: argparse.ArgumentParser, *, confirms: bool = False) -> None:
    parser.add_argument("--group", metavar="GROUP", help="the group. Default: the default group")
    parser.add_argument(
        "--target", "--graph", choices=TARGETS, help="its staging (GROUP_staging), itself, or its archive"
    )
    if confirms:
        parser.add_argument("--confirm", action="store_true", help="do it; without this, only say what would be done")


def _add_staging(add: _Add) -> None:
    snapshot = add("snapshot", "Write a snapshot of one group, or list or remove its snapshots.", json=True)
    what = snapshot.add_mutually_exclusive_group(required=True)
    what.add_argument("--tag", metavar="TAG", help="write a snapshot with this name")
    what.add_argument("--list", action="store_true", help="list them, oldest first")
    what.add_argument("--remove", metavar="TAG", help="remove one")
    _add_group(snapshot, confirms=True)
    back = add("rollback", "Give one group the state that it had before an instant.", json=True)
    back.add_argument(
        "--since", "--concepts-created-after", required=True, metavar="DATE", help="what came since then goes"
    )
    _add_group(back, confirms=True)
    for name, summary in (
        ("migrate", "Copy or move entities with their facts and episodes between a group and its staging or archive."),
        ("promote", "Take what is good over from staging: without what is flagged, unsure or alone."),
    ):
        moved = add(name, summary, json=True)
        if name == "migrate":
            moved.add_argument("--from", dest="source", required=True, choices=TARGETS, help="what to copy from")
            moved.add_argument("--to", required=True, choices=TARGETS, help="where to copy it")
            which = moved.add_mutually_exclusive_group(required=True)
            which.add_argument("--all", "--merge-all", action="store_true", help="everything")
            which.add_argument(
                "--concepts", metavar="NAMES", help="entities, by name or uuid, with commas between them"
            )
            moved.add_argument(
                "--hops",
                type=int,
                default=0,
                metavar="NUMBER",
                help="with --concepts: what is that far from them. 0 to 2",
            )
            moved.add_argument("--include-relationships", action="store_true", help="their facts too; --all implies it")
            moved.add_argument("--include-instances", action="store_true", help="their episodes too; --all implies it")
        else:
            moved.add_argument("--concepts", metavar="NAMES", help="only these entities, with commas between them")
        moved.add_argument("--group", metavar="GROUP", help="the group. Default: the default group")
        moved.add_argument("--move", action="store_true", help="remove it from the source afterwards; needs --confirm")
        moved.add_argument("--dry-run", action="store_true", help="only say what would be done")
        moved.add_argument("--confirm", action="store_true", help="with --move: do it")
    _add_group(add("stats", "Count what a group holds and what of it may need a look.", json=True))
    found = add("search", "Find entities and facts of a group.", json=True)
    found.add_argument("text", metavar="TEXT", help="words or a description")
    found.add_argument("--limit", type=int, default=10, metavar="NUMBER", help="of each kind. Default: 10.")
    _add_group(found)
    compared = add("diff", "Compare what a group's staging, the group and its archive say.", json=True)
    compared.add_argument("--from", dest="source", required=True, choices=TARGETS, help="one side")
    compared.add_argument("--to", required=True, choices=TARGETS, help="the other side")
    compared.add_argument("--group", metavar="GROUP", help="the group. Default: the default group")
    compared.add_argument("--limit", type=int, default=20, metavar="NUMBER", help="of each list. Default: 20.")


def _add_curate(add: _Add) -> None:
    made = add("curate", "Look through a group for what somebody should look at, and flag it.", json=True)
    made.add_argument("action", choices=("run",), help="run the checks")
    made.add_argument(
        "--check",
        type=_checks,
        default=CHECKS,
        metavar="NAMES",
        help=f"only these, with commas between them: {', '.join(CHECKS)}. Default: all.",
    )
    made.add_argument("--dry-run", action="store_true", help="only say what would be flagged")
    _add_group(made)


def _checks(text: str) -> list[str]:
    named = [part.strip() for part in text.split(",")]
    unknown = [name for name in named if name not in CHECKS]
    if unknown:
        raise argparse.ArgumentTypeError(f"no check {', '.join(map(repr, unknown))}; there are {', '.join(CHECKS)}")
    return named


def _add_queue(add: _Add) -> None:
    queue = add("queue", "Show and control the extraction queue, while servers run.", json=True)
    queue.add_argument(
        "action",
        choices=("list", "show", "retry", "cancel", "pause", "resume"),
        help="list or show jobs; retry or cancel some; pause or resume all",
    )
    queue.add_argument("jobs", nargs="*", metavar="JOB", help="number of a job, or uuid of its episode")
    queue.add_argument(
        "--all", action="store_true", help="retry all failed and waiting jobs, or cancel all jobs that have not ended"
    )
    queue.add_argument(
        "--group", action="append", default=[], metavar="GROUP", help="only jobs of this group; repeatable"
    )
    queue.add_argument(
        "--state",
        action="append",
        default=[],
        choices=("queued", "running", "done", "failed", "cancelled"),
        help="only jobs in this state; repeatable",
    )
    queue.add_argument(
        "--limit", type=int, default=50, metavar="NUMBER", help="maximum number of jobs to list. Default: 50."
    )


def _add_tokens(add: _Add) -> None:
    made = add("tokens", "Create, list and revoke the tokens for HTTP, while servers run.", json=True)
    made.add_argument("action", choices=("create", "list", "revoke"), help="create a token, list all, or revoke one")
    made.add_argument(
        "name",
        nargs="?",
        metavar="NAME",
        help="create: the principal whose memory it opens; revoke: the id of the token",
    )
    made.add_argument(
        "--tier",
        choices=get_args(Tier),
        default="contributor",
        dest="token_tier",
        help="what the token permits; each tier includes the ones before: reader: read; contributor (default): add and "
        "retire; librarian: delete facts; curator: delete words for good (delete_episode, forget, clear_graph)",
    )
    made.add_argument(
        "--group",
        "--groups",
        action="extend",
        type=lambda text: text.split(","),
        default=[],
        metavar="GROUP",
        help="restrict the token to this group of the memory, or to several, separated by commas; repeatable",
    )
    made.add_argument(
        "--memory",
        metavar="TEAM",
        help="make no token: open the groups of the principal TEAM to NAME beside its own, as TEAM/GROUP, with --tier",
    )
    made.add_argument(
        "--members",
        type=Path,
        metavar="FILE",
        help="with --memory: to the users of the service NAME in this file, one X-User-ID a line",
    )
    made.add_argument(
        "--may-impersonate",
        action="store_true",
        help="for a service such as LibreChat: each request names its user in X-User-ID, and users are separated",
    )
    made.add_argument("--days", type=int, metavar="NUMBER", help="days until the token expires. Default: never.")
    made.add_argument(
        "--entry", action="store_true", help="print an entry for GRAPHITI_PKM_TOKENS instead of writing it to the file"
    )


def _add_audit(add: _Add) -> None:
    audit = add("audit", "Show who wrote what and who was refused, newest first, while servers run.", json=True)
    audit.add_argument("--since", metavar="DATE", help="only since this date")
    audit.add_argument("--principal", metavar="NAME", help="only of this principal")
    audit.add_argument("--action", metavar="NAME", help="only of this tool, or kind of request such as connect")
    audit.add_argument(
        "--limit", type=int, default=100, metavar="NUMBER", help="maximum number of lines. Default: 100."
    )


def _add_reextract(add: _Add) -> None:
    again = add("reextract", "Let the model read stored episodes again; this deletes nothing.", json=True)
    which = again.add_mutually_exclusive_group(required=True)
    which.add_argument("--episode", metavar="UUID", help="uuid of one episode; the first 8 characters are enough")
    which.add_argument("--since", metavar="DATE", help="all episodes since this date")
    again.add_argument("--group", metavar="GROUP", help="with --since: only episodes of this group")
    again.add_argument("--dry-run", action="store_true", help="only estimate calls and tokens")
    again.add_argument("--wait", action="store_true", help="read the episodes in this command and print the results")


def _run(options: argparse.Namespace, loaded: LoadedSettings) -> int:
    # Each branch imports what it needs, so that serve can answer tools/list before anything heavy is imported.
    settings = loaded.settings
    if options.command == "serve":
        gc.disable()  # imports create no garbage, and searching for it takes a tenth of the start
        from graphiti_pkm.cli.serve import serve  # noqa: PLC0415

        return serve(loaded)
    from graphiti_pkm.cli.output import log_plainly  # noqa: PLC0415

    # The setting is for the server's log. Commands log warnings only, unless the user sets a level.
    log_plainly("warning" if loaded.origins["log_level"] == "default" else settings.log_level)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal that cannot show a letter shows "?"
    match options.command:
        case "demo":
            from graphiti_pkm.cli.demo import demo  # noqa: PLC0415

            code = demo(settings, keep=options.keep, examples=options.examples)
        case "doctor":
            from graphiti_pkm.cli.doctor import doctor  # noqa: PLC0415

            code = doctor(loaded, as_json=options.json, asks_model=options.probe, lists_settings=options.settings)
        case "status":
            from graphiti_pkm.cli.status import status  # noqa: PLC0415

            code = status(settings, as_json=options.json)
        case "queue":
            from graphiti_pkm.cli.queue import queue, queue_options  # noqa: PLC0415

            code = queue(settings, queue_options(options))
        case "tokens":
            from graphiti_pkm.cli.tokens import tokens  # noqa: PLC0415

            code = tokens(settings, options)
        case "audit":
            from graphiti_pkm.cli.audit import audit  # noqa: PLC0415

            code = audit(settings, options)
        case "reextract":
            from graphiti_pkm.cli.reextract import reextract  # noqa: PLC0415

            code = reextract(settings, options)
        case _:
            code = _maintain(options, settings)
    return code


def _maintain(options: argparse.Namespace, settings: Settings) -> int:
    from graphiti_pkm.cli import maintenance  # noqa: PLC0415

    match options.command:
        case "snapshot" | "rollback" | "stats" | "diff" | "search" | "migrate" | "promote":
            from graphiti_pkm.cli.staging import COMMANDS  # noqa: PLC0415

            code = COMMANDS[options.command](settings, options)
        case "restore" if options.snapshot is not None:
            from graphiti_pkm.cli.staging import restore_snapshot  # noqa: PLC0415

            code = restore_snapshot(settings, options)
        case "fetch-model":
            code = maintenance.fetch_model(settings)
        case "backup":
            code = maintenance.backup(settings, options.file)
        case "restore":
            if options.file is None or options.confirm or options.group or options.target:
                raise InvalidSettings("restore needs a FILE; --snapshot, --group, --target and --confirm go together.")
            code = maintenance.restore(settings, options.file, replace=options.replace, as_json=options.json)
        case "rebuild":
            code = maintenance.rebuild(settings, force=options.force)
        case "reembed":
            from graphiti_pkm.cli.reembed import reembed  # noqa: PLC0415

            code = reembed(settings, dry_run=options.dry_run)
        case "ingest" | "curate":
            code = _tend(options, settings)
        case _:
            code = EXIT_USAGE
    return code


def _tend(options: argparse.Namespace, settings: Settings) -> int:
    from graphiti_pkm.cli.curate import curate  # noqa: PLC0415
    from graphiti_pkm.cli.ingest import ingest  # noqa: PLC0415

    return curate(settings, options) if options.command == "curate" else ingest(settings, options)


if __name__ == "__main__":
    sys.exit(started())
