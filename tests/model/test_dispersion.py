"""Values given in place of a craft's own, to simulate and to kernels, are judged as when a craft is built."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.model import ModelWarning, ValueCheck
from random_trees import random_spacecraft


@pytest.fixture(scope="module")
def craft():
    return gs.Spacecraft.build(
        "craft",
        [
            gs.Body("bus", 100.0, (0.1, 0.0, 0.2), (20.0, 25.0, 30.0)),
            gs.Body("link", 5.0, (0.5, 0, 0), (0.1, 0.5, 0.5), gs.Joint("hinge", "revolute", "bus", (1, 0, 0))),
            gs.Body("tool", 0.0, joint=gs.Joint("grip", "fixed", "link", (1, 0, 0))),
            gs.Wheel("wheel", "bus", (0, 0, 1), 0.4),
        ],
        thrusters=[gs.Thruster("jet", "bus", (0, 0, 0), (1, 0, 0), max_thrust=2.0)],
    )


WRONG = [
    ("link.mass", -5.0, "body 'link': mass is -5.0 kg; expected zero or more. Correct the sign"),
    ("link.mass", np.nan, "mass is nan; expected finite numbers"),
    ("bus.mass", np.inf, "mass is inf; expected finite numbers"),
    ("link.com", (0.0, np.nan, 0.0), "com is .*; expected finite numbers"),
    ("link.inertia", (0.1, 0, 0, -0.5, 0, 0.5),
     "principal moments of inertia are -0.5, 0.1, 0.5 kg m.2; none may be negative"),
    ("link.inertia", (0.1, 1.0, 0, 0.5, 0, 0.5), "none may be negative. Off-diagonal elements are minus the products"),
    ("wheel.spin_inertia", -0.1, "body 'wheel'.*none may be negative"),
    ("wheel.spin_inertia", 31.0, "body 'bus': principal moments of inertia after its wheels are taken out are -1"),
    ("wheel.spin_inertia", 0.0, "joint 'wheel': moves nothing with inertia"),
    ("wheel.mass", 1.0, "body 'wheel': is marked as included in its carrier's mass properties"),
    ("wheel.axis", (1.0, 0.0, 0.0), "body 'wheel': is marked as included"),
    ("hinge.axis", (0.0, 0.0, 2.0), r"'hinge.axis'.* is \[0.0, 0.0, 2.0\], of length 2; expected a unit vector"),
    ("hinge.axis", (0.0, 0.0, 0.0), "of length 0; expected a unit vector"),
    ("hinge.position", (np.inf, 0.0, 0.0), "position is .*; expected finite numbers"),
    ("hinge.orientation", (0.0, 0.0, 0.0, 0.0), "rotation is .*; expected finite numbers"),
    ("hinge.stiffness", -1.0, "joint 'hinge': stiffness is -1.0; expected zero or more"),
    ("hinge.damping", -1.0, "joint 'hinge': damping is -1.0; expected zero or more"),
    ("hinge.friction", -1.0, "friction is -1.0; expected zero or more"),
    ("hinge.rotor_inertia", -1e-6, "rotor_inertia is -1e-06; expected zero or more"),
    ("hinge.rest", np.nan, "rest is nan; expected finite numbers"),
    ("hinge.gear_ratio", np.nan, "gear_ratio is nan; expected finite numbers"),
    ("jet.max_thrust", -2.0, "thruster 'jet': max_thrust is -2.0; expected zero or more"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value", "words"), WRONG)
def test_what_no_craft_could_be_built_with_is_refused(craft, name, value, words):
    with np.errstate(all="ignore"), pytest.raises(ValueError, match=words):
        ValueCheck(craft, [name])({name: value})
    own = craft.value(name)
    rows = np.array([own, own, value, own], dtype=float)
    with np.errstate(all="ignore"), pytest.raises(ValueError, match="of run 2"):
        ValueCheck(craft, [name])({name: rows})


@pytest.mark.parametrize("name", sorted({name for name, _, _ in WRONG}))
def test_what_the_craft_was_built_with_passes(craft, name):
    ValueCheck(craft, [name])({name: craft.value(name)})
    ValueCheck(craft, [name])({name: np.broadcast_to(craft.value(name), (3, 2, *np.shape(craft.value(name))))})


def test_simulate_refuses_a_negative_mass(craft):
    """Alone and in a batch."""
    with pytest.raises(ValueError, match="parameters: body 'link': mass is -5.0 kg"):
        gs.simulate(craft, t_span=(0, 1), parameters={"link.mass": -5.0})
    with pytest.raises(ValueError, match="parameters of run 1: body 'link': mass is -5.0 kg"):
        gs.simulate(craft, t_span=(0, 1), parameters={"link.mass": [5.0, -5.0], "bus.mass": 90.0})


def test_kernels_refuse_a_negative_mass(craft):
    """Before and after a journey through a pickle; in rows and in lanes; of several craft, by name."""
    kernel = gs.compile(gs.forward_dynamics, craft, parameters=["link.mass"])
    q, v, tau = gs.neutral(craft), np.zeros(craft.nv), np.ones(craft.nv)
    for one in (kernel, pickle.loads(pickle.dumps(kernel))):
        one(q, v, tau, parameters={"link.mass": 6.0})
        with pytest.raises(ValueError, match="parameters of craft: body 'link': mass is -5.0 kg"):
            one(q, v, tau, parameters={"link.mass": -5.0})
        with pytest.raises(ValueError, match="parameters of craft of run 1: body 'link': mass is -5.0 kg"):
            one(np.stack([q, q]), v, tau, parameters={"link.mass": np.array([5.0, -5.0])})
    rows = [np.broadcast_to(x, (5, *x.shape)) for x in (q, v, tau)]
    masses = np.array([5.0, 5.0, 5.0, -5.0, 5.0])
    lanes = [kernel.to_lanes(x, x.shape[1:]) for x in rows]
    with pytest.raises(ValueError, match=r"of run \(0, 3\): body 'link': mass is -5.0"):
        kernel(*lanes, parameters={"link.mass": kernel.to_lanes(masses, ())}, layout="lanes")

    def total(one, other, q):
        return gs.kinetic_energy(one, q, np.ones(one.nv)) + gs.kinetic_energy(other, q, np.ones(other.nv))

    other = gs.Spacecraft.build("other", craft.bodies)
    both = gs.compile(total, (craft, other), inputs={"q": (craft.nq,)}, parameters=["other/link.mass"])
    with pytest.raises(ValueError, match="parameters of other: body 'link': mass is -5.0"):
        both(q, parameters={"other/link.mass": -5.0})


def test_symbols_pass(craft):
    """Equations may be traced with symbols in place of anything."""
    names = [name for name in craft.parameters() if not name.startswith("jet")]
    gs.compile(gs.mass_matrix, craft, parameters=names)


def test_a_body_that_could_not_be_is_said_once_and_computed(craft):
    """As when it is built: one moment larger than the sum of the others is a warning."""
    values = np.array([[0.1, 0, 0, 0.5, 0, 0.5], [0.1, 0, 0, 0.5, 0, 0.7], [0.1, 0, 0, 0.5, 0, 0.8]])
    with pytest.warns(ModelWarning, match="of run 1: body 'link': .* larger than the sum of") as said:
        ValueCheck(craft, ["link.inertia"])({"link.inertia": values})
    assert len(said) == 1


def test_a_million_values_are_judged_at_once(craft):
    rng = np.random.default_rng(0)
    values = {
        "link.mass": 5.0 + rng.random(10**6),
        "bus.inertia": np.array([20.0, 0, 0, 25.0, 0, 30.0]) + rng.random((10**6, 6)),
        "wheel.spin_inertia": rng.random(10**6) + 0.1,
    }
    ValueCheck(craft, list(values))(values)
    values["bus.inertia"][123_456, 0] = -20.0
    with pytest.raises(ValueError, match="of run 123456: body 'bus': principal moments"):
        ValueCheck(craft, list(values))(values)


@pytest.mark.parametrize("seed", range(12))
def test_verdicts_are_those_of_building(seed):
    """Random trees of every joint kind; random values, physical or not:
    refused exactly where `Spacecraft.build` refuses.
    """
    rng = np.random.default_rng(seed)
    craft = random_spacecraft(seed)
    for name, value in craft.parameters().items():
        if name.endswith((".orientation", ".axis")):
            continue  # normalised when built, refused here unless unit
        for factor in (1.0, 1.3, 0.0, -1.0, rng.normal(size=np.shape(value))):
            other = craft.with_values({name: factor * np.asarray(value)})
            try:
                gs.Spacecraft.build("other", other.bodies, memberships=craft.memberships)
                expected = True
            except ValueError:
                expected = False
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ModelWarning)
                try:
                    ValueCheck(craft, [name])({name: factor * np.asarray(value)})
                    found = True
                except ValueError:
                    found = False
            assert found == expected, (name, value, factor)
