"""What was checked, what failed, and what could not be run here."""

import sys
import time
from dataclasses import dataclass, field


@dataclass
class Report:
    """Prints as it goes, so that a check of minutes shows where it is."""

    passed: int = 0
    failures: list[str] = field(default_factory=list)
    not_run: list[str] = field(default_factory=list)
    began: float = field(default_factory=time.monotonic)

    def check(self, what: str, *problems: object) -> bool:
        """One check, passed without problems."""
        if problems:
            self.failures.append(what)
            self._say(f"FAILED   {what}", *(f"         {problem}" for problem in problems))
        else:
            self.passed += 1
            self._say(f"ok       {what}")
        return not problems

    def skip(self, what: str, why: str) -> None:
        """One check that this machine cannot do."""
        self.not_run.append(what)
        self._say(f"NOT RUN  {what}: {why}")

    def close(self) -> int:
        """The exit code."""
        counts = f"{self.passed} passed, {len(self.failures)} failed, {len(self.not_run)} not run here"
        self._say(f"docker-check: {counts}")
        return 1 if self.failures else 0

    def _say(self, line: str, *more: str) -> None:
        """With the seconds since the beginning."""
        sys.stdout.write("\n".join([f"{time.monotonic() - self.began:4.0f} s  {line}", *more]) + "\n")
        sys.stdout.flush()
