"""Where the real input lies: beside the checkout, in no repository."""

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"


def shared_data(*parts: str) -> Path:
    """A file or folder of it; skips where there is none."""
    path = SHARED.joinpath(*parts)
    if not path.exists():
        pytest.skip("needs the data in ../shared")
    return path
