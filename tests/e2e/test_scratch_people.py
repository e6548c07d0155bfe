"""Twenty people with tokens and scratch graphs on one server over HTTP, answered by whichever worker they meet."""

import asyncio
import os
import re
import signal
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.e2e.support import Served, call, over_http, serving, until
from tests.e2e.test_workers import workers_of

from graphiti_pkm.core.model.access import Token
from graphiti_pkm.server.auth.tokens import hash_of, new_secret, write_tokens

PEOPLE = 20
GRAPHS = ("default", "plan")
ROUNDS = 3


@pytest.fixture
def tokens(data_dir: Path) -> list[str]:
    """Every other one is a token of the person before, held to a group."""
    secrets = [new_secret() for _ in range(PEOPLE)]
    issued = [
        Token(
            hash=hash_of(secret),
            created=datetime.now(UTC),
            tier="contributor",
            principal=f"person{number // 2}",
            groups=("work",) * (number % 2),
        )
        for number, secret in enumerate(secrets)
    ]
    write_tokens(data_dir / "tokens.json", issued)
    return secrets


@pytest.fixture
def server(request: pytest.FixtureRequest, data_dir: Path, tokens: list[str]) -> Iterator[Served]:
    assert tokens
    limits = {"calls_per_minute": 100_000, "writes_per_minute": 100_000}
    with serving(data_dir, toolsets="reasoning", workers=request.param, **limits) as served:
        until(served.ready, "the database")
        yield served


async def _draw(served: Served, secret: str, person: int, around: int) -> None:
    """One round of a person, over a connection of its own."""
    async with over_http(served.endpoint, authorization=f"Bearer {secret}") as client:
        for graph in GRAPHS:
            edges = [
                {"source": "me", "target": f"step {around} of {person} in {graph}", "relation": f"took {n}"}
                for n in range(2)
            ]
            made = await call(client, "add_edges", edges=edges, create_missing=True, graph=graph)
            assert (made["added"], made["existing"]) == (2, 0)


async def _has(served: Served, secret: str) -> dict[str, set[str]]:
    """The nodes of each graph of a person."""
    async with over_http(served.endpoint, authorization=f"Bearer {secret}") as client:
        names = [one["name"] for one in (await call(client, "list_graphs"))["graphs"]]
        found = {name: await call(client, "list_nodes", graph=name, limit=500) for name in names}
        return {name: {node["label"] for node in one["nodes"]} for name, one in found.items()}


async def _pictures(served: Served, secret: str) -> dict[str, set[str]]:
    """The words in the picture of each graph of a person, of which every label is one line."""
    async with over_http(served.endpoint, authorization=f"Bearer {secret}") as client:
        found = {}
        for graph in GRAPHS:
            (svg,) = (await client.read_resource(f"pkm://scratch/{graph}.svg")).contents
            texts = re.findall(r"<g fill='#1b2430' text-anchor='middle'>(.*?)</g>", svg.model_dump()["text"], re.DOTALL)
            found[graph] = set(re.findall(r"<text[^>]*>([^<]*)</text>", "".join(texts)))
        return found


def _drawn(person: int) -> dict[str, set[str]]:
    return {graph: {"me", *(f"step {n} of {person} in {graph}" for n in range(ROUNDS))} for graph in GRAPHS}


@pytest.mark.timeout(180)
@pytest.mark.parametrize("server", [1, 2], indirect=True)
async def test_everybody_finds_their_own_graphs_and_nobody_elses(
    server: Served, tokens: list[str], request: pytest.FixtureRequest
) -> None:
    people = list(enumerate(tokens))
    await asyncio.gather(
        *(_draw(server, secret, person, around) for around in range(ROUNDS) for person, secret in people)
    )
    found = await asyncio.gather(*(_has(server, secret) for _, secret in people))
    assert found == [_drawn(person) for person, _ in people]
    for person, secret in people[:4]:  # each of a worker that some other answers for
        assert await _pictures(server, secret) == _drawn(person)
    if request.node.callspec.params["server"] == 1:
        return
    workers = workers_of(server)
    killed = min(workers)  # each has the graphs of some
    os.kill(killed, signal.SIGKILL)
    await asyncio.to_thread(until, lambda: len(workers_of(server) - {killed}) == 2, "another worker")
    left = await asyncio.gather(*(_has(server, secret) for _, secret in people))
    assert all(one in ({}, _drawn(person)) for person, one in enumerate(left))
    assert {} in left
    assert any(left)
