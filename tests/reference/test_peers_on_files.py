"""Every published URDF: against Pinocchio and MuJoCo built from our model,
and against Pinocchio's own reading of the file.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pinocchio as pin
import pytest

import gyrostat as gs
import peer_checks as check
from gyrostat.io import load
from gyrostat.verification.peers.pinocchio import Pinocchio
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
def read_by_pinocchio(path: str) -> Pinocchio:
    """Pinocchio's own reading of the file; joints matched by name."""
    return Pinocchio(case(path).craft, model=pin.buildModelFromUrdf(str(shared(path)), pin.JointModelFreeFlyer()))


@pytest.mark.parametrize("path", FILES)
def test_pinocchio_reads_the_same_spacecraft(path):
    c, peer = case(path), read_by_pinocchio(path)
    check.close(gs.mass_matrix(c.craft, c.q), peer.mass_matrix(c.q), "mass matrix")
    check.close(gs.bias_force(c.craft, c.q, c.v), peer.bias_force(c.q, c.v), "bias force")
    tau = gs.inverse_dynamics(c.craft, c.q, c.v, c.vdot)
    check.close(tau, peer.inverse_dynamics(c.q, c.v, c.vdot), "inverse dynamics")
    check.close(gs.center_of_mass(c.craft, c.q), peer.center_of_mass(c.q), "centre of mass")
    check.close(gs.total_mass(c.craft), pin.computeTotalMass(peer.model), "mass")
    tolerance = max(1e-12, 1e-15 * np.linalg.cond(gs.mass_matrix(c.craft, c.q)))
    vdot = gs.forward_dynamics(c.craft, c.q, c.v, c.tau)
    check.close(vdot, peer.forward_dynamics(c.q, c.v, c.tau), "forward dynamics", tolerance)


@pytest.mark.parametrize("path", FILES)
def test_every_link_of_the_file_is_a_frame_where_pinocchio_puts_it(path):
    """Links merged by fixed joints stay addressable: poses and Jacobians of all links."""
    c, peer = case(path), read_by_pinocchio(path)
    model, data = peer.model, peer.data
    pin.framesForwardKinematics(model, data, peer.q(c.q))
    links = [frame for frame in model.frames if frame.type == pin.FrameType.BODY]
    assert links
    for link in links:
        at, X = model.getFrameId(link.name, pin.FrameType.BODY), gs.frame_pose(c.craft, c.q, link.name)
        check.close(X.R, data.oMf[at].rotation, link.name)
        assert np.abs(X.p - data.oMf[at].translation).max() <= 1e-12 * max(1.0, np.abs(X.p).max()), link.name
        check.close(gs.jacobian(c.craft, c.q, link.name), peer.frame_jacobian(c.q, at), link.name)


def test_astrobee_keeps_all_of_its_mass():
    assert gs.total_mass(case("models/pyastrobee/astrobee.urdf").craft) == pytest.approx(9.58, abs=0.005)
