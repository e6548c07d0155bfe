"""The configurations of DOCS/models.md, each run as it stands against a server in the manner of the one it names."""

import hashlib
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest
from graphiti_core.llm_client.config import ModelSize
from graphiti_core.prompts import prompt_library
from graphiti_core.prompts.extract_nodes import ExtractedEntities
from tests.builders import GROUP, new_uuid
from tests.fakes import FakeJournal
from tests.scripted_model import ScriptedModel
from tests.write_docs import DOCS

from graphiti_pkm.core.model.job_records import ExtractJob
from graphiti_pkm.core.ports.extraction import Budget, ModelLedger
from graphiti_pkm.graphiti_adapter.language_model import language_model
from graphiti_pkm.settings.loader import Settings, load_settings

KEYS = {name: f"sk-{name}" for name in ("OPENAI_API_KEY", "VLLM_API_KEY", "OPENROUTER_API_KEY")}
PAGE = (DOCS / "models.md").read_text(encoding="utf-8")
DAY = "2026-03-01"


@dataclass(frozen=True)
class Server:
    """How a server behaves, and what it is asked in the end."""

    address: str
    key: str | None
    behaviour: dict[str, Any] = field(default_factory=dict)
    mode: str = "json_schema"
    limit: str = "max_tokens"


SERVERS = {
    "OpenAI": Server(
        "https://api.openai.com/v1",
        KEYS["OPENAI_API_KEY"],
        {"refused_fields": ("max_tokens", "temperature")},
        limit="max_completion_tokens",
    ),
    "Ollama": Server("http://localhost:11434/v1", None, {"is_plain": True, "thinks": True}),
    "vLLM": Server("http://localhost:8000/v1", KEYS["VLLM_API_KEY"], {"refused_fields": ("max_completion_tokens",)}),
    "LM Studio": Server(
        "http://localhost:1234/v1", None, {"is_plain": True, "supports_json_object": False, "tells_usage": False}
    ),
    "OpenRouter": Server(
        "https://openrouter.ai/api/v1",
        KEYS["OPENROUTER_API_KEY"],
        {"is_plain": True, "fenced": True, "supports_json_schema": False},
        mode="json_object",
    ),
}


class Diversion(httpx2.AsyncHTTPTransport):
    """Carries what is meant for one address to the scripted server, over real HTTP; nothing else may be sent."""

    def __init__(self, address: str, server: ScriptedModel) -> None:
        super().__init__()
        self._address = address
        self._server = server

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        assert str(request.url) == f"{self._address}/chat/completions"
        headers = [(name, value) for name, value in request.headers.multi_items() if name != "host"]
        diverted = httpx2.Request(
            request.method, f"{self._server.url}/chat/completions", headers=headers, content=await request.aread()
        )
        return await super().handle_async_request(diverted)


def configuration(heading: str) -> str:
    found = re.search(rf"^### {heading}$.*?```yaml\n(.*?)```", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


@pytest.fixture
async def ledger() -> AsyncIterator[ModelLedger]:
    queue = FakeJournal().extractions
    (job_id,) = await queue.enqueue(GROUP, [ExtractJob(uuid=new_uuid(), episode_uuid=new_uuid())])
    assert await queue.claim("me", 30)
    yield queue.ledger(job_id, Budget(), DAY)
    assert (await queue.spent(DAY)).calls == 2
    assert (await queue.spent(DAY)).prompt_tokens > 100


def test_the_page_has_a_configuration_for_each_of_these_servers() -> None:
    assert re.findall(r"^### (.+)$", PAGE, re.MULTILINE) == list(SERVERS)


@pytest.mark.parametrize("name", SERVERS)
async def test_a_configuration_works_with_a_server_of_that_manner(
    name: str, tmp_path: Path, scripted_model: ScriptedModel, ledger: ModelLedger
) -> None:
    server = SERVERS[name]
    config = tmp_path / "memory.yaml"
    config.write_text(configuration(name))
    settings = load_settings({}, KEYS, tmp_path, config).settings
    model = language_model(settings, transport=Diversion(server.address, scripted_model))
    assert model is not None
    names = {settings.llm_model, settings.llm_small_model or settings.llm_model}
    scripted_model.change(models=tuple(names), api_key=server.key, **server.behaviour)

    client = model.for_job(ledger)
    for size, other in ((ModelSize.medium, "Globex Inc"), (ModelSize.small, "Initech")):
        messages = reading(f"Anna Berg WORKS_AT {other}.")
        answer = await client.generate_response(messages, ExtractedEntities, model_size=size)
        assert {one["name"] for one in answer["extracted_entities"]} == {"Anna Berg", other}
    await client.finish()
    await model.close()

    asked = scripted_model.requests[-1]
    assert asked.mode == server.mode
    assert asked.body[server.limit] == settings.llm_max_tokens
    keys = [hashlib.sha256(f"Bearer {server.key}".encode()).hexdigest()] if server.key else []
    assert scripted_model.stats.authorizations == keys


def reading(text: str) -> Any:
    """Graphiti's own prompt for the entities of a text."""
    types = [{"entity_type_id": 0, "entity_type_name": "Entity", "entity_type_description": "Anything"}]
    return prompt_library.extract_nodes.extract_text(
        {
            "episode_content": text,
            "episode_timestamp": "2026-03-01T00:00:00Z",
            "previous_episodes": [],
            "custom_extraction_instructions": "",
            "entity_types": types,
            "source_description": "",
        }
    )


def test_the_page_says_what_leaves_the_machine_in_each_mode() -> None:
    table = PAGE.partition("## What leaves the machine")[2].strip().partition("\n\n")[0]
    rows = [line for line in table.splitlines() if line.startswith("| ")][1:]
    assert ["nothing | nobody" in row for row in rows] == [True, False, False, False]
    named = set(re.findall(r"`([a-z]+_[a-z_]+)`", table))
    assert (
        {"llm_model", "llm_base_url", "embedding_mode", "embedding_base_url"} <= named <= Settings.model_fields.keys()
    )
