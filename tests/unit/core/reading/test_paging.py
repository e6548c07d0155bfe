"""Cursors, limits and sizes."""

import base64
import hashlib
import json
from datetime import UTC, datetime

import pytest
from pydantic import ValidationError

from graphiti_pkm.capabilities.explore.requests import GetEntityConnections
from graphiti_pkm.core.reading.confirmation import confirmation, is_confirmed
from graphiti_pkm.core.reading.paging import (
    CONNECTIONS,
    DEFAULT_CHARS,
    MAXIMUM_CHARS,
    TIMELINE,
    Cursor,
    budget,
    clip_json,
    decode_cursor,
    encode_cursor,
    fit,
    text_size,
)
from graphiti_pkm.core.signing import KEY_BYTES, Signer
from graphiti_pkm.errors import InvalidCursor

NOW = datetime(2026, 3, 1, 12, 30, 15, 123456, tzinfo=UTC)
SIGNER = Signer()
FILTERS: dict[str, object] = {"tool": "x", "groups": ("a", "b"), "since": NOW}


@pytest.mark.parametrize("key", [("u",), (1, "2025-01-01", "", "u-1"), (-7, "Ünïcode 東京 🎉")])
def test_a_cursor_keeps_the_key_and_the_now_of_page_one(key: tuple[str | int, ...]) -> None:
    assert decode_cursor(SIGNER, encode_cursor(SIGNER, key, FILTERS, NOW), FILTERS) == Cursor(key, NOW)


def test_a_cursor_of_other_filters_is_refused() -> None:
    cursor = encode_cursor(SIGNER, ("u",), FILTERS, NOW)
    with pytest.raises(InvalidCursor, match="other arguments"):
        decode_cursor(SIGNER, cursor, {**FILTERS, "groups": ("a",)})


@pytest.mark.parametrize(
    "spoil",
    [lambda c: c[:-3], lambda c: ("B" if c[0] == "A" else "A") + c[1:], lambda _: "", lambda _: "not a cursor ü\ud800"],
)
def test_a_damaged_cursor_is_refused(spoil: object) -> None:
    assert callable(spoil)
    with pytest.raises(InvalidCursor):
        decode_cursor(SIGNER, spoil(encode_cursor(SIGNER, ("u",), FILTERS, NOW)), FILTERS)


@pytest.mark.parametrize("digest_size", [6, 8])
def test_a_cursor_that_anybody_can_make_is_refused(digest_size: int) -> None:
    """As they were once: a digest without a key over the body and the filters, which are no secret."""
    body = json.dumps([NOW.isoformat(), "u"], separators=(",", ":")).encode()
    filters = json.dumps(FILTERS, sort_keys=True, default=str).encode()
    digest = hashlib.blake2s(body + b"\0" + filters, digest_size=digest_size).digest()
    forged = base64.urlsafe_b64encode(digest + body).decode().rstrip("=")
    with pytest.raises(InvalidCursor):
        decode_cursor(SIGNER, forged, FILTERS)


def test_a_cursor_goes_on_wherever_the_key_is_and_nowhere_else() -> None:
    key = bytes(range(KEY_BYTES))
    here, there, elsewhere = Signer(key), Signer(key), Signer()
    cursor = encode_cursor(here, ("u",), FILTERS, NOW)
    assert decode_cursor(there, cursor, FILTERS) == Cursor(("u",), NOW)
    with pytest.raises(InvalidCursor):
        decode_cursor(elsewhere, cursor, FILTERS)
    elsewhere.use(key)
    assert decode_cursor(elsewhere, cursor, FILTERS) == Cursor(("u",), NOW)


def test_a_confirmation_is_of_one_preview_and_one_key() -> None:
    token = confirmation(SIGNER, "forget", ("vera",), {"facts": 1})
    assert len(token) == 12
    assert is_confirmed(f" {token}\n", confirmation(SIGNER, "forget", ("vera",), {"facts": 1}))
    others = [
        confirmation(SIGNER, "forget", ("eve",), {"facts": 1}),
        confirmation(Signer(), "forget", ("vera",), {"facts": 1}),
    ]
    unkeyed = json.dumps(("forget", ("vera",), {"facts": 1}), sort_keys=True).encode()
    others += [hashlib.sha256(unkeyed).hexdigest()[:12], "", token[:-1], token.upper() + "x", "\ud800", "ü"]
    assert not any(is_confirmed(other, token) for other in others)


def test_an_endless_cursor_is_refused() -> None:
    with pytest.raises(InvalidCursor):
        decode_cursor(SIGNER, "A" * 1_000_000, FILTERS)


@pytest.mark.parametrize("value", [0, -1, 201])
def test_limits_outside_their_range_are_refused_by_name(value: int) -> None:
    with pytest.raises(ValidationError, match="max_connections"):
        GetEntityConnections(entity_uuid="me", max_connections=value)


def test_stated_defaults_and_maxima() -> None:
    assert (CONNECTIONS.default, CONNECTIONS.maximum) == (50, 200)
    assert (TIMELINE.default, TIMELINE.maximum) == (20, 100)


def test_the_larger_budget_needs_a_larger_limit() -> None:
    assert budget((CONNECTIONS, 50)) < DEFAULT_CHARS
    assert DEFAULT_CHARS < budget((CONNECTIONS, 51)) < MAXIMUM_CHARS


def test_as_many_items_as_fit_and_always_one() -> None:
    assert fit([10, 10, 10], 25) == 2
    assert fit([10, 10, 10], 30) == 3
    assert fit([100, 1], 25) == 1
    assert fit([], 25) == 0


def test_sizes_are_those_of_compact_json_with_short_uuids() -> None:
    assert text_size({"a": 'x"y', "b": None, "c": [], "d": [1, True]}) >= len('{"a":"x\\"y","d":[1,true]}')
    assert text_size("00000000-0000-4000-8000-000000000000") == 14


def test_a_text_is_cut_to_its_size_as_json() -> None:
    assert clip_json("abc", 2, 100) == "ab"
    assert clip_json("\n" * 100, 100, 102) == "\n" * 50
    assert clip_json("", 10, 100) == ""
