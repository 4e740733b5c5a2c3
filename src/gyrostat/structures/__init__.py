"""Beams, plates and trusses by finite elements, and the few shapes that a body takes from them; liquids in tanks."""

from .bodies import beam as beam
from .bodies import plate as plate
from .bodies import truss_boom as truss_boom
from .nastran import nastran_body as nastran_body
from .plate_mesh import PlateSection as PlateSection
from .sections import ALUMINIUM as ALUMINIUM
from .sections import STEEL as STEEL
from .sections import TITANIUM as TITANIUM
from .sections import Material as Material
from .sections import Section as Section
from .sections import box as box
from .sections import rectangle as rectangle
from .sections import tube as tube
from .shortening import stiffened as stiffened
from .tanks import TankShape as TankShape
from .tanks import cylindrical_tank as cylindrical_tank
from .tanks import slosh as slosh
from .tanks import spherical_tank as spherical_tank
from .truss_mesh import Bar as Bar
