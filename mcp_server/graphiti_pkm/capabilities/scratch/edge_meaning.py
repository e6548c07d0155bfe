"""What the edges of a graph say of their ends, as far as their relations tell: that X needs Y, or that X causes Y.

A graph of what depends on what and a graph of causes point in opposite directions: without Y, X falls in the first and
stays in the second. Words of relations decide only if the caller does not, and every answer says how edges were read.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

from graphiti_pkm.capabilities.scratch.matching.matching import Match, shown
from graphiti_pkm.core.model.names import same_key

EdgeMeaning: TypeAlias = Literal["needs", "causes"]

AS_CAUSES = "X → Y read as: X causes Y"
_AS_NEEDS = "X → Y read as: X needs Y"
_CAUSAL = frozenset(
    same_key(word)
    for words in (
        ("cause", "causes", "caused", "trigger", "triggers", "triggered", "enable", "enables", "enabled"),
        ("lead to", "leads to", "led to", "result in", "results in", "resulted in", "contributes to", "contributed to"),
        ("produces", "produced", "induces", "induced", "provokes", "provoked", "brings about", "explains"),
    )
    for word in words
)
_OPPOSING = frozenset(
    same_key(word)
    for words in (
        ("prevent", "prevents", "prevented", "stops", "stopped", "avoids", "avoided", "mitigates", "mitigated"),
        ("reduces", "reduced", "inhibits", "contradicts", "refutes", "rules out", "protects", "protects against"),
    )
    for word in words
)
_NAMES_ITS_CAUSE = frozenset(
    same_key(word)
    for words in (
        ("caused by", "is caused by", "was caused by", "triggered by", "is triggered by", "was triggered by", "due to"),
        ("is due to", "was due to", "because of", "results from", "resulted from", "stems from", "stemmed from"),
        ("follows from", "depends on", "depended on", "relies on", "needs", "requires"),
    )
    for word in words
)
_MOST_SHOWN = 5
_NARROWS = "relation follows one of them."


class Reading(NamedTuple):
    meaning: EdgeMeaning
    read_as: str
    """For the answer."""
    note: str | None


def read_edges(relations: Mapping[str, int], asked: EdgeMeaning | None) -> Reading:
    """How to read the edges of these relations, given with their numbers, if the caller does not say so.

    They are causes if more edges have the relation of a cause than any other one; those that say what prevents what
    point the same way as causes and decide nothing.
    """
    causal, opposing = _those(relations, _CAUSAL), _those(relations, _OPPOSING)
    deciding = sum(count for name, count in relations.items() if name not in opposing)
    by_words = sum(relations[one] for one in causal) * 2 > deciding
    is_mixed = len(relations) > 1 and (0 < len(causal) < len(relations) or bool(opposing))
    notes = [_followed(relations)] if is_mixed else []
    if asked is not None:
        read_as = f"{AS_CAUSES if asked == 'causes' else _AS_NEEDS}, as asked."
    elif by_words:
        read_as = f"{AS_CAUSES}, by the relations {_listed(causal)}. If X needs Y, set edges=needs."
    else:
        read_as = f"{_AS_NEEDS}. If X causes Y, set edges=causes."
    if opposing:
        notes.append(_against(opposing))
    return Reading(asked or ("causes" if by_words else "needs"), read_as, " ".join(notes) or None)


def notes_on_causes(relations: Mapping[str, int], *, is_followed: bool) -> list[str]:
    """What to know of the relations that were followed as causes, given with the numbers of their edges.

    ``is_followed``: false if nothing led to the target, and these leave it.
    """
    opposing, turned = _those(relations, _OPPOSING), _those(relations, _NAMES_ITS_CAUSE)
    notes = [_against_the_arrow(turned)] if turned else []
    if is_followed and len(relations) > 1:
        notes.append(_followed(relations))
    if is_followed and opposing:
        notes.append(_against(opposing))
    return notes


def loss_note(node: Match, target: Match, loss: Mapping[str, Any], meaning: EdgeMeaning) -> str:
    """What was asked about a target of a removal, and what came of it."""
    without, aim = shown(node.label), shown(target.label)
    if node.index == target.index:
        return f"Asked: what changes for {aim}, which is the node itself."
    changes = {
        "leads_to": f"what no longer leads to {aim}",
        "reached_by": f"what no longer follows from {aim}" if meaning == "causes" else f"what no longer reaches {aim}",
        "reaches": f"what {aim} no longer reaches",
    }
    if loss["asked"] not in changes:
        return f"Asked: what changes for {aim} without {without}: nothing, no path leads from one to the other."
    lost = [gone if loss["asked"] == "reaches" else (one,) for one, gone in loss["lost"]]
    count = f"{sum(map(len, lost)):,} of the {loss['before']:,} other nodes"
    roots = f", {loss['roots_lost']:,} of its {loss['roots']:,} roots among them" if loss["roots"] else ""
    return f"Asked: {changes[loss['asked']]} without {without}: {count}{roots}."


def _those(relations: Iterable[str], words: frozenset[str]) -> list[str]:
    return [one for one in relations if same_key(one) in words]


def _followed(relations: Mapping[str, int]) -> str:
    counts = [f"{shown(name)} ({count:,})" for name, count in relations.items()]
    return f"Edges of {len(relations)} relations were followed alike: {_first(counts)}; {_NARROWS}"


def _against(opposing: list[str]) -> str:
    return f"Edges of {_listed(opposing)} work against what they point to, yet were followed."


def _against_the_arrow(turned: list[str]) -> str:
    return (
        f"Edges of {_listed(turned)} name the cause second, yet are followed as X causes Y: add them the other way "
        "round, or use impact_of_removal with edges=needs."
    )


def _listed(relations: list[str]) -> str:
    return _first([shown(one) for one in relations])


def _first(texts: list[str]) -> str:
    return ", ".join(texts[:_MOST_SHOWN]) + (", …" if len(texts) > _MOST_SHOWN else "")
