"""The scripted model over real HTTP, asked by the real ``openai`` package."""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI
from pydantic import BaseModel
from tests.scripted_model import FaultKind, FaultPlan, PermanentFault, ScheduledFault, ScriptedModel, Storm

KEY = "sk-planted-0815"
TEXT = "<TEXT>\nAnna WORKS_AT Globex.\n</TEXT>"
ANSWER = {"ok": True, "note": ""}


class Probe(BaseModel):
    ok: bool
    note: str


SCHEMA = {"type": "json_schema", "json_schema": {"name": "Probe", "schema": Probe.model_json_schema()}}


@pytest.fixture
async def client(scripted_model: ScriptedModel) -> AsyncIterator[AsyncOpenAI]:
    async with AsyncOpenAI(api_key=KEY, base_url=scripted_model.url, max_retries=0, timeout=10) as client:
        yield client


async def ask(client: AsyncOpenAI, **fields: Any) -> Any:
    messages = [{"role": "user", "content": TEXT}]
    given = {"model": "m", "messages": messages, "response_format": SCHEMA, **fields}
    return await client.chat.completions.create(**given)


def always(kind: FaultKind, seconds: float = 1.0) -> FaultPlan:
    return FaultPlan(permanent=(PermanentFault(kind=kind, seconds=seconds),))


async def test_a_completion_fits_the_schema_and_says_what_it_cost(
    scripted_model: ScriptedModel, client: AsyncOpenAI
) -> None:
    answer = await ask(client)
    (choice,) = answer.choices
    assert json.loads(choice.message.content) == ANSWER
    assert (choice.finish_reason, answer.model, answer.usage.prompt_tokens) == ("stop", "m", 9)
    tally = scripted_model.stats.by_schema["Probe"]
    assert (tally.calls, tally.prompt_tokens, tally.completion_tokens) == (1, 9, answer.usage.completion_tokens)


async def test_a_response_is_parsed(client: AsyncOpenAI) -> None:
    answer = await client.responses.parse(model="m", input=[{"role": "user", "content": TEXT}], text_format=Probe)
    assert answer.output_parsed == Probe(ok=True, note="")
    assert answer.usage is not None
    assert answer.usage.input_tokens == 9


async def test_the_schema_is_found_in_the_prompt_when_the_format_names_none(
    scripted_model: ScriptedModel, client: AsyncOpenAI
) -> None:
    schema = json.dumps(Probe.model_json_schema())
    prompt = f'{TEXT}\n{{"a": {{"type": "object"}}}}\nRespond with JSON like this:\n{schema}\nNothing else.'
    answer = await ask(client, messages=[{"role": "user", "content": prompt}], response_format={"type": "json_object"})
    assert json.loads(answer.choices[0].message.content) == ANSWER
    stats = scripted_model.stats
    assert (list(stats.by_schema), stats.by_mode) == (["Probe"], {"json_object": 1})


async def test_text_is_answered_with_text(client: AsyncOpenAI) -> None:
    answer = await ask(client, response_format={"type": "text"})
    assert answer.choices[0].message.content == "OK"


async def test_models_are_listed_and_others_are_not_there(scripted_model: ScriptedModel, client: AsyncOpenAI) -> None:
    scripted_model.change(models=("small", "large"))
    assert [model.id async for model in client.models.list()] == ["small", "large"]
    with pytest.raises(openai.NotFoundError, match="does not exist"):
        await ask(client, model="huge")
    assert (await ask(client, model="small")).model == "small"


@pytest.mark.parametrize("form", ["float", "base64", None])
async def test_texts_that_share_words_have_near_embeddings(client: AsyncOpenAI, form: Any) -> None:
    texts = ["a dog barks", "the dog barks", "rain in Oslo"]
    given = {} if form is None else {"encoding_format": form}
    answer = await client.embeddings.create(model="e", input=texts, dimensions=32, **given)
    if form == "base64":
        assert all(isinstance(one.embedding, str) for one in answer.data)
        return
    first, near, far = (one.embedding for one in answer.data)
    assert len(first) == 32
    assert sum(a * a for a in first) == pytest.approx(1, abs=1e-5)
    likeness = [sum(a * b for a, b in zip(first, other, strict=True)) for other in (near, far)]
    assert likeness[0] > 0.4 > likeness[1]


async def test_a_script_answers_for_its_text_and_the_reader_for_the_rest(
    scripted_model: ScriptedModel, client: AsyncOpenAI
) -> None:
    scripted_model.change(script={"Probe": {"Globex": {"ok": False, "note": "scripted"}}})
    assert json.loads((await ask(client)).choices[0].message.content) == {"ok": False, "note": "scripted"}
    other = await ask(client, messages=[{"role": "user", "content": "<TEXT>\nInitech\n</TEXT>\nnot Globex"}])
    assert json.loads(other.choices[0].message.content) == ANSWER


async def test_a_script_that_does_not_fit_is_an_error_of_the_test() -> None:
    with ScriptedModel(script={"Probe": {"Globex": {"ok": "perhaps"}}}) as model:
        async with AsyncOpenAI(api_key=KEY, base_url=model.url, max_retries=3) as client:
            with pytest.raises(openai.InternalServerError, match="SCRIPT ERROR: Probe: ScriptMisfit"):
                await ask(client)
        assert len(model.script_errors) == 1
        assert model.stats.answered == {}


@pytest.mark.parametrize(
    ("kind", "error", "words"),
    [
        ("server_error", openai.InternalServerError, "500"),
        ("unavailable", openai.InternalServerError, "503"),
        ("rate_limited", openai.RateLimitError, "429"),
        ("unauthorized", openai.AuthenticationError, f"Incorrect API key provided: {KEY}"),
        ("unknown_model", openai.NotFoundError, "`m` does not exist"),
        ("too_long", openai.BadRequestError, "context is too small"),
        ("disconnect", openai.APIConnectionError, "Connection error"),
    ],
)
async def test_a_fault_is_an_error_of_the_client(
    scripted_model: ScriptedModel, client: AsyncOpenAI, kind: FaultKind, error: type[Exception], words: str
) -> None:
    scripted_model.change(faults=always(kind))
    with pytest.raises(error, match=words):
        await ask(client)
    assert scripted_model.stats.faults == {kind: 1}
    assert scripted_model.stats.answered == {}
    scripted_model.change(faults=FaultPlan())
    assert (await ask(client)).choices[0].finish_reason == "stop"
    assert list(scripted_model.stats.answered.values()) == [1]


@pytest.mark.parametrize(
    ("kind", "content", "finish"),
    [
        ("refusal", None, "stop"),
        ("content_filter", None, "content_filter"),
        ("truncated", '{"ok": true,', "length"),
        ("wrong_shape", '{"unexpected": {"shape": [1, 2, 3]}}', "stop"),
        ("not_json", "Certainly! Let me think about 'Anna WORKS_AT Globex.' ...", "stop"),
        ("empty", "", "stop"),
        ("delay", '{"ok": true, "note": ""}', "stop"),
    ],
)
async def test_a_fault_is_an_answer_that_cannot_be_used(
    scripted_model: ScriptedModel, client: AsyncOpenAI, kind: FaultKind, content: str | None, finish: str
) -> None:
    scripted_model.change(faults=always(kind, seconds=0))
    (choice,) = (await ask(client)).choices
    assert (choice.message.content, choice.finish_reason) == (content, finish)
    assert (choice.message.refusal is not None) is (kind == "refusal")
    assert bool(scripted_model.stats.answered) is (kind == "delay")


@pytest.mark.parametrize(("kind", "reason"), [("refusal", None), ("content_filter", "content_filter"), ("empty", None)])
async def test_responses_have_faults_in_their_own_form(
    scripted_model: ScriptedModel, client: AsyncOpenAI, kind: FaultKind, reason: str | None
) -> None:
    scripted_model.change(faults=always(kind))
    answer = await client.responses.parse(model="m", input=TEXT, text_format=Probe)
    assert answer.output_parsed is None
    assert (answer.incomplete_details.reason if answer.incomplete_details else None) == reason
    refusals = [part for item in answer.output for part in getattr(item, "content", []) if part.type == "refusal"]
    assert bool(refusals) is (kind == "refusal")


@pytest.mark.parametrize("kind", ["rate_limited", "rate_limited_date", "unavailable"])
async def test_a_server_that_is_overloaded_says_when_to_come_again(
    scripted_model: ScriptedModel, client: AsyncOpenAI, kind: FaultKind
) -> None:
    before = datetime.now(UTC)
    scripted_model.change(faults=always(kind, seconds=7))
    with pytest.raises(openai.APIStatusError) as raised:
        await ask(client)
    wait = raised.value.response.headers["retry-after"]
    if kind == "rate_limited_date":
        assert parsedate_to_datetime(wait) >= before + timedelta(seconds=6)  # a date has whole seconds
    else:
        assert wait == "7"


async def test_a_client_that_tries_again_gets_its_answer(scripted_model: ScriptedModel) -> None:
    faults = FaultPlan(scheduled=(ScheduledFault(kind="rate_limited", seconds=0.01, calls=(1, 2)),))
    scripted_model.change(faults=faults)
    async with AsyncOpenAI(api_key=KEY, base_url=scripted_model.url, max_retries=2) as client:
        assert (await ask(client)).choices[0].finish_reason == "stop"
    stats = scripted_model.stats
    assert (stats.calls, stats.statuses) == (3, {429: 2, 200: 1})
    (tally,) = stats.by_hash.values()
    assert (tally.calls, tally.prompt_tokens + tally.completion_tokens) == (3, stats.tokens)


async def test_a_call_that_hangs_ends_with_the_clients_patience(
    scripted_model: ScriptedModel, client: AsyncOpenAI
) -> None:
    scripted_model.change(faults=always("hang"))
    with pytest.raises(openai.APITimeoutError):
        await ask(client, timeout=0.2)
    await asyncio.to_thread(scripted_model.wait_for, lambda stats: stats.in_flight == 0)


async def test_a_call_that_hangs_is_released(scripted_model: ScriptedModel, client: AsyncOpenAI) -> None:
    scripted_model.change(faults=always("hang"))
    hanging = asyncio.create_task(ask(client))
    await asyncio.to_thread(scripted_model.wait_for, lambda stats: stats.faults.get("hang") == 1)
    assert not hanging.done()
    scripted_model.release()
    with pytest.raises(openai.APIConnectionError):
        await hanging


async def test_closing_the_server_cuts_a_call(scripted_model: ScriptedModel, client: AsyncOpenAI) -> None:
    with ScriptedModel(latency_ms=60_000) as model:
        asking = asyncio.create_task(ask(client.with_options(base_url=model.url)))
        await asyncio.to_thread(model.wait_for, lambda stats: stats.in_flight == 1)
    with pytest.raises(openai.APIConnectionError):
        await asking
    with pytest.raises(openai.APIConnectionError):
        await ask(client.with_options(base_url=model.url))
    assert scripted_model.stats.calls == 0


async def test_formats_that_are_not_supported_are_refused(scripted_model: ScriptedModel, client: AsyncOpenAI) -> None:
    scripted_model.change(supports_json_schema=False, supports_responses=False)
    with pytest.raises(openai.BadRequestError, match="response_format type"):
        await ask(client)
    with pytest.raises(openai.NotFoundError):
        await client.responses.parse(model="m", input=TEXT, text_format=Probe)
    answer = await ask(client, response_format={"type": "json_object"})
    assert answer.choices[0].message.content == "{}"
    with pytest.raises(openai.BadRequestError, match="stream"):
        await ask(client, stream=True, response_format={"type": "text"})


async def test_a_format_may_be_ignored(scripted_model: ScriptedModel, client: AsyncOpenAI) -> None:
    scripted_model.change(fenced=True)
    answer = await ask(client)
    assert answer.choices[0].message.content == '```json\n{"ok": true, "note": ""}\n```'


async def test_an_answer_is_cut_at_the_limit_of_the_request(client: AsyncOpenAI) -> None:
    (choice,) = (await ask(client, max_tokens=2)).choices
    assert (choice.message.content, choice.finish_reason) == ('{"ok": t', "length")


async def test_a_key_that_is_not_the_right_one_is_refused_and_known_by_its_hash_only(
    scripted_model: ScriptedModel, client: AsyncOpenAI
) -> None:
    scripted_model.change(api_key="right")
    with pytest.raises(openai.AuthenticationError):
        await ask(client)
    async with AsyncOpenAI(api_key="right", base_url=scripted_model.url) as other:
        await ask(other)
    stats = scripted_model.stats
    keys = [hashlib.sha256(f"Bearer {key}".encode()).hexdigest() for key in (KEY, "right")]
    assert stats.authorizations == sorted(keys)
    assert KEY not in stats.model_dump_json()
    assert not any(KEY in repr(vars(request)) for request in scripted_model.requests)


@pytest.mark.parametrize(
    ("kind", "vectors"), [("truncated", 1), ("empty", 0), ("wrong_shape", None), ("server_error", None)]
)
async def test_embeddings_fail_as_well(
    scripted_model: ScriptedModel, client: AsyncOpenAI, kind: FaultKind, vectors: int | None
) -> None:
    faults = FaultPlan(scheduled=(ScheduledFault(kind=kind, calls=(1,), schema_name="embeddings"),))
    scripted_model.change(faults=faults)
    asked = client.embeddings.with_raw_response.create(model="e", input=["a", "b"])
    if kind == "server_error":
        with pytest.raises(openai.InternalServerError):
            await asked
    else:
        data = json.loads((await asked).text).get("data")
        assert (None if data is None else len(data)) == vectors
    assert len((await client.embeddings.create(model="e", input=["a", "b"])).data) == 2


async def test_fifty_calls_at_once_are_all_answered_and_counted(
    scripted_model: ScriptedModel, client: AsyncOpenAI
) -> None:
    prompts = [[{"role": "user", "content": f"<TEXT>\n{n}\n</TEXT>"}] for n in range(50)]

    async def ask_all() -> list[Any]:
        return await asyncio.gather(*(ask(client, messages=one) for one in prompts), return_exceptions=True)

    scripted_model.change(faults=always("hang"))
    hanging = asyncio.create_task(ask_all())
    await asyncio.to_thread(scripted_model.wait_for, lambda stats: stats.in_flight == 50)
    scripted_model.release()
    assert {type(error) for error in await hanging} == {openai.APIConnectionError}
    assert scripted_model.stats.in_flight_max == 50

    await asyncio.to_thread(scripted_model.wait_for, lambda stats: stats.in_flight == 0)
    scripted_model.change(faults=FaultPlan())
    scripted_model.forget_counts()
    answers = await ask_all()
    stats = scripted_model.stats
    assert stats.calls == len(stats.answered) == 50
    assert stats.by_schema["Probe"].prompt_tokens == sum(answer.usage.prompt_tokens for answer in answers)


async def test_after_a_storm_everything_is_answered_as_without_one(
    scripted_model: ScriptedModel, client: AsyncOpenAI
) -> None:
    """Calls in parallel, each repeated until it is answered."""
    kinds: tuple[FaultKind, ...] = ("server_error", "rate_limited", "disconnect", "unavailable")
    scripted_model.change(faults=FaultPlan(storm=Storm(seed=5, rate=0.4, kinds=kinds, max_repeats=2)))

    async def insist(text: str) -> Any:
        for _ in range(3):
            try:
                answer = await ask(client, messages=[{"role": "user", "content": f"<TEXT>\n{text}\n</TEXT>"}])
            except openai.APIError:
                continue
            return json.loads(answer.choices[0].message.content)
        return None

    assert await asyncio.gather(*(insist(f"note {n}") for n in range(12))) == [ANSWER] * 12
    stats = scripted_model.stats
    assert sum(stats.faults.values()) == stats.calls - 12 > 0
    assert set(stats.answered.values()) == {1}
