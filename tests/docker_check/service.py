"""A service as Compose resolves it: .env read, defaults put in."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.docker_check.tools import compose, run

_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0}


@dataclass(frozen=True)
class Service:
    """What the check takes from it to run it."""

    name: str
    image: str
    environment: dict[str, str]
    entrypoint: list[str] | None
    user: str | None
    read_only: bool
    tmpfs: list[str]
    file: tuple[Path, str] | None
    """One of docker/ that is mounted, and where."""
    health: list[str] | None
    depends_on: list[str]
    stop_grace_seconds: float
    builds: Path | None
    """The Dockerfile that its image is made of."""


def services_of(directory: Path, *profiles: str) -> dict[str, Service]:
    """What these profiles start, in a directory with a ``docker/`` of its own. RuntimeError if Compose refuses."""
    command = compose()
    assert command is not None, "there is no Compose"
    chosen = [word for profile in profiles for word in ("--profile", profile)]
    found = run(*command, "--file", directory / "docker" / "compose.yaml", *chosen, "config", "--format", "json")
    if found.returncode:
        raise RuntimeError(found.stderr)
    return {name: resolved(name, given) for name, given in json.loads(found.stdout)["services"].items()}


def resolved(name: str, given: dict[str, Any]) -> Service:
    """One service of what ``config --format json`` prints."""
    files = [
        (Path(volume["source"]), str(volume["target"]))
        for volume in given.get("volumes", ())
        if volume["type"] == "bind"
    ]
    build = given.get("build")
    return Service(
        name=name,
        image=given["image"],
        environment={key: _plain(value or "") for key, value in (given.get("environment") or {}).items()},
        entrypoint=given.get("entrypoint"),
        user=given.get("user"),
        read_only=given.get("read_only", False),
        tmpfs=given.get("tmpfs", []),
        file=files[0] if files else None,
        health=[_plain(word) for word in given["healthcheck"]["test"]] if "healthcheck" in given else None,
        depends_on=list(given.get("depends_on", ())),
        stop_grace_seconds=_seconds(given.get("stop_grace_period", "10s")),
        builds=Path(build["context"]) / build["dockerfile"] if build else None,
    )


def _plain(text: str) -> str:
    """Compose prints what it read so that it could read it again."""
    return text.replace("$$", "$")


def _seconds(text: str) -> float:
    return sum(float(number) * _SECONDS[unit] for number, unit in re.findall(r"([\d.]+)([hms])", text))
