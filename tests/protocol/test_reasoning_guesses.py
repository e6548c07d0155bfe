"""What is written into a scratch graph takes no node for another one on a guess."""

import pytest
from mcp.client import Client
from tests.protocol.scratch_support import ToldEmbedder, add, call
from tests.protocol.support import EVERYTHING, World, error_of

NEAR = [
    ("the failover was slow", "failover started", 0.80),
    ("secondary gateway down", "primary gateway down", 0.92),
    ("handover complete", "handover incomplete", 0.91),
]


@pytest.fixture
def world(embedder: ToldEmbedder) -> World:
    return World(EVERYTHING, embedder=embedder)


async def labels_of(client: Client) -> set[str]:
    return {one["label"] for one in (await call(client, "list_nodes"))["nodes"]}


@pytest.mark.parametrize(("text", "label", "similarity"), NEAR)
async def test_a_text_that_is_only_near_comes_back_with_candidates(
    client: Client, embedder: ToldEmbedder, text: str, label: str, similarity: float
) -> None:
    embedder.tell(text, {label: similarity})
    await add(client, label, "outage")
    one = await call(client, "add_edge", source=text, target="outage", relation="causes")
    assert (one["status"], one["edge"]) == ("ambiguous", None)
    assert [candidate["label"] for candidate in one["source_candidates"]] == [label]
    edges = [
        {"source": text, "target": "outage", "relation": "causes"},
        {"source": label, "target": "outage", "relation": "causes"},
    ]
    batch = await call(client, "add_edges", edges=edges)
    assert (batch["added"], len(batch["failed"])) == (1, 1)
    assert repr(label) in batch["failed"][0]["reason"]
    assert "create_missing" in batch["failed"][0]["reason"]
    assert await labels_of(client) == {label, "outage"}
    # Reading changes nothing, so that there the text still finds the node, and the answer says which.
    assert (await call(client, "get_neighbors", node=text))["matched"] == label


@pytest.mark.parametrize(("text", "label", "similarity"), NEAR)
async def test_what_is_only_near_is_created_if_asked_and_named(
    client: Client, embedder: ToldEmbedder, text: str, label: str, similarity: float
) -> None:
    embedder.tell(text, {label: similarity})
    await add(client, label, "outage")
    edge = {"source": text, "target": "outage", "relation": "causes"}
    batch = await call(client, "add_edges", edges=[edge], create_missing=True)
    assert (batch["added"], batch["nodes_created"], batch["matched"]) == (1, 1, [])
    assert [(one["label"], one["similar_existing"][0]["label"]) for one in batch["similar_existing"]] == [(text, label)]
    assert await labels_of(client) == {text, label, "outage"}


@pytest.mark.parametrize("create_missing", [False, True])
@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("gateway timeouts", "gateway timeout"),
        ("Gateway-Timeout", "gateway timeouts"),
        ("full queries", "full query"),
        ("process crash", "process crashes"),
    ],
)
async def test_a_plural_means_the_same_node(client: Client, text: str, label: str, *, create_missing: bool) -> None:
    await add(client, label, "outage")
    edge = {"source": text, "target": "outage", "relation": "causes"}
    one = await call(client, "add_edge", **edge, create_missing=create_missing)
    assert (one["source_matched"], one["nodes_created"]) == (label, None)
    batch = await call(client, "add_edges", edges=[{**edge, "relation": "precedes"}], create_missing=create_missing)
    assert [(match["text"], match["matched"]) for match in batch["matched"]] == [(text, label)]
    assert await labels_of(client) == {label, "outage"}


async def test_plurals_told_in_one_call_are_one_node_too(client: Client) -> None:
    edges = [
        {"source": "gateway timeouts", "target": "outage", "relation": "causes"},
        {"source": "deploy", "target": "Gateway timeout", "relation": "causes"},
    ]
    batch = await call(client, "add_edges", edges=edges, create_missing=True)
    assert (batch["added"], batch["nodes_created"]) == (2, 3)
    assert [(match["text"], match["matched"]) for match in batch["matched"]] == [
        ("Gateway timeout", "gateway timeouts")
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [("status", "statu"), ("https", "http"), ("app.error", "app.errors"), ("my_user", "my_users"), ("Job2", "Job2s")],
)
async def test_names_of_things_have_no_plural(client: Client, one: str, other: str) -> None:
    edge = {"source": one, "target": other, "relation": "imports"}
    batch = await call(client, "add_edges", edges=[edge], create_missing=True)
    assert (batch["added"], batch["nodes_created"], batch["matched"]) == (1, 2, [])


async def test_the_two_ends_of_an_edge_are_not_made_one_by_their_plural(client: Client) -> None:
    await add(client, "timeout")
    edge = {"source": "timeout", "target": "timeouts", "relation": "causes"}
    for create_missing in (False, True):
        batch = await call(client, "add_edges", edges=[edge], create_missing=create_missing)
        assert "are both taken for 'timeout'" in batch["failed"][0]["reason"]
        message = error_of(await client.call_tool("add_edge", {**edge, "create_missing": create_missing}))
        assert "are both taken for 'timeout'" in message
    await add(client, "timeouts")  # adding a node takes the label as it is
    assert (await call(client, "add_edge", **edge))["created"] is True


async def test_a_name_without_its_punctuation_is_only_a_candidate_where_it_writes(client: Client) -> None:
    await add(client, "AuthService", "outage")
    one = await call(client, "add_edge", source="auth.service", target="outage", relation="causes")
    assert [candidate["label"] for candidate in one["source_candidates"]] == ["AuthService"]
    assert (await call(client, "get_neighbors", node="auth.service"))["matched"] == "AuthService"


async def test_words_cut_short_are_the_label_if_only_one_fits(client: Client, embedder: ToldEmbedder) -> None:
    embedder.tell("user repo", {"User Repository": 0.87, "User Report": 0.70})
    await add(client, "UserRepository", "outage")
    one = await call(client, "add_edge", source="user repo", target="outage", relation="has")
    assert (one["source_matched"], one["source_similarity"] is not None) == ("UserRepository", True)
    embedder.tell("port closed", {"portal closed": 0.95})
    await add(client, "portal closed")
    prose = await call(client, "add_edge", source="port closed", target="outage", relation="causes")
    assert [candidate["label"] for candidate in prose["source_candidates"]] == ["portal closed"]
    await add(client, "UserReport")
    two = await call(client, "add_edge", source="user repo", target="outage", relation="needs")
    assert two["status"] == "ambiguous"
