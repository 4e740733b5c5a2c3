"""Linear models of whole runs: matrices near a state, equilibria, natural modes."""

from .equilibria import Equilibrium as Equilibrium
from .equilibria import equilibrium as equilibrium
from .linearization import Linearization as Linearization
from .linearization import linearize as linearize
from .modal import Mode as Mode
from .modal import Modes as Modes
from .modal import modes as modes
