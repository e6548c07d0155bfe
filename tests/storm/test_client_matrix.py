"""The tables of DOCS/clients.md are what the frameworks and clients make of this server."""

import pytest
from tests.client_matrix.__main__ import FROM, PAGE, TO, matrix


@pytest.mark.timeout(900)
def test_the_tables_are_those_of_this_server() -> None:
    assert PAGE.read_text(encoding="utf-8").partition(FROM)[2].partition(TO)[0].strip() == matrix()
