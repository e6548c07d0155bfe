"""The connection to a model's server: our key, our address, nothing of the environment's, nothing in a log."""

import logging
from typing import Any

import openai

from graphiti_pkm.settings.keys import is_nearby

_CONNECT_SECONDS = 10.0
_NO_KEY = "none"
"""The client insists on one."""
WITHOUT_KEY = {"Authorization": openai.Omit()}
"""Extra headers of a request to a server that asks for no key."""
_TALKATIVE = ("openai", "httpx", "httpx2", "httpcore", "httpcore2")


def open_client(base_url: str, key: str | None, seconds: float, *, is_openai: bool, **more: Any) -> openai.AsyncOpenAI:
    """A client of the ``openai`` package for one address; who asks again, and when, is not its business.

    Args:
        base_url: with its ``/v1``.
        key: None for a server that asks for none.
        seconds: for the answer to begin and for each pause in it.
        is_openai: whether the account that the environment names for OpenAI counts.
        more: for the HTTP client, in tests.
    """
    for name in _TALKATIVE:
        # At debug and info level they log what is sent and where; OPENAI_LOG would turn that on.
        logging.getLogger(name).setLevel(logging.WARNING)
    # Given in any case, so that no header of OPENAI_CUSTOM_HEADERS takes its place.
    headers = {"Authorization": f"Bearer {key or _NO_KEY}"}
    client = openai.AsyncOpenAI(
        api_key=key or _NO_KEY,
        base_url=base_url,
        timeout=openai.Timeout(seconds, connect=min(seconds, _CONNECT_SECONDS)),
        max_retries=0,
        default_headers=headers,
        # Following a redirect would send the text to an address that nobody named, and so would the environment's proxy
        # with what is meant for a server next door.
        http_client=openai.DefaultAsyncHttpxClient(
            follow_redirects=False, **{"trust_env": not is_nearby(base_url), **more}
        ),
    )
    if not is_openai:
        client.organization = client.project = None
        client._custom_headers = headers  # noqa: SLF001  (else those of OPENAI_CUSTOM_HEADERS would go along)
    return client
