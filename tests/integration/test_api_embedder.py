"""Embeddings by a service: what is sent, what becomes of what it answers, and what is never told."""

import asyncio
import logging
import math
import re
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from pydantic import SecretStr
from tests.embedding_service import Asked, EmbeddingService, Reply

from graphiti_pkm.embedding.api import ApiEmbedder, service_of
from graphiti_pkm.embedding.api import EmbeddingService as Settings
from graphiti_pkm.errors import TextRefused, Unavailable
from graphiti_pkm.settings.loader import load_settings

KEY = "sk-planted-0123456789"
WORDS = "the secret recipe of aunt Ada"


@pytest.fixture
def service() -> Iterator[EmbeddingService]:
    service = EmbeddingService()
    yield service
    service.close()


@pytest.fixture
async def embedder(service: EmbeddingService) -> AsyncIterator[ApiEmbedder]:
    embedder = ApiEmbedder(Settings("some-model", 24, service.url, SecretStr(KEY), sends_dimension=False))
    yield embedder
    await embedder.close()


def refuses(status: int) -> Reply:
    """As services do: the answer quotes the key and what was sent."""
    return Reply(status, {"error": {"message": f"bad key {KEY} for {WORDS}", "code": "nope"}}, {"Retry-After": "0"})


async def test_the_request_names_model_and_dimension_and_vectors_come_in_order_with_length_one(
    service: EmbeddingService,
) -> None:
    embedder = ApiEmbedder(Settings("text-embedding-3-small", 16, service.url, SecretStr(KEY), sends_dimension=True))
    try:
        one, two = await embedder.embed(["tea at home", "trains in Japan"])
        (alone,) = await embedder.embed(["tea at home"])
    finally:
        await embedder.close()
    (asked,) = service.asked
    assert asked.path == "/v1/embeddings"
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert (asked.body["model"], asked.body["dimensions"]) == ("text-embedding-3-small", 16)
    assert (len(one), one.typecode) == (16, "f")
    assert math.fsum(value * value for value in two) == pytest.approx(1, abs=1e-5)
    assert alone == one != two


async def test_what_the_model_takes_no_dimension_for_is_asked_without(
    service: EmbeddingService, embedder: ApiEmbedder
) -> None:
    await embedder.embed(["tea"])
    assert "dimensions" not in service.asked[0].body


async def test_an_account_of_the_environment_is_not_told(
    service: EmbeddingService, embedder: ApiEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-planted")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-planted")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/elsewhere")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Planted: planted")
    await embedder.embed(["tea"])
    await embedder.embed(["coffee"], patience=20)
    assert "planted" not in str([{**asked.headers, "authorization": ""} for asked in service.asked])


async def test_a_service_without_a_key_gets_none_of_the_environment(
    service: EmbeddingService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    embedder = ApiEmbedder(Settings("some-model", 24, service.url, None, sends_dimension=False))
    await embedder.embed(["tea"])
    await embedder.close()
    assert "authorization" not in service.asked[0].headers


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_nothing_is_sent_where_the_service_sends_us(
    service: EmbeddingService, embedder: ApiEmbedder, status: int
) -> None:
    elsewhere = EmbeddingService()
    service.rule = lambda _asked: Reply(status, {}, {"Location": f"{elsewhere.url}/embeddings"})
    with pytest.raises(Unavailable, match="another address"):
        await embedder.embed([WORDS])
    elsewhere.close()
    assert elsewhere.asked == []


async def test_calls_are_bounded_by_number_and_by_characters(service: EmbeddingService, embedder: ApiEmbedder) -> None:
    texts = [f"text {number}" for number in range(600)] + [f"{number} " + "x" * 7_000 for number in range(30)]
    vectors = await embedder.embed(texts)
    assert len(vectors) == 630
    assert max(len(asked.texts) for asked in service.asked) == 256
    assert max(sum(map(len, asked.texts)) for asked in service.asked) <= 100_000
    assert sorted(service.texts) == sorted(texts)


async def test_callers_who_wait_share_a_call(service: EmbeddingService, embedder: ApiEmbedder) -> None:
    await embedder.embed(["the first"])
    found = await asyncio.gather(*(embedder.embed([f"text {number}"]) for number in range(40)))
    assert len(service.asked) == 2
    assert [one[0] for one in found] == await embedder.embed([f"text {number}" for number in range(40)])


async def test_a_text_is_cut_and_a_blank_or_broken_one_replaced(
    service: EmbeddingService, embedder: ApiEmbedder
) -> None:
    await embedder.embed(["y" * 9_000, " \n", "", "\ud800 tea"])
    assert service.texts == ["y" * 8_000, ".", ".", "? tea"]


async def test_one_text_that_is_refused_fails_its_caller_only(service: EmbeddingService, embedder: ApiEmbedder) -> None:
    def rule(asked: Asked) -> Reply | None:
        return refuses(400) if any("poison" in text for text in asked.texts) else None

    service.rule = rule
    calls = (embedder.embed([text]) for text in ["a", "poison pill", "c", "d", "e"])
    found = await asyncio.gather(*calls, return_exceptions=True)
    assert [type(one) for one in found] == [list, TextRefused, list, list, list]
    with pytest.raises(TextRefused):
        await embedder.embed(["poison alone"])


async def test_a_kind_of_request_that_is_refused_is_not_asked_for_each_text(
    service: EmbeddingService, embedder: ApiEmbedder
) -> None:
    service.rule = lambda _asked: refuses(400)
    with pytest.raises(Unavailable, match="does not take the request") as refused:
        await embedder.embed([f"text {number}" for number in range(100)])
    assert not isinstance(refused.value, TextRefused)
    assert len(service.asked) == 2


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_what_passes_is_waited_for_as_long_as_retry_after_says(
    service: EmbeddingService, embedder: ApiEmbedder, status: int
) -> None:
    service.rule = lambda _asked: refuses(status) if len(service.asked) < 4 else None
    assert len(await embedder.embed(["tea"])) == 1
    assert len(service.asked) == 4


@pytest.mark.parametrize(
    ("status", "said"), [(401, "EMBEDDING_API_KEY"), (403, "EMBEDDING_API_KEY"), (404, "EMBEDDING_MODEL"), (400, "400")]
)
async def test_what_does_not_pass_fails_at_once_and_says_what_to_do(
    service: EmbeddingService, embedder: ApiEmbedder, status: int, said: str
) -> None:
    service.rule = lambda _asked: refuses(status)
    with pytest.raises(Unavailable, match=said):
        await embedder.embed(["tea"])
    assert len(service.asked) == (2 if status == 400 else 1)  # is it the text?


def _changed(change: object) -> Reply:
    return Reply(
        200, {"object": "list", "model": "m", "data": change, "usage": {"prompt_tokens": 1, "total_tokens": 1}}
    )


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ([{"index": 0, "object": "embedding", "embedding": [1.0] * 24}], "1 vectors to 2 texts"),
        ([{"index": 0, "object": "embedding", "embedding": [1.0] * 24}] * 2, "2 vectors to 2 texts"),
        ([{"index": n, "object": "embedding", "embedding": [1.0] * 32} for n in (0, 1)], "EMBEDDING_DIMENSION"),
        ([{"index": n, "object": "embedding", "embedding": [0.0] * 24} for n in (0, 1)], "without a direction"),
        ([{"index": n, "object": "embedding", "embedding": [1e39] * 24} for n in (0, 1)], "direction"),
        ([{"index": n, "object": "embedding", "embedding": ["x"] * 24} for n in (0, 1)], "no list of vectors"),
        ([{"index": n, "object": "embedding", "embedding": None} for n in (0, 1)], "no list of vectors"),
    ],
)  # fmt: skip
async def test_an_answer_that_does_not_fit_is_no_vector(
    service: EmbeddingService, embedder: ApiEmbedder, data: object, said: str
) -> None:
    service.rule = lambda _asked: _changed(data)
    with pytest.raises(Unavailable, match=said):
        await embedder.embed(["tea", "coffee"])


async def test_who_cannot_wait_gives_up_and_leaves_the_others_alone(
    service: EmbeddingService, embedder: ApiEmbedder
) -> None:
    service.held.clear()
    patient = asyncio.create_task(embedder.embed(["a long text"]))
    with pytest.raises(Unavailable, match="in time"):
        await embedder.embed(["a question"], patience=0.2)
    service.held.set()
    assert len(await patient) == 1


async def test_nobody_else_waits_for_a_service_that_has_just_not_answered(
    service: EmbeddingService, embedder: ApiEmbedder
) -> None:
    service.held.clear()
    with pytest.raises(Unavailable, match="in time"):
        await embedder.embed(["a question"], patience=0.2)
    asked = len(service.asked)
    with pytest.raises(Unavailable, match="a moment ago"):
        await embedder.embed(["another"], patience=20)
    assert len(service.asked) == asked
    service.held.set()
    assert len(await embedder.embed(["a long text"])) == 1  # who can wait tries, and tells that it is back
    assert len(await embedder.embed(["another"], patience=20)) == 1


async def test_a_question_does_not_stand_in_line_behind_long_work(
    service: EmbeddingService, embedder: ApiEmbedder
) -> None:
    released = threading.Event()

    def rule(asked: Asked) -> None:
        if asked.texts != ["a question"]:
            released.wait()

    service.rule = rule
    work = asyncio.create_task(embedder.embed([f"text {number}" for number in range(4_000)]))
    await service.was_asked(4)
    assert len(await embedder.embed(["a question"], patience=20)) == 1
    assert not work.done()
    released.set()
    assert len(await work) == 4_000


async def test_a_service_that_is_not_there_is_named_by_its_host(service: EmbeddingService) -> None:
    service.close()
    embedder = ApiEmbedder(Settings("some-model", 24, service.url, SecretStr(KEY), sends_dimension=False))
    with pytest.raises(Unavailable, match=r"127\.0\.0\.1 cannot be reached"):
        await embedder.embed(["tea"], patience=20)
    await embedder.close()


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500])
async def test_neither_key_nor_words_get_into_error_log_or_repr(
    service: EmbeddingService, embedder: ApiEmbedder, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "graphiti_pkm")
    service.rule = lambda _asked: refuses(status)
    with pytest.raises(Unavailable) as failed:
        await embedder.embed([WORDS], patience=20)
    told = f"{failed.value} {failed.value.__cause__!r} {caplog.text} {vars(embedder)}"
    assert KEY not in told
    assert WORDS not in told


async def test_closing_fails_who_waits_and_can_be_repeated(service: EmbeddingService, embedder: ApiEmbedder) -> None:
    service.held.clear()
    waiting = asyncio.create_task(embedder.embed(["tea"]))
    await service.was_asked(1)
    await embedder.close()
    with pytest.raises(Unavailable, match="shutting down"):
        await waiting
    await embedder.close()
    with pytest.raises(Unavailable, match="shutting down"):
        await embedder.embed(["tea again"])


def test_making_one_imports_no_client() -> None:
    program = (
        "import sys; from graphiti_pkm.embedding.api import ApiEmbedder, EmbeddingService; "
        "ApiEmbedder(EmbeddingService('m', 3, 'http://localhost/v1', None, False)); print('openai' in sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=50)
    assert result.stdout == "False\n"


PAGE = (Path(__file__).resolve().parents[2] / "DOCS/models.md").read_text(encoding="utf-8")
BLOCKS = re.findall(
    r"```yaml\n(.*?)```", PAGE.partition("## Embeddings by a service")[2].partition("\n## ")[0], re.DOTALL
)


@pytest.mark.parametrize("block", BLOCKS)
async def test_every_configuration_of_the_page_works(service: EmbeddingService, tmp_path: Path, block: str) -> None:
    (tmp_path / "c.yaml").write_text(block)
    environ = {"GRAPHITI_PKM_EMBEDDING_API_KEY": KEY, "GRAPHITI_PKM_EMBEDDING_BASE_URL": service.url}
    settings = service_of(load_settings({}, environ, tmp_path, tmp_path / "c.yaml").settings)
    service.dimension = settings.dimension
    embedder = ApiEmbedder(settings)
    (vector,) = await embedder.embed(["tea"])
    await embedder.close()
    assert f"embedding_dimension: {len(vector)}" in block
    assert f"embedding_model: {service.asked[0].body['model']}" in block


def test_the_page_has_a_configuration_for_each_kind_of_service() -> None:
    assert len(BLOCKS) == 4
