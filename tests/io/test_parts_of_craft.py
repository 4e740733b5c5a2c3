"""[[part]] of a craft file: one arm twice, under two prefixes, is what was built by hand."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.algebra import rotation_from_rpy
from gyrostat.model import ModelError

ARM = """
gyrostat = 1
name = "arm"
[[body]]
name = "flange"
mass = 3.0
com = [0.01, 0.0, 0.02]
inertia = [0.02, 0.02, 0.03]
[[body]]
name = "link"
parent = "flange"
mass = 7.0
com = [0.4, 0.02, 0.0]
inertia = [0.1, 0.9, 0.8]
[body.joint]
name = "hinge"
position = [0.1, 0.0, 0.05]
axis = [0.0, 1.0, 0.0]
[[frame]]
name = "hand"
body = "link"
position = [0.9, 0.0, 0.0]
[[thruster]]
name = "jet"
body = "link"
position = [0.9, 0.0, 0.0]
direction = [0.0, 0.0, 1.0]
"""
TUG = """
gyrostat = 1
name = "tug"
[[body]]
name = "hub"
mass = 100.0
inertia = [20.0, 25.0, 22.0]
[[part]]
file = "arm.toml"
prefix = "left_"
body = "hub"
position = [0.5, 0.3, 0.0]
rpy = [0, "20 deg", "90 deg"]
[[part]]
file = "arm.toml"
prefix = "right_"
body = "hub"
position = [0.5, -0.3, 0.0]
"""


def load(folder, text=TUG):
    (folder / "arm.toml").write_text(ARM)
    (folder / "tug.toml").write_text(text)
    return gs.load(folder / "tug.toml")


def by_hand():
    bodies, frames, jets = [gs.Body("hub", 100.0, inertia=[20.0, 25.0, 22.0])], [], []
    for side, y, rpy in (("left_", 0.3, (0, np.radians(20), np.pi / 2)), ("right_", -0.3, (0, 0, 0))):
        R = rotation_from_rpy(np.array(rpy, dtype=float))
        fixed = gs.Joint(side + "base", "fixed", "hub", (0.5, y, 0.0), R)
        hinge = gs.Joint(side + "hinge", "revolute", side + "flange", (0.1, 0.0, 0.05), axis=(0, 1, 0))
        bodies.append(gs.Body(side + "flange", 3.0, (0.01, 0, 0.02), [0.02, 0.02, 0.03], fixed))
        bodies.append(gs.Body(side + "link", 7.0, (0.4, 0.02, 0), [0.1, 0.9, 0.8], hinge))
        frames.append(gs.Frame(side + "hand", side + "link", (0.9, 0, 0)))
        jets.append(gs.Thruster(side + "jet", side + "link", (0.9, 0, 0), (0, 0, 1)))
    return gs.Spacecraft.build("tug", bodies, frames=frames, thrusters=jets)


def test_one_arm_twice_is_what_was_built_by_hand(tmp_path):
    craft, same = load(tmp_path), by_hand()
    assert [b.name for b in craft.bodies] == [b.name for b in same.bodies]
    rng = np.random.default_rng(3)
    q, v = gs.step_configuration(same, gs.neutral(same), rng.normal(size=same.nv)), rng.normal(size=same.nv)
    for f in (gs.mass_matrix, gs.center_of_mass):
        np.testing.assert_allclose(f(craft, q), f(same, q), rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(gs.bias_force(craft, q, v), gs.bias_force(same, q, v), rtol=1e-12, atol=1e-12)
    for name in ("left_hand", "right_hand"):
        np.testing.assert_allclose(gs.frame_pose(craft, q, name).p, gs.frame_pose(same, q, name).p, atol=1e-14)
    assert [t.name for t in craft.thrusters] == ["left_jet", "right_jet"]
    gs.save(craft, tmp_path / "whole.toml")
    np.testing.assert_array_equal(gs.mass_matrix(gs.load(tmp_path / "whole.toml"), q), gs.mass_matrix(craft, q))


def test_bundled_craft_with_parts_are_sound():
    tug = gs.load("tug")
    assert tug.findings == () and len(tug.joints) == 19 and tug.nv == 22
    q = gs.neutral(tug)
    left, right = (gs.frame_pose(tug, q, f"{side}_hand").p for side in ("left", "right"))
    np.testing.assert_allclose(left - right, [0, 1.0, 0], atol=1e-15)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('prefix = "right_"', 'prefix = "left_"', "left_link"),
        ('prefix = "right_"', 'prefx = "right_"', "unknown key 'prefx'. Did you mean 'prefix'"),
        ('file = "arm.toml"', 'file = "leg.toml"', "the file 'leg.toml' does not exist beside this one"),
        ('file = "arm.toml"', 'file = "../arm.toml"', "expected a .toml file beside this one"),
        ('file = "arm.toml"', 'file = "/etc/arm.toml"', "expected a .toml file beside this one"),
        ('file = "arm.toml"', 'file = "tug.toml"', "is a part and has parts itself"),
        ('file = "arm.toml"', 'file = "away.toml"', "expected a .toml file beside this one"),
        ('body = "hub"', 'body = "hubb"', "hubb"),
        ('file = "arm.toml"', 'file = "bad.toml"', "unknown key 'nmae'"),
    ],
)
def test_parts_that_are_wrong(tmp_path, old, new, words):
    folder = tmp_path / "in"
    folder.mkdir()
    (tmp_path / "arm.toml").write_text(ARM)
    (folder / "away.toml").symlink_to(tmp_path / "arm.toml")
    (folder / "bad.toml").write_text(ARM.replace('name = "hand"', 'nmae = "hand"'))
    with pytest.raises(ModelError) as caught:
        load(folder, TUG.replace(old, new, 1))
    assert words in str(caught.value)
