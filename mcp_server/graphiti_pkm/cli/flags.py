"""Settings on the command line."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from pydantic.fields import FieldInfo

from graphiti_pkm.settings.loader import Settings, is_secret
from graphiti_pkm.settings.names import RETIRED, environment_name, flags_of, is_blank, one_of, variables_of

_SERVE_ONLY = frozenset({
    "transport", "host", "port", "path", "toolsets", "tools", "exclude_tools", "read_only", "default_group",
    "allowed_hosts", "calls_per_minute", "writes_per_minute", "characters_per_call", "workers", "drain_seconds",
    "metrics", "log_format", "tokens", "audit_days", "tier",
})  # fmt: skip
_EVERYDAY = frozenset({
    "data_dir", "timezone", "person", "transport", "host", "port", "toolsets", "read_only", "log_level",
})  # fmt: skip
"""What --help shows of the settings; --help-settings shows all."""
_ALL_OF = {
    "demo": frozenset({"cache_dir", "model_dir", "log_level"}),
    "fetch-model": frozenset({"cache_dir", "model_dir", "model_url", "log_level"}),
}
"""Commands that use these settings alone: what would change nothing is no flag of theirs."""
_ASKS_MODEL = frozenset({"doctor", "reextract", "reembed"})
_DESCRIBED = frozenset({"entity_types", "edge_types"})
_VALUES = {"Path": "PATH", "int": "NUMBER", "float": "NUMBER", "tuple": "NAMES"}


class _Named(argparse.Action):
    """Records the name under which a setting was given, so that two names with different values are noticed."""

    def __call__(
        self, _: argparse.ArgumentParser, options: argparse.Namespace, value: Any, name: str | None = None
    ) -> None:
        given = getattr(options, self.dest, None) or {}
        setattr(options, self.dest, {**given, name: value})


def add_settings(parser: argparse.ArgumentParser, command: str, *, serves: bool, shows_all: bool) -> None:
    """Add the settings that a command needs (all if it serves), and the options for files with settings.

    ``shows_all``: the help describes each of them with its variables, else the everyday ones in short.
    """
    parser.add_argument("--help-settings", action="help", help="show all settings of this command, and exit")
    settings = parser.add_argument_group(
        "settings",
        "can also be set by the variable in brackets, in the environment or .env, or in a YAML file"
        if shows_all
        else "also variables (GRAPHITI_PKM_PORT), in .env or YAML; --help-settings: all",
    )
    settings.add_argument(
        "--config", type=path_of, metavar="FILE", help=f"YAML file with settings [{environment_name('config')}]"
    )
    settings.add_argument(
        "--env-file",
        type=path_of,
        metavar="FILE",
        help="use this .env instead of the nearest one in this directory and its parents",
    )
    everyday = _ALL_OF.get(command, _EVERYDAY)
    for field, info in Settings.model_fields.items():
        if not serves and (field in _SERVE_ONLY or (_is_of_model(field) and command not in _ASKS_MODEL)):
            continue
        if command in _ALL_OF and field not in everyday:
            continue
        flags = flags_of(field)
        if shows_all:
            _add_setting(settings, field, info, flags, _described(field, info))
        elif field in everyday:
            _add_setting(settings, field, info, flags[:1], _in_short(info))
            if flags[1:] and info.annotation is not bool:
                _add_setting(settings, field, info, flags[1:], argparse.SUPPRESS)
        else:
            _add_setting(settings, field, info, flags, argparse.SUPPRESS)
    for name in RETIRED:
        settings.add_argument(*flags_of(name), action=_Named, dest=name, help=argparse.SUPPRESS)


def _add_setting(
    settings: "argparse._ArgumentGroup", field: str, info: FieldInfo, flags: Sequence[str], text: str
) -> None:
    if info.annotation is bool:
        settings.add_argument(*flags, action=argparse.BooleanOptionalAction, default=None, help=text)
        return
    value = _value(field, info.annotation)
    if get_origin(info.annotation) is Literal:
        # No choices, because argparse would refuse a blank value. Validation refuses other values.
        value = f"{{{','.join(get_args(info.annotation))}}}"
    settings.add_argument(*flags, action=_Named, dest=field, metavar=value, help=text)


def _described(field: str, info: FieldInfo) -> str:
    seen = "Every process of this machine can read it on the command line. " if is_secret(field) else ""
    return f"{_in_short(info)} {seen}[{', '.join(variables_of(field))}]"


def _in_short(info: FieldInfo) -> str:
    default = "" if info.default_factory else _shown(info.default)
    return f"{info.description}{f' Default: {default}.' if default else ''}".replace("%", "%%")


def given_flags(options: argparse.Namespace) -> dict[str, object]:
    """The given values by setting, None if not given.

    Raises:
        ConfigurationError: two names of a setting have different values.
    """
    flags: dict[str, object] = {}
    for field in (*Settings.model_fields, *RETIRED):
        given = getattr(options, field, None)
        if isinstance(given, dict):
            named = one_of(field, [one for one in given.items() if not is_blank(one[1])], "on the command line")
            given = named[1] if named else None
        flags[field] = given
    return flags


def path_of(text: str) -> Path | None:
    """The path in an option; None if it is blank, because a blank path would mean the working directory."""
    return None if is_blank(text) else Path(text)


def _is_of_model(field: str) -> bool:
    return field.startswith(("llm_", "extraction_")) or field.endswith("_types")


def _value(field: str, annotation: Any) -> str:
    if field in _DESCRIBED:
        return "JSON"
    kinds = [get_origin(kind) or kind for kind in (annotation, *get_args(annotation))]
    value = next((_VALUES[kind.__name__] for kind in kinds if getattr(kind, "__name__", "") in _VALUES), "TEXT")
    return "SECONDS" if value == "NUMBER" and field.endswith("_seconds") else value


def _shown(default: object) -> str:
    if default is None or isinstance(default, bool):
        return ""
    return ",".join(default) if isinstance(default, tuple) else str(default)
