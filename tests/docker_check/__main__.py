"""``python -m tests.docker_check``: says of each check whether it passed, failed or could not be run here."""

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml
from tests.docker_check.container import Place, command_of, volume
from tests.docker_check.databases import what_is_missing
from tests.docker_check.image import Image, built, missing_tools
from tests.docker_check.look_through import look_through
from tests.docker_check.network import hosts_file, leave_the_network
from tests.docker_check.pages import all_blocks, parsed
from tests.docker_check.probes import over_stdio
from tests.docker_check.project import Project, stdio_service
from tests.docker_check.report import Report
from tests.docker_check.rules import DATABASE_PROFILES, compose_problems, dockerfile_problems
from tests.docker_check.service import services_of
from tests.docker_check.tools import DOCKER, compose, hadolint, run, shellcheck
from tests.neo4j_server import missing_tools as neo4j_lacks
from tests.neo4j_server.jars import jars


def main() -> int:
    """Every check that this machine can do."""
    report = Report()
    _lint(report)
    _validate(report)
    lacking = missing_tools() + ([] if compose() else ["docker compose"])
    if os.geteuid() != 0 or lacking:
        why = f"needs {', '.join(lacking)} (Debian: apt-get install buildah mmdebstrap)" if lacking else "needs root"
        report.skip("the image is built, looked through and run", why)
    else:
        if not neo4j_lacks():
            jars()
        with built() as image:
            report.check("the Dockerfile builds (buildah; weights and libraries are verified in the build)")
            look_through(report, image)
            leave_the_network()
            with tempfile.TemporaryDirectory(prefix="pkm-docker-") as directory:
                _run(report, image, Path(directory))
        report.skip("the tags of images exist, networks, limits and restarts of Compose", "needs an engine")
    return report.close()


def _lint(report: Report) -> None:
    dockerfile = DOCKER / "Dockerfile"
    report.check("Dockerfile: our own rules", *dockerfile_problems(dockerfile.read_text(encoding="utf-8")))
    scripts = sorted(DOCKER.glob("*.sh"))
    for linter, what, files in (
        (hadolint(), "Dockerfile: hadolint", [dockerfile]),
        (shellcheck(), f"{', '.join(script.name for script in scripts)}: shellcheck", scripts),
    ):
        if linter is None:
            report.skip(what, "it cannot be installed")
            continue
        found = run(linter, *files)
        report.check(what, *(found.stdout + found.stderr).splitlines())


def _validate(report: Report) -> None:
    compose_file = DOCKER / "compose.yaml"
    loaded = yaml.safe_load(compose_file.read_text(encoding="utf-8"))
    report.check("compose.yaml: our own rules", *compose_problems(loaded))
    command = compose()
    for profile in sorted(DATABASE_PROFILES):
        for profiles in ((profile,), (profile, "librechat")):
            what = f"compose.yaml: profile {' with '.join(profiles)} by Compose's schema"
            if command is None:
                report.skip(what, "there is no `docker compose`, and none can be had from Debian")
                continue
            found = _config(command, *profiles)
            report.check(what, *(found.stderr.splitlines() if found.returncode or found.stderr else ()))


def _config(command: list[str], *profiles: str) -> "subprocess.CompletedProcess[str]":
    """What Compose says to them, with the files that a user makes of the examples."""
    chosen = [word for profile in profiles for word in ("--profile", profile)]
    with tempfile.TemporaryDirectory() as directory:
        copy = Path(directory) / "docker"
        shutil.copytree(DOCKER, copy, ignore=shutil.ignore_patterns(".env", "librechat.env"))
        for example, name in ((".env.example", ".env"), ("librechat.env.example", "librechat.env")):
            shutil.copy(DOCKER / example, copy / name)
        return run(*command, "--file", copy / "compose.yaml", *chosen, "config", "--quiet")


def _run(report: Report, image: Image, directory: Path) -> None:
    directory.chmod(0o755)
    hosts = hosts_file(directory)
    for number, (page, block) in enumerate(all_blocks()):
        profiles = {profile for line in block if (command := parsed(line)) for profile in command.profiles}
        if lacking := next(filter(None, map(what_is_missing, sorted(profiles))), None):
            report.skip(f"{page}: the commands for {', '.join(sorted(profiles))}", lacking)
            continue
        project = Project(report, image, directory / str(number), hosts, page)
        try:
            for line in block:
                project.do(line)
            project.end()
        except (AssertionError, RuntimeError, OSError, subprocess.TimeoutExpired) as error:
            report.check(f"{page}: {', '.join(sorted(profiles))}", str(error), *project.said)
        finally:
            project.kill()
    owner = (image.root / "data").stat()
    place = Place(image, volume(directory / "stdio", f"{owner.st_uid}:{owner.st_gid}"), hosts)
    (directory / "embedded").mkdir()
    shutil.copytree(DOCKER, directory / "embedded" / "docker", ignore=shutil.ignore_patterns("*.env"))
    service = stdio_service(services_of(directory / "embedded", "embedded")["memory"])
    command = command_of(place, service, "serve", "--transport", "stdio")
    problems = asyncio.run(over_stdio(command, directory / "stdio.log"))
    report.check("run: a client that starts the image gets its tools over stdio", *problems)


if __name__ == "__main__":
    sys.exit(main())
