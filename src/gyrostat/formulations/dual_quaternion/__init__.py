"""Dual quaternion Newton-Euler dynamics with the joint reactions as unknowns. Valverde & Tsiotras (2018)."""

from ..common.solution import Solution as Solution
from ..common.support import supports as supports
from .elimination import forward_dynamics as forward_dynamics
from .elimination import solve as solve
from .loads import end_effector_wrenches as end_effector_wrenches
from .momenta import dual_momentum as dual_momentum
from .momenta import kinetic_energy as kinetic_energy
from .momenta import momentum as momentum
from .paper.assembly import System as System
from .paper.assembly import assemble as assemble
from .paper.assembly import schur_complement as schur_complement
from .paper.assembly import solve_by_schur_complement as solve_by_schur_complement
from .paper.state import joint_constraints as joint_constraints
from .paper.state import momentum_of_paper_state as momentum_of_paper_state
from .paper.state import paper_state as paper_state
from .paper.state import paper_state_rate as paper_state_rate
from .paper.state import projected as projected
from .paper.state import state_from_paper as state_from_paper
from .paper.topology import incidence_matrix as incidence_matrix
from .paper.topology import termination_vector as termination_vector
