"""Every published URDF: against Pinocchio and MuJoCo built from our model, and against Pinocchio's own reading of the file."""

from __future__ import annotations

from functools import cache

import numpy as np
import pinocchio as pin
import pytest

import gyrostat as gs
import peer_checks as check
from gyrostat.io import load
from peers import swapped
from shared_files import shared, shared_models

FILES = shared_models("models/**/*.urdf")


@cache
def case(path: str) -> check.Case:
    return check.make_case(load(shared(path)), 7)


@pytest.mark.parametrize("path", FILES)
def test_every_algorithm_agrees_with_the_peers(path):
    c = case(path)
    assert c.mujoco is not None
    check.check_kinematics(c)
    check.check_dynamics(c)
    check.check_momentum(c)
    check.check_reactions(c)
    check.check_forward_dynamics(c)
    check.check_hybrid_dynamics(c, 7)


@cache
def read_by_pinocchio(path: str) -> pin.Model:
    model = pin.buildModelFromUrdf(str(shared(path)), pin.JointModelFreeFlyer())
    model.gravity.setZero()
    return model


def in_their_order(path: str) -> tuple[pin.Model, pin.Data, np.ndarray, np.ndarray]:
    """Pinocchio's model, its q, and the place of each of our rates in its v; joints matched by name."""
    c, model = case(path), read_by_pinocchio(path)
    q, to = pin.neutral(model), np.zeros(c.craft.nv, dtype=int)
    quat, p = c.q[:4] / np.linalg.norm(c.q[:4]), c.q[4:7]
    q[:7] = np.concatenate([p, quat[1:], quat[:1]])
    to[:6] = [3, 4, 5, 0, 1, 2]
    for joint in c.craft.joints[1:]:
        theirs = model.joints[model.getJointId(joint.name)]
        assert (theirs.nq, theirs.nv) == (joint.nq, joint.nv) == (1, 1)
        q[theirs.idx_q] = c.q[joint.q_at][0]
        to[joint.v_at] = theirs.idx_v
    assert model.nv == c.craft.nv
    return model, model.createData(), q, to


@pytest.mark.parametrize("path", FILES)
def test_pinocchio_reads_the_same_spacecraft(path):
    c = case(path)
    model, data, q, to = in_their_order(path)
    v, vdot = np.zeros(model.nv), np.zeros(model.nv)
    v[to], vdot[to] = c.v, c.vdot
    upper = np.triu(pin.crba(model, data, q))
    check.close(gs.mass_matrix(c.craft, c.q), (upper + np.triu(upper, 1).T)[np.ix_(to, to)], "mass matrix")
    check.close(gs.bias_force(c.craft, c.q, c.v), pin.nonLinearEffects(model, data, q, v)[to], "bias force")
    check.close(
        gs.inverse_dynamics(c.craft, c.q, c.v, c.vdot), pin.rnea(model, data, q, v, vdot)[to], "inverse dynamics"
    )
    check.close(gs.center_of_mass(c.craft, c.q), pin.centerOfMass(model, data, q), "centre of mass")
    check.close(gs.total_mass(c.craft), pin.computeTotalMass(model), "mass")
    tau = np.zeros(model.nv)
    tau[to] = c.tau
    tolerance = max(1e-12, 1e-15 * np.linalg.cond(gs.mass_matrix(c.craft, c.q)))
    vdot = gs.forward_dynamics(c.craft, c.q, c.v, c.tau)
    check.close(vdot, pin.aba(model, data, q, v, tau)[to], "forward dynamics", tolerance)


@pytest.mark.parametrize("path", FILES)
def test_every_link_of_the_file_is_a_frame_where_pinocchio_puts_it(path):
    """Links merged by fixed joints stay addressable: poses and Jacobians of all links."""
    c = case(path)
    model, data, q, to = in_their_order(path)
    pin.framesForwardKinematics(model, data, q)
    links = [frame for frame in model.frames if frame.type == pin.FrameType.BODY]
    assert links
    for link in links:
        at, X = model.getFrameId(link.name, pin.FrameType.BODY), gs.frame_pose(c.craft, c.q, link.name)
        check.close(X.R, data.oMf[at].rotation, link.name)
        assert np.abs(X.p - data.oMf[at].translation).max() <= 1e-12 * max(1.0, np.abs(X.p).max()), link.name
        J = swapped(pin.computeFrameJacobian(model, data, q, at, pin.LOCAL_WORLD_ALIGNED))[:, to]
        check.close(gs.jacobian(c.craft, c.q, link.name), J, link.name)


def test_astrobee_keeps_all_of_its_mass():
    assert gs.total_mass(case("models/pyastrobee/astrobee.urdf").craft) == pytest.approx(9.58, abs=0.005)
