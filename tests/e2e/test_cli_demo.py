"""The demo as a newcomer runs it: with the environment of a login, and settings that are none of its business."""

import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from tests.demo_picture import PICTURE, shown, svg
from tests.e2e.support import COMMAND, environment, run

from graphiti_pkm.cli.examples import read_examples

STEPS = [
    "search_nodes",
    "get_entity_connections",
    "get_entity_timeline",
    "get_entity_connections, as_of",
    "search_episodes",
    "add_memory",
    "get_entity_connections",
]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """What the demo printed, and the directory it had for temporary files."""
    there = tmp_path_factory.mktemp("demo")
    # What would break it if it obeyed: the server would offer nothing that writes, in another directory.
    (there / ".env").write_text("GRAPHITI_PKM_READ_ONLY=true\n")
    mine = environment(data_dir=there / "mine", tools="get_status", default_group="other", person="Ada")
    done = subprocess.run(
        [COMMAND, "demo"],
        env=mine | {"TMPDIR": str(there), "COLUMNS": "100"},
        cwd=there,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout, there


def step(output: str, number: int) -> list[str]:
    """The lines of a step below its heading."""
    (found,) = re.findall(rf"^{number}\. .*\n((?: .*\n)+)", output, re.MULTILINE)
    return [str(line) for line in found.splitlines()]


def test_it_plays_every_step_with_the_call_an_assistant_makes(played: tuple[str, Path]) -> None:
    output, _ = played
    assert [heading.split(maxsplit=1)[0] for heading in re.findall(r"^\d\. .*$", output, re.MULTILINE)] == [
        f"{number}." for number in range(1, len(STEPS) + 1)
    ]
    headings = re.findall(r"^\d\. .*$", output, re.MULTILINE)
    assert [re.split(r"\s{2,}", heading)[-1] for heading in headings] == STEPS
    assert max(map(len, output.splitlines())) <= 100


def test_it_tells_all_examples_and_finds_what_they_say(played: tuple[str, Path]) -> None:
    output, _ = played
    assert f"All {len(read_examples())} are on disk" in output
    assert step(output, 1)[0] == "   Project Heron (Project, also known as Heron): Moves billing off the mainframe"
    assert [line.split()[1] for line in step(output, 4)] == ["MySQL", "PostgreSQL"]
    assert [line.split()[1] for line in step(output, 5)] == ["Three", "Two", "One"]


def test_its_timeline_is_what_an_independent_count_over_the_files_gives(played: tuple[str, Path]) -> None:
    mentions: Counter[str] = Counter()
    for example in read_examples():
        body = example.arguments["episode_body"].casefold()
        if example.group_id == "coaching-journal" and "stress" in re.findall(r"\w+", body):
            mentions[example.arguments["reference_time"][:7]] += 1
    *months, total = step(played[0], 3)
    assert [line.split() for line in months] == [
        [month, "#" * count, str(count)] for month, count in sorted(mentions.items())
    ]
    assert total.strip().startswith(f"{sum(mentions.values())} notes from ")


def test_the_fact_that_was_replaced_stays_with_the_time_it_was_true(played: tuple[str, Path]) -> None:
    output, _ = played
    assert step(output, 6)[-1] == "   no longer current: Ines Okafor is product manager of Project Heron"
    assert [re.split(r"\s{2,}", line.strip()) for line in step(output, 7)] == [
        ["current", "since 2026-06-29", "Jonas Brandt is product manager of Project Heron"],
        ["ended", "until 2026-06-29", "Ines Okafor is product manager of Project Heron"],
    ]


def test_it_leaves_nothing_behind_and_never_touches_the_memory_of_its_user(played: tuple[str, Path]) -> None:
    _, there = played
    assert [path.name for path in there.iterdir()] == [".env"]


def test_a_failure_is_one_line_and_leaves_nothing_behind(tmp_path: Path) -> None:
    notes = tmp_path / "notes" / "coaching-journal"
    notes.mkdir(parents=True)
    (notes / "one.md").write_text("---\nsource: pigeon\n---\nA note.")
    failed = run("demo", "--examples", str(notes.parent), data_dir=tmp_path / "mine")
    assert failed.returncode == 1
    assert failed.stderr.startswith("graphiti-pkm: add_memory failed: ")
    assert failed.stderr.count("\n") == 1
    assert not (tmp_path / "mine").exists()


def test_the_picture_in_the_readme_shows_what_the_demo_prints(played: tuple[str, Path]) -> None:
    output, _ = played
    assert "no longer current" in "\n".join(shown(output))
    assert PICTURE.read_text(encoding="utf-8") == svg(shown(output)), "run `python -m tests.demo_picture`"
