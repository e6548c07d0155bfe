"""doctor and status on a healthy memory and on broken ones."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.support import call, over_stdio, run, scramble, started_once

CHECKS = [
    "SQLite",
    "data directory",
    "file system",
    "directory access",
    "disk space",
    "journal",
    "model",
    "extraction",
    "database",
]


def lines_of(text: str) -> dict[str, str]:
    """The checks of doctor's text: name to ``ok`` or ``BAD``, each on one line."""
    found = {}
    for line in text.partition("\n\n")[0].splitlines():
        if not line.startswith("    "):
            name, _, _ = line[4:].partition("  ")
            found[name] = line[:3].strip()
    return found


def checked(data_dir: Path, code: int, **settings: object) -> dict[str, dict[str, Any]]:
    """What doctor says to a machine, by check."""
    told = run("doctor", "--json", data_dir=data_dir, **settings)
    assert told.returncode == code
    assert "Traceback" not in told.stderr
    answer = json.loads(told.stdout)
    assert answer["ok"] is (code == 0)
    return {check["name"]: check for check in answer["checks"]}


async def remember(data_dir: Path) -> None:
    async with over_stdio(data_dir) as client:
        await call(client, "add_memory", episode_body="Ines leads Heron.", entities=[{"name": "Ines"}])


def test_doctor_says_one_line_a_check_on_a_machine_where_nothing_was_started_yet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    for name in ("HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(home))
    short = run("doctor")
    assert (short.returncode, short.stderr) == (0, "")
    assert len(short.stdout.splitlines()) == 12
    fresh = run("doctor", "--settings")
    assert (fresh.returncode, fresh.stderr) == (0, "")
    assert lines_of(fresh.stdout) == dict.fromkeys(CHECKS, "ok")
    assert "\nNo problem found.\n" in fresh.stdout
    assert "->" not in fresh.stdout
    assert "`graphiti-pkm serve` creates it" in fresh.stdout
    assert "tested in a temporary directory" in fresh.stdout
    (named,) = re.findall(r"^ +data_dir +(.+?) +default$", fresh.stdout, re.MULTILINE)
    assert Path(named).is_relative_to(home)
    assert not Path(named).exists()


@pytest.mark.parametrize("is_there", [False, True])
def test_a_directory_without_a_memory_that_was_named_is_told_and_left_as_it_is(tmp_path: Path, is_there: bool) -> None:
    mistyped = tmp_path / "mistyped"
    if is_there:
        mistyped.mkdir()
    before = list(tmp_path.rglob("*"))
    told = run("status", "--data-dir", str(mistyped))
    assert (told.returncode, told.stdout) == (1, "")
    assert told.stderr.startswith(f"graphiti-pkm: There is no memory in {mistyped}. ")
    assert told.stderr.count("\n") == 1
    assert "--data-dir" in told.stderr

    machine = run("status", "--data-dir", str(mistyped), "--json")
    assert (machine.returncode, machine.stderr) == (1, "")
    assert json.loads(machine.stdout) == {
        "status": "unavailable",
        "message": told.stderr.removeprefix("graphiti-pkm: ").strip(),
        "data_directory": str(mistyped),
    }

    found = run("doctor", "--data-dir", str(mistyped))
    assert found.returncode == 0
    assert lines_of(found.stdout) == dict.fromkeys(CHECKS, "ok")
    assert f"none yet in {mistyped}; `graphiti-pkm serve` creates it" in found.stdout
    journal = checked(mistyped, 0)["journal"]
    assert (journal["ok"], journal["remedy"]) == (True, "")
    assert list(tmp_path.rglob("*")) == before


async def test_doctor_says_one_line_a_check_when_all_is_well(data_dir: Path) -> None:
    await remember(data_dir)
    used = run("doctor", data_dir=data_dir)
    assert (used.returncode, used.stderr) == (0, "")
    assert lines_of(used.stdout) == dict.fromkeys(CHECKS, "ok")
    assert "\nNo problem found.\n" in used.stdout
    assert "->" not in used.stdout
    assert "undamaged; 1 " in used.stdout
    assert "1 group\n" in used.stdout


def test_doctor_tells_every_setting_with_its_origin_and_the_env_file_it_used(tmp_path: Path) -> None:
    data_dir = tmp_path / "file"  # so that no database has to start
    data_dir.write_text("")
    env_file = tmp_path / "memory.env"
    env_file.write_text("GRAPHITI_PKM_PERSON=Ada\n")
    config = tmp_path / "memory.yaml"
    config.write_text("port: 8123\n")
    arguments = ("--env-file", str(env_file), "--config", str(config), "--timezone", "Europe/Berlin")
    told = run("doctor", "--settings", *arguments, data_dir=data_dir)
    assert f".env file: {env_file}\n" in told.stdout
    rows = [line.split(maxsplit=2) for line in told.stdout.splitlines()]
    assert ["person", "Ada", f"{env_file}: GRAPHITI_PKM_PERSON"] in rows
    assert ["port", "8123", str(config)] in rows
    assert ["timezone", "Europe/Berlin", "flag"] in rows
    assert ["data_dir", str(data_dir), "GRAPHITI_PKM_DATA_DIR"] in rows
    assert ["host", "127.0.0.1", "default"] in rows

    short = run("doctor", *arguments, data_dir=data_dir).stdout
    assert "Europe/Berlin" not in short

    answer = json.loads(run("doctor", "--json", *arguments, data_dir=data_dir).stdout)
    given = sum(one["origin"] != "default" for one in answer["settings"].values())
    assert given >= 4
    assert f"Settings: {given} given, {len(answer['settings']) - given} defaults; --settings lists them" in short
    assert (answer["env_file"], answer["config_file"]) == (str(env_file), str(config))
    assert answer["settings"]["timezone"] == {"value": "Europe/Berlin", "origin": "flag"}
    assert answer["settings"]["log_level"] == {"value": "info", "origin": "default"}


def test_a_model_directory_without_weights_is_named_with_its_remedy(tmp_path: Path, data_dir: Path) -> None:
    told = run("doctor", data_dir=data_dir, model_dir=tmp_path / "nothing", cache_dir=tmp_path / "cache")
    assert told.returncode == 1
    assert lines_of(told.stdout)["model"] == "BAD"
    assert "model_dir" in told.stdout
    assert "-> " in told.stdout
    check = checked(data_dir, 1, model_dir=tmp_path / "nothing", cache_dir=tmp_path / "cache")["model"]
    assert "graphiti-pkm fetch-model" in check["remedy"]


def test_a_directory_that_cannot_be_made_is_named_with_the_setting() -> None:
    nowhere = Path("/proc/graphiti-pkm")  # not even root may make it
    remedies = [check["remedy"] for check in checked(nowhere, 1).values() if not check["ok"]]
    assert remedies
    assert [remedy for remedy in remedies if "--data-dir" not in remedy] == []


def test_a_data_directory_that_is_a_file_is_named_and_the_database_not_even_tried(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    checks = checked(file, 1)
    assert checks["data directory"]["ok"] is False
    assert "--data-dir" in checks["data directory"]["remedy"]
    assert "database" not in checks


async def test_a_damaged_journal_is_bad_and_restore_is_the_remedy(data_dir: Path) -> None:
    await remember(data_dir)
    memory = data_dir / "memory.sqlite3"
    damaged = b"damaged " * 64 + memory.read_bytes()[512:]
    memory.write_bytes(damaged)
    checks = checked(data_dir, 1)
    assert checks["journal"]["ok"] is False
    assert "graphiti-pkm restore BACKUP --replace" in checks["journal"]["remedy"]
    assert checks["model"]["ok"] is True
    text = run("doctor", data_dir=data_dir)
    assert text.returncode == 1
    assert lines_of(text.stdout)["journal"] == "BAD"
    assert memory.read_bytes() == damaged


async def test_a_damage_inside_the_journal_that_a_start_passes_over_is_found(data_dir: Path) -> None:
    await remember(data_dir)
    memory = data_dir / "memory.sqlite3"
    scramble(memory, "community_group")
    told = checked(data_dir, 1)
    assert told["journal"]["ok"] is False
    assert told["database"]["ok"] is True

    # status and the tools say the same as doctor, and what is acknowledged is kept.
    status = json.loads(run("status", "--json", data_dir=data_dir).stdout)
    assert (status["status"], status["failures"]) == ("degraded", [told["journal"]["remedy"]])
    async with over_stdio(data_dir) as client:
        assert (await call(client, "get_status"))["failures"] == status["failures"]


async def test_status_tells_a_person_and_a_machine_what_the_memory_holds(data_dir: Path) -> None:
    await asyncio.to_thread(started_once, data_dir)
    empty = run("status", data_dir=data_dir)
    assert (empty.returncode, empty.stderr) == (0, "")
    assert empty.stdout.startswith("ok: ")
    assert "  groups    none yet\n" in empty.stdout

    await remember(data_dir)
    text = run("status", data_dir=data_dir)
    assert text.returncode == 0
    assert f"  data      {data_dir}\n" in text.stdout
    assert "  groups    default  1 episode, 1 entity" in text.stdout

    told = json.loads(run("status", "--json", data_dir=data_dir).stdout)
    assert (told["status"], told["data_directory"], told["failures"]) == ("ok", str(data_dir), [])
    assert sum(told["writes"].values()) == 1
    assert told["groups"] == {"default": "1 episode, 1 entity, 0 facts"}


def test_a_toolset_that_does_not_exist_is_found_before_a_server_refuses_it(tmp_path: Path) -> None:
    line = checked(tmp_path, 1, toolsets="memory,nope")["tools"]
    assert (line["ok"], line["detail"]) == (False, "memory, nope")
    assert line["remedy"].startswith("toolsets names nope. Known: memory, ")
