"""What a server imports before it lists its tools: the modules of the tools that it offers, and no others."""

import json
import subprocess
import sys

import pytest

_LOADED = """
import json, sys
from graphiti_pkm.cli import serve
from graphiti_pkm.server.app import build_server
from graphiti_pkm.settings.loader import Settings

server = build_server(Settings(toolsets=tuple(sys.argv[1:])), lambda: None)
schemas = [tool.output_schema for tool in server._built.values()]
print(json.dumps([name for name in sys.modules if name.startswith("graphiti_pkm.")]))
"""


def _loaded(*toolsets: str) -> set[str]:
    done = subprocess.run([sys.executable, "-c", _LOADED, *toolsets], capture_output=True, check=True, text=True)
    return {name.removeprefix("graphiti_pkm.") for name in json.loads(done.stdout)}


@pytest.mark.parametrize(
    ("toolset", "modules"),
    [
        ("compat", {"compat.models", "compat.requests"}),
        ("reference", {"compat.models", "compat.reference_requests"}),
        ("projects", {"projects.models", "projects.requests"}),
        ("curation", {"curation.models", "curation.requests", "staging.models", "sources.models"}),
        ("reasoning", {"scratch.models.answers", "scratch.models.analysis", "scratch.requests"}),
    ],
)
def test_requests_and_answers_are_imported_for_the_toolsets_that_are_on(toolset: str, modules: set[str]) -> None:
    own = {f"capabilities.{name}" for name in modules}
    assert own <= _loaded(toolset)
    assert not own & _loaded("memory")


def test_no_service_and_no_store_is_imported_for_the_tools_about_memory() -> None:
    loaded = _loaded("memory")
    services = {"capabilities.curation.merging", "capabilities.explore.completing", "core.reading.reader"}
    assert not loaded & {*services, "core.ports.graph", "core.model.queries", "storage.commit"}
