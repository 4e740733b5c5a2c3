"""Options that a formation does not have are refused by name, with what to do instead."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from formation_crafts import armed, box
from gyrostat.algebra import Pose


def pair() -> gs.Formation:
    return gs.Formation({"a": box(), "b": box()})


def law(craft, t, q, v, q_near, v_near):
    return -v


SEEING = {"a": gs.Coupling(law, {"near": "b"})}


def test_conserved_momentum_and_a_base_that_is_seen_are_refused():
    with pytest.raises(ValueError, match="conserve= leaves the velocity of a base out .* see it as v_near"):
        gs.simulate(pair(), None, (0, 1), control=SEEING, conserve="momentum")


def test_what_nobody_asks_for_is_not_seen():
    coupling = gs.Coupling(lambda craft, t, q, v: -v, {"near": "b"})
    with pytest.raises(ValueError, match="sees 'near', but none of its functions asks for q_near or v_near"):
        gs.simulate(pair(), None, (0, 1), control={"a": coupling})
    with pytest.raises(ValueError, match="'near' are others than those whom another function"):
        events = gs.Coupling(lambda craft, t, q, v, q_near: q_near[4], {"near": "a"})
        gs.simulate(pair(), None, (0, 1), control=SEEING, events={"a": events})
    with pytest.raises(ValueError, match="members see others under that name"):
        gs.simulate(pair(), None, (0, 1), control=SEEING, inputs={"a": {"q_near": np.zeros((2, 7))}})


@pytest.mark.parametrize("control", [None, SEEING])
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("q0", r"q0= is no option of a formation. Give state=\{group: \(q, v\)\}"),
        ("rtool", "simulate has no option 'rtool'. Did you mean 'rtol'?"),
    ],
)
def test_options_that_no_formation_has(control, name, words):
    with pytest.raises(TypeError, match=words):
        gs.simulate(pair(), None, (0, 1), control=control, **{name: None})


def test_a_run_goes_on_from_its_final_state():
    formation, start = pair(), pair().neutral()
    start["a"][1][:] = [[0.1, 0.2, 0.3, 0.0, 0.0, 0.1]]
    whole = gs.simulate(formation, start, (0, 2), control=SEEING, rtol=1e-12)
    half = gs.simulate(formation, start, (0, 1), control=SEEING, rtol=1e-12)
    rest = gs.simulate(formation, half.final, (1, 2), control=SEEING, rtol=1e-12)
    for g in formation.groups:
        for found, expected in zip(rest.final[g], whole.final[g], strict=True):
            np.testing.assert_allclose(found, expected, atol=1e-11)


@pytest.mark.parametrize("control", [None, "seeing"])
def test_options_of_one_group(control):
    """Each is felt by the group that has it, and by no other; whether its members see others or not."""

    def seeing(craft, t, q, v, q_other):
        return swing_alone(craft, t, q, v) * (1.0 + q_other[4])

    formation = gs.Formation({"a": armed(), "b": box()})
    law = swing_alone if control is None else gs.Coupling(seeing, {"other": "b"})
    usual = gs.simulate(formation, None, (0, 1), control={"a": law}, save_at=[1.0])
    for options in (
        {"locked": {"a": ["elbow"]}},
        {"prescribed": {"a": {"elbow": [0.1]}}},
        {"constraints": {"a": [gs.constraints.weld("hull", "upper", pose=Pose(np.eye(3), np.array([0.5, 0.0, 0.0])))]}},
        {"actuators": {"a": gs.Actuators(lag=0.5)}},
    ):
        run = gs.simulate(formation, None, (0, 1), control={"a": law}, save_at=[1.0], **options)
        assert run.ok
        assert np.abs(run.groups["a"].v - usual.groups["a"].v).max() > 1e-4, options
        np.testing.assert_array_equal(run.groups["b"].v, usual.groups["b"].v)
        assert run.groups["a"].audit.worst < 1e-9
    for name, value in (("mode", "floating"), ("formulation", "lie_lagrange")):
        run = gs.simulate(formation, None, (0, 1), control={"a": law}, save_at=[1.0], **{name: {"a": value}})
        np.testing.assert_allclose(run.groups["a"].v, usual.groups["a"].v, atol=1e-9)
        assert run.groups["a"].data.attrs[name] == value
        assert run.groups["b"].data.attrs[name] != value
    with pytest.raises(ValueError, match="group 'b': .*no joint 'elbow'"):
        gs.simulate(formation, None, (0, 1), locked=["elbow"])
    with pytest.raises(ValueError, match="locked: the formation has no group 'c'"):
        gs.simulate(formation, None, (0, 1), locked={"c": ["elbow"]})


def swing_alone(craft, t, q, v):
    return np.concatenate([np.zeros(6), [0.3, 0.3, 0.0]])  # not the wheel


def test_a_method_that_solves_for_too_many_members_at_once_is_refused():
    names = [f"m{k}" for k in range(5000)]
    swarm = gs.Formation({"swarm": gs.Group(box(), names)})
    law_of_all = gs.Coupling(lambda craft, t, q, v, q_near: -v * (1.0 + q_near[4]), {"near": "m0"})
    with pytest.raises(MemoryError, match="'gauss16' solves for all members at once, which needs .* Choose 'dop853'"):
        gs.simulate(swarm, None, (0, 1), control={"swarm": law_of_all}, integrator="gauss16", save_at=[1.0])


@pytest.mark.parametrize(
    "function",
    [
        lambda f: gs.simulate_phases(f, None, None, [gs.Phase(1.0)]),
        lambda f: gs.rollout(f, None, 3, 0.1),
        lambda f: gs.linearize(f),
        lambda f: gs.equilibrium(f),
        lambda f: gs.verify(f),
    ],
)
def test_functions_of_one_craft_say_so(function):
    """'Formation' object has no attribute 'joints', before."""
    with pytest.raises(TypeError, match=r"expected a Spacecraft, got Formation.* of one craft.*gs\.together"):
        function(pair())


@pytest.mark.parametrize(
    ("name", "value"), [("rtol", 1e-3), ("integrator", "rk4"), ("max_step", 0.1), ("seed", 1), ("save_at", [0.0, 1.0])]
)
def test_what_is_of_the_clock_is_one_for_all_groups(name, value):
    with pytest.raises(TypeError, match=f"{name}= is one for all groups"):
        gs.simulate(pair(), None, (0, 1), **{name: {"a": value}})


def test_a_state_of_a_group_that_is_not_there_is_no_state():
    formation = pair()
    group = next(iter(formation.groups))
    state = {**formation.neutral(), f"{group}s": formation.neutral()[group]}
    with pytest.raises(ValueError, match=f"group '{group}s' that the formation has not. Did you mean '{group}'"):
        gs.simulate(formation, state, (0, 1))
