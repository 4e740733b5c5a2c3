"""Options that a formation does not have are refused by name, with what to do instead."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from formation_crafts import box


def pair() -> gs.Formation:
    return gs.Formation({"a": box(), "b": box()})


def law(craft, t, q, v, q_near, v_near):
    return -v


SEEING = {"a": gs.Coupling(law, {"near": "b"})}


@pytest.mark.parametrize(
    ("name", "value", "instead"),
    [
        ("events", [lambda craft, t, q, v: q[4]], "Look for the time in the result"),
        ("prescribed", {"hull": np.zeros(6)}, "Hold joints with locked="),
        ("constraints", [gs.constraints.weld("hull", "hull")], "Join the members by gs.together"),
        ("conserve", "momentum", "Use a tighter rtol"),
        ("mode", "floating", "let the law act on the joints alone"),
    ],
)
def test_options_of_members_that_see_nobody(name, value, instead):
    with pytest.raises(ValueError, match=f"{name}= is not available for members that see each other. .*{instead}"):
        gs.simulate(pair(), None, (0, 1), control=SEEING, **{name: value})


@pytest.mark.parametrize("control", [None, SEEING])
@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "resume",
            r"resume= is no option of a formation. Go on from the end of a run: gs.simulate\(formation, run.final",
        ),
        ("q0", r"q0= is no option of a formation. Give state=\{group: \(q, v\)\}"),
        ("parameters", r"parameters= is no option of a formation. They belong to a group"),
        ("runs", "The members are the runs"),
        ("rtool", "simulate has no option 'rtool'. Did you mean 'rtol'?"),
    ],
)
def test_options_that_no_formation_has(control, name, words):
    with pytest.raises(TypeError, match=words):
        gs.simulate(pair(), None, (0, 1), control=control, **{name: None})


def test_an_implicit_integrator_is_refused_with_those_that_serve():
    with pytest.raises(ValueError, match="'gauss16' is implicit. Choose 'dop853', 'rk45', or 'rk4' with a step"):
        gs.simulate(pair(), None, (0, 1), control=SEEING, integrator="gauss16")


def test_a_run_goes_on_from_its_final_state():
    formation, start = pair(), pair().neutral()
    start["a"][1][:] = [[0.1, 0.2, 0.3, 0.0, 0.0, 0.1]]
    whole = gs.simulate(formation, start, (0, 2), control=SEEING, rtol=1e-12)
    half = gs.simulate(formation, start, (0, 1), control=SEEING, rtol=1e-12)
    rest = gs.simulate(formation, half.final, (1, 2), control=SEEING, rtol=1e-12)
    for g in formation.groups:
        for found, expected in zip(rest.final[g], whole.final[g], strict=True):
            np.testing.assert_allclose(found, expected, atol=1e-11)
