"""What the document says of matching, with the real model: its examples, and that nothing is asked of a network."""

import socket
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from tests.fakes import FakeClock

from graphiti_pkm.capabilities.scratch.edges import ScratchEdges
from graphiti_pkm.capabilities.scratch.matching.matching import Match, Matcher, Missing
from graphiti_pkm.capabilities.scratch.models.requests import EdgeInput, NodeInput
from graphiti_pkm.capabilities.scratch.nodes import ScratchNodes
from graphiti_pkm.capabilities.scratch.requests import AddEdge, AddEdges, AddNode, AddNodes
from graphiti_pkm.capabilities.scratch.tenants import ScratchGraphs
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.embedding.local.local import LocalEmbedder
from graphiti_pkm.settings.loader import Settings

F6 = ("LoginController", "AuthService", "UserRepository", "PostgresDB")


class Scratch:
    """Scratch graphs over the real model."""

    def __init__(self, embedder: LocalEmbedder) -> None:
        settings = Settings()
        self.graphs = ScratchGraphs(settings.scratch_limits, timedelta(hours=2), FakeClock())
        self.matcher = Matcher(self.graphs, embedder, settings)
        self.nodes = ScratchNodes(self.graphs, self.matcher)
        self.edges = ScratchEdges(self.matcher)

    async def add(self, *labels: str) -> None:
        await self.nodes.add_nodes(LOCAL, AddNodes(nodes=[NodeInput(label=label) for label in labels]))

    async def meant(self, text: str) -> str | None:
        async with self.matcher.reading(LOCAL, "default", [text]) as found:
            meaning = found.meanings[text]
            return meaning.label if isinstance(meaning, Match) else None


@pytest.fixture
async def scratch() -> AsyncIterator[Scratch]:
    embedder = LocalEmbedder(Settings())
    yield Scratch(embedder)
    await embedder.close()


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("auth service", "AuthService"),
        ("user repo", "UserRepository"),
        ("the authentication service", "AuthService"),
        ("auth servce", "AuthService"),
        ("postgres", "PostgresDB"),
        ("login", "LoginController"),  # the one label that begins so, to read
        ("log", None),
        ("the mailer", None),
        ("UserService", None),
    ],
)
async def test_the_document_s_texts_mean_what_it_says(scratch: Scratch, text: str, label: str | None) -> None:
    await scratch.add(*F6)
    assert await scratch.meant(text) == label


async def test_an_edge_between_what_is_nearly_called_so(scratch: Scratch) -> None:
    await scratch.add(*F6)
    answer = await scratch.edges.add_edge(LOCAL, AddEdge(source="auth service", target="user repo", relation="queries"))
    assert answer.edge is not None
    assert (answer.source_matched, answer.target_matched, answer.created) == ("AuthService", "UserRepository", True)
    again = await scratch.edges.add_edge(LOCAL, AddEdge(source="AUTH-SERVICE", target="user repo", relation="queries"))
    assert again.created is False
    by_meaning = await scratch.edges.add_edge(
        LOCAL, AddEdge(source="the authentication service", target="user repo", relation="queries")
    )
    assert by_meaning.edge is None
    assert [one.label for one in by_meaning.source_candidates or ()] == ["AuthService"]


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("the failover was slow", "failover started"),
        ("secondary gateway down", "primary gateway down"),
        ("handover complete", "handover incomplete"),
    ],
)
async def test_statements_that_sound_alike_stay_two(scratch: Scratch, text: str, label: str) -> None:
    await scratch.add(label, "outage")
    edge = EdgeInput(source=text, target="outage", relation="causes")
    assert (await scratch.edges.add_edges(LOCAL, AddEdges(edges=[edge]))).added == 0
    made = await scratch.edges.add_edges(LOCAL, AddEdges(edges=[edge], create_missing=True))
    assert (made.added, made.nodes_created) == (1, 1)


async def test_one_service_is_never_taken_for_another(scratch: Scratch) -> None:
    await scratch.add("AuthService")
    added = await scratch.nodes.add_node(LOCAL, AddNode(label="UserService"))
    assert added.created is True
    for text in ("OrderShipped", "HeaderParser", "LoginController"):
        await scratch.add(text)
    for text in ("OrderSkipped", "ReaderParser", "LogoutController"):
        assert await scratch.meant(text) is None


async def test_matching_asks_nothing_of_a_network(scratch: Scratch, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket.socket, "connect_ex", refuse)
    await scratch.add(*F6)
    async with scratch.matcher.reading(LOCAL, "default", ["the login controller", "nobody"]) as found:
        assert found.match("the login controller").label == "LoginController"
        assert isinstance(found.meanings["nobody"], Missing)
        assert found.note is None
