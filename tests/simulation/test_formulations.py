"""The same run whatever the equations of motion are written in, whatever joints the craft has."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.formulations.registry import FORMULATIONS, supporting
from random_trees import ALL_KINDS, BASES, random_spacecraft, random_state


def law(craft, t, q, v):
    return -0.2 * v


@pytest.mark.parametrize("base, seed", list(zip(BASES, (3, 6, 8, 9), strict=True)))
def test_every_formulation_that_supports_a_tree_gives_the_same_run(base, seed):
    craft = random_spacecraft(seed, links=3, base=base)
    q, v = random_state(craft, seed, speed=0.3)
    able, reasons = supporting(craft)
    options = {"control": law, "rtol": 1e-11, "atol": 1e-13, "save_at": [0.5, 1.0]}
    expected = gs.simulate(craft, q, v, (0, 1), **options)
    assert "recursive" in able and len(able) + len(reasons) == len(FORMULATIONS)
    for name in able:
        traj = gs.simulate(craft, q, v, (0, 1), formulation=name, **options)
        np.testing.assert_allclose(traj.q, expected.q, atol=1e-8, err_msg=name)
        np.testing.assert_allclose(traj.v, expected.v, atol=1e-8, err_msg=name)
        assert traj.audit.worst < 1e-9, name
    for name, reason in reasons.items():
        with pytest.raises(ValueError, match=f"formulation '{name}' does not support {craft.name}"):
            gs.simulate(craft, q, v, (0, 1), formulation=name)
        assert reason


@pytest.mark.parametrize("kind", ALL_KINDS)
def test_each_joint_kind_alone_conserves_momentum_and_energy(kind):
    """One body of each kind on a free base, tumbling: nothing acts."""
    axes = {"axis": (0.0, 0.6, 0.8), "axis2": (1.0, 0.0, 0.0)}
    base = gs.Body("base", 10.0, (0.05, 0.0, 0.1), (2.0, 2.5, 3.0))
    if kind == "wheel":
        moved = gs.Wheel("moved", "base", axes["axis"], 0.1)
    else:
        joint = gs.Joint("joint", kind, "base", (0.4, 0.1, 0.0), **axes)
        moved = gs.Body("moved", 2.0, (0.2, 0.1, -0.1), (0.1, 0.12, 0.15), joint)
    craft = gs.Spacecraft.build(kind, [base, moved])
    rng = np.random.default_rng(7)
    q = gs.step_configuration(craft, gs.neutral(craft), 0.3 * rng.normal(size=craft.nv))
    v = 0.4 * rng.normal(size=craft.nv)
    traj = gs.simulate(craft, q, v, (0, 20), rtol=1e-13, atol=1e-15)
    assert traj.audit.worst < 1e-10
    assert np.ptp(traj.kinetic_energy()) < 1e-10 * traj.kinetic_energy()[0]
    if kind in ("spherical", "free"):
        at = craft.joint("moved").q_at.start
        np.testing.assert_allclose(np.linalg.norm(traj.q[:, at : at + 4], axis=1), 1.0, atol=1e-15)
    held = gs.simulate(craft, q, v, (0, 20), rtol=1e-6, conserve="momentum")
    assert max(held.audit.linear, held.audit.angular) < 1e-13
