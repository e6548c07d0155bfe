"""docker/ against our rules and the settings; that the image builds and runs is for `make docker-check`."""

import re
import subprocess
from pathlib import Path

import pytest
import yaml
from tests.docker_check.rules import SUPPORTED_PROFILES, compose_problems, dockerfile_problems, pinned, stages
from tests.docker_env import ENV_EXAMPLE, env_example, fixed_by_compose
from tests.requirements import requirement
from tests.write_docs import configuration_page

from graphiti_pkm.cli.main import build_parser
from graphiti_pkm.config import ENV_PREFIX, Settings, environment_name, is_secret

ROOT = Path(__file__).resolve().parents[2]
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
        ("libssl3 libstdc++6 python3", "libstdc++6 python3", "the database lacks libssl3"),
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
        ("profiles: [embedded, librechat]", "profiles: [embedded, librechat, neo4j]", "a database without a driver"),
        ("    profiles: [librechat]\n", "", "belongs to no profile"),
        ("- 127.0.0.1:${MEMORY_PORT:-8000}:8000", "- 8000:8000", "open to other machines"),
        ("read_only: true", "read_only: false", "its root can be written"),
        ("cap_drop: [ALL]", "cap_drop: [NET_RAW]", "it keeps capabilities"),
        ("no-new-privileges:true", "label:disable", "it may gain privileges"),
        ("mongo:8.0.20", "mongo", "not pinned"),
        ('SEARCH: "false"', "JWT_SECRET: abc", "a secret in JWT_SECRET"),
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


@requirement("M-82")
def test_the_example_of_env_help_and_documentation_name_every_setting_and_no_other() -> None:
    names = set(re.findall(rf"^(?:# )?({ENV_PREFIX}\w+)=$", ENV_EXAMPLE.read_text(encoding="utf-8"), re.MULTILINE))
    assert names == {environment_name(field) for field in Settings.model_fields}
    assert names == set(re.findall(rf"`({ENV_PREFIX}\w+)` \|", configuration_page()))
    serve = next(
        action.choices["serve"]
        for action in build_parser()._subparsers._group_actions  # type: ignore[union-attr]
        if action.choices
    )
    help_text = serve.format_help()
    flags = [f"--{field.replace('_', '-')}" for field in Settings.model_fields if not is_secret(field)]
    assert [flag for flag in flags if flag not in help_text] == []


def test_the_example_of_env_is_what_the_code_says_and_gives_nothing_a_value() -> None:
    text = ENV_EXAMPLE.read_text(encoding="utf-8")
    assert text == env_example(), "run `make docs`"
    assert re.findall(r"^[A-Z]\w*=.+", text, re.MULTILINE) == []


@requirement("M-83")
@pytest.mark.parametrize("file", [".env", "docker/.env", "docker/librechat.env"])
def test_files_with_secrets_are_ignored_by_git(file: str) -> None:
    ignored = subprocess.run(["git", "check-ignore", "--no-index", file], cwd=ROOT, check=False, capture_output=True)
    assert ignored.returncode == 0
    assert not (ROOT / f"{file}.example").is_file() or b".example" not in ignored.stdout


def test_compose_and_the_image_agree_on_what_the_container_depends_on() -> None:
    image = dict(pair.split("=", 1) for pair in (stages(DOCKERFILE)[-1].last("ENV") or "").split())
    assert {name: value for name, value in image.items() if name.startswith(ENV_PREFIX)} == fixed_by_compose()


def test_the_image_is_tagged_with_this_version() -> None:
    version = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    assert version is not None
    assert yaml.safe_load(COMPOSE)["services"]["memory"]["image"] == f"graphiti-pkm:{version[1]}"
    assert f"-t graphiti-pkm:{version[1]} " in DOCKERFILE


def test_what_librechats_configuration_takes_from_its_environment_is_in_the_example_and_empty() -> None:
    example = (DOCKER / "librechat.env.example").read_text(encoding="utf-8")
    given = dict(re.findall(r"^(\w+)=(.*)$", example, re.MULTILINE))
    wanted = re.findall(r"\$\{(\w+)\}", (DOCKER / "librechat.yaml").read_text(encoding="utf-8"))
    assert wanted
    assert set(wanted) <= set(given)
    assert set(given.values()) == {""}


@pytest.mark.parametrize("page", ["README.md", "DOCS/operations.md"])
def test_the_commands_of_a_page_name_what_there_is(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    commands = re.findall(r"^docker compose (.+)$", text, re.MULTILINE)
    assert len(commands) >= 3
    services = yaml.safe_load(COMPOSE)["services"]
    for command in commands:
        form = re.fullmatch(
            r"-f (\S+) --profile (\w+) (?:build|up --detach|down|run --rm (\w+) (.+)|exec (\w+) graphiti-pkm (.+))",
            command,
        )
        assert form is not None, command
        file, profile, run_in, arguments, exec_in, more = form.groups()
        assert (ROOT / file).is_file()
        assert profile in SUPPORTED_PROFILES
        if service := run_in or exec_in:
            assert profile in services[service]["profiles"]
            build_parser().parse_args((arguments or more).split())
