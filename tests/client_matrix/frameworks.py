"""Frameworks that turn the tools into what a model is shown, and what gets lost on the way."""

import json
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.e2e.npm_clients import installed
from tests.e2e.support import COMMAND, environment

PROGRAMS = Path(__file__).with_name("programs")
SECONDS = 300


@dataclass(frozen=True)
class Offer:
    """Toolsets that go together, and a call of one of their tools with a word of its answer."""

    toolsets: str
    tool: str
    arguments: str
    word: str


OFFERS = {
    "": Offer("memory,graph,reasoning,projects,curation,compat", "get_status", "{}", "data_directory"),
    "reference.": Offer("reference", "search_nodes", '{"query": "nobody"}', "entities"),
}
"""All there is, by what begins the names of the tools here."""


@dataclass(frozen=True)
class Framework:
    """A program with the packages that it needs, by exact version: what it tells should change only when they do."""

    name: str
    program: str
    packages: tuple[str, ...] = ()


FRAMEWORKS = (
    Framework("google-genai", "google_genai.py", ("google-genai==3.3.0", "mcp==2.3.0")),
    Framework("openai-agents, strict", "openai_agents.py", ("openai-agents==0.24.0", "mcp==2.3.0")),
    Framework("langchain-mcp-adapters", "langchain_tools.py", ("langchain-mcp-adapters==0.3.2", "mcp==1.30.0")),
    Framework("pydantic-ai, strict", "pydantic_agent.py", ("pydantic-ai-slim[mcp,openai]==2.68.0",)),
    Framework("AJV, strict", "ajv.mjs"),
)


@dataclass
class Converted:
    """What a framework makes of all tools."""

    versions: Mapping[str, str]
    tools: dict[str, Any]
    """The schema of each as a model is shown it; None if the framework cannot convert it."""
    called: bool

    @property
    def unchanged(self) -> list[str]:
        return sorted(name for name, schema in self.tools.items() if schema is None)


def converted(framework: Framework, data_dir: Path) -> Converted:
    """Run a framework against all toolsets."""
    found = {prefix: _run(framework, offer, data_dir) for prefix, offer in OFFERS.items()}
    tools = {prefix + name: schema for prefix, one in found.items() for name, schema in one["tools"].items()}
    return Converted(found[""]["versions"], tools, all(one["called"] for one in found.values()))


def _run(framework: Framework, offer: Offer, data_dir: Path) -> dict[str, Any]:
    asked = [offer.tool, offer.arguments, offer.word]
    server = [COMMAND, "serve", "--data-dir", str(data_dir), "--toolsets", offer.toolsets]
    program = PROGRAMS / framework.program
    if program.suffix == ".mjs":
        command = ["node", str(shutil.copy(program, installed()))]
    else:
        with_packages = [word for package in framework.packages for word in ("--with", package)]
        python = f"{sys.version_info.major}.{sys.version_info.minor}"
        uv = str(Path(sys.executable).with_name("uv"))
        run = [uv, "run", "--quiet", "--no-project", "--isolated", "--python", python, *with_packages]
        command = [*run, "python", str(program)]
    with tempfile.TemporaryDirectory() as elsewhere:
        done = subprocess.run(
            [*command, *asked, *server],
            cwd=elsewhere,
            env=environment(),
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
        )
    assert done.returncode == 0, f"{framework.name}: {done.stderr[-3000:]}"
    said: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return said


def lost(original: Mapping[str, Any], shown: Mapping[str, Any]) -> Counter[str]:
    """Keywords of a schema that the converted one has less often: how many are missing."""
    return Counter(_keywords(original)) - Counter(_keywords(shown))


def _keywords(schema: Any) -> Iterator[str]:
    if not isinstance(schema, Mapping):
        return
    for key, part in schema.items():
        if key == "properties":
            yield from ("property",) * len(part)
            for inner in part.values():
                yield from _keywords(inner)
        elif key in {"items", "additionalProperties"}:
            yield from _keywords(part)
        elif key in {"anyOf", "allOf", "oneOf"}:
            for inner in part:
                yield from _keywords(inner)
        elif key == "required":
            yield from ("required",) * len(part)
        else:
            yield key
