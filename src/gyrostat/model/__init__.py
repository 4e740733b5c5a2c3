"""Spacecraft and their parts: immutable values, validated when built."""

from .denavit_hartenberg import DHLink as DHLink
from .differences import difference as difference
from .dispersion import ModelWarning as ModelWarning
from .dispersion import ValueCheck as ValueCheck
from .findings import Finding as Finding
from .findings import InternalError as InternalError
from .findings import ModelError as ModelError
from .findings import nearest as nearest
from .flexible import FlexibleBody as FlexibleBody
from .flexible import Modes as Modes
from .kinds import KINDS as KINDS
from .kinds import AbstractKind as AbstractKind
from .members import Member as Member
from .members import Membership as Membership
from .names import wrong_name as wrong_name
from .nodes import Mount as Mount
from .nodes import Node as Node
from .parts import Body as Body
from .parts import Frame as Frame
from .parts import Joint as Joint
from .parts import Limits as Limits
from .parts import Shape as Shape
from .parts import Thruster as Thruster
from .parts import Wheel as Wheel
from .roles import Role as Role
from .spacecraft import Spacecraft as Spacecraft
