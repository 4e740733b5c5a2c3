"""What must hold in the runs, and what the slides print wrongly."""

from __future__ import annotations

import numpy as np

from ...algebra import Array, cross, rotation, skew
from ...algebra.directional import gradient
from ...attitude import PARAMETERISATIONS, AbstractParameterisation
from ...simulation import Trajectory
from ...simulation.phased_run import PhasedRun
from ..checks import Check, at_most, holds, worst
from .nonholonomic import energy, inclination, sleigh_closed_form
from .servicing import MuJoCoDrift, grasp_of
from .tumbling import all_tumbles


def identity_checks(states: int = 50) -> list[Check]:
    """The key identities at random attitudes, the worst of all parameterisations, relative to 1 + |Gamma|^2."""
    rng = np.random.default_rng(0)
    worst = dict.fromkeys(
        ("S Gamma = 1", "Xi Gamma = 0", "(Sdot - dw/dq) Gamma = -w^", "d(C s)/dq Gamma = (C s)^"), 0.0
    )
    not_tangent = np.inf
    for p in PARAMETERISATIONS.values():
        for _ in range(states):
            C, w, s = rotation(rng.normal(size=4)), rng.normal(size=3), rng.normal(size=3)
            q = p.from_C(C)
            S, Gamma, Xi = p.S(q), p.Gamma(q), p.Xi(q)
            qdot = Gamma @ w
            errors = (
                S @ Gamma - np.eye(3),
                Xi @ Gamma,
                (p.S_rate(q, qdot) - p.w_gradient(q, qdot)) @ Gamma + skew(w),
                _turned(p, q, s) @ Gamma - skew(C @ s),
            )
            scale = 1.0 + np.abs(Gamma).max() ** 2
            for name, error in zip(worst, errors, strict=True):
                worst[name] = max(worst[name], float(np.abs(error).max(initial=0.0) / scale))
            if p.nc:
                off = rng.normal(size=p.nq)
                third = (p.S_rate(q, off) - p.w_gradient(q, off)) @ Gamma + skew(S @ off)
                not_tangent = min(not_tangent, float(np.abs(third).max()))
    found = [at_most(f"{name}, 19 parameterisations", value, 3e-14) for name, value in worst.items()]
    found.append(
        holds(
            "the third identity fails off the manifold",
            not_tangent > 1e-4,
            f"{not_tangent:.1e}",
            "> 1e-4",
            "for a rate qdot that is not tangent",
        )
    )
    return found


def _turned(p: AbstractParameterisation, q: Array, s: Array) -> Array:
    """d(C s)/dq, (3, nq)."""
    return gradient(lambda x: p.C(x) @ s, q)


def tumble_checks() -> list[Check]:
    """The same motion, whatever the parameters."""
    runs = all_tumbles()
    R, p = runs["quaternion"].frame("body")
    turn = max(float(np.abs(run.frame("body")[0] - R).max()) for run in runs.values())
    shift = max(float(np.abs(run.frame("body")[1] - p).max()) for run in runs.values())
    drift = worst(run.audit.worst for run in runs.values())
    return [
        at_most("attitude over 8 s, 19 parameterisations against quaternions", turn, 1e-13),
        at_most("position over 8 s, likewise", shift, 3e-14, " m"),
        at_most("energy and momentum of all, relative", drift, 3e-13),
    ]


def nonholonomic_checks(sleigh: Trajectory, steady: Trajectory, nodding: Trajectory) -> list[Check]:
    V, w = sleigh_closed_form(sleigh.time)
    slip = nodding.constraint_residuals()
    return [
        at_most("sleigh: speed against the closed form", float(np.abs(sleigh.v[:, 3] - V).max()), 3e-10, " m/s"),
        at_most("sleigh: turn rate against the closed form", float(np.abs(sleigh.v[:, 2] - w).max()), 3e-10, " rad/s"),
        at_most("disc, steady: change of inclination", float(np.ptp(inclination(steady))), 3e-10, " rad"),
        at_most("disc, nodding: change of energy, relative", _relative_energy(nodding), 1e-9),
        at_most("disc: height of the contact", float(np.abs(slip.position).max()), 1e-9, " m"),
        at_most("disc: slip", float(np.abs(slip.velocity).max()), 1e-9, " m/s"),
    ]


def _relative_energy(traj: Trajectory) -> float:
    E = energy(traj)
    return float(np.ptp(E) / E[0])


def holding_checks(held: Trajectory, theirs: MuJoCoDrift | None) -> list[Check]:
    h, found = held.momentum(), held.constraint_residuals()
    ours = float(np.abs(found.position).max())
    checks = [
        at_most("two arms, 60 s: hands off their grips", ours, 1e-10, " m, rad"),
        at_most("two arms: momentum, relative", float(np.abs(h - h[0]).max() / np.abs(h).max()), 3e-11),
        at_most("two arms: energy against work, relative", held.audit.energy, 1e-10),
    ]
    if theirs is not None:
        checks.append(
            holds(
                "two arms: nearer than MuJoCo's weld",
                bool(ours < theirs.position.max()),
                f"{ours:.1e} against {theirs.position.max():.1e} m",
                "smaller",
                f"MuJoCo: RK4 at 1 ms, momentum off by {theirs.momentum.max():.1e}",
            )
        )
    return checks


def capture_checks(run: PhasedRun) -> list[Check]:
    grasp, hold = grasp_of(run), run["hold"]
    traj = hold.trajectory
    at = traj.craft.joint("client").v_at
    rates = np.linalg.norm(traj.v[:, at][:, :3], axis=1)
    return [
        at_most("grasp: momentum across the jump, relative", grasp.momentum_change, 2e-14),
        at_most("grasp: energy lost against the impulse's work, relative", grasp.energy_mismatch, 1e-13),
        at_most(
            "grasp: hand off the grip afterwards",
            float(np.abs(traj.constraint_residuals().position).max()),
            1e-12,
            " m, rad",
        ),
        at_most("detumbling: client's rate at the end, of that at the grasp", float(rates[-1] / rates[0]), 5e-2),
        at_most("whole run: worst of the audit", run.trajectory.audit.worst, 1e-12),
    ]


def printed_checks() -> list[Check]:
    """Two slips of the slides that matter to anyone who types them in."""
    p = PARAMETERISATIONS["direction_cosines"]
    rng = np.random.default_rng(1)
    C, w = rotation(rng.normal(size=4)), rng.normal(size=3)
    rows, rates = C, (p.Gamma(p.from_C(C)) @ w).reshape(3, 3)
    sign = abs(rates[0] @ rows[2] - w[1])
    last = np.abs(-rows[1] @ rates[0] + rows[0] @ rates[1] - rates[2]).max()
    right = np.abs(-cross(rows[1], rates[0]) + cross(rows[0], rates[1]) - rates[2]).max()
    return [
        holds(
            "printed w2 = c1dot.c3 is wrong",
            bool(sign > 1e-2),
            f"off by {sign:.2f} rad/s",
            "> 1e-2",
            "its sign; correct c3dot.c1",
        ),
        holds(
            "printed last rows of Xi are wrong",
            bool(last > 1e-2 > right),
            f"{last:.2f} against {right:.0e}",
            "> 1e-2 against 0",
            "T for ×",
        ),
    ]
