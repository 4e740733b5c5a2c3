"""The four forms of a rigid body's equations of motion, what they share, and what formations and multibody systems
inherit.

Ploen, Hadaegh, Scharf: Spacecraft Formations, Part 1: Absolute Equations of Motion (2004), with the corrections of
docs/errata/ploen2004.md, and the relative and multibody equations it announces.
"""

from .coriolis_matrices import coriolis as coriolis
from .coriolis_matrices import passivity_matrix as passivity_matrix
from .inheritance import bias_force as bias_force
from .inheritance import body_jacobians as body_jacobians
from .inheritance import coriolis_matrix as coriolis_matrix
from .inheritance import forward_dynamics as forward_dynamics
from .inheritance import kinetic_energy as kinetic_energy
from .inheritance import mass_matrix as mass_matrix
from .inheritance import supports as supports
from .paper.rigid_body import acceleration as acceleration
from .paper.rigid_body import shift as shift
from .paper.rigid_body import spatial_inertia as spatial_inertia
from .paper.rigid_body import velocity_product as velocity_product
from .paper.stacked import StackedEquations as StackedEquations
from .paper.stacked import stacked_equations as stacked_equations
from .virtual_trees import member_states as member_states
from .virtual_trees import relative_acceleration as relative_acceleration
from .virtual_trees import relative_pose as relative_pose
from .virtual_trees import relative_twist as relative_twist
from .virtual_trees import tree_state as tree_state
from .virtual_trees import virtual_tree as virtual_tree
