"""Newton and Euler apart, constraint loads as unknowns: the baseline of Stoneking (2007)."""

from ..common.support import supports as supports
from .newton_euler import DecoupledSolution as DecoupledSolution
from .newton_euler import forward_dynamics as forward_dynamics
from .newton_euler import solve as solve
from .paper.state import decoupled_state as decoupled_state
from .paper.state import decoupled_state_rate as decoupled_state_rate
from .paper.state import momentum_of_decoupled_state as momentum_of_decoupled_state
from .paper.state import state_from_decoupled as state_from_decoupled
