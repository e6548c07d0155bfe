"""Write the snapshots of all tool definitions: ``make snapshots``."""

import asyncio
import json

from tests.protocol.support import EVERYTHING, SNAPSHOTS, definition_of, definitions


async def main() -> None:
    """One file a tool; files of tools that are gone are removed."""
    tools = await definitions(EVERYTHING)
    SNAPSHOTS.mkdir(exist_ok=True)
    for stale in set(SNAPSHOTS.glob("*.json")) - {SNAPSHOTS / f"{tool.name}.json" for tool in tools}:
        stale.unlink()
    for tool in tools:
        content = json.dumps(definition_of(tool), indent=1, ensure_ascii=False) + "\n"
        (SNAPSHOTS / f"{tool.name}.json").write_text(content, encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(main())
