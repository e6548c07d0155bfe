"""A clock that moves only when told to."""

from datetime import UTC, datetime, timedelta


class FakeClock:
    """Call it for the current instant; ``tick`` is what every call moves it on by."""

    def __init__(self, start: datetime | None = None, tick: timedelta = timedelta(0)) -> None:
        self.instant = start or datetime(2026, 3, 1, 12, tzinfo=UTC)
        self.tick = tick

    def __call__(self) -> datetime:
        instant = self.instant
        self.instant += self.tick
        return instant

    def seconds(self) -> float:
        """Of a clock that only counts."""
        return self().timestamp()

    def advance(self, seconds: float = 0, days: float = 0) -> datetime:
        """Move on and return the new instant."""
        self.instant += timedelta(seconds=seconds, days=days)
        return self.instant
