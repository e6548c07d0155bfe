"""What registries, Claude Desktop, VS Code and Cursor read about this package."""

import base64
import json
import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import jsonschema
import pytest
from tests.published_entries import (
    DESCRIPTION,
    MANIFEST,
    ROOT,
    SCHEMA,
    SERVER_JSON,
    files,
    links,
    mcp_name,
    project,
    with_links,
)  # fmt: skip

from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.settings.names import environment_name

SERVED = {"command": "uvx", "args": ["graphiti-pkm", "serve"]}


@pytest.mark.parametrize("path", sorted(files()), ids=lambda path: path.name)
def test_a_generated_entry_is_what_the_code_says(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == files()[path], "run `make docs`"


@pytest.mark.parametrize("page", ["README.md", "DOCS/clients.md"])
def test_the_links_of_a_page_are_what_the_code_says(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert text == with_links(text), "run `make docs`"
    assert all(link in text for link in links().values())


def test_the_registrys_entry_is_valid_by_the_published_schema() -> None:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    entry = json.loads(SERVER_JSON.read_text(encoding="utf-8"))
    jsonschema.Draft7Validator(schema).validate(entry)
    assert entry["$schema"] == schema["$id"]
    for name, wrong in (("description", 101 * "x"), ("name", "no-namespace"), ("packages", [{"identifier": "x"}])):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.Draft7Validator(schema).validate(entry | {name: wrong})


def test_the_entries_name_this_version_this_package_and_settings_that_there_are() -> None:
    entry, bundle = (json.loads(path.read_text(encoding="utf-8")) for path in (SERVER_JSON, MANIFEST))
    (package,) = entry["packages"]
    assert {entry["version"], package["version"], bundle["version"]} == {project()["version"]}
    assert {package["identifier"], bundle["name"]} == {project()["name"]}
    known = {environment_name(name) for name in Settings.model_fields}
    assert {one["name"] for one in package["environmentVariables"]} | set(
        bundle["server"]["mcp_config"]["env"]
    ) <= known
    assert len(DESCRIPTION) <= 100


def test_the_readme_and_the_image_prove_that_they_are_of_the_same_people() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"<!-- mcp-name: (\S+) -->", readme) == [mcp_name()]
    dockerfile = (ROOT / "docker" / "Dockerfile").read_text(encoding="utf-8")
    assert f'io.modelcontextprotocol.server.name="{mcp_name()}"' in dockerfile
    assert f'org.opencontainers.image.source="{project()["urls"]["Source"]}"' in dockerfile


def test_the_links_hold_the_server_as_each_client_decodes_it() -> None:
    code, cursor = (parse_qs(urlsplit(links()[client]).query) for client in ("VS Code", "Cursor"))
    assert (code["name"], cursor["name"]) == (["memory"], ["memory"])
    assert json.loads(code["config"][0]) == {"type": "stdio", **SERVED}
    assert json.loads(base64.b64decode(cursor["config"][0], validate=True)) == SERVED
