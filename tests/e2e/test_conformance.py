"""MCP's own conformance suite against a server process: what a revision of the protocol requires of a server.

``conformance.yaml`` names what does not apply, each with its reason. A scenario that begins to pass fails the run as
well until it is removed there.
"""

import subprocess
from pathlib import Path

import pytest
from tests.e2e.npm_clients import installed
from tests.e2e.support import Served

BASELINE = Path(__file__).with_name("conformance.yaml")

# The first run installs the suite.
pytestmark = pytest.mark.timeout(300)


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
def test_what_applies_of_a_revision_passes(revision: str, server: Served, tmp_path: Path) -> None:
    suite = installed() / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    asked = ["--url", server.endpoint, "--requirements", revision, "--expected-failures", str(BASELINE)]
    done = subprocess.run(
        ["node", str(suite), "server", *asked], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=240
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
