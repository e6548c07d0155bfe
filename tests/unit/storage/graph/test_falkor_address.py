"""Where a FalkorDB listens, as an error names it and as the client reads it."""

from pathlib import Path

import pytest
from pydantic import SecretStr
from redis.asyncio.connection import parse_url

from graphiti_pkm.errors import ConfigurationError
from graphiti_pkm.storage.graph.falkordb.address import Address


@pytest.mark.parametrize("path", ["/tmp/f.sock", "/tmp/a b/100%25?x#y/f.sock", "/tmp/ö/f.sock"])  # noqa: S108
def test_a_socket_may_have_any_path(path: str) -> None:
    address = Address.of_socket(Path(path))
    assert address.is_ours
    assert parse_url(address.uri)["path"] == path
    assert address.shown == path


@pytest.mark.parametrize(
    ("uri", "shown"),
    [
        ("redis://localhost", "localhost:6379"),
        ("rediss://db.example:6390?ssl_ca_certs=/etc/ca.pem", "db.example:6390"),
        ("unix:///run/f.sock", "/run/f.sock"),
    ],
)
def test_an_error_names_the_place_and_nothing_else(uri: str, shown: str) -> None:
    address = Address(uri, "writer", SecretStr("planted"))
    address.check()
    assert address.shown == shown
    assert "planted" not in repr(address)


@pytest.mark.parametrize(
    "option", ["password=planted", "username=planted", "db=3", "retry_on_timeout=", "ssl_password=x"]
)
def test_an_option_that_is_a_setting_or_would_not_be_kept_is_refused(option: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        Address(f"redis://localhost?{option}").check()
    assert option.partition("=")[0] in str(caught.value)
    assert "planted" not in str(caught.value)
