"""Spacecraft written as SDF: a reader of the tests' own, which knows SDF alone, finds the same dynamics."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.algebra import rotation
from random_trees import random_spacecraft, random_state

KINDS = ("revolute", "prismatic", "spherical", "universal", "fixed", "wheel")


def numbers(element):
    return np.array(element.text.split(), dtype=float)


def placed(element):
    """Position and rotation of a <pose>."""
    x = numbers(element)
    return x[:3], rotation(np.concatenate([x[6:], x[3:6]]))


def read(path):
    """What the file says, as bodies: links relative to their parents, joints at their children."""
    model = ET.parse(path).getroot().find("model")
    joints = {j.find("child").text: j for j in model.findall("joint")}
    kinds = {"continuous": "revolute", "ball": "spherical"}
    bodies = []
    for link in model.findall("link"):
        position, R = placed(link.find("pose"))
        inertial, joint = link.find("inertial"), joints.get(link.get("name"))
        mass, com, moments = 0.0, np.zeros(3), np.zeros(6)
        if inertial is not None:
            mass, com = float(inertial.find("mass").text), placed(inertial.find("pose"))[0]
            moments = np.array(
                [float(inertial.find("inertia").find(n).text) for n in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")]
            )
        if joint is None:
            own = gs.Joint(f"{link.get('name')}_free", "free", None, position, R)
        else:
            parent, kind = joint.find("parent").text, joint.get("type")
            assert parent == "world" or link.find("pose").get("relative_to") == parent
            axes = {
                name: numbers(joint.find(name).find("xyz"))
                for name in ("axis", "axis2")
                if joint.find(name) is not None
            }
            own = gs.Joint(
                joint.get("name"), kinds.get(kind, kind), None if parent == "world" else parent, position, R, **axes
            )
        xx, xy, xz, yy, yz, zz = moments
        inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        bodies.append(gs.Body(link.get("name"), mass, com, inertia, own))
    frames = [gs.Frame(f.get("name"), f.get("attached_to"), *placed(f.find("pose"))) for f in model.findall("frame")]
    return gs.Spacecraft.build(model.get("name"), bodies, frames=frames)


@pytest.mark.parametrize("seed", range(20))
def test_twenty_craft_of_every_kind_that_sdf_has(seed, tmp_path):
    craft = random_spacecraft(seed, links=5, kinds=KINDS, base="free", rotors=False)
    back = read(gs.save(craft, tmp_path / "craft.sdf"))
    q, v = random_state(craft, seed)
    rng = np.random.default_rng(seed)
    vdot = rng.normal(size=craft.nv)
    its = np.concatenate([np.atleast_1d(x) for x in ordered(back, craft, q)])
    expected = gs.inverse_dynamics(craft, q, v, vdot)
    rates, accelerations = (by_body(back, craft, x) for x in (v, vdot))
    found = gs.inverse_dynamics(back, its, rates, accelerations)
    np.testing.assert_allclose(found, by_body(back, craft, expected), rtol=1e-9, atol=1e-10 * np.abs(expected).max())
    for frame in craft.frames:
        np.testing.assert_allclose(
            gs.frame_pose(back, its, frame.name).p, gs.frame_pose(craft, q, frame.name).p, atol=1e-12
        )


def ordered(back, craft, q):
    """q for the craft that was read: wheels are hinges there, at zero."""
    for body in back.bodies:
        joint = craft.body(body.name).joint
        yield q[joint.q_at] if joint.nq == body.joint.nq else np.zeros(body.joint.nq)


def by_body(back, craft, x):
    return np.concatenate([x[craft.body(b.name).joint.v_at] for b in back.bodies])


def test_springs_and_limits_are_written(tmp_path):
    hull = gs.Body("hull", 20.0, inertia=(1.0, 1.2, 1.4), joint=gs.Joint("hull", "free"))
    limits = gs.Limits(-1.0, 2.0, 3.0, 4.0)
    joint = gs.Joint("hinge", parent="hull", limits=limits, stiffness=5.0, rest=0.5, damping=0.25, friction=0.125)
    craft = gs.Spacecraft.build("a & b", [hull, gs.Body("arm", 2.0, inertia=(0.1, 0.1, 0.1), joint=joint)])
    text = gs.save(craft, tmp_path / "craft.sdf").read_text()
    axis = ET.fromstring(text).find("model/joint/axis")
    assert {e.tag: float(e.text) for e in axis.find("limit")} == {"lower": -1, "upper": 2, "velocity": 3, "effort": 4}
    wanted = {"damping": 0.25, "friction": 0.125, "spring_stiffness": 5.0, "spring_reference": 0.5}
    assert {e.tag: float(e.text) for e in axis.find("dynamics")} == wanted
    assert ET.fromstring(text).find("model").get("name") == "a & b"


def test_what_sdf_cannot_say_is_refused_by_name(tmp_path):
    for kind in ("planar", "cartesian", "cylindrical"):
        hull = gs.Body("hull", 20.0, inertia=(1.0, 1.2, 1.4), joint=gs.Joint("hull", "free"))
        arm = gs.Body("arm", 2.0, inertia=(0.1, 0.1, 0.1), joint=gs.Joint("j", kind, parent="hull"))
        with pytest.raises(gs.ModelError, match=f"SDF cannot express a {kind} joint"):
            gs.save(gs.Spacecraft.build("craft", [hull, arm]), tmp_path / "craft.sdf")
    ball = gs.Joint("j", "spherical", parent="hull", limits=gs.Limits(effort=2.0))
    arm = gs.Body("arm", 2.0, inertia=(0.1, 0.1, 0.1), joint=ball)
    with pytest.raises(gs.ModelError, match="SDF cannot express limits of a spherical joint"):
        gs.save(gs.Spacecraft.build("craft", [hull, arm]), tmp_path / "craft.sdf")
    assert not list(tmp_path.iterdir())
