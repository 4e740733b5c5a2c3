"""Spacecraft that fly in formation, for tests."""

from __future__ import annotations

import numpy as np

import gyrostat as gs


def box(name="box", mass=10.0, inertia=(0.4, 0.5, 0.7), com=(0.0, 0.0, 0.0)) -> gs.Spacecraft:
    """One rigid body that floats."""
    return gs.Spacecraft.build(name, [gs.Body("hull", mass, com, np.array(inertia), joint=gs.Joint("hull", "free"))])


def armed(name="armed") -> gs.Spacecraft:
    """A hull with an arm of two links and a wheel."""
    return gs.Spacecraft.build(
        name,
        [
            gs.Body("hull", 40.0, (0.02, 0, 0), np.array([3.0, 4.0, 5.0]), joint=gs.Joint("hull", "free")),
            gs.Body(
                "upper",
                3.0,
                (0.4, 0, 0),
                np.array([0.02, 0.3, 0.3]),
                joint=gs.Joint("shoulder", "revolute", "hull", (0.5, 0, 0), axis=(0, 1, 0)),
            ),
            gs.Body(
                "lower",
                2.0,
                (0.3, 0, 0),
                np.array([0.02, 0.2, 0.2]),
                joint=gs.Joint("elbow", "revolute", "upper", (0.8, 0, 0), axis=(0, 0, 1)),
            ),
            gs.Wheel("wheel", "hull", (0, 0, 1), 0.05),
        ],
    )
