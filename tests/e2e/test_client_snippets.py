"""What users copy into their clients, started from the files that it is copied from."""

import json
import os
import re
import shlex
import tempfile
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from mcp import StdioServerParameters
from mcp.client import Client
from mcp.client.stdio import stdio_client
from tests.docker_env import fixed_by_compose
from tests.e2e.npm_clients import SOURCES, installed
from tests.e2e.support import COMMAND, call, environment, over_http, run, serving
from tests.protocol.support import DEFAULT_TOOLS, error_of

ROOT = Path(__file__).resolve().parents[2]
CLIENTS = ROOT / "examples" / "clients"
THERE = "127.0.0.1:8000"
LIBRECHAT_IN_CONTAINERS = ROOT / "docker" / "librechat.yaml"
FILES = sorted(path.name for path in CLIENTS.iterdir())
FIRST, SECOND = "66f0c2a1b5d4e3f2a1b0c9d8", "66f0c2a1b5d4e3f2a1b0c9d9"
"""As LibreChat numbers its users."""


def server_of(text: str) -> Any:
    """The one server that a client's configuration names."""
    loaded = tomllib.loads(text) if text.startswith("[") else yaml.safe_load(text)  # JSON is YAML, too
    (servers,) = (loaded[name] for name in SERVERS if name in loaded)
    ((name, server),) = servers.items()
    assert name == ("graphiti-pkm" if "extensions" in loaded else "memory")
    return server


def words_of(file: str) -> list[str]:
    """The command line of a script of one line."""
    return shlex.split((CLIENTS / file).read_text(encoding="utf-8"))


def command_of(file: str) -> list[str]:
    """What a client that reads this file starts; none if it connects to a port."""
    if file.endswith(".sh"):
        words = words_of(file)
        return words[words.index("--") + 1 :] if "--" in words else []
    server = server_of((CLIENTS / file).read_text(encoding="utf-8"))
    command = server.get("command") or server.get("cmd")  # Goose's word
    return [command, *server["args"]] if command else []


def http_server_of(file: str, url: str) -> dict[str, Any]:
    """The server that a client connects to over HTTP by this file, at another address."""
    text = (CLIENTS / file).read_text(encoding="utf-8")
    assert THERE in text
    if not file.endswith(".sh"):
        found: dict[str, Any] = server_of(text.replace(f"//{THERE}", f"//{url.removeprefix('http://')}"))
        return found
    words = words_of(file)
    assert words[:6] == ["claude", "mcp", "add", "--transport", "http", "memory"]
    address, option, header = words[6:]
    assert option == "--header"
    name, _, value = header.partition(": ")
    return {"url": address.replace(f"http://{THERE}", url), "headers": {name: value}}


def headers_of(server: Mapping[str, Any], **filled: str) -> dict[str, str]:
    """Headers as a client sends them: places for values filled in."""
    headers = dict(server.get("headers", {}))
    for place, value in filled.items():
        headers = {name: text.replace(place, value) for name, text in headers.items()}
    return headers


SERVERS = ("servers", "mcpServers", "context_servers", "mcp_servers", "extensions")
"""What clients call the table of their servers."""
STDIO = [file for file in FILES if command_of(file)[:1] == ["graphiti-pkm"]]
BRIDGED = [file for file in FILES if command_of(file) and file not in STDIO]
WITH_TOKEN = [file for file in FILES if not command_of(file) and file != "librechat-http.yaml"]
ON_THIS_MACHINE = ("zed", "codex", "goose", "open-webui")
NAMED = ("claude-desktop", "claude-code", "cursor", "vscode", "librechat")


def test_every_client_named_in_the_readme_has_a_snippet() -> None:
    for client in NAMED:
        assert any(file.startswith(client) for file in STDIO), client
        assert any(file.startswith(client) for file in WITH_TOKEN + BRIDGED), client
    assert all(any(file.startswith(client) for file in STDIO) for client in ON_THIS_MACHINE)
    assert [len(STDIO), len(WITH_TOKEN), BRIDGED] == [9, 6, ["claude-desktop-http.json"]]


def blocks_of(page: str) -> list[tuple[str, str]]:
    """The blocks of a page: their languages and texts."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("file", FILES)
def test_the_page_of_clients_shows_the_file_word_for_word(file: str) -> None:
    assert (CLIENTS / file).read_text(encoding="utf-8") in [text for _, text in blocks_of("DOCS/clients.md")]


@pytest.mark.parametrize(("page", "shown"), [("README.md", 3), ("DOCS/clients.md", 14)])
def test_every_configuration_on_a_page_is_a_file(page: str, shown: int) -> None:
    configurations = [text for language, text in blocks_of(page) if language in {"json", "yaml", "toml"}]
    files = {(CLIENTS / file).read_text(encoding="utf-8") for file in FILES}
    assert len(configurations) == shown
    assert set(configurations) <= files


@pytest.mark.parametrize("file", STDIO)
async def test_the_command_of_a_snippet_serves(file: str, shared_dir: Path, tmp_path: Path) -> None:
    command, *arguments = command_of(file)
    on_path = {"PATH": f"{Path(COMMAND).parent}{os.pathsep}{os.environ['PATH']}"}
    parameters = StdioServerParameters(
        command=command,
        args=arguments,
        env=environment(data_dir=shared_dir) | on_path,
        cwd=tempfile.gettempdir(),
    )
    with (tmp_path / "log").open("w") as log:
        async with Client(stdio_client(parameters, errlog=log)) as client:
            assert len((await client.list_tools()).tools) == DEFAULT_TOOLS
            assert (await call(client, "get_status"))["status"] == "ok"


async def test_librechats_snippet_reaches_a_server_without_tokens(data_dir: Path) -> None:
    text = (CLIENTS / "librechat-http.yaml").read_text(encoding="utf-8")
    address = yaml.safe_load(text)["mcpSettings"]["allowedAddresses"][0]
    with serving(data_dir) as served:
        server = server_of(text.replace(address, served.url.removeprefix("http://")))
        assert server["url"] == served.endpoint
        async with over_http(server["url"], **headers_of(server)) as client:
            assert len((await client.list_tools()).tools) == DEFAULT_TOOLS


@pytest.mark.parametrize("file", WITH_TOKEN)
async def test_a_snippet_for_http_reaches_a_server_with_its_token(file: str, data_dir: Path) -> None:
    is_service = file == "librechat-http-token.yaml"
    name = ["librechat", "--may-impersonate"] if is_service else ["anna"]
    token = json.loads(run("tokens", "create", *name, "--json", data_dir=data_dir).stdout)["token"]
    places = {"${MEMORY_TOKEN}": token, "{{LIBRECHAT_USER_ID}}": FIRST} if is_service else {"TOKEN": token}
    if file == "librechat-user-token.yaml":
        ((asked, _),) = server_of((CLIENTS / file).read_text(encoding="utf-8"))["customUserVars"].items()
        places = {f"{{{{{asked}}}}}": token}
    if file.startswith("vscode"):
        (asked,) = json.loads((CLIENTS / file).read_text(encoding="utf-8"))["inputs"]
        assert (asked["type"], asked["password"]) == ("promptString", True)
        places = {f"${{input:{asked['id']}}}": token}
    with serving(data_dir) as served:
        server = http_server_of(file, served.url)
        assert server["url"] == served.endpoint
        headers = headers_of(server, **places)
        assert token in headers["Authorization"]
        async with over_http(server["url"], **headers) as client:
            assert (await call(client, "get_status"))["status"] == "ok"


@pytest.mark.timeout(300)  # the first run installs it
@pytest.mark.parametrize("file", BRIDGED)
async def test_a_client_that_only_starts_programs_reaches_it_with_its_token(
    file: str, data_dir: Path, tmp_path: Path
) -> None:
    node = installed()
    npx, yes, package, *arguments = command_of(file)
    name, _, version = package.partition("@")
    wanted = json.loads((SOURCES / "package.json").read_text(encoding="utf-8"))["dependencies"]
    assert [npx, yes, version] == ["npx", "-y", wanted[name]]
    given = server_of((CLIENTS / file).read_text(encoding="utf-8"))["env"]
    token = json.loads(run("tokens", "create", "anna", "--tier", "curator", "--json", data_dir=data_dir).stdout)[
        "token"
    ]
    with serving(data_dir) as served, (tmp_path / "log").open("w") as log:
        parameters = StdioServerParameters(
            command=str(node / "node_modules" / ".bin" / name),
            args=[argument.replace(f"http://{THERE}", served.url) for argument in arguments],
            env={**os.environ, "MCP_REMOTE_CONFIG_DIR": str(tmp_path / "mcp-remote")}
            | {variable: value.replace("TOKEN", token) for variable, value in given.items()},
        )
        async with Client(stdio_client(parameters, errlog=log)) as client:
            assert len((await client.list_tools()).tools) == DEFAULT_TOOLS
            assert (await call(client, "get_status"))["status"] == "ok"


async def test_by_librechats_configuration_in_containers_each_user_has_a_memory(data_dir: Path) -> None:
    made = run("tokens", "create", "librechat", "--may-impersonate", "--tier", "curator", "--json", data_dir=data_dir)
    token = json.loads(made.stdout)["token"]
    text = LIBRECHAT_IN_CONTAINERS.read_text(encoding="utf-8")
    host = yaml.safe_load(text)["mcpSettings"]["allowedAddresses"][0]
    assert host == f"memory:{fixed_by_compose()['GRAPHITI_PKM_PORT']}"
    with serving(data_dir, host="0.0.0.0") as served:  # noqa: S104  as in the container
        server = server_of(text.replace(f"http://{host}", served.url))
        assert server["url"] == served.endpoint
        found = {}
        for user in (FIRST, SECOND):
            filled = {"${MEMORY_TOKEN}": token, "{{LIBRECHAT_USER_ID}}": user}
            # The name by which containers reach each other.
            async with over_http(server["url"], **headers_of(server, **filled), host=host) as client:
                if user == FIRST:
                    await call(client, "add_memory", episode_body="The kayak is in the boathouse.")
                found[user] = (await call(client, "search_episodes", query="kayak"))["returned"]
        assert found == {FIRST: 1, SECOND: 0}

        # So it asks for the tools as it starts, before there is a user.
        async with over_http(server["url"], **headers_of(server, **{"${MEMORY_TOKEN}": token})) as client:
            assert len((await client.list_tools()).tools) == DEFAULT_TOOLS
            assert "X-User-ID" in error_of(await client.call_tool("get_status", {}))
