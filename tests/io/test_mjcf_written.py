"""Spacecraft written as MJCF: MuJoCo's own reading of the file has the same dynamics, and so has ours."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pytest

import gyrostat as gs
from gyrostat.verification.peers.mujoco import MuJoCo
from random_trees import random_spacecraft, random_state


def without_velocity_limits(craft):
    bodies = [replace(b, joint=replace(b.joint, limits=replace(b.joint.limits, velocity=np.inf))) for b in craft.bodies]
    return gs.Spacecraft.build(craft.name, bodies, frames=craft.frames)


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-11 * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("seed", range(20))
def test_mujoco_reads_twenty_craft_of_every_joint_kind(seed, tmp_path):
    craft = without_velocity_limits(random_spacecraft(seed, links=5))
    try:
        path = gs.save(craft, tmp_path / "craft.xml")
    except gs.ModelError as error:
        assert MuJoCo.lacks(craft) is not None and "MJCF cannot express" in str(error)
        return
    peer = MuJoCo(craft, model=mujoco.MjModel.from_xml_path(str(path)))
    q, v = random_state(craft, seed)
    vdot = np.random.default_rng(seed).normal(size=craft.nv)
    close(peer.mass_matrix(q), gs.mass_matrix(craft, q))
    close(peer.inverse_dynamics(q, v, vdot), gs.inverse_dynamics(craft, q, v, vdot))
    for frame in craft.frames:
        peer.set_state(q)
        site = peer.data.site(frame.name)
        close(site.xpos, gs.frame_pose(craft, q, frame.name).p)
        close(site.xmat.reshape(3, 3), gs.frame_pose(craft, q, frame.name).R)


def test_a_bundled_craft_comes_back_from_our_own_reader(tmp_path):
    craft = without_velocity_limits(gs.load("servicer"))
    back = gs.load(gs.save(craft, tmp_path / "craft.xml"))
    assert [b.name for b in back.bodies] == [b.name for b in craft.bodies] and back.roles == craft.roles
    q, v = random_state(craft, 3)
    tau = np.random.default_rng(0).normal(size=craft.nv)
    close(gs.forward_dynamics(back, q, v, tau), gs.forward_dynamics(craft, q, v, tau))
    for mine, its in zip(craft.joints, back.joints, strict=True):
        for limit in ("lower", "upper", "effort"):
            assert getattr(mine.limits, limit) == getattr(its.limits, limit) or mine.motion.unbound, (mine.name, limit)


def sprung(**changes):
    hull = gs.Body("hull", 20.0, inertia=(1.0, 1.2, 1.4), joint=gs.Joint("hull", "free"))
    joint = gs.Joint("hinge", parent="hull", **changes)
    return gs.Spacecraft.build("craft", [hull, gs.Body("arm", 2.0, inertia=(0.1, 0.1, 0.1), joint=joint)])


def test_springs_dampers_friction_and_passive_joints_are_kept(tmp_path):
    craft = sprung(stiffness=3.0, rest=0.4, damping=0.2, friction=0.1, rotor_inertia=0.05, gear_ratio=3.0)
    back = gs.load(gs.save(craft, tmp_path / "craft.xml"))
    mine, its = craft.body("arm").joint, back.body("arm").joint
    assert (its.stiffness, its.rest, its.damping, its.friction) == (3.0, 0.4, 0.2, 0.1)
    assert its.armature == pytest.approx(mine.armature) and back.roles == craft.roles


@pytest.mark.parametrize("driven", [True, False])
def test_limits_come_back_whoever_drives_the_joint(driven, tmp_path):
    craft = sprung(limits=gs.Limits(lower=-0.5, effort=2.0), driven=driven)
    limits = gs.load(gs.save(craft, tmp_path / "craft.xml")).body("arm").joint.limits
    assert (limits.lower, limits.upper, limits.effort) == (-0.5, np.inf, 2.0)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"kind": "spherical", "stiffness": 2.0}, "the spring of a spherical joint"),
        ({"limits": gs.Limits(velocity=1.0)}, "a limit of velocity"),
        ({"kind": "universal", "limits": gs.Limits(-1.0, 1.0)}, "the range of a universal joint"),
        ({"kind": "spherical", "limits": gs.Limits(effort=2.0)}, "a limit of effort of a spherical joint"),
    ],
)
def test_what_mjcf_cannot_say_is_refused_by_name(changes, words, tmp_path):
    with pytest.raises(gs.ModelError, match=words):
        gs.save(sprung(**changes), tmp_path / "craft.xml")
    assert not list(tmp_path.iterdir())
