"""Builds the image with buildah, which needs no engine, over a stand-in for the base that no registry is asked for."""

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.docker_check.rules import stages
from tests.docker_check.tools import DOCKER, WORK, done, run

NEEDED = ("buildah", "mmdebstrap", "unshare", "nsenter")
TAG = "graphiti-pkm:docker-check"
_CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"


@dataclass(frozen=True)
class Image:
    """A built image: its files in a directory, and what an engine would read of its configuration."""

    root: Path
    config: dict[str, Any]

    @property
    def environment(self) -> dict[str, str]:
        return dict(pair.split("=", 1) for pair in self.config["Env"])


@contextmanager
def built() -> Iterator[Image]:
    """Build the Dockerfile as it stands; takes minutes and two GB of disk, given back in the end."""
    WORK.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=WORK, prefix="store-") as directory:
        buildah = _buildah(directory)
        dockerfile = DOCKER / "Dockerfile"
        for base in sorted({stage.image for stage in stages(dockerfile.read_text(encoding="utf-8"))}):
            _stand_in(buildah, base)
        ignored = f"{dockerfile}.dockerignore"
        options = ["--isolation", "chroot", "--pull-never", "--network", "host", "--format", "docker"]
        done(*buildah, "build", *options, "--ignorefile", ignored, "-f", dockerfile, "-t", TAG, ".")
        config = json.loads(done(*buildah, "inspect", "--type", "image", TAG))["Docker"]["config"]
        container = done(*buildah, "from", "--pull-never", TAG).strip()
        yield Image(Path(done(*buildah, "mount", container).strip()), config)
        done(*buildah, "umount", "--all")


def _buildah(directory: str) -> list[str]:
    """With layers where the machine can stack them; a copy for each, which takes minutes more, where it cannot."""
    for driver in ("overlay", "vfs"):
        command = [
            "buildah",
            "--storage-driver",
            driver,
            "--root",
            f"{directory}/root",
            "--runroot",
            f"{directory}/run",
        ]
        if run(*command, "info").returncode == 0:
            return command
        shutil.rmtree(f"{directory}/root", ignore_errors=True)
    raise RuntimeError("buildah can store nothing here")


def _stand_in(buildah: list[str], base: str) -> None:
    """Debian's own minimal system of the same release, under the name of the base."""
    release = base.partition(":")[2].partition("-")[0]
    archive = WORK / f"{release}.tar"
    if not archive.exists():
        fresh = archive.with_suffix(".new.tar")
        done("mmdebstrap", "--variant=minbase", "--quiet", "--include=ca-certificates", release, fresh)
        fresh.rename(archive)
    container = done(*buildah, "from", "scratch").strip()
    done(*buildah, "add", container, archive, "/")
    if Path(_CERTIFICATES).exists():  # a company's proxy has its own
        done(*buildah, "copy", container, _CERTIFICATES, _CERTIFICATES)
    done(*buildah, "commit", "--quiet", container, base)
    done(*buildah, "rm", container)


def missing_tools() -> list[str]:
    """What the build and the run lack here."""
    return [tool for tool in NEEDED if shutil.which(tool) is None]
