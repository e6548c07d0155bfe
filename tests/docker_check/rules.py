"""Our own rules for docker/: what hadolint and the schema of Compose do not know."""

import json
import re
from dataclasses import dataclass, field
from typing import Any

BUILD_TOOLS = frozenset(
    {
        "build-essential",
        "binutils",
        "cmake",
        "cpp",
        "curl",
        "g++",
        "gcc",
        "git",
        "ld",
        "make",
        "pip",
        "pip3",
        "pkg-config",
        "python3-dev",
        "python3-pip",
        "python3-setuptools",
        "python3-venv",
        "python3-wheel",
        "rustc",
        "setuptools",
        "wget",
        "wheel",
    }
)
LIBRARIES = frozenset({"libgcc-s1", "libstdc++6"})
"""Debian's packages with what NumPy, RapidFuzz and rustworkx are linked with."""
DATABASE_PROFILES = frozenset({"embedded", "neo4j"})
"""Where the graph is: one of them starts the memory."""
SUPPORTED_PROFILES = DATABASE_PROFILES | {"librechat"}
"""A profile promises that the product works with it; one for another database comes with its driver."""
DATABASES = {"neo4j": "/data"}
"""Services that hold the graph, and where the image keeps it."""

_SECRET = re.compile(r"(KEY|TOKENS?|PASSWORD|SECRET|AUTH)$")
_FROM_ENV = re.compile(r"^neo4j/(?=\$)|\$\{\w+:-\}")
_PINNED = re.compile(r":v?\d[\w.-]*$|:[a-z]+-\d{8}[\w.-]*$")


@dataclass
class Stage:
    """One FROM with its instructions."""

    image: str
    name: str | None
    steps: list[tuple[str, str]] = field(default_factory=list)

    def all(self, instruction: str) -> list[str]:
        """The arguments of every such instruction."""
        return [arguments for name, arguments in self.steps if name == instruction]

    def last(self, instruction: str) -> str | None:
        """The arguments that count."""
        return next(reversed(self.all(instruction)), None)


def stages(dockerfile: str) -> list[Stage]:
    """The stages of a Dockerfile, comments and line breaks taken out."""
    lines = [line for line in dockerfile.splitlines() if not line.lstrip().startswith("#")]
    found: list[Stage] = []
    for line in "\n".join(lines).replace("\\\n", " ").splitlines():
        instruction, _, arguments = line.strip().partition(" ")
        if instruction.upper() == "FROM":
            image, _, name = arguments.partition(" AS ")
            found.append(Stage(image.strip(), name.strip() or None))
        elif instruction and found:
            found[-1].steps.append((instruction.upper(), " ".join(arguments.split())))
    return found


def dockerfile_problems(text: str) -> list[str]:
    """What is wrong with a Dockerfile, one line each."""
    found = stages(text)
    if not found:
        return ["there is no FROM"]
    problems = [
        f"the base {stage.image} is not pinned"
        for stage in found
        if not pinned(stage.image) and stage.image not in {other.name for other in found}
    ]
    for stage in found:
        problems += [f"a secret in {step}" for step in (*stage.all("ENV"), *stage.all("ARG")) if _holds_secret(step)]
    installs = " ".join(run for stage in found for run in stage.all("RUN"))
    if "-r requirements.lock" not in installs or "--no-deps" not in installs:
        problems.append("dependencies do not come from requirements.lock alone")
    return problems + _final_problems(found[-1], len(found))


def _final_problems(final: Stage, stages_in_all: int) -> list[str]:
    problems = [] if stages_in_all > 1 else ["there is only one stage, so what builds stays in the image"]
    words = {word for run in final.all("RUN") for word in run.split()}
    if tools := sorted(words & BUILD_TOOLS):
        problems.append(f"the final stage has build tools: {', '.join(tools)}")
    if lacking := sorted(LIBRARIES - words):
        problems.append(f"compiled packages lack {', '.join(lacking)}")
    if not re.fullmatch(r"[1-9]\d*:[1-9]\d*", final.last("USER") or ""):
        problems.append("the last USER is not a number other than 0, with a group")
    if "healthcheck" not in (final.last("HEALTHCHECK") or ""):
        problems.append("HEALTHCHECK does not ask /health")
    if final.last("STOPSIGNAL") != "SIGTERM":
        problems.append("STOPSIGNAL is not SIGTERM, on which the server drains")
    if final.last("VOLUME") != "/data":
        problems.append("the data is not in the volume /data")
    problems += [
        f"{instruction} is not in the form of a list, so signals go to a shell"
        for instruction in ("ENTRYPOINT", "CMD")
        if not _is_exec_form(final.last(instruction))
    ]
    return problems


def compose_problems(compose: dict[str, Any]) -> list[str]:
    """What is wrong with a compose file, one line each."""
    problems = []
    for name, service in compose["services"].items():
        found = _service_problems(service)
        if "build" in service or name in DATABASES:
            found += _confinement_problems(service, writes_its_root=name == "neo4j")
        if name in DATABASES:
            found += _database_problems(service, DATABASES[name], compose["networks"])
        for needed, how in (service.get("depends_on") or {}).items():
            if how["condition"] != "service_healthy" or not _is_asked(compose["services"][needed]):
                found.append(f"it does not wait until {needed} is healthy")
        problems += [f"{name}: {problem}" for problem in found]
    return problems


def _service_problems(service: dict[str, Any]) -> list[str]:
    problems = []
    if not pinned(service["image"]):
        problems.append(f"{service['image']} is not pinned")
    if not service.get("profiles"):
        problems.append("belongs to no profile, so it starts with every one")
    unknown = set(service.get("profiles", ())) - SUPPORTED_PROFILES
    problems += [f"the profile {profile} is of a database without a driver" for profile in sorted(unknown)]
    problems += [
        f"port {port} is open to other machines"
        for port in service.get("ports", ())
        if not str(port).startswith("127.0.0.1:")
    ]
    environment = service.get("environment", {})
    problems += [f"a secret in {key}" for key, value in environment.items() if _secret(key, value)]
    if "no-new-privileges:true" not in service.get("security_opt", ()):
        problems.append("it may gain privileges")
    if not service.get("logging", {}).get("options", {}).get("max-size"):
        problems.append("its log grows without an end")
    if service.get("restart") != "unless-stopped":
        problems.append("nobody starts it again")
    return problems


def _confinement_problems(service: dict[str, Any], *, writes_its_root: bool) -> list[str]:
    problems = [] if writes_its_root or service.get("read_only") is True else ["its root can be written"]
    if service.get("cap_drop") != ["ALL"] or service.get("cap_add"):
        problems.append("it keeps capabilities")
    problems += [f"no bound on its {what}" for what in ("mem_limit", "pids_limit") if not service.get(what)]
    if "stop_grace_period" not in service:
        problems.append("it has 10 s to save what it holds")
    return problems


def _database_problems(service: dict[str, Any], data: str, networks: dict[str, Any]) -> list[str]:
    problems = ["its port is published"] if service.get("ports") else []
    if not all((networks.get(name) or {}).get("internal") for name in service.get("networks", ["default"])):
        problems.append("other machines are in its network")
    if not any(str(volume).endswith(f":{data}") for volume in service.get("volumes", ())):
        problems.append("what it keeps is in no volume")
    if service.get("user") in (None, "root", "0", "0:0"):
        problems.append("it runs as root")
    return problems


def _is_asked(service: dict[str, Any]) -> bool:
    """Whether something says when it is healthy; our own image has its HEALTHCHECK."""
    return "build" in service or "healthcheck" in service


def pinned(image: str) -> bool:
    """Whether a tag names one version."""
    return bool(_PINNED.search(image)) and not image.endswith(":latest")


def _holds_secret(step: str) -> bool:
    return any(_secret(*pair.partition("=")[::2]) for pair in step.split())


def _secret(name: str, value: object) -> bool:
    """Whether it is given away here; a place that .env fills, and that is empty without it, is none."""
    return bool(_SECRET.search(name)) and bool(_FROM_ENV.sub("", str(value or "")))


def _is_exec_form(arguments: str | None) -> bool:
    try:
        return isinstance(json.loads(arguments or ""), list)
    except ValueError:
        return False
