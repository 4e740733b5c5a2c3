"""Ploen, Hadaegh & Scharf (2004): its checks can fail; the array turns as one."""

from __future__ import annotations

import numpy as np

from gyrostat.algebra import skew
from gyrostat.formulations.spatial_forms.coriolis_matrices import CHOICES
from gyrostat.papers.ploen2004 import checks, interferometer


def test_checks_can_fail(monkeypatch):
    """With the printed (55) in place of its correction,
    the skewness check fails and nothing else of the products does.
    """

    def printed(M, V):
        C = CHOICES["hat"](M, V).copy()
        W, J = skew(V[:3]), M[:3, :3]
        C[:3, :3] = W @ J - J @ W
        return C

    monkeypatch.setitem(CHOICES, "skew", printed)
    rows = {check.name: check.passed for check in checks.equation_checks()}
    assert not rows["M' - 2C skew: (52'), (54'), (55'), (58), all forms"]
    assert rows["C V is the same for every choice: (17), (23), (35), (41)"]


def test_the_array_turns_as_one():
    """The collectors turn with the combiner, once in eight hours, though the law knows only the slots in its frame."""
    run = interferometer.fly()
    for name in interferometer.COLLECTORS:
        np.testing.assert_allclose(run.member(name).w_N[-1], [0, 0, interferometer.TURN], atol=1e-8)
