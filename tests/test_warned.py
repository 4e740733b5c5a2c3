"""Warnings point at the user's line, however deep in the package they arise."""

from __future__ import annotations

import linecache
import warnings

import numpy as np
import pytest

import gyrostat as gs


def unstable(craft, t, q, v):
    return np.concatenate([np.zeros(6), 1e7 * v[6:]])


def too_many_steps():
    craft = gs.load("servicer")
    gs.simulate(craft, None, np.full(craft.nv, 0.1), (0, 5), control=unstable, max_steps=50)  # this line


def never_happens():
    craft = gs.load("client")
    gs.simulate_phases(craft, phases=[gs.Phase(1.0, "wait", until=lambda c, t, q, v: v[0] - 1.0)])  # this line


@pytest.mark.parametrize("told", [too_many_steps, never_happens])
def test_a_warning_stands_at_the_users_line(told):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        told()
    lines = linecache.getlines(__file__)
    assert found and all(w.filename == __file__ and "# this line" in lines[w.lineno - 1] for w in found)
