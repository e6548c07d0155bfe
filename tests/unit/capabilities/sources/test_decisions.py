"""What is read of a record of a decision, and how it is written: only what it states, and when that changed."""

from datetime import datetime
from pathlib import Path

import pytest
from tests.worlds.sources_world import SourcesWorld

from graphiti_pkm.capabilities.sources.decisions import DecisionRecord, read_decision
from graphiti_pkm.capabilities.sources.ingesting import Given, Ingested
from graphiti_pkm.capabilities.sources.layout import front_of
from graphiti_pkm.capabilities.sources.names import LONGEST_NAME
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.core.model.records import Fact
from graphiti_pkm.errors import InvalidInput

NYGARD = """\
# 4. DNS definitions

Date: 2017-07-14

## Status

Accepted

## Context

We need names. Accepted practice differs.

## Decision

We will use one zone.
"""
MADR = """\
---
status: accepted
date: 2024-03-02
decision-makers: [Ann Lee, "Bo Berg"]
---
# Use Markdown

## Context and Problem Statement

How do we write?

## Decision Outcome

Chosen option: Markdown.
"""
OLD_MADR = """\
# Use Markdown

* Status: superseded by [ADR-0005](0005-use-asciidoc.md)
* Deciders: Ann Lee; Bo Berg and Cy Day
* Date: 2019-01-02

## Context and Problem Statement

How do we write?

## Links

* Supersedes [ADR-0001](0001-use-word.md)
"""


def nygard(status: str, date: str = "2017-07-14", title: str = "4. DNS definitions") -> str:
    return (
        NYGARD.replace("\nAccepted\n", f"\n{status}\n").replace("2017-07-14", date).replace("4. DNS definitions", title)
    )


def read(text: str) -> DecisionRecord:
    record = read_decision(text, front_of(text))
    assert record is not None
    return record


def words(text: str, record: DecisionRecord) -> list[str]:
    return [text[one.start : one.end] for one in (*record.statuses, *record.deciders)]


def test_of_nygards_form_status_and_date_are_read_where_they_stand() -> None:
    record = read(NYGARD)
    assert (record.title, record.number, record.status.text) == ("DNS definitions", 4, "accepted")
    assert record.status_day == "2017-07-14"
    assert record.summary == "DNS definitions: We will use one zone. We need names. Accepted practice differs."
    assert words(NYGARD, record) == ["Accepted"]
    assert record.status.start == NYGARD.index("Accepted\n"), "not the first place of the word"


@pytest.mark.parametrize("text", [MADR, MADR.replace("\n", "\r\n")])
def test_of_madr_the_front_matter_is_read(text: str) -> None:
    record = read(text)
    assert (record.title, record.status.text, record.status_day) == ("Use Markdown", "accepted", "2024-03-02")
    assert [one.text for one in record.deciders] == ["Ann Lee", "Bo Berg"]
    assert words(text, record)[0] == "accepted"


def test_deciders_may_be_a_list_of_yaml() -> None:
    text = MADR.replace('[Ann Lee, "Bo Berg"]', '\n  - Ann Lee\n  - "Bo Berg"')
    record = read(text)
    assert [one.text for one in record.deciders] == ["Ann Lee", "Bo Berg"]
    assert words(text, record) == ["accepted", "Ann Lee", "Bo Berg"]


@pytest.mark.parametrize(
    ("told", "names"),
    [
        ("王小明, Renée O’Brien <renee@x.org>, @ann", ["王小明", "Renée O’Brien", "ann"]),
        ("Ann Lee <https://x.org/ann>; Bo Berg <bo@x.org> and Cy", ["Ann Lee", "Bo Berg", "Cy"]),
        ("[@ann-lee](https://x.org/ann), @all, @org/team, <bo@x.org>, @", ["ann-lee"]),
        ("<names of everybody>, Ann <team>", []),
        ("Bo <ann@x.org>, ann; [Cy](https://x.org/dee), dee", ["Bo", "ann", "Cy", "dee"]),
    ],
)
def test_addresses_and_handles_of_deciders(told: str, names: list[str]) -> None:
    text = NYGARD.replace("Date: ", f"Deciders: {told}\nDate: ")
    record = read(text)
    assert [one.text for one in record.deciders] == names
    assert words(text, record) == ["Accepted", *names]


async def test_each_decider_on_a_line_is_a_sentence_with_what_stands_behind_the_name(tmp_path: Path) -> None:
    world = SourcesWorld(tmp_path)
    told = "Deciders: Bo <ann@x.org>, ann and [Cy](https://x.org/dee)"
    await world.ingest(adr_0004_dns=NYGARD.replace("Date: ", f"{told}\nDate: "))
    (write,) = world.ingested
    texts = {one.uuid: one.content for one in write.episodes}
    said = [(one.sentence, texts[one.episode_uuid][one.start : one.end]) for one in write.passages]
    begin = said.index((0, "Deciders:"))
    names = [(1, "Bo <ann@x.org>,"), (2, "ann and ["), (3, "Cy](https://x.org/dee)")]
    assert said[begin + 1 : begin + 5] == [*names, (4, "Date: 2017-07-14")]


def test_of_older_madr_the_list_below_the_title_and_the_links_are_read() -> None:
    record = read(OLD_MADR)
    assert (record.status.text, record.status_day) == ("superseded", None), "the date is that of the decision"
    assert [one.text for one in record.deciders] == ["Ann Lee", "Bo Berg", "Cy Day"]
    assert [(one.relation, one.is_passive, one.number, one.stem) for one in record.links] == [
        ("SUPERSEDES", True, 5, "0005-use-asciidoc"),
        ("SUPERSEDES", False, 1, "0001-use-word"),
    ]


@pytest.mark.parametrize(
    ("line", "status", "day", "links"),
    [
        ("Superceded by [10. Names](0010-names.md)", "superseded", None, [("SUPERSEDES", True, 10)]),
        ("**Superseded** by ADR-0012", None, None, []),
        ("Superseded by ADR-0012 on 2021-03-04", "superseded", "2021-03-04", [("SUPERSEDES", True, 12)]),
        ("Partly superseded by ADR 7", "partly superseded", None, [("SUPERSEDES_PART_OF", True, 7)]),
        (
            "Superseded by [a](0007-a.md) and [b](0008-b.md)",
            "superseded",
            None,
            [("SUPERSEDES", True, n) for n in (7, 8)],
        ),
        ("~~Accepted~~ Deprecated", "deprecated", None, []),
        ("Accepted (2020-01-31)", "accepted", "2020-01-31", []),
        ("2020-01-31: Accepted", "accepted", "2020-01-31", []),
        ("- *Accepted* on 2020-01-31", "accepted", "2020-01-31", []),
        ("Accepted\n\nAmended by [5. Zones](0005-zones.md)", "accepted", None, [("AMENDS", True, 5)]),
        ("On hold", "on hold", None, []),
        ("Partly superseded", "partly superseded", None, []),
    ],
)
def test_forms_of_a_status(line: str, status: str | None, day: str | None, links: list[object]) -> None:
    record = read_decision(nygard(line), "")
    if status is None:
        assert record is None
        return
    assert record is not None
    assert (record.status.text, record.status.day) == (status, day)
    assert [(one.relation, one.is_passive, one.number) for one in record.links] == links


@pytest.mark.parametrize(
    "text",
    [
        nygard("We accepted this in the meeting of May, but not for good."),
        nygard("{proposed | rejected | accepted}"),
        nygard("Proposed, accepted or rejected"),
        nygard("Accepted").replace("## Context", "## News").replace("## Decision", "## More"),
        nygard("Accepted").replace("## Status", "## State"),
        nygard("```\nStatus: accepted\n```"),
        "Status: accepted\n",
        "",
    ],
)
def test_what_states_no_status_in_a_known_form_is_no_record(text: str) -> None:
    assert read_decision(text, front_of(text)) is None


@pytest.mark.parametrize("date", ["06/07/2017", "2017-02-30", "soon"])
def test_a_date_in_a_doubtful_form_is_none(date: str) -> None:
    record = read(nygard("Accepted", date))
    assert (record.day, record.status_day) == (None, None)


def test_a_sentence_about_this_record_is_read_and_one_about_anything_else_is_not() -> None:
    said = "This ADR in part supersedes [0003](0003-nets.md). Postgres replaces [MySQL](https://x.org/0002.html)."
    record = read(NYGARD.replace("We need names.", said))
    (link,) = record.links
    assert (link.relation, link.is_passive, link.number, link.stem) == ("SUPERSEDES_PART_OF", False, 3, "0003-nets")
    assert link.said.text == "This ADR in part supersedes [0003](0003-nets.md)"


def current(world: SourcesWorld, source: str, relation: str) -> list[Fact]:
    now = world.context.now()
    return [
        one
        for one in world.graph.tables.facts.values()
        if (one.source_name, one.relation) == (source, relation)
        and one.is_open
        and (one.invalid_at is None or one.invalid_at > now)
    ]


def day(text: str) -> datetime:
    return datetime.fromisoformat(f"{text}T00:00:00+00:00")


def labels(world: SourcesWorld) -> dict[str, str | None]:
    return {one.name: one.label for one in world.graph.tables.entities.values()}


async def decide(world: SourcesWorld, **texts: str) -> list[str]:
    return [one.outcome for one in await world.ingest(**{f"n{name}": text for name, text in texts.items()})]


async def test_a_record_gives_its_status_with_date_deciders_and_quotes_in_one_write(tmp_path: Path) -> None:
    world = SourcesWorld(tmp_path)
    (done,) = await world.ingest(adr_0004_dns=NYGARD.replace("Date: ", "Deciders: Ann Lee\nDate: "))
    assert done.outcome == "new"
    (write,) = world.ingested
    (status,) = current(world, "ADR 4", "HAS_STATUS")
    assert (status.value, status.valid_at, status.text) == ("accepted", day("2017-07-14"), "ADR 4 is accepted")
    assert status.quote == "Accepted"
    section = next(one for one in write.episodes if one.uuid == status.quote_episode_uuid)
    assert section.content[status.quote_start : status.quote_end] == "Accepted"
    assert section.content.startswith("## Status")
    assert status.episodes == (section.uuid,)
    (by,) = current(world, "ADR 4", "DECIDED_BY")
    assert (by.target_name, by.quote) == ("Ann Lee", "Ann Lee")
    (dated,) = current(world, "ADR 4", "HAS_DATE")
    assert (dated.value, dated.quote) == ("2017-07-14", "2017-07-14")
    assert {one.valid_at for one in write.episodes} == {day("2017-07-14")}
    decision = next(one for one in write.entities if one.name == "ADR 4")
    assert (decision.label, decision.summary) == (
        "Decision",
        "DNS definitions: We will use one zone. We need names. Accepted practice differs.",
    )
    assert {one.episode_uuid for one in write.mentions if one.entity_uuid == decision.uuid} == {
        one.uuid for one in write.episodes
    }
    assert world.graph.tables.vectors.keys() >= {one.uuid for one in write.facts}


async def test_the_front_matter_of_a_record_is_paragraph_0_and_quoted(tmp_path: Path) -> None:
    world = SourcesWorld(tmp_path)
    await world.ingest(madr=MADR)
    (status,) = current(world, "ADR madr", "HAS_STATUS")
    assert (status.value, status.valid_at, status.quote) == ("accepted", day("2024-03-02"), "accepted")
    assert await world.text("madr") == MADR
    document = await world.graph.documents.present("default", "madr")
    assert document is not None
    assert document.front == "", "its words are those of an episode, which forget reaches by the sentence"
    sections = await world.graph.documents.sections(document.uuid, "default", 9)
    assert [one.paragraph for one in sections] == [0, 4], "headings without a text join the section that follows"


async def test_an_edited_status_ends_the_former_one_and_both_are_right(tmp_path: Path) -> None:
    world = SourcesWorld(tmp_path)
    await world.ingest(adr_0004_dns=NYGARD)
    (accepted,) = current(world, "ADR 4", "HAS_STATUS")
    world.clock.advance(days=30)
    (done,) = await world.ingest(adr_0004_dns=nygard("Deprecated"))
    assert (done.outcome, done.new_sections) == ("changed", 1)
    (status,) = current(world, "ADR 4", "HAS_STATUS")
    told = world.ingested[-1].recorded_at
    assert (status.value, status.valid_at, status.quote) == ("deprecated", None, "Deprecated")
    assert status.reference_time == told, "it is known since then, and began before"
    ended = world.graph.tables.facts[accepted.uuid]
    assert (ended.valid_at, ended.invalid_at, ended.voided) == (day("2017-07-14"), told, False)
    world.clock.advance(days=30)
    await world.ingest(adr_0004_dns=NYGARD)
    (again,) = current(world, "ADR 4", "HAS_STATUS")
    assert (again.value, again.valid_at) == ("accepted", world.ingested[-1].recorded_at)
    assert again.uuid != accepted.uuid
    assert len(current(world, "ADR 4", "HAS_DATE")) == 1


@pytest.mark.parametrize("is_first", [True, False])
async def test_what_is_superseded_when_and_by_what(tmp_path: Path, is_first: bool) -> None:
    world = SourcesWorld(tmp_path)
    old = nygard("Superseded by [Names](0015-names.md)")
    new = nygard("Accepted", "2018-03-06", "15. Names")
    for name, text in [("0004-dns", old), ("0015-names", new)][:: 1 if is_first else -1]:
        await world.ingest(**{name: text})
    (link,) = current(world, "ADR 15", "SUPERSEDES")
    assert (link.target_name, link.valid_at) == ("ADR 4", day("2018-03-06"))
    assert link.quote == "Superseded by [Names](0015-names.md)"
    (status,) = current(world, "ADR 4", "HAS_STATUS")
    assert (status.value, status.valid_at) == ("superseded", day("2018-03-06"))
    assert [one.value for one in world.graph.tables.facts.values() if one.relation == "HAS_STATUS"].count(
        "accepted"
    ) == 1


@pytest.mark.parametrize("is_accepted", [True, False])
async def test_an_end_without_a_day_has_no_start_until_a_record_tells_it(tmp_path: Path, is_accepted: bool) -> None:
    """The day of the ingestion is no day of the decision."""
    world = SourcesWorld(tmp_path)
    if is_accepted:
        await world.ingest(**{"0004-dns": NYGARD})
        world.clock.advance(days=30)
    old = nygard("Superseded by [Names](0015-names.md)")
    await world.ingest(**{"0004-dns": old})
    told = world.ingested[-1].recorded_at
    (status,) = current(world, "ADR 4", "HAS_STATUS")
    assert (status.value, status.valid_at, status.reference_time) == ("superseded", None, told)
    accepted = [one for one in world.graph.tables.facts.values() if one.value == "accepted"]
    assert [(one.valid_at, one.invalid_at) for one in accepted] == [(day("2017-07-14"), told)] * is_accepted
    world.clock.advance(days=30)
    await world.ingest(**{"0015-names": nygard("Proposed", "2018-01-01", "15. Names")})
    assert world.fact_of(status).valid_at is None, "a proposal supersedes nothing"
    world.clock.advance(days=30)
    await world.ingest(**{"0015-names": nygard("Accepted", "2018-03-06", "15. Names")})
    dated = world.fact_of(status)
    assert (dated.valid_at, dated.voided, dated.quote) == (day("2018-03-06"), False, status.quote)
    (link,) = current(world, "ADR 15", "SUPERSEDES")
    assert link.valid_at == day("2018-03-06")
    assert [world.fact_of(one).invalid_at for one in accepted] == [day("2018-03-06")] * is_accepted
    assert not any(one.corrected for one in world.graph.tables.episodes.values())
    world.clock.advance(days=30)
    await world.ingest(**{"0004-dns": old.replace("We need names.", "We need other names.")})
    assert world.fact_of(status) == dated


@pytest.mark.parametrize("is_first", [True, False])
async def test_the_day_beside_the_status_of_what_supersedes_counts_where_it_has_no_date(
    tmp_path: Path, is_first: bool
) -> None:
    world = SourcesWorld(tmp_path)
    old = nygard("Superseded by [Names](0015-names.md)")
    new = nygard("Proposed (2018-01-01)\n\nAccepted (2018-03-06)", title="15. Names").replace("Date: 2017-07-14", "")
    for name, text in [("0004-dns", old), ("0015-names", new)][:: 1 if is_first else -1]:
        await world.ingest(**{name: text})
    (status,) = current(world, "ADR 4", "HAS_STATUS")
    (link,) = current(world, "ADR 15", "SUPERSEDES")
    assert (status.valid_at, link.valid_at) == (day("2018-03-06"), day("2018-03-06"))


async def test_a_decision_that_is_superseded_in_one_run_ends_on_the_day_of_the_other(tmp_path: Path) -> None:
    world = SourcesWorld(tmp_path)
    await world.ingest(**{"0004-dns": NYGARD})
    (accepted,) = current(world, "ADR 4", "HAS_STATUS")
    world.clock.advance(days=3)
    old, new = nygard("Superseded by [Names](0015-names.md)"), nygard("Accepted", "2018-03-06", "15. Names")
    await world.ingest(**{"0004-dns": old, "0015-names": new})
    (status,) = current(world, "ADR 4", "HAS_STATUS")
    assert (status.value, status.valid_at) == ("superseded", day("2018-03-06"))
    assert world.graph.tables.facts[accepted.uuid].invalid_at == day("2018-03-06")


async def test_a_link_that_an_edit_takes_out_ends(tmp_path: Path) -> None:
    world = SourcesWorld(tmp_path)
    await world.ingest(**{"0004-dns": nygard("Superseded by ADR-0015")})
    world.clock.advance(days=3)
    await world.ingest(**{"0004-dns": nygard("Superseded by ADR-0016")})
    assert current(world, "ADR 15", "SUPERSEDES") == []
    assert len(current(world, "ADR 16", "SUPERSEDES")) == 1
    assert [one.value for one in current(world, "ADR 4", "HAS_STATUS")] == ["superseded"]


@pytest.mark.parametrize("status", ["Accepted\n\nSupersedes [1. pg](0001-pg.md)", "Superseded by [1. pg](0001-pg.md)"])
async def test_a_link_and_a_decider_that_come_back_hold_again_from_then_on(tmp_path: Path, status: str) -> None:
    world = SourcesWorld(tmp_path)
    whole = nygard(status, "2020-05-01").replace("Date: ", "Deciders: Ann Lee, Bo Berg\nDate: ")
    await world.ingest(**{"0001-pg": nygard("Accepted", "2019-01-02", "1. pg")})
    await world.ingest(**{"0004-dns": whole})
    source = "ADR 4" if "Supersedes" in status else "ADR 1"
    (first,) = current(world, source, "SUPERSEDES")
    world.clock.advance(days=3)
    less = whole.replace(status, "Accepted").replace("Ann Lee, ", "")
    await world.ingest(**{"0004-dns": less})
    gone = world.ingested[-1].recorded_at
    assert current(world, source, "SUPERSEDES") == []
    for _ in range(2):
        world.clock.advance(days=3)
        await world.ingest(**{"0004-dns": whole})
        (link,) = current(world, source, "SUPERSEDES")
        deciders = {one.target_name: one for one in current(world, "ADR 4", "DECIDED_BY")}
        assert deciders.keys() == {"Ann Lee", "Bo Berg"}
        back = world.ingested[-1].recorded_at
        if source == "ADR 1":
            assert [one.value for one in current(world, "ADR 4", "HAS_STATUS")] == ["superseded"]
        assert (link.valid_at, deciders["Ann Lee"].valid_at) == (back, back), "it held not in between"
        assert world.graph.tables.facts[first.uuid].invalid_at == gone
        await world.ingest(**{"0004-dns": less})
        assert current(world, source, "SUPERSEDES") == []


@pytest.mark.parametrize(
    ("own", "after"),
    [("Accepted", "accepted"), ("Superseded by ADR-0004", "superseded"), ("Superseded", "superseded"), (None, None)],
)
async def test_what_is_no_longer_superseded_has_its_own_status_again(
    tmp_path: Path, own: str | None, after: str | None
) -> None:
    world = SourcesWorld(tmp_path)
    if own:
        await world.ingest(**{"0001-pg": nygard(own, "2019-01-02", "1. pg")})
    whole = nygard("Accepted\n\nSupersedes [1. pg](0001-pg.md)", "2020-05-01")
    await world.ingest(**{"0004-dns": whole})
    assert [one.value for one in current(world, "ADR 1", "HAS_STATUS")] == ["superseded"]
    world.clock.advance(days=3)
    await world.ingest(**{"0004-dns": nygard("Accepted", "2020-05-01")})
    gone = world.ingested[-1].recorded_at
    now = current(world, "ADR 1", "HAS_STATUS")
    assert [one.value for one in now] == ([after] if after else [])
    if after == "superseded":
        return
    (over,) = [one for one in world.graph.tables.facts.values() if one.value == "superseded"]
    assert (over.valid_at, over.invalid_at) == (day("2020-05-01"), gone)
    assert [one.valid_at for one in now] == ([gone] if after else [])
    world.clock.advance(days=3)
    await world.ingest(**{"0004-dns": whole})
    (again,) = current(world, "ADR 1", "HAS_STATUS")
    assert (again.value, again.valid_at) == ("superseded", world.ingested[-1].recorded_at)


async def test_what_another_decision_supersedes_as_well_stays_superseded(tmp_path: Path) -> None:
    world = SourcesWorld(tmp_path)
    link = "Accepted\n\nSupersedes [1. pg](0001-pg.md)"
    await world.ingest(**{"0001-pg": nygard("Accepted", "2019-01-02", "1. pg")})
    await world.ingest(**{"0004-dns": nygard(link, "2020-05-01"), "0005-names": nygard(link, "2020-06-01", "5. N")})
    await world.ingest(**{"0004-dns": nygard("Accepted", "2020-05-01")})
    assert [one.value for one in current(world, "ADR 1", "HAS_STATUS")] == ["superseded"]
    world.clock.advance(days=3)
    await world.ingest(**{"0005-names": nygard("Accepted", "2020-06-01", "5. N")})
    assert [one.value for one in current(world, "ADR 1", "HAS_STATUS")] == ["accepted"]


async def test_a_decider_is_a_person_unless_it_is_known_or_reads_as_something_else(tmp_path: Path) -> None:
    world = SourcesWorld(tmp_path)
    await world.ingest(**{"0001-pg": nygard("Accepted", title="1. pg").replace("Date: ", "Deciders: Ann Lee\nDate: ")})
    assert labels(world)["Ann Lee"] == "Person"
    told = "Deciders: Ann Lee, 王小明, the team, Platform Team, Architecture Board, Acme Ltd, SRE, Tech Lead, ADR 1, Bo"
    await world.ingest(**{"0004-dns": NYGARD.replace("Date: ", f"{told}\nDate: ")})
    people = {"Ann Lee", "王小明"}
    others = {"the team", "Platform Team", "Architecture Board", "Acme Ltd", "SRE", "Tech Lead", "Bo"}
    found = labels(world)
    assert {one: found[one] for one in people | others} == {
        one: "Person" if one in people else None for one in sorted(people | others)
    }
    assert found["ADR 1"] == "Decision"
    assert {one.target_name for one in current(world, "ADR 4", "DECIDED_BY")} == {*people, *others, "ADR 1"}


async def test_a_part_that_is_superseded_ends_no_decision(tmp_path: Path) -> None:
    world = SourcesWorld(tmp_path)
    await world.ingest(**{"0003-nets": nygard("Partly superseded", title="3. Nets")})
    said = "This ADR in part supersedes [0003](0003-nets.md)."
    await world.ingest(**{"0033-ip": nygard("Pending", "2018-09-26", "3. Nets").replace("We need names.", said)})
    assert [one.value for one in current(world, "ADR 3", "HAS_STATUS")] == ["partly superseded"]
    (link,) = current(world, "ADR 33", "SUPERSEDES_PART_OF")
    assert (link.target_name, link.quote) == ("ADR 3", said[:-1])


@pytest.mark.parametrize("order", ["old, new", "new, old", "accepted, new, old", "accepted, old, new", "one run"])
@pytest.mark.parametrize("says", ["both", "only old", "only new"])
@pytest.mark.parametrize("of_new", ["Accepted", "Pending"])
async def test_a_decision_is_partly_superseded_from_the_day_of_what_supersedes_a_part(
    tmp_path: Path, order: str, says: str, of_new: str
) -> None:
    world = SourcesWorld(tmp_path)
    told = "Partly superseded" + ("" if says == "only new" else " by [0033](0033-ip.md)")
    old = {"0003-nets": nygard(told, title="3. Nets")}
    text = nygard(of_new, "2018-09-26", "33. IP")
    text = text if says == "only old" else text.replace("We need names.", "This ADR in part supersedes ADR-3.")
    new = {"0033-ip": text}
    first = {"0003-nets": nygard("Accepted", title="3. Nets")}
    runs = {
        "old, new": [old, new],
        "new, old": [new, old],
        "accepted, new, old": [first, new, old],
        "accepted, old, new": [first, old, new],
    }
    for texts in runs.get(order, [old | new]):
        await world.ingest(**texts)
    (link,) = current(world, "ADR 33", "SUPERSEDES_PART_OF")
    (status,) = current(world, "ADR 3", "HAS_STATUS")
    is_dated = of_new == "Accepted" or says != "only old"
    assert link.valid_at == (day("2018-09-26") if is_dated else None)
    assert (status.value, status.valid_at) == ("partly superseded", link.valid_at)
    ended = [one.invalid_at for one in world.graph.tables.facts.values() if one.text == "ADR 3 is accepted"]
    assert len(ended) == order.startswith("accepted")
    assert set(ended) <= {status.valid_at or status.reference_time}


async def test_a_day_beside_partly_superseded_is_that_of_the_status(tmp_path: Path) -> None:
    world = SourcesWorld(tmp_path)
    said = "This ADR in part supersedes ADR-3."
    await world.ingest(**{"0033-ip": nygard("Accepted", "2018-09-26", "33. IP").replace("We need names.", said)})
    await world.ingest(**{"0003-nets": nygard("Partly superseded by ADR-33 on 2018-10-01", title="3. Nets")})
    (one,) = current(world, "ADR 3", "HAS_STATUS")
    assert one.valid_at == day("2018-10-01")


async def test_what_a_proposal_would_supersede_stays_in_force_until_it_is_accepted(tmp_path: Path) -> None:
    world = SourcesWorld(tmp_path)
    new = nygard("Proposed\n\nSupersedes [DNS](0004-dns.md)", "2018-03-06", "15. Names")
    await world.ingest(**{"0004-dns": NYGARD, "0015-names": new})
    assert [one.value for one in current(world, "ADR 4", "HAS_STATUS")] == ["accepted"]
    assert [one.kind for one in current(world, "ADR 15", "SUPERSEDES")] == ["plan"]
    world.clock.advance(days=9)
    await world.ingest(**{"0015-names": new.replace("Proposed", "Accepted")})
    assert [one.kind for one in current(world, "ADR 15", "SUPERSEDES")] == ["state"]
    assert [one.value for one in current(world, "ADR 4", "HAS_STATUS")] == ["superseded"]


async def test_two_files_of_one_number_are_two_decisions_and_a_renamed_one_is_the_same(tmp_path: Path) -> None:
    world = SourcesWorld(tmp_path)
    await world.ingest(**{"0004-dns": NYGARD})
    await world.ingest(**{"0004-other": nygard("Pending", title="4. Another thing")})
    assert [one.value for one in current(world, "ADR 4", "HAS_STATUS")] == ["accepted"]
    assert [one.value for one in current(world, "ADR 0004-other", "HAS_STATUS")] == ["pending"]
    facts = len(world.graph.tables.facts)
    (done,) = await world.ingest(**{"0005-dns": NYGARD})
    assert done.new_sections == 0
    assert len(world.graph.tables.facts) == facts, "nothing is told twice"
    assert "ADR 5" not in {one.name for one in world.graph.tables.entities.values()}


async def test_records_of_two_sets_have_their_own_decisions(tmp_path: Path) -> None:
    world = SourcesWorld(tmp_path)
    await world.ingest(**{"0004-dns": NYGARD})
    (tmp_path / "other.md").write_text(nygard("Rejected"))
    given = [Given(tmp_path / "other.md", "team/0004-dns")]
    _ = [one async for one in world.ingesting.ingest(LOCAL, given, tmp_path, None)]
    assert [one.value for one in current(world, "ADR 4", "HAS_STATUS")] == ["accepted"]
    assert [one.value for one in current(world, "team/ADR 4", "HAS_STATUS")] == ["rejected"]


async def ingest_as(world: SourcesWorld, file: str, name: str, text: str) -> Ingested:
    """Write a file and ingest it alone, under a name of its own."""
    world.clock.advance(seconds=1)
    (world.root / file).write_text(text)
    given = [Given(world.root / file, name)]
    (done,) = [one async for one in world.ingesting.ingest(LOCAL, given, world.root, None)]
    return done


async def test_one_file_of_a_set_with_the_name_of_the_set_is_a_version_of_what_it_is_there(tmp_path: Path) -> None:
    world = SourcesWorld(tmp_path)
    await ingest_as(world, "0004-dns.md", "team/0004-dns", NYGARD)
    done = await ingest_as(world, "0004-dns.md", "team", nygard("Deprecated"))
    assert (done.name, done.outcome, done.version) == ("team/0004-dns", "changed", 2)
    assert [one.value for one in current(world, "team/ADR 4", "HAS_STATUS")] == ["deprecated"]
    assert "ADR 4" not in labels(world)


async def test_a_later_file_that_comes_alone_with_the_name_of_the_set_is_one_more_of_the_set(tmp_path: Path) -> None:
    world = SourcesWorld(tmp_path)
    await ingest_as(world, "0004-dns.md", "team/0004-dns", nygard("Superseded by [Names](0015-names.md)"))
    await ingest_as(world, "notes.md", "teams/notes", "# Notes")
    new = await ingest_as(world, "0015-names.md", "team", nygard("Accepted", "2018-03-06", "15. Names"))
    assert (new.name, new.outcome, new.version) == ("team/0015-names", "new", 1)
    assert {name for name in labels(world) if "ADR" in name} == {"team/ADR 4", "team/ADR 15"}
    other = await ingest_as(world, "guide.md", "tea", "# Guide")
    assert (other.name, other.outcome) == ("tea", "new"), "there is no such set"
    own = await ingest_as(world, "team.md", "team", "# What the team is")
    assert (own.name, own.outcome) == ("team", "new"), "its own name, which it has without --name too"
    more = await ingest_as(world, "0033-logs.md", "team", nygard("Accepted", "2019-03-06", "33. Logs"))
    assert (more.name, more.outcome) == ("team", "failed"), "a document of just that name comes first"
    assert "--name 'team/0033-logs'" in (more.reason or "")


async def test_a_name_that_is_too_long_with_that_of_the_set_is_refused(tmp_path: Path) -> None:
    world, name = SourcesWorld(tmp_path), "t" * (LONGEST_NAME - 3)
    await ingest_as(world, "a.md", f"{name}/a", "# A")
    with pytest.raises(InvalidInput, match="characters"):
        await ingest_as(world, "guide.md", name, "# Guide")


async def test_a_file_of_a_set_is_no_version_of_another_that_came_alone_with_the_name_of_the_set(
    tmp_path: Path,
) -> None:
    world = SourcesWorld(tmp_path)
    await ingest_as(world, "0004-dns.md", "team", NYGARD)
    writes, known = len(world.ingested), labels(world)
    other = nygard("Accepted", "2017-07-14", "15. Names").replace("names", "a namespace").replace("one zone", "two")
    done = await ingest_as(world, "0015-names.md", "team", other)
    assert (done.outcome, done.version) == ("failed", 0)
    assert "is of 0004-dns.md" in (done.reason or "")
    assert (len(world.ingested), labels(world)) == (writes, known)
    named = await ingest_as(world, "0015-names.md", "team/0015-names", other)
    assert (named.outcome, named.version) == ("new", 1), "as the error says"
    same = await ingest_as(world, "0015-names.md", "team", other)
    assert same.outcome == "failed", "the text of another document is none of this one either"


async def test_a_renamed_record_is_a_version_where_it_shares_a_section_or_is_not_changed(tmp_path: Path) -> None:
    world = SourcesWorld(tmp_path)
    await ingest_as(world, "0004-dns.md", "team", NYGARD)
    numbered = await ingest_as(world, "0005-dns.md", "team", NYGARD.replace("# 4.", "# 5."))
    assert (numbered.outcome, numbered.version) == ("changed", 2)
    moved = await ingest_as(world, "0006-dns.md", "team", NYGARD.replace("# 4.", "# 5."))
    assert (moved.outcome, moved.version) == ("moved", 2)
    rewritten = await ingest_as(world, "0006-dns.md", "team", "# Another text")
    assert (rewritten.outcome, rewritten.version) == ("changed", 3), "of the same file"
    former = await ingest_as(world, "0007-dns.md", "team", NYGARD)
    assert (former.outcome, former.version) == ("changed", 4), "the text of a former version"


async def test_a_decision_that_has_another_document_is_not_told_twice(tmp_path: Path) -> None:
    world = SourcesWorld(tmp_path)
    await ingest_as(world, "0004-dns.md", "0004-dns", NYGARD)
    writes = len(world.ingested)
    done = await ingest_as(world, "0004-dns.md", "team/0004-dns", nygard("Deprecated"))
    assert done.outcome == "failed"
    assert "is the document '0004-dns'" in (done.reason or "")
    assert len(world.ingested) == writes
    assert "team/ADR 4" not in labels(world)
    same = await ingest_as(world, "0004-dns.md", "team/0004-dns", NYGARD)
    assert (same.outcome, len(current(world, "ADR 4", "HAS_STATUS"))) == ("new", 1), (
        "the same text is the same decision"
    )
    page = await ingest_as(world, "guide.md", "guide", "# Guide")
    renamed = await ingest_as(world, "guide.md", "team/guide", "# Another guide")
    assert (page.outcome, renamed.outcome) == ("new", "new"), "what states no facts is another document"


async def test_a_set_under_another_name_links_the_decisions_that_it_has(tmp_path: Path) -> None:
    world = SourcesWorld(tmp_path)
    old = nygard("Superseded by [Names](0015-names.md)")
    new = nygard("Accepted", "2018-03-06", "15. Names")
    for name in ("0004-dns", "team/0004-dns"):
        await ingest_as(world, "0004-dns.md", name, old)
    for name in ("0015-names", "team/0015-names"):
        await ingest_as(world, "0015-names.md", name, new)
    assert {name for name in labels(world) if "ADR" in name} == {"ADR 4", "ADR 15"}


@pytest.mark.parametrize("order", ["old, new", "new, old", "accepted, new, old", "accepted, old, new", "one run"])
@pytest.mark.parametrize(("beside", "since"), [("", "2018-03-06"), (" on 2018-09-01", "2018-09-01")])
async def test_what_both_records_state_of_an_end_is_told_once_with_the_day_that_stands_beside_it(
    tmp_path: Path, order: str, beside: str, since: str
) -> None:
    world = SourcesWorld(tmp_path)
    old = {"0004-dns": nygard(f"Superseded by [Names](0015-names.md){beside}")}
    says = nygard("Accepted", "2018-03-06", "15. Names").replace("We need names.", "This ADR supersedes ADR-4.")
    new = {"0015-names": says}
    runs = {
        "old, new": [old, new],
        "new, old": [new, old],
        "accepted, new, old": [{"0004-dns": NYGARD}, new, old],
        "accepted, old, new": [{"0004-dns": NYGARD}, old, new],
        "one run": [old | new],
    }
    for texts in runs[order]:
        await world.ingest(**texts)
    (status,) = current(world, "ADR 4", "HAS_STATUS")
    assert (status.value, status.valid_at) == ("superseded", day(since))
    (link,) = current(world, "ADR 15", "SUPERSEDES")
    assert (link.target_name, link.valid_at) == ("ADR 4", day(since))
    ended = [one for one in world.graph.tables.facts.values() if one.value == "accepted" and "ADR 4" in one.text]
    assert [one.invalid_at for one in ended] == ([day(since)] if order.startswith("accepted") else [])


async def test_a_day_that_a_note_told_is_not_corrected_by_a_record(tmp_path: Path) -> None:
    world = SourcesWorld(tmp_path)
    await world.ingest(**{"0004-dns": NYGARD})
    told = {"source": "ADR 4", "relation": "HAS_STATUS", "value": "superseded", "valid_at": "2018-05-05"}
    await world.tell("ADR 4 is superseded since 5 May 2018.", told)
    await world.ingest(**{"0004-dns": nygard("Superseded by [Names](0015-names.md) on 2018-09-01")})
    (status,) = current(world, "ADR 4", "HAS_STATUS")
    assert status.valid_at == day("2018-05-05")


async def test_another_part_that_is_edited_says_nothing_new_of_the_decision(tmp_path: Path) -> None:
    world = SourcesWorld(tmp_path)
    await world.ingest(**{"0004-dns": NYGARD})
    facts = dict(world.graph.tables.facts)
    await world.ingest(**{"0004-dns": NYGARD.replace("We need names.", "We need many names.")})
    assert world.graph.tables.facts == facts
    assert not world.ingested[-1].facts
