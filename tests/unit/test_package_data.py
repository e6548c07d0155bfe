"""What a wheel of this package has, and what its metadata say."""

import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import graphiti_pkm
from graphiti_pkm.embedding.local.weight_files import MINILM
from graphiti_pkm.settings.memory import WEIGHTS_URL

ROOT = Path(__file__).resolve().parents[2]
WEIGHTS = ROOT / "packaging" / "weights"
PACKAGE = Path(graphiti_pkm.__file__).parent


def test_every_file_that_is_no_module_is_named_as_data_of_the_package() -> None:
    """Otherwise it is there in a checkout and missing from a wheel."""
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    patterns = tools["package-data"]["graphiti_pkm"]
    packed = {path for pattern in patterns for path in PACKAGE.glob(pattern)}
    there = {path for path in PACKAGE.rglob("*") if path.is_file() and path.suffix not in {".py", ".pyc"}}
    assert there - packed == set()


def test_every_link_of_the_packages_page_leads_out_of_the_package() -> None:
    """A page of a package registry shows the README, beside which there are no files."""
    setup = runpy.run_path(str(ROOT / "setup.py"))
    page = setup["package_page"]()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    source = f"{project['urls']['Source']}/blob/v{project['version']}"
    targets = re.findall(r"\]\(([^)]+)\)", page)
    assert f"{source}/DOCS/clients.md" in targets
    assert [one for one in targets if not one.startswith(("https://", "#"))] == []
    ours = [one.removeprefix(f"{source}/").partition("#")[0] for one in targets if one.startswith(source)]
    assert [path for path in ours if not (ROOT / path).exists()] == []


def test_the_package_says_who_made_it_under_which_licence_and_for_which_versions_of_python() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["authors"]
    assert {"Source", "Documentation", "Changelog", "Issues"} <= set(project["urls"])
    assert all((ROOT / name).is_file() for name in project["license-files"])
    assert "all-MiniLM-L6-v2" in (ROOT / "NOTICE").read_text(encoding="utf-8")
    tested = (ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8")
    versions = re.findall(r"Python :: (3\.\d+)", " ".join(project["classifiers"]))
    assert versions == re.findall(r'"(3\.\d+)"', tested)


def test_the_weights_are_built_fetched_and_found_by_the_same_names_and_hashes() -> None:
    build = runpy.run_path(str(WEIGHTS / "build.py"))
    assert dict(MINILM.digests).items() <= build["FILES"].items()
    weights = tomllib.loads((WEIGHTS / "pyproject.toml").read_text(encoding="utf-8"))
    assert weights["tool"]["setuptools"]["packages"] == [MINILM.packages[0]]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    version = weights["project"]["version"]
    (needed,) = (one for one in map(Requirement, project["dependencies"]) if one.name == weights["project"]["name"])
    assert version in needed.specifier
    released = f"{project['urls']['Source']}/releases/download/weights-{version}/"
    assert f"{released}{MINILM.packages[0]}-{version}-py3-none-any.whl" == WEIGHTS_URL


@pytest.mark.parametrize("content", [None, b"half of it"])
def test_weights_that_are_missing_or_others_are_not_built_into_a_package(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "README.md").write_bytes(content)
    command = [sys.executable, str(WEIGHTS / "build.py"), "--from", str(tmp_path), "--out", str(tmp_path / "out")]
    refused = subprocess.run(command, capture_output=True, text=True, check=False)
    assert refused.returncode == 1
    assert refused.stderr.count("\n") == 1
    assert ("sha256 differs" if content else "does not hold README.md") in refused.stderr
    assert not (tmp_path / "out").exists()
