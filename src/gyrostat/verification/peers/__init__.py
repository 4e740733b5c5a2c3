"""Other libraries as second opinions, where they are installed. All conversions of conventions at run time live here."""

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
    return MuJoCo.lacks(craft) or MuJoCo(craft)


PEERS: dict[str, Callable[[Spacecraft], Any]] = {
    "Pinocchio": _pinocchio,
    "MuJoCo": _mujoco,
}  # a peer, or why there is none
