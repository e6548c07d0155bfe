"""Events of resources: what one process writes is heard by clients of the others, by stdio and by each worker."""

from pathlib import Path
from typing import Any

import anyio
from mcp.client import Client
from mcp.client.subscriptions import Subscription
from mcp.shared.subscriptions import ResourceUpdated
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from tests.e2e.support import CALL_SECONDS, over_http, over_stdio, serving
from tests.protocol.support import answered

MODERN = MODERN_PROTOCOL_VERSIONS[-1]
CHANGES = "pkm://changes"


async def tell(client: Client, name: str) -> str:
    """A fact about Tom; the address of Tom."""
    fact = {"source": "Tom", "relation": "MET", "target": name}
    told = answered(await client.call_tool("add_memory", {"episode_body": f"Tom met {name}.", "facts": [fact]}))
    (tom,) = [one["uuid"] for one in told["entities"] if one["name"] == "Tom"]
    return f"pkm://entity/{tom}"


async def next_of(stream: Subscription) -> str:
    with anyio.fail_after(CALL_SECONDS):
        event: Any = await anext(stream)
    assert isinstance(event, ResourceUpdated)
    return event.uri


async def test_what_any_process_writes_is_heard_over_stdio_and_by_every_worker(tmp_path: Path) -> None:
    with serving(tmp_path / "memory", workers=2) as server:
        async with (
            over_stdio(tmp_path / "memory", mode=MODERN) as local,
            over_http(server.endpoint, mode=MODERN) as first,
            over_http(server.endpoint, mode=MODERN) as second,
        ):
            uri = await tell(local, "Ben")
            async with (
                local.listen(resource_subscriptions=[uri, CHANGES]) as here,
                first.listen(resource_subscriptions=[uri]) as there,
                second.listen(resource_subscriptions=[CHANGES]) as too,
            ):
                for writer, name in ((first, "Eva"), (local, "Ada"), (second, "Kim")):
                    await tell(writer, name)
                    assert [await next_of(here), await next_of(here)] == [uri, CHANGES]
                    assert await next_of(there) == uri
                    assert await next_of(too) == CHANGES
