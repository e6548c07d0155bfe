"""The page of the package: README.md with links that also lead somewhere outside of the repository.

Everything else about the package is in pyproject.toml.
"""

import re
import tomllib
from pathlib import Path

from setuptools import setup

ROOT = Path(__file__).resolve().parent
_RELATIVE = re.compile(r"(!?)(\[[^\]]*\]\()(?!https?:|mailto:|#)")


def package_page() -> str:
    """README.md, whose relative links lead to the source of this version."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    def absolute(link: re.Match[str]) -> str:
        kind = "raw" if link[1] else "blob"
        return f"{link[1]}{link[2]}{project['urls']['Source']}/{kind}/v{project['version']}/"

    return _RELATIVE.sub(absolute, (ROOT / "README.md").read_text(encoding="utf-8"))


if __name__ == "__main__":  # which it is for the build, too
    setup(long_description=package_page(), long_description_content_type="text/markdown")
