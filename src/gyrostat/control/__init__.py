"""Control laws, actuators, sensors."""

from .computed_torque import computed_torque as computed_torque
from .computed_torque import gains as gains
from .computed_torque import joint_error as joint_error
from .rate_profile import RateProfile as RateProfile
from .rate_profile import Reference as Reference
from .rate_profile import one_joint_at_a_time as one_joint_at_a_time
