"""Files that other projects published, in the folder `shared` beside the checkout;
tests that need them skip without it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / ".." / "shared"


def shared(path: str) -> Path:
    """A file of the shared folder, or skip the test."""
    found = SHARED / path
    if not found.exists():
        pytest.skip(f"no ../shared/{path} beside this checkout")
    return found


def shared_models(pattern: str) -> list[str]:
    """Paths within the shared folder, for parametrising; empty where it is absent."""
    return sorted(str(path.relative_to(SHARED)) for path in SHARED.glob(pattern))
