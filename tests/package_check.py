"""``make check-package``: build sdist and wheel, check both, and install each into an empty environment and use it.

With an argument the files are kept there: sdist, wheel, the wheel of the weights, and the bundle.

uv installs, because it takes seconds where pip takes a minute; what is installed is the same.
"""

# ruff: noqa: T201  (what it finds belongs on stdout)

import asyncio
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from tests.e2e.npm_clients import installed, node_is_new_enough
from tests.e2e.support import environment

from graphiti_pkm.embedding.local.weight_files import find_weights
from graphiti_pkm.settings.loader import Settings

ROOT = Path(__file__).resolve().parents[1]
PACKED = (
    "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "LICENSE", "NOTICE", "Makefile", "README.md", "pyproject.toml",
    "requirements.lock", "requirements-dev.lock", "DOCS/clients.md", "DOCS/adr/0001-one-intent-per-write.md",
    "examples/clients/claude-desktop.json", "docker/Dockerfile", "tests/conftest.py",
    "tests/temporal/mutants.yaml", "tests/data/memory_of_0_2.tar.gz", ".github/workflows/test.yml", ".ci/run",
)  # fmt: skip
"""Some of what the sdist has besides the package."""
LEFT_OUT = (".venv", "__pycache__", ".pyc", ".git/", "node_modules", ".env")


def main() -> int:
    """Print a line for each step; the first that fails ends it."""
    with tempfile.TemporaryDirectory(prefix="pkm-package-") as directory:
        built = Path(directory) / "dist"
        _run("build", sys.executable, "-m", "build", "--installer", "uv", "--outdir", str(built), str(ROOT))
        (sdist,), (wheel,) = built.glob("*.tar.gz"), built.glob("*.whl")
        weights = _weights(Path(directory) / "weights")
        _run("twine check", sys.executable, "-m", "twine", "check", "--strict", str(sdist), str(wheel), str(weights))
        _run(
            "check-wheel-contents",
            str(Path(sys.executable).with_name("check-wheel-contents")),
            str(wheel),
            str(weights),
        )
        _look_into(sdist, wheel)
        _refuses_an_old_python(wheel, weights)
        for file in (wheel, sdist):
            _install_and_use(file, weights, Path(directory) / file.suffix.strip("."))
        bundle = _bundle(weights, Path(directory) / "bundle")
        for keeping in sys.argv[1:]:
            Path(keeping).mkdir(parents=True, exist_ok=True)
            for file in (sdist, wheel, weights, bundle):
                shutil.copy(file, keeping)
    print("package: all checks passed")
    return 0


def _weights(into: Path) -> Path:
    """The wheel of the weights, built of those that the lock file brought."""
    installed = find_weights(Settings(cache_dir=into))  # what was fetched lacks the model card
    if installed is None:
        sys.exit("There are no weights to build their wheel of; `make .venv/dev` installs them.")
    script = ROOT / "packaging" / "weights" / "build.py"
    built = _run("weights", sys.executable, str(script), "--from", str(installed), "--out", str(into))
    wheel = Path(built.strip())
    print(f"{wheel.name} {wheel.stat().st_size / 1e6:.1f} MB")
    return wheel


def _look_into(sdist: Path, wheel: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    missing = [name for name in PACKED if name not in names]
    left = [name for name in names if any(part in name for part in LEFT_OUT) and not name.endswith(".env.example")]
    with zipfile.ZipFile(wheel) as archive:
        packed = archive.namelist()
        (metadata,) = (name for name in packed if name.endswith(".dist-info/METADATA"))
        page = archive.read(metadata).decode()
    licences = [name for name in packed if ".dist-info/licenses/" in name]
    missing += [name for name in ("LICENSE", "NOTICE") if not any(one.endswith(name) for one in licences)]
    if missing or left or "](DOCS/" in page:
        sys.exit(f"missing: {missing}; does not belong there: {left}; relative links: {'](DOCS/' in page}")
    print(f"sdist {sdist.stat().st_size / 1e6:.1f} MB, {len(names)} files; wheel {wheel.stat().st_size / 1e6:.1f} MB")


def _refuses_an_old_python(wheel: Path, weights: Path) -> None:
    """In a line of the installer that names what is needed, and not after a download of all else."""
    uv = str(Path(sys.executable).with_name("uv"))
    asked = [uv, "pip", "install", "--dry-run", "--python-version", "3.10", "--find-links", str(weights.parent)]
    ran = subprocess.run([*asked, str(wheel)], capture_output=True, text=True, check=False)
    if not ran.returncode or "Python>=3.11" not in ran.stderr:
        sys.exit(f"Python 3.10 is not refused as it should be:\n{ran.stderr}")


def _install_and_use(file: Path, weights: Path, place: Path) -> None:
    """Outside of the checkout, so that nothing of it is imported."""
    uv, python = Path(sys.executable).with_name("uv"), place / "bin" / "python"
    started = time.perf_counter()
    _run("environment", str(uv), "venv", "--quiet", "--python", sys.executable, str(place))
    install = [str(uv), "pip", "install", "--quiet", "--python", str(python), "--find-links", str(weights.parent)]
    _run(f"install {file.name}", *install, str(file))
    seconds = time.perf_counter() - started
    megabytes = sum(one.lstat().st_size for one in place.rglob("*") if one.is_file()) / 1e6
    print(f"installed {file.name} in {seconds:.0f} s, {megabytes:.0f} MB")
    home = place / "home"
    home.mkdir()
    settings = environment(data_dir=home / "data", cache_dir=home / "cache")
    for command in ([str(place / "bin" / "graphiti-pkm")], [str(python), "-m", "graphiti_pkm"]):
        _run("version", *command, "--version", cwd=home, settings=settings)
    told = _run("doctor", str(place / "bin" / "graphiti-pkm"), "doctor", cwd=home, settings=settings)
    if "all-MiniLM-L6-v2, 384 dimensions, verified" not in told:
        sys.exit(f"{file.name} came without weights:\n{told}")
    told = _run("demo", str(place / "bin" / "graphiti-pkm"), "demo", cwd=home, settings=settings)
    if "Jonas Brandt is product manager" not in told:
        sys.exit(f"the demo of {file.name} does not end as it should:\n{told}")


def _bundle(weights: Path, place: Path) -> Path:
    """Validated and unpacked by the tool of its format, and served by the command that it makes of the manifest."""
    script = ROOT / "packaging" / "mcpb" / "build.py"
    bundle = Path(_run("bundle", sys.executable, str(script), "--out", str(place)).strip())
    if not node_is_new_enough():
        print(f"{bundle.name} {bundle.stat().st_size / 1e6:.1f} MB; not tried, because that needs Node")
        return bundle
    node, unpacked = installed(), place / "unpacked"
    mcpb = [str(node / "node_modules" / ".bin" / "mcpb")]
    _run("mcpb validate", *mcpb, "validate", str(ROOT / "packaging" / "mcpb" / "manifest.json"))
    _run("mcpb unpack", *mcpb, "unpack", str(bundle), str(unpacked))
    wanted = {"data_dir": str(place / "data"), "person": "Ada", "timezone": "Europe/Berlin"}
    resolved = _run("mcpb config", "node", str(node / "bundle.mjs"), str(unpacked), json.dumps(wanted))
    print(f"{bundle.name} {bundle.stat().st_size / 1e6:.1f} MB")
    asyncio.run(_serve(json.loads(resolved), weights, place))
    return bundle


async def _serve(config: dict[str, Any], weights: Path, place: Path) -> None:
    """The tools, and an answer by meaning: no word of the question is in the note."""
    inherited = environment() | {"UV_FIND_LINKS": str(weights.parent), "UV_PYTHON": sys.executable}
    beside = f"{Path(sys.executable).parent}{os.pathsep}{inherited['PATH']}"
    parameters = StdioServerParameters(
        command=config["command"], args=config["args"], env=inherited | {"PATH": beside} | config["env"], cwd=place
    )
    started = time.perf_counter()
    with (place / "log").open("w") as log:
        async with Client(stdio_client(parameters, errlog=log)) as client:
            note = {"episode_body": "We adopted a puppy from the shelter.", "entities": [{"name": "shelter"}]}
            await client.call_tool("add_memory", note)
            found = await client.call_tool("search_episodes", {"query": "new pets, dogs"})
            seconds = time.perf_counter() - started
    if not found.structured_content or not found.structured_content["episodes"]:
        sys.exit(f"the bundle does not find by meaning:\n{found}\n{(place / 'log').read_text()}")
    if not (place / "data" / "memory.sqlite3").exists():
        sys.exit("the bundle does not store where its user said")
    print(f"bundle: installed, started, stored and found by meaning in {seconds:.0f} s")


def _run(what: str, *command: str, cwd: Path | None = None, settings: dict[str, str] | None = None) -> str:
    environ = {name: value for name, value in (settings or os.environ).items() if name != "PYTHONPATH"}
    ran = subprocess.run(command, cwd=cwd, env=environ, capture_output=True, text=True, check=False)
    if ran.returncode:
        sys.exit(f"{what} failed:\n{ran.stdout}\n{ran.stderr}")
    return ran.stdout


if __name__ == "__main__":
    sys.exit(main())
