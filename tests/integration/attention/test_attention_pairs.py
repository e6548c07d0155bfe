"""How often a notice of add_memory is right: a labelled set of pairs, by the real embedder (see ``pairs.yaml``)."""

import asyncio
import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from tests.builders import at
from tests.worlds.writing_world import WritingWorld

from graphiti_pkm.core.model.answers import Attention
from graphiti_pkm.embedding.local.local import LocalEmbedder
from graphiti_pkm.settings.loader import Settings

NOW = at(2026, 6, 1)
BEFORE, SAID = "2026-02-02", "2026-03-02"
_FACT = re.compile(r"(?P<source>.+?) (?P<relation>[A-Z][A-Z_]+)(?: (?P<target>[^=]+?))?(?: = (?P<value>.+))?")
_PAIRS = yaml.load((Path(__file__).parent / "pairs.yaml").read_text(encoding="utf-8"), yaml.BaseLoader)  # noqa: S506


@dataclass(frozen=True)
class Pair:
    """What memory knows, the note that follows, and whether a notice of this kind is wanted."""

    kind: str
    is_wanted: bool
    is_aside: bool
    given: dict[str, Any]


@dataclass
class Score:
    """Notices of a kind: wanted and given, wanted and missing, given though not wanted."""

    right: int = 0
    missing: int = 0
    wrong: int = 0

    @property
    def precision(self) -> float:
        return self.right / (self.right + self.wrong or 1)

    @property
    def recall(self) -> float:
        return self.right / (self.right + self.missing or 1)

    def __add__(self, other: "Score") -> "Score":
        return Score(self.right + other.right, self.missing + other.missing, self.wrong + other.wrong)


PAIRS = [
    Pair(kind, label == "flag", place % 3 == 2, given)
    for kind, labelled in _PAIRS.items()
    for label, pairs in labelled.items()
    for place, given in enumerate(pairs)
]


def fact(given: str | dict[str, Any]) -> dict[str, Any]:
    """A fact from its short form."""
    more = {} if isinstance(given, str) else {name: value for name, value in given.items() if name != "say"}
    said = _FACT.fullmatch(given if isinstance(given, str) else given["say"])
    assert said is not None, given
    parts = {name: text.strip('"') for name, text in said.groupdict().items() if text is not None}
    return {**parts, **more}


def declared(pair: Pair, facts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The ends of facts as entities without a type, unless the pair is about entities that nobody declared."""
    if pair.given.get("undeclared"):
        return []
    names = dict.fromkeys(name for one in facts for name in (one["source"], one.get("target")) if name)
    return [{"name": name} for name in names if name != "me"]


@dataclass(frozen=True)
class Told:
    """The notices for a pair, and the sentences of all facts by uuid."""

    pair: Pair
    notices: list[Attention]
    sentences: dict[str, str]


async def said_about(pair: Pair, world: WritingWorld) -> Told:
    """What the note of a pair is answered."""
    given, known = pair.given, [fact(one) for one in pair.given.get("before", ())]
    typed = [{"name": name, "type": label} for name, label in given.get("known", {}).items()]
    if typed or known or "told" in given:
        body, day = given.get("told", "Earlier."), given.get("told_at", BEFORE if known or typed else SAID)
        await world.tell(body, *known, entities=[*typed, *declared(pair, known)], reference_time=day)
    facts = [fact(one) for one in given.get("note", ())]
    named = [{"name": name, "type": label} for name, label in given.get("names", {}).items()]
    named += [{"name": name, "aliases": aliases} for name, aliases in given.get("aliases", {}).items()]
    answer = await world.tell(given["says"], *facts, entities=[*named, *declared(pair, facts)], reference_time=SAID)
    return Told(pair, answer.needs_attention, {one.uuid: one.text for one in world.facts})


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> list[Told]:
    """The answer to each pair, each in a memory of its own."""
    return asyncio.run(_all_answers(Settings(cache_dir=tmp_path_factory.mktemp("cache"))))


async def _all_answers(settings: Settings) -> list[Told]:
    embedder = LocalEmbedder(settings)
    try:
        return [await said_about(pair, _world(pair, embedder)) for pair in PAIRS]
    finally:
        await embedder.close()


def _world(pair: Pair, embedder: LocalEmbedder) -> WritingWorld:
    """Only names are compared by their meaning; everything else needs no model."""
    return WritingWorld(now=NOW, embedder=embedder if pair.kind == "similar_existing" else None)


def scores(told: list[Told]) -> dict[str, Score]:
    """The score of each kind; every notice that a pair does not want is wrong."""
    found: dict[str, Score] = {kind: Score() for kind in _PAIRS}
    for one in told:
        given, kind = {notice.what for notice in one.notices}, one.pair.kind
        if one.pair.is_wanted:
            found[kind] += Score(right=kind in given, missing=kind not in given)
        for other in given - {kind} if one.pair.is_wanted else given:
            found[other] += Score(wrong=1)
    return found


def table(found: dict[str, Score]) -> str:
    """Precision and recall of each kind."""
    lines = [f"{'kind':24}{'right':>7}{'missing':>9}{'wrong':>7}{'precision':>11}{'recall':>8}"]
    for kind, one in {**found, "all": sum(found.values(), Score())}.items():
        lines.append(f"{kind:24}{one.right:7}{one.missing:9}{one.wrong:7}{one.precision:11.2f}{one.recall:8.2f}")
    return "\n".join(lines)


def test_the_set_is_large_balanced_and_has_every_kind() -> None:
    wanted = sum(pair.is_wanted for pair in PAIRS)
    assert len(PAIRS) >= 200
    assert 0.45 <= wanted / len(PAIRS) <= 0.55
    assert set(_PAIRS) == set(get_args(Attention.model_fields["what"].annotation))


@pytest.mark.parametrize("part", ["all", "tuned", "aside"])
def test_notices_are_right_at_least_three_times_of_four(
    answers: list[Told], part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    told = [one for one in answers if _is_in(one.pair, part)]
    found = scores(told)
    with capsys.disabled():
        sys.stdout.write(f"\n{part}, {len(told)} pairs\n{table(found)}\n")
    whole = sum(found.values(), Score())
    assert whole.precision >= 0.75
    assert whole.recall >= 0.90
    if part == "all":
        doubtful = {kind for kind, one in found.items() if one.precision < 0.75 or one.recall < 0.85}
        assert doubtful == set(), mistakes(told)


def _is_in(pair: Pair, part: str) -> bool:
    return part == "all" or pair.is_aside == (part == "aside")


def mistakes(told: list[Told]) -> str:
    """The pairs that got another answer than they want."""
    lines = []
    for one in told:
        given, pair = {notice.what for notice in one.notices}, one.pair
        if given != ({pair.kind} if pair.is_wanted else set()):
            lines.append(f"{pair.kind} {'wanted' if pair.is_wanted else 'unwanted'}: {pair.given} -> {sorted(given)}")
    return "\n" + "\n".join(lines)


def calls(notice: Attention) -> list[tuple[str, dict[str, Any]]]:
    """The ready calls of a notice: tool and arguments."""
    decoder = json.JSONDecoder()
    places = re.finditer(r"(add_memory|retire_fact|delete_entity_edge) (?=\{)", notice.call)
    return [(place[1], decoder.raw_decode(notice.call[place.end() :])[0]) for place in places]


def test_a_ready_call_has_no_words_of_its_own_nor_another_date_than_the_note(answers: list[Told]) -> None:
    checked = 0
    for one in answers:
        sent = {*one.sentences.values()}
        for tool, arguments in (call for notice in one.notices for call in calls(notice)):
            checked += 1
            assert arguments.get("reason") in {None, *sent}
            if tool == "add_memory":
                assert arguments["episode_body"].strip('"') in sent
                assert arguments["reference_time"] == SAID
                assert {fact["fact"] for fact in arguments["facts"] if "fact" in fact} <= sent
    assert checked > 20


def test_a_ready_call_ends_nothing_whose_sentence_the_notice_does_not_show(answers: list[Told]) -> None:
    checked = 0
    for one in answers:
        for notice in one.notices:
            shown = " ".join([notice.detail, *notice.candidates])
            for _, arguments in calls(notice):
                ended = [arguments.get("fact_uuid"), arguments.get("uuid")]
                replaced = [fact.get("replaces") for fact in arguments.get("facts", ())]
                ended += [uuid for given in replaced for uuid in (given if isinstance(given, list) else [given])]
                for uuid in filter(None, ended):
                    checked += 1
                    assert one.sentences[uuid] in shown, notice
    assert checked > 20
