"""Runs an image as an engine would by compose.yaml: as its user, root read-only, /tmp in memory, no capabilities.

Namespaces of its own for mounts and processes; the network is the machine's, so a free port takes the place of 8000.
"""

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.docker_check.image import Image
from tests.docker_check.tools import run

_SETUP = """
set -eu
root=$1 data=$2; shift 2
mount --bind "$root" "$root"
mount -o remount,bind,ro "$root"
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=1777,nosuid,nodev,noexec tmpfs "$root/tmp"
mount -t tmpfs -o mode=755,nosuid tmpfs "$root/dev"
for device in null zero full random urandom; do
  touch "$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
mount --bind "$data" "$root/data"
exec chroot "$root" "$@"
"""


@dataclass(frozen=True)
class Container:
    """A started one: its first process, as seen from outside."""

    image: Image
    environment: Mapping[str, str]
    process: "subprocess.Popen[bytes]"
    first_process: int

    def inside(self, *command: str) -> "subprocess.CompletedProcess[str]":
        """A command in it, as ``docker exec`` runs one."""
        entered = ("nsenter", "--target", str(self.first_process), "--mount", "--pid", "--root", "--wd")
        return run(*entered, *_as_user(self.image, self.environment), *command)

    def is_healthy(self) -> bool:
        """What the image's HEALTHCHECK says now."""
        kind, *command = self.image.config["Healthcheck"]["Test"]
        assert kind == "CMD"
        return self.inside(*command).returncode == 0

    def stop(self, seconds: float) -> int:
        """Send what ``docker stop`` sends, wait as long as it may take, and tell the exit code."""
        os.kill(self.first_process, getattr(signal, self.image.config["StopSignal"]))
        return self.process.wait(timeout=seconds)


def command_of(image: Image, data: Path, environment: Mapping[str, str], *arguments: str) -> list[str]:
    """The command line that runs an image on a volume; without arguments the image's own."""
    started = [*image.config["Entrypoint"], *(arguments or image.config["Cmd"])]
    unshared = ["unshare", "--mount", "--pid", "--fork", "--propagation", "private"]
    setup = ["sh", "-c", _SETUP, "setup", str(image.root), str(data)]
    return [*unshared, *setup, *_as_user(image, environment), *started]


@contextmanager
def running(image: Image, data: Path, log: Path, environment: Mapping[str, str]) -> Iterator[Container]:
    """A container with the image's own command; killed in the end if it still runs."""
    with log.open("ab") as output:
        process = subprocess.Popen(
            command_of(image, data, environment), stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )
    first_process = _child_of(process)
    try:
        yield Container(image, environment, process, first_process)
    finally:
        if process.poll() is None:
            os.kill(first_process, signal.SIGKILL)  # the kernel takes along what runs beside it
        process.wait()


def volume(image: Image, directory: Path) -> Path:
    """A new volume: an engine gives it the owner that the directory has in the image."""
    directory.mkdir(mode=0o700)
    owner = (image.root / "data").stat()
    os.chown(directory, owner.st_uid, owner.st_gid)
    return directory


def _as_user(image: Image, environment: Mapping[str, str]) -> list[str]:
    uid, _, gid = image.config["User"].partition(":")
    variables = [f"{name}={value}" for name, value in {**image.environment, **environment}.items()]
    limits = ["--no-new-privs", "--bounding-set=-all", "--inh-caps=-all", "--clear-groups"]
    return ["/usr/bin/setpriv", f"--reuid={uid}", f"--regid={gid}", *limits, "/usr/bin/env", "-i", *variables]


def _child_of(process: "subprocess.Popen[bytes]") -> int:
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while not (found := children.read_text(encoding="ascii").split()):
        assert process.poll() is None, "the container did not start"
    return int(found[0])
