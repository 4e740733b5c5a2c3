"""The craft of the demonstrations, and a state of it in motion. The paper has none."""

from __future__ import annotations

import numpy as np

from ...algebra import Array
from ...kinematics import step_configuration
from ...model import Body, Frame, Joint, Spacecraft


def craft() -> Spacecraft:
    """A 120 kg bus, its origin not at its centre of mass, with shoulder, elbow, telescope and wrist."""
    x, y, z = np.eye(3)
    rod = _array(0.05, 0.9, 0.9)
    shoulder = Joint("shoulder", "revolute", "bus", _array(0.6, 0.0, 0.3), axis=z)
    elbow = Joint("elbow", "revolute", "upper_arm", _array(1.2, 0.0, 0.0), axis=y)
    telescope = Joint("telescope", "prismatic", "forearm", _array(0.6, 0.0, 0.0), axis=x)
    wrist = Joint("wrist", "revolute", "boom", _array(0.9, 0.0, 0.0), axis=x)
    bodies = [
        Body("bus", 120.0, _array(0.05, -0.02, 0.1), _array(18.0, 0.4, -0.3, 24.0, 0.2, 15.0)),
        Body("upper_arm", 12.0, _array(0.6, 0.0, 0.0), rod, shoulder),
        Body("forearm", 9.0, _array(0.5, 0.0, 0.0), rod, elbow),
        Body("boom", 6.0, _array(0.4, 0.0, 0.0), rod, telescope),
        Body("hand", 4.0, _array(0.1, 0.0, 0.05), _array(0.03, 0.05, 0.05), wrist),
    ]
    return Spacecraft.build("from2011", bodies, frames=[Frame("tool", "hand", _array(0.3, 0.0, 0.1))])


def _array(*numbers: float) -> Array:
    return np.array(numbers)


def moving_state(rates: float = 1.0) -> tuple[Array, Array]:
    """q and v with linear and angular momentum and every joint in motion."""
    body = craft()
    v = rates * np.array([0.5, 0.9, -0.6, 0.2, -0.1, 0.15, 0.4, -0.5, 0.1, 0.6])
    q = step_configuration(
        body, np.array([1.0, *np.zeros(10)]), np.array([0.2, 0.3, -0.4, 0, 0, 0, 0.5, -0.8, 0.1, 0.4])
    )
    return q, v
