"""Confirmation tokens: a preview returns one, and only the previewed action can be carried out with it."""

import hmac
import json

from graphiti_pkm.core.signing import Signer

_BYTES = 6
_PURPOSE = "confirm"


def confirmation(signer: Signer, *shown: object) -> str:
    """A token derived from the whole preview: equal in every process, different once any part of the preview changes.

    It is signed, so that it cannot be obtained without a preview.
    """
    text = json.dumps(shown, sort_keys=True, default=str, ensure_ascii=True)
    return signer.sign(_PURPOSE, text.encode(), _BYTES).hex()


def is_confirmed(given: str, expected: str) -> bool:
    """Whether a caller sent the token of the preview."""
    return hmac.compare_digest(given.strip().encode(errors="replace"), expected.encode())
