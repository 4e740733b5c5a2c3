"""What a Trajectory derives from its states, against the NumPy functions;
its audit, against an independent computation.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import trapezoid

import gyrostat as gs
from gyrostat.algebra import rotation
from random_trees import random_spacecraft, random_state


@pytest.fixture(scope="module")
def traj():
    craft = random_spacecraft(22, links=5, base="free", kinds=("revolute", "prismatic", "spherical", "wheel"))
    q, v = random_state(craft, 22, speed=0.3)

    def law(craft, t, q, v):
        return np.concatenate([[0.1, 0.0, 0.2, 0.3, -0.1, 0.0], -0.4 * v[6:]])

    def wind(craft, t, q, v):
        return np.array([np.full(6, 0.05 * (k + 1)) for k in range(craft.nbodies)])

    return gs.simulate(
        craft, q, v, (0, 2), control=law, environment=wind, rtol=1e-11, atol=1e-13, save_at=np.linspace(0, 2, 9)
    )


def test_derived_quantities_are_those_of_the_functions(traj):
    craft = traj.craft
    poses, momentum, energy, com = traj.poses(), traj.momentum(), traj.kinetic_energy(), traj.center_of_mass()
    about_com, about_base = traj.momentum("com"), traj.momentum("base")
    R_tool, p_tool = traj.frame("tool")
    twist, reactions = traj.twist("tool", (0.1, 0.0, 0.2)), traj.reaction_wrenches()
    assert reactions.dims == ("time", "body", "wrench") and reactions.attrs["units"] == "N m, N"
    np.testing.assert_array_equal(reactions.coords["time"], traj.time)
    assert list(reactions.coords["body"].values) == [body.name for body in craft.bodies]
    for k in range(len(traj.time)):
        q, v = traj.q[k], traj.v[k]
        own = gs.forward_kinematics(craft, q)
        np.testing.assert_allclose(poses.R_NB[k], own.R_NB, atol=1e-13)
        np.testing.assert_allclose(poses.p_NB[k], own.p_NB, atol=1e-13)
        np.testing.assert_allclose(momentum[k], gs.momentum(craft, q, v), atol=1e-12)
        np.testing.assert_allclose(
            about_com[k], gs.momentum(craft, q, v, about=gs.center_of_mass(craft, q)), atol=1e-12
        )
        np.testing.assert_allclose(about_base[k], gs.momentum(craft, q, v, about=q[4:7]), atol=1e-12)
        np.testing.assert_allclose(energy[k], gs.kinetic_energy(craft, q, v), rtol=1e-13)
        np.testing.assert_allclose(com[k], gs.center_of_mass(craft, q), atol=1e-13)
        pose = gs.frame_pose(craft, q, "tool")
        np.testing.assert_allclose(R_tool[k], pose.R, atol=1e-13)
        np.testing.assert_allclose(p_tool[k], pose.p, atol=1e-13)
        np.testing.assert_allclose(twist[k], gs.jacobian(craft, q, "tool", (0.1, 0.0, 0.2)) @ v, atol=1e-12)
        wrenches = np.array([np.full(6, 0.05 * (i + 1)) for i in range(craft.nbodies)])
        tau = np.concatenate([[0.1, 0.0, 0.2, 0.3, -0.1, 0.0], -0.4 * v[6:]])
        vdot = gs.forward_dynamics(craft, q, v, tau, wrenches=wrenches)
        np.testing.assert_allclose(traj.tau[k], tau, atol=1e-13)
        np.testing.assert_allclose(traj.vdot[k], vdot, atol=1e-11)
        np.testing.assert_allclose(traj.signals["wrenches"].values[k], wrenches)
        expected = gs.reaction_wrenches(craft, q, v, vdot, wrenches=wrenches)
        np.testing.assert_allclose(reactions.values[k], expected, atol=1e-10)
    np.testing.assert_allclose(
        traj.momentum((1.0, 2.0, 3.0))[0], gs.momentum(craft, traj.q[0], traj.v[0], about=(1.0, 2.0, 3.0))
    )
    with pytest.raises(ValueError, match="momentum about 'comm'"):
        traj.momentum("comm")


def test_a_joint_and_its_names(traj):
    joint = next(j for j in traj.craft.joints if j.kind == "spherical")
    own = traj.joint(joint.name)
    np.testing.assert_array_equal(own["q"].values, traj.q[:, joint.q_at])
    np.testing.assert_array_equal(own["tau"].values, traj.tau[:, joint.v_at])
    assert [str(n) for n in own["v_name"].values] == [f"{joint.name} {a}" for a in ("wx", "wy", "wz")]
    assert str(traj.data["q_name"].values[0]) == "base_joint qw" and str(traj.data["q_units"].values[4]) == "m"
    with pytest.raises(ValueError, match="has no joint 'jiont_1'. "):
        traj.joint("jiont_1")


def test_the_audit_is_what_an_independent_sum_over_bodies_gives():
    """A run whose drift is large enough to be measured: coarse steps of RK4, with loads from outside and inside."""
    craft = random_spacecraft(33, links=3, base="free", kinds=("revolute", "spherical"), rotors=False)
    q, v = random_state(craft, 33, speed=0.8)

    def law(craft, t, q, v):
        return np.concatenate([[0.0, 0.0, 0.0, 1.0, 0.0, 0.0], -0.1 * v[6:]])

    traj = gs.simulate(craft, q, v, (0, 3), control=law, integrator="rk4", step=0.1)
    t, rows = traj.time, []
    assert len(t) == traj.state.steps[0] + 1  # every step is saved
    for q, v in zip(traj.q, traj.v, strict=True):  # momenta and energies from velocities of centres of mass
        poses, parts = gs.forward_kinematics(craft, q), []
        com = gs.center_of_mass(craft, q)
        for i, body in enumerate(craft.bodies):
            R, place = poses.R_NB[i], poses.p_NB[i]
            w, velocity = np.split(gs.jacobian(craft, q, body.name, body.com) @ v, 2)
            arm, spin = place + R @ body.com - com, R @ body.inertia @ R.T @ w
            energy = 0.5 * body.mass * velocity @ velocity + 0.5 * w @ spin
            p, inertia = body.mass * velocity, body.mass * arm @ arm + np.trace(body.inertia)
            parts.append(np.r_[spin + np.cross(arm, p), p, energy, body.mass, inertia])
        rows.append(parts)
    rows = np.array(rows)
    L, P, E, mass, inertia = np.split(rows, [3, 6, 7, 8], axis=2)
    L, P, T, E = L.sum(axis=1), P.sum(axis=1), E[..., 0].max(axis=0), E[..., 0].sum(axis=1)
    impulse, work = traj.data["impulse"].values, traj.data["work"].values
    force = np.array([rotation(q[:4]) @ [1.0, 0.0, 0.0] for q in traj.q])
    np.testing.assert_allclose(impulse[-1, 3:], trapezoid(force, t, axis=0), atol=1e-2)  # roughly what acted
    power = [0.0 + (law(craft, 0, q, v) @ v) for q, v in zip(traj.q, traj.v, strict=True)]
    np.testing.assert_allclose(work[-1], trapezoid(power, t), atol=1e-2)
    p_size = np.sqrt(2 * T * mass[0, :, 0]).sum() + np.linalg.norm(impulse[:, 3:], axis=1).max()
    l_size = np.sqrt(2 * T * inertia[..., 0].max(axis=0)).sum() + np.linalg.norm(impulse[:, :3], axis=1).max()
    linear = np.linalg.norm(np.abs(P - P[0] - impulse[:, 3:]).max(axis=0)) / p_size
    angular = np.linalg.norm(np.abs(L - L[0] - impulse[:, :3]).max(axis=0)) / l_size
    energy = np.abs(E - E[0] - work).max() / (E + np.abs(work)).max()
    audit = traj.audit
    rows = replace(traj, data=traj.data.drop_vars(["audited", "audited_name"])).audit  # from what was saved
    np.testing.assert_allclose([rows.linear, rows.angular, rows.energy], [linear, angular, energy], rtol=1e-6)
    for seen, whole in ((audit.linear, linear), (audit.angular, angular), (audit.energy, energy)):
        assert 0.3 * whole < seen < 1.01 * whole  # at every few steps
    assert audit.worst > 1e-9 and audit.work == pytest.approx(np.abs(work).max())
    assert str(audit).startswith("audit: linear momentum") and str(audit) in str(traj)


@pytest.mark.parametrize("base", ["fixed", "spherical", "planar"])
def test_the_audit_closes_on_bases_that_are_held(base):
    """Momentum changes by what the base's joint transmits, and by the environment."""
    craft = random_spacecraft(5, links=3, base=base)
    q, v = random_state(craft, 5, speed=0.5)
    traj = gs.simulate(
        craft, q, v, (0, 2), environment=gs.environment.uniform_gravity([0.1, -0.2, 0.3]), rtol=1e-12, atol=1e-14
    )
    assert traj.audit.worst < 1e-10 and max(traj.audit.impulse) > 0.1 and traj.audit.potential < 1e-10


def test_words(traj):
    assert str(traj).splitlines()[0].startswith("tree_22: one run, 0 to 2 s at 9 times, dop853, ")
    assert repr(traj).startswith("Trajectory(craft=")
