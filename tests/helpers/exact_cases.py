"""Random trees with mpmath numbers, and their states: what the laws are tested on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

import gyrostat as gs
from exact import exact, exact_craft
from random_trees import random_spacecraft, random_state

SEEDS = (0, 1, 3, 5, 7, 12, 14, 18)  # every joint and base kind; tests/laws/test_states.py makes sure


@dataclass(frozen=True)
class State:
    """A spacecraft and its state; `rough` is the same craft with floats."""

    craft: gs.Spacecraft
    rough: gs.Spacecraft
    q: np.ndarray
    v: np.ndarray
    vdot: np.ndarray
    tau: np.ndarray
    wrenches: np.ndarray


@cache
def state(seed: int) -> State:
    craft = random_spacecraft(seed)
    q, v = random_state(craft, seed + 100)
    rng = np.random.default_rng(seed + 200)
    vdot, tau = rng.normal(size=(2, craft.nv))
    wrenches = rng.normal(size=(craft.nbodies, 6))
    return State(exact_craft(craft), craft, *(exact(x) for x in (q, v, vdot, tau, wrenches)))
