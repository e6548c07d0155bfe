"""Settings of scratch graphs."""

from pathlib import Path

import pytest

from graphiti_pkm.errors import ConfigurationError
from graphiti_pkm.settings.loader import Settings, environment_name, load_settings
from graphiti_pkm.settings.scratch_limits import ScratchLimits

NOWHERE = Path("/nowhere")


def test_the_thresholds_of_matching_are_settings() -> None:
    assert (Settings().similarity_threshold, Settings().ambiguity_threshold, Settings().max_candidates) == (
        0.75,
        0.05,
        5,
    )
    given = {environment_name("similarity_threshold"): "0.85", environment_name("max_candidates"): "10"}
    loaded = load_settings({"ambiguity_threshold": "0.1"}, given, NOWHERE).settings
    assert (loaded.similarity_threshold, loaded.ambiguity_threshold, loaded.max_candidates) == (0.85, 0.1, 10)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("similarity_threshold", "1.5"),
        ("similarity_threshold", "-0.1"),
        ("ambiguity_threshold", "1.01"),
        ("max_candidates", "0"),
        ("max_candidates", "51"),
        ("scratch_idle_hours", "-1"),
        ("scratch_nodes", "0"),
        ("scratch_seconds", "0"),
    ],
)
def test_a_value_outside_its_range_is_refused_by_name(field: str, value: str) -> None:
    with pytest.raises(ConfigurationError, match=f"{field} \\(from {environment_name(field)}\\)"):
        load_settings({}, {environment_name(field): value}, NOWHERE)


def test_without_settings_the_limits_are_those_of_the_engine() -> None:
    assert Settings().scratch_limits == ScratchLimits()
    assert Settings(scratch_nodes=7, scratch_graphs=3).scratch_limits == ScratchLimits(nodes=7, graphs=3)
