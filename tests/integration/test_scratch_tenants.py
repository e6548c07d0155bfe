"""Many people edit many scratch graphs at once while others expire: nobody meets another's, and memory comes back."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PEOPLE = 20
RETURNED = 0.6
"""Of what the graphs took, at once: 69 to 76% in seven runs. The rest are the interpreter's arenas of a megabyte, in
each of which some small object lives on; they are taken again, so that a second time ends where the first did."""
AGAIN = 3_000_000
AGAIN_SHARE = 0.05
"""Of what the graphs took: arenas fill differently the second time. Four times 500 graphs end within 0.7 MB."""


def _run(graphs: int) -> dict[str, int]:
    run = subprocess.run(
        [sys.executable, "-m", "tests.integration.scratch_tenants", str(PEOPLE), str(graphs)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    found: dict[str, int] = json.loads(run.stdout)
    assert (found["made"], found["kept"], found["left"]) == (PEOPLE * graphs, PEOPLE * graphs // 2, 0)
    assert found["again"] - found["end"] <= AGAIN + AGAIN_SHARE * (found["full"] - found["start"]), found
    return found


@pytest.mark.timeout(120)
def test_edits_at_once_and_expiry_leave_everybody_their_own_graphs() -> None:
    _run(graphs=4)


@pytest.mark.storm
@pytest.mark.timeout(600)
def test_a_thousand_graphs_leave_the_memory_as_it_was() -> None:
    found = _run(graphs=50)
    assert found["end"] - found["start"] <= (1 - RETURNED) * (found["full"] - found["start"]), found
