"""Entries by meaning: the threshold, what lies below it, and what is left out before anything is cut."""

import math
from array import array
from collections.abc import Sequence

import pytest
from pydantic import ValidationError
from tests.fakes import FakeEmbedder
from tests.worlds.projects_world import ProjectsWorld

from graphiti_pkm.capabilities.projects.models import EntrySearchResponse
from graphiti_pkm.capabilities.projects.requests import SearchEntriesSemantic
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.records import Vector
from graphiti_pkm.errors import InvalidInput, NotFound

SIMON = Caller(principal="simon")
QUERY = "What was asked"


class KnownCosines(FakeEmbedder):
    """A text that ends in a number has just that cosine to every other text."""

    async def embed(self, texts: Sequence[str], patience: float | None = None) -> list[Vector]:
        await super().embed(texts, patience)
        return [self._of(text) for text in texts]

    @staticmethod
    def _of(text: str) -> Vector:
        last = text.rstrip(".").split()[-1]
        cosine = float(last) if last.replace(".", "").isdigit() else 1.0
        return array("f", [cosine, math.sqrt(1 - cosine**2)])


def found(answer: EntrySearchResponse) -> list[tuple[str | None, float | None]]:
    return [(entry.content, entry.similarity) for entry in answer.entries]


def world() -> ProjectsWorld:
    return ProjectsWorld(embedder=KnownCosines(dimension=2))


async def test_only_what_reaches_the_threshold_is_returned_and_the_nearest_below_are_told() -> None:
    asked = world()
    for cosine in (0.69, 0.71, 0.3, 0.9, 0.5, 0.6):
        await asked.enter(f"Of {cosine}")
    answer = await asked.search(QUERY)
    assert found(answer) == [("Of 0.9", 0.9), ("Of 0.71", 0.71)]
    assert answer.mode == "vector"
    assert [one.similarity for one in answer.below or ()] == [0.69, 0.6, 0.5]
    assert "the nearest below it has 0.69" in answer.message
    lower = await asked.search(QUERY, similarity_threshold=0.3)
    assert [one for _, one in found(lower)] == [0.9, 0.71, 0.69, 0.6, 0.5, 0.3]
    assert lower.below is None
    full = await asked.search(QUERY, limit=1)
    assert (found(full), full.below) == ([("Of 0.9", 0.9)], None)


async def test_of_equal_similarity_the_newest_comes_first() -> None:
    asked = world()
    for day in ("2025-03-02", "2025-03-03", "2025-03-01"):
        await asked.enter(f"{day} 0.8", timestamp=day)
    assert [content for content, _ in found(await asked.search(QUERY))] == [
        "2025-03-03 0.8",
        "2025-03-02 0.8",
        "2025-03-01 0.8",
    ]


async def test_a_project_gives_as_many_as_asked_for_whatever_is_nearer_in_others() -> None:
    asked = world()
    for name in ("One", "Two"):
        await asked.create(name)
    for n in range(30):
        await asked.enter(f"Nearer {n} of 0.95", project_id="Two")
    for n in range(12):
        await asked.enter(f"Own {n} of 0.8", project_id="One", type="task" if n % 2 else "journal")
    answer = await asked.search(QUERY, project_id="One")
    assert len(answer.entries) == 10
    assert all(str(content).startswith("Own") for content, _ in found(answer))
    tasks = await asked.search(QUERY, project_id="One", type="task")
    assert [entry.type for entry in tasks.entries] == ["task"] * 6


async def test_a_period_and_what_is_no_entry_are_left_out() -> None:
    asked = world()
    for day in ("2025-02-28", "2025-03-01", "2025-03-31", "2025-04-01"):
        await asked.enter(f"On {day} 0.8", timestamp=day)
    await asked.tell("No entry 0.9")
    march = await asked.search(QUERY, after="2025-03", before="2025-04")
    assert sorted(entry.timestamp[:10] for entry in march.entries) == ["2025-03-01", "2025-03-31"]
    assert len((await asked.search(QUERY)).entries) == 4


async def test_without_a_model_words_are_searched_without_a_similarity_and_a_threshold() -> None:
    asked = ProjectsWorld()
    await asked.enter("Tokens expire after an hour.", metadata={"a": 1})
    await asked.enter("Something else.")
    asked.embedder.is_available = False
    answer = await asked.search("tokens", similarity_threshold=1)
    assert (answer.mode, found(answer)) == ("text", [("Tokens expire after an hour.", None)])
    assert "full text only" in str(answer.scope.note)
    assert answer.entries[0].metadata == {"a": 1}
    asked.embedder.is_available = True
    assert (await asked.search("tokens", similarity_threshold=0.1)).mode == "vector"


async def test_with_the_entities_of_each_those_that_matter_most_first() -> None:
    asked = ProjectsWorld()
    await asked.create()
    named = [{"name": "Zoe"}, {"name": "Anna"}, {"name": "module"}]
    await asked.enter("Zoe and Anna wrote the module.", project_id="Momento", entities=named)
    await asked.enter("Zoe wrote the tests of the module.", project_id="Momento")
    await asked.enter("Zoe wrote the docs.", project_id="Momento")
    answer = await asked.search("who wrote the module", include_entities=True, similarity_threshold=0)
    by_content = {entry.content: entry.entities for entry in answer.entries}
    assert by_content == {
        "Zoe and Anna wrote the module.": ["Zoe", "module", "Anna"],
        "Zoe wrote the tests of the module.": ["Zoe", "module"],
        "Zoe wrote the docs.": ["Zoe"],
    }
    assert (await asked.search("who wrote the module", similarity_threshold=0)).entries[0].entities is None


async def test_the_best_sentence_of_a_long_entry_is_shown() -> None:
    asked = ProjectsWorld()
    await asked.enter("Nothing of note. " * 200 + "The tokens rotate every hour. " + "Again nothing. " * 200)
    (entry,) = (await asked.search("tokens rotate every hour", similarity_threshold=0.5)).entries
    assert entry.match == "The tokens rotate every hour."
    assert entry.match in str(entry.content)
    assert entry.content_truncated
    assert len(str(entry.content)) < 1_000


@pytest.mark.parametrize("fields", [{"limit": 51}, {"limit": 0}, {"similarity_threshold": 1.1}, {"type": "poem"}])
def test_what_is_out_of_range_is_refused(fields: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        SearchEntriesSemantic.model_validate({"query": "tokens", **fields})


async def test_bad_queries_and_unknown_projects_are_errors() -> None:
    asked = ProjectsWorld()
    for query in ("", "   ", "?!"):
        with pytest.raises(InvalidInput):
            await asked.search(query)
    with pytest.raises(NotFound):
        await asked.search("tokens", project_id="Momento")
    with pytest.raises(InvalidInput, match="before"):
        await asked.search("tokens", before="some day")


@pytest.mark.parametrize("before", ["2025-04", "2025-05"])
async def test_a_period_that_ends_before_it_begins_is_an_error_that_says_so(before: str) -> None:
    asked = ProjectsWorld()
    await asked.enter("Tom came.", entities=[{"name": "Tom"}], timestamp="2025-05-02")
    for call in (asked.search, asked.context_of):
        assert await call("Tom", after="2025-05", before="2025-06")
        with pytest.raises(InvalidInput, match="before must be later than after: after <= timestamp < before"):
            await call("Tom", after="2025-05", before=before)


async def test_an_empty_answer_says_what_there_is_and_entries_of_others_are_not_found() -> None:
    asked = ProjectsWorld()
    await asked.enter("Tokens expire.")
    answer = await asked.search("tokens", SIMON, similarity_threshold=0)
    assert (answer.entries, answer.below, answer.total) == ([], None, 0)
    assert answer.scope.holds == {"default": "0 episodes, 0 entities, 0 facts"}


async def decided() -> ProjectsWorld:
    """Three decisions about a database, of which the second takes the place of the first."""
    asked = world()
    for name, day, text in (
        ("MYSQL", "2018-02-01", "One MySQL cluster"),
        ("POSTGRES", "2018-03-01", "PostgreSQL"),
        ("S3", "", "S3"),
    ):
        facts = [{"source": f"ADR {name}", "relation": "HAS_STATUS", "value": "accepted"}]
        facts += (
            [{"source": "ADR POSTGRES", "relation": "SUPERSEDES", "target": "ADR MYSQL"}] if name == "POSTGRES" else []
        )
        entities = [{"name": f"ADR {name}", "type": "Decision"}]
        await asked.enter(
            f"ADR {name}: {text}, 0.8", timestamp=day or "2018-04-01", entities=entities, facts=facts, type="task"
        )
    await asked.enter("Later notes know that ADR MYSQL is over, 0.8", timestamp="2018-05-01")
    await asked.enter("Early notes hope for ADR MYSQL, 0.6", timestamp="2018-02-10")
    return asked


OVER = "ADR MYSQL: superseded (from 2018-03-01"


async def test_what_an_entry_tells_of_that_was_superseded_since_is_marked() -> None:
    asked = await decided()
    answer = await asked.search(QUERY)
    marks = {(one.content or "").split(",")[0]: one.superseded for one in answer.entries}
    assert marks.pop("ADR MYSQL: One MySQL cluster") is not None
    assert set(marks.values()) == {None}
    assert len(marks) == 3
    (below,) = answer.below or ()
    for lines in (below.superseded, *(one.superseded for one in answer.entries if one.superseded)):
        assert lines is not None
        assert [line[: len(OVER)] for line in lines] == [OVER]


async def test_the_entries_about_a_superseded_decision_are_marked() -> None:
    asked = await decided()
    answer = await asked.context_of("ADR MYSQL")
    assert [(one.timestamp[:10], bool(one.superseded)) for one in answer.entries] == [
        ("2018-02-01", True),
        ("2018-02-10", True),
        ("2018-03-01", False),
        ("2018-05-01", False),
    ]


async def test_a_decision_that_is_accepted_again_is_not_marked() -> None:
    asked = await decided()
    status = {"source": "ADR MYSQL", "relation": "HAS_STATUS", "value": "accepted", "valid_at": "2018-06-01"}
    await asked.enter("ADR MYSQL is accepted again, 0.8", timestamp="2018-06-01", facts=[status])
    assert [one.superseded for one in (await asked.search(QUERY)).entries] == [None] * 5
