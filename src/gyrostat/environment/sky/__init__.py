"""The real sky over a run's span: what astropy, JPL's files and ppigrf know, as tables that compiled code reads."""

from .air import NRLMSIS as NRLMSIS
from .attitude_files import AttitudeEphemeris as AttitudeEphemeris
from .attitude_files import read_aem as read_aem
from .attitude_files import write_aem as write_aem
from .czml import write_czml as write_czml
from .magnetism import MagneticField as MagneticField
from .of_runs import attitude_of as attitude_of
from .of_runs import ephemeris_of as ephemeris_of
from .orbit_files import Ephemeris as Ephemeris
from .orbit_files import read_oem as read_oem
from .orbit_files import write_oem as write_oem
from .orbit_parameters import Burn as Burn
from .orbit_parameters import OrbitParameters as OrbitParameters
from .orbit_parameters import read_opm as read_opm
from .orbit_parameters import write_opm as write_opm
from .sky import Sky as Sky
from .two_line import in_gcrf as in_gcrf
from .two_line import tle_ephemeris as tle_ephemeris
