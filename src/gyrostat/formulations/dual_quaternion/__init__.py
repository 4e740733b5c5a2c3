"""Dual quaternion Newton-Euler dynamics with the joint reactions as unknowns. Valverde & Tsiotras (2018)."""

from ..solution import Solution as Solution
from .assembly import System as System
from .assembly import assemble as assemble
from .assembly import schur_complement as schur_complement
from .assembly import solve_by_schur_complement as solve_by_schur_complement
from .elimination import forward_dynamics as forward_dynamics
from .elimination import solve as solve
from .loads import end_effector_wrenches as end_effector_wrenches
from .momentum import dual_momentum as dual_momentum
from .momentum import kinetic_energy as kinetic_energy
from .momentum import momentum as momentum
from .state import joint_constraints as joint_constraints
from .state import momentum_of_paper_state as momentum_of_paper_state
from .state import paper_state as paper_state
from .state import paper_state_rate as paper_state_rate
from .state import projected as projected
from .state import state_from_paper as state_from_paper
from .support import supports as supports
from .topology import incidence_matrix as incidence_matrix
from .topology import termination_vector as termination_vector
