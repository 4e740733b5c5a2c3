"""Recursive algorithms of Featherstone's kind, one per file: the fast default."""

from ...model import Spacecraft
from .coriolis import coriolis_matrix as coriolis_matrix
from .forward_dynamics import HybridDynamics as HybridDynamics
from .forward_dynamics import forward_dynamics as forward_dynamics
from .forward_dynamics import hybrid_dynamics as hybrid_dynamics
from .inverse_dynamics import bias_force as bias_force
from .inverse_dynamics import inverse_dynamics as inverse_dynamics
from .inverse_dynamics import reaction_wrenches as reaction_wrenches
from .kinematics import Poses as Poses
from .kinematics import configuration_difference as configuration_difference
from .kinematics import configuration_rate as configuration_rate
from .kinematics import forward_kinematics as forward_kinematics
from .kinematics import frame_pose as frame_pose
from .kinematics import jacobian as jacobian
from .kinematics import jacobian_rate as jacobian_rate
from .kinematics import neutral as neutral
from .kinematics import step_configuration as step_configuration
from .mass_matrix import mass_matrix as mass_matrix
from .momentum import center_of_mass as center_of_mass
from .momentum import centroidal_momentum_matrix as centroidal_momentum_matrix
from .momentum import composite_inertia as composite_inertia
from .momentum import kinetic_energy as kinetic_energy
from .momentum import momentum as momentum
from .momentum import total_mass as total_mass
from .regressor import inertial_parameters as inertial_parameters
from .regressor import regressor as regressor


def supports(craft: Spacecraft) -> str | None:
    """None: every spacecraft is supported."""
    return None
