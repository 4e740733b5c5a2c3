"""Recursive algorithms of Featherstone's kind, one per file: the fast default."""

from .articulated_body import HybridDynamics as HybridDynamics
from .articulated_body import forward_dynamics as forward_dynamics
from .articulated_body import hybrid_dynamics as hybrid_dynamics
from .articulated_body import supports as supports
from .composite_body import mass_matrix as mass_matrix
from .coriolis import coriolis_matrix as coriolis_matrix
from .momenta import centroidal_momentum_matrix as centroidal_momentum_matrix
from .momenta import kinetic_energy as kinetic_energy
from .momenta import momentum as momentum
from .newton_euler import bias_force as bias_force
from .newton_euler import inverse_dynamics as inverse_dynamics
from .newton_euler import reaction_wrenches as reaction_wrenches
from .regressors import inertial_parameters as inertial_parameters
from .regressors import regressor as regressor
