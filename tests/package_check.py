"""``make check-package``: build sdist and wheel, check both, and install each into an empty environment and use it.

uv installs, because it takes seconds where pip takes a minute; what is installed is the same.
"""

# ruff: noqa: T201  (what it finds belongs on stdout)

import os
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path

from tests.e2e.support import environment

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
        _run("twine check", sys.executable, "-m", "twine", "check", "--strict", str(sdist), str(wheel))
        _run("check-wheel-contents", str(Path(sys.executable).with_name("check-wheel-contents")), str(wheel))
        _look_into(sdist, wheel)
        for file in (wheel, sdist):
            _install_and_use(file, Path(directory) / file.suffix.strip("."))
    print("package: all checks passed")
    return 0


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


def _install_and_use(file: Path, place: Path) -> None:
    """Outside of the checkout, so that nothing of it is imported."""
    uv, python = Path(sys.executable).with_name("uv"), place / "bin" / "python"
    started = time.perf_counter()
    _run("environment", str(uv), "venv", "--quiet", "--python", sys.executable, str(place))
    _run(f"install {file.name}", str(uv), "pip", "install", "--quiet", "--python", str(python), str(file))
    seconds = time.perf_counter() - started
    megabytes = sum(one.lstat().st_size for one in place.rglob("*") if one.is_file()) / 1e6
    print(f"installed {file.name} in {seconds:.0f} s, {megabytes:.0f} MB")
    home = place / "home"
    home.mkdir()
    settings = environment(data_dir=home / "data", cache_dir=home / "cache")
    for command in ([str(place / "bin" / "graphiti-pkm")], [str(python), "-m", "graphiti_pkm"]):
        _run("version", *command, "--version", cwd=home, settings=settings)
    told = _run("demo", str(place / "bin" / "graphiti-pkm"), "demo", cwd=home, settings=settings)
    if "Jonas Brandt is product manager" not in told:
        sys.exit(f"the demo of {file.name} does not end as it should:\n{told}")


def _run(what: str, *command: str, cwd: Path | None = None, settings: dict[str, str] | None = None) -> str:
    environ = {name: value for name, value in (settings or os.environ).items() if name != "PYTHONPATH"}
    ran = subprocess.run(command, cwd=cwd, env=environ, capture_output=True, text=True, check=False)
    if ran.returncode:
        sys.exit(f"{what} failed:\n{ran.stdout}\n{ran.stderr}")
    return ran.stdout


if __name__ == "__main__":
    sys.exit(main())
