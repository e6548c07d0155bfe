"""What several suites share: the tier of each test, the databases of a run, and an empty graph in one for each test.

Every test is in exactly one tier. Its place and what it asks for decide which, here and nowhere else but for single
tests that are marked ``storm``: `make test` runs quick, `make test-all` quick and full, `make storm` storm.
"""

import functools
import logging
import re
import sys
import tempfile
import threading
from collections.abc import AsyncIterator, Generator, Iterator
from pathlib import Path
from typing import Any

import httpcore2
import pytest
from pydantic import SecretStr
from tests.neo4j_server import NO_NEO4J, Neo4jAddress, given_address, skip_without_tools, started
from tests.scripted_model import ScriptedModel

from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.settings.names import variables_of
from graphiti_pkm.storage.graph.database import Database
from graphiti_pkm.storage.graph.queries.values import Query
from graphiti_pkm.storage.graph.sqlite.store import SqliteGraph
from graphiti_pkm.storage.graph.store import GraphStore
from graphiti_pkm.storage.journal.connection import MEMORY, JournalFile

TIERS = {
    "quick": "needs Python alone; all of them take at most five minutes",
    "full": "the other tests of the gate: databases that are servers, Node, whole processes",
    "storm": "series of kills and the largest sweeps, of minutes each: before a release",
}
QUICK = ("unit", "protocol", "contracts", "temporal", "e2e/test_cli_demo.py")
STORM = ("storm",)
SERVERS = frozenset({"neo4j", "neo4j_graph", "neo4j_server"})
"""Fixtures that start a database server, and the parameters by which other fixtures ask for one of them."""
WITH_DATABASE_PARAMETERS = ("contracts", "temporal")
"""Where a parameter of these names starts a server; elsewhere it is a text like any other."""

# Every HTTP client loads the certificates of the system: 40 ms of a processor for each time that a test looks whether a
# server listens. Here they share them.
httpcore2.default_ssl_context = functools.cache(httpcore2.default_ssl_context)

# Read before any test runs: each has the settings taken out of its environment.
_GIVEN_NEO4J = given_address()


def tier_of(item: pytest.Item) -> str:
    """The tier of a test, by its folder, the fixtures it asks for and its parameters."""
    if item.get_closest_marker("storm") is not None or _is_in(item.path, STORM):
        return "storm"
    asked = set(getattr(item, "fixturenames", ()))
    if _is_in(item.path, WITH_DATABASE_PARAMETERS) and (callspec := getattr(item, "callspec", None)):
        asked |= {value for value in callspec.params.values() if isinstance(value, str)}
    return "quick" if _is_in(item.path, QUICK) and not asked & SERVERS else "full"


def _is_in(path: Path, places: tuple[str, ...]) -> bool:
    return any(path.is_relative_to(Path(__file__).parent / place) for place in places)


def pytest_configure(config: pytest.Config) -> None:
    """Declares the tiers. Tests empty the one database of a Neo4j before they use it: two processes would collide."""
    for tier, tests in TIERS.items():
        config.addinivalue_line("markers", f"{tier}: {tests}")
    if _GIVEN_NEO4J is not None and (getattr(config.option, "numprocesses", None) or 0) > 1:
        raise pytest.UsageError("NEO4J_URI names one database for all tests: run them in one process, with -n 0.")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Runs the tests of one file in one process, and those whose names say that they are on Neo4j all in the same.

    A new server plans each query anew, which takes longer than the tests. The groups that xdist 3.8 has do nothing with
    pytest 9.2.
    """
    from xdist.scheduler import LoadFileScheduling  # noqa: PLC0415 only there where it is asked for

    class ByFileAndDatabase(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return "neo4j" if "neo4j" in nodeid else super()._split_scope(nodeid)

    return ByFileAndDatabase(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks each test with its tier, before ``-m`` selects, and puts first the folders whose files take long.

    What is left for the end is then small enough to be shared out evenly.
    """
    for item in items:
        item.add_marker(tier_of(item))
    folders = ["e2e", "integration", "temporal", "acceptance", "contracts", "protocol"]
    root = Path(__file__).parent
    items.sort(key=lambda item: next((i for i, one in enumerate(folders) if item.path.is_relative_to(root / one)), 9))


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Processes that share the tests out must call them the same: a uuid may be another in each."""
    return argname if isinstance(val, str) and _is_uuid(val) else None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Tests without their Neo4j share one line of the summary: pytest would name the place of each."""
    report = yield
    if report.skipped and isinstance(report.longrepr, tuple) and NO_NEO4J in report.longrepr[2]:
        report.longrepr = (__file__, 1, report.longrepr[2])
    return report


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server that NEO4J_URI names is for the tests of the database, no setting of what the others start."""
    for setting in Settings.model_fields:
        for name in variables_of(setting):
            monkeypatch.delenv(name, raising=False)


@pytest.fixture
def short_directory() -> Iterator[Path]:
    """The path of a socket may hold about a hundred bytes; pytest's own directories are longer."""
    with _short_directory() as directory:
        yield Path(directory)


@pytest.fixture
async def sqlite_graph(tmp_path: Path) -> AsyncIterator[SqliteGraph]:
    """An empty graph in a file of its own."""
    graph = SqliteGraph(JournalFile(tmp_path / "data", name=MEMORY))
    yield graph
    await graph.close()


def _not_quick(request: pytest.FixtureRequest) -> None:
    """A server that a test starts by a way unknown to ``tier_of`` is seen where quick tests run alone."""
    if request.config.getoption("markexpr") == "quick":
        pytest.fail(f"A test of the tier quick starts {request.fixturename}: name its fixture or parameter in SERVERS.")


def _is_uuid(text: str) -> bool:
    return re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", text) is not None


def _short_directory() -> "tempfile.TemporaryDirectory[str]":
    short = "/tmp"  # noqa: S108 a private directory is made in it
    return tempfile.TemporaryDirectory(prefix="pkm-", dir=None if sys.platform == "darwin" else short)


@pytest.fixture(scope="session")
def neo4j_server(request: pytest.FixtureRequest) -> Iterator[Neo4jAddress]:
    """The run's Neo4j, of the environment or its own. Who uses it empties it first: it has one database."""
    _not_quick(request)
    if _GIVEN_NEO4J is not None:
        yield _GIVEN_NEO4J
        return
    skip_without_tools()
    with started() as address:
        yield address


@pytest.fixture
async def neo4j_graph(neo4j_server: Neo4jAddress) -> AsyncIterator[GraphStore]:
    """An empty graph in the run's Neo4j; its indexes stay from test to test, as building them takes a second."""
    from graphiti_pkm.storage.graph.neo4j.database import open_neo4j  # noqa: PLC0415 most runs need no driver

    settings = Settings(
        neo4j_uri=neo4j_server.uri,
        neo4j_username=neo4j_server.username,
        neo4j_password=SecretStr(neo4j_server.password),
    )

    async def open_database() -> Database:
        return open_neo4j(settings)

    store = GraphStore(open_database)
    await _emptied(await store.database())
    yield store
    await store.close()


async def _emptied(database: Database) -> None:
    """What is recorded of the schema stays: else every test would build all indexes again."""
    for text in (
        "MATCH (n) WHERE NOT n:Meta DETACH DELETE n",
        "MATCH (m:Meta) WHERE m.id <> 'database' DELETE m",
        "MATCH (m:Meta {id: 'database'}) REMOVE m.model, m.dimension",
    ):
        await database.write(Query("empty", text, {}))
    for kind in await database.vector_states():
        await database.drop_vector_index(kind)


@pytest.fixture
def scripted_model() -> Iterator[ScriptedModel]:
    """A model server of the test's own; a script that does not fit what was asked fails the test."""
    with ScriptedModel() as model:
        yield model
        assert model.script_errors == []


@pytest.fixture
def own_logger() -> Iterator[None]:
    """A command logs to a person from then on; the tests after it look at records."""
    ours, root = logging.getLogger("graphiti_pkm"), logging.getLogger()
    before = [(logger, list(logger.handlers), logger.propagate, logger.level) for logger in (ours, root)]
    hooks = sys.excepthook, threading.excepthook
    yield
    for logger, handlers, propagate, level in before:
        logger.handlers[:], logger.propagate = handlers, propagate
        logger.setLevel(level)
    logging.captureWarnings(capture=False)
    sys.excepthook, threading.excepthook = hooks
