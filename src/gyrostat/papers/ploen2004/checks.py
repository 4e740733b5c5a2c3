"""What must hold in the equations and in the flights, and what the paper prints wrongly."""

from __future__ import annotations

import numpy as np

from ...algebra import Array
from ...environment import EARTH
from ...formation import FormationTrajectory
from ...formulations import recursive, spatial_forms
from ...formulations.spatial_forms.coriolis_matrices import SKEW
from ...kinematics import neutral, step_configuration
from ...models import servicer
from ..checks import Check, at_most, holds, worst
from . import interferometer, low_orbit
from .equations import (
    asymmetry,
    cases,
    corner,
    dissipated,
    forms_apart,
    inertial_skewness,
    products_apart,
    sign,
    skewness,
)


def equation_checks() -> list[Check]:
    """The statements of the paper, corrected where they must be; then the printed ones, which fail."""
    rows = cases()
    found = [
        at_most("four forms, one acceleration: (18), (29)", max(map(forms_apart, rows)), 1e-13),
        at_most("C V is the same for every choice: (17), (23), (35), (41)", max(map(products_apart, rows)), 1e-14),
        at_most("M' - 2C skew: (52'), (54'), (55'), (58), all forms", max(skewness(c, SKEW) for c in rows), 1e-14),
        at_most("V^T (M' - 2C) V = 0 for every choice (footnote 6)", max(map(dissipated, rows)), 1e-14),
        *multibody_checks(),
    ]
    found += [
        _printed("Proposition 2 as printed: skew C, inertial rates", min(inertial_skewness(c) for c in rows)),
        _printed("(52) as printed: C1 = M', inertial rates", min(skewness(c, ("momentum",), (1,)) for c in rows)),
        _printed("(54) as printed: w^ J - J w^", min(corner(c, 2) for c in rows)),
        _printed("(55) as printed: w^ J_o - J_o w^", min(corner(c, 4) for c in rows)),
        _printed("(46) as printed: C4 = -Omega_V M_o, product", min(sign(c) for c in rows)),
    ]
    return found


def _printed(name: str, value: float) -> Check:
    return holds(
        name, value > 1e-2, f"off by {value:.0e} at least", "fails", "wrong as printed; docs/errata/ploen2004.md"
    )


def multibody_checks() -> list[Check]:
    """A servicer with its arm, and a formation of three as a virtual tree:
    inherited equations against articulated bodies.
    """
    rng = np.random.default_rng(7)
    craft = servicer()
    members = {"chief": craft, "left": craft, "right": craft}
    tree = spatial_forms.virtual_tree(members, "chief")
    found = []
    for name, system in (
        ("a craft with an arm, V_i = J_i u", craft),
        ("three of them, led by one (virtual tree)", tree),
    ):
        q = step_configuration(system, neutral(system), rng.normal(size=system.nv))
        v, tau = rng.normal(size=system.nv), rng.normal(size=system.nv)
        a, b = (f(system, q, v, tau) for f in (spatial_forms.forward_dynamics, recursive.forward_dynamics))
        found.append(at_most(f"{name}: accelerations", float(np.abs(a - b).max() / np.abs(b).max()), 3e-13))
        C = spatial_forms.coriolis_matrix(system, q, v)
        # d/dt M by the torsion-free choice, for which Mdot = C + C^T
        other = recursive.coriolis_matrix(system, q, v)
        N = other + other.T - 2.0 * C
        found.append(at_most(f"{name}: M' - 2C skew", asymmetry(N), 1e-14))
    return found


def interferometer_checks(run: FormationTrajectory) -> list[Check]:
    position, angle = interferometer.slot_errors(run)
    audits = run.audits.values()
    return [
        at_most("interferometer: collectors in their places", float(position[:, -1].max()), 3e-8, " m"),
        at_most("interferometer: attitudes agree", float(angle[:, -1].max()), 2e-9, " rad"),
        at_most("interferometer: energy against work, every craft", worst(a.energy for a in audits), 5e-9),
        at_most("interferometer: momentum against impulses", worst(a.linear for a in audits), 1e-11),
        holds(
            "interferometer: closest approach of two craft",
            run.closest_approach().distance > 5.0,
            f"{run.closest_approach().distance:.1f} m",
            "> 5 m",
        ),
    ]


def orbit_checks(run: FormationTrajectory) -> list[Check]:
    drift, energies = [], []
    for name in low_orbit.NAMES:
        r, v = run.absolute(name)
        energy = (v * v).sum(axis=1) / 2 - EARTH.mu / np.linalg.norm(r, axis=1)
        energies.append(np.abs(energy / energy[0] - 1).max())
        rho, _ = run.hill(name, about="chief")
        drift.append(np.linalg.norm(rho[-1] - rho[0]))
    return [
        at_most("low orbit: energy of every member", float(max(energies)), 1e-13),
        at_most("low orbit: relative orbits close after three turns", float(max(drift)), 5e-7, " m"),
    ]


def reconfiguration_checks(run: FormationTrajectory, missed: float, cost: float) -> list[Check]:
    closest = run.closest_approach().distance
    return [
        at_most("reconfiguration by two impulses: arrival", missed, 1e-5, " m", f"{cost:.2f} m/s for four deputies"),
        holds("reconfiguration: closest approach of two members", closest > 50.0, f"{closest:.0f} m", "> 50 m"),
    ]


def linear_checks(radii: Array, errors: dict[str, list[float]]) -> list[Check]:
    """The error of a linear model, relative to the separation, is of first order in it."""
    found = []
    for name, values in errors.items():
        orders = np.log(np.array(values[1:]) / values[:-1]) / np.log(radii[1:] / radii[:-1])
        found.append(
            holds(
                f"{name}: relative error grows as the separation",
                bool(np.all(np.abs(orders - 1.0) < 2e-3)),
                f"to the power {orders[0]:.4f}, {orders[1]:.4f}",
                "1 within 0.002",
            )
        )
    return found
