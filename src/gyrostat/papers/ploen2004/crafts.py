"""The craft of both formations: a rigid body. The paper has no numbers."""

from __future__ import annotations

import numpy as np

from ...model import Body, Joint, Spacecraft

MASS, INERTIA = 700.0, (500.0, 550.0, 600.0)  # kg, kg m^2


def craft(name: str) -> Spacecraft:
    return Spacecraft.build(name, [Body("bus", MASS, inertia=np.array(INERTIA), joint=Joint("bus", "free"))])
