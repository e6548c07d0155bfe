"""What a wheel of this package has."""

import tomllib
from pathlib import Path

import graphiti_pkm

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = Path(graphiti_pkm.__file__).parent


def test_every_file_that_is_no_module_is_named_as_data_of_the_package() -> None:
    """Otherwise it is there in a checkout and missing from a wheel."""
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    patterns = tools["package-data"]["graphiti_pkm"]
    packed = {path for pattern in patterns for path in PACKAGE.glob(pattern)}
    there = {path for path in PACKAGE.rglob("*") if path.is_file() and path.suffix not in {".py", ".pyc"}}
    assert there - packed == set()
