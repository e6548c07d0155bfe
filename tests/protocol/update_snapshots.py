"""Write the snapshots of all tool definitions: ``make snapshots``."""

import asyncio
import json

from tests.protocol.support import SNAPSHOTS, SPECS, definition_named


async def main() -> None:
    """One file a tool; files of tools that are gone are removed."""
    SNAPSHOTS.mkdir(exist_ok=True)
    for stale in set(SNAPSHOTS.glob("*.json")) - {SNAPSHOTS / f"{name}.json" for name in SPECS}:
        stale.unlink()
    for name in SPECS:
        content = json.dumps(await definition_named(name), indent=1, ensure_ascii=False) + "\n"
        (SNAPSHOTS / f"{name}.json").write_text(content, encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(main())
