"""Runs a service on the files of an image, as compose.yaml says: its user, its root read-only, no capabilities.

Namespaces of its own for mounts and processes. The network is that of the check, which has loopback alone: the names of
services are names of loopback there, so ports and addresses are those of compose.yaml.
"""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.docker_check.image import Image
from tests.docker_check.service import Service
from tests.docker_check.tools import run

_SETUP = """
set -eu
root=$1 mode=$2 hosts=$3 data=$4 tmpfs=$5 from=$6 to=$7; shift 7
mount --bind "$root" "$root"
for file in /etc/hosts $to; do
  test -e "$root$file" || : > "$root$file"
done
if [ "$mode" = ro ]; then mount -o remount,bind,ro "$root"; fi
mount -t proc proc "$root/proc"
for directory in $tmpfs; do
  mount -t tmpfs -o mode=1777,nosuid,nodev,noexec tmpfs "$root$directory"
done
mount -t tmpfs -o mode=755,nosuid tmpfs "$root/dev"
for device in null zero full random urandom; do
  touch "$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
mount --bind "$hosts" "$root/etc/hosts"
if [ -n "$to" ]; then mount --bind -o ro "$from" "$root$to"; fi
mount --bind "$data" "$root/data"
exec chroot "$root" "$@"
"""


@dataclass(frozen=True)
class Place:
    """Where a service runs: the files of an image, its volume, and the names of its network."""

    image: Image
    data: Path
    hosts: Path


@dataclass(frozen=True)
class Container:
    """A started one: its first process, as seen from outside."""

    place: Place
    service: Service
    process: "subprocess.Popen[bytes]"
    first_process: int

    def inside(self, *command: str) -> "subprocess.CompletedProcess[str]":
        """A command in it, as ``docker exec`` runs one."""
        entered = ("nsenter", "--target", str(self.first_process), "--mount", "--pid", "--root", "--wd")
        return run(*entered, *_as_user(self.place.image, self.service), *command)

    def is_healthy(self) -> bool:
        """What the image's HEALTHCHECK says now."""
        kind, *command = self.place.image.config["Healthcheck"]["Test"]
        assert kind == "CMD"
        return self.inside(*command).returncode == 0

    def stop(self) -> int:
        """Send what ``docker stop`` sends, wait as long as it may take, and tell the exit code."""
        os.kill(self.first_process, getattr(signal, self.place.image.config["StopSignal"]))
        return self.process.wait(timeout=self.service.stop_grace_seconds)

    def kill(self) -> None:
        """End it if it still runs; the kernel takes along what runs beside its first process."""
        if self.process.poll() is None:
            os.kill(self.first_process, signal.SIGKILL)
        self.process.wait()


def command_of(place: Place, service: Service, *arguments: str) -> list[str]:
    """The command line that runs a service; without arguments the image's own."""
    config = place.image.config
    started = [
        *(service.entrypoint or config["Entrypoint"]),
        *(arguments or ([] if service.entrypoint else config["Cmd"])),
    ]
    unshared = ["unshare", "--mount", "--pid", "--fork", "--propagation", "private"]
    mode, mounted = "ro" if service.read_only else "rw", [str(part) for part in service.file or ("", "")]
    where = [str(place.image.root), mode, str(place.hosts), str(place.data), " ".join(service.tmpfs), *mounted]
    return [*unshared, "sh", "-c", _SETUP, "setup", *where, *_as_user(place.image, service), *started]


def started(place: Place, service: Service, log: Path) -> Container:
    """A container with the service's own command."""
    with log.open("ab") as output:
        process = subprocess.Popen(command_of(place, service), stdin=subprocess.DEVNULL, stdout=output, stderr=output)
    return Container(place, service, process, _child_of(process))


@contextmanager
def running(place: Place, service: Service, log: Path) -> Iterator[Container]:
    """As ``started``, killed in the end if it still runs."""
    container = started(place, service, log)
    try:
        yield container
    finally:
        container.kill()


def volume(directory: Path, owner: str) -> Path:
    """A new volume: an engine gives it the owner that the directory has in the image."""
    directory.mkdir(mode=0o700)
    uid, _, gid = owner.partition(":")
    os.chown(directory, int(uid), int(gid))
    return directory


def _as_user(image: Image, service: Service) -> list[str]:
    uid, _, gid = (service.user or image.config["User"]).partition(":")
    variables = [f"{name}={value}" for name, value in {**image.environment, **service.environment}.items()]
    limits = ["--no-new-privs", "--bounding-set=-all", "--inh-caps=-all", "--clear-groups"]
    return ["/usr/bin/setpriv", f"--reuid={uid}", f"--regid={gid}", *limits, "/usr/bin/env", "-i", *variables]


def _child_of(process: "subprocess.Popen[bytes]") -> int:
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while not (found := children.read_text(encoding="ascii").split()):
        assert process.poll() is None, "the container did not start"
    return int(found[0])
