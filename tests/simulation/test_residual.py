"""The residual that derivatives are taken of vanishes at the accelerations and the multipliers that a run has, and no
other way of getting them is in it: environment, laws, springs, prescribed joints, constraints that are a little off.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import gyrostat as gs
from gyrostat import constraints as gc
from gyrostat.algebra import cos
from gyrostat.environment import uniform_gravity
from gyrostat.simulation.prepare import equations_at
from gyrostat.simulation.problem.request import Request
from gyrostat.simulation.problem.residual import residual
from random_trees import random_spacecraft, random_state


def law(craft, t, q, v):
    return 0.3 * cos(t) * np.linspace(1.0, 2.0, craft.nv) - 0.1 * v


@pytest.mark.parametrize("environment", [None, uniform_gravity((0.4, -0.9, 0.2))], ids=["nothing outside", "gravity"])
@pytest.mark.parametrize("held", ["free", "to N", "between bodies"])
@pytest.mark.parametrize("base", ["free", "planar"])
def test_what_a_run_has_satisfies_it(base, held, environment):
    craft = random_spacecraft(12, links=6, base=base, kinds=("revolute", "prismatic", "spherical"), rotors=True)
    joint = next(j for j in craft.joints[1:] if j.nv == 1)
    bodies = [replace(b, joint=replace(b.joint, damping=0.7, stiffness=2.0)) if b.joint is joint else b
        for b in craft.bodies]  # fmt: skip
    craft = gs.Spacecraft.build(craft.name, bodies)
    moved = next(j.name for j in reversed(craft.joints) if j.nv == 1 and j.name != joint.name)
    q, v = random_state(craft, 5, speed=0.4)
    pairs = {"free": [], "to N": [("N", "body_5")], "between bodies": [(craft.base, "body_5")]}
    constraints = [gc.distance(*pair, 1.3) for pair in pairs[held]]
    options = {"control": law, "environment": environment, "constraints": constraints, "stabilisation": (3.0, 1.5)}
    motion = {moved: lambda t: 0.2 * cos(3.0 * t) + 0.1}
    equations, x = equations_at(Request(craft=craft, q0=q, v0=v, t_span=(0.4, 1.0), prescribed=motion, **options))
    signals, _, _ = equations.signals(x)
    multipliers = np.zeros(0) if signals.held is None else signals.held.multipliers
    found = residual(equations, x, signals.vdot, multipliers)
    assert np.abs(np.asarray(found.balance, dtype=float)).max() < 1e-10 * max(1.0, np.abs(signals.tau).max())
    assert len(found.errors) == len(constraints) and (np.abs(np.asarray(found.errors, dtype=float)) < 1e-10).all()
    off = np.linspace(0.3, -0.5, craft.nv)
    more = residual(equations, x, signals.vdot + off, multipliers)
    expected = gs.mass_matrix(craft, q) @ off
    expected[craft.joint_named(moved).v_at] = off[craft.joint_named(moved).v_at]
    np.testing.assert_allclose(np.asarray(more.balance - found.balance, dtype=float), expected, rtol=1e-9, atol=1e-10)
    if constraints:
        assert np.abs(multipliers).max() > 0.1 and np.abs(np.asarray(more.errors, dtype=float)).max() > 0.01
