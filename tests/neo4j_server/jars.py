"""Neo4j's jars from Maven Central, kept outside the repository for the next run."""

import fcntl
import hashlib
import shutil
import subprocess
import tempfile
from pathlib import Path

from platformdirs import user_cache_path

HERE = Path(__file__).parent
POM = HERE / "pom.xml"
LAUNCHER = HERE / "Launcher.java"
PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"
FETCH_SECONDS = 600.0


def missing_tools() -> list[str]:
    """What a start needs and the machine has not."""
    return [tool for tool in ("java", "javac", "mvn") if shutil.which(tool) is None]


def jars() -> Path:
    """The directory with Neo4j and the launcher. The first run fetches them; another one at the same time waits."""
    made_of = hashlib.sha256(POM.read_bytes() + LAUNCHER.read_bytes()).hexdigest()[:12]
    cache = user_cache_path("graphiti-pkm-tests")
    cache.mkdir(parents=True, exist_ok=True)
    wanted = cache / f"neo4j-{made_of}"
    with (cache / "neo4j.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not wanted.exists():
            with tempfile.TemporaryDirectory(dir=cache) as made:
                _fetch(Path(made))
                Path(made).rename(wanted)
    return wanted


def _fetch(directory: Path) -> None:
    # Maven leaves its target directory beside the pom, so it gets a copy.
    shutil.copy(POM, directory)
    maven = ["mvn", "-q", "-B", "-f", str(directory / POM.name), PLUGIN]
    _run([*maven, "-DincludeScope=runtime", f"-DoutputDirectory={directory}"])
    _run(["javac", "-cp", f"{directory}/*", "-d", str(directory), str(LAUNCHER)])


def _run(command: list[str]) -> None:
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=FETCH_SECONDS,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{command[0]} failed; Neo4j for the tests is not there.\n{done.stdout[-2000:]}")
