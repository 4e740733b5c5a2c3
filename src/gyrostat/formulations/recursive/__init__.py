"""Recursive algorithms of Featherstone's kind, one per file: the fast default."""

from ...model import Spacecraft
from .coriolis import coriolis_matrix as coriolis_matrix
from .forward_dynamics import HybridDynamics as HybridDynamics
from .forward_dynamics import forward_dynamics as forward_dynamics
from .forward_dynamics import hybrid_dynamics as hybrid_dynamics
from .inverse_dynamics import bias_force as bias_force
from .inverse_dynamics import inverse_dynamics as inverse_dynamics
from .inverse_dynamics import reaction_wrenches as reaction_wrenches
from .mass_matrix import mass_matrix as mass_matrix
from .momentum import centroidal_momentum_matrix as centroidal_momentum_matrix
from .momentum import kinetic_energy as kinetic_energy
from .momentum import momentum as momentum
from .regressor import inertial_parameters as inertial_parameters
from .regressor import regressor as regressor


def supports(craft: Spacecraft) -> str | None:
    """None: every spacecraft is supported."""
    return None
