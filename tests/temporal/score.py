"""The score of a run as a table: by topic, what passed, what failed, what the server cannot be asked."""

import json
from collections.abc import Sequence
from itertools import groupby

from tests.temporal.runner import Outcome

_VERDICTS = ("passed", "failed", "not supported")


def table(name: str, outcomes: Sequence[Outcome]) -> str:
    """Markdown. What is not supported is no pass: the score is out of all scenarios."""
    lines = [f"| {name} | scenarios | passed | failed | not supported |", "|---|---|---|---|---|"]
    for topic, group in groupby(outcomes, key=lambda outcome: outcome.scenario.topic):
        lines.append(_row(topic, list(group)))
    lines.append(_row("all", outcomes))
    return "\n".join(lines)


def summary(outcomes: Sequence[Outcome]) -> str:
    """One line: of all, and of those that the server can be asked."""
    passed, asked = _count(outcomes, "passed"), len(outcomes) - _count(outcomes, "not supported")
    return f"{passed} of {len(outcomes)} scenarios passed; {passed} of the {asked} that its adapter supports."


def failures(outcomes: Sequence[Outcome]) -> str:
    """What differed, scenario by scenario."""
    return "\n".join(
        f"{outcome.scenario.id} ({outcome.scenario.topic}): {detail}"
        for outcome in outcomes
        if outcome.verdict == "failed"
        for detail in outcome.details
    )


def as_json(name: str, outcomes: Sequence[Outcome]) -> str:
    """For other programs."""
    rows = [
        {"id": one.scenario.id, "topic": one.scenario.topic, "verdict": one.verdict, "details": one.details}
        for one in outcomes
    ]
    return json.dumps({"server": name, "scenarios": rows}, ensure_ascii=False, indent=1)


def _row(title: str, outcomes: Sequence[Outcome]) -> str:
    counts = " | ".join(str(_count(outcomes, verdict)) for verdict in _VERDICTS)
    return f"| {title} | {len(outcomes)} | {counts} |"


def _count(outcomes: Sequence[Outcome], verdict: str) -> int:
    return sum(outcome.verdict == verdict for outcome in outcomes)
