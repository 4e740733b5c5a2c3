"""Other libraries as second opinions, where they are installed. Every conversion of conventions lives in this folder.

`Pinocchio` (in `.pinocchio`) and `MuJoCo` (in `.mujoco`) hold a spacecraft, built from ours or read from a file by
themselves; their methods take and return gyrostat's conventions. What differs:

| | gyrostat | Pinocchio | MuJoCo |
|---|---|---|---|
| 6-vectors | [angular; linear] | [linear; angular] | [angular; linear]; `qvel` of a free joint is linear first |
| quaternions | scalar first | scalar last | scalar first |
| free joint | q = (quat, p), v = (w_B, v_B) | q = (p, quat), v = (v_B, w_B) | q = (p, quat), v = (pdot in the parent's
axes, w_B) | | planar joint | q = (x, y, theta), v = (theta rate, v_B) | plane z; q = (x, y, cos, sin), v = (v_B, theta
rate) | two slides, a hinge | | cylindrical, universal | one joint | two joints, a massless body between | two joints in
one body | | cartesian | one joint | translation joint | three slides |
| free joint on a moving body | one joint | one joint | three slides, a ball |
| fixed joint | a body of its own | merged, or a revolute held at rest (`hold_fixed`) | body without joint |
| revolute | q = angle | the same, or (cos, sin) where read as continuous | hinge |
| wheel | no coordinate | revolute, angle zero | hinge, angle zero |
| wheel included in its carrier | inertia J a a^T, no mass | the same, the carrier reduced | as a disc with mass, the
carrier reduced by it | | order of bodies | branch by branch, wheels last | depth first (`crba` is wrong otherwise) |
depth first | | external wrenches | in B about Bo | in the joint's frame | in N about the centre of mass; here through
Jacobians | | reaction wrenches | in B about Bo | `data.f` after `rnea` | `cfrc_int`: in N about the tree's centre of
mass | | momentum | about N's origin | about the centre of mass | about the centre of mass |
| rotors in the kinetic energy | all | of prismatic joints only (4.1); added here | all |

Rates map linearly, `v_peer = T(q) v`. For Pinocchio T only permutes; for MuJoCo it turns linear velocities. So, for
either, M = T^T M_peer T, tau = T^T tau_peer, J = J_peer T, and vdot_peer = T vdot + Tdot v. Where a peer needs a
rotation from a quaternion, or the reverse, its own function computes it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...model import Spacecraft


def _pinocchio(craft: Spacecraft) -> Any:
    try:
        from .pinocchio import Pinocchio
    except ImportError:
        return "not installed. Try: pip install pin"
    return Pinocchio(craft, hold_fixed=True)


def _mujoco(craft: Spacecraft) -> Any:
    try:
        from .mujoco import MuJoCo
    except ImportError:
        return "not installed. Try: pip install mujoco"
    try:
        return MuJoCo.lacks(craft) or MuJoCo(craft)
    except ValueError as refused:  # by MuJoCo's compiler, for a rule of its own
        return f"refused: {' '.join(str(refused).split())}"


# a peer, or why there is none
PEERS: dict[str, Callable[[Spacecraft], Any]] = {
    "Pinocchio": _pinocchio,
    "MuJoCo": _mujoco,
}
