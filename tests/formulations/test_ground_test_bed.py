"""The equivalent manipulator for the ground, on gimbals: same motion, and through a URDF file and back."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.formulations.lie_lagrange.equivalent_manipulator import equivalent_manipulator
from gyrostat.formulations.lie_lagrange.paper.ground_test_bed import ground_test_bed, state_on_test_bed
from gyrostat.io.loading import load
from gyrostat.io.saving import save
from lie_crafts import chain
from random_trees import random_state

KINDS = ["revolute", "prismatic", "revolute"]


@pytest.fixture(scope="module")
def craft():
    return chain(4, KINDS, rotors=False)


def test_gimbals_move_as_the_ball_joint_does(craft):
    """Kinetic energy, tool pose and joint accelerations are those of the craft about its centre of mass."""
    bed = ground_test_bed(craft)
    q, v = random_state(craft, 1)
    on_bed = state_on_test_bed(craft, q, v)
    tool, tip = gs.frame_pose(craft, q, "tool"), gs.frame_pose(bed, on_bed.q, "tool")
    np.testing.assert_allclose(tip.p, tool.p - gs.center_of_mass(craft, q), atol=1e-13)
    np.testing.assert_allclose(tip.R, tool.R, atol=1e-13)
    v_cm = gs.momentum(craft, q, v)[3:] / gs.total_mass(craft)
    energy = gs.kinetic_energy(craft, q, v) - 0.5 * gs.total_mass(craft) * v_cm @ v_cm
    assert gs.kinetic_energy(bed, on_bed.q, on_bed.v) == pytest.approx(energy, rel=1e-12)
    tau = np.zeros(craft.nv)
    tau[6:] = [1.0, -2.0, 0.5]
    stroke = on_bed.v[4] / v[7]
    found = gs.forward_dynamics(bed, on_bed.q, on_bed.v, np.concatenate([np.zeros(3), tau[6:] / [1, stroke, 1]]))
    np.testing.assert_allclose(found[3:], gs.forward_dynamics(craft, q, v, tau)[6:] * [1, stroke, 1], rtol=1e-10)


def test_through_urdf_and_back(craft, tmp_path):
    bed = ground_test_bed(craft)
    path = save(bed, tmp_path / "test_bed.urdf")
    back = load(path, base="fixed")
    on_bed = state_on_test_bed(craft, *random_state(craft, 2))
    np.testing.assert_allclose(gs.mass_matrix(back, on_bed.q), gs.mass_matrix(bed, on_bed.q), rtol=1e-13, atol=1e-13)
    pin = pytest.importorskip("pinocchio")
    model = pin.buildModelFromUrdf(str(path))  # what other people's tools read: the root is the ground
    angles = [
        [np.cos(x), np.sin(x)] if joint.nq == 2 else [x] for joint, x in zip(model.joints[1:], on_bed.q, strict=True)
    ]
    M = np.triu(pin.crba(model, model.createData(), np.concatenate(angles)))
    np.testing.assert_allclose(M, np.triu(gs.mass_matrix(bed, on_bed.q)), rtol=1e-12, atol=1e-12)


def test_what_urdf_cannot_say_is_refused_by_name(tmp_path):
    geared = ground_test_bed(chain(4, KINDS, rotors=True))
    with pytest.raises(gs.ModelError, match="rotor"):
        save(geared, tmp_path / "x.urdf")
    with pytest.raises(gs.ModelError, match="spherical"):
        save(equivalent_manipulator(chain(4, KINDS, rotors=False)), tmp_path / "x.urdf")
