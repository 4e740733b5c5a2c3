"""The real sky over a run's span: what astropy, JPL's files and ppigrf know, as tables that compiled code reads."""

from .magnetism import MagneticField as MagneticField
from .sky import Sky as Sky
