"""After a run in a manoeuvring mode: what the mode must conserve, and how far it was conserved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..._warned import warn_user
from ...algebra import Array, cross, rotation
from ...control.modes import mode_named
from ...kinematics import center_of_mass
from ...model import Spacecraft
from ..engine.compiling import SimulationWarning
from .audit import deviations, drift_words

if TYPE_CHECKING:
    from .trajectory import Trajectory

TOLERANCE = 1e-10  # relative, where the integrator is exact
LOOSE = 1e-6  # for fixed steps, whose error nobody controls


class Line(NamedTuple):
    """One quantity: it must not change, or change by the impulse of what acts from outside."""

    quantity: str
    constant: bool
    deviation: float | None  # from what is expected, relative as in `Audit`; None: not audited
    change: float  # largest at the saved times, in N s or N m s
    ok: bool


@dataclass(frozen=True)
class ModeAudit:
    """What the mode conserves. thrust_offset: farthest distance in m of the thrust's line from the centre of mass."""

    mode: str
    lines: tuple[Line, ...]
    thrust_offset: float | None = None

    @property
    def ok(self) -> bool:
        return all(line.ok for line in self.lines)

    def __str__(self) -> str:
        def words(line: Line) -> str:
            expected = "constant to" if line.constant else f"changed by {line.change:.3g}, as its impulse to"
            return f"{line.quantity} {expected} {drift_words(line.deviation)}{'' if line.ok else ' (BROKEN)'}"

        return f"mode {self.mode}: " + ", ".join(map(words, self.lines))


def mode_audit(trajectory: Trajectory) -> ModeAudit | None:
    """Over all runs; None for a run without a mode."""
    name = trajectory.data.attrs.get("mode")
    if name is None:
        return None
    mode, data, found = mode_named(name), trajectory.data, deviations(trajectory)
    h, impulse = trajectory.momentum("com"), data["impulse"].values
    outside = "environment" in data.get("cause", ())
    fixed = data.attrs.get("step") is not None
    limit = LOOSE if fixed else TOLERANCE + 1e2 * float(np.max(data.attrs.get("rtol", 0.0)))

    def line(quantity: str, k: int, constant: bool, more: Any = 0.0) -> Line:
        part = (slice(0, 3), slice(3, 6))[k]
        deviation = found.relative(k, more)
        change = np.linalg.norm(h[..., part] - h[..., :1, part], axis=-1)
        label = f"{quantity} less the environment's impulse" if constant and outside else quantity
        return Line(
            label, constant, deviation, float(np.nan_to_num(change).max()), deviation is None or deviation <= limit
        )

    # where the mode lets no force or couple act, an impulse can only be the environment's; without one it is zero
    linear = line("linear momentum", 1, not mode.force)
    if mode.couple or not mode.force:
        return ModeAudit(name, (linear, line("angular momentum", 0, not mode.couple)))
    offset = _thrust_offset(trajectory)
    # what the environment's torque did until the end of the run is known apart, but not at all times: judge the
    # thrust's line
    if outside:
        ok = offset <= 1e-9
        return ModeAudit(
            name, (linear, Line("thrust's distance from the centre of mass, m,", True, offset, offset, ok)), offset
        )
    couple = np.nan_to_num(np.linalg.norm(impulse[..., :3], axis=-1)).max(axis=-1)  # there must be none
    at_end = np.nansum(data["cause_impulse"].values.reshape(len(found.looks), -1, 6), axis=1)
    ends = np.linalg.norm(at_end[:, :3], axis=-1)
    angular = line("angular momentum about the centre of mass", 0, True, np.maximum(np.atleast_1d(couple), ends))
    return ModeAudit(name, (linear, angular), offset)


def _thrust_offset(trajectory: Trajectory) -> float:
    """Largest distance of the thrust's line from the centre of mass, in m; a couple counts as infinitely far."""

    def lever(craft: Spacecraft, q: Array, tau: Array) -> Array:
        c = rotation(q[:4]).T @ (center_of_mass(craft, q) - q[4:7])
        torque = tau[:3] - cross(c, tau[3:6])
        return np.array([torque @ torque, tau[3:6] @ tau[3:6]])

    torque2, force2 = np.moveaxis(trajectory._compiled(lever, ["q", "tau"]), -1, 0)
    acting = force2 > 0
    if (torque2[~acting & np.isfinite(torque2)] > 0).any():
        return float("inf")
    return float(np.sqrt(torque2[acting] / force2[acting]).max(initial=0.0))


def warn_if_broken(trajectory: Trajectory) -> None:
    """A warning that says what was not conserved, and how to mend it."""
    audit = trajectory.mode_audit
    if audit is None or audit.ok:
        return
    broken = next(line for line in audit.lines if not line.ok)
    if audit.thrust_offset is not None and audit.thrust_offset > 1e-9:
        why = (
            f"the thrust's line passes {audit.thrust_offset:.3g} m beside the craft's centre of mass; "
            "make the wrench with gyrostat.control.through_center_of_mass, or choose 'flying'."
        )
    else:
        why = "the integrator's error is that large: use a smaller rtol or step."
    warn_user(
        f"{trajectory.craft.name}: mode '{audit.mode}' conserves its {broken.quantity}, which changed by "
        f"{drift_words(broken.deviation)} (relative): {why}",
        SimulationWarning,
    )
