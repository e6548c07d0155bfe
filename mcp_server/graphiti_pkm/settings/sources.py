"""The value of a setting on each level: flags, environment, ``.env``, YAML, in this order."""

import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from graphiti_pkm.settings.credentials import address_of, in_address
from graphiti_pkm.settings.files import YamlSettings, find_env_file, read_dotenv, read_yaml
from graphiti_pkm.settings.foreign import FOREIGN_CONFIG, Variables, is_foreign_config, with_foreign_variables
from graphiti_pkm.settings.names import (
    ENV_PREFIX,
    RETIRED,
    environment_name,
    flags_of,
    is_blank,
    names_of_retired,
    one_of,
    variables_of,
)

_T = TypeVar("_T")

FLAG, DEFAULT = "flag", "default"
CONFIG = "config"
"""Named like a setting, but it is the YAML file."""


@dataclass(frozen=True)
class Sources:
    """All given values, by level."""

    flags: Mapping[str, object]
    variables: Variables
    yaml: YamlSettings
    config_file: Path | None

    def given(self, setting: str) -> tuple[object, str]:
        """Value and origin of a setting; None and "default" if it is not given.

        User and password in the effective address count as given on the level of that address.

        Raises:
            ConfigurationError: two names on one level have different values.
        """
        levels = self._levels(setting)
        if address := address_of(setting):
            at, (uri, origin) = next(
                ((at, found) for at, found in enumerate(self._levels(address)) if found[0] is not None), (0, (None, ""))
            )
            if levels[at][0] is None and (credential := in_address(setting, uri)):
                levels[at] = credential, origin
        return next(((value, origin) for value, origin in levels if value is not None), (None, DEFAULT))

    def _levels(self, setting: str) -> list[tuple[object, str]]:
        """Value and origin on each level; None if the level has no value."""
        levels: list[tuple[object, str]] = [(self.flags.get(setting), FLAG)]
        for level, where, prefix in self.variables.levels():
            named = one_of(setting, ((name, level[name]) for name in variables_of(setting) if name in level), where)
            levels.append((named[1], prefix + named[0]) if named else (None, ""))
        levels.append((self.yaml.values.get(setting), self.yaml.origins.get(setting, "")))
        return levels

    def unknown(self, settings: Collection[str]) -> Iterator[str]:
        """Notes about what is no setting, or none any more, one line each: flags, and variables with our prefix."""
        known = {environment_name(name) for name in (*settings, CONFIG)}
        retired = {name: reason for setting, reason in RETIRED.items() for name in names_of_retired(setting)}
        yield from (f"{flags_of(name)[0]}: not used, {RETIRED[name]}" for name in self.flags if name in RETIRED)
        for level, _, prefix in self.variables.levels():
            for name in level:
                if name in retired:
                    yield f"{prefix}{name}: not used, {retired[name]}"
                elif name.startswith(ENV_PREFIX) and name not in known:
                    yield f"{prefix}{name}: not used, because there is no such setting"


def read_sources(
    settings: Collection[str],
    flags: Mapping[str, object],
    environ: Mapping[str, str] | None = None,
    directory: Path | None = None,
    config_file: Path | None = None,
    env_file: Path | None = None,
) -> Sources:
    """Read the files that are named or found; blank flags, variables and values count as not given.

    Raises:
        ConfigurationError: a file cannot be read or contains an unknown name.
    """
    used = find_env_file(env_file, directory or Path.cwd())
    variables = Variables(
        _without_blanks(os.environ if environ is None else environ),
        _without_blanks(read_dotenv(used)) if used else {},
        used,
    )
    flags = _without_blanks(flags)
    merged = variables.merged()
    config_file = config_file or _path(merged.get(environment_name(CONFIG)))
    if config_file is None and is_foreign_config(foreign := _path(merged.get(FOREIGN_CONFIG))):
        config_file = foreign
    elsewhere = {
        setting
        for setting in settings
        if flags.get(setting) is not None or any(name in merged for name in variables_of(setting))
    }
    yaml = read_yaml(config_file, settings, merged, elsewhere) if config_file else YamlSettings()
    return Sources(flags, variables, with_foreign_variables(yaml, variables, elsewhere), config_file)


def _without_blanks(given: Mapping[str, _T | None]) -> dict[str, _T]:
    return {name: value for name, value in given.items() if value is not None and not is_blank(value)}


def _path(text: str | None) -> Path | None:
    return Path(text).expanduser() if text else None
