"""How texts find nodes of scratch graphs through the tools: exact, normalised, similar, ambiguous, not at all."""

import pytest
from mcp.client import Client
from tests.protocol.scratch_support import F6_NODES, ToldEmbedder, add, build_f6, call
from tests.protocol.support import EVERYTHING, World, error_of

SERVICES = {"Auth Service": 0.82, "Payment Service": 0.81, "Email Service": 0.79}


@pytest.fixture
def world(embedder: ToldEmbedder) -> World:
    return World(EVERYTHING, embedder=embedder)


async def test_an_ambiguous_end_adds_nothing_and_asks_with_candidates(client: Client, embedder: ToldEmbedder) -> None:
    embedder.tell("Service", SERVICES)
    await add(client, "AuthService", "PaymentService", "EmailService", "Database")
    edge = {"target": "Database", "relation": "reads"}
    answer = await call(client, "add_edge", source="Service", **edge)
    assert answer["status"] == "ambiguous"
    assert answer["source_candidates"] == [
        {"label": "AuthService", "similarity": 0.82},
        {"label": "PaymentService", "similarity": 0.81},
        {"label": "EmailService", "similarity": 0.79},
    ]
    assert answer["target_candidates"] is None
    assert "'Service'" in answer["message"]
    assert "more specific" in answer["message"]
    assert (await call(client, "get_graph_info"))["edge_count"] == 0
    assert (await call(client, "add_edge", source="AuthService", **edge))["created"] is True
    both = await call(client, "add_edge", source="Service", target="Service", relation="calls")
    assert len(both["source_candidates"]) == len(both["target_candidates"]) == 3


async def test_ends_are_found_by_what_they_are_called_and_answers_tell_what_was_found(client: Client) -> None:
    await build_f6(client)
    arguments = {"source": "auth service", "target": "USER_REPOSITORY", "relation": "asks"}
    answer = await call(client, "add_edge", **arguments)
    assert answer["edge"] == {"source": "AuthService", "target": "UserRepository", "relation": "asks"}
    assert (answer["source_matched"], answer["target_matched"]) == ("AuthService", "UserRepository")
    assert answer["created"] is True
    assert (await call(client, "add_edge", **arguments))["created"] is False
    assert (await call(client, "get_neighbors", node="auth service"))["matched"] == "AuthService"
    found = await call(client, "find_edges", source="auth-service")
    assert found["source_matched"] == "AuthService"
    assert [edge["relation"] for edge in found["edges"]] == ["queries", "asks"]


async def test_case_spaces_hyphens_and_punctuation_are_ignored_only_where_one_label_is_left(client: Client) -> None:
    await add(client, "AuthService", "C", "C++", "C#", "->")
    for query in ("AuthService", "auth service", "AUTH-SERVICE", "auth.service"):
        (match,) = (await call(client, "find_node", query=query))["matches"]
        assert (match["label"], match["similarity"]) == ("AuthService", 1)
    assert [one["label"] for one in (await call(client, "find_node", query="C"))["matches"]] == ["C"]
    await call(client, "remove_node", label="C")
    assert {one["label"] for one in (await call(client, "find_node", query="c"))["matches"]} == {"C++", "C#"}
    message = error_of(await client.call_tool("get_neighbors", {"node": "C"}))
    assert "'C++'" in message
    assert "'C#'" in message
    assert (await call(client, "find_node", query="=>"))["matches"] == []


async def test_only_what_is_as_similar_as_the_threshold_is_found(client: Client, embedder: ToldEmbedder) -> None:
    embedder.tell("gatekeeper", {"Turnstile": 0.75, "Lock": 0.74})
    await add(client, "Turnstile", "Lock")
    answer = await call(client, "find_node", query="gatekeeper")
    assert [(one["label"], one["similarity"]) for one in answer["matches"]] == [("Turnstile", 0.75)]
    assert (await call(client, "get_neighbors", node="gatekeeper"))["matched"] == "Turnstile"
    await call(client, "remove_node", label="Turnstile")
    assert "Lock" in (await call(client, "find_node", query="gatekeeper"))["message"]
    assert "'Lock' (0.740)" in error_of(await client.call_tool("get_neighbors", {"node": "gatekeeper"}))


async def test_what_is_less_similar_than_the_threshold_is_never_shown_as_being_it(
    client: Client, embedder: ToldEmbedder
) -> None:
    embedder.tell("gatekeeper", {"Turnstile": 0.7499})
    await add(client, "Turnstile")
    assert "'Turnstile' (0.749)" in (await call(client, "find_node", query="gatekeeper"))["message"]
    edge = {"source": "gatekeeper", "target": "Turnstile", "relation": "opens"}
    assert "'Turnstile' (0.749)" in error_of(await client.call_tool("add_edge", edge))
    answer = await call(client, "add_edge", **edge, create_missing=True)
    assert answer["similar_existing"] is None


async def test_an_edge_between_two_texts_that_mean_one_node_is_refused(client: Client, embedder: ToldEmbedder) -> None:
    embedder.tell("Turnstile", {"gatekeeper": 0.9, "gate keeper": 0.9, "Gate Keeper": 0.9})
    await add(client, "Turnstile")
    for ends in (("gatekeeper", "Turnstile"), ("turnstile", "gatekeeper")):
        edge = {"source": ends[0], "target": ends[1], "relation": "opens"}
        assert (await call(client, "add_edge", **edge))["status"] == "ambiguous"
        batch = await call(client, "add_edges", edges=[edge])
        assert (batch["added"], len(batch["failed"])) == (0, 1)
        assert "'gatekeeper' may mean 'Turnstile' (0.900)" in batch["failed"][0]["reason"]
    await add(client, "gatekeeper")
    for same in (("gatekeeper", "gatekeeper"), ("gate keeper", "Gate-Keeper"), ("Turnstile", "turn-stile")):
        loop = await call(client, "add_edge", source=same[0], target=same[1], relation=f"from {same[0]}")
        assert loop["created"] is True
        assert loop["edge"]["source"] == loop["edge"]["target"]


@pytest.mark.parametrize(("second", "clear"), [(0.86, False), (0.85, False), (0.84, True)])
async def test_the_best_one_is_taken_only_if_it_leads_by_more_than_the_margin(
    client: Client, embedder: ToldEmbedder, second: float, clear: bool
) -> None:
    embedder.tell("gatekeeper", {"Turnstile": 0.90, "Lock": second})
    await add(client, "Turnstile", "Lock")
    answer = await client.call_tool("get_neighbors", {"node": "gatekeeper"})
    assert bool(answer.is_error) is not clear
    if clear:
        assert answer.structured_content is not None
        assert (answer.structured_content["matched"], answer.structured_content["similarity"]) == ("Turnstile", 0.9)


async def test_finding_answers_the_node_the_candidates_or_nothing(client: Client, embedder: ToldEmbedder) -> None:
    names = ["Acorn", "Birch", "Cedar", "Daisy", "Elder", "Fern", "Grass", "Hazel"]
    embedder.tell("plant", {name: 0.9 - number / 100 for number, name in enumerate(names)})
    await add(client, *reversed(names))
    answer = await call(client, "find_node", query="plant")
    assert [one["label"] for one in answer["matches"]] == names[:5]
    assert [one["similarity"] for one in answer["matches"]] == [0.9, 0.89, 0.88, 0.87, 0.86]
    exact = (await call(client, "find_node", query="Cedar"))["matches"]
    assert (exact[0]["label"], exact[0]["similarity"]) == ("Cedar", 1)
    assert {"type", "properties"} <= set(exact[0])
    assert (await call(client, "find_node", query="quartz"))["matches"] == []


async def test_adding_takes_only_the_same_label_for_the_same_node(client: Client, embedder: ToldEmbedder) -> None:
    embedder.tell("Auth Service", {"User Service": 0.93})
    assert (await call(client, "add_node", label="AuthService"))["created"] is True
    assert (await call(client, "add_node", label="auth_service"))["created"] is False
    other = await call(client, "add_node", label="UserService")
    assert other["created"] is True
    assert other["similar_existing"] == [{"label": "AuthService", "similarity": 0.93}]
    assert (await call(client, "list_nodes"))["total"] == 2


async def test_what_removes_takes_no_label_for_another(client: Client, embedder: ToldEmbedder) -> None:
    embedder.tell("Auth Service", {"auth servce": 0.95})
    await build_f6(client)
    message = error_of(await client.call_tool("remove_node", {"label": "auth servce"}))
    assert "'AuthService'" in message
    assert "No node 'nobody'" in error_of(await client.call_tool("remove_node", {"label": "nobody"}))
    message = error_of(
        await client.call_tool(
            "remove_edge", {"source": "auth servce", "target": "UserRepository", "relation": "queries"}
        )
    )
    assert "'AuthService'" in message
    assert (await call(client, "get_graph_info"))["edge_count"] == 3
    answer = await call(client, "remove_node", label="auth service")
    assert (answer["success"], answer["removed"], answer["edges_removed"]) == (True, "AuthService", 2)
    assert (await call(client, "get_graph_info"))["edge_count"] == 1


async def test_an_end_that_is_no_node_is_an_error_that_says_what_to_do(client: Client, embedder: ToldEmbedder) -> None:
    embedder.tell("Databse Server", {"Postgres DB": 0.6})
    await build_f6(client)
    arguments = {"source": "AuthService", "target": "DatabseServer", "relation": "uses"}
    message = error_of(await client.call_tool("add_edge", arguments))
    for part in (
        "target",
        "'DatabseServer'",
        "'PostgresDB' (0.600)",
        "add_node",
        "create_missing",
        "Nothing was added",
    ):
        assert part in message
    answer = await call(client, "add_edge", **arguments, create_missing=True)
    assert (answer["created"], answer["nodes_created"]) == (True, ["DatabseServer"])
    assert (await call(client, "get_graph_info"))["node_count"] == 5


async def test_creating_what_is_missing_takes_nothing_similar_instead(client: Client, embedder: ToldEmbedder) -> None:
    embedder.tell("Auth Service", {"User Service": 0.93})
    await add(client, "AuthService")
    answer = await call(
        client, "add_edge", source="UserService", target="auth service", relation="calls", create_missing=True
    )
    assert answer["edge"]["source"] == "UserService"
    assert answer["similar_existing"] == [
        {"label": "UserService", "similar_existing": [{"label": "AuthService", "similarity": 0.93}]}
    ]


async def test_numbers_and_single_letters_tell_nodes_apart(client: Client, embedder: ToldEmbedder) -> None:
    embedder.tell("order 12", {"Order 11": 0.97})
    embedder.tell("hypothesis B", {"Hypothesis A": 0.95})
    await add(client, "Order 11", "Hypothesis A")
    for text, near in (("order 12", "Order 11"), ("hypothesis B", "Hypothesis A")):
        assert near in error_of(await client.call_tool("get_neighbors", {"node": text}))


async def test_labels_are_embedded_once_in_one_call_and_forgotten_with_their_node(client: Client, world: World) -> None:
    labels = [f"{word} {number}" for number in range(50) for word in ("alpha", "beta")]
    await call(client, "add_nodes", nodes=[{"label": label} for label in labels])
    assert [len(texts) for texts in world.embedder.calls] == [100]
    await call(client, "add_nodes", nodes=[{"label": label.upper()} for label in labels])
    await call(client, "add_edge", source="ALPHA-1", target="beta_2", relation="next")
    assert len(world.embedder.calls) == 1
    await call(client, "remove_node", label="alpha 1")
    await call(client, "add_node", label="alpha 1")
    assert world.embedder.calls[1:] == [["alpha 1"]]


async def test_without_a_model_labels_still_match_and_typos_have_candidates(client: Client, world: World) -> None:
    world.embedder.is_available = False
    await build_f6(client)
    assert (await call(client, "add_edge", source="auth service", target="postgres_db", relation="uses"))["created"]
    answer = await call(client, "find_node", query="auth servce")
    assert [one["label"] for one in answer["matches"]] == ["AuthService"]
    assert "no embedding model" in answer["note"]
    message = error_of(
        await client.call_tool("add_edge", {"source": "auth servce", "target": "PostgresDB", "relation": "uses"})
    )
    assert "'AuthService'" in message
    assert "no embedding model" in message


async def test_no_tool_of_scratch_graphs_asks_for_or_gives_an_id(client: Client) -> None:
    await build_f6(client)
    answers = [
        await call(client, "list_nodes"),
        await call(client, "find_edges"),
        await call(client, "get_neighbors", node="AuthService"),
        await call(client, "subgraph", nodes=[node["label"] for node in F6_NODES]),
        await call(client, "find_node", query="AuthService"),
    ]
    assert not [name for answer in answers for name in names_in(answer) if name in {"id", "uuid", "index", "node_id"}]
    for tool in (await client.list_tools()).tools:
        if tool.name in {"add_node", "add_edges", "find_edges", "remove_node", "subgraph", "get_neighbors"}:
            assert not [name for name in names_in(tool.input_schema) if name == "id" or name.endswith("_id")]


def names_in(value: object) -> list[str]:
    if isinstance(value, dict):
        return [*value, *(name for part in value.values() for name in names_in(part))]
    return [name for part in value for name in names_in(part)] if isinstance(value, list) else []
