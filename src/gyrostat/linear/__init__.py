"""Linear models of whole runs: matrices near a state, equilibria, natural modes."""

from .equilibria import Equilibrium as Equilibrium
from .equilibria import equilibrium as equilibrium
from .flexible_modes import CoupledMode as CoupledMode
from .flexible_modes import Flexibility as Flexibility
from .flexible_modes import ModeShare as ModeShare
from .flexible_modes import flexibility as flexibility
from .linearization import Linearization as Linearization
from .linearization import linearize as linearize
from .modal import Mode as Mode
from .modal import Modes as Modes
from .modal import modes as modes
