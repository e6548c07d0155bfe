"""The configuration file of Graphiti's MCP server is taken as it is."""

from pathlib import Path

import pytest

from graphiti_pkm.settings.loader import LoadedSettings, load_settings
from graphiti_pkm.settings.ontology import EdgeTypeSetting, EntityTypeSetting

KEY = "sk-planted-1f8c2d77a0"
# In the shape of mcp_server/config/config.yaml of getzep/graphiti, all of its blocks.
UPSTREAM = """
server:
  transport: "http"
  host: "0.0.0.0"
  port: 8000
  disable_transport_security: false
llm:
  provider: "openai"
  model: ${MODEL_NAME:gpt-5.5}
  temperature: ${TEMPERATURE}
  max_tokens: 4096
  structured_output_mode: ${LLM_STRUCTURED_OUTPUT_MODE:json_schema}
  providers:
    openai:
      api_key: ${OPENAI_API_KEY}
      api_url: ${OPENAI_API_URL:https://api.openai.com/v1}
      organization_id: ${OPENAI_ORGANIZATION_ID:}
    anthropic:
      api_key: ${ANTHROPIC_API_KEY}
      max_retries: 3
embedder:
  provider: "voyage"
  model: voyage-3
  dimensions: 1024
database:
  provider: "falkordb"
  providers:
    falkordb:
      uri: ${FALKORDB_URI:redis://localhost:6379}
graphiti:
  group_id: ${GRAPHITI_GROUP_ID:main}
  episode_id_prefix: ${EPISODE_ID_PREFIX:}
  user_id: ${USER_ID:mcp_user}
  entity_types:
    - name: "Preference"
      description: "User preferences, choices, opinions, or selections"
    - name: "Person"
      description: "An individual human referenced in the content"
  edge_types:
    - name: "WorksFor"
      description: "Employment"
    - name: "LocatedAt"
      description: "Where it is"
  edge_type_map:
    - source: "Person"
      target: "Organization"
      edge_types: ["WorksFor"]
    - target: "Location"
      edge_types: ["LocatedAt", "WorksFor"]
destroy_graph: ${DESTROY_GRAPH:false}
"""


def load(tmp_path: Path, text: str, environ: dict[str, str] | None = None, **flags: str) -> LoadedSettings:
    config = tmp_path / "config.yaml"
    config.write_text(text)
    return load_settings(flags, environ or {}, Path("/nowhere"), config)


def test_model_server_group_and_types_are_taken_over(tmp_path: Path) -> None:
    loaded = load(tmp_path, UPSTREAM, {"OPENAI_API_KEY": KEY})
    settings = loaded.settings
    assert settings.llm_api_key is not None
    assert settings.llm_api_key.get_secret_value() == KEY
    assert (settings.llm_model, settings.llm_base_url) == ("gpt-5.5", "https://api.openai.com/v1")
    assert (settings.llm_max_tokens, settings.llm_temperature, settings.llm_structured_output) == (
        4096, None, "json_schema"
    )  # fmt: skip
    assert (settings.transport, settings.host, settings.port, settings.default_group) == (
        "http", "127.0.0.1", 8000, "main"
    )  # fmt: skip
    assert loaded.origins["llm_model"] == str(tmp_path / "config.yaml")


def test_its_types_of_entities_and_facts_are_offered_to_a_model(tmp_path: Path) -> None:
    settings = load(tmp_path, UPSTREAM).settings
    assert settings.entity_types[1] == EntityTypeSetting(
        name="Person", description="An individual human referenced in the content"
    )
    assert settings.edge_types == (
        EdgeTypeSetting(
            name="WorksFor", description="Employment", between=(("Person", "Organization"), ("Entity", "Location"))
        ),
        EdgeTypeSetting(name="LocatedAt", description="Where it is", between=(("Entity", "Location"),)),
    )


def test_what_is_not_used_is_told_in_a_line_each_without_its_values(tmp_path: Path) -> None:
    loaded = load(tmp_path, UPSTREAM + "\nextra_block: 1\n", {"OPENAI_API_KEY": KEY, "DESTROY_GRAPH": "yes"})
    told = " | ".join(loaded.notes)
    for named in ("server.host 0.0.0.0", "graphiti.user_id", "destroy_graph", "extra_block"):
        assert f"config.yaml: {named}" in told
    assert KEY not in told


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("${OPENAI_API_KEY}", "''"), "api_key: empty"),
        (('provider: "openai"', 'provider: "anthropic"'), "anthropic: not supported"),
    ],
)
def test_a_file_whose_model_is_not_to_be_had_names_none(tmp_path: Path, change: tuple[str, str], said: str) -> None:
    loaded = load(tmp_path, UPSTREAM.replace(*change))
    assert loaded.settings.llm_model is None
    assert said in " | ".join(loaded.notes)


def test_a_local_server_needs_no_key_and_the_variables_of_the_file_count(tmp_path: Path) -> None:
    settings = load(
        tmp_path, UPSTREAM, {"OPENAI_API_URL": "http://localhost:11434/v1", "MODEL_NAME": "qwen3:8b"}
    ).settings
    assert (settings.llm_model, settings.llm_base_url) == ("qwen3:8b", "http://localhost:11434/v1")
    assert settings.llm_api_key is None


def test_the_files_key_does_not_go_to_an_address_that_a_flag_names(tmp_path: Path) -> None:
    loaded = load(tmp_path, UPSTREAM, {"OPENAI_API_KEY": KEY}, llm_base_url="http://localhost:11434/v1")
    assert loaded.settings.llm_api_key is None


OPENAI_EMBEDDER = UPSTREAM.replace(
    """  provider: "voyage"
  model: voyage-3
  dimensions: 1024
""",
    """  provider: "openai"
  model: nomic-embed-text
  dimensions: 768
  providers:
    openai:
      api_key: ${OPENAI_API_KEY}
      api_url: ${OPENAI_API_URL:https://api.openai.com/v1}
""",
)


def test_its_service_of_embeddings_is_taken_over(tmp_path: Path) -> None:
    settings = load(tmp_path, OPENAI_EMBEDDER, {"OPENAI_API_KEY": KEY}).settings
    assert (settings.embedding_mode, settings.embedding_model, settings.embedding_dimension) == (
        "api", "nomic-embed-text", 768
    )  # fmt: skip
    assert settings.embedding_api_key is not None
    assert settings.embedding_api_key.get_secret_value() == KEY
    keyless = load(tmp_path, OPENAI_EMBEDDER, {"OPENAI_API_URL": "http://localhost:11434/v1"}).settings
    assert (keyless.embedding_base_url, keyless.embedding_api_key) == ("http://localhost:11434/v1", None)


@pytest.mark.parametrize(
    ("text", "environ", "flags"),
    [
        (UPSTREAM, {"OPENAI_API_KEY": KEY}, {}),
        (OPENAI_EMBEDDER, {}, {}),
        (OPENAI_EMBEDDER.replace("768", "8192"), {"OPENAI_API_KEY": KEY}, {}),
        (OPENAI_EMBEDDER, {"OPENAI_API_KEY": KEY, "GRAPHITI_PKM_EMBEDDING_MODE": "local"}, {}),
        (OPENAI_EMBEDDER, {"OPENAI_API_KEY": KEY}, {"embedding_mode": "local"}),
        (OPENAI_EMBEDDER + "\nembedding_mode: local\n", {"OPENAI_API_KEY": KEY}, {}),
    ],
)
def test_vectors_are_made_here_where_its_service_is_not_to_be_had_or_not_wanted(
    tmp_path: Path, text: str, environ: dict[str, str], flags: dict[str, str]
) -> None:
    loaded = load(tmp_path, text, environ, **flags)
    assert (loaded.settings.embedding_mode, loaded.settings.embedding_model) == ("local", None)
    assert "embedder" in " | ".join(loaded.notes)


def test_our_own_settings_may_stand_beside_its_blocks_and_win(tmp_path: Path) -> None:
    loaded = load(tmp_path, UPSTREAM + "\nperson: Ada\ndefault_group: diary\n")
    assert (loaded.settings.person, loaded.settings.default_group) == ("Ada", "diary")


@pytest.mark.parametrize(
    "text",
    [
        "llm:\n",
        "llm: {provider: openai}\n",
        "llm: {provider: openai, model: m, structured_output_mode: prompt_only, providers: {openai: {api_key: k}}}\n",
        "graphiti: {group_id: 'two words', entity_types: [{name: 'Two Words', description: x}]}\n",
        "graphiti: {entity_types: null, edge_types: null, edge_type_map: null}\n",
        "server: {transport: stdio, allowed_hosts: [a.example]}\n",
        "database: {provider: neo4j}\ndestroy_graph: true\n",
    ],
)
def test_nothing_that_upstream_accepts_is_refused(tmp_path: Path, text: str) -> None:
    loaded = load(tmp_path, text)
    assert loaded.config_file == tmp_path / "config.yaml"


def test_types_may_be_given_as_json_in_the_environment() -> None:
    environ = {"GRAPHITI_PKM_ENTITY_TYPES": '[{"name": "Bug", "description": "A fault"}]'}
    settings = load_settings({}, environ, Path("/nowhere")).settings
    assert settings.entity_types == (EntityTypeSetting(name="Bug", description="A fault"),)
