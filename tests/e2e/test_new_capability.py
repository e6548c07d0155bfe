"""A capability is added with its folder, its storage file, its line in the registry and its import contract alone."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from mcp import StdioServerParameters
from mcp.client import Client
from mcp.client.stdio import stdio_client
from tests.e2e.support import environment

import graphiti_pkm

ROOT = Path(__file__).parents[2]
FIXTURE = ROOT / "tests" / "data" / "bookmarks"
IMPORT = "from graphiti_pkm.capabilities.bookmarks.capability import CAPABILITY as BOOKMARKS\n"
FIRST_IMPORT = "from graphiti_pkm.capabilities.explore.capability import"


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package with the capability bookmarks."""
    place = tmp_path_factory.mktemp("product")
    package = place / "graphiti_pkm"
    shutil.copytree(Path(graphiti_pkm.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(FIXTURE / "capability", package / "capabilities" / "bookmarks")
    shutil.copy(FIXTURE / "storage.py", package / "storage" / "graph" / "bookmarks.py")
    registry = package / "server" / "tools" / "registry.py"
    text = registry.read_text(encoding="utf-8")
    assert text.count(", SCRATCH)") == text.count(FIRST_IMPORT) == 1
    text = text.replace(", SCRATCH)", ", SCRATCH, BOOKMARKS)").replace(FIRST_IMPORT, IMPORT + FIRST_IMPORT)
    registry.write_text(text, encoding="utf-8")
    return place


def run(product: Path, *arguments: str) -> str:
    """What a Python process on that package prints."""
    found = subprocess.run(
        [sys.executable, *arguments],
        env=os.environ | {"PYTHONPATH": f"{product}{os.pathsep}{ROOT}"},
        capture_output=True,
        text=True,
        cwd=product,
        check=False,
    )
    assert found.returncode == 0, found.stderr
    return found.stdout


async def test_it_is_listed_and_served_and_forget_reaches_it(product: Path, tmp_path: Path) -> None:
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-c", "from graphiti_pkm.cli.main import main; raise SystemExit(main())", "serve"],
        env=environment(data_dir=tmp_path / "data") | {"PYTHONPATH": str(product)},
        cwd=tempfile.gettempdir(),
    )
    with (tmp_path / "log").open("a") as stderr:
        async with Client(stdio_client(parameters, errlog=stderr)) as client:

            async def call(tool: str, **arguments: Any) -> dict[str, Any]:
                result = await client.call_tool(tool, arguments)
                assert not result.is_error, result.content
                return dict(result.structured_content or {})

            names = [tool.name for tool in (await client.list_tools()).tools]
            assert names[-2:] == ["add_bookmark", "list_bookmarks"]
            await call("add_bookmark", name="Berlin", note="Berlin is where the archive is.")
            await call("add_bookmark", name="Paris", note="Paris has the better trains.")
            page = await call("list_bookmarks", limit=1)
            assert (page["total"], [one["name"] for one in page["bookmarks"]]) == (2, ["Paris"])
            target = page["bookmarks"][0]["entity_uuid"]
            preview = await call("forget", entity_uuid=target)
            done = await call("forget", entity_uuid=target, confirm=preview["confirm"])
            assert done["status"] in {"forgotten", "pending"}
            left = await call("list_bookmarks")
            assert [one["name"] for one in left["bookmarks"]] == ["Berlin"]


@pytest.mark.parametrize("kind", ["fake", "sqlite"])
def test_its_storage_keeps_the_contract(kind: str, product: Path, tmp_path: Path) -> None:
    run(product, str(FIXTURE / "contract.py"), kind, str(tmp_path / "data"))


def test_the_page_of_tools_describes_it(product: Path) -> None:
    page = run(product, "-c", "from graphiti_pkm.server.tools.document import tools_page; print(tools_page())")
    assert "### add_bookmark\n\n*Add Bookmark: writes.*" in page
    assert "| `list_bookmarks` | `limit` | 20 | 50 |" in page


def lint(product: Path, contracts: str) -> "subprocess.CompletedProcess[str]":
    (product / "pyproject.toml").write_text(contracts, encoding="utf-8")
    return subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-logo", "--no-cache"],
        env=os.environ | {"PYTHONPATH": str(product)},
        capture_output=True,
        text=True,
        cwd=product,
        check=False,
    )


def test_the_contracts_of_imports_ask_for_its_place_and_hold_with_it(product: Path) -> None:
    contracts = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    stairs = 'layers = ["scratch", '
    assert contracts.count(stairs) == 1
    assert "bookmarks" in lint(product, contracts).stdout
    found = lint(product, contracts.replace(stairs, 'layers = ["scratch | bookmarks", '))
    assert found.returncode == 0, found.stdout
