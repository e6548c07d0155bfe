"""What add_memory refuses, and what it takes as it is."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError
from tests.builders import at
from tests.fakes import FakeEmbedder
from tests.worlds.writing_world import WritingWorld, the

from graphiti_pkm.capabilities.remember.service import Writing
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.job_records import EmbedMissingJob, EmbedPassagesJob
from graphiti_pkm.core.model.records import Vector
from graphiti_pkm.core.model.requests import AddMemory
from graphiti_pkm.embedding import write_vectors
from graphiti_pkm.errors import InvalidInput, NotAllowed
from graphiti_pkm.storage.commit import Committer

FACT = {"source": "me", "relation": "WORKS_AT", "target": "Acme"}


@pytest.fixture
def world() -> WritingWorld:
    return WritingWorld(now=at(2026, 6))


def fact(**changes: Any) -> dict[str, Any]:
    return {"facts": [{**FACT, **changes}]}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"episode_body": ""}, "episode_body is blank"),
        ({"episode_body": " \n\t"}, "episode_body is blank"),
        ({"episode_body": "a\0b"}, "episode_body holds a NUL"),
        ({"name": "a\0"}, "name holds a NUL"),
        ({"name": "x" * 501}, "name has more than 500"),
        ({"source_description": "\udfff"}, "source_description holds a lone surrogate"),
        ({"saga": "\0"}, "saga holds a NUL"),
        ({"excluded_entity_types": ["X", "\0"]}, r"excluded_entity_types\[1\] holds a NUL"),
        ({"uuid": "abc"}, "is not a uuid"),
        ({"uuid": "0b9e3c1e9f0a-4d55-8a0e-6f3f3f1f2a10"}, "is not a uuid"),
        ({"reference_time": "yesterday"}, "^reference_time: 'yesterday' is not a date"),
        ({"reference_time": "2026-W03"}, "^reference_time: '2026-W03' is not a date"),
        ({"group_id": "a b"}, "is not a group name"),
        ({"group_id": "a" * 65}, "is not a group name"),
        ({"group_id": "0" * 32 + "_x"}, "reserved form"),
        ({"entities": [{"name": "Sarah"}, {"name": " "}]}, r"^entities\[1\]\.name is blank"),
        ({"entities": [{"name": "-_-"}]}, r"^entities\[0\]\.name is blank"),
        ({"entities": [{"name": "\u200b"}]}, r"^entities\[0\]\.name is blank"),
        ({"entities": [{"name": "\ufe0f\u200d"}]}, r"^entities\[0\]\.name is blank or of invisible characters only"),
        (fact(source="\u2060\u00ad"), r"^facts\[0\]\.source is blank"),
        ({"entities": [{"name": "Sarah", "aliases": ["Sare", ""]}]}, r"^entities\[0\]\.aliases\[1\] is blank"),
        ({"entities": [{"name": "Sarah", "summary": "a\0"}]}, r"^entities\[0\]\.summary holds a NUL"),
        (fact(source=""), r"^facts\[0\]\.source is blank"),
        (fact(target="x" * 201), r"^facts\[0\]\.target has 201 characters"),
        (fact(relation="!!"), r"^facts\[0\]\.relation needs"),
        (fact(valid_at="soon"), r"^facts\[0\]\.valid_at: 'soon' is not a date"),
        (fact(invalid_at="2026-13"), r"^facts\[0\]\.invalid_at: '2026-13' is not a date"),
        (fact(kind="reading"), r"^facts\[0\] is a reading without a value"),
        (fact(value="x" * 201), r"^facts\[0\]\.value has 201 characters"),
        (fact(relation="HAS_STATUS", value="x" * 300), r"^facts\[0\]\.value has 300 characters.*Nothing was stored"),
        (fact(relation="HAS_STATUS", target="x" * 300), r"^facts\[0\]\.target has 300 characters.*Nothing was stored"),
        (fact(value=float("nan")), r"^facts\[0\]\.value is not a number"),
    ],
)
async def test_bad_input_is_refused_in_words_and_nothing_is_stored(
    world: WritingWorld, fields: dict[str, Any], message: str
) -> None:
    body = fields.pop("episode_body", "A note.")
    facts = fields.pop("facts", [])
    with pytest.raises(InvalidInput, match=message) as caught:
        await world.tell(body, *facts, **fields)
    assert len(caught.value.message) < 300
    assert not world.graph.attempts
    assert await world.journal.rows(0, 10) == []


@pytest.mark.parametrize(
    "fields",
    [
        {"uuid": ""},
        {"reference_time": ""},
        {"reference_time": " "},
        fact(target=" ", value="9"),
        fact(measure=""),
        fact(replaces=[""]),
    ],
)
async def test_a_blank_optional_field_counts_as_left_out(world: WritingWorld, fields: dict[str, Any]) -> None:
    facts = fields.pop("facts", [])
    answer = await world.tell("A note.", *facts, **fields)
    assert answer.status == "stored"
    assert len(answer.facts) == len(facts)
    assert not answer.retired


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"episode_body": "a\ud800b"}, "unicode"),
        ({"episode_body": "x" * 2_000_001}, "at most 2000000 characters"),
        ({"source": "podcast"}, "'text', 'message', 'json' or 'fact_triple'"),
        ({"entities": [{"name": f"n{i}"} for i in range(501)]}, "at most 500 items"),
    ],
)
def test_what_the_declaration_excludes_makes_no_request(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        AddMemory.model_validate({"episode_body": "x", **fields})


@pytest.mark.parametrize("field", [{"kind": "rumour"}, {"change": "undone"}, {"weight": 1}])
async def test_unknown_kinds_and_fields_are_refused(world: WritingWorld, field: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        await world.tell("x", {**FACT, **field})


async def test_a_reader_may_not_write(world: WritingWorld) -> None:
    with pytest.raises(NotAllowed):
        await world.tell("x", caller=Caller(read_only=True))


@pytest.mark.parametrize(
    "body",
    [
        "x" * 2_000_000,
        "  padded \n",
        "مرحبا بالعالم",
        "😀👩‍👩‍👧",
        "日本語。テスト。",
        "a\u0301",
        "\u202eabc",
        "{}",
        "[]",
    ],
)
async def test_the_body_is_kept_verbatim(world: WritingWorld, body: str) -> None:
    answer = await world.tell(body)
    assert world.graph.tables.episodes[answer.episode_uuid].content == body


@pytest.mark.parametrize("source", ["text", "message", "json", "fact_triple"])
async def test_sources_are_upstreams(world: WritingWorld, source: str) -> None:
    answer = await world.tell("x", source=source, source_description="chat")
    episode = world.graph.tables.episodes[answer.episode_uuid]
    assert (episode.source, episode.source_description) == (source, "chat")


@pytest.mark.parametrize(
    ("name", "body", "kept"),
    [
        ("  My   note ", "x", "My note"),
        (None, "I met Sarah\nin town", "2026-02-01 I met Sarah in town"),
        ("", "one two three four five six seven eight nine ten", "2026-02-01 one two three four five six seven eight"),
        (None, "x" * 500, "2026-02-01 " + "x" * 59 + "…"),
    ],
)
async def test_a_name_left_out_is_made_from_date_and_first_words(
    world: WritingWorld, name: str | None, body: str, kept: str
) -> None:
    answer = await world.tell(body, name=name, reference_time="2026-02-01")
    assert answer.name == kept


async def test_the_reference_time_is_now_if_left_out(world: WritingWorld) -> None:
    assert (await world.tell("x")).valid_at == "2026-06-01T00:00:00+00:00"


async def test_steering_parameters_are_kept_and_said_to_be_unused(world: WritingWorld) -> None:
    steering = {"saga": " ", "saga_previous_episode_uuid": "x", "excluded_entity_types": ["X"]}
    answer = await world.tell("x", **steering)
    assert answer.unused == ["excluded_entity_types", "saga_previous_episode_uuid"]
    row = (await world.journal.rows(0, 1))[0]
    assert row.intent.steering == {"saga_previous_episode_uuid": "x", "excluded_entity_types": ["X"]}
    assert row.intent.sagas == ()
    assert (await world.tell("x")).unused is None


async def test_public_group_names_are_answered_and_stored_ids_used(world: WritingWorld) -> None:
    answer = await world.tell("x", FACT, group_id="work", caller=Caller(principal="ann"))
    stored = {episode.group_id for episode in world.graph.tables.episodes.values()}
    assert answer.group_id == "work"
    assert all(group.endswith("_work") and len(group) == 37 for group in stored)


async def test_the_call_in_a_report_names_another_group(world: WritingWorld) -> None:
    other = {**FACT, "relation": "WORK_AT"}
    await world.tell("x", FACT, group_id="work")
    answer = await world.tell("y", other, group_id="work")
    assert '"group_id":"work"' in the(answer, "near_relation").call
    await world.tell("x", FACT)
    assert "group_id" not in the(await world.tell("y", other), "near_relation").call


async def test_a_long_text_is_embedded_in_parts(world: WritingWorld) -> None:
    answer = await world.tell("\n\n".join(f"Sentence {i}." for i in range(300)))
    tables = world.graph.tables
    assert len(tables.passages) == 300
    without = await world.graph.episodes.passages(answer.episode_uuid, without_vector=True, limit=300)
    assert len(without) == 44
    claimed = await world.journal.claim_job("test", 60)
    assert claimed is not None
    assert claimed[2].kind == "embed_passages"


@pytest.mark.parametrize("pattern", ["Person{} Nordmann{}", "Person{}x Nordman{}", "人物{} 北方{}"])
async def test_a_long_text_of_names_is_embedded_in_part_and_the_rest_by_a_job(pattern: str) -> None:
    world = WritingWorld()
    known = [f"Person{i} Nordmann{i % 37}" for i in range(300)]
    await world.tell("Guests.", entities=[{"name": name, "type": "Person"} for name in known])
    body = " ".join([pattern.format(i, i % 37) for i in range(1_200)] * 12)[:240_000]

    answer = await world.tell(body)

    embedded = sum(len(text.encode()) for text in world.embedder.calls[-1])
    assert 20_000 < embedded <= 24_000
    without = await world.graph.episodes.passages(answer.episode_uuid, without_vector=True, limit=1_000)
    assert len(without) == len(world.graph.tables.passages) - len(world.embedder.calls[-1]) - 1
    assert EmbedPassagesJob(episode_uuid=answer.episode_uuid) in [one.job for one in world.journal.jobs.values()]


class _Slow(FakeEmbedder):
    """Does not come to an end of more than one text in the time of a call."""

    async def embed(self, texts: Sequence[str], patience: float | None = None) -> list[Vector]:
        if len(texts) > 1:
            await asyncio.Event().wait()
        return await super().embed(texts, patience)


async def test_what_is_not_embedded_in_time_is_stored_and_gets_its_vectors_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(write_vectors, "MOST_SECONDS", 0.01, raising=False)
    world = WritingWorld()
    await world.journal.record_embedding(world.embedder.model, world.embedder.dimension)
    world.context = replace(world.context, embedder=_Slow())
    world.writing = Writing(world.context, Groups(world.graph, world.context.settings), Committer(world.context))

    async with asyncio.timeout(5):
        answer = await world.tell("Anna came. So did Ben.", entities=[{"name": "Anna"}])

    assert answer.status == "stored"
    assert write_vectors.WORDS_FOR_NOW in answer.message
    assert EmbedMissingJob() in [one.job for one in world.journal.jobs.values()]
