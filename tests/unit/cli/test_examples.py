from pathlib import Path

import pytest

from graphiti_pkm.cli.examples import read_examples, split_front_matter
from graphiti_pkm.errors import ConfigurationError


def test_a_note_without_front_matter_is_its_body() -> None:
    assert split_front_matter("A note.\n---\nwith a line\n") == ({}, "A note.\n---\nwith a line")


def test_front_matter_ends_at_its_second_line_of_dashes_and_dates_become_text() -> None:
    head = "---\nname: A\nreference_time: 2026-03-01T09:00:00+00:00\nfacts: [{valid_at: 2026-03-02}]\n---\n"
    front, body = split_front_matter(f"{head}\nBody.\n\n---\nMore.\n")
    assert front == {"name": "A", "reference_time": "2026-03-01T09:00:00+00:00", "facts": [{"valid_at": "2026-03-02"}]}
    assert body == "Body.\n\n---\nMore."


@pytest.mark.parametrize("text", ["---\nname: A\n", "---\n- A\n---\nBody", "---\na: [\n---\nBody"])
def test_a_note_that_cannot_be_read_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "group").mkdir()
    (tmp_path / "group" / "broken.md").write_text(text)
    with pytest.raises(ConfigurationError, match=r"broken\.md"):
        read_examples(tmp_path)


def test_a_folder_without_notes_is_an_error_that_names_the_option(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="--examples"):
        read_examples(tmp_path)


def test_the_examples_are_two_groups_of_together_at_least_forty_notes_in_order_of_time() -> None:
    examples = read_examples()
    groups = {example.group_id for example in examples}
    assert groups == {"coaching-journal", "architecture-decisions"}
    assert len(examples) >= 40
    for group in groups:
        times = [note.arguments["reference_time"] for note in examples if note.group_id == group]
        assert times == sorted(times)
