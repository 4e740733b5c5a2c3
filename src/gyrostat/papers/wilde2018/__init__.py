"""Wilde, Kwok Choon, Grompone, Romano, Equations of motion of free-floating spacecraft-manipulator systems (2018),
Front. Robot. AI 5:41.
"""

from .crafts import TABLES as TABLES
from .crafts import planar_craft as planar_craft
from .crafts import planar_table as planar_table
from .crafts import spatial_craft as spatial_craft
from .crafts import spatial_table as spatial_table
from .experiment import manoeuvre as manoeuvre
from .experiment import run as run
from .experiment import run_kinematic as run_kinematic
from .experiment import run_reduced as run_reduced
from .reproduction import ASSUMPTIONS as ASSUMPTIONS
from .reproduction import reproduce as reproduce
