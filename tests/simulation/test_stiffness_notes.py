"""What is said of runs whose steps are kept short by stability, and of those whose steps are not."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.view.report import write_report


def damped(rate):
    """A rotor of 2 kg m^2 on a fixed base; its damper makes lambda = -rate."""
    base = gs.Body("base", 1.0, inertia=(1, 1, 1), joint=gs.Joint("base", "fixed"))
    joint = gs.Joint("shaft", "revolute", "base", axis=(0.0, 0.0, 1.0), damping=2.0 * rate)
    return gs.Spacecraft.build("rotor", [base, gs.Body("rotor", 1.0, inertia=(1, 1, 2.0), joint=joint)])


def push(craft, t, q, v):
    return np.array([0.1])


@pytest.mark.parametrize("method, limit", [("dop853", 6.1), ("rk45", 3.3)])
@pytest.mark.parametrize("rate", [200.0, 1000.0])
def test_h_lambda_is_that_of_the_damper(method, limit, rate):
    run = gs.simulate(damped(rate), [0.0], [1.0], (0, 30), control=push, integrator=method, rtol=1e-7, save_at=[30.0])
    h = 30.0 / run.state.steps[0]
    assert run.data.attrs["stability_share"] == pytest.approx(h * rate / limit, rel=1e-3)
    assert 0.6 < run.data.attrs["stability_share"] < 1.1
    assert "gauss16" in str(run) and "stability, not accuracy" in run.notes[0]


def test_the_remedy_is_one():
    slow = gs.simulate(damped(1000.0), [0.0], [1.0], (0, 30), control=push, rtol=1e-7, save_at=[30.0])
    quick = gs.simulate(
        damped(1000.0), [0.0], [1.0], (0, 30), control=push, rtol=1e-7, save_at=[30.0], integrator="gauss16"
    )
    assert quick.state.steps[0] < 0.05 * slow.state.steps[0] and not quick.notes
    np.testing.assert_allclose(quick.final[1], 0.1 / 2000.0, rtol=1e-6)
    np.testing.assert_allclose(quick.final[0], slow.final[0], rtol=1e-6)


def test_long_and_precise_runs_are_not_called_stiff():
    """A fast pendulum needs its many steps for accuracy; a short run is no nuisance; fixed steps were asked for."""
    spring = gs.Joint("shaft", "revolute", "base", axis=(0.0, 0.0, 1.0), stiffness=2.0 * 100.0)
    base = gs.Body("base", 1.0, inertia=(1, 1, 1), joint=gs.Joint("base", "fixed"))
    craft = gs.Spacecraft.build("spring", [base, gs.Body("rotor", 1.0, inertia=(1, 1, 2.0), joint=spring)])
    long = gs.simulate(craft, [0.5], [0.0], (0, 300), rtol=1e-12, save_at=[300.0])
    assert long.state.steps[0] > 500 and 0.0 < long.data.attrs["stability_share"] < 0.2 and not long.notes
    assert gs.simulate(damped(1000.0), [0.0], [1.0], (0, 1), rtol=1e-7).data.attrs["stability_share"] == 0.0
    fixed = gs.simulate(damped(100.0), [0.0], [1.0], (0, 30), step=0.03, save_at=[30.0])
    assert fixed.state.steps[0] > 500 and fixed.data.attrs["stability_share"] == 0.0


def test_the_note_is_kept_in_the_file_and_stands_in_the_report(tmp_path):
    run = gs.simulate(damped(1000.0), [0.0], [1.0], (0, 30), control=push, rtol=1e-7, save_at=[30.0])
    run.save(tmp_path / "run.nc")
    assert gs.Trajectory.load(tmp_path / "run.nc").notes == run.notes != ()
    assert "Stability, not accuracy" in write_report(run, tmp_path / "report.html").read_text(encoding="utf-8")
