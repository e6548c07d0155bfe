"""Graphiti's client over the ledger of a job, against a scripted server over real HTTP."""

import asyncio
import hashlib
import logging
import threading
from collections.abc import AsyncIterator, Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

import pytest
from graphiti_core.llm_client.config import ModelSize
from graphiti_core.prompts.extract_nodes import ExtractedEntities
from graphiti_core.prompts.models import Message
from pydantic import BaseModel
from tests.builders import GROUP, new_uuid
from tests.fakes import FakeJournal
from tests.scripted_model import FAULT_KINDS, FaultKind, FaultPlan, PermanentFault, ScheduledFault, ScriptedModel, Storm

from graphiti_pkm.core.model.job_records import ExtractJob
from graphiti_pkm.core.ports.extraction import Budget, ModelLedger, Usage
from graphiti_pkm.errors import BudgetSpent, ModelError, ModelNonsense, ModelRefused, ModelUnavailable
from graphiti_pkm.graphiti_adapter.language_model import ModelOnDemand, language_model
from graphiti_pkm.graphiti_adapter.llm_client import JobClient
from graphiti_pkm.graphiti_adapter.pipeline_clients import NoReranker
from graphiti_pkm.settings.loader import Settings

DAY = "2026-03-01"
KEY = "sk-planted-1f8c2d77a0"
SECRET_TEXT = "Anna Berg moved to Kyoto"  # noqa: S105
FOUND = {"extracted_entities": [{"name": "Anna Berg", "entity_type_id": 0, "episode_indices": [0]}]}
ENTITIES = {"ExtractedEntities": {"Anna Berg": FOUND}}

Make = Callable[..., ModelOnDemand]


@pytest.fixture
async def make(scripted_model: ScriptedModel) -> AsyncIterator[Make]:
    """Models of the scripted server; settings as they are given."""
    made: list[ModelOnDemand] = []
    scripted_model.change(script=ENTITIES)

    def _make(**settings: Any) -> ModelOnDemand:
        given = {"llm_model": "m", "llm_base_url": scripted_model.url, "llm_api_key": KEY, **settings}
        model = language_model(Settings.model_validate(given))
        assert model is not None
        made.append(model)
        return model

    yield _make
    for model in made:
        await model.close()


class Job:
    """A job that is worked on, and the ledger of it."""

    def __init__(self, **limits: int) -> None:
        self.queue = FakeJournal().extractions
        self._limits = Budget(**limits)

    async def ledger(self) -> ModelLedger:
        """As of the process that takes the job up (again)."""
        if not (await self.queue.sizes(None)).get("running"):
            await self.queue.enqueue(GROUP, [ExtractJob(uuid=new_uuid(), episode_uuid=new_uuid())])
            assert await self.queue.claim("me", 30)
        (job,) = await self.queue.page(["running"], None, 1, None)
        return self.queue.ledger(job.id, self._limits, DAY)

    async def spent(self) -> Usage:
        return await self.queue.spent(DAY)


async def ask(client: JobClient, text: str = SECRET_TEXT, **more: Any) -> dict[str, Any]:
    messages = [
        Message(role="system", content="You read."),
        Message(role="user", content=f"<CURRENT MESSAGE>\n{text}\n</CURRENT MESSAGE>"),
    ]
    return await client.generate_response(messages, ExtractedEntities, **more)


def always(kind: FaultKind, **more: Any) -> FaultPlan:
    return FaultPlan(permanent=(PermanentFault(kind=kind, schema_name="ExtractedEntities", **more),))


def at(kind: FaultKind, *calls: int, **more: Any) -> FaultPlan:
    return FaultPlan(scheduled=(ScheduledFault(kind=kind, calls=calls, schema_name="ExtractedEntities", **more),))


def asked(server: ScriptedModel) -> int:
    tally = server.stats.by_schema.get("ExtractedEntities")
    return tally.calls if tally else 0


@pytest.mark.parametrize("form", ["json_schema", "json_object"])
async def test_an_answer_is_asked_for_in_the_form_that_is_set_and_what_it_cost_is_counted(
    make: Make, scripted_model: ScriptedModel, form: str
) -> None:
    job = Job()
    client = make(llm_structured_output=form, llm_temperature=0.0, llm_max_tokens=900).for_job(await job.ledger())
    assert await ask(client) == FOUND
    (request,) = scripted_model.requests
    assert (request.mode, request.schema_name) == (form, "ExtractedEntities")
    assert (request.body["temperature"], request.body["max_tokens"]) == (0.0, 900)
    assert ('"extracted_entities"' in request.prompt) == (form == "json_object")
    told = scripted_model.stats.by_schema["ExtractedEntities"]
    assert await job.spent() == Usage(
        calls=1, prompt_tokens=told.prompt_tokens, completion_tokens=told.completion_tokens
    )


async def test_no_question_asks_for_more_than_the_setting_allows(make: Make, scripted_model: ScriptedModel) -> None:
    client = make(llm_structured_output="json_schema", llm_max_tokens=4_096).for_job(await Job().ledger())
    await ask(client, max_tokens=16_384)  # as Graphiti does for facts, whatever the client's own limit is
    await ask(client, "Another text.", max_tokens=1_000)
    assert [request.body["max_tokens"] for request in scripted_model.requests] == [4_096, 1_000]


async def test_a_proxy_of_the_environment_gets_nothing_meant_for_this_machine(
    make: Make, scripted_model: ScriptedModel, monkeypatch: pytest.MonkeyPatch, unused_tcp_port: int
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{unused_tcp_port}")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    await ask(make(llm_structured_output="json_schema").for_job(await Job().ledger()))
    assert asked(scripted_model) == 1


async def test_no_temperature_is_sent_unless_one_is_set(make: Make, scripted_model: ScriptedModel) -> None:
    await ask(make(llm_structured_output="json_schema").for_job(await Job().ledger()))
    assert "temperature" not in scripted_model.requests[0].body


async def test_the_smaller_model_is_asked_the_smaller_questions(make: Make, scripted_model: ScriptedModel) -> None:
    client = make(llm_structured_output="json_schema", llm_small_model="s").for_job(await Job().ledger())
    await ask(client, model_size=ModelSize.small)
    await ask(client)
    assert [request.model for request in scripted_model.requests] == ["s", "m"]


@pytest.mark.parametrize("fenced", [False, True])
async def test_the_form_is_tried_once_for_a_process_whatever_many_calls_come_at_once(
    make: Make, scripted_model: ScriptedModel, fenced: bool
) -> None:
    scripted_model.change(fenced=fenced)
    model = make()
    clients = [model.for_job(await Job().ledger()) for _ in range(4)]
    answers = await asyncio.gather(*(ask(client) for client in clients))
    assert answers == [FOUND] * 4
    assert scripted_model.stats.by_schema["Probe"].calls == 1
    assert scripted_model.stats.by_mode == {"json_schema": 5}


async def test_a_server_without_schemas_is_asked_for_an_object_with_the_schema_in_the_prompt(
    make: Make, scripted_model: ScriptedModel
) -> None:
    scripted_model.change(supports_json_schema=False)
    assert await ask(make().for_job(await Job().ledger())) == FOUND
    assert [request.mode for request in scripted_model.requests] == ["json_schema", "json_object", "json_object"]


async def test_a_server_that_ignores_the_schema_is_asked_for_an_object(
    make: Make, scripted_model: ScriptedModel
) -> None:
    faults = (ScheduledFault(kind="wrong_shape", calls=(1, 2), schema_name="Probe"),)
    scripted_model.change(faults=FaultPlan(scheduled=faults))
    await ask(make().for_job(await Job().ledger()))
    assert scripted_model.requests[-1].mode == "json_object"


async def test_one_bad_answer_of_two_is_no_reason_to_give_up_schemas(make: Make, scripted_model: ScriptedModel) -> None:
    faults = (ScheduledFault(kind="wrong_shape", calls=(1,), schema_name="Probe"),)
    scripted_model.change(faults=FaultPlan(scheduled=faults))
    await ask(make().for_job(await Job().ledger()))
    assert scripted_model.requests[-1].mode == "json_schema"


async def test_a_model_that_answers_in_no_form_is_refused_by_the_name_of_the_setting(
    make: Make, scripted_model: ScriptedModel
) -> None:
    scripted_model.change(supports_json_schema=False, faults=FaultPlan(permanent=(PermanentFault(kind="not_json"),)))
    with pytest.raises(ModelRefused) as raised:
        await ask(make().for_job(await Job().ledger()))
    assert "json_schema: refused; json_object: no JSON" in raised.value.message
    assert "llm_structured_output" in raised.value.remedy


async def test_a_form_that_could_not_be_tried_for_an_outage_is_tried_again(
    make: Make, scripted_model: ScriptedModel
) -> None:
    scripted_model.change(faults=FaultPlan(scheduled=(ScheduledFault(kind="unavailable", calls=(1,)),)))
    model = make()
    with pytest.raises(ModelUnavailable):
        await ask(model.for_job(await Job().ledger()))
    assert await ask(model.for_job(await Job().ledger())) == FOUND


async def test_what_was_paid_for_is_not_asked_again_by_the_next_process(
    make: Make, scripted_model: ScriptedModel
) -> None:
    job = Job()
    settings = {"llm_structured_output": "json_schema"}
    first = await ask(make(**settings).for_job(await job.ledger()))
    spent = await job.spent()
    assert await ask(make(**settings).for_job(await job.ledger())) == first == FOUND
    assert asked(scripted_model) == 1
    assert await job.spent() == spent


async def test_the_same_question_at_the_same_time_is_paid_for_once(make: Make, scripted_model: ScriptedModel) -> None:
    client = make(llm_structured_output="json_schema").for_job(await Job().ledger())
    assert await asyncio.gather(ask(client), ask(client)) == [FOUND, FOUND]
    assert asked(scripted_model) == 1


@pytest.mark.parametrize(
    "change", [{"llm_model": "n"}, {"llm_temperature": 0.5}, {"llm_max_tokens": 99}, {"text": "Anna Berg left"}]
)
async def test_another_question_is_asked(make: Make, scripted_model: ScriptedModel, change: dict[str, Any]) -> None:
    job = Job()
    form = {"llm_structured_output": "json_schema"}
    await ask(make(**form).for_job(await job.ledger()))
    text = change.pop("text", SECRET_TEXT)
    await ask(make(**form, **change).for_job(await job.ledger()), text)
    assert asked(scripted_model) == 2


@pytest.mark.parametrize("kind", ["truncated", "wrong_shape", "not_json", "empty"])
@pytest.mark.parametrize("form", ["json_schema", "json_object"])
async def test_an_unusable_answer_is_repaired_once_and_kept_for_the_question(
    make: Make, scripted_model: ScriptedModel, kind: FaultKind, form: str
) -> None:
    scripted_model.change(faults=at(kind, 1))
    job = Job()
    settings = {"llm_structured_output": form}
    assert await ask(make(**settings).for_job(await job.ledger())) == FOUND
    bad, repaired = scripted_model.requests
    assert repaired.messages[: len(bad.messages)] == bad.messages
    assert "cannot be used" in repaired.messages[-1][1]
    assert (await job.spent()).calls == 2
    assert await ask(make(**settings).for_job(await job.ledger())) == FOUND
    assert asked(scripted_model) == 2


@pytest.mark.parametrize(
    ("kind", "reason"),
    [("truncated", "cut off"), ("wrong_shape", "of another shape"), ("not_json", "no JSON"), ("empty", "empty")],
)
async def test_an_answer_that_is_unusable_twice_is_nonsense_and_both_are_counted(
    make: Make, scripted_model: ScriptedModel, kind: FaultKind, reason: str
) -> None:
    scripted_model.change(faults=always(kind))
    job = Job()
    with pytest.raises(ModelNonsense) as raised:
        await ask(make(llm_structured_output="json_schema").for_job(await job.ledger()))
    assert raised.value.message == f"The answer of m is {reason}, and so was the repaired one."
    assert "Anna" not in raised.value.remedy
    assert (await job.spent()).calls == asked(scripted_model) == 2
    scripted_model.change(faults=FaultPlan())
    assert await ask(make(llm_structured_output="json_schema").for_job(await job.ledger())) == FOUND


@pytest.mark.parametrize(("kind", "least", "most"), [("rate_limited", 40, 40), ("rate_limited_date", 30, 40)])
async def test_a_server_that_asks_to_wait_is_not_asked_again_here(
    make: Make, scripted_model: ScriptedModel, kind: FaultKind, least: float, most: float
) -> None:
    scripted_model.change(faults=always(kind, seconds=40))
    with pytest.raises(ModelUnavailable) as raised:
        await ask(make(llm_structured_output="json_schema").for_job(await Job().ledger()))
    assert raised.value.retry_after is not None
    assert least <= raised.value.retry_after <= most
    assert asked(scripted_model) == 1


@pytest.mark.parametrize("kind", ["server_error", "unavailable", "disconnect"])
async def test_what_may_pass_is_told_as_such_after_one_call(
    make: Make, scripted_model: ScriptedModel, kind: FaultKind
) -> None:
    scripted_model.change(faults=always(kind))
    job = Job()
    with pytest.raises(ModelUnavailable):
        await ask(make(llm_structured_output="json_schema").for_job(await job.ledger()))
    assert asked(scripted_model) == 1
    assert await job.spent() == Usage()


async def test_a_call_that_hangs_ends_when_its_time_is_up(make: Make, scripted_model: ScriptedModel) -> None:
    scripted_model.change(faults=always("hang"))
    client = make(llm_structured_output="json_schema", llm_timeout_seconds=0.2).for_job(await Job().ledger())
    with pytest.raises(ModelUnavailable, match=r"within 0\.2 seconds"):
        await ask(client)


async def test_nobody_at_the_address_is_an_outage(make: Make, unused_tcp_port: int) -> None:
    model = make(llm_structured_output="json_schema", llm_base_url=f"http://127.0.0.1:{unused_tcp_port}/v1")
    with pytest.raises(ModelUnavailable, match="cannot be reached"):
        await ask(model.for_job(await Job().ledger()))


@pytest.mark.parametrize(
    ("kind", "remedy"),
    [
        ("unauthorized", "GRAPHITI_PKM_LLM_API_KEY"),
        ("unknown_model", "llm_model"),
        ("too_long", "longer context"),
        ("refusal", "llm_model"),
        ("content_filter", "llm_model"),
    ],
)
async def test_what_no_waiting_mends_is_refused_with_a_remedy(
    make: Make, scripted_model: ScriptedModel, kind: FaultKind, remedy: str
) -> None:
    scripted_model.change(faults=always(kind))
    with pytest.raises(ModelRefused) as raised:
        await ask(make(llm_structured_output="json_schema").for_job(await Job().ledger()))
    assert remedy in raised.value.remedy
    assert asked(scripted_model) == 1


async def test_an_address_without_its_path_is_told(make: Make, scripted_model: ScriptedModel) -> None:
    model = make(llm_structured_output="json_schema", llm_base_url=scripted_model.root)
    with pytest.raises(ModelRefused) as raised:
        await ask(model.for_job(await Job().ledger()))
    assert "/v1" in raised.value.remedy


@pytest.mark.parametrize("kind", FAULT_KINDS)
async def test_neither_key_nor_text_is_in_an_error_or_a_log_of_anybody(
    make: Make, scripted_model: ScriptedModel, caplog: pytest.LogCaptureFixture, kind: FaultKind
) -> None:
    caplog.set_level(logging.DEBUG)
    scripted_model.change(faults=always(kind, seconds=0.01))
    client = make(llm_timeout_seconds=0.5).for_job(await Job().ledger())
    errors: list[BaseException] = []
    for attempt in (ask(client), client.finish()):
        try:
            await attempt
        except ModelError as error:
            errors.append(error)
    said = [caplog.text, *(f"{error!r} {error} {error.__cause__!r} {error.__context__!r}" for error in errors)]
    if kind != "delay":
        assert errors
    # Earlier versions of the client logged whole requests; on no version is it asked what it would say.
    assert {record.name.partition(".")[0] for record in caplog.records} <= {"graphiti_pkm", "graphiti_core", "asyncio"}
    for planted in (KEY, "Anna Berg", "Kyoto"):
        assert [text for text in said if planted in text] == []


async def test_the_key_goes_in_the_header_and_none_is_sent_where_none_is_given(
    make: Make, scripted_model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-openai")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "Authorization: Bearer sk-of-openai")
    await ask(make(llm_api_key=None).for_job(await Job().ledger()))
    assert scripted_model.stats.authorizations == []
    await ask(make().for_job(await Job().ledger()))
    assert scripted_model.stats.authorizations == [hashlib.sha256(f"Bearer {KEY}".encode()).hexdigest()]


async def test_a_redirect_is_not_followed_and_nothing_of_openais_environment_goes_to_another_server(
    make: Make, scripted_model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_ADMIN_KEY"):
        monkeypatch.setenv(name, "of-openai")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Gateway: of-openai")
    with Redirecting(scripted_model.url) as elsewhere, pytest.raises(ModelRefused) as raised:
        await ask(make(llm_base_url=elsewhere.url).for_job(await Job().ledger()))
    assert "llm_base_url" in raised.value.remedy
    assert scripted_model.stats.calls == 0
    assert len(elsewhere.headers) == 1
    assert "of-openai" not in str(elsewhere.headers)


class Redirecting(ThreadingHTTPServer):
    """Sends whoever comes to another address, and keeps the headers that came."""

    def __init__(self, target: str) -> None:
        self.headers: list[str] = []
        self.target = target
        super().__init__(("127.0.0.1", 0), _Redirect)
        self.url = f"http://127.0.0.1:{self.server_port}/v1"
        self._thread = threading.Thread(target=self.serve_forever, args=(0.01,))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()
        self._thread.join()


class _Redirect(BaseHTTPRequestHandler):
    server: Redirecting

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.server.headers.append(str(self.headers))
        self.send_response(307)
        self.send_header("location", f"{self.server.target}/chat/completions")
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Nothing: the standard error is the tests'."""


async def test_openais_address_without_a_key_is_refused_before_anything_is_sent() -> None:
    model = language_model(Settings(llm_model="m", llm_structured_output="json_schema"))
    assert model is not None
    with pytest.raises(ModelRefused) as raised:
        await ask(model.for_job(await Job().ledger()))
    assert "OPENAI_API_KEY" in raised.value.remedy
    await model.close()


def test_without_a_model_there_is_none_whatever_keys_there_are() -> None:
    assert language_model(Settings(llm_api_key=KEY)) is None  # type: ignore[arg-type]


async def test_the_budget_stops_a_call_before_it_is_made_and_a_repair_too(
    make: Make, scripted_model: ScriptedModel
) -> None:
    scripted_model.change(faults=at("not_json", 1))
    job = Job(calls_per_episode=1)
    client = make(llm_structured_output="json_schema").for_job(await job.ledger())
    with pytest.raises(BudgetSpent):
        await ask(client)
    assert asked(scripted_model) == 1
    with pytest.raises(BudgetSpent):
        await client.finish()


async def test_after_an_error_no_call_is_made_and_the_end_tells_the_first(
    make: Make, scripted_model: ScriptedModel
) -> None:
    scripted_model.change(faults=at("server_error", 1))
    client = make(llm_structured_output="json_schema").for_job(await Job().ledger())
    with pytest.raises(ModelUnavailable) as first:
        await ask(client)
    with pytest.raises(ModelUnavailable):
        await ask(client, "Anna Berg came back")
    with pytest.raises(ModelUnavailable) as last:
        await client.finish()
    assert last.value is first.value
    assert asked(scripted_model) == 1


async def test_the_end_waits_for_calls_left_running_and_keeps_what_they_cost(
    make: Make, scripted_model: ScriptedModel
) -> None:
    scripted_model.change(faults=at("delay", 1, seconds=0.2))
    job = Job()
    client = make(llm_structured_output="json_schema").for_job(await job.ledger())
    left = asyncio.create_task(ask(client))
    await asyncio.to_thread(scripted_model.wait_for, lambda stats: stats.calls == 1)
    await client.finish()
    assert await left == FOUND
    assert (await job.spent()).calls == 1
    with pytest.raises(RuntimeError, match="after the end"):
        await ask(client)


async def test_calls_left_running_are_ended_with_a_job_that_is_cancelled(
    make: Make, scripted_model: ScriptedModel
) -> None:
    scripted_model.change(faults=always("hang"))
    client = make(llm_structured_output="json_schema").for_job(await Job().ledger())
    left = asyncio.create_task(ask(client))
    await asyncio.to_thread(scripted_model.wait_for, lambda stats: stats.calls == 1)
    ending = asyncio.create_task(client.finish())
    await asyncio.sleep(0)
    ending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await ending
    with pytest.raises(asyncio.CancelledError):
        await left


async def test_twenty_calls_of_a_job_run_at_once(make: Make, scripted_model: ScriptedModel) -> None:
    scripted_model.change(faults=always("hang"))
    client = make(llm_structured_output="json_schema").for_job(await Job().ledger())
    calls = [asyncio.create_task(ask(client, f"Anna Berg saw {number}")) for number in range(20)]
    await asyncio.to_thread(scripted_model.wait_for, lambda stats: stats.in_flight == 20)
    scripted_model.change(faults=FaultPlan())
    scripted_model.release()
    outcomes = await asyncio.gather(*calls, return_exceptions=True)
    assert {type(outcome) for outcome in outcomes} == {ModelUnavailable}


async def test_a_storm_over_many_jobs_ends_with_every_answer_paid_for_once(
    make: Make, scripted_model: ScriptedModel
) -> None:
    scripted_model.change(faults=FaultPlan(storm=Storm(seed=3, rate=0.3)))
    model = make(llm_structured_output="json_schema")
    jobs = [Job() for _ in range(20)]

    async def read(number: int) -> int:
        for attempt in range(8):
            client = model.for_job(await jobs[number].ledger())
            try:
                assert await ask(client, f"Anna Berg saw {number}") == FOUND
            except ModelError:
                continue
            return attempt
        raise AssertionError("never read")

    attempts = await asyncio.gather(*map(read, range(20)))
    assert max(attempts) > 0
    answered = scripted_model.stats.answered
    assert len(answered) >= 20
    assert set(answered.values()) == {1}


async def test_no_reranker_leaves_what_it_is_given_in_its_order() -> None:
    assert await NoReranker().rank("q", ["b", "a"]) == [("b", 0.0), ("a", 0.0)]


class Other(BaseModel):
    """A form that the server's script does not know."""

    kind: str
    amount: int


async def test_a_form_of_the_users_own_is_read_as_well(make: Make) -> None:
    client = make().for_job(await Job().ledger())
    answer = await client.generate_response([Message(role="user", content="what?")], Other)
    assert Other.model_validate(answer)
