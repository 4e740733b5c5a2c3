"""Attitude in nineteen parameterisations, each with its kinematics S, Gamma, constraints Phi, Xi, and singularities."""

from .abstract import AbstractParameterisation as AbstractParameterisation
from .catalogue import PARAMETERISATIONS as PARAMETERISATIONS
from .catalogue import parameterisation as parameterisation
from .conversions import convert as convert
from .conversions import from_rotation_matrix as from_rotation_matrix
from .conversions import rotation_matrix as rotation_matrix
from .direction_cosines import DirectionCosines as DirectionCosines
from .direction_cosines import TwoVectors as TwoVectors
from .euler import SEQUENCES as SEQUENCES
from .euler import Euler as Euler
from .rotations import AxisAngle as AxisAngle
from .rotations import ModifiedRodrigues as ModifiedRodrigues
from .rotations import Quaternion as Quaternion
from .rotations import Rodrigues as Rodrigues
from .rotations import RotationVector as RotationVector
