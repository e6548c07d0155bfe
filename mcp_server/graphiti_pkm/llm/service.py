"""The connection to a model server: uses only our settings, ignores the environment, and logs nothing."""

import logging
from typing import Any

import openai

from graphiti_pkm.settings.keys import is_nearby

_CONNECT_SECONDS = 10.0
_NO_KEY = "none"
"""Stands in for a missing key, because the client requires one."""
WITHOUT_KEY = {"Authorization": openai.Omit()}
"""Extra headers of a request to a server that requires no key."""
_TALKATIVE = ("openai", "httpx", "httpx2", "httpcore", "httpcore2")


def open_client(base_url: str, key: str | None, seconds: float, *, is_openai: bool, **more: Any) -> openai.AsyncOpenAI:
    """A client of the ``openai`` package for one address; it does not retry.

    Args:
        base_url: the address, including ``/v1``.
        key: None for a server that requires none.
        seconds: how long to wait for the answer to begin, and for each pause in it.
        is_openai: whether to use the OpenAI organization and project of the environment.
        more: arguments for the HTTP client, used by tests.
    """
    for name in _TALKATIVE:
        # At debug and info level they log what is sent and where; the variable OPENAI_LOG would turn that on.
        logging.getLogger(name).setLevel(logging.WARNING)
    # Always set, so that OPENAI_CUSTOM_HEADERS cannot replace it.
    headers = {"Authorization": f"Bearer {key or _NO_KEY}"}
    client = openai.AsyncOpenAI(
        api_key=key or _NO_KEY,
        base_url=base_url,
        timeout=openai.Timeout(seconds, connect=min(seconds, _CONNECT_SECONDS)),
        max_retries=0,
        default_headers=headers,
        # A redirect would send the text to an address that nobody configured. So would the environment's proxy if the
        # server is on this machine or in its network.
        http_client=openai.DefaultAsyncHttpxClient(
            follow_redirects=False, **{"trust_env": not is_nearby(base_url), **more}
        ),
    )
    if not is_openai:
        client.organization = client.project = None
        client._custom_headers = headers  # noqa: SLF001  (it would also hold OPENAI_CUSTOM_HEADERS)
    return client
