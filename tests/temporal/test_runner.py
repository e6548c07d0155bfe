"""The suite itself: wrong answers fail, what a server cannot be asked is no pass, slips in data files are refused."""

from datetime import UTC, datetime
from typing import ClassVar

import pytest
import yaml
from pydantic import ValidationError
from tests.temporal.adapter import Adapter, FactAnswer, ParsedRequest, ReadingAnswer, Refused
from tests.temporal.runner import Outcome, run, run_all
from tests.temporal.scenario import Episode, Held, Of, Scenario, Series, load
from tests.temporal.score import failures, summary, table

ROME = FactAnswer("Rome", "current", datetime(2026, 3, 1, tzinfo=UTC), None)
OSLO = FactAnswer("Oslo", "current", datetime(2026, 4, 1, tzinfo=UTC), None)


class Parrot(Adapter):
    """Answers what it was given."""

    name: ClassVar[str] = "parrot"
    capabilities: ClassVar[frozenset[str]] = frozenset({"as_of", "possible", "history", "series", "asks"})

    def __init__(self, *answers: FactAnswer, asks: bool = False, refuses: bool = False) -> None:
        self.answers, self.asks, self.refuses = list(answers), asks, refuses
        self.heard: list[object] = []

    async def begin(self, scenario: str, zone: str) -> None:
        assert (scenario, zone) == ("a-scenario", "UTC")

    async def tell(self, episode: Episode, said: str) -> ParsedRequest:
        self.heard.append(said)
        if self.refuses:
            raise Refused("no")
        return ParsedRequest("e1", [f"f{number}" for number, _ in enumerate(episode.facts)], self.asks)

    async def held(self, question: Held) -> list[FactAnswer]:
        self.heard.append(question)
        return self.answers

    async def history(self, of: Of) -> list[FactAnswer]:
        self.heard.append(of)
        return self.answers

    async def series(self, of: Series) -> list[ReadingAnswer]:
        self.heard.append(of)
        return [ReadingAnswer(datetime(2026, 3, day, tzinfo=UTC), str(day)) for day in (2, 1)]


def scenario(question: str, step: str = "") -> Scenario:
    given = yaml.safe_load(
        f"""
        id: a-scenario
        why: a rule
        topic: a topic
        steps:
          - {{at: "2026-03-10T09:00", tell: {{body: I live in Rome.}}{step}}}
        questions:
          - {{{question}}}
        """
    )
    return Scenario.model_validate(given)


HELD = 'held: {source: me, as_of: "2026-05-01"}'
HISTORY = "history: {source: me}"


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        (f"{HELD}, expect: [Rome]", [ROME]),
        (f"{HELD}, expect: []", []),
        (f"{HELD}, expect: [oslo, rome]", [ROME, OSLO]),
        (f"{HELD}, expect: [], possible: [Rome]", [FactAnswer("Rome", "possible")]),
        (f'{HISTORY}, expect: [{{says: Rome, valid_at: "2026-03-01", invalid_at: null}}]', [ROME]),
    ],
)
async def test_the_right_answer_passes(question: str, answers: list[FactAnswer]) -> None:
    server = Parrot(*answers)
    assert await run(server, scenario(question)) == Outcome(scenario(question), "passed", [])
    asked = scenario(question).questions[0]
    assert server.heard == ["2026-03-10T09:00:00+00:00", asked.held or asked.history]


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        (f"{HELD}, expect: [Rome]", []),
        (f"{HELD}, expect: [Rome]", [OSLO]),
        (f"{HELD}, expect: [Rome]", [ROME, OSLO]),
        (f"{HELD}, expect: [Rome]", [ROME, ROME]),
        (f"{HELD}, expect: [Rome, Rome]", [ROME]),
        (f"{HELD}, expect: [Rome]", [FactAnswer("Rome", "possible")]),
        (f"{HELD}, expect: [Rome], possible: [Rome]", [ROME]),
        (f"{HELD}, expect: [], possible: []", [FactAnswer("Rome", "possible")]),
        (f'{HISTORY}, expect: [{{says: Rome, valid_at: "2026-03-02"}}]', [ROME]),
        (f"{HISTORY}, expect: [{{says: Rome, valid_at: null}}]", [ROME]),
        (f'{HISTORY}, expect: [{{says: Rome, invalid_at: "2026-05-01"}}]', [ROME]),
        (f"{HISTORY}, expect: [{{says: Rome, status: ended}}]", [ROME]),
        ('series: {source: me, measure: sleep}, expect: [["2026-03-01", "1"], ["2026-03-02", "2"]]', []),
    ],
)
async def test_a_wrong_answer_fails_and_says_what_differed(question: str, answers: list[FactAnswer]) -> None:
    outcome = await run(Parrot(*answers), scenario(question))
    assert outcome.verdict == "failed"
    assert "expected" in outcome.details[0]


@pytest.mark.parametrize(
    ("step", "server", "verdict"),
    [
        (", asks: true", Parrot(), "failed"),
        (", asks: true", Parrot(asks=True), "passed"),
        (", asks: false", Parrot(asks=True), "failed"),
        (", refused: true", Parrot(), "failed"),
        (", refused: true", Parrot(refuses=True), "passed"),
        ("", Parrot(refuses=True), "failed"),
    ],
)
async def test_what_a_write_answers_counts(step: str, server: Parrot, verdict: str) -> None:
    assert (await run(server, scenario(f"{HELD}, expect: []", step))).verdict == verdict


async def test_what_is_not_supported_is_no_pass() -> None:
    now = scenario("held: {source: me}, expect: [Rome]")
    outcomes = await run_all(Parrot(ROME), [now, scenario(f"{HELD}, expect: [Rome]"), scenario(f"{HELD}, expect: []")])
    assert [outcome.verdict for outcome in outcomes] == ["not supported", "passed", "failed"]
    assert outcomes[0].details == ["needs clock"]
    assert "| all | 3 | 1 | 1 | 1 |" in table("parrot", outcomes)
    assert summary(outcomes).startswith("1 of 3 scenarios passed; 1 of the 2 ")
    assert failures(outcomes).startswith("a-scenario (a topic): question 1: held: got more than expected: Rome")


async def test_a_search_for_a_fault_ends_once_a_scenario_has_passed_and_another_failed() -> None:
    right, wrong = scenario(f"{HELD}, expect: [Rome]"), scenario(f"{HELD}, expect: []")
    outcomes = await run_all(Parrot(ROME), [wrong, wrong, right, wrong, right], until_noticed=True)
    assert [outcome.verdict for outcome in outcomes] == ["failed", "failed", "passed"]


async def test_a_server_that_breaks_has_failed() -> None:
    broken = Adapter()
    broken.capabilities = frozenset({"as_of"})  # type: ignore[misc]
    outcome = await run(broken, scenario(f"{HELD}, expect: []"))
    assert (outcome.verdict, outcome.details) == ("failed", ["NotImplementedError: "])


@pytest.mark.parametrize(
    "question",
    [
        "held: {source: me, as_off: x}, expect: []",
        "held: {source: me}",
        "held: {relation: R}, expect: []",
        "held: {source: me}, history: {source: me}, expect: []",
    ],
)
def test_a_slip_in_a_data_file_is_refused(question: str) -> None:
    with pytest.raises(ValidationError):
        scenario(question)


def test_every_topic_says_its_rules() -> None:
    assert all(one.why and one.questions for one in load())
