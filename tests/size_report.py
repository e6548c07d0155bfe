"""Print the size of modules and of the tool definitions; fail where a module has grown beyond reading."""

import asyncio
import sys
from pathlib import Path

from tests.protocol.support import BUDGET, budget_used

PACKAGE = Path(__file__).resolve().parents[1] / "mcp_server" / "graphiti_pkm"
MOST_LINES = 600


def module_sizes() -> dict[str, int]:
    """Lines of every module of the package."""
    return {
        str(path.relative_to(PACKAGE)): len(path.read_text(encoding="utf-8").splitlines())
        for path in PACKAGE.rglob("*.py")
    }


def main() -> int:
    """Print the report; 1 if a module is too long."""
    sizes = module_sizes()
    longest = sorted(sizes.items(), key=lambda item: -item[1])[:3]
    print(f"{len(sizes)} modules, {sum(sizes.values())} lines; longest: {longest}")  # noqa: T201
    parts = asyncio.run(budget_used())
    print(f"tools and instructions: {sum(parts.values()):,.0f} of {BUDGET:,} tokens (bytes / 4); {parts}")  # noqa: T201
    too_long = {name: lines for name, lines in sizes.items() if lines > MOST_LINES}
    if too_long:
        print(f"longer than {MOST_LINES} lines: {too_long}")  # noqa: T201
    return 1 if too_long else 0


if __name__ == "__main__":
    sys.exit(main())
