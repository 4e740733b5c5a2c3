"""Arrays by name: what is put in under a name comes out under it, and every door that takes arrays takes names."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.algebra import Pose, rotation
from gyrostat.environment import combined, uniform_gravity
from gyrostat.formation import Formation
from random_trees import random_spacecraft


def craft(name="craft"):
    """Given in an order that is not the tree's: a wheel first, a branch in between, the base last."""
    return gs.Spacecraft.build(
        name,
        [
            gs.Wheel("wheel", "hull", (0, 0, 1), 0.05),
            gs.Body("hand", 1.0, (0.1, 0, 0), (0.01, 0.02, 0.02), gs.Joint("wrist", "spherical", "lower", (0.7, 0, 0))),
            gs.Body("panel", 3.0, (0, 0.9, 0), (0.8, 0.02, 0.81),
                    gs.Joint("hinge", "revolute", "hull", axis=(0, 1, 0))),
            gs.Body("lower", 2.0, (0.3, 0, 0), (0.02, 0.2, 0.2), gs.Joint("elbow", "revolute", "upper", (0.8, 0, 0))),
            gs.Body("upper", 3.0, (0.4, 0, 0), (0.02, 0.3, 0.3),
                    gs.Joint("shoulder", "prismatic", "hull", (0.5, 0, 0))),
            gs.Body("hull", 40.0, (0.02, 0, 0), (3.0, 4.0, 5.0), gs.Joint("base", "free")),
        ],
        frames=[gs.Frame("tool", "hand", (0.2, 0.1, 0), rotation(np.array([0.8, 0.1, -0.5, 0.2])))],
    )  # fmt: skip


CRAFT = craft()
X = Pose(rotation(np.array([0.7, 0.1, -0.5, 0.4])), np.array([1.0, 2.0, 3.0]))
Q = {"base": X, "elbow": 0.4, "shoulder": [0.1], "wrist": [0.8, 0.0, 0.6, 0.0]}
V = {"wheel": 30.0, "base": np.arange(6.0), "elbow": -0.2, "wrist": [0.1, 0.2, 0.3]}
TAU = {"elbow": 0.7, "wheel": 0.01, "shoulder": 3.0}
WRENCHES = {"lower": np.arange(6.0), "hull": [0, 0, 0, 1.0, 0, 0]}


def test_bodies_come_base_to_tip_branch_by_branch_in_the_order_given_then_wheels():
    assert [body.name for body in CRAFT.bodies] == ["hull", "panel", "upper", "lower", "hand", "wheel"]


def test_each_value_stands_at_its_joints_place():
    q, v = CRAFT.q(Q), CRAFT.v(V)
    elbow, wheel = CRAFT.joint_named("elbow"), CRAFT.joint_named("wheel")
    assert q[elbow.q_at] == 0.4 and v[elbow.v_at] == -0.2 and v[wheel.v_at] == 30.0
    np.testing.assert_allclose(gs.forward_kinematics(CRAFT, q).R_NB[0], X.R, atol=1e-15)
    np.testing.assert_array_equal(gs.forward_kinematics(CRAFT, q).p_NB[0], X.p)
    assert q[CRAFT.joint_named("hinge").q_at] == 0.0 and not v[CRAFT.joint_named("hinge").v_at].any()
    np.testing.assert_array_equal(CRAFT.q({}), gs.neutral(CRAFT))
    assert CRAFT.q(q) is q and CRAFT.v(v) is v


@pytest.mark.parametrize("seed", range(8))
def test_what_is_split_by_name_is_joined_again(seed):
    tree = random_spacecraft(seed)
    rng = np.random.default_rng(seed)
    for batch in ((), (3,), (2, 3)):
        q, v = rng.normal(size=(*batch, tree.nq)), rng.normal(size=(*batch, tree.nv))
        np.testing.assert_array_equal(tree.q(tree.q_by_name(q)), q)
        np.testing.assert_array_equal(tree.v(tree.v_by_name(v)), v)
    rows = rng.normal(size=(tree.nbodies, 6))
    np.testing.assert_array_equal(tree.wrenches(tree.by_body(rows)), rows)


def test_a_batch_by_name():
    q = CRAFT.q({"elbow": [0.1, 0.2, 0.3], "wrist": [1.0, 0.0, 0.0, 0.0]})
    assert q.shape == (3, CRAFT.nq)
    np.testing.assert_array_equal(q[:, CRAFT.joint_named("elbow").q_at][:, 0], [0.1, 0.2, 0.3])
    run = gs.simulate(CRAFT, {"elbow": [0.1, 0.2, 0.3]}, {"base": np.zeros(6)}, (0, 1), save_at=[1.0])
    np.testing.assert_allclose(run.joint("elbow")["q"].values[:, 0, 0], [0.1, 0.2, 0.3], atol=1e-12)


def test_a_wrench_on_a_frame_is_the_one_that_does_the_same_work():
    F = np.array([0.3, -0.2, 0.5, 1.0, 2.0, -1.0])
    q, v = CRAFT.q(Q), CRAFT.v(V)
    X_NF = gs.frame_pose(CRAFT, q, "tool")
    twist = gs.jacobian(CRAFT, q, "tool") @ v  # in N, of the tool's origin
    power = F[:3] @ (X_NF.R.T @ twist[:3]) + F[3:] @ (X_NF.R.T @ twist[3:])
    at_rest = gs.inverse_dynamics(CRAFT, q, 0 * v, 0 * v)
    tau = at_rest - gs.inverse_dynamics(CRAFT, q, 0 * v, 0 * v, wrenches={"tool": F})
    assert tau @ v == pytest.approx(power, rel=1e-12)
    twice = CRAFT.wrenches({"tool": F, "hand": np.ones(6)})
    np.testing.assert_allclose(twice, CRAFT.wrenches({"tool": F}) + CRAFT.wrenches({"hand": np.ones(6)}))


DOORS = {
    "mass_matrix": (gs.mass_matrix, "q"),
    "bias_force": (gs.bias_force, "qv"),
    "forward_dynamics": (gs.forward_dynamics, "qvtw"),
    "inverse_dynamics": (gs.inverse_dynamics, "qvvw"),
    "reaction_wrenches": (gs.reaction_wrenches, "qvvw"),
    "coriolis_matrix": (gs.coriolis_matrix, "qv"),
    "forward_kinematics": (gs.forward_kinematics, "q"),
    "momentum": (gs.momentum, "qv"),
    "kinetic_energy": (gs.kinetic_energy, "qv"),
    "center_of_mass": (gs.center_of_mass, "q"),
    "step_configuration": (gs.step_configuration, "qv"),
    "configuration_rate": (gs.configuration_rate, "qv"),
    "configuration_difference": (gs.configuration_difference, "qq"),
    "generalized_inertia": (gs.generalized_inertia, "q"),
    "jacobian": (lambda craft, q: gs.jacobian(craft, q, "tool"), "q"),
    "frame_pose": (lambda craft, q: gs.frame_pose(craft, q, "tool"), "q"),
}


@pytest.mark.parametrize("name", DOORS)
def test_every_door_takes_names(name):
    function, takes = DOORS[name]
    by_name = {"q": Q, "v": V, "t": TAU, "w": WRENCHES}
    arrays = {"q": CRAFT.q(Q), "v": CRAFT.v(V), "t": CRAFT.v(TAU), "w": CRAFT.wrenches(WRENCHES)}
    options = ["wrenches"] if "w" in takes else []

    def called(values):
        places = [values[key] for key in takes if key != "w"]
        return function(CRAFT, *places, **dict.fromkeys(options, values["w"]))

    found, expected = called(by_name), called(arrays)
    parts = zip(found, expected, strict=True) if isinstance(found, tuple) else [(found, expected)]
    for a, b in parts:
        np.testing.assert_array_equal(a, b)


def test_laws_and_environments_may_answer_by_name():
    """Alone, in a mode, added to another environment, and on a member of craft put together."""

    def law(craft, t, q, v):
        return {"elbow": -2.0 * v[craft.joint_named("elbow").v_at], "wheel": 0.01}

    def as_array(craft, t, q, v):
        return craft.v(law(craft, t, q, v))

    def wind(craft, t, q, v):
        return {"panel": np.array([0.0, 0.1, 0.0, 0.2, 0.0, 0.0]), "tool": np.array([0, 0, 0, 0, 0, 0.3])}

    def wind_array(craft, t, q, v):
        return craft.wrenches(wind(craft, t, q, v))

    options = {"t_span": (0, 2), "save_at": [1.0, 2.0], "rtol": 1e-10}
    for mode in (None, "rotation-flying"):
        named = gs.simulate(CRAFT, Q, V, control=law, environment=wind, mode=mode, **options)
        plain = gs.simulate(
            CRAFT, CRAFT.q(Q), CRAFT.v(V), control=as_array, environment=wind_array, mode=mode, **options
        )
        np.testing.assert_array_equal(named.q, plain.q)
    both = [combined(uniform_gravity((0, 0, -1)), f) for f in (wind, wind_array)]
    runs = [gs.simulate(CRAFT, Q, V, environment=e, **options) for e in both]
    np.testing.assert_array_equal(runs[0].q, runs[1].q)
    pair = gs.together("pair", [craft("one"), craft("two")])
    runs = [gs.simulate(pair, control=gs.control.on("one", f), **options) for f in (law, as_array)]
    np.testing.assert_array_equal(runs[0].q, runs[1].q)
    assert np.abs(runs[0].v).max() > 1e-4


def test_formations_take_names():
    formation = Formation({"a": CRAFT})
    ((q, v),) = formation.state({"a": (Q, V)}).values()
    np.testing.assert_array_equal(q[0], CRAFT.q(Q))
    np.testing.assert_array_equal(v[0], CRAFT.v(V))
    orbit = gs.Orbit.circular(500e3)
    q, _ = next(
        iter(Formation({"a": CRAFT}, orbit=orbit).hill_state({"a": np.zeros(3)}, joints={"a": {"elbow": 0.3}}).values())
    )
    assert q[0, CRAFT.joint_named("elbow").q_at] == 0.3


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: gs.mass_matrix(CRAFT, {"elbo": 0.1}), "no joint 'elbo'. Did you mean 'elbow'"),
        (
            lambda: CRAFT.q({"wrist": 0.1}),
            r"q\['wrist'\] has shape \(\); expected the 4 coordinates of a spherical joint",
        ),
        (
            lambda: gs.forward_dynamics(CRAFT, Q, V, {"wrist": [1.0]}),
            r"tau\['wrist'\] has shape \(1,\); expected the 3",
        ),
        (lambda: CRAFT.q({"wheel": 0.1}), r"q\['wheel'\] has shape \(\); expected the 0 coordinates of a wheel joint"),
        (lambda: CRAFT.wrenches({"tol": np.zeros(6)}), "no body or frame 'tol'. Did you mean 'tool'"),
        (lambda: CRAFT.wrenches({"tool": np.zeros(3)}), r"wrenches\['tool'\] has shape \(3,\); expected \(6,\)"),
        (lambda: CRAFT.by_body(np.zeros((5, 6))), "craft has 6 bodies; found 5 rows"),
        (lambda: gs.simulate(CRAFT, {"elbo": 1.0}, t_span=(0, 1)), "no joint 'elbo'"),
    ],
)
def test_wrong_names_and_shapes_are_said(call, words):
    with pytest.raises(ValueError, match=words):
        call()
