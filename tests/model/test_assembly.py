"""Several spacecraft as one: nothing but names and places in q and v may change."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import gyrostat as gs
from gyrostat import constraints as gc
from gyrostat.algebra import Pose
from gyrostat.model.assembly import attach, together, transfer_state
from random_trees import random_spacecraft, random_state


def two(seed=1):
    one = random_spacecraft(seed, links=4, base="free", kinds=("revolute", "spherical", "wheel"))
    other = random_spacecraft(seed + 50, links=3, base="free", kinds=("revolute", "prismatic"))
    return one, other, together("both", [one, other])


def test_together_each_moves_as_alone():
    one, other, both = two()
    assert (both.nq, both.nv) == (one.nq + other.nq, one.nv + other.nv)
    rng = np.random.default_rng(0)
    q, v, tau = [], [], []
    for craft in (one, other):
        qc, vc = random_state(craft, 3)
        q.append(qc), v.append(vc), tau.append(rng.normal(size=craft.nv))
    Q, V = np.zeros(both.nq), np.zeros(both.nv)
    T = np.zeros(both.nv)
    places = {}
    for craft, qc, vc, tc in zip((one, other), q, v, tau, strict=True):
        names = {j.name for j in (other if craft is one else one).joints}
        for joint in craft.joints:
            there = both.joint_named(f"{craft.name}.{joint.name}" if joint.name in names else joint.name)
            Q[there.q_at], V[there.v_at], T[there.v_at] = qc[joint.q_at], vc[joint.v_at], tc[joint.v_at]
            places[craft.name, joint.name] = there.v_at
    vdot = gs.forward_dynamics(both, Q, V, T)
    for craft, qc, vc, tc in zip((one, other), q, v, tau, strict=True):
        alone = gs.forward_dynamics(craft, qc, vc, tc)
        for joint in craft.joints:
            assert (
                np.abs(vdot[places[craft.name, joint.name]] - alone[joint.v_at]).max(initial=0.0)
                < 1e-11 * np.abs(alone).max()
            )
    total = sum(gs.momentum(c, qc, vc) for c, qc, vc in zip((one, other), q, v, strict=True))
    assert np.abs(gs.momentum(both, Q, V) - total).max() < 1e-12 * np.abs(total).max()
    assert gs.total_mass(both) == pytest.approx(gs.total_mass(one) + gs.total_mass(other))


def test_shared_names_get_the_spacecrafts_own():
    one, other, both = two()
    assert both.base == "world" and both.bodies[0].mass == 0.0
    assert {f"{one.name}.base", f"{other.name}.base"} <= {b.name for b in both.bodies}
    with pytest.raises(ValueError, match="spacecraft share a name"):
        together("twice", [one, one])
    with pytest.raises(ValueError, match="has no body or frame 'tol'"):
        attach(one, other, at="tol")


def target():
    body = gs.Body("client", 50.0, (0.1, 0.0, 0.2), (4.0, 5.0, 6.0))
    flap = gs.Body("flap", 2.0, (0.3, 0.0, 0.0), (0.1, 0.2, 0.2), gs.Joint("hinge", "revolute", "client", (0.5, 0, 0)))
    return gs.Spacecraft.build(
        "target",
        [body, flap],
        frames=[gs.Frame("grip", "client", (-0.4, 0.1, 0.0), gs.algebra.rotation([1, 0.2, 0, 0.3]))],
    )


def test_attached_as_one_tree_moves_as_welded():
    """Accelerations of the tree equal those of the two bound by a weld constraint."""
    craft, held = random_spacecraft(2, links=4, base="free", kinds=("revolute", "wheel")), target()
    craft = replace(craft, name="servicer")
    pose = Pose(gs.algebra.rotation([1.0, 0.1, -0.2, 0.4]), np.array([0.05, 0.0, 0.1]))
    tree, pair = attach(craft, held, at="tool", by="grip", pose=pose), together("pair", [craft, held])
    weld = gc.weld("tool", "grip", pose=pose)
    q, v = random_state(tree, 4)
    Q, V = transfer_state(tree, q, v, pair)
    X, J = gs.frame_pose(tree, q, "client"), gs.jacobian(tree, q, "client") @ v
    at = pair.joint("client")
    Q[at.q_at] = np.concatenate([gs.algebra.quat_from_rotation(X.R), X.p])
    V[at.v_at] = np.concatenate([X.R.T @ J[:3], X.R.T @ J[3:]])
    found = gc.residuals(pair, 0.0, Q, V, [weld])
    assert max(np.abs(found.position).max(), np.abs(found.velocity).max()) < 1e-12
    tau = np.random.default_rng(5).normal(size=tree.nv)
    vdot = gs.forward_dynamics(tree, q, v, tau)
    _, T = transfer_state(tree, q, tau, pair)
    bound = gc.constrained_forward_dynamics(pair, 0.0, Q, V, T, [weld], stabilisation=gc.NO_STABILISATION)
    _, back = transfer_state(pair, Q, bound, tree)
    assert np.abs(back - vdot).max() < 1e-10 * np.abs(vdot).max()
    q_back, v_back = transfer_state(pair, Q, V, tree)
    assert (q_back == q).all() and (v_back == v).all()


def test_attach_at_a_frame_off_the_base_is_refused():
    craft, held = random_spacecraft(2, links=3, base="free", kinds=("revolute",)), target()
    moved = gs.Spacecraft.build("target", held.bodies, frames=[gs.Frame("edge", "flap")])
    with pytest.raises(ValueError, match="frame 'edge' is on body 'flap' of target, whose base is 'client'"):
        attach(craft, moved, at="tool", by="edge")
