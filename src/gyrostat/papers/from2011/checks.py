"""What must hold in the runs of the demonstrations, and what fails as printed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...algebra import Array, angle_between, rotation
from ...formulations import lie_lagrange, recursive
from ...formulations.lie_lagrange.equivalent_manipulator import equivalent_manipulator, equivalent_state
from ...kinematics import neutral, step_configuration
from ..checks import Check, at_most, holds
from .as_printed import pinned_mass_matrix
from .crafts import craft
from .tumbling import MISS, PASS_AT, Steps, closest_approach

if TYPE_CHECKING:
    from ...simulation import Trajectory


def equation_checks(count: int = 50) -> list[Check]:
    """M, C and accelerations at random states against the recursive algorithms."""
    body, rng = craft(), np.random.default_rng(0)
    mass, bias, skew, acceleration = [], [], [], []
    for _ in range(count):
        q = step_configuration(body, neutral(body), rng.normal(size=body.nv))
        v, tau, x, y = rng.normal(size=(4, body.nv))
        M, h = recursive.mass_matrix(body, q), recursive.bias_force(body, q, v)
        mass.append(_size(lie_lagrange.mass_matrix(body, q) - M) / _size(M))
        both = lie_lagrange.coriolis_matrix(body, q, v), lie_lagrange.skew_coriolis_matrix(body, q, v)
        bias += [_size(C @ v - h) / _size(h) for C in both]
        defect = lie_lagrange.coriolis_parts(body, q, v).Mdot - 2 * both[1]
        skew.append(abs(x @ defect @ y + y @ defect @ x) / (_size(both[1]) * np.sqrt((x @ x) * (y @ y))))
        vdot = lie_lagrange.forward_dynamics(body, q, v, tau)
        wrong = recursive.inverse_dynamics(body, q, v, vdot) - tau
        acceleration.append(_size(wrong / (np.abs(M) @ np.abs(vdot) + np.abs(h) + np.abs(tau))))
    states = f"{count} random states"
    return [
        at_most("(8)-(10): M against composite bodies", max(mass), 1e-14, comment=states),
        at_most("(26') and its skew version: C v against Newton-Euler", max(bias), 1e-13, comment=states),
        at_most("Mdot - 2 C_s is skew", max(skew), 3e-14, comment="two independent vectors"),
        at_most("(11), (20): backward error of the acceleration", max(acceleration), 1e-12, comment=states),
    ]


def tumble_checks(
    starts: dict[int, tuple[Array, Array]], group: dict[int, Steps], euler: dict[int, Steps]
) -> list[Check]:
    """No singularity on the group; steps collapse in roll, pitch, yaw."""
    checks = []
    for sign, run in group.items():
        name, other = f"pitch {'+' if sign > 0 else '-'}90 deg", euler[sign]
        near = np.abs(run.t[1:] - PASS_AT) < 2.0
        even = float(run.sizes[near].min() / np.median(run.sizes))
        least = float(other.sizes.min())
        checks += [
            at_most(f"{name}: distance at {PASS_AT:g} s", closest_approach(*starts[sign]), 2 * MISS, " rad"),
            holds(
                f"{name}: on the group, smallest step there over the median",
                run.finished and even > 0.5,
                f"{even:.2f}",
                "> 0.5",
            ),
            holds(
                f"{name}: in roll, pitch, yaw, smallest step",
                least < 1e-4 * float(np.median(run.sizes)),
                f"{least:.1e} s, {len(other.sizes)} steps{'' if other.finished else ', given up'} (group: "
                f"{len(run.sizes)})",
                "collapses",
                f"(16), (17) at {PASS_AT:g} s",
            ),
            *conserved(name, run),
        ]
    return checks


def equivalence_checks(in_space: Trajectory, on_ground: Trajectory) -> list[Check]:
    """The equivalent manipulator over a minute."""
    body = in_space.craft
    expected = [equivalent_state(body, q, v) for q, v in zip(in_space.q, in_space.v, strict=True)]
    joints = _size(np.array([s.q[4:] for s in expected]) - on_ground.q[:, 4:])
    rates = _size(np.array([s.v for s in expected]) - on_ground.v)
    pairs = zip(in_space.q, on_ground.q, strict=True)
    attitude = max(float(angle_between(rotation(a[:4]), rotation(b[:4]))) for a, b in pairs)
    tip = _size(in_space.frame("tool")[1] - in_space.center_of_mass() - on_ground.frame("tool")[1])
    manipulator, scale = equivalent_manipulator(body), equivalent_state(body, in_space.q[0], np.ones(body.nv)).v
    matrices = []
    for q, state in zip(in_space.q[::10], expected[::10], strict=True):
        M = lie_lagrange.reduced_mass_matrix(body, q)
        own = scale[:, None] * recursive.mass_matrix(manipulator, state.q) * scale
        matrices.append(_size(own - M) / _size(M))
    momentum = in_space.momentum(about="com")
    moving = f"momenta up to {_size(momentum[:, 3:]):.1f} N s, {_size(momentum[:, :3]):.1f} N m s; base couple"
    return [
        at_most("(41) = (40'): M' against M~", max(matrices), 1e-14, comment="along the run"),
        at_most("joint coordinates, craft against equivalent manipulator", joints, 3e-11, comment=f"60 s, {moving}"),
        at_most("base rate and joint rates", rates, 1e-10, comment="60 s"),
        at_most("base attitude", attitude, 3e-11, " rad", "60 s"),
        at_most("tip against tool from the centre of mass", tip, 1e-11, " m", "60 s"),
    ]


def printed_checks(right: Steps, printed: Steps) -> list[Check]:
    """Errata: what the printed equations do to the same motion."""
    energy = energies(printed)
    change = _size(energy / energy[0] - 1)
    body, q = craft(), right.y[0, : craft().nq]
    M, pinned = lie_lagrange.reduced_mass_matrix(body, q), pinned_mass_matrix(q)
    apart = _size(pinned - M) / _size(M)
    return [
        holds(
            "(22), (26) as printed: free motion's energy changes",
            change > 0.01,
            f"{100 * change:.0f} %",
            "> 1 %",
            "an erratum shown: it should be 0; K(P) is right, not ad_P",
        ),
        holds(
            "(28), (39), (40) as printed: M is not M'",
            apart > 0.01,
            f"{100 * apart:.0f} % off",
            "> 1 %",
            "an erratum shown: that is the craft with its base pinned",
        ),
    ]


def energies(run: Steps) -> Array:
    body = craft()
    return np.array([recursive.kinetic_energy(body, y[: body.nq], y[body.nq :]) for y in run.y])


def momenta(run: Steps) -> Array:
    body = craft()
    return np.array([recursive.momentum(body, y[: body.nq], y[body.nq :]) for y in run.y])


def conserved(name: str, run: Steps) -> list[Check]:
    energy, momentum = energies(run), momenta(run)
    return [
        at_most(f"{name}: energy drift", _size(energy / energy[0] - 1), 1e-9, comment="rtol 1e-10"),
        at_most(
            f"{name}: momentum drift",
            _size(momentum - momentum[0]) / _size(momentum),
            2e-9,
            comment="inertial, about the origin",
        ),
    ]


def _size(x: Array) -> float:
    return float(np.abs(x).max())
