"""gyrostat's own TOML: everything can be said, and what is wrong is named with its line and the nearest right word."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.io import check, load, save
from gyrostat.io.toml.craft_tables import Document
from gyrostat.io.toml.tables import tables_in

COMPLETE = """
gyrostat = 1
name = "tug"  # a comment

[[body]]
name = "hub"
mass = 100
com = [0.1, 0, 0]
inertia = [20.0, 1.0, 0.5, 25.0, -0.3, 22.0]
joint = { kind = "free", name = "float" }
[[body.shape]]
kind = "box"
size = [1, 1, 2]
color = [1, 0.8, 0.2]

[[body]]
name = "boom"
parent = "hub"
mass = 5
com = [1, 0, 0]
inertia = [[0.1, 0, 0], [0, 2, 0], [0, 0, 2]]
[body.joint]
name = "hinge"
kind = "revolute"
position = [1, 0, 0]
rpy = ["90 deg", 0, "-0.5 rad"]
axis = [0, 1, 0]
limits = { lower = "-30 deg", upper = 2, velocity = "10 deg/s", effort = 5 }
stiffness = 3.0
rest = "10 deg"
damping = 0.1
friction = 0.01
rotor_inertia = 1e-4
gear_ratio = 50

[[body]]
name = "tip"
parent = "boom"
mass = 1
inertia = [0.1, 0.1, 0.1]
joint = { kind = "spherical", quaternion = [0.6, 0.8, 0, 0] }

[[wheel]]
name = "rw_x"
parent = "hub"
axis = [1, 0, 0]
spin_inertia = 0.1
max_torque = 0.2
max_speed = "6000 rpm"

[[wheel]]
name = "rw_out"
parent = "boom"
axis = [0, 1, 1]
spin_inertia = 0.02
position = [0.5, 0, 0]
included = false
mass = 2
transverse_inertia = 0.015

[[frame]]
name = "camera"
body = "tip"
position = [0, 0, 0.3]
rotation = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]

[[thruster]]
name = "main"
body = "hub"
position = [-1, 0, 0]
direction = [2, 0, 0]
max_thrust = 22
"""


@pytest.fixture
def written(tmp_path):
    def write(text: str):
        path = tmp_path / "craft.toml"
        path.write_text(text)
        return path

    return write


def test_a_complete_file(written):
    craft = load(written(COMPLETE))
    assert [body.name for body in craft.bodies] == ["hub", "boom", "tip", "rw_x", "rw_out"]
    hinge = craft.joint_named("hinge")
    assert (hinge.limits.lower, hinge.limits.upper) == pytest.approx((-np.pi / 6, 2.0))
    assert (hinge.limits.velocity, hinge.limits.effort) == pytest.approx((np.radians(10), 5.0))
    assert (hinge.stiffness, hinge.rest, hinge.damping, hinge.friction) == pytest.approx(
        (3.0, np.radians(10), 0.1, 0.01)
    )
    assert hinge.armature == pytest.approx(0.25)
    assert np.allclose(hinge.rotation, gs.algebra.rotation_from_rpy(np.array([np.pi / 2, 0, -0.5])))
    assert np.allclose(
        craft.joint("tip").rotation, gs.algebra.rotation_about(np.array([1.0, 0, 0]), 2 * np.arctan2(0.8, 0.6))
    )
    assert craft.joint("tip").name == "tip_joint"
    wheel, out = craft.body("rw_x"), craft.body("rw_out")
    assert (wheel.included, wheel.joint.limits.effort) == (True, 0.2)
    assert wheel.joint.limits.velocity == pytest.approx(6000 * 2 * np.pi / 60)
    assert out.mass == 2 and not out.included
    assert np.allclose(out.inertia, 0.015 * np.eye(3) + 0.005 * np.outer([0, 1, 1], [0, 1, 1]) / 2)
    assert gs.total_mass(craft) == 108
    thruster = craft.thruster("main")
    assert np.array_equal(thruster.direction, [1, 0, 0]) and thruster.max_thrust == 22
    assert np.allclose(craft.locate("camera")[1].R, [[0, -1, 0], [1, 0, 0], [0, 0, 1]])
    assert craft.body("hub").shapes[0].size == (1, 1, 2)
    assert craft.findings == ()


def test_the_base_may_be_replaced(written):
    assert load(written(COMPLETE), base="fixed").nv == load(written(COMPLETE)).nv - 6


MINIMAL = 'name = "x"\n[[body]]\nname = "hub"\nmass = 1\ninertia = [1, 1, 1]\n'
ARM = MINIMAL + '[[body]]\nname = "arm"\nparent = "hub"\nmass = 1\ninertia = [1, 1, 1]\n'


@pytest.mark.parametrize(
    ("text", "code", "line", "words"),
    [
        (MINIMAL + "masss = 2\n", "unknown-key", 6, ["body 'hub'", "'masss'", "Did you mean 'mass'"]),
        (MINIMAL + "[wheels]\n", "unknown-key", 6, ["'wheels'", "Did you mean 'wheel'"]),
        (ARM + "[body.joint]\nknid = 'free'\n", "unknown-key", 12, ["body 'arm'", "Did you mean 'kind'"]),
        (ARM + "[body.joint]\nlimits = { uper = 1 }\n", "unknown-key", 12, ["Did you mean 'upper'"]),
        (ARM + "[body.joint]\nkind = 'revolut'\n", "unknown-joint-type", 11, ["'revolut'", "Did you mean 'revolute'"]),
        (MINIMAL.replace("mass = 1\n", ""), "missing-key", 2, ["body 'hub'", "no 'mass'"]),
        (MINIMAL.replace('name = "hub"\n', ""), "missing-key", 2, ["body 1: ", "no 'name'"]),
        (MINIMAL.replace("= 1\n", '= "one"\n'), "malformed-number", 4, ["mass is 'one'", "start with a number"]),
        (MINIMAL.replace("= 1\n", '= "5 m"\n'), "wrong-unit", 4, ['a length; expected a mass, such as "5 kg"']),
        (MINIMAL.replace("= 1\n", '= "5 g"\n'), "wrong-unit", 4, ["an acceleration; expected a mass"]),
        (MINIMAL.replace("= 1\n", "= true\n"), "malformed-number", 4, ["mass is True"]),
        (MINIMAL.replace("= 1\n", "= nan\n"), "not-finite", 4, ["mass is nan"]),
        (MINIMAL.replace("= 1\n", "= -1\n"), "negative-mass", 2, ["-1.0 kg"]),
        (MINIMAL.replace("[1, 1, 1]", "[1, 1]"), "wrong-value", 5, ["[xx, yy, zz]"]),
        (MINIMAL.replace("[1, 1, 1]", "[1, inf, 1]"), "not-finite", 5, ["finite"]),
        (MINIMAL.replace("[1, 1, 1]", "[1, '2,5', 1]"), "malformed-number", 5, ["decimal point"]),
        (MINIMAL.replace("[1, 1, 1]", "[1, '2 kg', 1]"), "wrong-unit", 5, ["a mass; expected a moment of inertia"]),
        (ARM + "[body.joint]\nquaternion = [1, 0.1, 0, 0]\n", "quaternion-norm", 12, ["norm 1.00498756"]),
        (ARM + "[body.joint]\nrotation = [[1,0,0],[0,1,0],[0,0,-1]]\n", "wrong-value", 12, ["no rotation"]),
        (ARM + "[body.joint]\nrpy = [0,0,0]\nquaternion = [1,0,0,0]\n", "wrong-value", 11, ["both given"]),
        (ARM + "[body.joint]\naxis = [0, 0, 0]\n", "zero-axis", 11, ["(0, 0, 0)"]),
        (ARM + "[body.joint]\nlimits = { lower = '5 furlongs' }\n", "wrong-unit", 12, ["'furlongs'"]),
        (ARM + "[body.joint]\nlimits = { lower = '5 cm' }\n", "wrong-unit", 12, ["a length; expected an angle"]),
        (ARM + "[body.joint]\nkind = 'prismatic'\nrest = '5 deg'\n", "wrong-unit", 13, ["an angle; expected a length"]),
        (ARM + "[body.joint]\nstiffness = '5 N/m'\n", "wrong-unit", 12, ["a rotational stiffness"]),
        (ARM + "[body.joint]\nkind = 'cylindrical'\ndamping = '5 N s/m'\n", "wrong-unit", 13, ["have several units"]),
        (ARM + "[body.joint]\nposition = ['1 m', '2 kg', 0]\n", "wrong-unit", 12, ["a mass; expected a length"]),
        (ARM + "[body.joint]\nlimits = { lower = 2, upper = 1 }\n", "limits", 11, ["above"]),
        (ARM.replace('parent = "hub"', 'parent = "hbu"'), "unknown-parent", 6, ["Did you mean 'hub'"]),
        (ARM.replace('parent = "hub"\n', ""), "several-roots", None, ["'hub', 'arm'"]),
        (ARM.replace('"arm"', '"hub"'), "duplicate-name", 6, ["twice"]),
        (MINIMAL + '[[frame]]\nname = "f"\nbody = "hob"\n', "unknown-body", 6, ["frame 'f'", "Did you mean 'hub'"]),
        (
            MINIMAL + '[[wheel]]\nname = "w"\nparent = "hub"\naxis = [0, 0, 1]\nspin_inertia = 0.1\nmass = 1\n',
            "wheel",
            6,
            ["included=False"],
        ),
        (MINIMAL + "[[body.shape]]\nkind = 'box'\nsize = [1]\n", "wrong-value", 6, ["expected 3"]),
        (MINIMAL + "[[body.shape]]\nkind = 'cube'\nsize = [1]\n", "wrong-value", 7, ["'cube'", "'box'"]),
        ("gyrostat = 2\n" + MINIMAL, "wrong-value", 1, ["gyrostat is 2"]),
        ("name = \n", "toml", 1, ["not valid TOML"]),
        ("x = " + "[" * 5000, "too-deep", None, ["nested"]),
        ("a" + ".a" * 20_000 + " = 1", "too-deep", None, ["nested"]),
        ("body = 3\nname = 'x'\n", "wrong-value", 1, ["body is 3"]),
    ],
)
def test_what_is_wrong_is_named(written, text, code, line, words):
    errors = check(written(text)).errors
    found = [f for f in errors if f.code == code]
    assert found, [str(f) for f in errors]
    assert all(word in str(found[0]) for word in words), str(found[0])
    assert found[0].line == line, str(found[0])


def test_bytes_that_are_no_text(tmp_path):
    path = tmp_path / "craft.toml"
    path.write_bytes(b"\xff\xfe\x00name")
    assert [f.code for f in check(path).errors] == ["toml"]
    path.write_bytes(b"#" * (8 * 1024 * 1024 + 1))
    assert [f.code for f in check(path).errors] == ["too-large"]


def test_names_with_any_characters_that_can_be_printed_come_back(tmp_path):
    name = "x\"\\ ''' \\\\ #='[a.b] é 🛰 [bold]"
    craft = gs.Spacecraft.build(name, [gs.Body(name, 1.0, inertia=(1, 1, 1))])
    again = load(save(craft, tmp_path / "odd.toml"))
    assert (again.name, again.base) == (name, name)


def test_symbols_cannot_be_saved(tmp_path):
    class Symbol:
        pass

    craft = gs.Spacecraft.build("x", [gs.Body("hub", 1.0, inertia=(1, 1, 1))]).with_values({"hub.mass": Symbol()})
    with pytest.raises(ValueError, match="symbol"):
        save(craft, tmp_path / "x.toml")
    assert list(tmp_path.iterdir()) == []


def test_meshes_are_named_relative_to_the_file(tmp_path):
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "a.stl").write_text("")
    text = MINIMAL + "[[body.shape]]\nkind = 'mesh'\nsize = [1, 1, 1]\nfile = 'meshes/a.stl'\n"
    (tmp_path / "craft.toml").write_text(text)
    craft = load(tmp_path / "craft.toml")
    save(craft, tmp_path / "again.toml")
    assert 'file = "meshes/a.stl"' in (tmp_path / "again.toml").read_text()
    assert load(tmp_path / "again.toml").body("hub").shapes[0].file == craft.body("hub").shapes[0].file


def test_every_key_of_the_schema_is_in_the_documentation():
    text = (Path(__file__).resolve().parents[2] / "docs" / "file-format.md").read_text(encoding="utf-8")
    for table in tables_in(Document).values():
        for key in table.model_fields:
            assert f"`{key}`" in text, key


def test_the_example_in_the_documentation_loads(written):
    text = (Path(__file__).resolve().parents[2] / "docs" / "file-format.md").read_text(encoding="utf-8")
    example = text.split("```toml\n")[1].split("```")[0]
    craft = load(written(example))
    assert (craft.nbodies, craft.nv, craft.findings) == (3, 8, ())


UNITS_IN = """
name = "units"
[[body]]
name = "hub"
mass = "0.1 t"
inertia = ["20 kg m^2", "250000 kg cm^2", "2.2e7 kg mm^2"]
[[body.shape]]
kind = "box"
size = ["100 cm", 1, "2000 mm"]
[[body]]
name = "boom"
parent = "hub"
mass = "5000 gram"
com = ["100 cm", 0, "1 mm"]
inertia = [["0.1 kg m^2", 0, 0], [0, 2, 0], [0, 0, "2 kg m^2"]]
[body.joint]
kind = "revolute"
position = ["1 m", "50 mm", 0]
rpy = ["90 deg", 0, "-500 mrad"]
limits = { lower = "-30 deg", upper = "0.25 rev", velocity = "60 deg/min", effort = "5000 mN m" }
stiffness = "3 N m/deg"
rest = "600 arcmin"
damping = "0.1 N m s/rad"
friction = "10 mN m"
rotor_inertia = "100 kg mm^2"
[[body]]
name = "tip"
parent = "boom"
mass = 1
inertia = [1, 1, 1]
[body.joint]
kind = "prismatic"
limits = { lower = "-3 cm", upper = "30 mm", velocity = "5 mm/s", effort = "2 kN" }
stiffness = "3 N/mm"
damping = "20 mN s/m"
rotor_inertia = "200 gram"
[[wheel]]
name = "w"
parent = "hub"
axis = [1, 0, 0]
position = [0, "10 cm", 0]
spin_inertia = "1000 kg cm^2"
max_torque = "200 mN m"
max_speed = "6000 rpm"
[[thruster]]
name = "main"
body = "hub"
position = ["-1 m", 0, 0]
direction = [1, 0, 0]
max_thrust = "0.022 kN"
minimum_on_time = "20 ms"
specific_impulse = "5 min"
"""
UNITS_OUT = """
name = "units"
[[body]]
name = "hub"
mass = 100.0
inertia = [20.0, 25.0, 22.0]
[[body.shape]]
kind = "box"
size = [1.0, 1.0, 2.0]
[[body]]
name = "boom"
parent = "hub"
mass = 5.0
com = [1.0, 0.0, 0.001]
inertia = [0.1, 2.0, 2.0]
[body.joint]
kind = "revolute"
position = [1.0, 0.05, 0.0]
rpy = [1.5707963267948966, 0.0, -0.5]
limits = { lower = -0.5235987755982988, upper = 1.5707963267948966, velocity = 0.017453292519943295, effort = 5.0 }
stiffness = 171.88733853924697
rest = 0.17453292519943295
damping = 0.1
friction = 0.01
rotor_inertia = 1e-4
[[body]]
name = "tip"
parent = "boom"
mass = 1.0
inertia = [1.0, 1.0, 1.0]
[body.joint]
kind = "prismatic"
limits = { lower = -0.03, upper = 0.03, velocity = 0.005, effort = 2000.0 }
stiffness = 3000.0
damping = 0.02
rotor_inertia = 0.2
[[wheel]]
name = "w"
parent = "hub"
axis = [1.0, 0.0, 0.0]
position = [0.0, 0.1, 0.0]
spin_inertia = 0.1
max_torque = 0.2
max_speed = 628.3185307179587
[[thruster]]
name = "main"
body = "hub"
position = [-1.0, 0.0, 0.0]
direction = [1.0, 0.0, 0.0]
max_thrust = 22.0
minimum_on_time = 0.02
specific_impulse = 300.0
"""


def test_every_number_that_has_a_dimension_takes_its_units(written):
    """Before, angles and rates did, and nothing else; a prismatic joint took degrees for metres."""
    with_units, plain = (load(written(text)) for text in (UNITS_IN, UNITS_OUT))
    assert with_units.findings == plain.findings == ()
    for name, value in plain.parameters().items():
        np.testing.assert_allclose(with_units.parameters()[name], value, rtol=1e-14, atol=1e-16, err_msg=name)
    for joint in plain.joints:
        other = with_units.joint_named(joint.name)
        for key in ("lower", "upper", "velocity", "effort"):
            assert getattr(other.limits, key) == pytest.approx(getattr(joint.limits, key), rel=1e-14)
        np.testing.assert_allclose(other.rotation, joint.rotation, atol=1e-15)
    for key in ("max_thrust", "minimum_on_time", "specific_impulse"):
        assert getattr(with_units.thrusters[0], key) == pytest.approx(getattr(plain.thrusters[0], key), rel=1e-14)
    assert with_units.bodies[0].shapes[0].size == plain.bodies[0].shapes[0].size
