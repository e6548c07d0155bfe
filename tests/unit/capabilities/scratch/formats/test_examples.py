"""The example of the documentation, and its picture."""

from pathlib import Path

from graphiti_pkm.capabilities.scratch.formats.registry import parse, write
from graphiti_pkm.settings.scratch_limits import ScratchLimits

EXAMPLES = Path(__file__).parents[5] / "examples" / "scratch-graphs"


def test_the_picture_of_the_documentation_is_what_is_drawn() -> None:
    said = parse((EXAMPLES / "services.dot").read_text(encoding="utf-8"), "dot", ScratchLimits())
    assert (len(said.nodes), len(said.edges), said.warnings) == (10, 11, ())
    assert write(said, "svg") == (EXAMPLES / "services.svg").read_text(encoding="utf-8")
