"""``make installs``: install the built files as a newcomer does, with each tool and Python, up to a first answer.

``make installs DIST=dist PYTHONS="python3.11 python3.14"``: DIST has the wheels (``make check-package DIST=dist``), and
each Python is an interpreter or the directory of a system with one (``/srv/debian:python3.14``), which is entered by
``chroot``; ``mmdebstrap`` makes one, and it needs /proc, certificates and a resolv.conf. Each line is one empty
environment without any cache: what was downloaded counts.
"""

# ruff: noqa: T201  (the table belongs on stdout)

import asyncio
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from tests.e2e.support import environment

NAME = "graphiti-pkm"
WAYS = ("uv pip", "uv tool", "uvx", "pip", "pipx")
_TOOLS = Path(sys.executable).parent
_OF_INSTALLERS = ("PIP_", "PIPX_", "UV_", "PYTHON")
_CERTIFICATES = ("PIP_CERT", "PIP_DEFAULT_TIMEOUT")


@dataclass(frozen=True)
class Place:
    """Where one installation goes, as seen from inside of ``root``."""

    python: str
    home: Path
    wheels: Path
    tools: Path = _TOOLS
    """Where uv is."""
    root: Path = Path("/")

    def outside(self, path: Path) -> Path:
        return self.root / path.relative_to("/")

    def entered(self, *command: str | Path) -> list[str]:
        entering = [] if self.root == Path("/") else ["chroot", str(self.root)]
        return [*entering, *map(str, command)]

    @property
    def variables(self) -> dict[str, str]:
        inherited = {
            name: value
            for name, value in environment(data_dir=self.home / "data", cache_dir=self.home / "cache").items()
            if name in _CERTIFICATES or not name.startswith(_OF_INSTALLERS)
        }
        kept = {
            name: str(self.home / name.lower())
            for name in ("UV_TOOL_DIR", "UV_TOOL_BIN_DIR", "PIPX_HOME", "PIPX_BIN_DIR")
        }
        caches = {"UV_CACHE_DIR": str(self.home / "uv_cache"), "PIP_CACHE_DIR": str(self.home / "pip_cache")}
        return inherited | kept | caches | {"HOME": str(self.home)}

    def run(self, *command: str | Path) -> None:
        ran = subprocess.run(self.entered(*command), env=self.variables, capture_output=True, text=True, check=False)
        if ran.returncode:
            sys.exit(f"{' '.join(map(str, command))} failed:\n{ran.stdout}\n{ran.stderr}")


def main() -> int:
    """Print a row for each Python and tool."""
    dist, *pythons = sys.argv[1:]
    print("| Python | installed by | installed | processor time of that | to the first answer by meaning | disk |")
    print("|---|---|---|---|---|---|")
    for python in pythons:
        for way in WAYS:
            print(_row(python, way, Path(dist).resolve()), flush=True)
    return 0


def _row(python: str, way: str, dist: Path) -> str:
    root, found, name = python.rpartition(":")
    inside = Path(root) if found else Path("/")
    if way == "pipx" and _pipx(inside) is None:
        return f"| {name if found else python} | pipx | not tried: there is no pipx | | | |"
    (inside / "tmp").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="pkm-installed-", dir=inside / "tmp") as directory:
        home = Path("/") / Path(directory).relative_to(inside)
        place = Place(name if found else python, home, dist, root=inside)
        if found:
            shutil.copytree(dist, Path(directory) / "wheels")
            for tool in ("uv", "uvx"):
                shutil.copy(_TOOLS / tool, directory)
            place = replace(place, wheels=home / "wheels", tools=home)
        version = subprocess.run(
            place.entered(place.python, "-c", "import platform; print(platform.python_version())"),
            capture_output=True, text=True, check=True,
        ).stdout.strip()  # fmt: skip
        begun, processor = time.perf_counter(), _processor_seconds()
        command, installed = _install(place, way)
        seconds, used = time.perf_counter() - begun, _processor_seconds() - processor
        asyncio.run(_ask(place, command))
        whole = time.perf_counter() - begun
        files = (one.lstat() for one in place.outside(installed).rglob("*") if one.is_file())
        megabytes = sum({one.st_ino: one.st_size for one in files}.values()) / 1e6  # uvx links what it has in its cache
        return f"| {version} | {way} | {seconds:.0f} s | {used:.0f} s | {whole:.0f} s | {megabytes:.0f} MB |"


def _pipx(inside: Path) -> str | None:
    for directory in os.environ["PATH"].split(os.pathsep):
        if (inside / directory.lstrip("/") / "pipx").exists():
            return f"{directory}/pipx"
    return None


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _install(place: Place, way: str) -> tuple[list[str], Path]:
    """Give the command, and the directory where all of it is."""
    venv, uv = place.home / "venv", place.tools / "uv"
    links = ("--find-links", place.wheels)
    if way == "pip":
        place.run(place.python, "-m", "venv", venv)
        place.run(venv / "bin" / "pip", "install", "--quiet", "--only-binary", ":all:", *links, NAME)
        return [str(venv / "bin" / NAME)], venv
    if way == "uv pip":
        place.run(uv, "venv", "--quiet", "--python", place.python, venv)
        place.run(uv, "pip", "install", "--quiet", "--no-build", "--python", venv / "bin" / "python", *links, NAME)
        return [str(venv / "bin" / NAME)], venv
    if way == "uv tool":
        place.run(uv, "tool", "install", "--quiet", "--no-build", "--python", place.python, *links, NAME)
        return [str(place.home / "uv_tool_bin_dir" / NAME)], place.home / "uv_tool_dir"
    if way == "uvx":
        asked: list[str | Path] = [place.tools / "uvx", "--quiet", "--no-build", "--python", place.python, *links, NAME]
        place.run(*asked, "--version")
        return [str(part) for part in asked], place.home / "uv_cache"
    given = f"--only-binary=:all: --find-links={place.wheels}"
    place.run(str(_pipx(place.root)), "install", "--quiet", "--python", place.python, f"--pip-args={given}", NAME)
    return [str(place.home / "pipx_bin_dir" / NAME)], place.home / "pipx_home"


async def _ask(place: Place, command: list[str]) -> None:
    """A note, and the search that finds it: they share no word."""
    started, *arguments = place.entered(*command, "serve")
    parameters = StdioServerParameters(
        command=started, args=arguments, env=place.variables, cwd=place.outside(place.home)
    )
    log = place.outside(place.home) / "log"
    with log.open("w") as out:
        async with Client(stdio_client(parameters, errlog=out)) as client:
            note = {"episode_body": "We adopted a puppy from the shelter.", "entities": [{"name": "shelter"}]}
            await client.call_tool("add_memory", note)
            found = await client.call_tool("search_episodes", {"query": "new pets, dogs"})
    if not found.structured_content or not found.structured_content["episodes"]:
        sys.exit(f"nothing is found by meaning:\n{found}\n{log.read_text()}")


if __name__ == "__main__":
    os.umask(0o022)
    sys.exit(main())
