"""The least an MCP server with as many tools as ours can be: the other side of the start-up figure."""

import sys

from mcp.server.mcpserver import MCPServer


def main() -> None:
    """Serve over stdio; the argument is how many tools."""
    server = MCPServer("bare", instructions="Nothing here does anything.")
    for number in range(int(sys.argv[1])):
        server.add_tool(_answer, name=f"tool_{number}", description="Say what was asked.")
    server.run("stdio")


def _answer(query: str, group_ids: list[str] | None = None, limit: int = 10) -> dict[str, str]:
    return {"query": query, "groups": ",".join(group_ids or []), "limit": str(limit)}


if __name__ == "__main__":
    main()
