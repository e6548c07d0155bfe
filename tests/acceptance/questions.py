"""What the acceptance tests ask of a memory in the words of a person."""

from typing import Any

from mcp.client import Client
from tests.e2e.support import call


async def entity(client: Client, name: str, group_id: str) -> str:
    """The uuid of the one entity of this name."""
    (node,) = (await call(client, "search_nodes", names=[name], group_ids=group_id, max_nodes=1))["nodes"]
    assert node["name"] == name
    return str(node["uuid"])


async def facts_of(client: Client, name: str, relation: str, group_id: str, **narrowed: Any) -> list[dict[str, Any]]:
    """All facts of an entity under a relation that start from it."""
    page = await call(
        client,
        "get_entity_connections",
        entity_uuid=await entity(client, name, group_id),
        relation=relation,
        direction="out",
        **narrowed,
    )
    assert page["truncated"] is False
    return list(page["facts"])


def day(moment: str | None) -> str | None:
    """The date of an instant."""
    return moment and moment[:10]
