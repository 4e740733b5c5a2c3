"""Forbes (2019): Lagrange's equation for any attitude parameterisation, several bodies, constraints of every kind."""

from ..common.support import supports as supports
from .accelerations import MaximalSolution as MaximalSolution
from .accelerations import forward_dynamics as forward_dynamics
from .accelerations import solve as solve
from .one_body import RigidBody as RigidBody
from .one_body import rigid_body as rigid_body
from .paper.drift import BodyPose as BodyPose
from .paper.drift import project_poses as project_poses
from .paper.drift import project_velocities as project_velocities
from .paper.drift import stabilised as stabilised
from .paper.several_bodies import explicit_null_space as explicit_null_space
from .paper.several_bodies import kkt_solution as kkt_solution
from .paper.several_bodies import null_space_solution as null_space_solution
from .paper.state import maximal_state as maximal_state
from .paper.unprojected import raw_accelerations as raw_accelerations
