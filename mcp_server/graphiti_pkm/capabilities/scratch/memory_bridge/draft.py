"""Turns a part of a scratch graph into one add_memory call: entities, facts and text. Pure functions."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import Any, get_args

from pydantic import ValidationError

from graphiti_pkm.capabilities.scratch.limits import ScratchEdge, ScratchNode
from graphiti_pkm.capabilities.scratch.memory_bridge.choice import Chosen
from graphiti_pkm.capabilities.scratch.memory_bridge.memory import SAID, is_outdated, memory_uuid
from graphiti_pkm.capabilities.scratch.models.memory import LeftOut
from graphiti_pkm.capabilities.scratch.requests import CommitGraph
from graphiti_pkm.core.facts.parsed_facts import ParsedFact, is_me, read_fact, relation_words
from graphiti_pkm.core.model.names import display_name, normalise_name
from graphiti_pkm.core.model.records import FactKind
from graphiti_pkm.core.model.requests import AddMemory, EntityInput, FactInput
from graphiti_pkm.core.model.scratch_marks import SENTENCE, VALUE
from graphiti_pkm.core.model.times import show_time
from graphiti_pkm.core.reading.views import clipped
from graphiti_pkm.errors import InvalidInput

_LONGEST = 200
_SUMMARY = 2_000
_SHOWN = 100
_PATH = re.compile(r"^facts\[[0-9]+\](?:\.| is )")
_KINDS = get_args(FactKind)
_TEXTS = frozenset({SENTENCE, "measure", "unit", "valid_at", "invalid_at"})


@dataclass(frozen=True)
class DraftFact:
    """An edge as a fact."""

    edge: ScratchEdge
    given: FactInput
    parsed: ParsedFact

    @property
    def sentence(self) -> str:
        """The sentence in the text of the episode."""
        return str(self.given.quote)


@dataclass
class Draft:
    """What memory can store, and what is left out."""

    entities: dict[str, EntityInput] = field(default_factory=dict)
    """By label."""
    facts: list[DraftFact] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)

    def request(
        self,
        asked: CommitGraph,
        group: str,
        labels: Collection[str],
        facts: Collection[DraftFact],
        *,
        is_quoted: bool = True,
    ) -> AddMemory:
        """One call with these entities and facts; its text states each fact and names the entities without facts.

        Without ``is_quoted`` facts have no quotes, as a preview needs it.
        """
        entities = {label: self.entities[label] for label in self.entities if label in labels}
        joined = {end for fact in facts for end in (fact.edge.source, fact.edge.target)}
        alone = [one.name for label, one in entities.items() if label not in joined]
        lines = [asked.note.strip(), ""] if asked.note else []
        lines += [f"Committed from the scratch graph {asked.graph!r}.", "", *(fact.sentence for fact in facts)]
        if alone:
            lines.append(f"It also names {', '.join(alone)}.")
        return AddMemory(
            name=asked.title or f"Scratch graph {asked.graph!r}",
            episode_body="\n".join(lines),
            group_id=group,
            source_description="scratch graph",
            reference_time=asked.valid_at,
            entities=list(entities.values()),
            facts=[fact.given if is_quoted else fact.given.model_copy(update={"quote": None}) for fact in facts],
        )


def draft(chosen: Chosen, names: Mapping[str, str], refused: Mapping[str, str], person: str, zone: tzinfo) -> Draft:
    """By label, ``names`` are names in memory of nodes that came from it, ``refused`` why others are not written."""
    drafted = Draft()
    refused = dict(refused)
    for node in chosen.nodes:
        if node.label in refused:
            continue
        name = names.get(node.label) or display_name(node.label)
        reason = _unfit(name)
        if reason is not None:
            refused[node.label] = reason
            continue
        drafted.entities[node.label] = _entity(node, name)
    drafted.left_out += [LeftOut(what=clipped(label, _SHOWN), reason=reason) for label, reason in refused.items()]
    called = {**{label: one.name for label, one in drafted.entities.items()}, **names}
    for edge in chosen.edges:
        missing = next((label for label in (edge.source, edge.target) if label not in called), None)
        if missing is not None:
            drafted.left_out.append(_left_out(edge, f"{clipped(missing, _SHOWN)!r} is left out"))
            continue
        try:
            drafted.facts.append(_fact(edge, called[edge.source], called[edge.target], person, zone))
        except (InvalidInput, ValidationError) as error:
            drafted.left_out.append(_left_out(edge, _why(error)))
    return drafted


def edge_text(edge: ScratchEdge) -> str:
    """E.g. "api -calls-> auth"."""
    return f"{clipped(edge.source, _SHOWN)} -{clipped(edge.relation, _SHOWN)}-> {clipped(edge.target, _SHOWN)}"


def _left_out(edge: ScratchEdge, reason: str) -> LeftOut:
    return LeftOut(what=edge_text(edge), reason=reason)


def _unfit(name: str) -> str | None:
    if not normalise_name(name):
        return "a name needs a visible character"
    return f"a name has at most {_LONGEST} characters" if len(name) > _LONGEST else None


def _entity(node: ScratchNode, name: str) -> EntityInput:
    """The entity of a node; one that came from another group is given without a summary."""
    summary = node.properties.get("summary")
    said = clipped(summary, _SUMMARY) if isinstance(summary, str) and memory_uuid(node) is None else None
    return EntityInput(name=name, type=node.type, summary=said)


def _fact(edge: ScratchEdge, source: str, target: str, person: str, zone: tzinfo) -> DraftFact:
    """The fact of an edge. Memory makes the text of an edge without a sentence, and recognises it later."""
    said = {name: edge.properties[name] for name in SAID if edge.properties.get(name) is not None}
    if is_outdated(edge):
        said.pop(SENTENCE, None)
    own: dict[str, Any] = {name: value for name, value in said.items() if name in _TEXTS}
    kind = said.get("kind", "state")
    if kind not in _KINDS:
        raise InvalidInput(f"kind {clipped(str(kind), _SHOWN)!r} is unknown; use {', '.join(_KINDS)}")
    if isinstance(said.get(VALUE), str | float | int):
        own[VALUE] = said[VALUE]
    given = FactInput(source=source, relation=edge.relation, target=target, kind=kind, **own)
    told = read_fact(given, 0, person, zone)
    names = (person if is_me(source, person) else source, person if is_me(target, person) else target)
    return DraftFact(edge, given.model_copy(update={"quote": sentence_of(told, *names, zone)}), told)


def _why(error: InvalidInput | ValidationError) -> str:
    """The reason without the path of the field, as the caller did not make this call."""
    if isinstance(error, ValidationError):
        fields = ", ".join(dict.fromkeys(str(part) for one in error.errors() for part in one["loc"][:1]))
        return f"its properties {fields} are not as add_memory takes them"
    return clipped(_PATH.sub("", error.message), _SHOWN * 2)


def sentence_of(told: ParsedFact, source: str, target: str, zone: tzinfo) -> str:
    """The sentence by which an episode states a committed edge; what its own words lack follows in parentheses.

    It must contain value, unit and dates, or it would state a different fact.
    """
    said = told.text.removesuffix(".")
    amount = amount_of(told)
    times = _times(told, zone)
    if told.has_text:
        missing = [amount] if told.value is not None and told.value.casefold() not in said.casefold() else []
        missing.append(" ".join(words for words, day in times if day is None or day not in said))
        left = ", ".join(filter(None, missing))
        return f"{said} ({left})." if left else _ended(said)
    is_of_measure = normalise_name(told.measure or "") == normalise_name(target)
    if told.kind == "reading" and not is_of_measure:  # its text names only the measure
        said += f" ({source} {relation_words(told.relation)} {target})"
    return " ".join([said, *(words for words, _ in times)]) + "."


def amount_of(told: ParsedFact) -> str:
    """Value and unit, e.g. "5 h"; empty without a value."""
    return " ".join(part for part in (told.value, told.unit) if part) if told.value is not None else ""


def _times(told: ParsedFact, zone: tzinfo) -> list[tuple[str, str | None]]:
    """Start and end in words, each with the date that it names."""
    start, end = told.valid_at, told.invalid_at
    if start is not None and end is not None and end <= start:
        end = None  # memory stores such a fact without its end
    before = {"plan": "planned for", "event": "on", "reading": "on"}.get(told.kind, "from")
    if before == "on" and end is not None:
        before = "from"
    found = [_time(before, start, zone), _time("until", end, zone, told.end_words)]
    if told.kind == "plan" and start is None:
        found[0] = ("planned", None)
    return [one for one in found if one is not None]


def _time(words: str, at: datetime | None, zone: tzinfo, told: str | None = None) -> tuple[str, str | None] | None:
    if at is None:
        return None
    shown = told or show_time(at, zone)
    return f"{words} {shown}", shown


def _ended(said: str) -> str:
    return said if said.endswith(("!", "?", "…")) else f"{said}."
