"""Several spacecraft that fly together: members, who sees whom, their common clock, and their relative motion."""

from .batch import FormationBatch as FormationBatch
from .coupling import Coupling as Coupling
from .coupling import ring as ring
from .impulses import simulate_impulses as simulate_impulses
from .members import Formation as Formation
from .members import Group as Group
from .run import simulate as simulate
from .trajectory import FormationTrajectory as FormationTrajectory
