"""Which connection is closed when there are too many, and how many there may be."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from graphiti_pkm.server.transports.connections import Bounds, Connection, Connections, _network_of
from graphiti_pkm.settings.loader import Settings


class Visitor:
    """A connection as ``Connections`` sees it."""

    def __init__(self, address: str, *, is_answered: bool = False) -> None:
        self.address = address
        self.is_answered = is_answered
        self.is_cut_off = False

    def cut_off(self) -> None:
        self.is_cut_off = True


class Room:
    """Connections of these bounds, and who came in."""

    def __init__(self, **bounds: int) -> None:
        settings = SimpleNamespace(
            **{"connections": 8, "connections_without_token": 5, "connections_per_address": 3, **bounds},
            head_seconds=10,
            body_seconds=60,
        )
        self.connections = Connections(Bounds.of(cast("Settings", settings), 1_024))

    def enter(self, address: str, *, is_answered: bool = False, is_known: bool = False) -> Visitor:
        visitor = Visitor(address, is_answered=is_answered)
        self.connections.opened(cast("Connection", visitor))
        if is_known:
            self.connections.trust(cast("Connection", visitor))
        return visitor


def test_of_one_address_the_stranger_that_has_waited_longest_goes() -> None:
    room = Room()
    other, *own = [room.enter("192.0.2.1"), *(room.enter("192.0.2.2") for _ in range(4))]
    assert [one.is_cut_off for one in (other, *own)] == [False, True, False, False, False]


def test_whoever_is_being_answered_goes_last_and_the_newest_never_before_another() -> None:
    room = Room()
    visitors = [room.enter("192.0.2.1", is_answered=number < 1) for number in range(4)]
    assert [one.is_cut_off for one in visitors] == [False, True, False, False]
    room = Room()
    visitors = [room.enter("192.0.2.1", is_answered=number < 3) for number in range(4)]
    assert [one.is_cut_off for one in visitors] == [True, False, False, False]


def test_strangers_of_many_addresses_are_bounded_together_and_the_greediest_address_gives_way() -> None:
    room = Room()
    single = [room.enter(f"192.0.2.{number}") for number in range(3)]
    several = [room.enter("192.0.2.9") for _ in range(3)]
    assert not any(one.is_cut_off for one in single)
    assert [one.is_cut_off for one in several] == [True, False, False]


def test_known_ones_count_for_no_address_and_are_never_closed_for_strangers() -> None:
    room = Room()
    known = [room.enter("192.0.2.1", is_known=True) for _ in range(7)]
    strangers = [room.enter("192.0.2.1") for _ in range(5)]
    assert not any(one.is_cut_off for one in known)
    assert [one.is_cut_off for one in strangers] == [True, True, True, True, False]
    assert len(room.connections) == 8


def test_who_showed_a_token_that_is_worth_nothing_any_more_is_a_stranger_again() -> None:
    room = Room()
    visitor = room.enter("192.0.2.1", is_known=True)
    room.connections.distrust(cast("Connection", visitor))
    for _ in range(3):
        room.enter("192.0.2.1")
    assert visitor.is_cut_off


def test_nothing_is_remembered_of_who_has_left() -> None:
    room = Room()
    for number in range(100):
        visitor = room.enter(f"192.0.2.{number}", is_known=bool(number % 2))
        room.connections.lost(cast("Connection", visitor))
    assert len(room.connections) == 0
    assert room.connections._anonymous == {}


@pytest.mark.parametrize(
    ("files", "given", "expected"),
    [
        (65_536, {}, (4_096, 2_048, 1_024)),
        (1_024, {}, (768, 384, 192)),
        (200, {}, (16, 8, 4)),
        (1_024, {"connections": 100, "connections_without_token": 20}, (100, 20, 10)),
        (1_024, {"connections_per_address": 7}, (768, 384, 7)),
    ],
)
def test_bounds_are_those_of_the_settings_or_fit_the_limit_of_open_files(
    files: int, given: dict[str, Any], expected: tuple[int, int, int]
) -> None:
    bounds = Bounds.of(Settings(**given), files)
    assert (bounds.most, bounds.anonymous, bounds.anonymous_of_address) == expected


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", ""),
    ],
)
def test_an_address_stands_for_who_has_it(address: str, network: str) -> None:
    assert _network_of(address) == network
