"""What is installed, and how this package uses it: published packages as they are, nothing reported to anybody."""

import ast
import base64
import hashlib
import importlib
import inspect
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from graphiti_core.driver import record_parsers
from graphiti_core.driver.driver import GraphProvider
from graphiti_core.driver.neo4j_driver import Neo4jDriver
from graphiti_core.edges import EntityEdge, EpisodicEdge
from graphiti_core.graph_queries import get_range_indices
from graphiti_core.models.edges.edge_db_queries import get_entity_edge_save_query
from graphiti_core.models.nodes.node_db_queries import get_entity_node_save_query, get_episode_node_save_query
from graphiti_core.nodes import EntityNode, EpisodicNode
from mcp.server.mcpserver import MCPServer
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from graphiti_pkm.server.app import MemoryServer
from graphiti_pkm.server.tools.registry import TOOLSETS, select
from graphiti_pkm.settings.loader import TELEMETRY, Settings
from graphiti_pkm.storage.graph.neo4j.driver import OneGraphNeo4jDriver

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "mcp_server" / "graphiti_pkm"
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def declared(name: str) -> Requirement:
    return next(one for one in map(Requirement, PROJECT["dependencies"]) if one.name == name)


def base_install() -> set[str]:
    """Everything the declared dependencies bring along when no extra is asked for."""
    found: set[str] = set()
    waiting = list(map(Requirement, PROJECT["dependencies"]))
    while waiting:
        one = waiting.pop()
        name = canonicalize_name(one.name)
        if (
            name == "graphiti-pkm-weights"
        ):  # has no code and needs nothing; a checkout has the weights from the lock file
            continue
        if name in found or (one.marker and not one.marker.evaluate({"extra": ""})):
            continue
        found.add(name)
        extras = one.extras or {""}
        for text in metadata.requires(name) or ():
            inner = Requirement(text)
            if inner.marker is None or any(inner.marker.evaluate({"extra": extra}) for extra in extras):
                inner.marker = None
                waiting.append(inner)
    return found


def modules() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        yield str(path.relative_to(PACKAGE)), ast.parse(path.read_text(encoding="utf-8"))


def imports(tree: ast.Module) -> Iterator[tuple[str, list[str]]]:
    """Each imported module with the names it is used by."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, [alias.asname or alias.name.partition(".")[0]]
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module, [alias.asname or alias.name for alias in node.names]


def test_the_default_toolset_starts_with_the_base_install_and_no_extra() -> None:
    assert set(PROJECT["optional-dependencies"]) == {"documents", "fast", "png"}
    # another way to compute and another form of pictures, each only where it is installed
    fast = {canonicalize_name(Requirement(text).name) for text in PROJECT["optional-dependencies"]["fast"]}
    assert [tool.name for tool in select(Settings())] == [tool.name for tool in TOOLSETS[0].tools]
    assert TOOLSETS[0].name == "memory"
    distributions = metadata.packages_distributions()
    used = {name.partition(".")[0] for _, tree in modules() for name, _ in imports(tree)}
    foreign = used - set(sys.stdlib_module_names) - {"graphiti_pkm"}
    providers = {module: {canonicalize_name(name) for name in distributions.get(module, ())} for module in foreign}
    installed = base_install()
    assert {module for module, names in providers.items() if not names & installed} <= fast


def test_scratch_graphs_come_with_the_base_install_without_torch() -> None:
    installed = base_install()
    assert {"rustworkx", "numpy", "mcp"} <= installed
    assert not installed & {"torch", "sentence-transformers", "networkx", "pydot", "igraph"}


def test_graphiti_core_is_the_published_package_unchanged() -> None:
    installed = metadata.distribution("graphiti-core")
    assert installed.version in declared("graphiti-core").specifier
    assert installed.read_text("direct_url.json") is None  # neither a checkout nor a fork
    changed = []
    for file in installed.files or ():
        if file.hash is not None and file.suffix == ".py":
            digest = hashlib.new(file.hash.mode, file.read_binary()).digest()
            if base64.urlsafe_b64encode(digest).decode().rstrip("=") != file.hash.value:
                changed.append(str(file))
    assert changed == []
    assert [path for path in (ROOT / "mcp_server").rglob("*graphiti_core*") if path.suffix != ".pyc"] == []


def test_nothing_of_graphiti_is_replaced_at_run_time() -> None:
    patched = []
    for module, tree in modules():
        foreign = {name for source, names in imports(tree) if source.startswith("graphiti_core") for name in names}
        patched += [f"{module}:{line}" for name, line in changed_names(tree) if name in foreign]
    assert patched == []


def changed_names(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Names of which an attribute or item is set, and the line."""
    for node in ast.walk(tree):
        place: ast.expr | None = None
        if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
            place = node.value
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in {"setattr", "delattr"}:
            place = node.args[0]
        while isinstance(place, ast.Attribute | ast.Subscript):
            place = place.value
        if isinstance(place, ast.Name):
            yield place.id, place.lineno


def test_a_replaced_method_would_be_noticed() -> None:
    planted = "from graphiti_core import a, b\na.B.c = 1\nsetattr(b, 'x', 2)\nb.d()\nc = a.B"
    assert list(changed_names(ast.parse(planted))) == [("a", 2), ("b", 3)]


def test_the_server_is_written_against_the_second_generation_of_the_sdk() -> None:
    assert metadata.version("mcp") in declared("mcp").specifier
    assert "2.3" in declared("mcp").specifier
    assert "1.30" not in declared("mcp").specifier
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("mcp.server.fastmcp")
    assert issubclass(MemoryServer, MCPServer)
    used = {name for _, tree in modules() for name, _ in imports(tree)}
    assert not [name for name in used if "fastmcp" in name]


@pytest.mark.parametrize(("chosen", "enabled"), [(None, False), ("false", False), ("true", True)])
def test_graphitis_telemetry_is_off_unless_the_user_turned_it_on(
    tmp_path: Path, chosen: str | None, *, enabled: bool
) -> None:
    """In a process of its own: under pytest Graphiti sends nothing anyway."""
    code = """if True:
        import sys
        import graphiti_pkm.storage.graph.neo4j.driver
        from graphiti_core.telemetry import capture_event, is_telemetry_enabled
        if not is_telemetry_enabled():
            capture_event("graphiti_initialized", {})
        print(is_telemetry_enabled(), "posthog" in sys.modules)"""
    environment = {name: value for name, value in os.environ.items() if name != TELEMETRY} | {"HOME": str(tmp_path)}
    if chosen is not None:
        environment[TELEMETRY] = chosen
    ran = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert ran.stdout.split() == [str(enabled), "False"]
    assert not list(tmp_path.rglob("telemetry_anon_id"))


def test_the_documentation_says_that_telemetry_is_off_and_how_to_turn_it_on() -> None:
    page = (ROOT / "DOCS" / "configuration.md").read_text(encoding="utf-8")
    assert f"telemetry is off unless `{TELEMETRY}=true`" in page


def test_the_version_range_of_graphiti_ends_before_the_next_one_that_may_move_things() -> None:
    specifier = declared("graphiti-core").specifier
    assert metadata.version("graphiti-core") in specifier
    assert "0.32" not in specifier
    assert "0.30" not in specifier


def test_the_models_of_graphiti_have_the_fields_we_read_and_write() -> None:
    assert {"uuid", "name", "group_id", "labels", "created_at", "summary", "attributes"} <= set(EntityNode.model_fields)
    assert {"source", "source_description", "content", "valid_at", "entity_edges"} <= set(EpisodicNode.model_fields)
    assert {
        *("source_node_uuid", "target_node_uuid", "name", "fact", "episodes", "attributes"),
        *("created_at", "expired_at", "valid_at", "invalid_at", "reference_time"),
    } <= set(EntityEdge.model_fields)
    assert {"source_node_uuid", "target_node_uuid", "group_id", "created_at"} <= set(EpisodicEdge.model_fields)


def test_graphiti_parses_records_by_the_functions_we_call() -> None:
    for name in ("entity_node_from_record", "episodic_node_from_record", "entity_edge_from_record"):
        assert next(iter(inspect.signature(getattr(record_parsers, name)).parameters)) == "record"


def test_graphiti_saves_under_the_labels_and_properties_we_share() -> None:
    """If one of these moves, data of Graphiti is no longer ours to read, or its save wipes more than we expect."""
    neo4j = GraphProvider.NEO4J
    entity = get_entity_node_save_query(neo4j, "Entity:Person")
    episode = get_episode_node_save_query(neo4j)
    fact = get_entity_edge_save_query(neo4j)
    assert "MERGE (n:Entity {uuid: $entity_data.uuid})" in entity
    assert "SET n = $entity_data" in entity
    assert 'setNodeVectorProperty(n, "name_embedding", $entity_data.name_embedding)' in entity
    assert "MERGE (n:Episodic {uuid: $uuid})" in episode
    assert "SET n = {uuid: $uuid" in episode
    assert "MERGE (source)-[e:RELATES_TO {uuid: $edge_data.uuid}]->(target)" in fact
    assert "SET e = $edge_data" in fact
    assert 'setRelationshipVectorProperty(e, "fact_embedding", $edge_data.fact_embedding)' in fact
    indexes = " ".join(get_range_indices(neo4j))
    for label in ("Entity", "Episodic", "RELATES_TO", "MENTIONS"):
        assert f":{label})" in indexes or f":{label}]" in indexes


def test_the_driver_overrides_only_methods_that_graphiti_still_has() -> None:
    overridden = [name for name, value in vars(OneGraphNeo4jDriver).items() if inspect.isfunction(value)]
    assert {"clone", "execute_query", "health_check", "build_indices_and_constraints"} <= set(overridden)
    for name in overridden:
        ours = list(inspect.signature(getattr(OneGraphNeo4jDriver, name)).parameters)
        theirs = list(inspect.signature(getattr(Neo4jDriver, name)).parameters)
        assert name == "__init__" or ours == theirs, name
