"""docker/ against our rules and the settings; that the image builds and runs is for `make docker-check`."""

import re
import subprocess
from pathlib import Path

import pytest
import yaml
from tests.docker_check.pages import PAGES, all_blocks, is_safe_to_run, parsed
from tests.docker_check.rules import (
    DATABASE_PROFILES,
    SUPPORTED_PROFILES,
    compose_problems,
    dockerfile_problems,
    pinned,
    stages,
)
from tests.docker_env import ENV_EXAMPLE, REQUIRED, env_example, fixed_by_compose, services, taken_from_env
from tests.write_docs import configuration_page

from graphiti_pkm.cli.main import build_parser
from graphiti_pkm.server.transports.draining import CLOSING_SECONDS
from graphiti_pkm.settings.loader import ENV_PREFIX, Settings, environment_name
from graphiti_pkm.settings.names import flags_of

ROOT = Path(__file__).resolve().parents[3]
DOCKER = ROOT / "docker"
DOCKERFILE = (DOCKER / "Dockerfile").read_text(encoding="utf-8")
COMPOSE = (DOCKER / "compose.yaml").read_text(encoding="utf-8")
BASE = stages(DOCKERFILE)[-1].image


def test_the_dockerfile_keeps_our_rules() -> None:
    assert dockerfile_problems(DOCKERFILE) == []


@pytest.mark.parametrize(
    ("there", "planted", "found"),
    [
        (f"FROM {BASE}\n", "FROM debian:latest\n", "not pinned"),
        (f"FROM {BASE}\n", "FROM debian:bookworm-slim\n", "not pinned"),
        (f"FROM {BASE}\nSHELL", f"FROM {BASE}\nENV X_TOKEN=abc\nSHELL", "a secret"),
        ("libgcc-s1 libstdc++6 python3", "libstdc++6 python3", "compiled packages lack libgcc-s1"),
        ("libstdc++6 python3 tzdata", "libstdc++6 python3 python3-pip tzdata", "build tools: python3-pip"),
        ("USER 10001:10001", "USER root", "USER"),
        ("STOPSIGNAL SIGTERM", "STOPSIGNAL SIGKILL", "STOPSIGNAL"),
        ("VOLUME /data\n", "", "volume"),
        ('CMD ["serve"]', "CMD serve", "CMD is not"),
        ("--no-deps --only-binary=:all: -r requirements.lock", "--no-deps mcp", "requirements.lock"),
        ('healthcheck.py"]\nENTRYPOINT', 'true"]\nENTRYPOINT', "HEALTHCHECK"),
    ],
)  # fmt: skip
def test_a_fault_in_the_dockerfile_is_found(there: str, planted: str, found: str) -> None:
    before, _, after = DOCKERFILE.rpartition(there)
    assert before, f"{there!r} is not in the Dockerfile"
    problems = dockerfile_problems(before + planted + after)
    assert len(problems) == 1
    assert found in problems[0]


def test_the_compose_file_keeps_our_rules() -> None:
    assert compose_problems(yaml.safe_load(COMPOSE)) == []


@pytest.mark.parametrize(
    ("there", "planted", "found"),
    [
        ("profiles: [embedded]", "profiles: [embedded, kuzu]", "a database without a driver"),
        ("    profiles: [librechat]\n", "", "belongs to no profile"),
        ("- 127.0.0.1:${LIBRECHAT_PORT:-3080}:3080", "- 3080:3080", "open to other machines"),
        ("    environment: *container\n", "    read_only: false\n", "memory: its root can be written"),
        ("    cap_drop: [ALL]\n    security_opt", "    cap_drop: [NET_RAW]\n    security_opt", "it keeps capabilities"),
        ("mongo:8.0.20", "mongo", "not pinned"),
        ("neo4j:5.26.29-community", "neo4j:community", "not pinned"),
        ('SEARCH: "false"', "JWT_SECRET: abc", "a secret in JWT_SECRET"),
        ("neo4j/${GRAPHITI_PKM_NEO4J_PASSWORD:-}", "neo4j/${GRAPHITI_PKM_NEO4J_PASSWORD:-memory}", "a secret in NEO4J"),
        ('user: "7474:7474"', "user: root", "neo4j: it runs as root"),
        ("      - neo4j:/data\n", "", "neo4j: what it keeps is in no volume"),
        ("networks: [database]", "networks: [database, default]", "neo4j: other machines are in its network"),
        (
            '    user: "7474:7474"\n',
            "    user: \"7474:7474\"\n    ports: ['127.0.0.1:7687:7687']\n",
            "neo4j: its port is published",
        ),
        ("    mem_limit: ${DATABASE_LIMIT:-2g}\n", "", "neo4j: no bound on its mem_limit"),
        ("neo4j: {condition: service_healthy}", "neo4j: {condition: service_started}", "does not wait"),
        ("    stop_grace_period: 60s\n", "", "neo4j: it has 10 s to save"),
    ],
)
def test_a_fault_in_the_compose_file_is_found(there: str, planted: str, found: str) -> None:
    assert there in COMPOSE
    problems = compose_problems(yaml.safe_load(COMPOSE.replace(there, planted, 1)))
    assert len(problems) == 1
    assert found in problems[0]


def test_a_tag_that_moves_is_no_pin() -> None:
    assert [tag for tag in ("a:latest", "a", "a:stable", "a:1-latest:latest", "a:bookworm-slim") if pinned(tag)] == []


def test_the_profiles_are_those_that_the_product_works_with() -> None:
    offered = {profile for service in yaml.safe_load(COMPOSE)["services"].values() for profile in service["profiles"]}
    assert offered == SUPPORTED_PROFILES


def test_the_example_of_env_help_and_documentation_name_every_setting_and_no_other() -> None:
    names = set(re.findall(rf"^(?:# )?({ENV_PREFIX}\w+)=$", ENV_EXAMPLE.read_text(encoding="utf-8"), re.MULTILINE))
    assert names == {environment_name(field) for field in Settings.model_fields}
    assert names == set(re.findall(rf"\| `({ENV_PREFIX}\w+)`", configuration_page()))
    serve = next(
        action.choices["serve"]
        for action in build_parser(shows_all_settings=True)._subparsers._group_actions  # type: ignore[union-attr]
        if action.choices
    )
    help_text = serve.format_help()
    flags = [flag for field in Settings.model_fields for flag in flags_of(field)]
    assert [flag for flag in flags if flag not in help_text] == []


def test_the_example_of_env_is_what_the_code_says_and_gives_nothing_a_value() -> None:
    text = ENV_EXAMPLE.read_text(encoding="utf-8")
    assert text == env_example(), "run `make docs`"
    assert re.findall(r"^[A-Z]\w*=.+", text, re.MULTILINE) == []


@pytest.mark.parametrize("file", [".env", "docker/.env", "docker/librechat.env"])
def test_files_with_secrets_are_ignored_by_git(file: str) -> None:
    ignored = subprocess.run(["git", "check-ignore", "--no-index", file], cwd=ROOT, check=False, capture_output=True)
    assert ignored.returncode == 0
    assert not (ROOT / f"{file}.example").is_file() or b".example" not in ignored.stdout


def test_what_compose_takes_from_env_is_in_the_example_and_passwords_have_no_default() -> None:
    example = ENV_EXAMPLE.read_text(encoding="utf-8")
    for name, default in taken_from_env().items():
        assert re.search(rf"^(# )?{name}={default}$", example, re.MULTILINE), name
    passwords = [environment_name(setting) for setting in REQUIRED.values()]
    assert [taken_from_env()[name] for name in passwords] == [""]
    assert set(re.findall(r"\$\{(\w+)", COMPOSE)) == set(taken_from_env()), "something is taken in another form"


def test_each_database_has_a_memory_that_others_reach_by_the_same_name() -> None:
    memories = {name: service for name, service in services().items() if "build" in service}
    assert {profile for service in memories.values() for profile in service["profiles"]} == DATABASE_PROFILES
    assert [service["networks"]["default"] for service in memories.values()] == [{"aliases": ["memory"]}] * 2
    assert len({str(service["volumes"]) for service in memories.values()}) == 1


def test_librechat_reads_the_configuration_that_the_tests_start() -> None:
    """tests/e2e/test_client_snippets.py and test_librechat_users.py take docker/librechat.yaml."""
    librechat = services()["librechat"]
    assert librechat["volumes"] == ["./librechat.yaml:/app/librechat.yaml:ro"]
    assert set(librechat["depends_on"]) == {"memory", "memory-neo4j", "mongodb"}
    assert "database" not in librechat["networks"]


@pytest.mark.parametrize("name", ["memory", "memory-neo4j"])
def test_a_stop_waits_as_long_as_the_server_may_take(name: str) -> None:
    waited = int(services()[name]["stop_grace_period"].removesuffix("s"))
    assert waited >= Settings().drain_seconds + CLOSING_SECONDS + 5


def test_the_database_servers_are_of_versions_that_the_tests_run() -> None:
    (pom,) = (ROOT / "tests").rglob("pom.xml")
    of_tests = re.search(
        r"<groupId>org.neo4j</groupId>\s*<artifactId>neo4j</artifactId>\s*<version>([\d.]+)</version>",
        pom.read_text("utf-8"),
    )
    assert of_tests is not None
    assert services()["neo4j"]["image"] == f"neo4j:{of_tests[1]}-community"


def test_compose_and_the_image_agree_on_what_the_container_depends_on() -> None:
    image = dict(pair.split("=", 1) for pair in (stages(DOCKERFILE)[-1].last("ENV") or "").split())
    assert {name: value for name, value in image.items() if name.startswith(ENV_PREFIX)} == fixed_by_compose()


def test_the_image_is_tagged_with_this_version() -> None:
    version = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    assert version is not None
    assert yaml.safe_load(COMPOSE)["services"]["memory"]["image"] == f"graphiti-pkm:{version[1]}"
    assert f"-t graphiti-pkm:{version[1]} " in DOCKERFILE
    pages = [ROOT / "README.md", *(ROOT / "DOCS").glob("*.md")]
    named = re.findall(r"graphiti-pkm(?::|==|@)(\d[\w.]*)", "\n".join(page.read_text("utf-8") for page in pages))
    assert set(named) == {version[1]}


def test_what_librechats_configuration_takes_from_its_environment_is_in_the_example_and_empty() -> None:
    example = (DOCKER / "librechat.env.example").read_text(encoding="utf-8")
    given = dict(re.findall(r"^(\w+)=(.*)$", example, re.MULTILINE))
    wanted = re.findall(r"\$\{(\w+)\}", (DOCKER / "librechat.yaml").read_text(encoding="utf-8"))
    assert wanted
    assert set(wanted) <= set(given)
    assert set(given.values()) == {""}


def test_the_commands_of_the_pages_are_those_that_docker_check_runs() -> None:
    assert {page for page, _ in all_blocks()} == set(PAGES)
    seen = set()
    for _, block in all_blocks():
        for line in block:
            command = parsed(line)
            if command is None:
                assert is_safe_to_run(line), line
                continue
            seen |= set(command.profiles)
            assert set(command.profiles) <= SUPPORTED_PROFILES
            assert len(set(command.profiles) & DATABASE_PROFILES) == 1, "which database?"
            if command.service is None:
                continue
            assert set(services()[command.service]["profiles"]) & set(command.profiles), line
            if command.verb in ("run", "exec"):
                program = ["graphiti-pkm"] if command.verb == "exec" else []
                assert list(command.arguments[: len(program)]) == program
                build_parser().parse_args(command.arguments[len(program) :])
    assert seen == SUPPORTED_PROFILES


@pytest.mark.parametrize(
    "line",
    [
        "docker compose -f compose.yaml --profile embedded build",
        "docker compose -f docker/compose.yaml --profile embedded up",
        "docker compose -f docker/compose.yaml --profile embedded exec memory sh",
        "docker compose -f docker/compose.yaml --profile embedded push",
    ],
)
def test_a_command_that_docker_check_would_not_run_is_found(line: str) -> None:
    with pytest.raises(ValueError, match=re.escape(line)):
        parsed(line)


def test_the_example_in_the_docs_is_run_only_if_it_makes_files_of_docker() -> None:
    assert not is_safe_to_run("rm -rf docker/x")
    assert not is_safe_to_run('(umask 077; echo "x" >> docker/.env); rm x')


def test_librechat_is_given_one_timeout_everywhere_longer_than_any_call_waits() -> None:
    """A call may wait 40 s for the start and 45 s for a model."""
    pages = [ROOT / "README.md", ROOT / "DOCS/clients.md"]
    places = [*pages, ROOT / "docker/librechat.yaml", *(ROOT / "examples/clients").glob("librechat*")]
    found = {path.name: re.findall(r"timeout: (\d+)", path.read_text(encoding="utf-8")) for path in places}
    assert all(found.values()), found
    (timeout,) = {one for each in found.values() for one in each}
    assert int(timeout) > 85_000
