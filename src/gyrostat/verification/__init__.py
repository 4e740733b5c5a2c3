"""Every formulation against every other, on the user's own spacecraft; and against Pinocchio and MuJoCo."""

from .comparison import Comparison as Comparison
from .comparison import VerifyReport as VerifyReport
from .run import verify as verify
