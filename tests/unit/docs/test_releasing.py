"""`make release` up to the checks, on a small checkout; and the workflow that publishes."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = ROOT / "packaging" / "release.py"
OURS = ("CHANGELOG.md", "pyproject.toml", "docker/Dockerfile", "docker/compose.yaml", "DOCS/operations.md")
UNRELEASED = "## [Unreleased]\n"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The files that a release changes, committed, with one line that is not released yet."""
    for name in OURS:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    changelog = tmp_path / "CHANGELOG.md"
    released = changelog.read_text(encoding="utf-8").partition("\n## [")[2].partition("\n## [")[2]
    changelog.write_text(f"# Changelog\n\n{UNRELEASED}\n- News.\n\n## [{released}", encoding="utf-8")
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message", "All")
    return tmp_path


def git(root: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    command = ["git", "-C", str(root), *identity, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def release(root: Path, version: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, str(SCRIPT), version, "--root", str(root)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def version_of(root: Path) -> str:
    found: str = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    return found


def test_a_release_has_its_version_everywhere_and_a_dated_section(checkout: Path) -> None:
    old = version_of(checkout)
    done = release(checkout, "99.0.0")
    assert (done.returncode, done.stderr) == (0, "")
    assert version_of(checkout) == "99.0.0"
    changelog = (checkout / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(r"## \[Unreleased\]\n\n## \[99\.0\.0\] - \d{4}-\d\d-\d\d\n\n- News\.", changelog)
    for name in OURS[1:]:
        text = (checkout / name).read_text(encoding="utf-8")
        assert "99.0.0" in text
        assert f"graphiti-pkm:{old}" not in text
    assert set(git(checkout, "diff", "--name-only").split()) == set(OURS)


@pytest.mark.parametrize(
    ("version", "planted", "said"),
    [
        ("next", "", "is no version"),
        ("0.0.1", "", "does not come after"),
        ("99.0.0", "change", "not committed"),
        ("99.0.0", "tag", "a tag v99.0.0 already"),
        ("99.0.0", "nothing new", "nothing under Unreleased"),
    ],
)
def test_what_would_be_no_release_is_refused_in_one_line(checkout: Path, version: str, planted: str, said: str) -> None:
    changelog = checkout / "CHANGELOG.md"
    if planted == "change":
        (checkout / "stray").write_text("x")
    elif planted == "tag":
        git(checkout, "tag", "v99.0.0")
    elif planted == "nothing new":
        changelog.write_text(changelog.read_text(encoding="utf-8").replace("- News.\n", ""), encoding="utf-8")
        git(checkout, "commit", "--quiet", "--all", "--message", "Nothing")
    before = git(checkout, "status", "--porcelain")
    refused = release(checkout, version)
    assert refused.returncode == 1
    assert said in refused.stderr
    assert refused.stderr.count("\n") == 1
    assert git(checkout, "status", "--porcelain") == before


def test_only_the_step_that_publishes_may_prove_who_it_is() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8"))
    jobs = workflow["jobs"]
    assert workflow["permissions"] == {"contents": "read"}
    assert [name for name, job in jobs.items() if job.get("permissions", {}).get("id-token")] == ["publish"]
    assert jobs["publish"]["environment"]
    assert jobs["publish"]["needs"] == "build"
    assert all("run" not in step for step in jobs["publish"]["steps"])  # no code of ours beside that proof
    made = [step["run"] for step in jobs["build"]["steps"] if "run" in step and step["run"].startswith("make ")]
    targets = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert [re.search(rf"^{command.split()[1]}:", targets, re.MULTILINE) is not None for command in made] == [True]


@pytest.mark.parametrize("failing", ["docs", "check", "check-package", ""])
def test_a_release_stops_at_the_step_that_fails_and_is_undone_by_one_command(
    checkout: Path, tmp_path_factory: pytest.TempPathFactory, failing: str
) -> None:
    beside = tmp_path_factory.mktemp("beside")
    steps = beside / "make"
    steps.write_text(f'#!/bin/sh\necho "$*" >> {beside}/steps\ntest "$1" != "{failing}"\n', encoding="utf-8")
    steps.chmod(0o700)
    (beside / "venv" / "bin").mkdir(parents=True)
    (beside / "venv" / "bin" / "python").symlink_to(sys.executable)
    for name in ("Makefile", "packaging/release.py"):
        (checkout / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, checkout / name)
    git(checkout, "add", ".")
    git(checkout, "commit", "--quiet", "--message", "How to release")
    there = f"{beside}/venv"
    who = {f"GIT_{role}_{what}": "a@example.org" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    done = subprocess.run(
        ["make", f"--assume-old={there}/package", "release", "VERSION=99.0.0", f"VENV={there}", f"MAKE={steps}"],
        cwd=checkout, env={**os.environ, **who}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    wanted = ["docs", "check", "check-package DIST=dist"]
    number = [step.split()[0] for step in wanted].index(failing) + 1 if failing else len(wanted)
    assert (beside / "steps").read_text(encoding="utf-8").splitlines() == wanted[:number], done.stderr
    assert bool(done.returncode) == bool(failing)
    assert git(checkout, "tag", "--list").split() == ([] if failing else ["v99.0.0"])
    assert git(checkout, "log", "-1", "--format=%s").strip() == ("How to release" if failing else "Release 99.0.0")
    git(checkout, "checkout", "--quiet", ".")
    assert git(checkout, "status", "--porcelain") == ""
    assert (version_of(checkout) == "99.0.0") == (not failing)
