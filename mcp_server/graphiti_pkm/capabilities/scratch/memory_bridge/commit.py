"""Writes a part of a scratch graph to memory: first as a preview, then as one add_memory call with its episode."""

import contextlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from graphiti_pkm.capabilities.remember.service import DERIVED, Writing
from graphiti_pkm.capabilities.scratch.memory_bridge.choice import choose
from graphiti_pkm.capabilities.scratch.memory_bridge.draft import Draft, draft, edge_text
from graphiti_pkm.capabilities.scratch.memory_bridge.lookup import look_up_records
from graphiti_pkm.capabilities.scratch.memory_bridge.memory import marked, memory_uuid
from graphiti_pkm.capabilities.scratch.memory_bridge.outcome import Call, Outcome, answer
from graphiti_pkm.capabilities.scratch.models.memory import CommitGraphResponse, LeftOut
from graphiti_pkm.capabilities.scratch.requests import CommitGraph
from graphiti_pkm.capabilities.scratch.tenants import ScratchGraphs, checked_name
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.facts.parsed_facts import is_me
from graphiti_pkm.core.facts.resolution import Resolved
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.identity.persons import Persons, refuse_me
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.answers import AddMemoryResponse
from graphiti_pkm.core.model.names import display_name, name_key
from graphiti_pkm.core.model.records import Entity
from graphiti_pkm.core.model.requests import ME, AddMemory
from graphiti_pkm.core.model.scratch_marks import MEMORY_GROUP, MEMORY_UUID, SENTENCE
from graphiti_pkm.core.waiting import in_thread
from graphiti_pkm.errors import InvalidInput, PkmError

MOST_COMMITTED = 500
"""The most nodes, and the most edges, of one commit, as for one add_memory call."""
_GONE = "it came from memory and is not there any more, forgotten or deleted; add_node anew if it is meant to return"
_EDGE_GONE = (
    "it came from memory and is not there any more, forgotten or deleted; draw it anew if it is meant to return"
)
_TOOK_BACK = "memory was corrected since: it never held; add_memory states it again, remove_edge takes it out here"
_MOST_GONE = 20
_HELD = "its name belongs to another entity of memory, and a name is one entity there"
_OTHER_TYPE = (
    "its name belongs to an entity of another type in the group that is written to; add_node under another name"
)


class ScratchCommit:
    """``commit_graph``."""

    def __init__(self, context: Context, groups: Groups, writing: Writing, graphs: ScratchGraphs) -> None:
        self._context = context
        self._graph = context.graph
        self._groups = groups
        self._persons = Persons(context.graph, context.settings)
        self._writing = writing
        self._graphs = graphs

    async def commit_graph(self, caller: Caller, request: CommitGraph) -> CommitGraphResponse:
        """Write the selected nodes and edges, or all, to memory as entities and facts of one episode.

        What memory already knows is not written again. If nothing is new, no episode is written.

        Raises:
            NotFound: the graph, a label or an edge does not exist.
            InvalidInput: there are too many nodes or edges for one call.
            NotAllowed: the caller may only read, or may not write to this group.
            WriteFailed, WritePending: as ``add_memory``.
        """
        caller.must_write("Nothing was written.")
        name, group = checked_name(request.graph), self._groups.one(caller, request.group_id)
        public, asked = self._groups.name_for(caller, group), request.model_copy(update={"graph": name})
        async with self._graphs.reading(caller, name) as opened:
            chosen = await in_thread(choose, opened.graph, request.edges, request.nodes, public)
        person = self._persons.called(caller, group)
        me = [label for label in chosen.ends if is_me(label, person)]
        refuse_me(caller, group, [ME] if me else ())
        is_empty = not request.edges and not request.nodes and not (request.edges is None and request.nodes is None)
        call = Call(caller, name, group, public, chosen, me, self._context.settings.zone, is_empty)
        for what, count in (("nodes", len(chosen.nodes)), ("edges", len(chosen.edges))):
            if count > MOST_COMMITTED:
                raise InvalidInput(
                    f"commit_graph writes at most {MOST_COMMITTED} {what} at once, these are {count:,}; nothing was "
                    "written. Select some of them with edges or nodes; a later call leaves out what was written."
                )
        call, drafted = await self._draft(call)
        if not drafted.entities and not drafted.facts:
            return answer(call, drafted, None, None)
        written = drafted.request(asked, call.public, list(drafted.entities), drafted.facts, is_quoted=False)
        outcome = await self._outcome(call, drafted, written)
        if request.dry_run or not (outcome.labels or outcome.facts):
            return answer(call, drafted, outcome, None)
        reduced = drafted.request(asked, call.public, outcome.labels, outcome.facts)
        stored = await self._writing.add_memory(caller, reduced, addition=DERIVED)
        with contextlib.suppress(PkmError):  # the commit succeeded, even if the graph cannot be marked
            await self._mark(call, outcome, stored)
        return answer(call, drafted, outcome, stored)

    async def _draft(self, call: Call) -> tuple[Call, Draft]:
        """The draft of what memory can store, and the call without forgotten nodes and edges."""
        chosen = call.chosen
        visible = await self._groups.visible(call.caller)
        found = await look_up_records(self._graph, visible, chosen.ends.values(), (*chosen.edges, *chosen.known))
        gone = [(edge, _EDGE_GONE) for edge in (*chosen.edges, *chosen.known) if found.lacks_edge(edge)]
        gone += [(edge, _TOOK_BACK) for edge in chosen.known if found.took_back(edge)]
        chosen = replace(
            chosen,
            edges=tuple(found.edge_now(edge) for edge in chosen.edges if not found.lacks_edge(edge)),
            known=tuple(edge for edge in chosen.known if not found.lacks_edge(edge) and not found.took_back(edge)),
        )
        loaded = {label: uuid for label, node in chosen.ends.items() if (uuid := memory_uuid(node)) is not None}
        refused = {label: _GONE for label, node in chosen.ends.items() if found.lacks_node(node)}
        origins = {label: found.entities[uuid] for label, uuid in loaded.items() if uuid in found.entities}
        names = {label: display_name(entity.name) for label, entity in origins.items()}
        keys = {label: name_key(call.group, name) for label, name in names.items()}
        for label, reason in (await self._names_of_others(call, keys, origins)).items():
            refused[label] = reason
            del names[label]
        drafted = draft(chosen, names, refused, self._persons.called(call.caller, call.group), call.zone)
        drafted.left_out += [LeftOut(what=edge_text(edge), reason=why) for edge, why in gone[:_MOST_GONE]]
        if len(gone) > _MOST_GONE:
            more = f"{len(gone) - _MOST_GONE:,} more edges"
            drafted.left_out.append(LeftOut(what=more, reason=gone[_MOST_GONE][1]))
        return replace(call, chosen=chosen), drafted

    async def _names_of_others(
        self, call: Call, keys: Mapping[str, str], origins: Mapping[str, Entity]
    ) -> dict[str, str]:
        """By label, why a name cannot be written: it belongs to another entity, or to one of another type."""
        names = await self._graph.records.get_names(sorted(set(keys.values()))) if keys else {}
        uuids = {label: names[key].entity_uuid for label, key in keys.items() if key in names}
        others = {label: uuid for label, uuid in uuids.items() if uuid != origins[label].uuid}
        found = await self._graph.records.get_entities(sorted(set(others.values())), [call.group]) if others else []
        types = {entity.uuid: entity.label for entity in found}
        reasons: dict[str, str] = {}
        for label, uuid in others.items():
            own, other = origins[label].label, types.get(uuid)
            if origins[label].group_id == call.group:
                reasons[label] = _HELD
            elif own and other and own != other:
                reasons[label] = _OTHER_TYPE
        return reasons

    async def _outcome(self, call: Call, drafted: Draft, request: AddMemory) -> Outcome:
        planned = await self._writing.preview(call.caller, request)
        by_uuid = {one.entity.uuid: one for one in planned.plan.resolved}
        by_key = {name_key(call.group, one.entity.name): one for one in planned.plan.resolved if one.is_new}
        nodes: dict[str, Resolved] = {}
        for label, entity in drafted.entities.items():
            key = name_key(call.group, entity.name)
            name = planned.snapshot.names.get(key)
            uuid = planned.plan.person_uuid if label in call.me else name.entity_uuid if name else None
            found = by_key.get(key) if uuid is None else by_uuid.get(uuid)
            if found is not None:
                nodes[label] = found
        return Outcome(drafted, planned, nodes, list(zip(drafted.facts, planned.plan.facts.results, strict=True)))

    async def _mark(self, call: Call, outcome: Outcome, stored: AddMemoryResponse) -> None:
        """Mark the committed nodes and edges as known to memory, unless they were changed meanwhile."""
        keys = {label: name_key(call.group, one.name) for label, one in outcome.draft.entities.items()}
        holders = await self._graph.records.get_names(sorted(set(keys.values())))
        written = iter(stored.facts)
        facts = [
            (fact, result, (result if result.outcome == "duplicate" else next(written)).uuid)
            for fact, result in outcome.results
        ]
        async with self._graphs.writing(call.caller, call.name, create=False) as opened:
            graph = opened.graph
            for label, key in keys.items():
                index = graph.find(label)
                if index is None or key not in holders or graph.label(index) != label:
                    continue
                if memory_uuid(graph.node(index)) is None:  # the mark of another group is kept
                    known = {MEMORY_UUID: holders[key].entity_uuid, MEMORY_GROUP: call.public}
                    graph.merge_node(index, None, known)
            for fact, result, uuid in facts:
                edge = fact.edge
                source, target = graph.find(edge.source), graph.find(edge.target)
                if source is None or target is None or not any(graph.edges(source, target, edge.relation)):
                    continue
                if outcome.note(fact, result, call.zone) is not None:
                    continue  # memory stores different dates
                said: dict[str, Any] = {}
                if edge.properties.get(SENTENCE) is not None:  # it may differ from the loaded one
                    said = {SENTENCE: fact.given.fact or fact.parsed.text}
                known = marked(edge.relation, {**edge.properties, **said}, [uuid], call.public)
                graph.add_edge(source, target, edge.relation, {**said, **known})
