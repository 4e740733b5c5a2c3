"""Valverde & Tsiotras, Modeling spacecraft-mounted robotic systems using dual quaternions (2018):
section 4 and the appendix.
"""

from .checks import angle_spread as angle_spread
from .checks import condition_numbers as condition_numbers
from .checks import experiment_checks as experiment_checks
from .crafts import END as END
from .crafts import PULSES as PULSES
from .crafts import VARIANTS as VARIANTS
from .crafts import spacecraft as spacecraft
from .crafts import torques as torques
from .crafts import two_arms as two_arms
from .experiment import own_momentum as own_momentum
from .experiment import run as run
from .figures import figure_5 as figure_5
from .figures import figure_6 as figure_6
from .reproduction import reproduce as reproduce
