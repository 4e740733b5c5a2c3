"""Every formulation by name. A new one joins by one line: a module with `forward_dynamics` and `supports`.

What else it offers under the common names and signatures (`mass_matrix`, `bias_force`, `momentum`, `kinetic_energy`,
`solve`) is compared by `gyrostat verify` as well.
"""

from __future__ import annotations

import importlib
from types import ModuleType

from ..model import Spacecraft, nearest

# What each one is, by name
FORMULATIONS = {
    "recursive": "Featherstone's recursions: the fast default",
    "dual_quaternion": "Valverde & Tsiotras (2018): joint reactions as unknowns",
    "decoupled": "Stoneking (2007): rotation and translation apart",
    "lie_lagrange": "From, Pettersen & Gravdahl (2011): Lagrange on SE(3) x R^n",
    "generalized_jacobian": "Wilde et al. (2018): the base eliminated by conservation of momentum",
    "attitude_lagrange": "Forbes (2019): maximal coordinates, any attitude parameterisation, joints as constraints",
    "spatial_forms": "Ploen, Hadaegh & Scharf (2004): every body in its own form, V_i = J_i u",
}


def formulation(name: str) -> ModuleType:
    """The module of that name; imported when asked for.

    Raises ValueError for a name that is not known, with the nearest.
    """
    if name not in FORMULATIONS:
        raise ValueError(f"formulation '{name}' is not known. {nearest(name, FORMULATIONS)}")
    return importlib.import_module(f"{__package__}.{name}")


def supporting(craft: Spacecraft) -> tuple[dict[str, ModuleType], dict[str, str]]:
    """The formulations that support the craft, and why the others do not."""
    able: dict[str, ModuleType] = {}
    reasons: dict[str, str] = {}
    for name in FORMULATIONS:
        module = formulation(name)
        reason = module.supports(craft)
        if reason is None:
            able[name] = module
        else:
            reasons[name] = reason
    return able, reasons
