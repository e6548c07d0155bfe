"""Finds remaining texts that may still refer to what is forgotten, for the user to decide. Pure."""

from graphiti_pkm.capabilities.forget.plan import ForgetPlan
from graphiti_pkm.capabilities.forget.target import ForgetTarget, words_of_fact
from graphiti_pkm.capabilities.forget.text import Redaction, Sentence
from graphiti_pkm.capabilities.forget.words import words_in
from graphiti_pkm.core.model.names import words_of
from graphiti_pkm.core.model.records import Fact
from graphiti_pkm.core.reading.views import clipped

_SHOWN = 50
_MOST_LISTED = 20
_TEXT = 200
_UUID = 8
_SPEAKER = 100
_GOES_ON = words_of("she he they her him his their it its sie er ihr ihre sein seine elle il lui ella")


def hints_of(plan: ForgetPlan) -> list[str]:
    """Remaining texts that may still refer to it; the user decides."""
    material = plan.material
    gone = {fact.uuid for fact in plan.gone}
    hints = [
        f"[{one.episode.uuid[:_UUID]}] {clipped(sentence.text, _TEXT)}"
        for one in (*material.redactions, *material.unsaid)
        for place, sentence in enumerate(one.sentences)
        if place not in one.gone
        and (
            material.target.hints(sentence.text)
            or (place - 1 in one.gone and _goes_on(sentence))
            or _is_of_turn(one, sentence, material.target)
            or any(_suggests(one, sentence, fact) for fact in plan.gone[:_SHOWN])
        )
    ]
    hints += [
        f"[{fact.uuid[:_UUID]}] {clipped(fact.text, _TEXT)}"
        for fact in material.facts.values()
        if fact.uuid not in gone and material.target.hints(words_of_fact(fact))
    ]
    hints += [clipped(line, _TEXT) for line in plan.asks]
    touched = {one.episode.uuid for one in material.redactions}
    hints += [
        f"[{episode.uuid[:_UUID]}] {clipped(episode.name, _TEXT)}: mentions it without its name"
        for episode in material.target.unnamed
        if episode.uuid not in touched
    ]
    hints = list(dict.fromkeys(hints))
    more = len(hints) - _MOST_LISTED + 1
    return hints if len(hints) <= _MOST_LISTED else [*hints[: _MOST_LISTED - 1], f"and {more} more"]


def _goes_on(sentence: Sentence) -> bool:
    """Whether a sentence begins like one about somebody named before."""
    return sentence.text.split(maxsplit=1)[0].casefold().strip(".,;:!?'\"") in _GOES_ON if sentence.text else False


def _is_of_turn(redaction: Redaction, sentence: Sentence, target: ForgetTarget) -> bool:
    """Whether it is part of what the entity itself says in a conversation."""
    content = redaction.episode.content
    if target.entity is None or redaction.episode.source != "message":
        return False
    speaker, colon, _ = content[content.rfind("\n", 0, sentence.start) + 1 : sentence.end].partition(":")
    return bool(colon) and len(speaker) <= _SPEAKER and target.says(speaker)


def _suggests(redaction: Redaction, sentence: Sentence, fact: Fact) -> bool:
    """Whether a remaining sentence probably supports a removed fact, although the rules for names do not say so."""
    if redaction.episode.uuid not in fact.episodes:
        return False
    if fact.quote_episode_uuid == redaction.episode.uuid and fact.quote_start is not None and fact.quote_end:
        return sentence.start < fact.quote_end and fact.quote_start < sentence.end
    value = words_in(fact.value or "")
    return bool(value) and value <= words_in(sentence.text)
