"""What acts on a spacecraft from outside: functions `environment(craft, t, q, v) -> wrenches (nbodies, 6)`."""

from .gravity import Environment as Environment
from .gravity import combined as combined
from .gravity import gravity_wrenches as gravity_wrenches
from .gravity import uniform_gravity as uniform_gravity
