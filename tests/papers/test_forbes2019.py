"""Forbes (2019): its systems in closed form."""

from __future__ import annotations

import numpy as np
import pytest

from gyrostat.papers.forbes2019 import crafts, nonholonomic, tumbling


def test_no_parameterisation_meets_its_singularity():
    """Else the comparison would be of that, not of the dynamics."""
    margins = tumbling.margins()
    assert len(margins) == 19 and min(margins.values()) > 0.5


def test_sleigh_ends_up_going_straight_ahead():
    """From backwards: V tends to sqrt(V0^2 + k^2 w0^2), w to zero."""
    V, w = nonholonomic.sleigh_closed_form(np.array([0.0, 100.0]))
    assert V[0] == pytest.approx(nonholonomic.V0) and w[0] == pytest.approx(nonholonomic.W0)
    k2 = (nonholonomic.SLEIGH["J"] + nonholonomic.SLEIGH["m"] * nonholonomic.SLEIGH["a"] ** 2) / nonholonomic.SLEIGH[
        "m"
    ]
    assert V[1] == pytest.approx(np.sqrt(nonholonomic.V0**2 + k2 * nonholonomic.W0**2)) and abs(w[1]) < 1e-12


def test_vertical_disc_rolls_straight():
    run = nonholonomic.disc_run(inclination=np.pi / 2, turn=0.3, spin=4.0, t_end=2.0)
    assert np.abs(run.constraint_residuals().velocity).max() < 1e-9
    assert nonholonomic.steady_spin(np.pi / 2, 0.3) == pytest.approx(0.0, abs=1e-12)


def test_another_spin_makes_the_disc_nod():
    """So that the steady run says something."""
    run = nonholonomic.disc_run(spin=nonholonomic.steady_spin(1.1, 1.5) * 1.3, t_end=3.0)
    assert np.ptp(nonholonomic.inclination(run)) > 1e-2


def test_the_client_weighs_half_a_tonne():
    assert crafts.client().body("client").mass == 500.0
