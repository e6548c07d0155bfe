"""Runs the Compose commands of the documentation one by one, without a container engine."""

import asyncio
import shutil
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from tests.docker_check import databases
from tests.docker_check.container import Container, Place, command_of, started, volume
from tests.docker_check.image import Image
from tests.docker_check.pages import ComposeCommand, parsed
from tests.docker_check.probes import client_of, find, is_alive, is_ready, token_in, write_and_find
from tests.docker_check.report import Report
from tests.docker_check.rules import DATABASES
from tests.docker_check.service import Service, services_of
from tests.docker_check.tools import DOCKER, run

from graphiti_pkm.storage.journal.connection import JOURNAL, MEMORY

IMPOSSIBLE = {"librechat", "mongodb"}
"""Services whose programs are in their images only."""
_PATIENCE_SECONDS = 120.0
"""A Neo4j that starts on a busy machine builds its indexes for half a minute."""


class Project:
    """The containers and volumes of one block of commands, in a directory with a ``docker/`` of its own."""

    def __init__(self, report: Report, image: Image, directory: Path, hosts: Path, page: str) -> None:
        self._report = report
        self._directory = directory
        self._page = page
        directory.mkdir()
        shutil.copytree(DOCKER, directory / "docker", ignore=shutil.ignore_patterns(".env", "librechat.env"))
        owner = (image.root / "data").stat()
        self._place = Place(image, volume(directory / "memory", f"{owner.st_uid}:{owner.st_gid}"), hosts)
        self._log = directory / "container.log"
        self._databases: dict[str, databases.Database] = {}
        self._memory: Container | None = None
        self._token: str | None = None
        self._is_service = False
        self._profiles: tuple[str, ...] = ()

    def do(self, line: str) -> None:
        """One line of a block. Raises AssertionError if it does not do what the page says."""
        command = parsed(line)
        if command is None:
            done = run("sh", "-c", f'cd "$0" && {line}', self._directory)
            self._report.check(f"{self._page}: `{line}`", *([done.stderr] if done.returncode else []))
            return
        self._profiles = command.profiles
        problems = getattr(self, f"_{command.verb}")(command, services_of(self._directory, *command.profiles))
        said = f"--profile {' --profile '.join(command.profiles)} {line.partition(command.profiles[-1] + ' ')[2]}"
        self._report.check(f"{self._page}: `{said}`", *problems)

    def end(self) -> None:
        """After the last line: stop what runs, start it again on the same volumes, stop it again."""
        if self._memory is None:
            return
        services = services_of(self._directory, *self._profiles)
        nothing = ComposeCommand(self._profiles, "down")
        stopped = self._down(nothing, services)
        self._report.check(f"{self._what}: SIGTERM ends the server in order", *stopped)
        self._up_again(services)
        self._down(nothing, services)

    def kill(self) -> None:
        """Leave no process behind, whatever went wrong."""
        if self._memory is not None:
            self._memory.kill()
        for database in self._databases.values():
            database.stop()

    @property
    def said(self) -> list[str]:
        """The end of the container's log."""
        return self._log.read_text(errors="replace").splitlines()[-10:] if self._log.exists() else []

    @property
    def _what(self) -> str:
        return " with ".join(self._profiles)

    def _build(self, _: ComposeCommand, services: dict[str, Service]) -> list[str]:
        built = [service for service in services.values() if service.builds]
        problems = [f"{name} starts an image that nobody builds" for name, one in services.items() if not one.image]
        wanted = self._directory / "docker" / "Dockerfile"
        return problems + [f"{one.name} is built from {one.builds}" for one in built if one.builds != wanted]

    def _run(self, command: ComposeCommand, services: dict[str, Service]) -> list[str]:
        assert command.service is not None
        service = services[command.service]
        refused = run(*command_of(self._place, service))
        problems = [] if "no tokens" in refused.stderr else ["it serves without a token", refused.stderr]
        made = run(*command_of(self._place, service, *command.arguments))
        self._token = token_in(made.stdout)
        self._is_service = "--may-impersonate" in command.arguments
        return problems + ([] if self._token else [f"no token: {made.stderr}"])

    def _up(self, _: ComposeCommand, services: dict[str, Service]) -> list[str]:
        assert self._token is not None, "there is no token yet"
        client = client_of(self._token, is_service=self._is_service)
        self._start_database(services)  # compose.yaml says that the memory waits for it
        self._start_memory(services)
        self._wait_until_ready()
        for other in sorted(IMPOSSIBLE & set(services)):
            self._report.skip(f"{self._what}: {other}", "its image is not here")
        assert self._memory is not None
        service = self._memory.service
        confined = "as uid 10001, root read-only, no capabilities, /tmp in memory, no network but its own"
        self._report.check(f"{self._what}: HEALTHCHECK of {service.name} passes {confined}", *_not_confined(service))
        if workers := service.environment.get("GRAPHITI_PKM_WORKERS"):
            serving = self._memory.inside("/bin/sh", "-c", "grep -lsz '^serve$' /proc/[0-9]*/cmdline | wc -l")
            enough = int(serving.stdout) == int(workers) + 2  # the one that watches them, and entrypoint.sh
            self._report.check(f"{self._what}: {workers} workers answer", *([] if enough else [serving.stdout]))
        denied = self._memory.inside("/usr/bin/touch", "/opt/graphiti-pkm/x")
        self._report.check(f"{self._what}: its root cannot be written", *([] if denied.returncode else ["it was"]))
        what = "tools/list, a note, and finding it by meaning, as the page's client sends them"
        self._report.check(f"{self._what}: {what}", *asyncio.run(write_and_find(client)))
        for name, database in self._databases.items():
            elsewhere = [] if database.episodes() == 1 else ["it is not there"]
            elsewhere += [f"there is {MEMORY}"] if (self._place.data / MEMORY).exists() else []
            self._report.check(
                f"{self._what}: the note is in {name} and in no file of the volume but the journal", *elsewhere
            )
        return []

    def _exec(self, command: ComposeCommand, services: dict[str, Service]) -> list[str]:
        assert self._memory is not None, "nothing runs"
        assert command.service == self._memory.service.name
        assert command.service in services
        done = self._memory.inside(*command.arguments)
        return [done.stdout + done.stderr] if done.returncode else []

    def _cp(self, command: ComposeCommand, _: dict[str, Service]) -> list[str]:
        source, target = command.arguments
        there = self._place.data / Path(source).relative_to("/data")
        shutil.copy(there, self._directory / target)
        return [] if there.stat().st_size else ["it is empty"]

    def _down(self, _: ComposeCommand, __: dict[str, Service]) -> list[str]:
        if self._memory is None:
            return []
        code = self._memory.stop()
        problems = [] if code == 0 else [f"exit code {code}", *self.said]
        logs = [log for log in (f"{MEMORY}-wal", f"{JOURNAL}-wal") if (self._place.data / log).exists()]
        problems += [f"{log} is left, so its file was not closed" for log in logs]
        self._memory = None
        for name in list(self._databases):
            self._databases.pop(name).stop()
        return problems

    def _up_again(self, services: dict[str, Service]) -> None:
        """The other way round: a server that is there before its database waits for it."""
        assert self._token is not None
        self._start_memory(services)
        if waited := set(services) & set(DATABASES):
            alone = [] if is_alive() and not is_ready() else ["it says that it is ready"]
            self._report.check(f"{self._what}: without {', '.join(waited)} it lives and is not ready", *alone)
            self._start_database(services)
        self._wait_until_ready()
        found = asyncio.run(find(client_of(self._token, is_service=self._is_service)))
        self._report.check(f"{self._what}: after a new start on the volumes the note is there", *found)

    def _start_database(self, services: dict[str, Service]) -> None:
        for name in sorted(set(services) & set(DATABASES)):
            assert name not in self._databases
            database = databases.start(services[name], self._directory / name)
            self._databases[name] = database
            _until(database.is_healthy, f"the healthcheck of {name}")
            self._report.check(f"{self._what}: {name} starts with its password, and its healthcheck passes")

    def _start_memory(self, services: dict[str, Service]) -> None:
        (service,) = [one for one in services.values() if one.builds]
        self._memory = started(self._place, service, self._log)
        _until(lambda: self._ends() or (self._memory and self._memory.is_healthy()), "the image's HEALTHCHECK")

    def _wait_until_ready(self) -> None:
        _until(lambda: self._ends() or is_ready(), "/ready")

    def _ends(self) -> bool:
        assert self._memory is not None
        assert self._memory.process.poll() is None, "the server ended"
        return False


def _until(condition: Callable[[], object], what: str) -> None:
    """Wait for what another process does and no event tells of."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, f"still waiting for {what}"
        time.sleep(0.1)


def _not_confined(service: Service) -> list[str]:
    """What the check claims of every service of the image, whatever compose.yaml will say."""
    problems = [] if service.read_only else ["its root can be written"]
    problems += [] if service.tmpfs == ["/tmp"] else [f"in memory are {service.tmpfs}"]  # noqa: S108
    return problems + ([f"it runs as {service.user}"] if service.user else [])


def stdio_service(service: Service) -> Service:
    """The service as ``docker run`` starts the image: without what compose.yaml adds."""
    return replace(service, environment={}, read_only=False)
