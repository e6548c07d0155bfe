"""The import contracts hold, and a planted violation is caught."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def _lint(root: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [Path(sys.executable).parent / "lint-imports", "--no-logo", "--no-cache"],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root / "mcp_server")},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def copy_of_the_package(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "mcp_server", tmp_path / "mcp_server", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_the_package_keeps_its_import_contracts() -> None:
    result = _lint(ROOT)
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize(
    ("module", "violation", "broken"),
    [
        ("core/identity/groups.py", "import graphiti_pkm.storage.graph.store", "Capabilities stand on a kernel"),
        ("settings/memory.py", "import graphiti_pkm.core.model.names", "Capabilities stand on a kernel"),
        (
            "capabilities/search/service.py",
            "import graphiti_pkm.capabilities.explore.paths",
            "Layers of capabilities",
        ),
        (
            "capabilities/history/changes.py",
            "import graphiti_pkm.capabilities.forget.plan",
            "Layers of capabilities",
        ),
        (
            "capabilities/scratch/algorithms/paths.py",
            "import graphiti_pkm.capabilities.scratch.formats.values",
            "Algorithms and formats of scratch graphs do not know each other",
        ),
        ("server/tools/registry.py", "import neo4j", "Only storage and Graphiti's adapter reach the databases"),
        ("llm/chat.py", "import graphiti_core", "Only storage and Graphiti's adapter reach the databases"),
        ("core/reading/paging.py", "import numpy", "Core and capabilities know no library of databases or arrays"),
        ("capabilities/search/service.py", "import mcp", "Only the server knows MCP"),
        ("toolkit/tool.py", "import mcp_types", "Only the server knows MCP"),
        ("storage/commit.py", "import prometheus_client", "Only one module knows how figures are kept"),
        (
            "core/identity/groups.py",
            "import graphiti_pkm.core.reading.paging",
            "No cycles between the parts of a package",
        ),
    ],
)
def test_a_planted_violation_is_caught(copy_of_the_package: Path, module: str, violation: str, broken: str) -> None:
    target = copy_of_the_package / "mcp_server" / "graphiti_pkm" / module
    target.write_text(f"{target.read_text(encoding='utf-8')}\n{violation}\n", encoding="utf-8")
    result = _lint(copy_of_the_package)
    assert result.returncode != 0
    assert f"{broken} BROKEN" in result.stdout
