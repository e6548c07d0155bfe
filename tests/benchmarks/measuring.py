"""Two sides measured in turn, so that whatever else the machine does falls on both."""

import gc
import statistics
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Literal, TypeAlias

Side: TypeAlias = Callable[[], Awaitable[object]]


@dataclass(frozen=True)
class Times:
    """Durations in milliseconds of repeated calls."""

    milliseconds: tuple[float, ...]

    @property
    def p50(self) -> float:
        return statistics.median(self.milliseconds)

    @property
    def p95(self) -> float:
        return statistics.quantiles(self.milliseconds, n=20)[-1]


@dataclass(frozen=True)
class Target:
    """What a ratio should be: at least or at most so much."""

    bound: Literal[">=", "<="]
    value: float

    def is_met(self, ratio: float) -> bool:
        return ratio >= self.value if self.bound == ">=" else ratio <= self.value

    def __str__(self) -> str:
        return f"{'≥' if self.bound == '>=' else '≤'} {self.value:g}"


@dataclass(frozen=True)
class Figure:
    """One line of the table; ``aim`` None is only reported."""

    what: str
    ours: str
    against: str = ""
    ratio: float | None = None
    aim: Target | None = None

    @property
    def is_missed(self) -> bool:
        return self.aim is not None and self.ratio is not None and not self.aim.is_met(self.ratio)


async def in_turn(sides: Mapping[str, Side], rounds: int, warm_up: int = 3) -> dict[str, Times]:
    """Call every side once a round, in alternating order, with the garbage collector out of the way."""
    for _ in range(warm_up):
        for call in sides.values():
            await call()
    taken: dict[str, list[float]] = {name: [] for name in sides}
    order = list(sides)
    gc.collect()
    gc.freeze()
    try:
        for _ in range(rounds):
            for name in order:
                begun = perf_counter()
                await sides[name]()
                taken[name].append(1000 * (perf_counter() - begun))
            order.reverse()
    finally:
        gc.unfreeze()
    return {name: Times(tuple(values)) for name, values in taken.items()}


def ms(value: float) -> str:
    """Milliseconds for a reader."""
    return f"{value:,.0f} ms" if value >= 100 else f"{value:.1f} ms"
