"""The real sky over a run's span: what astropy, JPL's files and ppigrf know, as tables that compiled code reads."""

from .air import NRLMSIS as NRLMSIS
from .magnetism import MagneticField as MagneticField
from .orbit_files import Ephemeris as Ephemeris
from .orbit_files import read_oem as read_oem
from .orbit_files import write_oem as write_oem
from .sky import Sky as Sky
from .two_line import in_gcrf as in_gcrf
from .two_line import tle_ephemeris as tle_ephemeris
