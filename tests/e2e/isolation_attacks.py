"""Every way in which a tool may be asked for what is another's, made from its schema, and what the answers may be."""

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from mcp_types import CallToolResult, Tool
from tests.e2e.isolation_scratch import HERS, NOBODYS, OPENING, scratch_arguments
from tests.e2e.isolation_world import (
    COMMON,
    HER_ENTITY,
    HER_PROJECT,
    NO_SAGA,
    NOBODYS_NAME,
    NOWHERE,
    OWN,
    SAGA,
    SECRETS,
    VERAS,
    Records,
    Story,
)
from tests.protocol.support import BESIDE, text

from graphiti_pkm.server.tools.guard import guarded

_TOOLS = {tool.name: tool for toolset in BESIDE for tool in toolset.tools}
"""Tools of ``reference`` take no group and no uuid, and are those of ``compat`` otherwise."""
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_SHORT = re.compile(r"\b[0-9a-f]{8}\b")
_CURSOR = re.compile(r'(?<=_cursor)[\\": ]+[A-Za-z0-9_-]+')
_USED = re.compile(r'(?:last_accessed|expires_at)[\\": ]+[0-9T:.+-]+')
_UPTIME = re.compile(r'(?<=uptime_seconds)[\\": ]+[0-9]+')
_RECORDS = {"receipt", "replaced_by", "not_same_as", "link_episodes", "unlink_episodes"}
_NAMED = {"project", "project_id", "entity_name", "pin", "unpin", "document"}
"""Parameters that take a name as well as a uuid."""
HARMLESS = frozenset(
    """
    episode_body name source source_description reference_time entities excluded_entity_types update_communities
    custom_extraction_instructions wait_seconds query names max_nodes entity_types status cursor confirm max_facts
    edge_types invalid_after invalid_before kind as_of known_at max_episodes
    valid_after valid_before neighbours max_connections include_invalidated direction relation order max_content_chars
    content_offset max_entities mode limit since until told_since kinds reason invalid_at episodes max_hops max_paths
    hops source_node_name edge_name fact target_node_name
    add_aliases remove_aliases summary confidential
    label type properties nodes edges source target node max_in_degree max_out_degree create_missing include_edges
    relations observations entityNames deletions
    by keep remove new_label title note valid_at source_type target_type between min_out_degree
    weight undirected max_length top_n in_place format content max_chars dry_run saved rank reduce
    description metadata timestamp extract_entities after before similarity_threshold include_entities
    include_cross_project relevance_threshold note confidence confidence_below creator_prefix threshold bias boost
    quote paragraph source_id end_paragraph include_facts include_sources explain
    """.split()  # noqa: SIM905  (a list of words reads better)
)
"""Parameters of today's tools that name no record, group, saga or graph; cursors and confirmations are tried by
themselves. Labels are of nodes in a graph of one's own."""
_TOKEN = re.compile(r"\b[0-9a-f]{12}\b")


TOM = {"name": "Tom", "type": "Person", "observations": [OWN]}
ENDS = {"source": "Tom", "target": "Heron"}
SENTENCES = {"entityName": "Tom", "observations": [OWN]}
HUB = "HUB"


@dataclass(frozen=True)
class Attack:
    """One call with something of hers, and the same one with what nobody has."""

    arguments: dict[str, Any]
    control: dict[str, Any]
    pairs: tuple[tuple[str, str], ...] = ()
    """What of hers stands in the one, and in its place in the other."""

    def sent(self) -> str:
        """All that the attacker knew."""
        return json.dumps([self.arguments, [_spelt(pair[0]) for pair in self.pairs]])

    def differences(self, got: CallToolResult, control: CallToolResult) -> tuple[str, str]:
        """Both answers byte for byte, but for what was sent, and for a cursor, which holds the time of its page."""
        return exact(got, [pair[0] for pair in self.pairs]), exact(control, [pair[1] for pair in self.pairs])


def arguments_of(tool: str, own: Records) -> dict[str, Any]:
    """A call that is as it should be. A tool that is not here fails the tests: a new one has to be added."""
    entity, fact, episode = own.entity, own.fact, own.episode
    return {
        "add_memory": {"episode_body": "Entry.", "group_id": own.group},
        "search_nodes": {"query": "person", "max_nodes": 1, "group_ids": own.group},
        "search_memory_facts": {"query": "person", "max_facts": 1, "group_ids": own.group},
        "search_episodes": {"query": "person", "max_episodes": 1, "group_ids": own.group},
        "get_entity_connections": {"entity_uuid": entity, "max_connections": 1},
        "get_entity_timeline": {"entity_uuid": entity, "max_episodes": 1},
        "get_episodes": {"max_episodes": 1, "group_ids": own.group},
        "get_episode_entities": {"episode_uuids": [episode], "max_entities": 1},
        "get_entity_edge": {"uuid": fact},
        "get_fact_sources": {"fact_uuid": fact, "limit": 1},
        "what_changed": {"since": "2020", "limit": 1, "group_ids": own.group},
        "retire_fact": {"fact_uuid": fact, "reason": "so it is"},
        "restore_fact": {"fact_uuid": fact, "reason": "so it is"},
        "update_entity": {"entity_uuid": entity, "link_episodes": [episode]},
        "delete_episode": {"uuid": episode},
        "delete_entity_edge": {"uuid": fact},
        "forget": {"entity_uuid": entity},
        "get_status": {},
        "find_entity_path": {"source_uuid": entity, "target_uuid": entity},
        "get_entity_subgraph": {"entity_uuid": entity},
        "add_triplet": {
            "source_node_name": "Tom",
            "edge_name": "KNOWS",
            "fact": OWN,
            "target_node_name": "Heron",
            "group_id": own.group,
        },
        "clear_graph": {"group_ids": own.group},
        "create_entities": {"entities": [TOM], "group_id": own.group},
        "create_relations": {"relations": [{**ENDS, "relationType": "KNOWS"}], "group_id": own.group},
        "add_observations": {"observations": [SENTENCES], "group_id": own.group},
        "search_memories": {"query": "person", "limit": 1, "group_id": own.group},
        "find_memories_by_name": {"names": ["Tom"], "limit": 1, "group_id": own.group},
        "delete_entities": {"entityNames": ["Nobody of ours"], "group_id": own.group},
        "delete_relations": {"relations": [{**ENDS, "relationType": "AVOIDS"}], "group_id": own.group},
        "delete_observations": {"deletions": [SENTENCES], "group_id": own.group},
        "reference.create_entities": {"entities": [{"name": "Tom", "entityType": "Person"}]},
        "reference.create_relations": {"relations": [{"from": HUB, "to": HUB, "relationType": "KNOWS"}]},
        "reference.add_observations": {"observations": [{"entityName": HUB, "contents": ["hums"]}]},
        "reference.search_nodes": {"query": "Tom"},
        "reference.open_nodes": {"names": ["Tom"]},
        "reference.delete_entities": {"entityNames": ["Tom"]},
        "reference.delete_relations": {"relations": [{"from": "Tom", "to": "Heron", "relationType": "KNOWS"}]},
        "reference.delete_observations": {"deletions": [{"entityName": "Tom", "observations": ["hums"]}]},
        "summarize_saga": {"saga_name": NO_SAGA, "group_id": own.group},
        "build_communities": {"group_ids": own.group},
        "create_project": {"name": "Harbour", "group_id": own.group},
        "update_project": {"project": own.project, "metadata": {"a": 1}},
        "list_projects": {"limit": 1, "group_ids": own.group},
        "create_entry": {"content": "Entry.", "group_id": own.group},
        "search_entries_semantic": {"query": "person", "similarity_threshold": 0, "limit": 1, "group_id": own.group},
        "get_entry_context": {"entity_name": entity, "limit": 1, "group_id": own.group},
        "get_project_memories": {"project_id": own.project, "relevance_threshold": 0, "limit": 1},
        "flag_for_review": {"entity_uuid": entity, "reason": "so it is"},
        "clear_flag": {"entity_uuid": entity, "note": "so it is"},
        "list_flagged": {"limit": 1, "group_ids": own.group},
        "set_confidence": {"entity_uuid": entity, "confidence": 0.5, "reason": "so it is"},
        "flag_similar_entities": {"limit": 1, "threshold": 0.1},
        "merge_entities": {"keep_uuid": entity, "remove_uuid": entity, "reason": "so it is"},
        "unmerge_entities": {"remove_uuid": entity, "reason": "so it is"},
        "split_entity": {"entity_uuid": entity, "fact_uuids": [fact], "name": "Another"},
        "promote": {"entity_uuids": [entity], "source": "production", "target": "archive", "group_id": own.group},
        "get_quality_report": {"group_ids": own.group},
        "adjust_bias": {"entity_uuid": entity, "bias": 0.5, "reason": "so it is"},
        "mark_useful": {"fact_uuid": fact},
        "add_evidence": {"entity_uuid": entity, "quote": "so it is", "document": "guide", "paragraph": 1},
        "get_entity_sources": {"entity_uuid": entity, "limit": 1},
        **scratch_arguments(entity),
    }[tool]


class Attacks:
    """The attacks on one tool by the one who has ``own``; a parameter that nobody has thought of fails."""

    def __init__(self, tool: Tool, own: Records, hers: Records) -> None:
        self._tool = tool.name
        self._properties = guarded(_TOOLS[tool.name]).parameters["properties"]  # also what is not shown
        self._base = arguments_of(tool.name, own)
        self._hers = hers
        self._groups = [name for name in self._properties if name in {"group_id", "group_ids"}]

    def all(self) -> Iterator[Attack]:
        """Every parameter that names a record, a group, a saga or a graph, with hers and with what nobody has."""
        return self._each((str, str.upper, _without_hyphens, _start), combined=True)

    def looked_up(self) -> Iterator[Attack]:
        """Those that make queries of their own: other spellings are one uuid again before a database is asked."""
        return self._each((str, _start), combined=True)

    def plain(self) -> Iterator[Attack]:
        """Each parameter with each kind of record, written in one way: enough to see who is taken to be asking."""
        return self._each((str,), combined=False)

    def _each(self, spellings: Sequence[Callable[[str], str]], *, combined: bool) -> Iterator[Attack]:
        for parameter in self._properties:
            if parameter in self._groups:
                yield self._with(**{parameter: (self._hers.group, NOWHERE)})
                stored = [stored_group(principal, self._hers.group) for principal in ("vera", "nobody")]
                yield self._with(**{parameter: (stored[0], stored[1])})
                for nobodys in (f"nobody/{self._hers.group}", f"vera/{NOWHERE}"):  # as the group of a shared memory
                    yield self._with(**{parameter: (f"vera/{self._hers.group}", nobodys)})
            elif parameter in {"graph", "other"} or (parameter == "name" and self._tool in OPENING):
                yield self._with(**{parameter: (HERS, NOBODYS)})
            elif parameter in {"saga", "saga_name"}:
                yield self._with(**{parameter: (SAGA, NO_SAGA)})
            elif "uuid" in parameter or parameter in _RECORDS | _NAMED:
                yield from self._by_uuid(parameter, spellings, combined=combined)
                if parameter in _NAMED:
                    yield from self._by_name(parameter)
            elif parameter == "facts":
                yield from self._by_facts()
            else:
                assert parameter in HARMLESS, f"{self._tool} has a new parameter {parameter}: what may it name?"

    def _by_uuid(
        self, parameter: str, spellings: Sequence[Callable[[str], str]], *, combined: bool
    ) -> Iterator[Attack]:
        for uuid in self._hers.all().values():
            nobodys = str(uuid4())
            for spelt in spellings:
                yield self._with(**{parameter: (spelt(uuid), spelt(nobodys))})
            if not combined:
                continue
            if self._tool != "forget":  # where one thing at a time is named
                for group in self._groups:
                    yield self._with(**{parameter: (uuid, nobodys), group: (self._hers.group, NOWHERE)})
            if isinstance(own := self._base.get(parameter), list):
                sent = [{**self._base, parameter: [*own, one]} for one in (uuid, nobodys)]
                yield Attack(sent[0], sent[1], ((uuid, nobodys),))

    def _by_name(self, parameter: str) -> Iterator[Attack]:
        """With the names of her entity and her project, which an attacker may know."""
        for name in (HER_ENTITY, HER_PROJECT):
            yield self._with(**{parameter: (name, NOBODYS_NAME)})

    def _by_facts(self) -> Iterator[Attack]:
        """What of hers a new fact replaces or follows from; the facts are two, since a second time it is known."""
        for parameter, hers, told in (
            ("replaces", self._hers.fact, [("Anton", "Freising"), ("Berta", "Potsdam")]),
            ("because_of", self._hers.fact, [("Clara", "Erfurt"), ("Dora", "Weimar")]),
            ("because_of", self._hers.entity, [("Emil", "Bremen"), ("Frida", "Kassel")]),
        ):
            pair = (hers, str(uuid4()))
            facts = [
                {"source": source, "relation": "VISITED", "target": to, "fact": f"{source} was there.", parameter: one}
                for one, (source, to) in zip(pair, told, strict=True)
            ]
            sent = [{**self._base, "facts": [fact]} for fact in facts]
            yield Attack(sent[0], sent[1], (pair,))

    def _with(self, **values: tuple[str, str]) -> Attack:
        rest = {key: value for key, value in self._base.items() if key not in values}
        if self._tool == "forget":
            rest = {"query": "Tom"} if "group_id" in values else {}
        sent = [{**rest, **{key: self._put(key, pair[place]) for key, pair in values.items()}} for place in (0, 1)]
        return Attack(sent[0], sent[1], tuple(values.values()))

    def _put(self, parameter: str, value: str) -> Any:
        return [value] if '"array"' in json.dumps(self._properties[parameter]) else value


def stored_group(principal: str, group: str) -> str:
    """The id under which a principal's group is stored, which no answer shows and no argument may be."""
    return f"{hashlib.sha256(principal.encode()).hexdigest()[:32]}_{group}"


def exact(result: CallToolResult, asked: Sequence[str]) -> str:
    """Content, structure and code of an answer, with one word for whatever was asked, however it is spelt back."""
    told = json.dumps(result.model_dump(mode="json"), ensure_ascii=False, sort_keys=True)
    for form in sorted({form for one in asked for form in _spelt(one)}, key=len, reverse=True):
        told = told.replace(form, "ASKED")
    return _USED.sub("USED", _UPTIME.sub("UPTIME", _CURSOR.sub("CURSOR", told)))


def shape(result: CallToolResult, sent: dict[str, Any]) -> str:
    """An answer without what was sent, without uuids, and without numbers."""
    told = text(result)
    for value in sorted((one for one in _leaves(sent) if isinstance(one, str)), key=len, reverse=True):
        if value not in {"", COMMON}:
            told = told.replace(value, "SENT")
    return re.sub(r"\d+", "N", _TOKEN.sub("TOKEN", _SHORT.sub("UUID", _UUID.sub("UUID", told))))


def leaked(told: str, sent: str, story: Story) -> set[str]:
    """What of hers an answer holds that was not sent: her words, her group, and whole uuids."""
    words = {word for word in (*SECRETS, VERAS, SAGA) if word in told and word not in sent}
    return words | {uuid for uuid in story.uuids if uuid in told and uuid not in sent}


def _spelt(asked: str) -> list[str]:
    """How an answer may repeat it."""
    try:
        whole = str(UUID(asked))
    except ValueError:
        return [asked, asked.lower()]
    return [asked, whole, whole[:8]]


def _start(uuid: str) -> str:
    return uuid[:8]


def _without_hyphens(uuid: str) -> str:
    return uuid.replace("-", "")


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for one in value.values():
            yield from _leaves(one)
    elif isinstance(value, list):
        for one in value:
            yield from _leaves(one)
    else:
        yield value
