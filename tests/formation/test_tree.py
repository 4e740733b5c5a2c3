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
from gyrostat.view.planet_scene import hemisphere, sun_directions
from gyrostat.view.scene import film
from gyrostat.view.viewpoint import seen_from, viewpoint

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
    assert "<title>approach</title>" in page and "seen from target, Hill axes" in page
    assert "Earth, to scale; no date is given" in page
    assert len(page) > 100_000


@pytest.mark.parametrize("speed", [0.0, -1.0, float("nan")])
def test_a_scene_needs_a_positive_speed(run, tmp_path, speed):
    with pytest.raises(ValueError, match=f"speed is {speed}; expected a positive number"):
        run.to_html(tmp_path / "scene.html", speed=speed)
    assert not (tmp_path / "scene.html").exists()


def seen(tree, **options):
    """Frames of a scene, and from where they are seen."""
    shown = film(tree, 1.0)
    view = viewpoint(tree, shown.rows, 0, options.get("about"), options.get("axes"))
    return seen_from(shown, view), view


def test_about_the_chief_in_its_hill_axes(run):
    """The target is at the origin, the tug where `hill` says, whatever the reference orbit does."""
    tree = run.tree("target")
    shown, view = seen(tree)
    at = tree.craft.index("tug/hull")
    np.testing.assert_allclose(shown.p_NB[:, 0], 0.0, atol=1e-12)
    np.testing.assert_allclose(shown.p_NB[:, at], run.hill("tug", about="target")[0], atol=1e-6)
    r, v = run.absolute("target")
    R_NH = hill_frame(r[-1], v[-1]).R_NH
    np.testing.assert_allclose(shown.R_NB[-1, at], R_NH.T @ rotation(run.member("tug").q[-1, :4]), atol=1e-9)
    np.testing.assert_allclose(view.R_NA[-1].T @ view.r_N[-1], [np.linalg.norm(r[-1]), 0.0, 0.0], atol=1e-6)


def test_about_any_body_and_in_its_own_axes(run):
    tree = run.tree("target")
    shown, _ = seen(tree, about="tug", axes="body")
    at, arm = tree.craft.index("tug/hull"), tree.craft.index("tug/lower")
    np.testing.assert_allclose(shown.p_NB[:, at], 0.0, atol=1e-12)
    np.testing.assert_allclose(shown.R_NB[:, at], np.broadcast_to(np.eye(3), (31, 3, 3)), atol=1e-12)
    np.testing.assert_allclose(shown.p_NB[:, 0], run.relative("target", to="tug").position, atol=1e-9)
    elbow, _ = seen(tree, about="tug/lower", axes="inertial")
    np.testing.assert_allclose(elbow.p_NB[:, arm], 0.0, atol=1e-12)
    orbit, view = seen(tree, about="orbit")
    np.testing.assert_allclose(orbit.p_NB[:, at], run.hill("tug")[0], atol=1e-9)
    np.testing.assert_allclose(view.r_N, [ORBIT.state(float(t)).r for t in run.time], atol=1e-6)


@pytest.mark.parametrize(
    "options, words",
    [
        ({"about": "tugg"}, "about 'tugg' is no body, frame or member here. Did you mean 'tug'"),
        ({"axes": "hil"}, "axes 'hil' are not known. Did you mean 'hill'"),
        ({"about": "orbit", "axes": "body"}, "axes='body': whose"),
        ({"sun": (0.0, 0.0, 0.0)}, "expected the date of t = 0"),
    ],
)
def test_what_cannot_be_seen_is_refused(run, tmp_path, options, words):
    with pytest.raises(ValueError, match=words):
        run.to_html(tmp_path / "scene.html", **options)


def test_the_sun_stands_where_the_date_says():
    """At the March equinox it is at the origin of right ascension; in June at the solstice a quarter turn on."""
    march, june = sun_directions("2000-03-20T07:35", [0.0])[0], sun_directions("2000-06-21T01:48", [0.0])[0]
    np.testing.assert_allclose(march, [1.0, 0.0, 0.0], atol=2e-3)
    tilt = np.radians(23.44)
    np.testing.assert_allclose(june, [0.0, np.cos(tilt), np.sin(tilt)], atol=2e-3)
    half, faces = hemisphere()
    a, b, c = (half[faces[:, k]] for k in range(3))
    outward = np.einsum("ij,ij->i", a, np.cross(b, c))
    assert (outward >= -1e-12).all() and half[:, 2].min() == 0.0


def test_large_formations_are_not_made_into_trees():
    formation = Formation({"swarm": Group(box(), [f"m{k}" for k in range(60)])})
    with pytest.raises(ValueError, match="a tree of 60 members is too large; 50 at most"):
        simulate(formation, None, (0, 1)).tree()
