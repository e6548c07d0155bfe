"""The setting ``episode_weights``: a part of it is enough, and the defaults are what DOCS says."""

from pathlib import Path

import pytest

from graphiti_pkm.errors import ConfigurationError
from graphiti_pkm.settings.loader import load_settings
from graphiti_pkm.settings.weights import EpisodeWeights


def weights(given: str, tmp_path: Path) -> EpisodeWeights:
    environment = {"GRAPHITI_PKM_EPISODE_WEIGHTS": given}
    return load_settings(environ=environment, directory=tmp_path).settings.episode_weights


@pytest.mark.parametrize("given", ["date=0.5,day=0", "date=0.5 day=0", " date=0.5, day=0 "])
def test_a_part_of_the_weights_is_enough(given: str, tmp_path: Path) -> None:
    assert weights(given, tmp_path) == EpisodeWeights().model_copy(update={"date": 0.5, "day": 0})


def test_what_is_shown_as_the_default_can_be_given(tmp_path: Path) -> None:
    assert weights(str(EpisodeWeights()), tmp_path) == EpisodeWeights()


def test_a_file_may_hold_them_as_a_table(tmp_path: Path) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text("episode_weights:\n  words: 1\n", encoding="utf-8")
    assert load_settings(environ={}, directory=tmp_path, config_file=file).settings.episode_weights.words == 1


@pytest.mark.parametrize("given", ["luck=1", "date=-1", "date=much", "date", "0.5"])
def test_what_is_no_weight_is_refused_by_name(given: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="episode_weights"):
        weights(given, tmp_path)
