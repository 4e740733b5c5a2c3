"""Beams, plates and trusses by finite elements, and the few shapes that a flexible body takes from them."""

from .sections import ALUMINIUM as ALUMINIUM
from .sections import STEEL as STEEL
from .sections import TITANIUM as TITANIUM
from .sections import Material as Material
from .sections import Section as Section
from .sections import box as box
from .sections import rectangle as rectangle
from .sections import tube as tube
