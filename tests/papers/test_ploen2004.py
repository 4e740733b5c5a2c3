"""Everything that `gyrostat reproduce ploen2004` claims holds; its checks can fail."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

from gyrostat.algebra import skew
from gyrostat.papers import ploen2004
from gyrostat.papers.ploen2004 import equations, interferometer


@pytest.fixture(scope="module")
def reproduction(tmp_path_factory):
    return ploen2004.reproduce(tmp_path_factory.mktemp("ploen2004"))


def test_every_check_passes(reproduction):
    failed = [f"{c.name}: {c.measured}, required {c.required}" for c in reproduction.checks if not c.passed]
    assert not failed
    assert len(reproduction.checks) >= 20


def test_figures_are_pictures(reproduction):
    names = ["ploen2004_interferometer.png", "ploen2004_hill_frame.png", "ploen2004_linear_models.png"]
    assert [path.name for path in reproduction.figures] == names
    for path in reproduction.figures:
        data = path.read_bytes()
        assert data.startswith(b"\x89PNG")
        assert len(data) > 20_000


def test_checks_can_fail(monkeypatch):
    """With the printed (55) in place of its correction, the skewness check fails and nothing else of the products does."""
    coriolis = importlib.import_module("gyrostat.formulations.spatial_forms.coriolis")

    def printed(M, V):
        C = coriolis.CHOICES["hat"](M, V).copy()
        W, J = skew(V[:3]), M[:3, :3]
        C[:3, :3] = W @ J - J @ W
        return C

    monkeypatch.setitem(coriolis.CHOICES, "skew", printed)
    rows = {check.name: check.passed for check in equations.checks()}
    assert not rows["M' - 2C skew: (52'), (54'), (55'), (58), all forms"]
    assert rows["C V is the same for every choice: (17), (23), (35), (41)"]


def test_the_array_turns_as_one():
    """The collectors turn with the combiner, once in eight hours, though the law knows only the slots in its frame."""
    run = interferometer.fly()
    for name in interferometer.COLLECTORS:
        np.testing.assert_allclose(run.member(name).w_N[-1], [0, 0, interferometer.TURN], atol=1e-8)
