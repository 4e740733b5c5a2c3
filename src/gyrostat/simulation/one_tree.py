"""Spacecraft that are one tree for a while: what is attached has no coordinates of its own then, and gets them back.

Phases begin and end in the coordinates of the craft side by side; while one is attached, its base hangs on the other's
body and is integrated as part of it, without a constraint.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra import Array, Pose, compose, inverse, quat_from_rotation
from ..algebra.directional import derivative_along
from ..constraints import AbstractConstraint, relative_pose
from ..kinematics import body_twists, configuration_rate, inertial_poses, joint_poses
from ..model import Joint, ModelError, Spacecraft
from ..model.assembly import docked, transfer_state
from ..tracing import compile
from .problem.runs import same_places
from .result.dataset import coordinates
from .result.trajectory import Event, Trajectory

if TYPE_CHECKING:
    import xarray

PASSIVE = ("stiffness", "damping", "friction")


@dataclass(frozen=True, eq=False)
class OneTree:
    """apart: the craft side by side. craft: with what is attached as one tree. values: the run's own, by name."""

    apart: Spacecraft
    craft: Spacecraft
    values: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls, apart: Spacecraft, values: Mapping[str, Any], q: Array, grasps: Sequence[AbstractConstraint]
    ) -> OneTree:
        """As the frames of these welds stand at q, one after the other."""
        made, struck = apart, apart.with_values(values) if values else apart
        for grasp in grasps:
            if grasp.size != 6:
                raise ValueError(f"'{grasp.title}' leaves {6 - grasp.size} freedoms; one tree is what a weld makes.")
            try:
                made = docked(made, grasp.first, grasp.second, relative_pose(struck, q, grasp.first, grasp.second))
            except ModelError as error:
                raise ValueError(f"'{grasp.title}' makes no one tree: {error} Else leave attach= out.") from None
        found = cls(apart, made, values)
        for joint in found.attached:
            loads = [f"{joint.name}.{name}" for name in PASSIVE if np.any(np.asarray(getattr(joint, name)) != 0.0)]
            named = [name for name in values if name.startswith(f"{joint.name}.")]
            if loads or named:
                raise ValueError(
                    f"{(loads or named)[0]}: as one tree, '{joint.name}' is no joint of what is attached, and "
                    "that value would not be felt. Leave it out, or leave attach= out: a weld holds as well."
                )
        return found

    @property
    def valued(self) -> Spacecraft:
        """The tree with the run's own values."""
        return self.craft.with_values(self.values) if self.values else self.craft

    @cached_property
    def attached(self) -> tuple[Joint, ...]:
        """Bases of the craft apart that have no coordinates in the tree."""
        own = {joint.name: joint.nv for joint in self.craft.joints}
        return tuple(joint for joint in self.apart.joints if own[joint.name] != joint.nv)

    def joined(self, q: Array, v: Array) -> tuple[Array, Array]:
        """q and v of the tree, from those apart."""
        return transfer_state(self.apart, q, v, self.craft)

    def parted(self, q: Array, v: Array) -> tuple[Array, Array]:
        """q and v (..., n) apart, from those of the tree."""
        Q, V = transfer_state(self.craft, q, v, self.apart)
        given = np.isfinite(q).all(axis=-1) & np.isfinite(v).all(axis=-1)  # rows that a run did not reach stay empty
        found = self._bases(q[given], v[given])
        for joint in self.attached:
            Q[..., joint.q_at] = V[..., joint.v_at] = np.nan
            Q[given, joint.q_at], V[given, joint.v_at] = found[f"q {joint.name}"], found[f"v {joint.name}"]
        return Q, V

    def accelerations(self, q: Array, v: Array, vdot: Array) -> Array:
        """vdot (..., nv) apart, from the tree's."""
        found = transfer_state(self.craft, q, vdot, self.apart)[1]
        given = np.isfinite(q).all(axis=-1)
        own = self._rates(q[given], v[given], vdot[given])
        for joint in self.attached:
            found[..., joint.v_at] = np.nan
            found[given, joint.v_at] = own[joint.name]
        return found

    @cached_property
    def _bases(self) -> Any:
        def bases(craft: Spacecraft, q: Array, v: Array) -> dict[str, Array]:
            poses, twists = inertial_poses(craft, q), body_twists(craft, q, v, joint_poses(craft, q))
            found: dict[str, Array] = {}
            for joint in self.attached:
                B = _body(self.apart, joint)
                X = compose(inverse(Pose(joint.rotation, joint.position)), poses[B])
                found |= {f"q {joint.name}": np.concatenate([quat_from_rotation(X.R), X.p])}
                found |= {f"v {joint.name}": twists[B]}
            return found

        return compile(bases, self.valued)

    @cached_property
    def _rates(self) -> Any:
        def rates(craft: Spacecraft, q: Array, v: Array, vdot: Array) -> dict[str, Array]:
            def twists(q: Array, v: Array) -> Array:
                V = body_twists(craft, q, v, joint_poses(craft, q))
                return np.concatenate([V[_body(self.apart, joint)] for joint in self.attached])

            rows = derivative_along(twists, (q, v), (configuration_rate(craft, q, v), vdot))
            return {joint.name: rows[6 * k : 6 * k + 6] for k, joint in enumerate(self.attached)}

        return compile(rates, self.valued)

    # ---- runs

    def events(self, run: Trajectory) -> tuple[Event, ...]:
        """As they would have been seen apart."""
        return tuple(Event(e.run, e.name, e.t, *self.parted(e.q, e.v)) for e in run.events)

    def data(self, run: Trajectory, data: xarray.Dataset) -> xarray.Dataset:
        """Rows of one run of the tree, apart: states, loads, wrenches, accelerations; the rest as it is."""
        import xarray

        q, v = self.parted(run.q, run.v)
        lead = data["q"].dims[:-1]
        new: dict[str, Any] = {"q": ((*lead, "q_name"), q, data["q"].attrs), "v": ((*lead, "v_name"), v, {})}
        here, there = same_places(self.apart, self.craft)
        for name in ("command", "tau"):
            if name in data:
                loads = np.zeros_like(v)
                loads[..., here] = data[name].values[..., there]
                new[name] = ((*lead, "v_name"), loads, data[name].attrs)
        if "vdot" in data:
            new["vdot"] = ((*lead, "v_name"), self.accelerations(run.q, run.v, data["vdot"].values), data["vdot"].attrs)
        if "wrenches" in data:
            order = [[body.name for body in self.craft.bodies].index(body.name) for body in self.apart.bodies]
            wrenches = data["wrenches"].values[..., order, :]
            new["wrenches"] = ((*lead, "body", "wrench"), wrenches, data["wrenches"].attrs)
        others = {name: (x.dims, x.values, x.attrs) for name, x in data.data_vars.items() if name not in new}
        return xarray.Dataset(new | others, coords=coordinates(self.apart, run.time))


def without_jumps(q: Array, joint: Joint) -> Array:
    """q (times, nq) in which the quaternion of a joint, from its first row on, keeps the sign that is nearest: what was
    found from a rotation may have either.
    """
    place = joint.motion.quaternion
    assert place is not None
    at, q = np.arange(joint.q_at.start, joint.q_at.stop)[place], q.copy()
    turned = np.einsum("ti,ti->t", q[1:, at], q[:-1, at]) < 0.0
    q[1:, at] *= np.where(np.cumsum(turned) % 2, -1.0, 1.0)[:, None]
    return q


def _body(craft: Spacecraft, joint: Joint) -> str:
    return next(body.name for body in craft.bodies if body.joint.name == joint.name)
