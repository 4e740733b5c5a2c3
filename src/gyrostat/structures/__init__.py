"""Beams, plates and trusses by finite elements, and the few shapes that a flexible body takes from them."""

from .bodies import beam as beam
from .bodies import plate as plate
from .bodies import truss_boom as truss_boom
from .plate_mesh import PlateSection as PlateSection
from .sections import ALUMINIUM as ALUMINIUM
from .sections import STEEL as STEEL
from .sections import TITANIUM as TITANIUM
from .sections import Material as Material
from .sections import Section as Section
from .sections import box as box
from .sections import rectangle as rectangle
from .sections import tube as tube
from .truss_mesh import Bar as Bar
