"""The Compose commands of DOCS/clients.md and DOCS/operations.md, as the check runs them."""

import re
import shlex
from dataclasses import dataclass

from tests.docker_check.tools import ROOT

PAGES = ("DOCS/clients.md", "DOCS/operations.md")
COMPOSE_FILE = "docker/compose.yaml"
_BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_COMPOSE = "docker compose "
_ALONE = {"build": [], "up": ["--detach"], "down": []}
"""Commands without a service, with their options."""


@dataclass(frozen=True)
class ComposeCommand:
    """One ``docker compose``."""

    profiles: tuple[str, ...]
    verb: str
    service: str | None = None
    arguments: tuple[str, ...] = ()


def blocks_of(page: str) -> list[list[str]]:
    """The shell blocks of a page that use Compose, line by line."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [found.splitlines() for found in _BLOCK.findall(text) if _COMPOSE in found]


def all_blocks() -> list[tuple[str, list[str]]]:
    """Those of every page, with its name."""
    return [(page, block) for page in PAGES for block in blocks_of(page)]


def parsed(line: str) -> ComposeCommand | None:
    """A line as a command of Compose; None if it is another one. Raises ValueError on a form that is not known."""
    if not line.startswith(_COMPOSE):
        return None
    words = shlex.split(line)[2:]
    if words[:2] != ["-f", COMPOSE_FILE]:
        raise ValueError(f"names another file: {line}")
    words, profiles = words[2:], []
    while words[:1] == ["--profile"]:
        profiles.append(words[1])
        words = words[2:]
    verb, rest = words[0], words[1:]
    if verb in _ALONE and rest == _ALONE[verb]:
        return ComposeCommand(tuple(profiles), verb)
    if verb == "run" and rest[:1] == ["--rm"]:
        rest = rest[2:] if rest[1] == "--no-deps" else rest[1:]
        return ComposeCommand(tuple(profiles), verb, rest[0], tuple(rest[1:]))
    if verb == "exec" and rest[1:2] == ["graphiti-pkm"]:
        return ComposeCommand(tuple(profiles), verb, rest[0], tuple(rest[1:]))
    if verb == "cp" and ":" in rest[0] and len(rest) == 2:
        service, _, path = rest[0].partition(":")
        return ComposeCommand(tuple(profiles), verb, service, (path, rest[1]))
    raise ValueError(f"not a form that docker-check runs: {line}")


def is_safe_to_run(line: str) -> bool:
    """Whether another line than Compose's only makes files in docker/."""
    return bool(re.fullmatch(r"cp docker/[\w.]+ docker/[\w.]+|\(umask 077; echo \"[^\"]+\" >> docker/\.env\)", line))
