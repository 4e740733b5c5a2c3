"""What acts on a spacecraft from outside: functions `environment(craft, t, q, v) -> wrenches (nbodies, 6)`."""

from .gravity import Environment as Environment
from .gravity import combined as combined
from .gravity import gravity_wrenches as gravity_wrenches
from .gravity import uniform_gravity as uniform_gravity
from .hill import from_hill as from_hill
from .hill import hill_frame as hill_frame
from .hill import to_hill as to_hill
from .orbit import Orbit as Orbit
from .orbit import PlanetCentered as PlanetCentered
from .planets import EARTH as EARTH
from .planets import MARS as MARS
from .planets import MOON as MOON
from .planets import Planet as Planet
from .two_body import differential_gravity as differential_gravity
from .two_body import two_body_gravity as two_body_gravity
