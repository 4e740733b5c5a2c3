"""gyrostat: how spacecraft that carry arms, wheels and each other move."""

from . import algebra as algebra
from .formulations.recursive import Poses as Poses
from .formulations.recursive import bias_force as bias_force
from .formulations.recursive import center_of_mass as center_of_mass
from .formulations.recursive import centroidal_momentum_matrix as centroidal_momentum_matrix
from .formulations.recursive import composite_inertia as composite_inertia
from .formulations.recursive import configuration_difference as configuration_difference
from .formulations.recursive import configuration_rate as configuration_rate
from .formulations.recursive import coriolis_matrix as coriolis_matrix
from .formulations.recursive import forward_dynamics as forward_dynamics
from .formulations.recursive import forward_kinematics as forward_kinematics
from .formulations.recursive import frame_pose as frame_pose
from .formulations.recursive import hybrid_dynamics as hybrid_dynamics
from .formulations.recursive import inertial_parameters as inertial_parameters
from .formulations.recursive import inverse_dynamics as inverse_dynamics
from .formulations.recursive import jacobian as jacobian
from .formulations.recursive import jacobian_rate as jacobian_rate
from .formulations.recursive import kinetic_energy as kinetic_energy
from .formulations.recursive import mass_matrix as mass_matrix
from .formulations.recursive import momentum as momentum
from .formulations.recursive import neutral as neutral
from .formulations.recursive import reaction_wrenches as reaction_wrenches
from .formulations.recursive import regressor as regressor
from .formulations.recursive import step_configuration as step_configuration
from .formulations.recursive import total_mass as total_mass
from .model import Body as Body
from .model import Finding as Finding
from .model import Frame as Frame
from .model import Joint as Joint
from .model import Limits as Limits
from .model import ModelError as ModelError
from .model import Shape as Shape
from .model import Spacecraft as Spacecraft
from .model import Thruster as Thruster
from .model import Wheel as Wheel

__version__ = "0.1.0"
