"""Which database is meant, and what its address and its credentials may look like."""

from pathlib import Path

import pytest
from tests.requirements import requirement

from graphiti_pkm.errors import ConfigurationError
from graphiti_pkm.settings.loader import LoadedSettings, Settings, load_settings

WORD = "planted-word-7"
NEO4J, FALKORDB = "bolt://db.example:7687", "redis://db.example:6379"


def load(**variables: str) -> LoadedSettings:
    return load_settings({}, variables, Path("/nowhere"))


@pytest.mark.parametrize(
    ("variables", "backend"),
    [
        ({}, "embedded"),
        ({"NEO4J_URI": NEO4J}, "neo4j"),
        ({"FALKORDB_URI": FALKORDB}, "falkordb"),
        ({"NEO4J_URI": NEO4J, "FALKORDB_URI": FALKORDB, "GRAPHITI_PKM_BACKEND": "falkordb"}, "falkordb"),
        ({"NEO4J_URI": NEO4J, "GRAPHITI_PKM_BACKEND": "embedded"}, "embedded"),
        ({"NEO4J_URI": " "}, "embedded"),
    ],
)
def test_the_database_is_the_one_whose_address_is_given(variables: dict[str, str], backend: str) -> None:
    assert load(**variables).settings.effective_backend == backend


@requirement("M-84")
@pytest.mark.parametrize(
    ("backend", "address"), [("neo4j", "bolt://localhost:7687"), ("falkordb", "redis://localhost:6379")]
)
def test_a_server_without_an_address_is_the_usual_one_on_this_machine(backend: str, address: str) -> None:
    loaded = load(GRAPHITI_PKM_BACKEND=backend)
    assert getattr(loaded.settings, f"{backend}_uri") == address
    assert loaded.origins[f"{backend}_uri"] == "default"
    assert load().settings.neo4j_uri is None


def test_two_addresses_are_an_error_that_says_where_each_comes_from() -> None:
    with pytest.raises(ConfigurationError, match=r"neo4j_uri from NEO4J_URL, falkordb_uri from FALKORDB_URI"):
        load(NEO4J_URL=NEO4J, FALKORDB_URI=FALKORDB)


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("NEO4J_URI", "http://db.example:7474"),
        ("NEO4J_URI", "db.example:7687"),
        ("NEO4J_URI", "bolt://db.example:port"),
        ("FALKORDB_URI", "redis://"),
        ("FALKORDB_URI", "unix://"),
        ("FALKORDB_URI", f"anna:{WORD}@db.example"),
    ],
)
def test_an_address_that_is_none_is_refused_with_one_that_fits_and_not_repeated(name: str, address: str) -> None:
    with pytest.raises(ConfigurationError, match=rf"from {name}\): not an address such as \w+://localhost") as raised:
        load(**{name: address})
    assert "db.example" not in raised.value.message
    assert WORD not in f"{raised.value!r}{raised.value.__cause__!r}"


@requirement("M-86", "T53")
@pytest.mark.parametrize("address", [f"redis://anna:12/{WORD}@db.example", f"redis://anna:12?{WORD}@db.example"])
def test_a_password_that_cuts_an_address_short_is_refused_and_not_repeated(address: str) -> None:
    with pytest.raises(ConfigurationError, match="%2F") as raised:
        load(FALKORDB_URI=address)
    assert WORD not in raised.value.message


@requirement("M-86", "T53")
@pytest.mark.parametrize(("of", "scheme"), [("neo4j", "neo4j+s"), ("falkordb", "rediss")])
def test_user_and_password_in_an_address_are_taken_out_of_it(of: str, scheme: str) -> None:
    name = f"{of.upper()}_URI"
    loaded = load(**{name: f"{scheme}://anna:{WORD}%40x@db.example:1234"})
    settings = loaded.settings
    assert getattr(settings, f"{of}_uri") == f"{scheme}://db.example:1234"
    assert getattr(settings, f"{of}_username") == "anna"
    assert getattr(settings, f"{of}_password").get_secret_value() == f"{WORD}@x"
    assert loaded.origins[f"{of}_password"] == name
    assert WORD not in f"{loaded!r}{settings.model_dump_json()}"

    own = load(**{name: f"{scheme}://anna:{WORD}@db.example", f"{of.upper()}_PASSWORD": "other"})
    assert getattr(own.settings, f"{of}_password").get_secret_value() == "other"
    assert own.origins[f"{of}_password"] == f"{of.upper()}_PASSWORD"


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


@requirement("M-86")
def test_no_password_is_built_in() -> None:
    settings = load(NEO4J_URI=NEO4J).settings
    assert (settings.neo4j_password, settings.falkordb_password) == (None, None)


@pytest.mark.parametrize("of", ["neo4j", "falkordb"])
def test_a_reader_wants_both_a_name_and_a_password(of: str) -> None:
    with pytest.raises(ConfigurationError, match=f"{of}_reader_username and {of}_reader_password"):
        load(**{f"GRAPHITI_PKM_{of.upper()}_READER_USERNAME": "reader"})


def test_what_is_given_for_another_database_is_told_and_not_used() -> None:
    assert load(NEO4J_USER="anna", NEO4J_PASSWORD=WORD).notes == (
        "neo4j_username, neo4j_password: not used, because the database is embedded",
    )
    assert load(NEO4J_URI=NEO4J, NEO4J_USER="anna").notes == ()


def test_a_server_indexes_smaller_groups_than_the_embedded_database_which_loads_indexes_anew() -> None:
    assert load(NEO4J_URI=NEO4J).settings.vector_index_threshold == 5_000
    assert Settings(backend="falkordb").vector_index_threshold == 5_000
    assert load().settings.vector_index_threshold == 50_000
    given = load(NEO4J_URI=NEO4J, GRAPHITI_PKM_VECTOR_INDEX_THRESHOLD="7")
    assert given.settings.vector_index_threshold == 7


@requirement("M-86", "T53")
@pytest.mark.parametrize(("name", "scheme"), [("NEO4J_URI", "neo4j"), ("FALKORDB_URI", "redis")])
def test_a_password_among_the_options_of_an_address_is_not_shown(name: str, scheme: str) -> None:
    settings = load(**{name: f"{scheme}://db.example:1234/?password={WORD}"}).settings
    assert f"{scheme}://db.example:1234/?password=" in {settings.neo4j_uri, settings.falkordb_uri}
    assert WORD not in repr(settings)


@requirement("T53")
def test_of_an_unknown_option_of_an_address_only_the_name_is_kept() -> None:
    settings = load(FALKORDB_URI=f"redis://db.example/?tokn={WORD}&ssl_ca_certs=/etc/ca.pem").settings
    assert settings.falkordb_uri == "redis://db.example/?tokn=&ssl_ca_certs=/etc/ca.pem"
