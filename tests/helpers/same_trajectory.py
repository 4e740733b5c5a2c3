"""Two trajectories, bit for bit."""

from __future__ import annotations

import numpy as np


def same(a, b):
    """States, integrals, events, and what the next step depends on."""
    assert set(a.data.data_vars) == set(b.data.data_vars)
    for name in a.data.data_vars:
        np.testing.assert_array_equal(a.data[name].values, b.data[name].values, err_msg=name)
    for name, value in vars(a.state).items():
        np.testing.assert_array_equal(value, getattr(b.state, name), err_msg=name)
    assert [(e.run, e.name, e.t) for e in a.events] == [(e.run, e.name, e.t) for e in b.events]
    for one, other in zip(a.events, b.events, strict=True):
        np.testing.assert_array_equal(np.concatenate([one.q, one.v]), np.concatenate([other.q, other.v]))
