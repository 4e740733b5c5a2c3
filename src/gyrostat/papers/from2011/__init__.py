"""From, Pettersen & Gravdahl (2011), Acta Astronautica 69: Lagrange's equations on SE(3),
and the dynamically equivalent manipulator.
"""

from .crafts import craft as craft
from .crafts import moving_state as moving_state
from .reproduction import ASSUMPTIONS as ASSUMPTIONS
from .reproduction import reproduce as reproduce
