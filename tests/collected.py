"""A plugin of pytest: ``-p tests.collected --collected FILE`` writes each collected test with its tier, as JSON."""

import json
from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--collected", type=Path, metavar="FILE")


def pytest_collection_finish(session: pytest.Session) -> None:
    found = []
    for item in session.items:
        callspec = getattr(item, "callspec", None)
        found.append({
            "name": item.nodeid,
            "marks": [mark.name for mark in item.iter_markers()],
            "fixtures": sorted(getattr(item, "fixturenames", ())),
            "parameters": [str(value) for value in callspec.params.values()] if callspec else [],
        })  # fmt: skip
    session.config.getoption("collected").write_text(json.dumps(found))
