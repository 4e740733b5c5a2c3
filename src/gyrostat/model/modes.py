"""One mode of a flexible body by name, "array.mode_1", and what can be changed of it: frequency and damping ratio.

With K, D, M_ff of the body (M_ff where nothing is bent):

    2 pi f_k = sqrt(K_kk / M_kk),   zeta_k = D_kk / (2 sqrt(K_kk M_kk))                                     (1)

A frequency f' scales row and column k of K by f' / f, and those of D by its root, so that zeta_k stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import pi
from typing import Any

import numpy as np

from ..algebra import Array, sqrt
from .findings import nearest
from .flexible import FlexibleBody


@dataclass(frozen=True, eq=False)
class Mode:
    """Number k, from zero, of a flexible body."""

    body: FlexibleBody
    k: int

    @property
    def name(self) -> str:
        return f"{self.body.name}.mode_{self.k + 1}"

    @property
    def frequency(self) -> Any:
        """In Hz, of (1)."""
        return sqrt(self.body.stiffness[self.k, self.k] / self.body.modal_mass[self.k, self.k]) / (2.0 * pi)

    @property
    def damping_ratio(self) -> Any:
        """Of (1); zero where the mode has no stiffness."""
        K, M, D = (A[self.k, self.k] for A in (self.body.stiffness, self.body.modal_mass, self.body.damping))
        return D / (2.0 * sqrt(K * M)) if K is not None and np.any(K) else 0.0

    def tuned(self, frequency: Any) -> FlexibleBody:
        """The body with that frequency of this mode, damping ratios as they are."""
        K = self.body.stiffness[self.k, self.k]
        if not np.any(K):
            raise ValueError(f"'{self.name}' has no stiffness, and so no frequency that could be changed.")
        ratio = frequency / self.frequency
        return replace(
            self.body,
            stiffness=_scaled(self.body.stiffness, self.k, ratio),
            damping=_scaled(self.body.damping, self.k, sqrt(ratio)),
        )

    def damped(self, ratio: Any) -> FlexibleBody:
        """The body with that damping ratio of this mode."""
        K, M = self.body.stiffness[self.k, self.k], self.body.modal_mass[self.k, self.k]
        D = np.array(self.body.damping, dtype=object)
        D[self.k, self.k] = 2.0 * ratio * sqrt(K * M)
        return replace(self.body, damping=_plain(D))


def mode_named(bodies: Sequence[Any], name: str) -> Mode:
    """By "array.mode_1"."""
    flexible = [body for body in bodies if isinstance(body, FlexibleBody)]
    modes = {mode.name: mode for body in flexible for mode in (Mode(body, k) for k in range(body.n))}
    if name not in modes:
        raise ValueError(f"there is no mode '{name}'. {nearest(name, modes)}")
    return modes[name]


def _scaled(A: Array, k: int, ratio: Any) -> Array:
    """Row and column k times `ratio`, once each."""
    A = np.array(A, dtype=object)
    A[k, :] = A[k, :] * ratio
    A[:, k] = A[:, k] * ratio
    return _plain(A)


def _plain(A: Array) -> Array:
    """Numbers as floats; symbols as they are."""
    try:
        return A.astype(float)
    except (TypeError, ValueError):
        return A
