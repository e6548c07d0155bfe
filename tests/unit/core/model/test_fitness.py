"""The formula of fitness."""

import pytest

from graphiti_pkm.core.model.fitness import Fitness


def test_fitness_is_the_mean_match_and_zero_before_the_first() -> None:
    assert Fitness().score == 0.0
    assert Fitness(hits=3, relevance=0.5 + 0.7 + 0.9).score == pytest.approx(0.7)


def test_the_final_score_adds_the_bias() -> None:
    assert Fitness(hits=1, relevance=0.7, bias=-0.3).final_score == pytest.approx(0.4)
    assert Fitness(bias=0.5).final_score == 0.5


@pytest.mark.parametrize(
    ("fitness", "score", "boosted"),
    [
        (Fitness(), 0.8, 0.8),
        (Fitness(hits=2, relevance=1.0), 0.7, 1.05),
        (Fitness(bias=-1.0), 0.8, 0.04),
        (Fitness(bias=-0.97), 1.0, 0.05),
        (Fitness(hits=1, relevance=1.0, bias=1.0), 0.5, 1.5),
    ],
)
def test_a_boost_multiplies_the_score_and_never_turns_the_order_round(
    fitness: Fitness, score: float, boosted: float
) -> None:
    assert fitness.boosted(score) == pytest.approx(boosted)


def test_the_fitness_of_a_fact_is_the_share_of_its_returns_that_helped() -> None:
    assert round(Fitness(hits=423, useful=387).of_fact, 3) == 0.915
    assert Fitness(useful=2).of_fact == 0.0
