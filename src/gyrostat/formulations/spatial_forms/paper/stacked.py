"""A formation has the form of a single body: 𝓜 𝓥' + 𝓒 𝓥 = 𝓕 (60)-(64), block diagonal and kept as its blocks.

Members stand along the first axis: M (N, 6, 6), V (N, 6). Each may have its own reference point and its own choice of
C. Nothing here is ever 6N x 6N.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ....algebra import Array, solve_spd
from ..coriolis_matrices import coriolis, passivity_matrix


class StackedEquations(NamedTuple):
    """Blocks of 𝓜, 𝓒 (N, 6, 6) and of 𝓥, 𝓕 (N, 6)."""

    M: Array
    C: Array
    V: Array
    F: Array
    inertial_rates: bool = False

    def acceleration(self) -> Array:
        """𝓥' (N, 6), in the rates of the form: cost linear in N                                              (64)"""
        members = zip(self.M, self.C, self.V, self.F, strict=True)
        return np.array([solve_spd(M, F - C @ V) for M, C, V, F in members])

    def passivity(self) -> Array:
        """The blocks of 𝓜' - 2 𝓒 (N, 6, 6): skew if every member's is (Proposition 4, corrected)."""
        rows = [
            passivity_matrix(M, C, V[:3], inertial_rates=self.inertial_rates)
            for M, C, V in zip(self.M, self.C, self.V, strict=True)
        ]
        return np.array(rows)

    def kinetic_energy(self) -> Any:
        """1/2 𝓥^T 𝓜 𝓥."""
        return 0.5 * sum(V @ M @ V for M, V in zip(self.M, self.V, strict=True))


def stacked_equations(
    M: Sequence[Array], V: Sequence[Array], F: Sequence[Array], *, choice: str = "skew", inertial_rates: bool = False
) -> StackedEquations:
    """From each member's inertia, velocity and force about its own reference point                     (59)-(63)"""
    C = [coriolis(M_i, V_i, choice, inertial_rates=inertial_rates) for M_i, V_i in zip(M, V, strict=True)]
    return StackedEquations(np.array(M), np.array(C), np.array(V), np.array(F), inertial_rates)
