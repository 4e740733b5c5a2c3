"""Lagrange's equations on Lie groups, without singularities: explicit M and C on SE(3) x R^n, and their reductions.

From, Pettersen & Gravdahl, Acta Astronautica 69 (2011), with the corrections of docs/errata/from2011.md. Twists are
angular first here as everywhere in gyrostat, linear first in the paper.
"""

from .accelerations import forward_dynamics as forward_dynamics
from .coriolis import bias_force as bias_force
from .coriolis import coriolis_matrix as coriolis_matrix
from .coriolis import coriolis_parts as coriolis_parts
from .coriolis import skew_coriolis_matrix as skew_coriolis_matrix
from .mass_matrices import kinetic_energy as kinetic_energy
from .mass_matrices import mass_matrix as mass_matrix
from .mass_matrices import mass_matrix_derivatives as mass_matrix_derivatives
from .paper.momentum_reduction import angular_elimination as angular_elimination
from .paper.momentum_reduction import base_rate as base_rate
from .paper.momentum_reduction import joint_coriolis_matrix as joint_coriolis_matrix
from .paper.momentum_reduction import joint_dynamics as joint_dynamics
from .paper.momentum_reduction import joint_mass_matrix as joint_mass_matrix
from .reduction import base_velocity as base_velocity
from .reduction import linear_elimination as linear_elimination
from .reduction import reduced_coriolis_matrix as reduced_coriolis_matrix
from .reduction import reduced_force as reduced_force
from .reduction import reduced_forward_dynamics as reduced_forward_dynamics
from .reduction import reduced_mass_matrix as reduced_mass_matrix
from .subgroups import general_coriolis as general_coriolis
from .subgroups import gyroscopic as gyroscopic
from .subgroups import supports as supports
from .subgroups import velocity_map as velocity_map
from .subgroups import velocity_map_derivatives as velocity_map_derivatives
