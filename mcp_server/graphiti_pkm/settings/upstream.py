"""Reads the configuration file of Graphiti's own MCP server and notes which parts are not used.

Nothing that server accepts is refused here, so that its users can start with their existing file.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from graphiti_pkm.settings.keys import OPENAI_URL, is_loopback, is_openai
from graphiti_pkm.settings.ontology import NAME_PATTERN

BLOCKS = frozenset({"server", "llm", "embedder", "database", "graphiti", "destroy_graph"})
"""Its top-level names; none of them is one of our settings."""
_VARIABLE = re.compile(r"\$\{([^:}$]+)(?::((?>(?:[^}$]|\$(?!\{))*)))?\}")
_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("true", "1", "yes", "on"), True),
    **dict.fromkeys(("false", "0", "no", "off"), False),
    "": None,
}
MOST_DIMENSIONS = 4096
_DIMENSION = 1536
"""The default of that server."""
_GROUP = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True)
class Translated:
    """The file as our settings, with notes about unused parts."""

    values: Mapping[str, object]
    notes: tuple[str, ...]


def expand(value: Any, environ: Mapping[str, str]) -> Any:
    """Replace ``${NAME}`` and ``${NAME:default}``; if it is the whole value, it may become a boolean or None."""
    if isinstance(value, dict):
        return {name: expand(part, environ) for name, part in value.items()}
    if isinstance(value, list):
        return [expand(part, environ) for part in value]
    if not isinstance(value, str):
        return value
    text = _VARIABLE.sub(lambda found: environ.get(found[1], found[2] or ""), value)
    return _WORDS.get(text.strip().lower(), text) if _VARIABLE.fullmatch(value) else text


def translate(blocks: Mapping[str, Any], elsewhere: Collection[str] = ()) -> Translated:
    """Translate expanded blocks of that file into our settings; ``elsewhere``: settings that are given otherwise."""
    values: dict[str, object] = {}
    notes: list[str] = []
    for name, translated in (("llm", _llm), ("server", _server), ("graphiti", _graphiti)):
        if isinstance(blocks.get(name), dict):
            notes.extend(translated(blocks[name], values))
    if "embedding_mode" in elsewhere:
        notes.append("embedder: not used, embedding_mode is set elsewhere")
    elif isinstance(blocks.get("embedder"), dict):
        notes.extend(_embedder(blocks["embedder"], values))
    if isinstance(blocks.get("database"), dict):
        notes.extend(_database(blocks["database"], values))
    if blocks.get("destroy_graph"):
        notes.append("destroy_graph: not used, because a start clears nothing")
    return Translated({name: value for name, value in values.items() if value is not None}, tuple(notes))


def _llm(block: Mapping[str, Any], values: dict[str, object]) -> Iterator[str]:
    provider = str(block.get("provider") or "openai").lower()
    if provider != "openai":
        yield f"llm.provider {provider}: not supported, so no model is used"
        return
    given = _part(_part(block, "providers"), "openai")
    url = str(given.get("api_url") or OPENAI_URL)
    if not given.get("api_key") and is_openai(url):
        yield "llm.providers.openai.api_key: empty, so no model is used"
        return
    values.update(llm_model=block.get("model"), llm_base_url=url, llm_api_key=given.get("api_key"))
    values.update(llm_temperature=block.get("temperature"), llm_max_tokens=block.get("max_tokens"))
    mode = block.get("structured_output_mode")
    if mode in ("json_schema", "json_object"):
        values["llm_structured_output"] = mode
    elif mode:
        yield f"llm.structured_output_mode {mode}: not supported; the model is tested instead"
    if given.get("organization_id"):
        yield "llm.providers.openai.organization_id: not used"


def _embedder(block: Mapping[str, Any], values: dict[str, object]) -> Iterator[str]:
    provider = str(block.get("provider") or "openai").lower()
    given = _part(_part(block, "providers"), "openai")
    url = str(given.get("api_url") or OPENAI_URL)
    dimension = block.get("dimensions") or _DIMENSION
    reason = ""
    if provider != "openai":
        reason = f"embedder.provider {provider}: not supported"
    elif not given.get("api_key") and is_openai(url):
        reason = "embedder.providers.openai.api_key: empty"
    elif isinstance(dimension, int) and dimension > MOST_DIMENSIONS:
        reason = f"embedder.dimensions {dimension}: at most {MOST_DIMENSIONS} are supported"
    if reason:
        yield f"{reason}, so vectors are computed on this machine"
        return
    values.update(embedding_mode="api", embedding_model=block.get("model"), embedding_dimension=dimension)
    values.update(embedding_base_url=url, embedding_api_key=given.get("api_key"))


def _database(block: Mapping[str, Any], values: dict[str, object]) -> Iterator[str]:
    provider = str(block.get("provider") or "falkordb").lower()
    if provider != "neo4j":
        yield f"database.provider {provider}: not supported, so the memory is in data_dir"
        return
    given = _part(_part(block, "providers"), "neo4j")
    values["backend"] = provider
    for name in ("uri", "username", "password", "database"):
        values[f"neo4j_{name}"] = str(given[name]) if given.get(name) else None
    if given.get("use_parallel_runtime"):
        yield "database.providers.neo4j.use_parallel_runtime: not used"


def _server(block: Mapping[str, Any], values: dict[str, object]) -> Iterator[str]:
    values.update(transport=block.get("transport"), port=block.get("port"))
    host = block.get("host")
    if host is not None and is_loopback(str(host)):
        values["host"] = host
    elif host is not None:
        yield f"server.host {host}: not used, so only this machine can connect"
    rest = sorted(set(block) - {"transport", "host", "port"})
    if rest:
        yield f"server.{', server.'.join(rest)}: not used"


def _graphiti(block: Mapping[str, Any], values: dict[str, object]) -> Iterator[str]:
    group = block.get("group_id")
    if group is not None and _GROUP.fullmatch(str(group)):
        values["default_group"] = str(group)
    elif group is not None:
        yield "graphiti.group_id: not used, because a group name may only have letters, digits, - and _"
    entities = _parts(block, "entity_types")
    facts = _parts(block, "edge_types")
    values["entity_types"] = [_type(one) for one in entities if _fits(one)]
    values["edge_types"] = [
        {**_type(one), "between": list(_pairs(_parts(block, "edge_type_map"), str(one["name"])))}
        for one in facts
        if _fits(one)
    ]
    for one in (*entities, *facts):
        if not _fits(one):
            yield f"type {one.get('name')!r}: not used, because a type name may only have letters, digits and _"
    yield from (f"graphiti.{name}: not used" for name in ("user_id", "episode_id_prefix") if block.get(name))


def _pairs(entries: list[Mapping[str, Any]], name: str) -> Iterator[tuple[str, str]]:
    for entry in entries:
        if name in (entry.get("edge_types") or ()):
            yield str(entry.get("source") or "Entity"), str(entry.get("target") or "Entity")


def _type(one: Mapping[str, Any]) -> dict[str, str]:
    return {"name": str(one["name"]), "description": str(one.get("description") or "")}


def _fits(one: Mapping[str, Any]) -> bool:
    return re.fullmatch(NAME_PATTERN, str(one.get("name") or "")) is not None


def _part(block: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = block.get(name)
    return part if isinstance(part, dict) else {}


def _parts(block: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    parts = block.get(name)
    return [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
