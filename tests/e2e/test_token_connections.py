"""Callers share the connections of their server to the database, whoever they are and whatever their tier is."""

from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from tests.e2e.support import call, over_http, serving
from tests.falkor import RemoteFalkor
from tests.requirements import requirement

from graphiti_pkm.core.model.access import TIERS, Token
from graphiti_pkm.server.auth.tokens import hash_of, new_secret, write_tokens

CALLERS = 24


def connections(falkor: RemoteFalkor) -> int:
    with falkor.client() as client:
        return len(client.client_list()) - 1


@requirement("T88")
async def test_another_token_costs_no_connection(falkor_server: RemoteFalkor, tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    secrets = [new_secret() for _ in range(CALLERS)]
    entries = [
        {"hash": hash_of(one), "principal": f"p{number}", "tier": TIERS[number % 4], "created": datetime.now(UTC)}
        for number, one in enumerate(secrets)
    ]
    write_tokens(data_dir / "tokens.json", [Token.model_validate(entry) for entry in entries])
    with serving(data_dir, **falkor_server.settings(f"test_{uuid4().hex}", database_connections=6)) as server:
        opened = []
        for secret in secrets:
            async with over_http(server.endpoint, authorization=f"Bearer {secret}") as client:
                assert (await call(client, "get_status"))["groups"] == {}
                await call(client, "search_nodes", query="anybody")
            opened.append(connections(falkor_server))
        assert max(opened) < CALLERS  # of those who write and of those who read six each
