"""`gs.simulate` takes a spacecraft or a formation, first or by keyword, and refuses everything else by name."""

from __future__ import annotations

import dataclasses
import inspect
from dataclasses import MISSING

import numpy as np
import pytest

import gyrostat as gs
from formation_crafts import box


def spinning() -> tuple[gs.Spacecraft, np.ndarray, np.ndarray]:
    craft = box()
    return craft, gs.neutral(craft), np.array([0.1, 0.2, 0.3, 0.0, 0.0, 0.0])


def test_a_spacecraft_by_keyword():
    craft, q, v = spinning()
    expected = gs.simulate(craft, q, v, (0, 1))
    for run in (
        gs.simulate(craft=craft, q0=q, v0=v, t_span=(0, 1)),
        gs.simulate(q0=q, t_span=(0, 1), v0=v, craft=craft),
        gs.simulate(craft, v0=v, q0=q, t_span=(0, 1)),
    ):
        assert isinstance(run, gs.Trajectory)
        np.testing.assert_array_equal(run.q, expected.q)


def test_a_formation_by_keyword():
    craft, q, v = spinning()
    pair = gs.Formation({"pair": gs.Group(craft, ("first", "second"))})
    state = {"pair": (np.array([q, q]), np.array([v, 2 * v]))}
    expected = gs.simulate(pair, state, (0, 1))
    run = gs.simulate(formation=pair, state=state, t_span=(0, 1))
    assert isinstance(run, gs.FormationTrajectory)
    np.testing.assert_array_equal(run.groups["pair"].q, expected.groups["pair"].q)


@pytest.mark.parametrize(
    ("given", "options", "words"),
    [
        ((), {},
         "simulate got nothing to simulate; expected one spacecraft or formation: as the first argument, as craft="),
        ((), {"q0": None}, "got nothing to simulate"),
        ((box(),), {"craft": box()}, "got the first argument and craft=; expected one"),
        ((), {"craft": box(), "formation": box()}, "got craft= and formation=; expected one"),
        (("servicer.urdf",), {},
         r"cannot simulate 'servicer.urdf'; expected a Spacecraft or a Formation. Load one with gs.load"),
        ((), {"craft": 3}, "cannot simulate 3; expected a Spacecraft or a Formation"),
        ((), {"formation": [box()]}, "cannot simulate .*; expected a Spacecraft or a Formation"),
    ],
)  # fmt: skip
def test_anything_else_is_refused(given, options, words):
    with pytest.raises(TypeError, match=words):
        gs.simulate(*given, **options)


def test_its_help_is_that_of_a_spacecraft():
    assert list(inspect.signature(gs.simulate).parameters)[:4] == ["craft", "q0", "v0", "t_span"]
    assert "How the spacecraft moves" in str(gs.simulate.__doc__)


def test_every_option_of_simulate_reaches_the_request():
    """One list of names and defaults: an option that is added to one and forgotten in the other fails here."""
    from gyrostat.simulation.problem.request import Request
    from gyrostat.simulation.simulate_craft import simulate

    asked = {p.name: p.default for p in inspect.signature(simulate).parameters.values()}
    fields = {
        f.name: inspect.Parameter.empty if f.default is MISSING else f.default for f in dataclasses.fields(Request)
    }
    assert fields == asked
