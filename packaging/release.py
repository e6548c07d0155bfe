"""Prepares a release: ``python packaging/release.py VERSION``; `make release VERSION=…` calls it and does the rest.

Writes the version wherever it stands and dates the section of the changelog. Refuses, and changes nothing, where a
release would not be what its tag says.
"""

import argparse
import datetime as dt
import re
import subprocess
import sys
from pathlib import Path

NAMED = ("docker/Dockerfile", "docker/compose.yaml", "DOCS/operations.md")
"""Files that name the image with its version; a test finds others."""
_VERSION = re.compile(r'^version = "([^"]+)"$', re.MULTILINE)
_UNRELEASED = "## [Unreleased]\n"


def main() -> None:
    """Refuse in one line, or write the files."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("version", metavar="VERSION", help="such as 0.3.0")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[1], help="the checkout")
    options = parser.parse_args()
    root, new = options.root, options.version
    project = (root / "pyproject.toml").read_text(encoding="utf-8")
    old = _VERSION.search(project)[1]
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    if reason := _refusal(root, old, new, changelog):
        sys.exit(f"{reason} Nothing was changed.")
    today = dt.datetime.now(dt.UTC).date()
    section = f"{_UNRELEASED}\n## [{new}] - {today}\n"
    _write(root / "CHANGELOG.md", changelog.replace(_UNRELEASED, section, 1))
    _write(root / "pyproject.toml", _VERSION.sub(f'version = "{new}"', project, count=1))
    for name in NAMED:
        text = (root / name).read_text(encoding="utf-8")
        _write(root / name, text.replace(f"graphiti-pkm:{old}", f"graphiti-pkm:{new}"))
    print(f"{old} -> {new}")


def _refusal(root: Path, old: str, new: str, changelog: str) -> str:
    """Why there can be no such release; empty if there can."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", new):
        return f"{new!r} is no version such as 0.3.0."
    if _numbers(new) <= _numbers(old):
        return f"{new} does not come after {old}."
    if _git(root, "status", "--porcelain"):
        return "There are changes that are not committed."
    if f"v{new}" in _git(root, "tag", "--list").split():
        return f"There is a tag v{new} already."
    _, found, rest = changelog.partition(_UNRELEASED)
    if not found or not re.search(r"^- ", rest.partition("\n## [")[0], re.MULTILINE):
        return "CHANGELOG.md has nothing under Unreleased."
    return ""


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def _git(root: Path, *arguments: str) -> str:
    return subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=True).stdout


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
