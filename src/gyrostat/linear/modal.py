"""Natural modes of a linearised run.

A free craft has zero eigenvalues twice over (where it stands, how fast it drifts), which no eigenvalue solver finds to
better than the root of its round-off. They are therefore split off first, by what they are, null vectors of A and those
that A maps into them:

    A [N Q] = [N Q] [[0, W], [0, A_Q]]        N: null space, Q: the rest, both orthonormal                           (1)

A_Q may have a null space again (the drift), and so on; what is left has the eigenvalues that are not zero, and their
vectors follow as x = Q y + N W y / lambda.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..algebra import Array
from ..formulations.recursive import mass_matrix
from ..kinematics import body_twists, joint_poses, kinetic_energy_of, step_configuration
from ..model import Role, Spacecraft
from ..simulation.result.dataset import coordinate_names
from .linearization import Linearization, linearize

STEADY = 1e-6  # largest acceleration, in rad/s^2 or m/s^2, that still counts as an equilibrium
NOTHING = 1e-9  # of the largest singular value of the balanced A: below it, a direction is one of the null space


@dataclass(frozen=True, eq=False)
class Mode:
    """One natural motion: x(t) = Re(state exp(eigenvalue t)).

    kind: "oscillating"; "real" (it decays or grows without swinging); with eigenvalue zero: "rigid" (the craft as a
    whole moves, no joint does), "free" (joints without springs move, the craft as a whole does not), "constant" (wheels
    keep another speed, a law another memory). frequency: |eigenvalue| / (2 pi), in Hz; that of the undamped motion.
    damping: ratio to critical; negative where it grows. shape: dq (nv,) in tangent coordinates, with the angles by
    which wheels turn; complex where parts swing out of phase; of unit modal mass (shape^H M shape = 1), its largest
    part real. share: of the kinetic energy, by body.
    """

    kind: str
    eigenvalue: complex
    shape: Array
    state: Array
    share: dict[str, float]

    @property
    def frequency(self) -> float:
        return float(abs(self.eigenvalue)) / (2.0 * np.pi)

    @property
    def damping(self) -> float:
        size = abs(self.eigenvalue)
        return 0.0 if size == 0.0 else float(-self.eigenvalue.real / size)

    @property
    def stable(self) -> bool:
        """False if it grows; a mode that neither grows nor decays counts as stable."""
        return self.eigenvalue.real <= 1e-12 * max(1.0, abs(self.eigenvalue))


@dataclass(frozen=True, eq=False)
class Modes(Sequence[Mode]):
    """Modes by rising frequency; print for a table."""

    craft: Spacecraft
    q: Array
    modes: tuple[Mode, ...]

    def __getitem__(self, k: Any) -> Any:
        return self.modes[k]

    def __len__(self) -> int:
        return len(self.modes)

    def of(self, *kinds: str) -> tuple[Mode, ...]:
        """Those of these kinds."""
        return tuple(mode for mode in self.modes if mode.kind in kinds)

    def motion(self, mode: Mode | int, *, size: float = 0.1, cycles: int = 2, frames: int = 120) -> tuple[Array, Array]:
        """Times and configurations (frames, nq) of a mode that swings undamped; `size` rad or m at its largest
        coordinate.

        A mode that does not swing goes there and back, once in a second per cycle.
        """
        mode = self.modes[mode] if isinstance(mode, int) else mode
        swing = abs(mode.eigenvalue.imag) / (2.0 * np.pi) or 1.0
        times = np.linspace(0.0, cycles / swing, frames)
        largest = np.abs(mode.shape).max()
        if largest == 0.0:
            raise ValueError(f"a mode of kind '{mode.kind}' moves no coordinate of {self.craft.name}: nothing to show.")
        turning = np.exp(2j * np.pi * swing * times)
        steps = np.real(turning[:, None] * mode.shape * (size / largest))
        return times, np.array([step_configuration(self.craft, self.q, step) for step in steps])

    def to_html(
        self, mode: Mode | int, path: str | Path, *, size: float = 0.1, cycles: int = 2, frames: bool = False
    ) -> Path:
        """Write one self-contained page on which the mode swings, `size` rad or m at its largest coordinate, three
        seconds a swing.
        """
        from ..view.mode_scene import mode_to_html

        return mode_to_html(self, mode, path, size=size, cycles=cycles, frames=frames)

    def __str__(self) -> str:
        rows = [f"{'Hz':>12}  {'damping':>9}  mode"]
        for mode in self.modes:
            shares = sorted(mode.share.items(), key=lambda item: -item[1])[:3]
            moving = ", ".join(f"{name} {share:.0%}" for name, share in shares if share > 0.005)
            rows.append(f"{mode.frequency:12.6g}  {mode.damping:9.2g}  {mode.kind}: {moving}")
        return "\n".join(rows)


def modes(craft: Spacecraft | Linearization, q: Any = None, v: Any = None, tau: Any = None, **options: Any) -> Modes:
    """Natural modes near (q, v), with frequency, damping and shape; options are those of `gs.linearize`, whose result
    may be given instead.

    Rigid-body modes, joints without springs and speeds of wheels are told apart, exactly, from modes of low frequency.

    Raises TypeError where options are given beside a linearisation, which has its own.
    """
    if isinstance(craft, Linearization):
        if options or any(x is not None for x in (q, v, tau)):
            raise TypeError("modes: a linearisation holds its state and options already; give nothing else with it.")
        linear = craft
    else:
        linear = linearize(craft, q, v, tau, **options)
    return _modes(linear)


def _modes(linear: Linearization) -> Modes:
    craft, nv = linear.craft, linear.craft.nv
    worst = int(np.argmax(np.abs(linear.vdot))) if nv else 0
    if nv and abs(linear.vdot[worst]) > STEADY:
        raise ValueError(
            f"{craft.name} is in no equilibrium: '{coordinate_names(craft)[1][worst]}' accelerates by "
            f"{linear.vdot[worst]:.3g}, so its motion has no modes here. Find one with gs.equilibrium, or take the "
            "eigenvalues of gs.linearize(...).A for what they are."
        )
    M = np.asarray(mass_matrix(craft, linear.q), dtype=float)
    null, values, vectors = _split(linear.A)
    found = [_mode(linear, M, kind, 0.0j, x) for kind, x in _neutral(linear, M, null)]
    for value, x in zip(values, vectors.T, strict=True):
        if value.imag < 0.0:  # the other of its pair
            continue
        kind = "oscillating" if value.imag > 0.0 else "real"
        found.append(_mode(linear, M, kind, complex(value), x))
    found.sort(key=lambda mode: (mode.frequency, mode.damping))
    return Modes(craft, linear.q, tuple(found))


def _mode(linear: Linearization, M: Array, kind: str, value: complex, x: Array) -> Mode:
    """Scaled to unit modal mass, or, where nothing but memory moves, to a largest part of one."""
    craft, nv = linear.craft, linear.craft.nv
    full = linear.basis @ x
    shape, speed = full[:nv].copy(), full[nv : 2 * nv]
    if value != 0.0:
        for joint in craft.joints:
            if joint.motion.spins:
                shape[joint.v_at] = speed[joint.v_at] / value
    moving = speed if kind == "constant" else shape
    total = float(np.real(np.conj(moving) @ M @ moving))
    lead = moving[np.argmax(np.abs(moving))] if total > 0 else 1.0
    scale = np.conj(lead) / abs(lead) / (np.sqrt(total) if total > 0 else np.abs(x).max())
    share = {name: own / total for name, own in _energies(craft, linear.q, moving).items()} if total > 0 else {}
    swings = kind == "oscillating"
    return Mode(kind, value, shape * scale if swings else np.real(shape * scale), x * scale, share)


def _energies(craft: Spacecraft, q: Array, moving: Array) -> dict[str, float]:
    """Twice the kinetic energy of each body and of its joint's rotor at these rates, over both phases of the swing."""
    found: dict[str, float] = {body.name: 0.0 for body in craft.bodies}
    X_PB = joint_poses(craft, q)
    for rates in (np.real(moving), np.imag(moving)):
        for name, V in body_twists(craft, q, rates, X_PB).items():
            joint = craft.joint(name)
            own = joint.rate(rates)
            found[name] += float(2.0 * kinetic_energy_of(craft, q, rates, name, V) + joint.armature * (own @ own))
    return found


def _split(A: Array) -> tuple[Array, Array, Array]:
    """Null vectors of A; eigenvalues that are not zero, with their vectors (1)."""
    from scipy.linalg import matrix_balance

    if not len(A):
        return np.zeros((0, 0)), np.zeros(0), np.zeros((0, 0))
    balanced, (scale, _) = matrix_balance(A, permute=False, separate=True)
    null, values, vectors = _deflated(balanced, NOTHING * float(np.linalg.norm(balanced, 2)))
    return scale[:, None] * null, values, scale[:, None] * vectors


def _deflated(A: Array, tolerance: float) -> tuple[Array, Array, Array]:
    if not len(A):
        return np.zeros((0, 0)), np.zeros(0), np.zeros((0, 0))
    _, sizes, right = np.linalg.svd(A)
    rank = int((sizes > tolerance).sum())
    Q, N = right[:rank].T, right[rank:].T
    if rank == len(A):
        values, vectors = np.linalg.eig(A)
        return N, values, vectors
    W, inner = N.T @ A @ Q, Q.T @ A @ Q
    _, values, y = _deflated(inner, tolerance)
    vectors = Q @ y + N @ (W @ y / values) if len(values) else np.zeros((len(A), 0))
    return N, values, vectors


def _neutral(linear: Linearization, M: Array, null: Array) -> list[tuple[str, Array]]:
    """The null space as rigid, free and constant modes; the first two orthogonal in the metric of M."""
    craft, nv = linear.craft, linear.craft.nv
    if not null.size:
        return []

    def positions(space: Array) -> Array:
        return (linear.basis @ space)[:nv]

    constant, moving = _where_zero(null, positions(null))
    joints = np.setdiff1d(np.arange(nv), craft.at(Role.base))
    rigid, free = _where_zero(moving, positions(moving)[joints])
    rigid = _orthonormal(rigid, positions(rigid), M)
    free = free - rigid @ (positions(rigid).T @ M @ positions(free))  # without momentum of its own
    free = _orthonormal(free, positions(free), M)
    kinds = (("rigid", rigid), ("free", free), ("constant", constant))
    return [(kind, x) for kind, space in kinds for x in space.T]


def _orthonormal(space: Array, P: Array, M: Array) -> Array:
    """Combinations of the columns of `space` whose positions P are orthonormal in the metric of M."""
    return np.linalg.solve(np.linalg.cholesky(P.T @ M @ P), space.T).T if space.shape[1] else space


def _where_zero(space: Array, image: Array) -> tuple[Array, Array]:
    """Combinations of the columns of `space` whose image is zero, and a complement of them."""
    if not space.shape[1]:
        return space, space
    _, sizes, right = np.linalg.svd(image, full_matrices=True)
    rank = int((sizes > NOTHING * max(1.0, sizes.max(initial=0.0))).sum())
    return space @ right[rank:].T, space @ right[:rank].T
