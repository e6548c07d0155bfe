"""What is published beside the packages: server.json, the manifest of the bundle, links that install with one click.

``make docs`` writes them. All of them follow from pyproject.toml and the descriptions of the settings.
"""

import base64
import json
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.settings.names import environment_name

ROOT = Path(__file__).resolve().parents[1]
SERVER_JSON = ROOT / "server.json"
MANIFEST = ROOT / "packaging" / "mcpb" / "manifest.json"
SCHEMA = ROOT / "packaging" / "server.schema.json"
LINKS_FROM, LINKS_TO = "<!-- one click, by `make docs` -->", "<!-- end of one click -->"

TITLE = "Graphiti PKM"
DESCRIPTION = "A temporal memory for any assistant: who, what, when, and what replaced it. One local file, no key."
"""The registry takes a hundred characters."""
ASKED = {"data_dir": "directory", "person": "string", "timezone": "string"}
"""The settings that somebody who installs by a click is asked for, with the bundle's type of each."""
COMMAND = ("uvx", ["graphiti-pkm", "serve"])


def project() -> dict[str, Any]:
    """The table of pyproject.toml."""
    loaded: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return loaded


def mcp_name() -> str:
    """The name in the MCP registry, which the README repeats as a proof that both are of the same people."""
    owner, name = urlsplit(project()["urls"]["Source"]).path.strip("/").split("/")
    return f"io.github.{owner}/{name}"


def server_json() -> dict[str, Any]:
    """The entry for the MCP registry."""
    its = project()
    variables = [
        {
            "name": environment_name(name),
            "description": Settings.model_fields[name].description,
            "format": "filepath" if kind == "directory" else "string",
        }
        for name, kind in ASKED.items()
    ]
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))["$id"]
    return {
        "$schema": schema,
        "name": mcp_name(),
        "title": TITLE,
        "description": DESCRIPTION,
        "version": its["version"],
        "websiteUrl": its["urls"]["Documentation"],
        "repository": {"url": its["urls"]["Source"], "source": "github"},
        "packages": [
            {
                "registryType": "pypi",
                "identifier": its["name"],
                "version": its["version"],
                "runtimeHint": "uvx",
                "transport": {"type": "stdio"},
                "packageArguments": [{"type": "positional", "value": "serve"}],
                "environmentVariables": variables,
            }
        ],
    }


def manifest() -> dict[str, Any]:
    """The manifest of the bundle for Claude Desktop."""
    its = project()
    user_config = {
        name: {
            "type": kind,
            "title": {"data_dir": "Directory of the memory", "person": "Your name", "timezone": "Time zone"}[name],
            "description": Settings.model_fields[name].description,
            "default": {"data_dir": "${HOME}/graphiti-pkm"}.get(name) or Settings.model_fields[name].default,
            "required": False,
        }
        for name, kind in ASKED.items()
    }
    return {
        "manifest_version": "0.4",
        "name": its["name"],
        "display_name": TITLE,
        "version": its["version"],
        "description": DESCRIPTION,
        "author": {"name": its["authors"][0]["name"], "url": its["urls"]["Source"]},
        "repository": {"type": "git", "url": its["urls"]["Source"]},
        "documentation": its["urls"]["Documentation"],
        "support": its["urls"]["Issues"],
        "license": its["license"],
        "keywords": its["keywords"],
        "server": {
            "type": "uv",
            "entry_point": "server.py",
            "mcp_config": {
                "command": "uv",
                "args": ["run", "--no-dev", "--directory", "${__dirname}", "server.py"],
                "env": {environment_name(name): f"${{user_config.{name}}}" for name in ASKED},
            },
        },
        "tools_generated": True,
        "prompts_generated": True,
        "compatibility": {"platforms": ["darwin", "win32", "linux"], "runtimes": {"python": its["requires-python"]}},
        "user_config": user_config,
    }


def links() -> dict[str, str]:
    """Links by client. A page on the web shows no links to programs, so that each goes by the client's own site."""
    command, arguments = COMMAND
    config: dict[str, Any] = {"command": command, "args": arguments}
    in_base64 = base64.b64encode(_short(config).encode()).decode()
    stdio = {"type": "stdio", **config}
    return {
        "VS Code": f"https://vscode.dev/redirect/mcp/install?name=memory&config={quote(_short(stdio), safe='')}",
        "Cursor": f"https://cursor.com/en/install-mcp?name=memory&config={quote(in_base64, safe='')}",
    }


def _short(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def with_links(text: str) -> str:
    """A page with the links between its marks."""
    shown = " · ".join(f"[{client}]({link})" for client, link in links().items())
    before, _, rest = text.partition(LINKS_FROM)
    return f"{before}{LINKS_FROM}\n{shown}\n{LINKS_TO}{rest.partition(LINKS_TO)[2]}"


def files() -> dict[Path, str]:
    """Each generated file with its text."""
    return {
        path: json.dumps(value, indent=2, ensure_ascii=False) + "\n"
        for path, value in ((SERVER_JSON, server_json()), (MANIFEST, manifest()))
    }
