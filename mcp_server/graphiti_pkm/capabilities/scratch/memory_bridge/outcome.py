"""The outcome of committing a scratch graph, and the answer about it. Pure functions."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from functools import cached_property

from graphiti_pkm.capabilities.remember.service import Planned
from graphiti_pkm.capabilities.scratch.memory_bridge.choice import Chosen
from graphiti_pkm.capabilities.scratch.memory_bridge.draft import Draft, DraftFact, amount_of
from graphiti_pkm.capabilities.scratch.models.memory import CommitGraphResponse, CommittedEdge, CommittedNode
from graphiti_pkm.core.facts.resolution import Resolved
from graphiti_pkm.core.facts.rules import coincide, parsed_end, parsed_start
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.answers import AddMemoryResponse, Attention, FactResult
from graphiti_pkm.core.model.date_phrases import DatePeriod
from graphiti_pkm.core.model.names import display_name, relation_name
from graphiti_pkm.core.model.records import Fact
from graphiti_pkm.core.reading.views import clipped

_SHOWN = 100
_SENTENCE = 300
_MOST_LISTED = 20
_ONLY_A_PREVIEW = "none yet, this is a preview: change the graph first, or settle it after the commit"


@dataclass(frozen=True)
class Outcome:
    """What a commit would write."""

    draft: Draft
    planned: Planned
    nodes: Mapping[str, Resolved]
    """By label."""
    results: Sequence[tuple[DraftFact, FactResult]]

    @property
    def labels(self) -> list[str]:
        """The labels of nodes whose entities are new or changed."""
        return [label for label, one in self.nodes.items() if one.is_new or one.is_changed or one.new_names]

    @property
    def facts(self) -> list[DraftFact]:
        """The facts that are written."""
        return [fact for fact, result in self.results if result.outcome != "duplicate"]

    @cached_property
    def _known(self) -> dict[str, Fact]:
        return {one.uuid: one for one in self.planned.plan.world.known}

    def note(self, fact: DraftFact, result: FactResult, zone: tzinfo) -> str | None:
        """Says so if memory has the fact with other dates."""
        after = self._known.get(result.uuid)
        if result.outcome == "created" or after is None:
            return None
        pairs = (
            (parsed_start(fact.parsed, zone), after.valid_at),
            (parsed_end(fact.parsed, zone), after.invalid_at),
        )
        if all(told is None or (has is not None and _says(told, has, zone)) for told, has in pairs):
            return None
        return f"memory has it {result.interval} and keeps that; add_memory with change=corrected corrects a date"


@dataclass(frozen=True)
class Call:
    """One call of ``commit_graph``."""

    caller: Caller
    name: str
    group: str
    public: str
    chosen: Chosen
    me: Collection[str]
    """Labels that stand for the person whose memory this is."""
    zone: tzinfo
    is_empty: bool
    """Whether the call selects nothing."""


def answer(
    call: Call, drafted: Draft, outcome: Outcome | None, stored: AddMemoryResponse | None
) -> CommitGraphResponse:
    """The answer: what was written, or would be written."""
    is_new = outcome is not None and bool(outcome.labels or outcome.facts)
    nodes = [] if outcome is None else [_node(label, one) for label, one in outcome.nodes.items()]
    edges = (
        []
        if outcome is None
        else [_edge(fact, result, outcome.note(fact, result, call.zone)) for fact, result in outcome.results]
    )
    attention: Sequence[Attention] = ()
    if stored is not None:
        attention = stored.needs_attention
    elif outcome is not None and is_new:
        attention = [
            one.model_copy(update={"call": _ONLY_A_PREVIEW}) for one in outcome.planned.plan.attention[:_MOST_LISTED]
        ]
    entities = {} if outcome is None else {one.entity.uuid: one.is_new for one in outcome.nodes.values()}
    counts = Counter(f"edge {one.outcome}" for one in edges)
    counts.update("node created" if is_new_one else "node matched" for is_new_one in entities.values())
    ends = [] if outcome is None else [clipped(one.fact, _SHOWN) for one in outcome.planned.plan.retirements.answers]
    return CommitGraphResponse(
        message=_told(call, counts, drafted, stored, sum(one.note is not None for one in edges), is_new=is_new),
        status="committed" if stored else "preview" if is_new else "nothing",
        graph=call.name,
        group_id=call.public,
        entities_created=counts["node created"],
        entities_matched=counts["node matched"],
        facts_created=counts["edge created"],
        facts_updated=counts["edge updated"],
        facts_known=counts["edge known"],
        unchanged=len(call.chosen.known),
        nodes=[] if stored else nodes,
        edges=[one for one in edges if one.note is not None] if stored else edges,
        left_out=drafted.left_out,
        needs_attention=list(attention),
        ends=ends[:_MOST_LISTED] or None,
        episode=stored.name if stored else None,
        episode_uuid=stored.episode_uuid if stored else None,
    )


def _told(
    call: Call,
    counts: Counter[str],
    drafted: Draft,
    stored: AddMemoryResponse | None,
    noted: int,
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
    elif call.is_empty:
        told = "Nothing was written: edges and nodes choose nothing; leave both out to commit everything"
    else:
        told = "Nothing was written: there is nothing that memory does not know"
    if known:
        told += f"; {known} edge(s) are known already"
    if noted:
        told += f"; {noted} have other dates in memory, which stay, see note"
    if drafted.left_out:
        told += f"; {len(drafted.left_out)} left out, see left_out"
    if call.me:
        me = ", ".join(repr(clipped(label, _SHOWN)) for label in call.me)
        told += f"; {me} stands for the person whose memory this is"
    return f"{told}."


def _says(told: DatePeriod, known: datetime, zone: tzinfo) -> bool:
    """Whether a known date is what is told, as precisely as it is told; an end may be that of its period."""
    return coincide(told.start, known, zone) or (told.words is not None and told.start <= known <= told.end)


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
        kind=None if fact.parsed.kind == "state" else fact.parsed.kind,
        value=clipped(amount_of(fact.parsed), _SHOWN) or None,
        note=note,
    )
