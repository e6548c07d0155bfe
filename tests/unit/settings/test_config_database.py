"""Which database is meant, and what its address and its credentials may look like."""

from pathlib import Path

import pytest

from graphiti_pkm.cli.flags import given_flags
from graphiti_pkm.cli.main import build_parser
from graphiti_pkm.errors import ConfigurationError
from graphiti_pkm.settings.loader import LoadedSettings, load_settings

WORD = "planted-word-7"
NEO4J = "bolt://db.example:7687"


def load(**variables: str) -> LoadedSettings:
    return load_settings({}, variables, Path("/nowhere"))


@pytest.mark.parametrize(
    ("variables", "backend"),
    [
        ({}, "embedded"),
        ({"NEO4J_URI": NEO4J}, "neo4j"),
        ({"GRAPHITI_PKM_BACKEND": "sqlite"}, "embedded"),
        ({"NEO4J_URI": NEO4J, "GRAPHITI_PKM_BACKEND": "embedded"}, "embedded"),
        ({"NEO4J_URI": " "}, "embedded"),
    ],
)
def test_the_database_is_the_one_whose_address_is_given(variables: dict[str, str], backend: str) -> None:
    assert load(**variables).settings.effective_backend == backend


def test_a_server_without_an_address_is_the_usual_one_on_this_machine() -> None:
    loaded = load(GRAPHITI_PKM_BACKEND="neo4j")
    assert loaded.settings.neo4j_uri == "bolt://localhost:7687"
    assert loaded.origins["neo4j_uri"] == "default"
    assert load().settings.neo4j_uri is None


def test_falkordb_is_refused_with_what_replaced_it() -> None:
    with pytest.raises(ConfigurationError, match=r"backend \(from GRAPHITI_PKM_BACKEND\): FalkorDB is no longer"):
        load(GRAPHITI_PKM_BACKEND="falkordb")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("FALKORDB_URI", "FalkorDB is no longer supported"),
        ("GRAPHITI_PKM_FALKORDB_READER_PASSWORD", "FalkorDB is no longer supported"),
        ("GRAPHITI_PKM_IDLE_SECONDS", "the embedded database is a file"),
    ],
)
def test_a_variable_of_a_former_setting_is_not_used_and_says_why(name: str, reason: str) -> None:
    loaded = load(**{name: WORD})
    assert loaded.settings == load().settings
    (note,) = loaded.notes
    assert note.startswith(f"{name}: not used, {reason}")
    assert WORD not in note


def test_a_flag_and_a_line_of_yaml_of_a_former_setting_are_not_used_and_say_why(tmp_path: Path) -> None:
    config = tmp_path / "memory.yaml"
    config.write_text("idle_seconds: 5\nperson: Ada\n")
    flags = given_flags(build_parser().parse_args(["serve", "--idle-seconds", "5", "--falkordb-uri", WORD]))
    loaded = load_settings(flags, {}, tmp_path, config)
    assert loaded.settings.person == "Ada"
    told = "\n".join(loaded.notes)
    assert [told.count(name) for name in ("--idle-seconds: ", "--falkordb-uri: ", "memory.yaml: idle_seconds: ")] == [
        1
    ] * 3
    assert WORD not in told


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("NEO4J_URI", "http://db.example:7474"),
        ("NEO4J_URI", "db.example:7687"),
        ("NEO4J_URI", "bolt://db.example:port"),
        ("NEO4J_URI", "bolt://"),
        ("NEO4J_URI", f"anna:{WORD}@db.example"),
    ],
)
def test_an_address_that_is_none_is_refused_with_one_that_fits_and_not_repeated(name: str, address: str) -> None:
    with pytest.raises(ConfigurationError, match=rf"from {name}\): not an address such as \w+://localhost") as raised:
        load(**{name: address})
    assert "db.example" not in raised.value.message
    assert WORD not in f"{raised.value!r}{raised.value.__cause__!r}"


@pytest.mark.parametrize("address", [f"bolt://anna:12/{WORD}@db.example", f"bolt://anna:12?{WORD}@db.example"])
def test_a_password_that_cuts_an_address_short_is_refused_and_not_repeated(address: str) -> None:
    with pytest.raises(ConfigurationError, match="%2F") as raised:
        load(NEO4J_URI=address)
    assert WORD not in raised.value.message


def test_user_and_password_in_an_address_are_taken_out_of_it() -> None:
    loaded = load(NEO4J_URI=f"neo4j+s://anna:{WORD}%40x@db.example:1234")
    settings = loaded.settings
    assert (settings.neo4j_uri, settings.neo4j_username) == ("neo4j+s://db.example:1234", "anna")
    assert settings.neo4j_password is not None
    assert settings.neo4j_password.get_secret_value() == f"{WORD}@x"
    assert loaded.origins["neo4j_password"] == "NEO4J_URI"  # noqa: S105 a name
    assert WORD not in f"{loaded!r}{settings.model_dump_json()}"

    own = load(NEO4J_URI=f"neo4j+s://anna:{WORD}@db.example", NEO4J_PASSWORD=WORD)
    assert own.settings.neo4j_password is not None
    assert own.settings.neo4j_password.get_secret_value() == WORD
    assert own.origins["neo4j_password"] == "NEO4J_PASSWORD"  # noqa: S105 a name


def test_a_password_in_the_address_has_the_level_of_the_address_and_goes_to_no_other(tmp_path: Path) -> None:
    config = tmp_path / "memory.yaml"
    config.write_text("neo4j_password: lower\nneo4j_username: lower\n")
    (tmp_path / ".env").write_text(f"NEO4J_URI=neo4j://anna:{WORD}@db.example\n")
    found = load_settings({}, {}, tmp_path, config)
    assert found.settings.neo4j_password is not None
    assert found.settings.neo4j_password.get_secret_value() == WORD
    assert found.settings.neo4j_username == "anna"
    assert found.origins["neo4j_password"] == f"{tmp_path / '.env'}: NEO4J_URI"

    elsewhere = load_settings({}, {"NEO4J_URI": "neo4j://other.example"}, tmp_path)
    assert elsewhere.settings.neo4j_password is None
    higher = load_settings({"neo4j_password": "higher"}, {}, tmp_path)
    assert higher.settings.neo4j_password is not None
    assert higher.settings.neo4j_password.get_secret_value() == "higher"


def test_no_password_is_built_in() -> None:
    assert load(NEO4J_URI=NEO4J).settings.neo4j_password is None


def test_a_reader_wants_both_a_name_and_a_password() -> None:
    with pytest.raises(ConfigurationError, match="neo4j_reader_username and neo4j_reader_password"):
        load(GRAPHITI_PKM_NEO4J_READER_USERNAME="reader")


def test_what_is_given_for_another_database_is_told_and_not_used() -> None:
    assert load(NEO4J_USER="anna", NEO4J_PASSWORD=WORD).notes == (
        "neo4j_username, neo4j_password: not used, because the database is embedded",
    )
    assert load(NEO4J_URI=NEO4J, NEO4J_USER="anna").notes == ()


def test_a_password_among_the_options_of_an_address_is_not_shown() -> None:
    settings = load(NEO4J_URI=f"neo4j://db.example:1234/?password={WORD}&tokn={WORD}&policy=x").settings
    assert settings.neo4j_uri == "neo4j://db.example:1234/?password=&tokn=&policy=x"
    assert WORD not in repr(settings)
