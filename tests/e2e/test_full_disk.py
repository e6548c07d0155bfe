"""A full disk: status, /ready and doctor say so before and after a write fails, until there is room again."""

import asyncio
import os
import resource
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import httpx2
import pytest
from mcp.client import Client
from tests.e2e.support import COMMAND, DEADLINE_SECONDS, Served, call, environment, over_http, serving, until

_IN_NAMESPACE = ["unshare", "--mount", "--propagation", "private", "sh", "-c"]
_MEGABYTES = 200
"""Doctor asks for 100 that are free."""


class Disk(Protocol):
    """The disk of one data directory."""

    def within(self) -> Sequence[str]:
        """What the server is started with."""
        ...

    def fill(self, server: Served) -> None: ...

    def free(self, server: Served) -> None: ...

    def beside(self, server: Served) -> Sequence[str]:
        """What another command on the same disk is started with."""
        ...


class SmallDisk:
    """A file system in memory, seen by the server alone; mounting one needs root."""

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir

    def within(self) -> Sequence[str]:
        self._data_dir.mkdir(parents=True)
        mount = f'mount -t tmpfs -o size={_MEGABYTES}m,mode=700 tmpfs "$0" && exec "$@"'
        return [*_IN_NAMESPACE, mount, str(self._data_dir)]

    def fill(self, server: Served) -> None:
        with self._filler(server).open("wb") as file:
            for size in (2**20, 2**12):
                try:
                    while True:
                        os.posix_fallocate(file.fileno(), file.seek(0, os.SEEK_END), size)
                except OSError:
                    continue

    def free(self, server: Served) -> None:
        self._filler(server).unlink()

    def beside(self, server: Served) -> Sequence[str]:
        return ["nsenter", "--target", str(server.process.pid), "--mount"]

    def _filler(self, server: Served) -> Path:
        return Path(f"/proc/{server.process.pid}/root") / self._data_dir.relative_to("/") / "filler"


class SmallFiles:
    """Any disk, of a server whose files may not grow: where nothing may be mounted."""

    def __init__(self, _data_dir: Path) -> None:
        return

    def within(self) -> Sequence[str]:
        return ()

    def fill(self, server: Served) -> None:
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (1, resource.RLIM_INFINITY))

    def free(self, server: Served) -> None:
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))

    def beside(self, _server: Served) -> Sequence[str]:
        return ["prlimit", "--fsize=1"]


def may_mount() -> bool:
    try:
        tried = subprocess.run([*_IN_NAMESPACE, "mount -t tmpfs tmpfs /mnt"], capture_output=True, check=False)
    except FileNotFoundError:
        return False
    return tried.returncode == 0


DISKS: list[Callable[[Path], Disk]] = [SmallFiles, SmallDisk] if may_mount() else [SmallFiles]


async def status_is(client: Client, wanted: str) -> dict[str, Any]:
    """The answer of get_status once it says so: what it knows may be some seconds old."""
    async with asyncio.timeout(DEADLINE_SECONDS):
        while (found := await call(client, "get_status"))["status"] != wanted:  # noqa: ASYNC110  (of another process)
            await asyncio.sleep(0.1)
    return found


async def contents(client: Client) -> list[str]:
    return sorted(one["content"] for one in (await call(client, "get_episodes", max_episodes=50))["episodes"])


@pytest.mark.parametrize("kind", DISKS)
async def test_that_nothing_can_be_written_is_said_before_a_write_fails_and_until_there_is_room(
    data_dir: Path, kind: Callable[[Path], Disk]
) -> None:
    disk = kind(data_dir)
    with serving(data_dir, within=disk.within()) as server:
        async with over_http(server.endpoint) as client:
            await call(client, "add_memory", episode_body="Before.")
            await asyncio.to_thread(until, server.ready, "the server to be ready")
            assert (await call(client, "get_status"))["status"] == "ok"
            disk.fill(server)
            found = await status_is(client, "degraded")
            assert found["failures"][0].startswith("Nothing can be written now.")
            refused = await client.call_tool("add_memory", {"episode_body": "Between."})
            assert refused.is_error
            assert (refused.structured_content or {})["code"] == "not_kept"
            assert (await call(client, "get_status"))["status"] == "degraded"
            answer = httpx2.get(f"{server.url}/ready")
            assert (answer.status_code, answer.json()["reason"]) == (503, "not_writable")
            assert await contents(client) == ["Before."]
            doctor = await asyncio.to_thread(
                subprocess.run,
                [*disk.beside(server), COMMAND, "doctor"],
                env=environment(data_dir=data_dir),
                capture_output=True,
                text=True,
                check=False,
            )
            assert doctor.returncode == 1, doctor.stdout
            assert "Nothing can be written now." in doctor.stdout, doctor.stdout + doctor.stderr
            disk.free(server)
            assert (await status_is(client, "ok"))["failures"] == []
            await call(client, "add_memory", episode_body="After.")
            assert await contents(client) == ["After.", "Before."]
