"""Tokens that a preview gives and the call that follows it must bring: nothing else than what was shown is done."""

import hashlib
import json

_LENGTH = 12


def confirmation(*shown: object) -> str:
    """The same for the same preview, in whichever process; another as soon as anything in it is another."""
    text = json.dumps(shown, sort_keys=True, default=str, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:_LENGTH]
