"""Control laws, actuators, sensors."""

from .commanded import Commanded as Commanded
from .commanded import commanded_loads as commanded_loads
from .computed_torque import computed_torque as computed_torque
from .computed_torque import gains as gains
from .computed_torque import joint_error as joint_error
from .modes import MODES as MODES
from .modes import Mode as Mode
from .modes import through_center_of_mass as through_center_of_mass
from .rate_profile import RateProfile as RateProfile
from .rate_profile import Reference as Reference
from .rate_profile import one_joint_at_a_time as one_joint_at_a_time
from .wheels import momentum_capacity as momentum_capacity
from .wheels import share_torque as share_torque
from .wheels import towards_speeds as towards_speeds
from .wheels import wheel_axes as wheel_axes
from .wheels import wheel_momenta as wheel_momenta
from .wheels import wheel_pyramid as wheel_pyramid
