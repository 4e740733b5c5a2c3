"""MJCF: what MuJoCo makes of a file, and what we take over from it, have the same dynamics."""

from __future__ import annotations

import sys

import mujoco
import numpy as np
import pytest

import gyrostat as gs
from gyrostat.io import check, load, load_formation
from gyrostat.model import Role
from gyrostat.verification.peers.mujoco import MuJoCo
from mujoco_files import assert_same_dynamics, body_pose, relative, site_pose
from random_trees import random_state
from shared_files import shared, shared_models

FILES = [path for path in shared_models("models/basilisk/*.xml") if "dock" not in path]
TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 2 0\nv 0 0 3\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


def read(tmp_path, text: str, name: str = "craft.xml"):
    """Our craft and MuJoCo's own model of the same text."""
    path = tmp_path / name
    path.write_text(text)
    return load(path), mujoco.MjModel.from_xml_path(str(path))


@pytest.mark.parametrize("path", FILES)
def test_published_files_have_mujocos_mass_and_dynamics(path):
    craft, model = load(shared(path)), mujoco.MjModel.from_xml_path(str(shared(path)))
    assert gs.total_mass(craft) == pytest.approx(model.body_mass.sum(), rel=1e-14)
    peer = assert_same_dynamics(craft, model, seed=3)
    q, _ = random_state(craft, 3)
    for body in range(1, model.nbody):
        name = model.body(body).name
        R, p = body_pose(peer, q, name)
        X = gs.frame_pose(craft, q, name)
        assert np.abs(X.R - R).max() <= 1e-13 and np.abs(X.p - p).max() <= 1e-12


def test_two_free_roots_are_refused_by_load_and_read_as_a_formation():
    path = shared("models/basilisk/sats_dock.xml")
    result = check(path)
    assert result.craft is None
    assert [f.code for f in result.errors] == ["several-roots"]
    assert "gs.load_formation" in str(result.errors[0]) and "'hub_1', 'hub_2'" in str(result.errors[0])
    formation = load_formation(path)
    assert list(formation) == ["hub_1", "hub_2"]
    for craft in formation.values():
        assert craft.bodies[0].joint.kind == "free"
        assert gs.total_mass(craft) == pytest.approx(1.0)
        assert np.allclose(craft.bodies[0].inertia, np.eye(3) / 6)


EVERY_JOINT = """<mujoco model="everything">
  <compiler angle="degree" eulerseq="zyx"/>
  <default>
    <joint armature="0.02" damping="0.3"/>
    <default class="light"><geom density="100"/><joint damping="0.1"/></default>
  </default>
  <worldbody>
    <body name="hub" pos="1 2 3" euler="10 20 30">
      <freejoint name="float"/>
      <geom type="box" size="1 .5 .3" mass="40"/>
      <site name="port" pos=".1 .2 .3" euler="90 0 45"/>
      <body name="plate" pos="0 0 .4" quat=".9 .1 .3 .2"><geom type="cylinder" size=".2 .1" pos="0 .3 0"/></body>
      <body name="arm" pos="1 0 .2" euler="0 45 10">
        <joint name="pan" axis="0 0 1" pos=".1 0 .2" ref="30" range="-90 170" springref="12" stiffness="4"/>
        <joint name="tilt" axis="1 1 0" pos="0 .3 0" ref="-20" frictionloss=".7"/>
        <joint name="reach" type="slide" axis="1 .2 0" ref=".4" pos=".5 .5 .5"/>
        <geom type="capsule" size=".1" fromto="0 0 0 1 0 0"/>
        <site name="wrist" pos="1 0 0"/>
        <body name="hand" pos="1 0 0" childclass="light">
          <joint name="ball" type="ball" pos="0 0 .1"/>
          <geom type="ellipsoid" size=".1 .2 .3" pos="0 .1 0"/>
          <body name="finger" pos=".2 0 0">
            <joint name="grip" axis="0 1 0" actuatorfrcrange="-3 5"/>
            <inertial pos=".1 0 0" mass=".5" fullinertia=".01 .02 .025 .001 .002 .003"/>
          </body>
        </body>
        <frame pos="0 1 0" euler="0 0 90">
          <body name="side" pos=".1 0 0"><joint name="swing" axis="0 1 0"/><geom size=".2" pos="0 0 .3"/></body>
        </frame>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="pan"/></actuator>
  <sensor><jointpos joint="pan"/></sensor>
</mujoco>"""


@pytest.mark.parametrize("seed", range(3))
def test_every_joint_with_anchors_references_defaults_and_frames(tmp_path, seed):
    craft, model = read(tmp_path, EVERY_JOINT)
    peer = assert_same_dynamics(craft, model, seed)
    q, _ = random_state(craft, seed)
    for site in ("port", "wrist"):
        R, p = site_pose(peer, q, site)
        X = gs.frame_pose(craft, q, site)
        assert np.abs(X.R - R).max() <= 1e-13 and np.abs(X.p - p).max() <= 1e-12


def test_what_the_joints_of_a_file_say_is_kept(tmp_path):
    craft, model = read(tmp_path, EVERY_JOINT)
    assert craft.name == "everything"
    assert [joint.kind for joint in craft.joints[1:]].count("revolute") == 4
    pan, tilt, grip = (craft.joint_named(name) for name in ("pan", "tilt", "grip"))
    assert (pan.limits.lower, pan.limits.upper) == pytest.approx((-np.pi / 2, np.radians(170)))
    assert (pan.stiffness, pan.rest, pan.damping, pan.rotor_inertia) == pytest.approx((4.0, np.radians(12), 0.3, 0.02))
    assert tilt.friction == pytest.approx(0.7) and np.isinf(tilt.limits.upper)
    assert (grip.limits.effort, grip.damping) == pytest.approx((5.0, 0.1))
    massless = [body.name for body in craft.bodies if body.mass == 0]
    assert massless == ["arm/pan", "arm/tilt"], "several joints on one body are a chain of massless bodies"
    codes = {f.code for f in craft.findings}
    assert {"actuator-ignored", "sensor-ignored", "merged", "frame-moved"} <= codes
    assert not [f for f in craft.findings if f.level != "note"]
    assert gs.total_mass(craft) == pytest.approx(model.body_mass.sum(), rel=1e-14)


LIMBS = """<mujoco><worldbody><body name="hub"><freejoint/><geom size=".5"/>
<body name="upper" pos="1 0 0"><joint name="shoulder" axis="0 1 0"/><geom size=".2"/>
<body name="fore" pos="1 0 0"><joint name="elbow" axis="0 1 0" stiffness="3"/><geom size=".2"/>
<body name="hand" pos="1 0 0"><joint name="wrist" axis="0 1 0"/><geom size=".2"/>
<body name="panel" pos="1 0 0"><joint name="leaf" axis="0 1 0" stiffness="3"/><geom size=".2"/>
</body></body></body></body></body></worldbody>%s</mujoco>"""


BELT = '<actuator><motor tendon="b"/></actuator>'


@pytest.mark.parametrize(
    "actuators, driven",
    [
        ("", {"shoulder", "wrist"}),  # as everywhere: what has no spring has a motor
        ("<actuator/>", {"shoulder", "wrist"}),
        ('<actuator><general site="port"/></actuator>', {"shoulder", "wrist"}),  # a thruster says nothing of joints
        ('<actuator><motor joint="shoulder"/><position joint="elbow" kp="5"/></actuator>', {"shoulder", "elbow"}),
        (
            '<actuator><motor jointinparent="leaf"/></actuator><actuator><motor joint="wrist"/></actuator>',
            {"leaf", "wrist"},
        ),
        (
            '<tendon><fixed name="b"><joint joint="wrist" coef="1"/><joint joint="elbow" coef="2"/></fixed></tendon>'
            + BELT,
            {"elbow", "wrist"},
        ),
    ],
)
def test_joints_with_an_actuator_are_driven_and_then_the_others_are_not(tmp_path, actuators, driven):
    path = tmp_path / "arm.xml"
    path.write_text(LIMBS % actuators)
    craft = load(path)
    motors = {craft.joints[k].name for k in range(1, 5) if craft.joints[k].v_at.start in craft.at(Role.driven)}
    assert motors == driven
    saved = tmp_path / "saved.toml"
    gs.save(craft, saved)
    again = gs.load(saved)
    assert list(again.roles) == list(craft.roles)


def test_an_actuator_of_a_joint_that_is_not_there_is_told(tmp_path):
    craft, _ = read(tmp_path, LIMBS % '<actuator>\n<motor joint="shoulder"/></actuator>')
    assert not [f for f in craft.findings if f.level == "warning"]
    path = tmp_path / "typo.xml"
    path.write_text(LIMBS % '<actuator>\n<motor joint="sholder"/></actuator>')
    (found,) = [f for f in check(path).findings if f.code == "actuator-joint"]
    assert (found.level, found.line) == ("warning", 7) and "'sholder'" in found.message and "shoulder" in found.hint


def test_includes_are_written_out_and_lines_stay_right(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "arm.xml").write_text(
        '<mujocoinclude>\n<body name="arm" pos="1 0 0"><joint name="hinge" axis="0 1 0"/><geom '
        'size=".2"/></body>\n</mujocoinclude>'
    )
    hub = (
        '<mujoco><worldbody><body name="hub"><freejoint/><geom size=".5"/>'
        '<include file="parts/arm.xml"/></body></worldbody></mujoco>'
    )
    craft, model = read(tmp_path, hub)
    assert_same_dynamics(craft, model, 0)
    (tmp_path / "parts" / "arm.xml").write_text(
        '<mujocoinclude>\n\n<body name="arm"><joint axis="0 0 0"/><geom size=".2"/></body></mujocoinclude>'
    )
    error = check(tmp_path / "craft.xml").errors[0]
    assert error.code == "zero-axis" and error.file.endswith("arm.xml") and error.line == 3


@pytest.mark.parametrize("target", ["../outside.xml", "/etc/hostname", "missing.xml", "", "craft.xml"])
def test_includes_stay_below_the_models_folder(tmp_path, target):
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "outside.xml").write_text("<mujocoinclude/>")
    path = folder / "craft.xml"
    path.write_text(
        f'<mujoco><worldbody><body><freejoint/><geom size="1"/></body></worldbody>\n<include file="{target}"/></mujoco>'
    )
    error = check(path).errors[0]
    assert (error.code, error.line) == ("include", 2)


def test_inertia_of_meshes_is_mujocos_and_other_meshes_are_never_opened(tmp_path):
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "tetrahedron.obj").write_text(TETRAHEDRON)
    text = """<mujoco><compiler meshdir="meshes"/>
      <asset><mesh file="tetrahedron.obj" scale="1 1 .5"/><mesh name="look" file="never_there.stl"/></asset>
      <worldbody><body name="hub"><freejoint/><geom type="mesh" mesh="tetrahedron"/>
        <body name="arm" pos="1 0 0"><joint name="hinge" axis="0 1 0"/>
          <inertial pos="0 0 1" mass="2" diaginertia="1 1 1"/>
          <geom type="mesh" mesh="look" pos="1 0 0"/></body></body></worldbody></mujoco>"""
    path = tmp_path / "craft.xml"
    path.write_text(text)
    craft = load(path)
    model = mujoco.MjModel.from_xml_string(
        text.replace('<mesh name="look" file="never_there.stl"/>', "").replace(
            '<geom type="mesh" mesh="look" pos="1 0 0"/>', ""
        ),
        {"tetrahedron.obj": TETRAHEDRON.encode()},
    )
    assert_same_dynamics(craft, model, 1)
    assert [f.code for f in craft.findings] == ["mesh-missing"]
    shape = craft.bodies[0].shapes[0]
    assert shape.kind == "mesh" and shape.file.endswith("tetrahedron.obj") and shape.size == (1.0, 1.0, 0.5)
    assert np.allclose(shape.position, 0, atol=1e-12) and np.allclose(shape.rotation, np.eye(3), atol=1e-12), (
        "as in the file"
    )


def test_a_mesh_that_an_inertia_needs_is_named_when_missing(tmp_path):
    path = tmp_path / "craft.xml"
    path.write_text(
        '<mujoco>\n<asset>\n<mesh name="hull" file="hull.stl"/></asset><worldbody><body><freejoint/>'
        '<geom type="mesh" mesh="hull"/></body></worldbody></mujoco>'
    )
    error = check(path).errors[0]
    assert (
        (error.code, error.line) == ("mesh-missing", 3) and "hull.stl" in error.message and "<inertial>" in error.hint
    )


def test_flight_inertias_that_mujoco_refuses_are_kept_with_a_warning(tmp_path):
    """Moments that break the triangle inequality: the mass matrix still is R diag(moments) R^T
    about the centre of mass.
    """
    text = """<mujoco><worldbody><body name="hub"><freejoint/>
      <inertial pos="0 0 0" euler="0 0 90" mass="10" diaginertia="1 1.5 5"/>
      <body name="arm" pos="1 0 0"><joint name="hinge" axis="0 1 0"/><geom type="box" size=".1 .2 .3"/></body>
      </body></worldbody></mujoco>"""
    with pytest.raises(ValueError, match="A \\+ B >= C"):
        mujoco.MjModel.from_xml_string(text)
    path = tmp_path / "craft.xml"
    path.write_text(text)
    craft = load(path)
    assert np.allclose(craft.body("hub").inertia, np.diag([1.5, 1.0, 5.0]), atol=1e-15)
    assert [f.code for f in craft.findings if f.level == "warning"] == ["triangle"]
    sound = mujoco.MjModel.from_xml_string(text.replace("1 1.5 5", "1 1.5 2"))
    with_sound_hub = craft.with_values({"hub.inertia": (1.5, 0, 0, 1.0, 0, 2.0)})
    assert_same_dynamics(with_sound_hub, sound, 2)


def test_bases_that_do_not_float(tmp_path):
    fixed = (
        '<mujoco><worldbody><body name="stand">{}<geom size="1"/><body name="arm" pos="0 0 2">'
        '<joint name="a" axis="1 0 0"/><geom size=".3" pos="0 1 0"/></body></body></worldbody></mujoco>'
    )
    craft, model = read(tmp_path, fixed.format(""))
    assert (craft.base, craft.bodies[0].joint.kind, craft.nv) == ("stand", "fixed", 1)
    assert_same_dynamics(craft, model, 0)
    craft, model = read(tmp_path, fixed.format('<joint name="turn" axis="0 0 1"/>'))
    assert (craft.base, craft.bodies[0].joint.kind, craft.nv) == ("world", "fixed", 2)
    assert_same_dynamics(craft, model, 0)
    floating = load(tmp_path / "craft.xml", base="fixed")
    assert floating.nv == 2


def test_active_constraints_are_warned_of(tmp_path):
    text = """<mujoco><worldbody><body name="hub"><freejoint/><geom size="1"/>
      <body name="a"><joint name="j" axis="1 0 0"/><geom size=".2"/></body>
      <body name="b"><joint axis="0 1 0"/><geom size=".2"/></body>
      </body></worldbody><equality><connect body1="a" body2="b" anchor="0 0 0"/></equality></mujoco>"""
    path = tmp_path / "craft.xml"
    path.write_text(text)
    assert [f.code for f in check(path).findings if f.level == "warning"] == ["equality-ignored"]


@pytest.mark.parametrize(
    ("body", "code", "words"),
    [
        ('<geom size="2,5"/>', "malformed-number", "2,5"),
        ('<geom size="1" mass="nan"/>', "not-finite", "nan"),
        ('<geom size="1" mess="3"/>', "unknown-attribute", "mess"),
        ('<composite type="cable" count="9 1 1"/>', "unsupported", "composite"),
        ('<replicate count="1000000"><geom size="1"/></replicate>', "too-many-links", "replicate"),
        (
            '<replicate count="200"><replicate count="200"><geom size="1"/></replicate></replicate>',
            "too-many-links",
            "replicate",
        ),
        ("", "moves-nothing", "mass and inertia of moving bodies"),
        ('<geom size="1"/><body name="hub"><geom size="1"/></body>', "duplicate-name", "hub"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path, body, code, words):
    path = tmp_path / "craft.xml"
    path.write_text(f'<mujoco>\n<worldbody>\n<body name="hub"><freejoint/>\n{body}\n</body></worldbody></mujoco>')
    errors = check(path).errors
    assert [f.code for f in errors] == [code]
    assert words in str(errors[0]) and str(path) in str(errors[0])
    assert errors[0].line in (3, 4)


def test_no_log_file_is_left_behind(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "craft.xml").write_text(
        '<mujoco><worldbody><body><freejoint/><geom size="1" mass="nan"/></body></worldbody></mujoco>'
    )
    assert check("craft.xml").errors
    assert [p.name for p in tmp_path.iterdir()] == ["craft.xml"]


def test_without_mujoco_the_way_out_is_named(tmp_path, monkeypatch):
    path = tmp_path / "craft.xml"
    path.write_text('<mujoco><worldbody><body><freejoint/><geom size="1"/></body></worldbody></mujoco>')
    monkeypatch.setitem(sys.modules, "mujoco", None)
    error = check(path).errors[0]
    assert error.code == "missing-package" and "pip install gyrostat[mjcf]" in error.hint


def test_the_comparison_can_fail(tmp_path):
    craft, model = read(tmp_path, EVERY_JOINT)
    heavier = craft.with_values({"hand.mass": 1.0001 * craft.value("hand.mass")})
    q, _ = random_state(craft, 0)
    assert relative(gs.mass_matrix(heavier, q), MuJoCo(craft, model=model).mass_matrix(q)) > 1e-8


ARM = '<body name="arm"><joint axis="0 0 1"/><inertial mass="1" pos="0 0 1" diaginertia="1 1 1"/></body>'


def written(path, arm=ARM, before=""):
    hub = '<body name="hub"><freejoint/><inertial mass="2" pos="0 0 0" diaginertia="1 1 1"/>'
    text = f"<mujoco>{before}<worldbody>{hub}{arm}</body></worldbody></mujoco>".replace("><", ">\n<")
    path.write_text(text)
    return text.splitlines()


@pytest.mark.parametrize(
    ("old", "new", "code", "words"),
    [
        ("<joint", "<jiont", "unknown-element", ("body 'arm'", "<jiont>", "Did you mean <joint>?")),
        ("axis=", "axs=", "unknown-attribute", ("<joint>", "'axs'", "Did you mean 'axis'?")),
        ("pos=", "poss=", "unknown-attribute", ("<inertial>", "'poss'", "Did you mean 'pos'?")),
        ("body", "bdoy", "unknown-element", ("body 'hub'", "<bdoy>", "<body>?")),
        ("<inertial", "<inertail", "unknown-element", ("<inertail>", "<inertial>?")),
        ("<joint", "<wormhole/><joint", "unknown-element", ("<wormhole>", "Known: ")),
        ("<joint", '<inertial mass="9"/><joint', "duplicate-element", ("two <inertial>", "Keep one.")),
    ],
)
def test_slips_in_a_body_are_told(tmp_path, old, new, code, words):
    """Before, unknown elements were left out without a word: a joint less."""
    lines = written(tmp_path / "craft.xml", ARM.replace(old, new))
    found = check(tmp_path / "craft.xml").errors
    assert [f.code for f in found] == [code] and all(word in str(found[0]) for word in words), found
    assert ("inertial mass=" if code.startswith("dup") else new.split("/")[0]) in lines[found[0].line - 1]


@pytest.mark.parametrize(
    ("before", "words"),
    [
        ('<defualt><joint damping="3"/></defualt>', ("<mujoco> has an unknown element <defualt>", "<default>?")),
        ('<default><jont damping="3"/></default>', ("<default> has an unknown element <jont>", "<joint>?")),
        ('<default><joint damping="3"/><joint armature="3"/></default>', ("two <joint> elements", "line 3")),
        ('<asset><mehs file="a.stl"/></asset>', ("<asset> has an unknown element <mehs>", "<mesh>?")),
        ('<compiler angel="radian"/>', ("unknown attribute 'angel'", "'angle'?")),
        ('<actuator><moter joint="arm"/></actuator>', ("<actuator> has an unknown element <moter>", "<motor>?")),
    ],
)
def test_slips_beside_the_bodies_are_told(tmp_path, before, words):
    written(tmp_path / "craft.xml", before=before)
    (found,) = check(tmp_path / "craft.xml").errors
    assert all(word in str(found) for word in words) and found.line >= 2


@pytest.mark.parametrize(
    ("option", "codes"),
    [
        ('gravity="0 0 -9.81"', ["gravity-ignored"]),
        ('gravity="0 0 0" timestep="0.01"', []),
        ('gravty="0 0 -1.62"', ["unknown-attribute", "gravity-ignored"]),
        ('density="1000" viscosity="0"', ["density-ignored"]),
        ('wind="1 0 0"', ["wind-ignored"]),
        ('gravity="down"', ["malformed-number"]),
    ],
)
def test_what_acts_in_the_file_and_not_here_is_told(tmp_path, option, codes):
    written(tmp_path / "craft.xml", before=f"<option {option}/>")
    found = [f for f in check(tmp_path / "craft.xml").findings if f.level != "note"]
    assert [f.code for f in found] == codes and all(f.line == 2 for f in found)
    if codes == ["gravity-ignored"]:
        assert "environment=gs.environment.uniform_gravity((0, 0, -9.81))" in found[0].hint


def test_gravity_that_is_switched_off_is_not_missed(tmp_path):
    written(tmp_path / "craft.xml", before='<option gravity="0 0 -9.81"><flag gravity="disable"/></option>')
    assert check(tmp_path / "craft.xml").findings == ()


def test_inertia_without_mass_is_told(tmp_path):
    written(tmp_path / "craft.xml", '<body name="tank"><inertial mass="0" pos="0 0 0" diaginertia="1 2 2"/></body>')
    found = [f for f in check(tmp_path / "craft.xml").findings if f.level == "warning"]
    assert [f.code for f in found] == ["no-mass"] and found[0].element == "body 'tank'" and found[0].line == 6
