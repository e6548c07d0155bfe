"""Signatures on what the server hands out and takes back: cursors, and the tokens of previews.

One key per memory, so that every process and host that serves it accepts what another one gave, also after a restart.
"""

import hashlib
import hmac
import secrets

KEY_BYTES = 32


class Signer:
    """Signs with one key; without one given, with a key of its own, whose signatures end with the process."""

    def __init__(self, key: bytes | None = None) -> None:
        self._key = secrets.token_bytes(KEY_BYTES) if key is None else key

    def use(self, key: bytes) -> None:
        """Sign with another key from now on: the one on which the hosts of a database agreed."""
        self._key = key

    def sign(self, purpose: str, data: bytes, size: int) -> bytes:
        """The first ``size`` bytes of an HMAC-SHA256; a signature for one purpose is none for another."""
        return hmac.digest(self._key, purpose.encode() + b"\0" + data, hashlib.sha256)[:size]

    def is_signed(self, purpose: str, data: bytes, signature: bytes, size: int) -> bool:
        """Whether ``sign`` gave this signature; takes as long for any other."""
        return hmac.compare_digest(self.sign(purpose, data, size), signature)
