"""A floating craft that is posed by hand: move its joints slowly,
and the base moves as conservation of momentum demands.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra import Array
from ..formulations.generalized_jacobian import base_velocity_from_momentum
from ..kinematics import center_of_mass, step_configuration
from ..model import Spacecraft
from ..tracing import compile

LONGEST_STEP = np.radians(1.0)  # of any joint, rad (or m); the attitude's error goes with its square


class FloatingPose:
    """A configuration whose joints can be moved at zero momentum.

    The joints go straight, in small steps; over each the base moves by the midpoint rule:

        V(q) = the base's velocity at joint rates d and zero momentum                       (1)
        q'   = q + (V(q + (V(q), d)/2), d)        (+ as in `gs.step_configuration`)         (2)

    The centre of mass then stays where it was to round-off. The attitude depends on the path: move the joints around a
    loop, and the base has turned.
    """

    def __init__(self, craft: Spacecraft, q: Any) -> None:
        if not craft.joints[0].motion.unbound:
            raise ValueError(f"{craft.name}'s base is {craft.joints[0].kind}; floating needs a free one.")
        self.craft = craft
        self.q: Array = np.array(q, dtype=float)
        self._step = compile(_step, craft, inputs={"d": (craft.nv - 6,)})
        self._com = compile(center_of_mass, craft)

    def move(self, d: Any) -> Array:
        """Move the joints by d (nv - 6,), as `v[6:]` held for one second would; returns the new q."""
        d = np.asarray(d, dtype=float)
        start = self._com(self.q)
        steps = max(1, int(np.ceil(np.abs(d).max(initial=0.0) / LONGEST_STEP)))
        for _ in range(steps):
            self.q = self._step(self.q, d / steps)
        self.q[4:7] += start - self._com(self.q)
        return self.q


def _step(craft: Spacecraft, q: Array, d: Array) -> Array:
    half = np.concatenate([base_velocity_from_momentum(craft, q, d), d]) * 0.5  # (1)
    middle = step_configuration(craft, q, half)
    return step_configuration(craft, q, np.concatenate([base_velocity_from_momentum(craft, middle, d), d]))  # (2)
