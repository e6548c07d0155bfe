"""The sentence by which an episode tells a committed edge: with value, unit and dates, else it tells another fact."""

from datetime import datetime, tzinfo

from graphiti_pkm.core.facts.parsed_facts import ToldFact, relation_words
from graphiti_pkm.core.model.names import normalise_name
from graphiti_pkm.core.model.times import show_time


def sentence_of(told: ToldFact, source: str, target: str, zone: tzinfo) -> str:
    """What is told, as one sentence; what its own words do not say stands in brackets behind them."""
    said = told.text.removesuffix(".")
    amount = amount_of(told)
    times = _times(told, zone)
    if told.has_text:
        missing = [amount] if told.value is not None and told.value.casefold() not in said.casefold() else []
        missing.append(" ".join(words for words, day in times if day is None or day not in said))
        left = ", ".join(filter(None, missing))
        return f"{said} ({left})." if left else _ended(said)
    is_of_measure = normalise_name(told.measure or "") == normalise_name(target)
    if told.kind == "reading" and not is_of_measure:  # its text names only what was measured
        said += f" ({source} {relation_words(told.relation)} {target})"
    return " ".join([said, *(words for words, _ in times)]) + "."


def amount_of(told: ToldFact) -> str:
    """Value and unit, e.g. "5 h"; empty without a value."""
    return " ".join(part for part in (told.word or told.value, told.unit) if part) if told.value is not None else ""


def _times(told: ToldFact, zone: tzinfo) -> list[tuple[str, str | None]]:
    """Start and end in words, each with the day that it names."""
    start, end = told.valid_at, told.invalid_at
    if start is not None and end is not None and end <= start:
        end = None  # memory keeps such a fact without its end
    before = {"plan": "planned for", "event": "on", "reading": "on"}.get(told.kind, "from")
    if before == "on" and end is not None:
        before = "from"
    found = [_time(before, start, zone), _time("until", end, zone)]
    if told.kind == "plan" and start is None:
        found[0] = ("planned", None)
    return [one for one in found if one is not None]


def _time(words: str, at: datetime | None, zone: tzinfo) -> tuple[str, str | None] | None:
    if at is None:
        return None
    shown = show_time(at, zone)
    return f"{words} {shown}", shown


def _ended(said: str) -> str:
    return said if said.endswith(("!", "?", "…")) else f"{said}."
