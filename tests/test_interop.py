"""States of other programs: against the installed ones, and against the equations that their manuals give."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import gyrostat as gs
from gyrostat import interop
from gyrostat.algebra import rotation, skew
from random_trees import random_state

pin = pytest.importorskip("pinocchio")
mujoco = pytest.importorskip("mujoco")

HINGE = gs.Joint("hinge", parent="hull", position=(0.4, -0.1, 0.3), axis=(0.3, 0.8, -0.5))
SLIDE = gs.Joint("slide", "prismatic", parent="hull", position=(-0.3, 0.2, 0.1), axis=(0.1, -0.4, 0.9))
CRAFT = gs.Spacecraft.build(
    "odd",
    [
        gs.Body("hull", 120.0, (0.1, -0.05, 0.02), (20.0, 25.0, 30.0), gs.Joint("base", "free")),
        gs.Body("zulu", 8.0, (0.2, 0.1, -0.3), (0.5, 0.7, 0.6), HINGE),
        gs.Body("alpha", 5.0, (-0.1, 0.0, 0.4), (0.3, 0.2, 0.4), SLIDE),
    ],
)
STATES = [random_state(CRAFT, np.random.default_rng(seed)) for seed in range(5)]
PAIRS = {
    "drake": (interop.to_drake, lambda craft, s: interop.from_drake(craft, *s)),
    "spart": (interop.to_spart, interop.from_spart),
    "spacedyn": (interop.to_spacedyn, interop.from_spacedyn),
    "basilisk": (interop.to_basilisk, interop.from_basilisk),
    "42": (interop.to_42, interop.from_42),
}


def same(found, wanted):
    (q, v), (q0, v0) = found, wanted
    assert np.abs(gs.configuration_difference(CRAFT, q0, q)).max() < 1e-13
    np.testing.assert_allclose(v, v0, atol=1e-13)


@pytest.mark.parametrize("name", PAIRS)
def test_there_and_back(name):
    there, back = PAIRS[name]
    for q, v in STATES:
        same(back(CRAFT, there(CRAFT, q, v)), (q, v))


def test_a_pinocchio_model_of_the_file_has_the_same_energy_and_poses(tmp_path):
    """Its joints are sorted by name: 'slide' (of alpha) and 'hinge' (of zulu) change places."""
    gs.save(CRAFT, tmp_path / "odd.urdf")
    model = pin.buildModelFromUrdf(str(tmp_path / "odd.urdf"), pin.JointModelFreeFlyer())
    data = model.createData()
    for q, v in STATES:
        q_pin, v_pin = interop.to_pinocchio(CRAFT, model, q, v)
        assert pin.computeKineticEnergy(model, data, q_pin, v_pin) == pytest.approx(
            gs.kinetic_energy(CRAFT, q, v), rel=1e-12
        )
        pin.framesForwardKinematics(model, data, q_pin)
        tip = data.oMf[model.getFrameId("alpha")]
        np.testing.assert_allclose(tip.translation, gs.frame_pose(CRAFT, q, "alpha").p, atol=1e-13)
        same(interop.from_pinocchio(CRAFT, model, q_pin, v_pin), (q, v))


def test_a_mujoco_model_of_the_file_has_the_same_energy_and_poses(tmp_path):
    gs.save(CRAFT, tmp_path / "odd.xml")
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "odd.xml"))
    model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    data = mujoco.MjData(model)
    for q, v in STATES:
        data.qpos, data.qvel = interop.to_mujoco(CRAFT, model, q, v)
        mujoco.mj_forward(model, data)
        assert data.energy[1] == pytest.approx(gs.kinetic_energy(CRAFT, q, v), rel=1e-12)
        np.testing.assert_allclose(data.body("alpha").xpos, gs.frame_pose(CRAFT, q, "alpha").p, atol=1e-13)
        same(interop.from_mujoco(CRAFT, model, data.qpos, data.qvel), (q, v))


@pytest.mark.parametrize(("q", "v"), STATES)
def test_drake_twists_of_the_base_are_in_world_axes(q, v):
    """As the Jacobian of the base's origin in N says."""
    found = interop.to_drake(CRAFT, q, v)
    np.testing.assert_allclose(found.velocities[:6], gs.jacobian(CRAFT, q, "hull") @ v, atol=1e-13)


@pytest.mark.parametrize(("q", "v"), STATES)
def test_basilisk_kinematics_of_sigma(q, v):
    """[BN] = 1 + (8 s^2 - 4 (1 - |s|^2) s) / (1 + |s|^2)^2 with s = [sigma x], and sigma' = B(sigma) omega / 4."""
    found = interop.to_basilisk(CRAFT, q, v)
    sigma, s = found.sigma_BN, skew(found.sigma_BN)
    square = sigma @ sigma
    BN = np.eye(3) + (8 * s @ s - 4 * (1 - square) * s) / (1 + square) ** 2
    np.testing.assert_allclose(BN, rotation(q[:4]).T, atol=1e-13)
    B = (1 - square) * np.eye(3) + 2 * s + 2 * np.outer(sigma, sigma)
    h = 1e-6
    ahead, behind = (
        interop.to_basilisk(CRAFT, gs.step_configuration(CRAFT, q, k * h * v), v).sigma_BN for k in (1, -1)
    )
    if abs(np.linalg.norm(sigma) - 1) > 1e-3:  # where the shorter way changes
        np.testing.assert_allclose((ahead - behind) / (2 * h), B @ found.omega_BN_B / 4, atol=1e-7)


@pytest.mark.parametrize(("q", "v"), STATES)
def test_quaternions_of_42_give_its_direction_cosines(q, v):
    """CN = (2 w^2 - 1) 1 + 2 x x^T - 2 w [x], from N to B."""
    found = interop.to_42(CRAFT, q, v)
    x, w = found.qn[:3], found.qn[3]
    CN = (2 * w * w - 1) * np.eye(3) + 2 * np.outer(x, x) - 2 * w * skew(x)
    np.testing.assert_allclose(CN, rotation(q[:4]).T, atol=1e-13)


@pytest.mark.parametrize(("q", "v"), STATES)
def test_42_measures_from_centre_of_mass_to_centre_of_mass(q, v):
    """PosR + pn is body 0's centre of mass; of all bodies sum m pn = 0; pn moves with vn, PosR with VelR."""
    found, c = interop.to_42(CRAFT, q, v), CRAFT.bodies[0].com
    np.testing.assert_allclose(found.PosR + found.pn, q[4:7] + rotation(q[:4]) @ c, atol=1e-13)
    poses = {body.name: gs.frame_pose(CRAFT, q, body.name) for body in CRAFT.bodies[1:]}
    others = [poses[b.name].p + poses[b.name].R @ b.com - found.PosR for b in CRAFT.bodies[1:]]
    np.testing.assert_allclose(120.0 * found.pn + 8.0 * others[0] + 5.0 * others[1], 0.0, atol=1e-11)
    h = 1e-6
    ahead, behind = (interop.to_42(CRAFT, gs.step_configuration(CRAFT, q, k * h * v), v) for k in (1, -1))
    np.testing.assert_allclose((ahead.pn - behind.pn) / (2 * h), found.vn, atol=1e-8)
    np.testing.assert_allclose((ahead.PosR - behind.PosR) / (2 * h), found.VelR, atol=1e-8)


@pytest.mark.parametrize(("q", "v"), STATES)
def test_spart_and_spacedyn_move_the_centre_of_mass_of_the_base(q, v):
    """d/dt r0 is what they say; the base alone has the energy 1/2 m v0^2 + 1/2 w0 . I w0 about its centre of mass."""
    spart, there = interop.to_spart(CRAFT, q, v), interop.to_spacedyn(CRAFT, q, v)
    h = 1e-6
    ahead, behind = (interop.to_spart(CRAFT, gs.step_configuration(CRAFT, q, k * h * v), v) for k in (1, -1))
    np.testing.assert_allclose((ahead.r0 - behind.r0) / (2 * h), spart.u0[3:], atol=1e-8)
    np.testing.assert_allclose((ahead.R0 - behind.R0) / (2 * h), skew(there.w0) @ there.A0, atol=1e-8)
    alone = gs.Spacecraft.build("hull", CRAFT.bodies[:1])
    inertia = there.A0 @ np.diag([20.0, 25.0, 30.0]) @ there.A0.T
    energy = 60.0 * there.v0 @ there.v0 + 0.5 * there.w0 @ inertia @ there.w0
    assert energy == pytest.approx(gs.kinetic_energy(alone, q[:7], v[:6]), rel=1e-12)


def test_other_bases_and_several_members_are_refused():
    held = gs.Spacecraft.build("held", [gs.Body("b", 1.0, inertia=(1, 1, 1), joint=gs.Joint("b", "fixed"))])
    with pytest.raises(ValueError, match="held has a fixed base; expected one spacecraft on a free base"):
        interop.to_spart(held, np.zeros(0), np.zeros(0))


# ---- the dictionaries: what they call by name is there

PAGES = Path(__file__).resolve().parents[1] / "docs" / "from-elsewhere"


def their_names(page):
    """The words of the second column of the table "What is called what"."""
    table = (PAGES / page).read_text(encoding="utf-8").split("## What is called what")[1]
    cells = [line.split("|")[2] for line in table.splitlines() if line.startswith("| `")]
    return [name for cell in cells for name in re.findall(r"`([\w.]+)`", cell)]


def known(name, *places):
    """As an attribute of one of the places, however deep."""
    for place in places:
        found = place
        for part in name.split("."):
            found = getattr(found, part, None)
        if found is not None:
            return True
    return False


def test_names_of_pinocchio_exist():
    names = their_names("pinocchio.md")
    assert len(names) > 15 and [n for n in names if not known(n, pin, pin.ReferenceFrame) and n != "casadi"] == []


def test_names_of_mujoco_exist():
    names = their_names("mujoco.md")
    import mujoco.rollout

    inside = {"equality", "actuator"}  # elements of MJCF
    missing = [n for n in names if not known(n, mujoco, mujoco.MjData, mujoco.MjModel) and n not in inside]
    assert len(names) > 12 and [n for n in missing if n != "mujoco.rollout"] == []
