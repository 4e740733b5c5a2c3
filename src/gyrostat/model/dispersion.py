"""Values given instead of a spacecraft's own, one or many at once: they are judged as when a spacecraft is built.

A batch may hold a million of them, so what is plainly right (masses above zero, inertias well inside the physical)
passes by array operations; whatever is not, is put into the spacecraft and validated like any other, and the message is
the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from .._warned import warn_user
from ..algebra import Array, inertia_components, rotation
from .parts import Body
from .spacecraft import Spacecraft
from .validation import LARGEST, validate

NEVER_NEGATIVE = ("stiffness", "damping", "friction", "backlash", "rotor_inertia", "max_thrust")
MARGIN = 1e-9  # of the trace: closer to the edge of what is physical, a body is looked at on its own


class ModelWarning(UserWarning):
    """Something about a model's values is worth saying; the message says what."""


class ValueCheck:
    """Judges values of the named parameters of a spacecraft. Call it with {name: array of shape (*batch, *shape)}."""

    def __init__(self, craft: Spacecraft, names: Sequence[str], what: str = "parameters") -> None:
        self.craft, self.names, self.what = craft, tuple(names), what
        self._bodies = [body for body in craft.bodies if self._concerns(body)]
        self._inside = {body.name: bool(_inside(_components(craft, body, {})).all()) for body in self._bodies}
        self._physical = {body.name: bool(_physical(_components(craft, body, {})).all()) for body in self._bodies}

    def __call__(self, values: Mapping[str, Any]) -> None:
        """A ValueError that says what was found, in which run, what was expected and how to mend it."""
        given = {name: np.asarray(values[name], dtype=float) for name in self.names}
        if not self._plain(given):
            self._look_closely(given)

    def _plain(self, given: Mapping[str, Array]) -> bool:
        """True if every value is right for certain, without a look at the rest of the craft: mostly so, and quick."""
        for name, x in given.items():
            key, least = name.rpartition(".")[2], x.min()
            if key in ("axis", "orientation") or not (least > -LARGEST and x.max() < LARGEST):
                return False
            if key in ("mass", "spin_inertia", *NEVER_NEGATIVE) and not (
                least > 0 or (least == 0 == self.craft.value(name))
            ):
                return False
            if key in ("mass", "inertia") and self.craft.body(name.rpartition(".")[0]).joint.motion.spins:
                return False
        return all(_certain(rows) for body in self._bodies for rows in _blocks(_components(self.craft, body, given)))

    def _look_closely(self, given: Mapping[str, Array]) -> None:
        batch = np.broadcast_shapes(*(x.shape[: x.ndim - np.ndim(self.craft.value(n))] for n, x in given.items()))
        suspect, odd = np.zeros(batch, dtype=bool), np.zeros(batch, dtype=bool)
        for name, x in given.items():
            suspect |= self._suspect(name, x)
        for body in self._bodies:
            components = _components(self.craft, body, given)
            if self._inside[body.name]:
                suspect |= ~_inside(components)
            elif not self._massless(body, given):
                suspect |= ~_not_negative(components)
            odd |= self._physical[body.name] & ~_physical(components)
        for at in np.argwhere(suspect):
            self._judge(given, batch, tuple(int(k) for k in at))
        if odd.any():
            self._judge(given, batch, tuple(int(k) for k in np.argwhere(odd)[0]))

    def _concerns(self, body: Body) -> bool:
        """True if its inertia, less that of wheels it includes, is among the values."""
        wheels = self.craft.included_wheels(body.name)
        names = {f"{body.name}.inertia", f"{body.name}.spin_inertia"}
        for wheel in wheels:
            joint = self.craft.joint(wheel).name
            names |= {f"{wheel}.inertia", f"{wheel}.spin_inertia", f"{joint}.orientation"}
        return not body.joint.motion.spins and bool(names & set(self.names))

    def _massless(self, body: Body, given: Mapping[str, Array]) -> bool:
        return not np.any(body.inertia) and f"{body.name}.inertia" not in given

    def _suspect(self, name: str, x: Array) -> Array:
        """Where a value is not plainly right by itself, in the shape of its batch."""
        key = name.rpartition(".")[2]
        own = np.asarray(self.craft.value(name), dtype=float)
        over = tuple(range(x.ndim - own.ndim, x.ndim))
        wrong = ~(np.abs(x) < LARGEST).all(axis=over)
        if key in ("mass", "inertia") and self.craft.body(name.rpartition(".")[0]).joint.motion.spins:
            wrong = wrong | (np.abs(x - own) > 0).any(axis=over)  # a wheel has its spin inertia
        elif key in ("mass", "spin_inertia"):
            wrong = wrong | ~(x > 0 if own > 0 else x >= 0)
        elif key in NEVER_NEGATIVE:
            wrong = wrong | ~(x >= 0)
        elif key == "axis":
            self._refuse_axes(name, x)
            wrong = wrong | (np.abs(x - own).max(axis=-1) > 1e-12 if self._other_axes_matter(name) else False)
        elif key == "orientation":
            wrong = wrong | ~(np.abs(x).max(axis=-1) > 0)
        return np.asarray(wrong)

    def _other_axes_matter(self, name: str) -> bool:
        """Of a wheel, whose inertia is about its axis; of joints with a second one."""
        joint = self.craft.joint_named(name.rpartition(".")[0])
        return joint.motion.spins or joint.motion.axes > 1

    def _refuse_axes(self, name: str, x: Array) -> None:
        length = np.sqrt(np.sum(x * x, axis=-1))
        wrong = np.argwhere(~(np.abs(length - 1.0) <= 1e-6))
        if len(wrong):
            at = tuple(int(k) for k in wrong[0])
            raise ValueError(
                f"{self.what}['{name}']{_of_run(at)} is {x[at].tolist()}, of length {length[at]:.6g}; expected a unit "
                "vector. Divide it by its length."
            )

    def _judge(self, given: Mapping[str, Array], batch: tuple[int, ...], at: tuple[int, ...]) -> None:
        """The spacecraft of one run, validated: errors are raised, warnings that its own values lack are made."""
        own = {}
        for name, x in given.items():
            shape = np.shape(self.craft.value(name))
            own[name] = np.broadcast_to(x, (*batch, *shape))[at]
        craft = self.craft.with_values(own)
        found = validate(craft.bodies, craft.frames, craft.thrusters, craft.memberships)
        errors = [finding for finding in found if finding.level == "error"]
        if errors:
            raise ValueError("\n".join(f"{self.what}{_of_run(at)}: {finding}" for finding in errors))
        known = {(finding.code, finding.element) for finding in self.craft.findings}
        for finding in found:
            if (finding.code, finding.element) not in known:
                warn_user(f"{self.what}{_of_run(at)}: {finding}", ModelWarning)


def _of_run(at: tuple[int, ...]) -> str:
    return "" if not at else f" of run {at[0] if len(at) == 1 else at}"


def _components(craft: Spacecraft, body: Body, given: Mapping[str, Array]) -> Array:
    """xx, xy, xz, yy, yz, zz (..., 6) of the body less the wheels that it includes."""
    whole = given.get(f"{body.name}.inertia")
    total = inertia_components(body.inertia) if whole is None else whole
    for wheel in craft.included_wheels(body.name):
        part, joint = craft.body(wheel), craft.joint(wheel)
        own = given.get(f"{wheel}.inertia", inertia_components(part.inertia))
        spin = given.get(f"{wheel}.spin_inertia")
        if spin is None:
            spin = _along(own, joint.axis)
        quat = given.get(f"{joint.name}.orientation")
        R = joint.rotation if quat is None else rotation(np.moveaxis(quat, -1, 0))
        u = np.einsum("ij...,j->...i", R, joint.axis)
        outer = np.stack([u[..., i] * u[..., j] for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))], axis=-1)
        total = total - np.asarray(spin)[..., None] * outer
    return np.asarray(total, dtype=float)


def _along(c: Array, a: Array) -> Array:
    """a . I a of components (..., 6)."""
    squares = np.array([a[0] ** 2, 2 * a[0] * a[1], 2 * a[0] * a[2], a[1] ** 2, 2 * a[1] * a[2], a[2] ** 2])
    return c @ squares


def _minors(c: Array) -> tuple[Array, Array, Array, Array]:
    """Trace, and the leading minors of the symmetric matrices."""
    xx, xy, xz, yy, yz, zz = np.moveaxis(c, -1, 0)
    two = xx * yy - xy * xy
    three = zz * two - xx * yz * yz - yy * xz * xz + 2.0 * xy * xz * yz
    return xx + yy + zz, xx, two, three


def _blocks(c: Array) -> Iterator[Array]:
    """Rows of components, so many at a time that they stay in the cache."""
    rows = c.reshape(-1, 6)
    for start in range(0, len(rows), 4096):
        yield rows[start : start + 4096]


def _certain(c: Array) -> bool:
    """All moments well above zero, and none as large as the sum of the others."""
    xx, xy, xz, yy, yz, zz = c.T
    half = 0.5 * (xx + yy + zz)
    x, y, z = half - xx, half - yy, half - zz
    products = 2.0 * xy * xz * yz
    xy, xz, yz = xy * xy, xz * xz, yz * yz
    two, rest_two = xx * yy - xy, x * y - xy
    three = zz * two - xx * yz - yy * xz + products
    rest_three = z * rest_two - x * yz - y * xz - products
    least = MARGIN * half
    return bool(
        (np.minimum(xx, x) > least).all()
        and (np.minimum(two, rest_two) > least * half).all()
        and (np.minimum(three, rest_three) > least * half * half).all()
    )


def _inside(c: Array) -> Array:
    """All moments above MARGIN of the trace, for certain."""
    size, one, two, three = _minors(c)
    return (one > MARGIN * size) & (two > MARGIN * size * size) & (three > MARGIN * size * size * size)


def _not_negative(c: Array) -> Array:
    xx, xy, xz, yy, yz, zz = np.moveaxis(c, -1, 0)
    matrices = np.stack([xx, xy, xz, xy, yy, yz, xz, yz, zz], axis=-1).reshape(*c.shape[:-1], 3, 3)
    moments = np.linalg.eigvalsh(matrices)
    return moments[..., 0] >= -MARGIN * np.abs(moments).max(axis=-1)


def _physical(c: Array) -> Array:
    """No moment larger than the sum of the other two, up to what validation lets pass: tr(I)/2 - I has no negative
    moment.
    """
    xx, xy, xz, yy, yz, zz = np.moveaxis(c, -1, 0)
    half = 0.5 * (xx + yy + zz) * (1.0 + 1e-6)
    rest = np.stack([half - xx, -xy, -xz, half - yy, -yz, half - zz], axis=-1)
    ok = _inside(rest)
    return ok if ok.all() else ok | _not_negative(rest)
