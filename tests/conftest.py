"""What holds for every test: compiled kernels go to a cache of the tests' own, and signals have their usual meaning.

It is shared by the processes of a run and kept between runs, as what an entry depends on is in its name; the user's own
cache neither helps a test nor is touched by one. Processes that tests start inherit the setting.
"""

from __future__ import annotations

import importlib.util
import os
import signal
from pathlib import Path

import pytest

from signals_as_usual import usual_signals

os.environ["GYROSTAT_CACHE"] = str(Path(__file__).resolve().parents[1] / ".cache" / "tests")

if (
    importlib.util.find_spec("pinocchio") is None
):  # it has no wheels for Windows, nor for the oldest NumPy that gyrostat allows
    collect_ignore = ["reference"]


@pytest.fixture(autouse=True)
def _signals_as_usual():
    """Also where the tests were started in the background or under nohup, and for the processes that tests start."""
    before = usual_signals()
    yield
    for number, meaning in before.items():
        signal.signal(number, meaning)
