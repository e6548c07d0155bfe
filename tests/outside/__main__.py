"""Run the tests of another memory server against ours: ``python -m tests.outside {neo4j,reference} DIRECTORY``.

DIRECTORY is ``servers/mcp-neo4j-memory`` of neo4j-contrib/mcp-neo4j, or ``src/memory`` of
modelcontextprotocol/servers. The first needs pytest-asyncio and aiohttp in the interpreter ``--python``; the second
Node and ``npm install`` in DIRECTORY. DOCS/compat.md lists what is left out, and why.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
PROMPTS = HERE.parent / "data" / "other_servers"
COMMAND = Path(sys.executable).with_name("graphiti-pkm")

LEFT_OUT_NEO4J = {
    "test_http_tools_list": "expects read_graph in the list of tools",
    "test_cors_preflight_empty_default_origins": "refuses a preflight with 400; ours has 405: there is no CORS",
    "test_cors_preflight_any_origin_blocked": "as before",
    "test_cors_preflight_malicious_origin_blocked": "as before",
    "test_cors_restricted_server_allowed_origin": "--allow-origins: no page of a browser is let in",
    "test_cors_restricted_server_disallowed_origin": "as before",
    "test_cors_restricted_server_trusted_site": "as before",
    "test_dns_rebinding_protection_untrusted_hosts": "refuses an unknown host with 400; ours has 421",
    "test_dns_rebinding_custom_allowed_hosts": "shuts localhost out where other hosts are named; ours adds to loopback",
}
LEFT_OUT_REFERENCE = {
    "should handle JSONL format correctly": "reads its file; ours is a database",
    "should strip type field from entities when loading from file": "as before",
}


def neo4j(source: Path, python: str) -> int:
    """Their integration tests with their fixtures; ``uv run mcp-neo4j-memory`` starts our server."""
    with tempfile.TemporaryDirectory() as directory:
        work = Path(directory)
        shutil.copytree(source / "tests" / "integration", work / "integration")
        shutil.copy(HERE / "neo4j_memory.py", work)
        uv = work / "bin" / "uv"
        uv.parent.mkdir()
        uv.write_text(f'#!/bin/sh\nexec {sys.executable} {HERE / "uv_run.py"} "$@"\n', encoding="utf-8")
        uv.chmod(0o755)
        left_out = " or ".join(LEFT_OUT_NEO4J)
        return subprocess.run(
            [
                *(python, "-m", "pytest", "-p", "neo4j_memory", "-q", "-k", f"not ({left_out})", "integration"),
                *("-o", "python_files=*_IT.py", "-p", "no:cacheprovider"),
            ],
            cwd=work,
            env=os.environ
            | {
                "PATH": f"{uv.parent}{os.pathsep}{os.environ['PATH']}",
                "PYTHONPATH": str(work),
                "OUTSIDE_COMMAND": str(COMMAND),
                "OUTSIDE_DATA": str(work / "data"),
            },
            check=False,
        ).returncode


def reference(source: Path) -> int:
    """Their tests of the graph; ``index.ts`` is a client of our server, one group for each of their files."""
    with tempfile.TemporaryDirectory() as directory:
        work = Path(directory)
        (work / "__tests__").mkdir()
        shutil.copy(source / "__tests__" / "knowledge-graph.test.ts", work / "__tests__")
        shutil.copy(HERE / "reference_memory.ts", work / "index.ts")
        shutil.copy(source / "package.json", work)
        (work / "node_modules").symlink_to((source / "node_modules").resolve())
        left_out = "|".join(LEFT_OUT_REFERENCE)
        return subprocess.run(
            ["npx", "vitest", "run", "--testTimeout=60000", "--hookTimeout=60000", "-t", f"^(?!.*({left_out})).*$"],
            cwd=work,
            env=os.environ | {"OUTSIDE_COMMAND": str(COMMAND), "OUTSIDE_DATA": str(work / "data")},
            check=False,
        ).returncode


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", choices=["neo4j", "reference"])
    parser.add_argument("directory", type=Path)
    parser.add_argument("--python", default=sys.executable, help="interpreter with pytest-asyncio and aiohttp")
    asked = parser.parse_args()
    prompt = (PROMPTS / f"{asked.suite}_prompt.txt").read_text(encoding="utf-8")
    if prompt not in (asked.directory / "README.md").read_text(encoding="utf-8"):
        print(f"The prompt in their README is another one now: {PROMPTS}", file=sys.stderr)  # noqa: T201
        return 1
    if asked.suite == "neo4j":
        return neo4j(asked.directory, asked.python)
    return reference(asked.directory)


if __name__ == "__main__":
    sys.exit(main())
