import re
from pathlib import Path

import pytest
from tests.write_docs import DOCS, SETTINGS_FROM, SETTINGS_TO, pages, readme_with_settings

from graphiti_pkm.settings.loader import Settings

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("file_name", sorted(pages()))
def test_a_generated_page_is_what_the_code_says(file_name: str) -> None:
    assert (DOCS / file_name).read_text(encoding="utf-8") == pages()[file_name], "run `make docs`"


def test_the_readme_names_every_setting_and_no_other() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert readme == readme_with_settings(readme), "run `make docs`"
    listed = readme.partition(SETTINGS_FROM)[2].partition(SETTINGS_TO)[0]
    assert set(re.findall(r"`(\w+)`", listed)) == set(Settings.model_fields)


def test_the_readme_shows_tools_workflow_and_how_to_connect() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for needed in ("make demo", "make test", "LibreChat", "Claude", "VS Code", "Cursor", "get_entity_connections"):
        assert needed in readme


def test_the_first_two_commands_of_the_readme_are_demo_and_test() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"^(make \w+)", readme, re.MULTILINE)
    assert commands[:2] == ["make demo", "make test"]


def test_the_changelog_starts_with_this_version_and_names_what_is_not_offered() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    version = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    assert version is not None
    assert re.search(rf"^## \[{re.escape(version.group(1))}\]", changelog, re.MULTILINE)
    assert "read_graph" in changelog


def test_relative_links_in_the_documentation_lead_somewhere() -> None:
    broken = [
        f"{page.name}: {target}"
        for page in [*ROOT.glob("*.md"), *DOCS.rglob("*.md")]
        for target in re.findall(
            r"\]\((?!https?:|#)([^)#]+)", re.sub(r"`[^`\n]*`", "", page.read_text(encoding="utf-8"))
        )
        if not (page.parent / target).exists()
    ]
    assert broken == []


def test_the_decisions_about_scratch_graphs_are_recorded_and_linked() -> None:
    page = (DOCS / "reasoning.md").read_text(encoding="utf-8")
    linked = re.findall(r"\]\((adr/\d{4}-[^)#]+)\)", page)
    records = {path: (DOCS / path).read_text(encoding="utf-8") for path in linked}
    assert {Path(path).name[:4] for path in records} == {"0021", "0022", "0023", "0054", "0065"}
    for path, text in records.items():
        assert {"Context", "Decision"} <= set(re.findall(r"(?:\*\*|^## )(Context|Decision)", text, re.MULTILINE)), path
