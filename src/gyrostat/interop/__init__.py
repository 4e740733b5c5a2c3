"""States as other programs write them, and back: orders, axes, quaternions. The dictionaries: docs/from-elsewhere.md.

`craft`, q and v are gyrostat's: q = [quat_NB (w first), p_NB, joints], v = [w_NB_B, v_NB_B, joints, wheels].
"""

from .by_convention import Basilisk as Basilisk
from .by_convention import Drake as Drake
from .by_convention import FortyTwo as FortyTwo
from .by_convention import SpaceDyn as SpaceDyn
from .by_convention import Spart as Spart
from .by_convention import from_42 as from_42
from .by_convention import from_basilisk as from_basilisk
from .by_convention import from_drake as from_drake
from .by_convention import from_spacedyn as from_spacedyn
from .by_convention import from_spart as from_spart
from .by_convention import to_42 as to_42
from .by_convention import to_basilisk as to_basilisk
from .by_convention import to_drake as to_drake
from .by_convention import to_spacedyn as to_spacedyn
from .by_convention import to_spart as to_spart
from .by_model import from_mujoco as from_mujoco
from .by_model import from_pinocchio as from_pinocchio
from .by_model import to_mujoco as to_mujoco
from .by_model import to_pinocchio as to_pinocchio
