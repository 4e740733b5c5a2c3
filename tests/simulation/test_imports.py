"""What a result is read with: nothing of the compiler."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    "module", ["simulation.result.trajectory", "simulation.engine.system", "io.results", "simulation"]
)
def test_no_compiler_is_loaded_by_importing(module):
    code = f"import sys, gyrostat.{module}; print(sorted({{m.split('.')[0] for m in sys.modules}} & {{'llvmlite'}}))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]", found.stdout


def test_a_result_is_loaded_and_audited_of_what_it_holds_without_a_compiler(tmp_path):
    """Loading alone; what is computed from states is compiled."""
    import gyrostat as gs
    from gyrostat.models import servicer

    craft = servicer()
    path = gs.simulate(craft, gs.neutral(craft), [0.0] * 6 + [0.1] * 6, (0, 1)).save(tmp_path / "run.nc")
    code = (
        f"import sys, gyrostat as gs; t = gs.Trajectory.load({str(path)!r}); t.q, t.v, t.status, t.final, t.data;"
        "print('llvmlite' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"
