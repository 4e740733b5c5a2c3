"""The generalised Jacobian framework of Wilde et al. (2018): the base eliminated by conservation of momentum.

For any tree, any joint kind, several arms and wheels, in gyrostat's order:
`generalized_matrices`, `reduced_dynamics`, `accelerations`.

The paper's own equations, in its order ([linear; angular], inertial components, about the base's centre of mass), one
idea per file: `arm` (tables), `direction_cosines` (1)-(10), `paper/quaternions` (18)-(25), `links` (11)-(16),
(30)-(35), `inertia_blocks` (26)-(36), (42), `base_inverse` (51)-(61), `link_rates` and `paper/joint_derivatives`
(67)-(73), (83)-(94), `paper/block_rates` (66)-(101), `reduced_equations` (39)-(50), (62)-(65), (80), (81),
`paper/point_jacobians` (103)-(111).

Wilde, Kwok Choon, Grompone, Romano: Equations of Motion of Free-Floating Spacecraft-Manipulator Systems: An Engineer's
Tutorial, Front. Robot. AI 5:41 (2018). Corrections: docs/errata/wilde2018.md.
"""

from .accelerations import forward_dynamics as forward_dynamics
from .arm import Arm as Arm
from .elimination import supports as supports
from .generalized_matrices import generalized_inertia as generalized_inertia
from .generalized_matrices import generalized_inertia_rate as generalized_inertia_rate
from .generalized_matrices import generalized_jacobian as generalized_jacobian
from .generalized_matrices import generalized_jacobian_in_base as generalized_jacobian_in_base
from .generalized_matrices import generalized_jacobian_rate as generalized_jacobian_rate
from .reduced_dynamics import GeneralizedCoriolis as GeneralizedCoriolis
from .reduced_dynamics import base_velocity_from_momentum as base_velocity_from_momentum
from .reduced_dynamics import generalized_coriolis as generalized_coriolis
from .reduced_dynamics import reduced_bias_force as reduced_bias_force
from .reduced_dynamics import reduced_forward_dynamics as reduced_forward_dynamics
from .reduced_dynamics import reduced_inverse_dynamics as reduced_inverse_dynamics
