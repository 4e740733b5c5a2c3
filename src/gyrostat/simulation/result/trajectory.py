"""The result of a simulation: an xarray Dataset with names and units, and what can be derived from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...algebra import Array
from ...constraints import ConstraintLoads, Residuals
from ...control.passive import has_springs, spring_energy
from ...formulations import recursive
from ...kinematics import Poses, center_of_mass, forward_kinematics, frame_pose, jacobian
from ...model import Spacecraft, nearest
from ...tracing import compile
from ..engine.status import Status
from ..engine.system import State
from .burnt import burnt, memory_at, without_what_burnt

if TYPE_CHECKING:
    import xarray

    from ..problem.equations import Equations
    from .audit import Audit
    from .limits import Excess
    from .mode_audit import ModeAudit
    from .saturation import Saturation
    from .summary import Summary


CONSTRAINT_SIGNALS = ("multipliers", "constraint_wrenches", "on_second", "violation", "violation_rate")
SIGNALS = ("command", "tau", "wrenches", "vdot", "potential", *CONSTRAINT_SIGNALS)
STEPPED = "stepped"  # attribute of a run that was made step by step
STABILITY_NOTED = 0.4  # of the limit, from where on it is worth a note


class Event(NamedTuple):
    """An event that happened: in which run, which, when, and the state there."""

    run: int
    name: str
    t: float
    q: Array
    v: Array


@dataclass(frozen=True, eq=False)
class Trajectory:
    """States of one run, or of a batch of runs, at common times.

    data: the Dataset, dimensions (run, time, ...); `run` only if the initial states had a batch axis.
    Rows that a run did not reach are NaN; `final` is where it ended.
    state: what the next step depends on, for `simulate(craft, resume=...)`.
    constants: what each run had of its own, as the equations take it (runs, k); parameters: its dispersed values by
    name.
    functions: control law, environment, events and prescribed motions, for `resume`.
    """

    craft: Spacecraft
    data: xarray.Dataset
    state: State
    constants: Array = field(repr=False)
    parameters: Mapping[str, Array] = field(default_factory=dict, repr=False)
    events: tuple[Event, ...] = ()
    equations: Equations | None = field(default=None, repr=False)
    interrupted: bool = False
    functions: Mapping[str, Any] = field(default_factory=dict, repr=False)

    # ---- arrays as users want them

    @property
    def time(self) -> Array:
        """(times,) in s."""
        return self.data["time"].values

    @property
    def q(self) -> Array:
        """([runs,] times, nq)."""
        return self.data["q"].values

    @property
    def v(self) -> Array:
        """([runs,] times, nv)."""
        return self.data["v"].values

    @property
    def tau(self) -> Array:
        """([runs,] times, nv): what acted in the joints."""
        return self.signals["tau"].values

    @property
    def vdot(self) -> Array:
        """([runs,] times, nv)."""
        return self.signals["vdot"].values

    @property
    def final(self) -> tuple[Array, Array]:
        """q and v where each run ended (at the last time, an event, or its last good state),
        with the batch axis if there is one.
        """
        if "q_end" in self.data:
            return self.data["q_end"].values, self.data["v_end"].values
        return self.q[..., -1, :], self.v[..., -1, :]

    @property
    def t_end(self) -> Array:
        """When each run ended, in s, with the batch axis if there is one."""
        return self.data["t_end"].values if "t_end" in self.data else self.time[-1]

    @property
    def batched(self) -> bool:
        return "run" in self.data.dims

    @property
    def status(self) -> tuple[str, ...]:
        """How each run ended: "done", "stopped" (by an event), "running" (interrupted), or why it failed."""
        return tuple(Status(int(s)).name for s in self.state.status)

    @property
    def failures(self) -> tuple[str, ...]:
        """One sentence for each run that failed: when, and which joint moved how."""
        return tuple(self.data.attrs.get("failures", ()))

    @property
    def ok(self) -> bool:
        """True if every run reached its end."""
        return not self.failures and not self.interrupted

    @property
    def outcomes(self) -> dict[str, Any]:
        """The values of `outcomes=` by name, one for each run; no numbers for runs that failed, infinite times of what
        never happened.
        """
        if "outcome" not in self.data:
            return {}
        values = self.data["outcome"].values
        return {str(name): values[..., k] for k, name in enumerate(self.data["outcome_name"].values)}

    def joint(self, name: str) -> xarray.Dataset:
        """Coordinates, rates and loads of one joint over time."""
        import xarray

        joint = self.craft.joint_named(name)
        return xarray.Dataset(
            {
                "q": self.data["q"].isel(q_name=joint.q_at),
                "v": self.data["v"].isel(v_name=joint.v_at),
                "tau": self.signals["tau"].isel(v_name=joint.v_at),
            }
        )

    # ---- derived quantities

    def _compiled(self, function: Callable[..., Any], arguments: Sequence[str], **static: Any) -> Any:
        """function(craft, *arguments) at every saved state, with each run's own parameters."""
        names = list(self.parameters)
        given = [self._values_of(a) for a in arguments]
        lighter = None if function in (forward_kinematics, frame_pose) else burnt(self)
        if lighter is None:
            kernel = compile(function, self.craft, static=static or None, parameters=names)
        else:
            z = memory_at(self, at_end="q_end" in arguments)
            now = without_what_burnt(function, lighter, len(arguments), tuple(static))
            kernel = compile(now, self.craft, inputs={"z": z.shape[-1:]}, static=static or None, parameters=names)
            given.append(z)
        if not names:
            return kernel(*given)
        per_time = self.batched and given[0].ndim == 3
        own = {name: x[:, None] if per_time else x if self.batched else x[0] for name, x in self.parameters.items()}
        return kernel(*given, parameters=own)

    def _values_of(self, argument: str) -> Array:
        if argument == "t":
            return np.broadcast_to(self.time, self.q.shape[:-1])
        values: Array = (self.data if argument in self.data else self.signals)[argument].values
        return values

    def signal(self, function: Callable[..., Any]) -> Array:
        """function(craft, t, q, v) at every saved state, ([runs,] times, *shape): what outcomes are of."""

        def at_state(craft: Spacecraft, q: Array, v: Array, t: Any) -> Any:
            return function(craft, t, q, v)

        return np.asarray(self._compiled(at_state, ["q", "v", "t"]))

    @cached_property
    def signals(self) -> xarray.Dataset:
        """command, tau (what acted in the joints), wrenches and potential (of the environment) and vdot, at the saved
        times; with constraints also their multipliers, wrenches and violations.
        """
        if "tau" in self.data:
            return self.data[[name for name in SIGNALS if name in self.data]]
        from .signals import signals_of

        return signals_of(self)

    def poses(self) -> Poses:
        """R_NB ([runs,] times, nbodies, 3, 3) and p_NB (..., nbodies, 3)."""
        return self._compiled(forward_kinematics, ["q"])

    def momentum(self, about: Any = None) -> Array:
        """[angular; linear] in N about the inertial origin, "com", "base",
        or a point fixed in N, ([runs,] times, 6).
        """
        h = self._compiled(recursive.momentum, ["q", "v"])
        if about is None:
            return h
        if isinstance(about, str):
            if about not in ("com", "base"):
                raise ValueError(f"momentum about '{about}': {nearest(about, ('com', 'base'))}")
            point = self.center_of_mass() if about == "com" else self.poses().p_NB[..., 0, :]
        else:
            point = np.asarray(about, dtype=float)
        return np.concatenate([h[..., :3] - np.cross(point, h[..., 3:]), h[..., 3:]], axis=-1)

    def kinetic_energy(self) -> Array:
        """([runs,] times) in J."""
        return self._compiled(recursive.kinetic_energy, ["q", "v"])

    def spring_energy(self) -> Array:
        """What the joints' springs store, ([runs,] times) in J."""
        return np.broadcast_to(self._compiled(spring_energy, ["q"]), self.q.shape[:-1])

    def potential_energy(self) -> Array:
        """Of the environment, if it has one, and of the joints' springs, ([runs,] times) in J."""
        springs = has_springs(self.craft)
        if "potential" in self.signals:
            potential = np.asarray(self.signals["potential"].values)
            return potential + self.spring_energy() if springs else potential
        if not springs:
            raise ValueError(
                f"this run of {self.craft.name} has no potential: no springs, and no environment that has one."
            )
        return self.spring_energy()

    def center_of_mass(self) -> Array:
        """Of the whole craft, in N, ([runs,] times, 3)."""
        return self._compiled(center_of_mass, ["q"])

    def frame(self, name: str) -> tuple[Array, Array]:
        """R_NF (..., 3, 3) and p_NF (..., 3) of a body or frame."""
        pose = self._compiled(frame_pose, ["q"], frame=name)
        return pose.R, pose.p

    def twist(self, name: str, point: Any = (0.0, 0.0, 0.0)) -> Array:
        """[w; velocity of a point] of a body or frame, in N, ([runs,] times, 6)."""

        def twist(craft: Spacecraft, q: Array, v: Array) -> Array:
            return jacobian(craft, q, name, point) @ v

        return self._compiled(twist, ["q", "v"])

    def sensitivity(self, what: str | Callable[..., Any], by: str, *, at_end: bool = False) -> Any:
        """Derivative of `what` by one of the names in `sensitivities=`,
        ([runs,] times, *shape of what, *shape of `by`).

        what: "q" (in tangent coordinates, (nv,), as `gs.configuration_difference` gives them), "v", the name of a body
        or frame (a `FrameSensitivity`: position, orientation, twist), "t_end", or a function of (craft, t, q, v) and of
        inputs by name.
        at_end: where each run ended instead, ([runs,] ...). Where an event stopped it, that end moves.
        """
        from .sensitivities import sensitivity

        return sensitivity(self, what, by, at_end)

    def event_sensitivity(self, by: str) -> Array:
        """Derivative of the times of `events` by one of the names in `sensitivities=`, (events, *shape of `by`)."""
        from .sensitivities import event_times

        return event_times(self, by)

    def reaction_wrenches(self) -> xarray.DataArray:
        """Total wrench through each joint on its distal body, about Bo in B, ([run,] time, body, wrench)."""
        import xarray

        def reactions(craft: Spacecraft, q: Array, v: Array, vdot: Array, wrenches: Array) -> Array:
            return recursive.reaction_wrenches(craft, q, v, vdot, wrenches=wrenches)

        values = self._compiled(reactions, ["q", "v", "vdot", "wrenches"])
        dims = (*self.data["q"].dims[:-1], "body", "wrench")
        coords = {name: self.data.coords[name] for name in (*dims[:-2], "body", "wrench") if name in self.data.coords}
        return xarray.DataArray(values, dims=dims, coords=coords, name="reaction_wrenches", attrs={"units": "N m, N"})

    def constraint_loads(self) -> ConstraintLoads:
        """Multipliers, wrenches on bodies and on each constraint's second frame at the saved
        times, ([runs,] times, ...).
        """
        return ConstraintLoads(*(self._of_constraints(n) for n in ("multipliers", "constraint_wrenches", "on_second")))

    def constraint_residuals(self) -> Residuals:
        """By how much the constraints were violated, and how fast, at the saved times, ([runs,] times, rows)."""
        return Residuals(*(self._of_constraints(n) for n in ("violation", "violation_rate")))

    def _of_constraints(self, name: str) -> Array:
        if name not in self.signals:
            raise ValueError(f"nothing constrained this run of {self.craft.name}: it had no constraints=.")
        return self.signals[name].values

    @cached_property
    def audit(self) -> Audit:
        """Momentum and energy against the impulses and the work done."""
        from .audit import audit

        return audit(self)

    @cached_property
    def mode_audit(self) -> ModeAudit | None:
        """What the manoeuvring mode must conserve, and what of it changed; None without a mode."""
        from .mode_audit import mode_audit

        return mode_audit(self)

    @cached_property
    def saturation(self) -> tuple[Saturation, ...]:
        """Motors and wheels that were asked for more than their limits at any saved time."""
        from .saturation import saturation

        return saturation(self)

    @cached_property
    def limits(self) -> tuple[Excess, ...]:
        """Joints that went beyond their limits of position or rate at any saved time."""
        from .limits import excesses

        return excesses(self)

    @cached_property
    def summary(self) -> Summary:
        """What a person must know: did it work, what happened, peak and final figures, notes, audit."""
        from .summary import summarised

        return summarised(self)

    # ---- files and pictures

    def save(self, path: str | Path, *, dtype: Any = "float64", compress: bool = False) -> Path:
        """Write NetCDF (.nc) or MATLAB (.mat). The file says model, version, tolerances, seed and audit.

        compress: in chunks. dtype="float32": seven digits for what is saved over time; a run goes on bit for bit from
        it all the same.
        """
        from ...io.results import save_trajectory

        return save_trajectory(self, path, dtype=dtype, compress=compress)

    @staticmethod
    def load(path: str | Path) -> Trajectory:
        """Read a trajectory that `save` wrote."""
        from ...io.results import load_trajectory

        return load_trajectory(path)

    def plot(self, **options: Any) -> Any:
        """Joints, base motion, momentum and energy over time: a matplotlib figure."""
        from ...view.plots import plot_trajectory

        return plot_trajectory(self, **options)

    def report(self, path: str | Path, **options: Any) -> Path:
        """One page: did it work, what happened, figures, audit and plots; options as `view.report.write_report`."""
        from ...view.report import write_report

        return write_report(self, path, **options)

    def to_html(self, path: str | Path, **options: Any) -> Path:
        """One self-contained page with the animated scene."""
        from ...view.scene import trajectory_to_html

        return trajectory_to_html(self, path, **options)

    def show(self, **options: Any) -> Any:
        """The animated scene in a notebook's cell; options as `to_html`, and height= in pixels."""
        from ...view.notebook import show

        return show(self, **options)

    def _repr_html_(self) -> str:
        from .notebook import trajectory_html

        return trajectory_html(self)

    def film(self, path: str | Path, **options: Any) -> Path:
        """The animated scene as a video; options as `view.video.film`. Needs Chromium and the extra `film`."""
        from ...view.video import film

        return film(self, path, **options)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is worth knowing: limits that were passed, motors that were asked for too much,
        how it was integrated.
        """
        found = [*map(str, self.limits), *map(str, self.saturation)]
        if self.data.attrs.get("stability_share", 0.0) > STABILITY_NOTED:
            slow = f"stability, not accuracy, keeps the steps of {self.data.attrs['integrator']} short"
            found.append(f"{slow} (a strong damper, a stiff control loop): integrator = 'gauss16' has no such limit.")
        found += [unresolved(*event) for event in self.data.attrs.get("unresolved_events", {}).items()]
        return tuple(found)

    def __str__(self) -> str:
        runs, t = f"{len(self.state.t)} runs" if self.batched else "one run", self.time
        head = (
            f"{self.craft.name}: {runs}, {t[0]:g} to {t[-1]:g} s at {len(t)} times, {self.data.attrs['integrator']}, "
        )
        head += f"{int(self.state.steps.sum())} steps ({int(self.state.rejections.sum())} rejected)"
        lines = [head, *self.failures, str(self.audit)]
        lines += [f"note: {note}" for note in self.notes]
        if self.mode_audit is not None:
            lines.append(str(self.mode_audit))
        return "\n".join(lines)


def unresolved(event: str, length: float) -> str:
    """Of an event that may have happened more often than is known. length: of the intervals between two looks, in s."""
    return (
        f"event '{event}' swings faster than it could be followed: looks {length:.3g} s apart were not enough, and "
        "some of its changes of sign may be missing. Give max_step= shorter than its swings, or a smoother function."
    )
