import errno

import pytest

from graphiti_pkm.cli.output import Progress, explain, first_cause, indented
from graphiti_pkm.errors import NotFound


def test_the_first_cause_is_found_inside_the_groups_of_concurrent_tasks() -> None:
    cause = NotFound("Nothing there.")
    nested = ExceptionGroup("tasks", [ExceptionGroup("tasks", [cause, ValueError()])])
    assert first_cause(nested) is cause
    assert first_cause(cause) is cause


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (NotFound("No such thing. Do that."), "No such thing. Do that."),
        (FileNotFoundError(errno.ENOENT, "No such file or directory", "a.md"), "No such file or directory: a.md"),
        (TimeoutError(), "TimeoutError"),
    ],
)
def test_an_error_is_explained_by_what_it_says_to_a_person(error: Exception, said: str) -> None:
    assert explain(error) == said


def test_of_an_unexpected_error_only_the_type_is_told_because_its_text_may_hold_anything() -> None:
    said = explain(ValueError("a planted word"))
    assert "ValueError" in said
    assert "planted" not in said
    assert "--log-level debug" in said


def test_progress_is_silent_when_nobody_watches(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress("notes")
    progress(1, 2)
    progress.step("half way")
    assert progress.end() >= 0
    assert capsys.readouterr() == ("", "")


def test_progress_overwrites_its_line_on_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    progress = Progress("notes")
    progress(1, 2)
    progress.end()
    progress(2, 2)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("\r  1 of 2 notes, ")
    assert err.endswith("\r\x1b[K")


def test_long_text_stands_under_its_beginning_and_keeps_hyphened_words() -> None:
    text = indented("The first cut-over rehearsal took nine hours", "  now  ", 30)
    assert text.splitlines() == ["  now  The first cut-over", "       rehearsal took nine", "       hours"]
