"""Motors that a scenario file can name: [[actuators.motor]]."""

from __future__ import annotations

from dataclasses import dataclass

from ..model.entries import Positive, key
from .motors import Motor


@dataclass(frozen=True, kw_only=True)
class MotorEntry:
    """A motor behind the joint's gear: its torque falls linearly to zero at its no-load speed."""

    joint: str = key("Which joint it drives.")
    stall_torque: Positive = key("Of the motor itself, in N m.")
    no_load_speed: float = key("Of the motor itself, in rad/s; inf: its torque does not fall.", 1e9)
    efficiency: Positive = key("Of the gear.", 1.0)
    torque_constant: Positive | None = key("Of the motor itself, in N m per A.", None)
    max_current: float = key("That its drive lets through, in A; inf: any.", float("inf"))

    def build(self) -> Motor:
        return Motor(self.stall_torque, self.no_load_speed, self.efficiency, self.torque_constant, self.max_current)
