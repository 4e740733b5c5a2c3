"""Compiled integrators, events, and the trajectory they make."""

from .dispatch import simulate as simulate
from .engine.compiling import SimulationWarning as SimulationWarning
from .problem.events import When as When
from .result.audit import Audit as Audit
from .result.sensitivities import FrameSensitivity as FrameSensitivity
from .result.trajectory import Event as Event
from .result.trajectory import Trajectory as Trajectory
from .simulation import Simulation as Simulation
from .simulation import Snapshot as Snapshot
