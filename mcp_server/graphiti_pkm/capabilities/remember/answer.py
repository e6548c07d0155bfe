"""Builds the answer of add_memory: one line, then only what the caller can act on."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import tzinfo

from graphiti_pkm.capabilities.remember.attention import AttentionWriter
from graphiti_pkm.capabilities.remember.write_plan import WritePlan, related_facts
from graphiti_pkm.core.facts.parsed_facts import ParsedRequest
from graphiti_pkm.core.model.answers import AddMemoryResponse, EntityResult
from graphiti_pkm.core.model.times import iso, show_time
from graphiti_pkm.core.reading.snapshot import Snapshot

_MOST_RELATED = 5
_MOST_LINKED = 50
_MOST_ATTENTION = 20
_FOR_A_MODEL = {
    "excluded_entity_types",
    "custom_extraction_instructions",
    "previous_episode_uuids",
}

_HOW_TO_ADD = (
    "Only the text was stored; do not send it again. What it says can follow in a short note of its own, with entities "
    "(name, type) and facts (source, relation, target, fact; me for the user), so that it is found by "
    "person, project and date."
)
_NOTHING_KNOWN = "Nothing in it was known before: right if you searched for it. Else search_nodes may find its names."


@dataclass(frozen=True)
class Linked:
    """Links to earlier episodes that the write made or left to a job."""

    episodes: int
    entities_waiting: int


def write_answer(
    parsed: ParsedRequest,
    plan: WritePlan,
    snapshot: Snapshot,
    linked: Linked,
    public_group: str,
    zone: tzinfo,
    note: str | None,
    *,
    has_model: bool = False,
) -> AddMemoryResponse:
    """The answer to one call; ``note``: what the store could not do; ``has_model``: whether a model will read it."""
    entities = _entities(plan)
    writer = AttentionWriter(None, zone, plan.episode.created_at, plan.episode)
    related = related_facts(plan, snapshot.newest, _MOST_RELATED)
    parts = [*_counts(plan, linked), *_notes(parsed, plan), *([note] if note else [])]
    day = show_time(plan.episode.valid_at, zone)
    return AddMemoryResponse(
        message=f"Stored {plan.episode.name!r} ({day}): {'; '.join(parts)}.",
        episode_uuid=plan.episode.uuid,
        status="stored",
        group_id=public_group,
        name=plan.episode.name,
        valid_at=iso(plan.episode.valid_at),
        entities=entities,
        facts=plan.facts.results,
        retired=plan.retirements.answers,
        needs_attention=plan.attention[:_MOST_ATTENTION],
        related=[writer.sentence(fact) for fact in related],
        linked=linked.episodes,
        linking=linked.entities_waiting,
        next_steps=_next_steps(parsed, plan, snapshot, has_model=has_model),
        unused=sorted(parsed.steering.keys() - (_FOR_A_MODEL if has_model else set())) or None,
    )


def _entities(plan: WritePlan) -> list[EntityResult]:
    own = [
        EntityResult(
            uuid=one.entity.uuid,
            name=one.entity.name,
            outcome="created" if one.is_new else "matched",
            aliases=list(one.new_aliases) or None,
        )
        for one in plan.resolved
    ]
    linked = [EntityResult(uuid=uuid, name=name, outcome="linked") for uuid, name in plan.linked[:_MOST_LINKED]]
    return own + linked


def _counts(plan: WritePlan, linked: Linked) -> list[str]:
    outcomes = Counter("created" if one.is_new else "matched" for one in plan.resolved)
    outcomes["linked"] = len(plan.linked)
    facts = Counter(str(result.outcome) for result in plan.facts.results)
    retired = Counter(str(one.kind) for one in plan.retirements.answers)
    fulfilled, moved = retired.pop("fulfilled", 0), retired.pop("moved", 0)
    said = [
        _list("entities", outcomes),
        _list("facts", facts),
        _list("old facts", retired),
        _list("plans", {"fulfilled": fulfilled}),
        _list("ends", {"moved to later": moved}),
        _list("endings", {"only proposed": plan.retirements.proposed}),
        _list("earlier episodes", {"linked": linked.episodes}),
        _list("entities", {"still being linked to earlier episodes": linked.entities_waiting}),
    ]
    return [text for text in said if text] or ["text only"]


def _list(what: str, counts: Mapping[str, int]) -> str:
    shown = ", ".join(f"{count} {outcome}" for outcome, count in counts.items() if count)
    return f"{what}: {shown}" if shown else ""


def _notes(parsed: ParsedRequest, plan: WritePlan) -> list[str]:
    replaced = [one.entity.name for one in plan.resolved if one.replaced_summary]
    unseen = len(plan.linked) - _MOST_LINKED
    more = len(plan.attention) - _MOST_ATTENTION
    notes = (
        ("saga: ", "".join(_quoted([parsed.saga] if parsed.saga else []))),
        ("summary replaced: ", ", ".join(replaced)),
        ("types not usable as a label, left out: ", ", ".join(_quoted(parsed.ignored_types))),
        ("linked entities not listed: ", str(unseen) if unseen > 0 else ""),
        ("more to look at, not listed: ", str(more) if more > 0 else ""),
    )
    return [title + text for title, text in notes if text]


def _quoted(texts: Iterable[str]) -> list[str]:
    return [repr(text) for text in texts]


def _next_steps(parsed: ParsedRequest, plan: WritePlan, snapshot: Snapshot, *, has_model: bool) -> str | None:
    if not parsed.entities and not parsed.facts:
        return None if has_model else _HOW_TO_ADD
    is_joined = bool(plan.linked) or any(not one.is_new and not one.is_derived for one in plan.resolved)
    return None if is_joined or not snapshot.had_names else _NOTHING_KNOWN
