"""A formation as one tree: states, loads, audit, files, report, scene."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from formation_crafts import armed, box
from gyrostat.algebra import rotation
from gyrostat.control import CraftReference, JointReference, hill_reference, passivity_tracking
from gyrostat.environment import Orbit, hill_frame, two_body_gravity
from gyrostat.formation import Formation, Group, simulate
from gyrostat.formulations import spatial_forms as forms
from gyrostat.view.formation_scene import in_hill_axes

ORBIT = Orbit.circular(500e3, 0.9)


@pytest.fixture(scope="module")
def run():
    formation = Formation({"target": box(), "tug": armed(), "other": armed()}, orbit=ORBIT)
    state = formation.hill_state({"target": [0.0, 0, 0], "tug": [0.0, -8.0, 0], "other": [5.0, 5.0, 1.0]})
    environment = two_body_gravity(ORBIT)
    still = JointReference(*np.zeros((3, 2)))
    law = passivity_tracking(
        lambda t: CraftReference(hill_reference(ORBIT, t, (0.0, -3.0, 0.0)), still),
        bandwidth=0.1,
        environment=environment,
    )
    return simulate(
        formation, state, (0, 60), environment=environment, control={"tug": law}, save_at=np.linspace(0, 60, 31)
    )


def test_states_are_those_of_the_virtual_tree(run):
    tree = run.tree("target")
    for k in (0, 17, 30):
        own = {name: (run.member(name).q[k], run.member(name).v[k]) for name in run.formation}
        q, v = forms.tree_state(run.formation.crafts, "target", own)
        np.testing.assert_allclose(tree.v[k], v, atol=1e-12)
        here, there = (gs.forward_kinematics(tree.craft, x) for x in (tree.q[k], q))
        np.testing.assert_allclose(here.p_NB, there.p_NB, atol=1e-12)
        np.testing.assert_allclose(here.R_NB, there.R_NB, atol=1e-12)
    assert "other/wheel" in [body.name for body in tree.craft.bodies]


def test_accelerations_and_audit(run):
    """Members' own accelerations, and nothing passes through the virtual joints;
    the whole formation's momentum and energy.
    """
    tree = run.tree()
    shoulder = tree.craft.joint_named("tug/shoulder")
    own = run.groups["tug"]
    np.testing.assert_allclose(
        tree.vdot[:, shoulder.v_at], own.vdot[0][:, own.craft.joint_named("shoulder").v_at], atol=1e-9
    )
    reactions = tree.reaction_wrenches().values
    for name in ("tug/hull", "other/hull"):
        assert np.abs(reactions[:, tree.craft.index(name)]).max() < 1e-10
    assert tree.audit.linear < 1e-9
    assert tree.audit.energy < 1e-9
    total = run.groups["target"].kinetic_energy().sum(axis=0) + own.kinetic_energy().sum(axis=0)
    np.testing.assert_allclose(tree.kinetic_energy(), total, rtol=1e-10)


def test_files_report_and_scene(run, tmp_path):
    tree = run.tree()
    again = gs.Trajectory.load(tree.save(tmp_path / "formation.nc"))
    np.testing.assert_array_equal(again.q, tree.q)
    assert again.audit.linear == pytest.approx(tree.audit.linear, abs=1e-12)
    saved = gs.Trajectory.load(run.groups["tug"].save(tmp_path / "group.nc"))
    assert saved.batched
    page = run.to_html(tmp_path / "scene.html", title="approach").read_text(encoding="utf-8")
    assert "approach (Hill frame)" in page
    assert len(page) > 100_000


@pytest.mark.parametrize("speed", [0.0, -1.0, float("nan")])
def test_a_scene_needs_a_positive_speed(run, tmp_path, speed):
    from gyrostat.view.formation_scene import tree_to_html

    with pytest.raises(ValueError, match=f"speed is {speed}; expected a positive number"):
        tree_to_html(run.tree(), None, tmp_path / "scene.html", speed=speed)
    assert not (tmp_path / "scene.html").exists()


def test_hill_axes(run):
    """In them the target rests at the origin, axes aligned; the tug is where `hill` says."""
    turned = in_hill_axes(run.tree("target"), ORBIT)
    poses = turned.poses()
    at = turned.craft.index("tug/hull")
    np.testing.assert_allclose(poses.p_NB[:, at], run.hill("tug")[0], atol=1e-9)
    np.testing.assert_allclose(poses.R_NB[-1, 0], np.eye(3), atol=1e-4)
    R_NH = hill_frame(*ORBIT.state(60.0)).R_NH
    np.testing.assert_allclose(poses.R_NB[-1, at], R_NH.T @ rotation(run.member("tug").q[-1, :4]), atol=1e-12)


def test_large_formations_are_not_made_into_trees():
    formation = Formation({"swarm": Group(box(), [f"m{k}" for k in range(60)])})
    with pytest.raises(ValueError, match="a tree of 60 members is too large; 50 at most"):
        simulate(formation, None, (0, 1)).tree()
