from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from graphiti_pkm.errors import ModelRefused, ModelUnavailable
from graphiti_pkm.llm.service_errors import RequestNotTaken, retry_after, status_error

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529])
def test_waiting_helps(status: int) -> None:
    error = status_error(status, "m", headers={"retry-after": "7"})
    assert isinstance(error, ModelUnavailable)
    assert error.retry_after == 7


@pytest.mark.parametrize(
    ("status", "code", "param", "remedy"),
    [
        (401, "invalid_api_key", "", "GRAPHITI_PKM_LLM_API_KEY"),
        (403, "", "", "llm_model"),
        (404, "model_not_found", "", "llm_model"),
        (307, "", "", "llm_base_url"),
        (400, "context_length_exceeded", "", "longer context"),
        (413, "", "", "longer context"),
        (402, "", "", "Pay"),
        (429, "insufficient_quota", "", "Pay"),
        (400, "content_filter", "", "another one"),
        (400, "unsupported_value", "temperature", "Check llm_temperature,"),
        (400, "unsupported_parameter", "max_tokens", "Check llm_max_tokens,"),
        (422, "", "", "llm_structured_output"),
        (418, "", "", "llm_structured_output"),
    ],
)
def test_waiting_does_not_help_and_the_remedy_says_what_does(status: int, code: str, param: str, remedy: str) -> None:
    error = status_error(status, "m", code, param)
    assert isinstance(error, ModelRefused)
    assert remedy in error.remedy
    assert "graphiti-pkm queue retry" in error.remedy


def test_only_what_another_form_may_mend_is_tried_in_another_form() -> None:
    assert isinstance(status_error(400, "m"), RequestNotTaken)
    assert not isinstance(status_error(401, "m"), RequestNotTaken)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "2"}, 2),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": format_datetime(NOW + timedelta(seconds=90), usegmt=True)}, 90),
        ({"retry-after": format_datetime(NOW - timedelta(days=1), usegmt=True)}, 0),
        ({"retry-after": "Sun, 01 Mar 2026 12:01:00"}, 60),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
    ],
)
def test_the_wait_is_read_as_seconds_milliseconds_or_a_date(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, NOW) == seconds
