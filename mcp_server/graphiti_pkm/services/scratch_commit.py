"""From a scratch graph into memory: never by itself, first as a preview, then as one add_memory with its episode."""

import contextlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from graphiti_pkm.domain.access import Caller
from graphiti_pkm.domain.answers import AddMemoryResponse, Attention, FactResult
from graphiti_pkm.domain.names import display_name, name_key, relation_name
from graphiti_pkm.domain.requests import AddMemory
from graphiti_pkm.domain.scratch import DEFAULT_GRAPH
from graphiti_pkm.domain.scratch_choices import EdgeChoice
from graphiti_pkm.domain.scratch_marks import MEMORY_GROUP, MEMORY_UUID, SENTENCE
from graphiti_pkm.domain.scratch_memory_answers import CommitGraphResponse, CommittedEdge, CommittedNode
from graphiti_pkm.errors import InvalidInput, NotAllowed, PkmError
from graphiti_pkm.services.context import Context
from graphiti_pkm.services.groups import Groups
from graphiti_pkm.services.persons import Persons
from graphiti_pkm.services.resolution import Resolved
from graphiti_pkm.services.scratch_choice import Chosen, choose
from graphiti_pkm.services.scratch_draft import Draft, DraftFact, draft
from graphiti_pkm.services.scratch_graphs import ScratchGraphs, checked_name
from graphiti_pkm.services.scratch_memory import marked, memory_uuid
from graphiti_pkm.services.scratch_sentence import amount_of
from graphiti_pkm.services.told import is_me
from graphiti_pkm.services.views import clipped
from graphiti_pkm.services.waiting import in_thread
from graphiti_pkm.services.writing import Planned, Writing

MOST_COMMITTED = 500
"""Nodes, and edges, of one commit: as many as one add_memory takes."""
_SHOWN = 100
_SENTENCE = 300
_TOLD = 20
_GONE = "it came from memory and is not there any more, forgotten or deleted; add_node anew if it is meant to return"
_HELD = "its name belongs to another entity of memory, and a name is one entity there"
_ONLY_A_PREVIEW = "none yet, this is a preview: change the graph first, or settle it after the commit"


@dataclass(frozen=True)
class _Outcome:
    """What a commit would do."""

    draft: Draft
    planned: Planned
    nodes: Mapping[str, Resolved]
    """By label."""
    results: Sequence[tuple[DraftFact, FactResult]]

    @property
    def labels(self) -> list[str]:
        """Of the nodes that something is written of."""
        return [label for label, one in self.nodes.items() if one.is_new or one.is_changed or one.new_names]

    @property
    def facts(self) -> list[DraftFact]:
        """Those that are written."""
        return [fact for fact, result in self.results if result.outcome != "duplicate"]


@dataclass(frozen=True)
class _Call:
    """One call, and what it came to so far."""

    caller: Caller
    name: str
    group: str
    public: str
    chosen: Chosen
    draft: Draft = field(default_factory=Draft)


class ScratchCommit:
    """``commit_graph``."""

    def __init__(self, context: Context, groups: Groups, writing: Writing, graphs: ScratchGraphs) -> None:
        self._context = context
        self._graph = context.graph
        self._groups = groups
        self._persons = Persons(context.graph, context.settings)
        self._writing = writing
        self._graphs = graphs

    async def commit_graph(
        self,
        caller: Caller,
        graph: str = DEFAULT_GRAPH,
        edges: Sequence[EdgeChoice] | None = None,
        nodes: Sequence[str] | None = None,
        dry_run: bool = True,
        group_id: str | None = None,
    ) -> CommitGraphResponse:
        """Write chosen nodes and edges to memory, all without a choice, as entities and facts of one episode.

        What memory knows already is not written again; with nothing new there is no episode either.

        Raises:
            NotFound, InvalidInput: the graph, a label or an edge is not there, or it is too much for one call.
            NotAllowed: the caller may only read, or not into this group.
            NotKept, KeptButPending: as ``add_memory``.
        """
        if caller.read_only:
            raise NotAllowed("This connection may only read. Nothing was written.")
        name, group = checked_name(graph), self._groups.one(caller, group_id)
        async with self._graphs.reading(caller, name) as opened:
            chosen = await in_thread(choose, opened.graph, edges, nodes, self._groups.public(group))
        call = _Call(caller, name, group, self._groups.public(group), chosen)
        for what, count in (("nodes", len(chosen.nodes)), ("edges", len(chosen.edges))):
            if count > MOST_COMMITTED:
                raise InvalidInput(
                    f"commit_graph writes at most {MOST_COMMITTED} {what} at once, these are {count:,}; nothing was "
                    "written. Name some of them in edges or nodes: what is written is left out the next time."
                )
        drafted = await self._draft(call)
        if not drafted.entities and not drafted.facts:
            return self._answer(call, drafted, None, None)
        request = drafted.request(name, call.public, list(drafted.entities), drafted.facts)
        outcome = await self._outcome(call, drafted, request)
        if dry_run or not (outcome.labels or outcome.facts):
            return self._answer(call, drafted, outcome, None)
        reduced = drafted.request(name, call.public, outcome.labels, outcome.facts)
        stored = await self._writing.add_memory(caller, reduced)
        with contextlib.suppress(PkmError):  # it is committed whether or not the graph can be told
            await self._mark(call, outcome, stored)
        return self._answer(call, drafted, outcome, stored)

    async def _draft(self, call: _Call) -> Draft:
        loaded = {label: uuid for label, node in call.chosen.ends.items() if (uuid := memory_uuid(node)) is not None}
        visible = await self._groups.visible(call.caller)
        found = {one.uuid: one for one in await self._graph.get_entities(list(dict.fromkeys(loaded.values())), visible)}
        names = {label: display_name(found[uuid].name) for label, uuid in loaded.items() if uuid in found}
        keys = {label: name_key(call.group, name) for label, name in names.items()}
        held = await self._graph.get_names(sorted(set(keys.values()))) if keys else {}
        refused = {label: _GONE for label, uuid in loaded.items() if uuid not in found}
        for label, key in keys.items():
            is_of_group = found[loaded[label]].group_id == call.group
            if is_of_group and key in held and held[key].entity_uuid != loaded[label]:
                refused[label] = _HELD
                del names[label]
        person = self._persons.called(call.caller)
        return draft(call.chosen, names, refused, person, self._context.settings.zone)

    async def _outcome(self, call: _Call, drafted: Draft, request: AddMemory) -> _Outcome:
        planned = await self._writing.preview(call.caller, request)
        by_uuid = {one.entity.uuid: one for one in planned.plan.resolved}
        by_key = {name_key(call.group, one.entity.name): one for one in planned.plan.resolved if one.is_new}
        nodes: dict[str, Resolved] = {}
        for label, entity in drafted.entities.items():
            key = name_key(call.group, entity.name)
            held = planned.snapshot.names.get(key)
            uuid = planned.plan.person_uuid if self._is_person(call, label) else held.entity_uuid if held else None
            found = by_key.get(key) if uuid is None else by_uuid.get(uuid)
            if found is not None:
                nodes[label] = found
        return _Outcome(drafted, planned, nodes, list(zip(drafted.facts, planned.plan.facts.results, strict=True)))

    def _is_person(self, call: _Call, label: str) -> bool:
        return is_me(label, self._persons.called(call.caller))

    async def _mark(self, call: _Call, outcome: _Outcome, stored: AddMemoryResponse) -> None:
        """Let the graph know what memory knows by now, as far as it is still what was committed."""
        keys = {label: name_key(call.group, one.name) for label, one in outcome.draft.entities.items()}
        held = await self._graph.get_names(sorted(set(keys.values())))
        written = iter(stored.facts)
        facts = [
            (fact, (result if result.outcome == "duplicate" else next(written)).uuid)
            for fact, result in outcome.results
        ]
        async with self._graphs.writing(call.caller, call.name, create=False) as opened:
            graph = opened.graph
            for label, key in keys.items():
                index = graph.find(label)
                if index is not None and key in held and graph.label(index) == label:
                    known = {MEMORY_UUID: held[key].entity_uuid, MEMORY_GROUP: call.public}
                    graph.merge_node(index, None, known)
            for fact, uuid in facts:
                edge = fact.edge
                source, target = graph.find(edge.source), graph.find(edge.target)
                if source is None or target is None or not any(graph.edges(source, target, edge.relation)):
                    continue
                said = dict(edge.properties)
                if fact.given.fact is None and said.get(SENTENCE) is not None:
                    said[SENTENCE] = fact.told.text  # what it was loaded with is not said any more
                known = marked(edge.relation, said, [uuid], call.public)
                graph.add_edge(source, target, edge.relation, {**said, **known})

    def _answer(
        self, call: _Call, drafted: Draft, outcome: _Outcome | None, stored: AddMemoryResponse | None
    ) -> CommitGraphResponse:
        is_new = outcome is not None and bool(outcome.labels or outcome.facts)
        nodes = [] if outcome is None else [_node(label, one) for label, one in outcome.nodes.items()]
        edges = [] if outcome is None else [_edge(fact, result, None) for fact, result in outcome.results]
        attention: Sequence[Attention] = ()
        if stored is not None:
            attention = stored.needs_attention
        elif outcome is not None and is_new:
            attention = [
                one.model_copy(update={"call": _ONLY_A_PREVIEW}) for one in outcome.planned.plan.attention[:_TOLD]
            ]
        counts = Counter([*(f"node {one.outcome}" for one in nodes), *(f"edge {one.outcome}" for one in edges)])
        ends = (
            [] if outcome is None else [clipped(one.fact, _SHOWN) for one in outcome.planned.plan.retirements.answers]
        )
        me = [label for label in call.chosen.ends if self._is_person(call, label)]
        return CommitGraphResponse(
            message=_told(call, counts, drafted, stored, me, is_new=is_new),
            status="committed" if stored else "preview" if is_new else "nothing",
            graph=call.name,
            group_id=call.public,
            entities_created=counts["node created"],
            entities_matched=counts["node matched"],
            facts_created=counts["edge created"],
            facts_updated=counts["edge updated"],
            facts_known=counts["edge known"],
            unchanged=len(call.chosen.known),
            nodes=nodes,
            edges=edges,
            left_out=drafted.left_out,
            needs_attention=list(attention),
            ends=ends[:_TOLD] or None,
            episode=stored.name if stored else None,
            episode_uuid=stored.episode_uuid if stored else None,
        )


def _told(
    call: _Call,
    counts: Counter[str],
    drafted: Draft,
    stored: AddMemoryResponse | None,
    me: Sequence[str],
    *,
    is_new: bool,
) -> str:
    new = f"{counts['node created']} new entities, {counts['edge created']} new facts"
    what = f"{new} and {counts['edge updated']} changed ones"
    known = counts["edge known"] + len(call.chosen.known)
    if stored is not None:
        told = f"Committed {what} to memory (group {call.public}), with episode {stored.name!r} as their source"
    elif is_new:
        told = (
            f"Nothing was written yet: this would write {what} to memory (group {call.public}). Show the user; to "
            "write it call commit_graph again with dry_run=false"
        )
    else:
        told = "Nothing was written: there is nothing that memory does not know"
    if known:
        told += f"; {known} edge(s) are known already"
    if drafted.left_out:
        told += f"; {len(drafted.left_out)} left out, see left_out"
    if me:
        told += (
            f"; {', '.join(repr(clipped(label, _SHOWN)) for label in me)} stands for the person whose memory this is"
        )
    return f"{told}."


def _node(label: str, one: Resolved) -> CommittedNode:
    name = one.entity.name
    return CommittedNode(
        label=clipped(label, _SHOWN),
        outcome="created" if one.is_new else "matched",
        name=None if name == display_name(label) else clipped(name, _SHOWN),
    )


def _edge(fact: DraftFact, result: FactResult, note: str | None) -> CommittedEdge:
    is_known = result.outcome == "duplicate"
    return CommittedEdge(
        source=clipped(fact.edge.source, _SHOWN),
        relation=relation_name(fact.edge.relation),
        target=clipped(fact.edge.target, _SHOWN),
        outcome="known" if result.outcome == "duplicate" else result.outcome,
        interval=result.interval,
        sentence=None if is_known else clipped(fact.sentence, _SENTENCE),
        kind=None if fact.told.kind == "state" else fact.told.kind,
        value=clipped(amount_of(fact.told), _SHOWN) or None,
        note=note,
    )
