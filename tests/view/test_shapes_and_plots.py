"""What is drawn for bodies, and what plots hold."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.models import servicer
from gyrostat.view.groups import GROUPS, panels
from gyrostat.view.plots import plot_trajectory
from gyrostat.view.report import report_html
from gyrostat.view.shapes import arrow_mesh, craft_size, primitives
from gyrostat.view.stage import ASPECT, FIELD_OF_VIEW, camera, free_port


def box_inertia(mass, a, b, c):
    return mass / 12 * np.array([b * b + c * c, a * a + c * c, a * a + b * b])


def test_a_body_without_shapes_is_drawn_as_the_box_that_has_its_inertia():
    R = gs.algebra.rotation_about(np.array([1.0, 2.0, 0.5]) / np.sqrt(5.25), 0.7)
    inertia = R @ np.diag(box_inertia(12.0, 1.0, 2.0, 0.5)) @ R.T
    craft = gs.Spacecraft.build("box", [gs.Body("hull", 12.0, (0.1, 0.2, 0.3), inertia)])
    (box,) = primitives(craft)[0]["hull"]
    assert box.kind == "box" and sorted(box.size) == pytest.approx([0.5, 1.0, 2.0])
    np.testing.assert_allclose(box.X_BS.p, (0.1, 0.2, 0.3))
    rebuilt = box.X_BS.R @ np.diag(box_inertia(12.0, *box.size)) @ box.X_BS.R.T
    np.testing.assert_allclose(rebuilt, inertia, atol=1e-12)


def test_links_are_drawn_from_joint_to_joint():
    rod = {"mass": 1.0, "com": (0.5, 0.0, 0.0), "inertia": box_inertia(1.0, 1.0, 0.1, 0.1)}
    bodies = [
        gs.Body("hull", 10.0, inertia=box_inertia(10.0, 1.0, 1.0, 1.0)),
        gs.Body("upper", joint=gs.Joint("shoulder", "revolute", "hull", (0.5, 0.0, 0.0)), **rod),
        gs.Body("lower", joint=gs.Joint("elbow", "revolute", "upper", (1.0, 0.0, 0.0)), **rod),
    ]
    craft = gs.Spacecraft.build("arm", [*bodies, gs.Wheel("wheel", "hull", (0, 0, 1), 0.1)])
    drawn, notes = primitives(craft)
    assert notes == []
    tube = next(s for s in drawn["upper"] if s.kind == "cylinder" and s.size[1] == pytest.approx(1.0))
    np.testing.assert_allclose(tube.corners.min(axis=0)[0], 0.0, atol=1e-12)
    np.testing.assert_allclose(tube.corners.max(axis=0)[0], 1.0, atol=1e-12)
    assert [s.kind for s in drawn["wheel"]] == ["cylinder"]


def test_a_mesh_is_read_and_a_broken_one_is_said(tmp_path):
    """A tetrahedron as STL text, scaled; and a file that is no mesh."""
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=float)
    lines = ["solid t"]
    for face in ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)):
        lines += ["facet normal 0 0 0", "outer loop", *(f"vertex {x} {y} {z}" for x, y, z in corners[list(face)])]
        lines += ["endloop", "endfacet"]
    (tmp_path / "t.stl").write_text("\n".join([*lines, "endsolid t"]))
    (tmp_path / "bad.stl").write_bytes(b"no mesh at all")
    shapes = tuple(gs.Shape("mesh", (2.0, 2.0, 2.0), file=str(tmp_path / name)) for name in ("t.stl", "bad.stl"))
    craft = gs.Spacecraft.build("m", [gs.Body("hull", 1.0, inertia=(1, 1, 1), shapes=shapes)])
    drawn, notes = primitives(craft)
    (mesh,) = drawn["hull"]
    np.testing.assert_allclose(mesh.vertices.max(axis=0), 2.0)
    assert len(notes) == 1 and "body 'hull': mesh 'bad.stl' is not drawn" in notes[0]


def test_the_servicers_looks_are_not_its_dynamics():
    craft = servicer()
    assert craft_size(craft) == pytest.approx(14.0, rel=0.2)
    bare = gs.Spacecraft.build(
        "bare",
        [gs.Body(b.name, b.mass, b.com, b.inertia, b.joint) for b in craft.bodies],
    )
    q = gs.neutral(craft)
    q[7:] = 0.3
    np.testing.assert_array_equal(gs.mass_matrix(craft, q), gs.mass_matrix(bare, q))


def test_an_arrow_is_closed_and_points_along_z():
    vertices, faces = arrow_mesh()
    assert vertices[:, 2].min() == 0.0 and vertices[:, 2].max() == 1.0
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    assert np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6 > 0  # volume: faces look outwards


@pytest.mark.parametrize("aspect", [ASPECT, 0.45])
@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e4])
def test_the_camera_sees_everything_and_little_else(scale, aspect):
    points = scale * np.random.default_rng(3).normal(size=(50, 3)) * (3.0, 1.0, 0.5) + scale * np.array(
        [7.0, -2.0, 1.0]
    )
    position, centre = camera(points, aspect=aspect)
    forward = (centre - position) / np.linalg.norm(centre - position)
    up = np.array([0.0, 0.0, 1.0]) - forward[2] * forward
    up /= np.linalg.norm(up)
    rays = points - position
    edge = (rays @ forward) * np.tan(FIELD_OF_VIEW / 2)
    heights, widths = np.abs(rays @ up) / edge, np.abs(rays @ np.cross(forward, up)) / edge / aspect
    assert max(heights.max(), widths.max()) == pytest.approx(0.9)  # 1 at the picture's edge


def test_a_port_in_use_gives_way_to_the_next():
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert free_port("127.0.0.1", port) > port
    with pytest.raises(ValueError, match="host 'no.such.host.invalid' is not known"):
        free_port("no.such.host.invalid", 8080)
    with pytest.raises(ValueError, match="expected 1 to 65535"):
        free_port("127.0.0.1", 70000)


def test_every_group_of_plots_holds_what_the_run_holds(short_run):
    found = {group: panels(short_run, group) for group in GROUPS}
    (angles, rates) = found["joints"]
    assert angles.labels == tuple(f"joint_{k}" for k in range(1, 7)) and angles.unit == "deg"
    np.testing.assert_allclose(angles.values, np.degrees(short_run.q[:, 7:]))
    np.testing.assert_allclose(rates.values, np.degrees(short_run.v[:, 6:]))
    attitude = found["base"][0]
    angle = np.linalg.norm(attitude.values[-1])
    q = short_run.q
    assert angle == pytest.approx(2 * np.degrees(np.arccos(abs(q[-1, :4] @ q[0, :4]))), rel=1e-9)
    split = found["momentum"][0].values
    np.testing.assert_allclose(split[:, :3] + split[:, 3:], short_run.momentum("com")[:, :3], atol=1e-9)
    energy = found["energy"][0].values
    np.testing.assert_allclose(energy[:, 0], energy[:, 1], atol=1e-8)


def test_plots_of_one_run_of_two_and_of_a_batch(short_run, short_scenario):
    figure = short_run.plot()
    assert len([at for at in figure.axes if at.lines]) == 11
    two = short_run.plot(what="joints", compare=short_run, names=("a", "b"))
    assert len(two.axes[0].lines) == 12 and len(two.axes[0].get_legend().get_texts()) == 6
    assert "a and b (dashed)" in two.get_suptitle()
    s = short_scenario
    q = np.stack([s.q0, s.q0])
    batch = gs.simulate(s.craft, q, np.zeros((2, s.craft.nv)), (0.0, 1.0), save_at=[0.0, 0.5, 1.0])
    assert "2 runs: the median, and a band that holds nine in ten" in plot_trajectory(batch, "joints").get_suptitle()
    with pytest.raises(ValueError, match="no group 'joint'. Did you mean 'joints'"):
        short_run.plot(what="joint")


def test_names_that_are_markup_or_mathematics_are_shown_as_they_are(tmp_path):
    names = ("$x^{", "<script>alert(1)</script>", "_hidden", "a/b")
    bodies = [gs.Body("hull", 10.0, inertia=(1.0, 1.0, 1.0))]
    for name in names:
        bodies.append(gs.Body(f"of {name}", 1.0, inertia=(0.1, 0.1, 0.1), joint=gs.Joint(name, "revolute", "hull")))
    craft = gs.Spacecraft.build("<b>odd</b>", bodies)
    traj = gs.simulate(craft, gs.neutral(craft), np.r_[np.zeros(6), 0.1, 0.2, 0.3, 0.4], (0.0, 1.0), save_at=[0.0, 1.0])
    page = report_html(traj, scenario="</pre><script>")
    assert page.count("<script") == page.count("</script") == 2 and "<b>odd" not in page  # our own: numbers and code
    assert all(name.replace("<", "&lt;").replace(">", "&gt;") in page for name in names)
    scene = traj.to_html(tmp_path / "scene.html").read_text()
    assert "<b>odd" not in scene and "&lt;b&gt;odd" in scene


def test_a_report_of_two_runs(short_run):
    page = report_html(short_run, compare=short_run, names=("tuned", "untuned"))
    assert "untuned, dashed below" in page
    craft = gs.Spacecraft.build("other", [gs.Body("hull", 1.0, inertia=(1.0, 1.0, 1.0))])
    other = gs.simulate(craft, gs.neutral(craft), np.zeros(6), (0.0, 1.0))
    with pytest.raises(ValueError, match="do not have the same joints"):
        report_html(short_run, compare=other)


def test_a_tumbling_base_is_shown_by_its_angle_and_quaternions_only_when_asked_for(short_scenario):
    craft = short_scenario.craft
    v = np.zeros(craft.nv)
    v[2] = 2.0
    traj = gs.simulate(craft, gs.neutral(craft), v, (0.0, 4.0), locked=[j.name for j in craft.joints[1:]])
    attitude = panels(traj, "base")[0]
    assert attitude.labels == ("angle",) and 170.0 < attitude.values.max() <= 180.0
    first, last = traj.q[0, :4], traj.q[-1, :4]
    assert attitude.values[-1, 0] == pytest.approx(2 * np.degrees(np.arccos(abs(first @ last))), rel=1e-9)
    (asked,) = panels(traj, "quaternions")
    assert asked.labels == ("w", "x", "y", "z")
    assert np.abs(np.diff(asked.values, axis=0)).max() < 0.1  # no jumps of sign
    assert not any("quaternion" in p.title for group in GROUPS if group != "quaternions" for p in panels(traj, group))
