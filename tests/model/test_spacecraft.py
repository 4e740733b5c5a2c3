"""The spacecraft as a value: order, layout, lookup, immutability, and other values by name."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import gyrostat as gs
from exact import exact, mp, size
from gyrostat.model.parameters import ATTRIBUTES
from random_trees import random_rotation, random_spacecraft, random_state


def servicer() -> gs.Spacecraft:
    """Two arms, one of which branches; wheels in between; frames and thrusters."""
    rng = np.random.default_rng(1)
    part = {"mass": 1.0, "inertia": (0.1, 0.2, 0.25)}
    return gs.Spacecraft.build(
        "servicer",
        [
            gs.Wheel("rw_x", "bus", (1, 0, 0), 0.01, max_speed=600.0, max_torque=0.2),
            gs.Body("left_2", **part, joint=gs.Joint("elbow", "spherical", "left_1", (1, 0, 0))),
            gs.Body("bus", 100.0, (0.1, 0, 0), (10, 11, 12)),
            gs.Body("right_1", **part, joint=gs.Joint("hip", "cylindrical", "bus", (0, 1, 0), random_rotation(rng))),
            gs.Wheel("rw_y", "left_1", (0, 1, 0), 0.02),
            gs.Body(
                "left_1", **part, joint=gs.Joint("shoulder", "revolute", "bus", rotor_inertia=1e-4, gear_ratio=100.0)
            ),
            gs.Body("left_3", **part, joint=gs.Joint("wrist", "universal", "left_1", axis=(1, 0, 0))),
        ],
        frames=[gs.Frame("tool", "left_2", (0, 0, 0.5), random_rotation(rng)), gs.Frame("camera", "bus", (1, 2, 3))],
        thrusters=[gs.Thruster("t1", "bus", (0, 0, 1), (0, 0, -3.0), 22.0)],
    )


# ---- order and layout


def test_bodies_stand_base_first_branch_by_branch_wheels_last():
    craft = servicer()
    assert [body.name for body in craft.bodies] == ["bus", "right_1", "left_1", "left_2", "left_3", "rw_x", "rw_y"]
    assert craft.base == "bus" and [w.name for w in craft.wheels] == ["rw_x", "rw_y"]
    for k, (name, parent) in enumerate(craft.base_to_tip):
        assert craft.index(name) == k and (parent is None) == (k == 0)
        assert parent is None or craft.index(parent) < k


def test_q_and_v_are_laid_out_in_that_order():
    craft = servicer()
    assert craft.nbodies == 7 and craft.nq == 7 + 2 + 1 + 4 + 2 and craft.nv == 6 + 2 + 1 + 3 + 2 + 1 + 1
    at_q = at_v = 0
    for joint in craft.joints:
        assert joint.q_at == slice(at_q, at_q + joint.nq) and joint.v_at == slice(at_v, at_v + joint.nv)
        at_q, at_v = at_q + joint.nq, at_v + joint.nv
    assert (at_q, at_v) == (craft.nq, craft.nv) == (len(gs.neutral(craft)), craft.joints[-1].v_at.stop)
    assert craft.joint_named("rw_y").v_at == slice(craft.nv - 1, craft.nv)


@pytest.mark.parametrize("seed", range(30))
def test_every_random_tree_is_in_order(seed):
    craft = random_spacecraft(seed)
    seen = set()
    kinds = [joint.kind for joint in craft.joints]
    for name, parent in craft.base_to_tip:
        assert parent is None or parent in seen
        seen.add(name)
    assert kinds == sorted(kinds, key=lambda kind: kind == "wheel")


@pytest.mark.parametrize("seed", range(30))
def test_building_once_more_changes_no_order(seed):
    craft = random_spacecraft(seed, kinds=("revolute", "wheel"))
    again = gs.Spacecraft.build("again", craft.bodies, frames=craft.frames)
    assert [body.name for body in again.bodies] == [body.name for body in craft.bodies]


def test_a_base_without_a_joint_floats():
    craft = gs.Spacecraft.build("rock", [gs.Body("rock", 1.0, inertia=(1, 1, 1))])
    assert craft.joints[0].kind == "free" and craft.nv == 6 and gs.neutral(craft).tolist() == [1, 0, 0, 0, 0, 0, 0]


# ---- lookup


def test_lookup_by_name_and_its_errors():
    craft = servicer()
    assert craft.body("left_1").parent == "bus" and craft.joint("left_1").name == "shoulder"
    assert craft.joint_named("elbow").kind == "spherical" and craft.thruster("t1").max_thrust == 22.0
    assert craft.thruster("t1").direction.tolist() == [0, 0, -1]  # made a unit vector
    assert craft.joint_named("rw_x").limits.velocity == 600.0 and craft.joint_named("rw_x").limits.effort == 0.2
    body, X = craft.locate("tool")
    assert body == "left_2" and X.p.tolist() == [0, 0, 0.5]
    assert craft.locate("left_2")[0] == "left_2" and (np.eye(3) == craft.locate("left_2")[1].R).all()
    for find, wrong, hint in (
        (craft.body, "left_9", "left_"),
        (craft.index, "left_9", "left_"),
        (craft.joint_named, "elbo", "elbow"),
        (craft.thruster, "t9", "t1"),
        (craft.locate, "tol", "tool"),
    ):
        with pytest.raises(ValueError, match=f"servicer has no .*'{wrong}'.*{hint}"):
            find(wrong)


def test_frames_are_where_they_were_put():
    craft = servicer()
    q, _ = random_state(craft, 4)
    X = gs.forward_kinematics(craft, q)
    k, tool = craft.index("left_2"), craft.frames[0]
    found = gs.frame_pose(craft, q, "tool")
    assert size(found.R - X.R_NB[k] @ tool.rotation) < 1e-15
    assert size(found.p - X.p_NB[k] - X.R_NB[k] @ tool.position) < 1e-15
    J, point = gs.jacobian(craft, q, "tool", (0.1, 0.2, 0.3)), tool.position + tool.rotation @ np.array([0.1, 0.2, 0.3])
    assert size(J - gs.jacobian(craft, q, "left_2", point)) < 1e-15


def test_repr_says_what_it_is():
    assert repr(servicer()) == "<Spacecraft servicer: 7 bodies, nq 16, nv 16>"


# ---- immutability


def test_nothing_can_be_changed():
    craft = servicer()
    for part, name in (
        (craft, "name"),
        (craft.bodies[0], "mass"),
        (craft.joints[2], "axis"),
        (craft.frames[0], "body"),
    ):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(part, name, None)
    arrays = (
        craft.bodies[0].com,
        craft.bodies[0].inertia,
        *(getattr(craft.joints[2], name) for name in ("position", "rotation", "axis", "axis2")),
        craft.frames[0].position,
        craft.frames[0].rotation,
        craft.thrusters[0].position,
        craft.thrusters[0].direction,
    )
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0


def test_parts_copy_what_they_are_given():
    com = np.array([1.0, 2.0, 3.0])
    body = gs.Body("b", 1.0, com)
    com[0] = 9.0
    assert body.com[0] == 1.0 and com.flags.writeable


def test_round_off_in_rotations_and_axes_becomes_exact():
    """Structural zeros, so that they vanish from traced code."""
    c = np.cos(np.pi / 2)  # 6e-17
    joint = gs.Joint("j", rotation=[[c, -1, 0], [1 - 1e-16, c, 0], [0, 0, 1]], axis=(c, 0, 2))
    assert joint.rotation.tolist() == [[0, -1, 0], [1, 0, 0], [0, 0, 1]] and joint.axis.tolist() == [0, 0, 1]


# ---- inertia in three notations; wheels in their carriers


def test_inertia_notations():
    full = np.array([[1.0, 0.1, 0.2], [0.1, 2.0, 0.3], [0.2, 0.3, 2.5]])
    assert (gs.Body("b", 1, inertia=full).inertia == full).all()
    assert (gs.Body("b", 1, inertia=(1.0, 0.1, 0.2, 2.0, 0.3, 2.5)).inertia == full).all()
    assert (gs.Body("b", 1, inertia=(1.0, 2.0, 2.5)).inertia == np.diag([1.0, 2.0, 2.5])).all()


def test_a_wheel_is_taken_out_of_its_carrier():
    a = np.array([0.6, 0.0, 0.8])
    craft = gs.Spacecraft.build("x", [gs.Body("hub", 5, (1, 0, 0), (1, 1, 1)), gs.Wheel("rw", "hub", a, 0.1)])
    M = craft.inertia("hub")
    moved = np.eye(3) + 5 * np.diag([0, 1, 1])
    assert M.m == 5 and size(M.I_o - (moved - 0.1 * np.outer(a, a))) < 1e-15
    assert size(craft.inertia("rw").I_o - 0.1 * np.outer(a, a)) < 1e-16 and craft.inertia("rw").m == 0
    assert gs.total_mass(craft) == 5


# ---- values by name


def test_every_parameter_is_listed_read_and_written():
    craft = servicer()
    everything = craft.parameters()
    of_modes = {
        name for name, attribute in ATTRIBUTES.items() if attribute.owner == "mode"
    }  # no body of it is flexible
    assert {name.rpartition(".")[2] for name in everything} == set(ATTRIBUTES) - of_modes
    rng = np.random.default_rng(2)
    for name, old in everything.items():
        attribute = ATTRIBUTES[name.rpartition(".")[2]]
        assert np.shape(old) == attribute.shape
        new = np.asarray(rng.uniform(0.5, 1.5, size=attribute.shape))
        if name.endswith(("axis", "orientation")):
            new = new / np.linalg.norm(new)
        other = craft.with_values({name: new})
        assert size(other.value(name) - new) < 1e-15, name
        untouched = {key: value for key, value in other.parameters().items() if key != name}
        for key, value in untouched.items():
            tied = {name, key} & {f"{w.name}.{x}" for w in craft.wheels for x in ("axis", "inertia", "spin_inertia")}
            assert len(tied) == 2 or size(value - everything[key]) == 0, (name, key)
        assert size(craft.value(name) - old) == 0  # the original stays


def test_setting_the_present_values_changes_nothing():
    craft = servicer()
    other = craft.with_values(craft.parameters())
    q, v = random_state(craft, 5)
    tau = np.ones(craft.nv)
    assert size(gs.forward_dynamics(craft, q, v, tau) - gs.forward_dynamics(other, q, v, tau)) < 1e-12
    assert [j.v_at for j in other.joints] == [j.v_at for j in craft.joints]


def test_what_values_mean():
    craft = servicer()
    other = craft.with_values({"left_2.mass": 5.0, "left_2.inertia": (1, 0.1, 0, 1, 0, 1), "rw_x.spin_inertia": 0.5})
    assert gs.total_mass(other) == gs.total_mass(craft) + 4.0
    assert other.body("left_2").inertia[1, 0] == 0.1
    assert other.inertia("bus").I_o[0, 0] == pytest.approx(10.0 - 0.5, abs=1e-14)
    assert craft.with_values({"shoulder.gear_ratio": 10}).joint_named("shoulder").armature == pytest.approx(1e-2)


def test_values_may_be_symbols():
    """Whatever adds and multiplies: here mpmath numbers, for every parameter at once."""
    craft = servicer()
    other = craft.with_values({name: exact(value) for name, value in craft.parameters().items()})
    q, v = random_state(craft, 6)
    tau = np.linspace(-1, 1, craft.nv)
    found = gs.forward_dynamics(other, q, v, tau)
    assert all(isinstance(x, mp.mpf) for x in found)
    expected = gs.forward_dynamics(craft, q, v, tau)
    assert size(found.astype(float) - expected) < 1e-12 * size(expected)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"left_2.mas": 1.0}, "'mas' is no attribute. Did you mean 'mass'?"),
        ({"mass": 1.0}, "'mass' is no parameter"),
        ({"left_9.mass": 1.0}, "has no body 'left_9'"),
        ({"left_2.position": (0, 0, 0)}, "has no joint 'left_2'"),
        ({"t2.max_thrust": 1.0}, "has no thruster 't2'"),
        ({"left_2.spin_inertia": 1.0}, "has no spin_inertia"),
        ({"left_2.mass": (1.0, 2.0)}, "parameter 'left_2.mass' has shape (2,); expected one number"),
        ({"left_2.com": 1.0}, "parameter 'left_2.com' has shape (); expected numbers of shape (3,)"),
        ({"left_2.inertia": np.eye(3)}, "parameter 'left_2.inertia' has shape (3, 3); expected numbers of shape (6,)"),
        ({"left_2.mass": "heavy"}, "parameter 'left_2.mass' is 'heavy'"),
    ],
)
def test_wrong_parameters_are_refused_by_name(values, words):
    with pytest.raises(ValueError) as caught:
        servicer().with_values(values)
    assert words in str(caught.value)
    if "shape" not in words and "heavy" not in words:
        with pytest.raises(ValueError):
            servicer().value(next(iter(values)))
