"""Plays scenarios against an adapter and compares the answers with the expected ones."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import zip_longest
from typing import Any, Literal, TypeAlias

from tests.temporal.adapter import Adapter, FactAnswer, ParsedRequest, Refused
from tests.temporal.scenario import Expected, ExpectedChange, Held, Question, Scenario, Step

Verdict: TypeAlias = Literal["passed", "failed", "not supported"]


@dataclass(frozen=True)
class Outcome:
    """What a scenario came to; ``details`` says what differed, or what the server lacks."""

    scenario: Scenario
    verdict: Verdict
    details: list[str] = field(default_factory=list)


async def run_all(adapter: Adapter, scenarios: Iterable[Scenario], *, until_noticed: bool = False) -> list[Outcome]:
    """One after the other: they share a clock.

    ``until_noticed``: no more are run once one has failed and another has passed, which shows that a rule of the server
    is wrong but the server works.
    """
    outcomes: list[Outcome] = []
    for scenario in scenarios:
        outcomes.append(await run(adapter, scenario))
        if until_noticed and {"passed", "failed"} <= {outcome.verdict for outcome in outcomes}:
            break
    return outcomes


async def run(adapter: Adapter, scenario: Scenario) -> Outcome:
    """One scenario. A server that breaks has failed it, and the next one is still run."""
    if lacking := sorted(scenario.needs - adapter.capabilities):
        return Outcome(scenario, "not supported", [f"needs {', '.join(lacking)}"])
    try:
        differences = await _Play(adapter, scenario).run()
    except Exception as error:  # noqa: BLE001 another's server may fail in any way
        differences = [f"{type(error).__name__}: {error}"]
    return Outcome(scenario, "failed" if differences else "passed", differences)


class _Play:
    """One run of one scenario: what its refs and names became in the server."""

    def __init__(self, adapter: Adapter, scenario: Scenario) -> None:
        self._adapter = adapter
        self._scenario = scenario
        self._facts: dict[str, str] = {}
        self._episodes: dict[str, str] = {}

    async def run(self) -> list[str]:
        await self._adapter.begin(self._scenario.id, self._scenario.zone)
        differences: list[str] = []
        for number, step in enumerate(self._scenario.steps, 1):
            differences += [f"step {number}: {difference}" for difference in await self._do(step)]
        for number, question in enumerate(self._scenario.questions, 1):
            await self._clock(question.at or self._scenario.steps[-1].at)
            differences += [
                f"question {number}: {difference}"
                for difference in await (self._ask_entity if question.entity or question.alike else self._ask)(question)
            ]
        return differences

    async def _clock(self, now: datetime) -> None:
        if "clock" in self._adapter.capabilities:
            await self._adapter.set_clock(now)

    async def _do(self, step: Step) -> list[str]:
        await self._clock(step.at)
        try:
            told = await self._act(step)
        except Refused as error:
            return [] if step.refused else [f"refused: {error}"]
        if step.refused:
            return ["was to be refused"]
        if step.asks is not None and told is not None and told.asks != step.asks:
            return ["was to ask back" if step.asks else "asks back"]
        if step.rests is not None and told is not None:
            named = sorted(ref for ref, uuid in self._facts.items() if any(map(uuid.startswith, told.rests)))
            return _compare("rests", sorted(step.rests), named)
        return []

    async def _act(self, step: Step) -> ParsedRequest | None:
        adapter = self._adapter
        if step.tell is not None:
            return await self._tell(step)
        if step.retire is not None:
            by = step.retire.replaced_by
            await adapter.retire(
                self._facts[step.retire.fact],
                step.retire.reason,
                step.retire.invalid_at,
                None if by is None else self._facts[by],
            )
        elif step.restore is not None:
            await adapter.restore(self._facts[step.restore.fact], step.restore.reason)
        elif step.update is not None:
            await adapter.update(step.update, self._episodes)
        elif step.undo is not None:
            await adapter.undo(step.undo)
        elif step.rebuild:
            await adapter.rebuild()
        elif step.delete_fact is not None:
            await adapter.delete_fact(self._facts[step.delete_fact])
        elif step.delete_episode is not None:
            await adapter.delete_episode(self._episodes[step.delete_episode])
        return None

    async def _tell(self, step: Step) -> ParsedRequest:
        assert step.tell is not None
        facts = [
            fact.model_copy(
                update={
                    "replaces": self._replaced(fact.replaces) if fact.replaces else None,
                    "because_of": self._id(fact.because_of) if fact.because_of else None,
                }
            )
            for fact in step.tell.facts
        ]
        said = step.tell.said or step.at.isoformat()
        told = await self._adapter.tell(step.tell.model_copy(update={"facts": facts}), said)
        self._episodes[step.tell.name] = told.episode
        self._facts.update({fact.ref: uuid for fact, uuid in zip(facts, told.facts, strict=False) if fact.ref})
        return told

    def _replaced(self, wanted: str | list[str]) -> str | list[str]:
        if isinstance(wanted, list):
            return [self._id(one) for one in wanted]
        return self._id(wanted)

    def _id(self, wanted: str) -> str:
        return self._facts[wanted.removeprefix("ref:")] if wanted.startswith("ref:") else wanted

    async def _ask(self, question: Question) -> list[str]:
        if question.held is not None:
            return await self._ask_held(question, question.held)
        if question.planned is not None or question.open is not None or question.history is not None:
            return await self._ask_facts(question)
        if question.changes is not None:
            return await self._ask_changes(question)
        if question.series is not None:
            readings = [[_date(one.at), one.value] for one in await self._adapter.series(question.series)]
            expected = [[_date(_utc(at)), value] for at, value in question.expect]
            return _compare("series", expected, readings)
        return await self._ask_names(question)

    async def _ask_facts(self, question: Question) -> list[str]:
        if question.planned is not None:
            return _compare_facts("planned", question.expect, await self._adapter.planned(question.planned))
        if question.open is not None:
            return _compare_facts("open", question.expect, await self._adapter.open(question.open))
        assert question.history is not None
        return _compare_facts("history", question.expect, await self._adapter.history(question.history))

    async def _ask_held(self, question: Question, of: Held) -> list[str]:
        answers = await self._adapter.held(of)
        held = [answer for answer in answers if answer.status not in {"possible", "planned"}]
        differences = _compare_facts("held", question.expect, held)
        planned = [answer for answer in answers if answer.status == "planned"]
        differences += _compare_facts("due", question.due, planned)
        if question.possible is not None:
            apart = [answer for answer in answers if answer.status == "possible"]
            differences += _compare_facts("possible", question.possible, apart)
        return differences

    async def _ask_names(self, question: Question) -> list[str]:
        if question.episodes is not None:
            names = {uuid: name for name, uuid in self._episodes.items()}
            found = [names.get(uuid, uuid) for uuid in await self._adapter.episodes(question.episodes)]
            return _compare("episodes", question.expect, found)
        if question.standing is not None:
            return _compare("standing", question.expect, await self._adapter.standing(question.standing))
        assert question.months is not None
        counts = {month: str(count) for month, count in (await self._adapter.months(question.months)).items()}
        return _compare("months", question.expect, counts)

    async def _ask_entity(self, question: Question) -> list[str]:
        if question.entity is not None:
            found_entity = await self._adapter.entity(question.entity)
            return _compare("entity", question.expect, {key: found_entity.get(key) for key in question.expect})
        assert question.alike is not None
        is_reported = await self._adapter.alike(question.alike[0], question.alike[1])
        return _compare("alike", question.expect, is_reported)

    async def _ask_changes(self, question: Question) -> list[str]:
        assert question.changes is not None
        wanted = [ExpectedChange.model_validate(one) for one in question.expect]
        found = await self._adapter.changes(question.changes)
        refs = {uuid: ref for ref, uuid in self._facts.items()}
        lines = [(one.kind, refs.get(one.fact, one.fact)) for one in found]
        if [one.at for one in found] != sorted((one.at for one in found), reverse=True):
            return [f"changes: not the newest first: {lines}"]
        expected = [(one.kind, one.fact) for one in wanted]
        instants = [one.at for one in found]
        if _in_instants(expected, instants) != _in_instants(lines, instants):
            return [f"changes: expected {expected}, got {lines}"]
        reasons = {line: change.reason for line, change in zip(lines, found, strict=True)}
        return [
            f"changes: expected {one.reason!r} in the reason of {one.kind} {one.fact}, got {reason!r}"
            for one in wanted
            if one.reason is not None and one.reason not in (reason := reasons[one.kind, one.fact])
        ]


def _in_instants(
    lines: Sequence[tuple[str, str]], instants: Sequence[datetime]
) -> list[tuple[datetime | None, object]]:
    """Each line at its instant, those of one instant in any order."""
    return sorted(zip_longest(instants, lines), key=lambda pair: (str(pair[0]), str(pair[1])))


def _compare_facts(what: str, expected: Sequence[Any], answers: Sequence[FactAnswer]) -> list[str]:
    """Every expected fact is there once, with what is said of it, and nothing else is."""
    wanted = [Expected.model_validate({"says": one} if isinstance(one, str) else one) for one in expected]
    rest = list(answers)
    for want in wanted:
        found = next((answer for answer in rest if _fits(want, answer)), None)
        if found is None:
            return [f"{what}: expected {_shown(map(_line_of, wanted))}, got {_shown(map(_line, answers))}"]
        rest.remove(found)
    return [f"{what}: got more than expected: {_shown(map(_line, rest))}"] if rest else []


def _fits(want: Expected, answer: FactAnswer) -> bool:
    if want.says.casefold() != answer.says.casefold():
        return False
    given = want.model_fields_set - {"says"}
    return all(getattr(want, name) == getattr(answer, name) for name in given)


def _compare(what: str, expected: object, found: object) -> list[str]:
    return [] if expected == found else [f"{what}: expected {expected}, got {found}"]


def _line(answer: FactAnswer) -> str:
    return f"{answer.says} [{_date(answer.valid_at)}, {_date(answer.invalid_at)}) {answer.status}"


def _line_of(want: Expected) -> str:
    said = [f"{name}={_date(value) if isinstance(value, datetime) else value}" for name, value in want if value]
    return " ".join(said)


def _shown(lines: Iterable[str]) -> str:
    return "; ".join(lines) or "nothing"


def _utc(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _date(moment: datetime | None) -> str:
    return moment.astimezone(UTC).isoformat() if moment else "unknown"
