"""Every entry of v has a role, which the model knows: base, driven, passive, wheel."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.model import KINDS, Role
from random_trees import ALL_KINDS, BASES, random_spacecraft

PART = {"mass": 2.0, "com": (0.1, 0.2, -0.1), "inertia": (0.3, 0.4, 0.5)}


def craft_with(*joints, base="free"):
    bodies = [gs.Body("bus", 50.0, inertia=(5, 6, 7), joint=gs.Joint("root", base))]
    bodies += [gs.Body(f"b_{j.name}", **PART, joint=replace(j, parent="bus")) for j in joints]
    return gs.Spacecraft.build("craft", [*bodies, gs.Wheel("rw", "bus", (0, 0, 1), 0.02)])


def test_what_is_sprung_has_no_motor_unless_it_is_said():
    craft = craft_with(
        gs.Joint("plain"),
        gs.Joint("panel", stiffness=3.0),
        gs.Joint("geared", stiffness=3.0, driven=True),
        gs.Joint("hanging", "spherical", driven=False),
        gs.Joint("loose", "free"),
        gs.Joint("weld", "fixed"),
    )
    expected = ["base"] * 6 + ["driven", "passive", "driven"] + ["passive"] * 3 + ["passive"] * 6 + ["wheel"]
    assert list(craft.roles) == expected and len(craft.roles) == craft.nv
    assert craft.at(Role.driven).tolist() == [6, 8]
    assert craft.at(Role.wheel, Role.driven).tolist() == [6, 8, craft.nv - 1]
    assert craft.at(Role.modal, Role.held).tolist() == []
    assert craft.at("driven").tolist() == [6, 8]
    with pytest.raises(ValueError, match="'drivn' is no role. Did you mean 'driven'"):
        craft.at("drivn")


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("seed", range(5))
def test_base_coordinates_are_those_of_the_root_whatever_its_kind(base, seed):
    craft = random_spacecraft(seed, base=base)
    assert craft.at(Role.base).tolist() == list(range(craft.joints[0].nv))
    at = {joint.name: craft.roles[joint.v_at] for joint in craft.joints[1:]}
    for joint in craft.joints[1:]:
        wanted = Role.wheel if joint.kind == "wheel" else Role.passive if joint.kind == "free" else Role.driven
        assert set(at[joint.name]) <= {wanted}


def test_other_values_and_symbols_leave_roles_alone():
    craft = craft_with(gs.Joint("plain"), gs.Joint("panel", stiffness=3.0), base="planar")
    seen = []

    def law(craft, q, v):
        seen.append(craft.roles)
        return v

    names = ["plain.stiffness", "panel.stiffness", "root.stiffness"]
    kernel = gs.compile(law, craft, parameters=names)
    kernel(gs.neutral(craft), np.zeros(craft.nv), parameters=dict.fromkeys(names, 1.0))
    assert seen == [craft.roles]
    other = craft.with_values({"plain.stiffness": 5.0, "panel.stiffness": 0.0, "root.stiffness": 2.0})
    assert other.roles == craft.roles and other.joint_named("root").driven is None


def test_a_motor_needs_something_to_turn_and_somewhere_to_stand():
    with pytest.raises(gs.ModelError, match=r"joint 'root': driven is true, but .* inertial space"):
        gs.Spacecraft.build("c", [gs.Body("bus", **PART, joint=gs.Joint("root", "planar", driven=True))])
    with pytest.raises(gs.ModelError, match="a fixed joint does not move"):
        craft_with(gs.Joint("weld", "fixed", driven=True))
    with pytest.raises(ValueError, match="driven is 'yes'"):
        gs.Joint("elbow", driven="yes")


def test_driven_survives_a_file(tmp_path):
    joints = (gs.Joint("on", stiffness=2.0, driven=True), gs.Joint("off", driven=False), gs.Joint("default"))
    craft = craft_with(*joints)
    wheel = replace(craft.wheels[0], joint=replace(craft.wheels[0].joint, driven=False))
    craft = gs.Spacecraft.build("craft", [*craft.bodies[:-1], wheel])
    gs.save(craft, tmp_path / "c.toml")
    back = gs.load(tmp_path / "c.toml")
    assert back.roles == craft.roles and [j.driven for j in back.joints] == [None, True, False, None, False]
    with pytest.raises(gs.ModelError, match="joint 'off': URDF cannot express a passive joint"):
        gs.save(craft_with(joints[1]), tmp_path / "c.urdf")
    bad = (tmp_path / "c.toml").read_text().replace("driven = true", 'driven = "yes"')
    (tmp_path / "bad.toml").write_text(bad)
    with pytest.raises(gs.ModelError, match="driven is 'yes'"):
        gs.load(tmp_path / "bad.toml")


@pytest.mark.parametrize("name", ALL_KINDS)
def test_kinds_say_what_others_ask_of_them(name):
    kind = KINDS[name]
    motion = kind(np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 0.0]))
    assert len(kind.q_labels) == len(kind.q_units) and len(kind.v_labels) == len(kind.v_units)
    assert len(set(kind.q_labels)) == len(kind.q_labels) and len(set(kind.v_labels)) == len(kind.v_labels)
    assert motion.single == (name in ("revolute", "prismatic"))
    assert kind.spins == (len(kind.q_units) < len(kind.v_units))
    q = motion.neutral()
    if kind.quaternion is None:
        assert not q.any()
    else:
        assert q[kind.quaternion].tolist() == [1, 0, 0, 0]
