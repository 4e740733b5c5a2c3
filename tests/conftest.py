"""What holds for every test: compiled kernels go to a cache of the tests' own.

It is shared by the processes of a run and kept between runs, as what an entry depends on is in its name; the user's own
cache neither helps a test nor is touched by one. Processes that tests start inherit the setting.
"""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

os.environ["GYROSTAT_CACHE"] = str(Path(__file__).resolve().parents[1] / ".cache" / "tests")

if (
    importlib.util.find_spec("pinocchio") is None
):  # it has no wheels for Windows, nor for the oldest NumPy that gyrostat allows
    collect_ignore = ["reference"]
