"""Loads that come from outside, step by step: to the equations they are what a sampled control law holds, to the
engine numbers in memory."""

from __future__ import annotations

from typing import Any

from ...algebra import Array
from ...control.controller import Controller
from ...model import Spacecraft


def _given(craft: Spacecraft, t: Any, q: Array, v: Array) -> Array:
    raise RuntimeError("loads are given from outside: nobody computes them here.")


GIVEN = Controller(_given, period=float("inf"))  # in place of a control law
