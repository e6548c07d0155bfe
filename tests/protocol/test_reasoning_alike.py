"""Nodes of one batch that may be the same are told, and none is merged."""

import pytest
from mcp.client import Client
from tests.protocol.scratch_support import ToldEmbedder, call
from tests.protocol.support import EVERYTHING, World


@pytest.fixture
def world(embedder: ToldEmbedder) -> World:
    return World(EVERYTHING, embedder=embedder)


async def test_nodes_of_one_batch_that_may_be_the_same_are_told(client: Client, embedder: ToldEmbedder) -> None:
    embedder.tell("Auth Service", {"Authentication Service": 0.88, "Login": 0.8, "Mailer": 0.3, "Sign In": 0.8})
    await call(client, "add_node", label="Sign In")
    labels = ["Auth Service", "Mailer", "Authentication Service", "auth-service", "Login"]
    answer = await call(client, "add_nodes", nodes=[{"label": label} for label in labels])
    assert (answer["added"], answer["existing"]) == (4, 1)
    told = {one["label"]: [near["label"] for near in one["similar_existing"]] for one in answer["similar_existing"]}
    assert told == {
        "Auth Service": ["Sign In"],
        "Authentication Service": ["Auth Service"],
        "Login": ["Auth Service"],
    }
    again = await call(client, "add_nodes", nodes=[{"label": label} for label in labels])
    assert again["similar_existing"] == []


async def test_numbered_nodes_of_one_batch_are_no_doubles(client: Client, embedder: ToldEmbedder) -> None:
    embedder.tell("order 1", {f"order {number}": 0.99 for number in range(2, 40)})
    answer = await call(client, "add_nodes", nodes=[{"label": f"order {number}"} for number in range(1, 40)])
    assert (answer["added"], answer["similar_existing"]) == (39, [])


async def test_many_doubles_of_one_batch_are_bounded(client: Client, embedder: ToldEmbedder) -> None:
    labels = [f"{chr(97 + one)}{chr(97 + two)}x" for one in range(10) for two in range(20)]
    embedder.tell(labels[0], dict.fromkeys(labels[1:], 0.95))
    answer = await call(client, "add_nodes", nodes=[{"label": label} for label in labels])
    assert (answer["added"], len(answer["similar_existing"])) == (200, 20)
    assert max(len(one["similar_existing"]) for one in answer["similar_existing"]) <= 5


async def test_ends_that_edges_create_are_compared_with_one_another(client: Client, embedder: ToldEmbedder) -> None:
    embedder.tell("Payment", {"Remittance": 0.93})
    edges = [{"source": "api", "target": end, "relation": "calls"} for end in ("Payment", "Remittance")]
    answer = await call(client, "add_edges", edges=edges, create_missing=True)
    assert answer["similar_existing"] == [
        {"label": "Remittance", "similar_existing": [{"label": "Payment", "similarity": 0.93}]}
    ]
