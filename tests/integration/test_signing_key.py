"""The key of cursors and confirmations: one a data directory, one a shared database, through restarts."""

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from graphiti_pkm.storage.graph.store import GraphStore
from graphiti_pkm.storage.journal.signing_key import keep_signing_key, signing_key


def test_all_processes_of_a_directory_and_the_next_start_have_the_same_key(tmp_path: Path) -> None:
    directory = tmp_path / "data"
    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(signing_key, [directory] * 32))
    assert keys == {signing_key(directory)}
    assert {len(key) for key in keys} == {32}
    assert signing_key(tmp_path / "other") not in keys


def test_nobody_else_may_read_it(tmp_path: Path) -> None:
    key = signing_key(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["signing.key"]
    assert stat.S_IMODE((tmp_path / "signing.key").stat().st_mode) == 0o600
    keep_signing_key(tmp_path, bytes(32))
    assert signing_key(tmp_path) == bytes(32) != key
    assert stat.S_IMODE((tmp_path / "signing.key").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["signing.key"]


@pytest.mark.parametrize("damaged", ["", "abc", "z" * 64, "ü" * 64, "0" * 63])
def test_a_damaged_key_is_made_anew(tmp_path: Path, damaged: str) -> None:
    (tmp_path / "signing.key").write_text(damaged, encoding="utf-8")
    assert signing_key(tmp_path) == signing_key(tmp_path)
    assert (tmp_path / "signing.key").read_text() == signing_key(tmp_path).hex()


async def test_hosts_of_one_database_agree_on_the_first_key(store: GraphStore) -> None:
    assert await store.agree_on_signing_key(bytes([1] * 32)) == bytes([1] * 32)
    assert await store.agree_on_signing_key(bytes([2] * 32)) == bytes([1] * 32)
    await store.clear()  # a rebuild: the next to start brings the key that all of them have kept
    assert await store.agree_on_signing_key(bytes([1] * 32)) == bytes([1] * 32)
