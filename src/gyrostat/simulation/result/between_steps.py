"""Where runs stand between two steps, as users see it, read from the rows that the engine shows."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...algebra import Array
from ..engine.pausing import SHOWN
from ..engine.status import Status
from ..problem.equations import Equations
from .dataset import configurations, velocities

_NAMES = {status: status.name for status in Status} | {Status.paused: "running"}


class Present(NamedTuple):
    """Of one run, or of several along a first axis.

    status: "running" (it goes on with the next step), "stopped" (by a terminal event), or why it failed. memory: of the
    control law;
    motors: loads that lagging motors deliver, empty where there are none.
    """

    t: Array
    q: Array
    v: Array
    status: tuple[str, ...]
    memory: Array
    motors: Array


class Reader:
    """shown: (runs, columns), as `Resident` has it."""

    def __init__(self, equations: Equations, shown: Array, single: bool) -> None:
        at, first = equations.layout, len(SHOWN)
        self.equations, self.single, self.shown = equations, single, shown
        self._t, self._status = shown[:, 0], shown[:, 1]
        self._rows = shown[:, first:]
        self._q, self._v = (self._rows[:, at.row(name)] for name in ("q", "v"))
        self._memory = self._rows[:, at.row("held_z" if equations.sampled else "z")]
        self._motors = self._rows[:, at.row("load")]
        joints = [joint for joint in equations.craft.joints if joint.motion.quaternion is not None]
        places = [np.arange(equations.craft.nq)[joint.q_at][joint.motion.quaternion] for joint in joints]
        self._quaternions = [slice(int(at[0]), int(at[-1]) + 1) for at in places]

    def time(self, epoch: float) -> Array:
        """As users see it."""
        return epoch + self._t[0] if self.single else epoch + self._t

    @property
    def q(self) -> Array:
        """Quaternions scaled to norm one, as in a Trajectory."""
        if not self.single:
            return configurations(self.equations, self._rows)
        q = self._q[0].copy()
        for at in self._quaternions:
            a, b, c, d = quat = q[at].tolist()
            norm = math.sqrt(a * a + b * b + c * c + d * d)
            q[at] = [x / norm for x in quat]
        return q

    def v(self, constants: Array) -> Array:
        v = self._v.copy()
        if self.equations.conserve:
            v = velocities(self.equations, self._t[:, None], self._rows[:, None], constants)[:, 0]
        return v[0] if self.single else v

    def present(self, epoch: float, constants: Array) -> Present:
        status = tuple(_NAMES[Status(int(s))] for s in self._status)
        rest = (x[0].copy() if self.single else x.copy() for x in (self._memory, self._motors))
        return Present(self.time(epoch), self.q, self.v(constants), status, *rest)
