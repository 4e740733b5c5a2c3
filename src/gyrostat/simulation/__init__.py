"""Compiled integrators, events, and the trajectory they make."""

from .audit import Audit as Audit
from .compiling import SimulationWarning as SimulationWarning
from .compiling import When as When
from .either import simulate as simulate
from .trajectory import Event as Event
from .trajectory import Trajectory as Trajectory
