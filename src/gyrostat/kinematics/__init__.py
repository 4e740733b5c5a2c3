"""Poses, twists, Jacobians and mass properties of a tree: what every formulation and every law starts from."""

from .configurations import configuration_difference as configuration_difference
from .configurations import configuration_rate as configuration_rate
from .configurations import neutral as neutral
from .configurations import step_configuration as step_configuration
from .jacobians import jacobian as jacobian
from .jacobians import jacobian_rate as jacobian_rate
from .jacobians import path_from_base as path_from_base
from .mass_properties import center_of_mass as center_of_mass
from .mass_properties import composite_inertia as composite_inertia
from .mass_properties import total_mass as total_mass
from .poses import Poses as Poses
from .poses import forward_kinematics as forward_kinematics
from .poses import frame_pose as frame_pose
from .poses import inertial_poses as inertial_poses
from .poses import joint_poses as joint_poses
from .twists import ZERO6 as ZERO6
from .twists import body_accelerations as body_accelerations
from .twists import body_twists as body_twists
from .twists import joint_acceleration_bias as joint_acceleration_bias
