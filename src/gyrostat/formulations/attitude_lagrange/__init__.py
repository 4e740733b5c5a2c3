"""Forbes (2019): Lagrange's equation for any attitude parameterisation, several bodies, constraints of every kind."""

from ..dual_quaternion.support import supports as supports
from .drift import BodyPose as BodyPose
from .drift import project_poses as project_poses
from .drift import project_velocities as project_velocities
from .drift import stabilised as stabilised
from .forward_dynamics import MaximalSolution as MaximalSolution
from .forward_dynamics import forward_dynamics as forward_dynamics
from .forward_dynamics import solve as solve
from .one_body import RigidBody as RigidBody
from .one_body import rigid_body as rigid_body
from .several_bodies import explicit_null_space as explicit_null_space
from .several_bodies import kkt_solution as kkt_solution
from .several_bodies import null_space_solution as null_space_solution
from .state import maximal_state as maximal_state
from .unprojected import raw_accelerations as raw_accelerations
