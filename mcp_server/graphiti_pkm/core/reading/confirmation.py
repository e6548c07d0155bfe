"""Tokens that a preview gives and the call that follows it must bring: nothing else than what was shown is done."""

import hmac
import json

from graphiti_pkm.core.signing import Signer

_BYTES = 6
_PURPOSE = "confirm"


def confirmation(signer: Signer, *shown: object) -> str:
    """The same for the same preview, in whichever process; another as soon as anything in it is another.

    Signed, so that only a preview can give it.
    """
    text = json.dumps(shown, sort_keys=True, default=str, ensure_ascii=True)
    return signer.sign(_PURPOSE, text.encode(), _BYTES).hex()


def is_confirmed(given: str, expected: str) -> bool:
    """Whether a caller brought the token of a preview."""
    return hmac.compare_digest(given.strip().encode(errors="replace"), expected.encode())
