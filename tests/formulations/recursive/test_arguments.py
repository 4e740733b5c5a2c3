"""Wrong arguments are refused with their name, their shape and what was expected; odd but right ones are taken."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from random_trees import random_spacecraft, random_state

CRAFT = random_spacecraft(3, base="free")
Q, V = random_state(CRAFT, 3)
NQ, NV, NB = CRAFT.nq, CRAFT.nv, CRAFT.nbodies
W = np.zeros((NB, 6))
LINK = CRAFT.bodies[1].name
JOINT = next(joint.name for joint in CRAFT.joints[1:] if joint.nv)

# function, its right arguments by name, keyword arguments
CALLS = {
    "mass_matrix": {"q": Q},
    "forward_dynamics": {"q": Q, "v": V, "tau": V, "wrenches": W},
    "hybrid_dynamics": {"q": Q, "v": V, "tau": V, "wrenches": W},
    "inverse_dynamics": {"q": Q, "v": V, "vdot": V, "wrenches": W},
    "bias_force": {"q": Q, "v": V, "wrenches": W},
    "coriolis_matrix": {"q": Q, "v": V},
    "reaction_wrenches": {"q": Q, "v": V, "vdot": V, "wrenches": W},
    "forward_kinematics": {"q": Q},
    "frame_pose": {"q": Q, "frame": "tool"},
    "jacobian": {"q": Q, "frame": LINK, "point": np.zeros(3)},
    "jacobian_rate": {"q": Q, "v": V, "frame": LINK, "point": np.zeros(3)},
    "momentum": {"q": Q, "v": V, "about": np.zeros(3)},
    "kinetic_energy": {"q": Q, "v": V},
    "center_of_mass": {"q": Q},
    "centroidal_momentum_matrix": {"q": Q},
    "composite_inertia": {"q": Q},
    "regressor": {"q": Q, "v": V, "vdot": V},
    "step_configuration": {"q": Q, "dv": V},
    "configuration_difference": {"q0": Q, "q1": Q},
    "configuration_rate": {"q": Q, "v": V},
}


def public(name):
    """From where it lives: not all of them stand at the top."""
    return getattr(gs.formulations.recursive, name, None) or getattr(gs.kinematics, name)


ARRAYS = [(f, name) for f, args in CALLS.items() for name, value in args.items() if isinstance(value, np.ndarray)]


@pytest.mark.parametrize("function", CALLS)
def test_right_arguments_are_taken_as_arrays_lists_and_integers(function):
    call, args = public(function), CALLS[function]
    expected = call(CRAFT, **args)
    listed = call(
        CRAFT, **{name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in args.items()}
    )
    for a, b in (
        zip(np.atleast_1d(expected), np.atleast_1d(listed), strict=True)
        if not isinstance(expected, tuple)
        else zip(expected, listed, strict=True)
    ):
        assert np.array_equal(a, b)
    whole = {
        name: np.ones(value.shape, dtype=int) if isinstance(value, np.ndarray) else value
        for name, value in args.items()
    }
    call(CRAFT, **whole)


@pytest.mark.parametrize(("function", "name"), ARRAYS)
def test_wrong_shapes_are_refused_by_name(function, name):
    right = CALLS[function][name]
    for wrong in (right[:-1], np.zeros(right.shape + (1,)), np.zeros(()), np.zeros((2, *right.shape))):
        with pytest.raises(ValueError) as caught:
            public(function)(CRAFT, **{**CALLS[function], name: wrong})
        text = str(caught.value)
        assert text.startswith(name) and f"has shape {wrong.shape}; expected {right.shape}" in text
        assert ("gs.compile" in text) == (wrong.ndim > right.ndim and wrong.shape[-right.ndim :] == right.shape)


@pytest.mark.parametrize(("function", "name"), ARRAYS)
def test_what_is_no_array_of_numbers_is_refused_by_name(function, name):
    right = CALLS[function][name]
    for wrong in ("text", [[1.0], [2.0, 3.0]], ["a"] * len(right)):
        with pytest.raises(ValueError, match=rf"^{name} (is|has shape) .*expected") as caught:
            public(function)(CRAFT, **{**CALLS[function], name: wrong})
        assert str(right.shape) in str(caught.value)


def test_unknown_bodies_frames_and_joints_are_refused_with_the_nearest_name():
    for call in (gs.jacobian, lambda c, q, f: gs.jacobian_rate(c, q, V, f), gs.frame_pose):
        with pytest.raises(ValueError, match="no body or frame 'tol'. Did you mean 'tool'"):
            call(CRAFT, Q, "tol")
    with pytest.raises(ValueError, match="no joint 'joint_99'"):
        gs.forward_dynamics(CRAFT, Q, V, V, prescribed={"joint_99": 0.0})


def test_prescribed_accelerations_have_their_joints_shape():
    n = CRAFT.joint_named(JOINT).nv
    with pytest.raises(ValueError, match=rf"prescribed\['{JOINT}'\] has shape \({n + 1},\); expected \({n},\)"):
        gs.forward_dynamics(CRAFT, Q, V, V, prescribed={JOINT: np.zeros(n + 1)})
    turning = gs.Spacecraft.build(
        "x", [gs.Body("b", 1, inertia=(1, 1, 1)), gs.Body("l", 1, inertia=(1, 1, 1), joint=gs.Joint("j", parent="b"))]
    )
    rest = np.zeros(7)
    plain, listed = (
        gs.forward_dynamics(turning, gs.neutral(turning), rest, rest, prescribed={"j": value}) for value in (2.0, [2.0])
    )
    assert plain[6] == 2.0 and np.array_equal(plain, listed)


def test_a_craft_without_freedom():
    """A fixed base alone: nothing to move, nothing breaks."""
    craft = gs.Spacecraft.build(
        "wall", [gs.Body("wall", 3, (1, 2, 3), (1, 1, 1), gs.Joint("weld", "fixed", position=(1, 0, 0)))]
    )
    q = v = np.zeros(0)
    assert craft.nq == craft.nv == 0
    assert gs.forward_dynamics(craft, q, v, v).shape == gs.inverse_dynamics(craft, q, v, v).shape == (0,)
    assert gs.mass_matrix(craft, q).shape == gs.coriolis_matrix(craft, q, v).shape == (0, 0)
    assert gs.jacobian(craft, q, "wall").shape == gs.jacobian_rate(craft, q, v, "wall").shape == (6, 0)
    assert gs.formulations.recursive.regressor(craft, q, v, v).shape == (
        0,
        10,
    ) and gs.formulations.recursive.centroidal_momentum_matrix(craft, q).shape == (6, 0)
    assert gs.kinetic_energy(craft, q, v) == 0 and gs.momentum(craft, q, v).tolist() == [0] * 6
    assert gs.center_of_mass(craft, q).tolist() == [2, 2, 3]
    load = np.arange(6.0).reshape(1, 6)
    assert gs.reaction_wrenches(craft, q, v, v, wrenches=load).tolist() == (-load).tolist()


def test_arguments_are_left_as_they_were():
    before = [x.copy() for x in (Q, V, W)]
    for function, args in CALLS.items():
        public(function)(CRAFT, **args)
    for x, old in zip((Q, V, W), before, strict=True):
        assert np.array_equal(x, old)


@pytest.mark.parametrize("function", CALLS)
def test_results_are_floats_for_floats_and_alike_for_boxed_floats(function):
    """Object arrays that hold plain floats, as a tracer's constants do."""
    call, args = public(function), CALLS[function]
    plain = call(CRAFT, **args)
    boxed = call(CRAFT, **{name: x.astype(object) if isinstance(x, np.ndarray) else x for name, x in args.items()})
    pairs = zip(plain, boxed, strict=True) if isinstance(plain, tuple) else [(plain, boxed)]
    for a, b in pairs:
        assert np.asarray(a).dtype == float
        difference = np.abs(np.asarray(b, dtype=float) - np.asarray(a)).max()
        assert difference <= 1e-12 * max(1.0, np.abs(np.asarray(a)).max())


def test_recursive_supports_every_craft():
    from gyrostat.formulations import recursive

    assert all(recursive.supports(random_spacecraft(seed)) is None for seed in range(5))
