"""The example on learning, for a few steps, where its library is installed; its environments are tested everywhere."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "14_learning_to_reach.py"


def test_learning_to_reach_starts(tmp_path):
    pytest.importorskip("stable_baselines3", reason="14_learning_to_reach.py needs stable-baselines3, which is large")
    done = subprocess.run(
        [sys.executable, str(EXAMPLE)],
        cwd=tmp_path,
        env={**os.environ, "STEPS": "38400", "MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"before training: 0\.\d+ m.*\nafter training: \d", done.stdout)
    assert "38400 steps" in done.stdout and (tmp_path / "learning_to_reach.png").stat().st_size > 10_000
