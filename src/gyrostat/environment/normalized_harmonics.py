"""Fields of fully normalised spherical harmonics to high degree: one loop over all terms, whose code stays short."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ..algebra import Array, scan, sqrt
from ..tracing.tables import lookup

UNROLLED = 16  # degrees up to which the loop is written out: constants fold, and a compiler has little to do


class Harmonics:
    """U(r) = 1/r sum (R/r)^n A_nm(u) (C_nm Re + S_nm Im)(s + i t)^m, (s, t, u) = r/|r|, fully normalised (Kaula).

    A_nm = N_nm d^m P_n/du^m has no singularity at the poles (Pines 1973). With b_nm = (R/r)^(n-m) A_nm and
    F_m = (R/r)^m (s + i t)^m, term by term along each order m:

        b_mm constant;  b_nm = alpha rho u b_(n-1,m) - beta rho^2 b_(n-2,m),  rho = R/r                           (1)
        b'_nm = alpha rho (u b'_(n-1,m) + b_(n-1,m)) - beta rho^2 b'_(n-2,m)                                      (2)
        r^2 grad U = sum  m b (C G + S H, S G - C H, 0) + b' D e_z - ((n + m + 1) b + u b') D u                   (3)

    with D = C Re F_m + S Im F_m, and G + i H = rho F_(m-1).
    C, S: (degree + 1, degree + 1), [n, m]; those of degree below `lowest` are left out. rates: (C, S) by which they
    change per unit of time.
    """

    def __init__(
        self, C: Array, S: Array, radius: float, lowest: int = 0, rates: tuple[Array, Array] | None = None
    ) -> None:
        self.C, self.S, self.radius, self.lowest = np.tril(C), np.tril(S), float(radius), lowest
        self.rates = rates

    @property
    def degree(self) -> int:
        return len(self.C) - 1

    @cached_property
    def _tables(self) -> dict[str, Array]:
        """By step: what (1) to (3) multiply with. Steps go along each order in turn."""
        steps = [(n, m) for m in range(self.degree + 1) for n in range(m, self.degree + 1)]
        n, m = np.array(steps, dtype=float).T
        first = n == m
        with np.errstate(divide="ignore", invalid="ignore"):
            alpha = np.sqrt((2 * n + 1) * (2 * n - 1) / ((n - m) * (n + m)))
            beta = np.sqrt((2 * n + 1) * (n + m - 1) * (n - m - 1) / ((2 * n - 3) * (n + m) * (n - m)))
        beta[n - m < 2] = 0.0
        diagonal = [1.0, np.sqrt(3.0)]
        for k in range(2, self.degree + 1):
            diagonal.append(diagonal[-1] * np.sqrt((2 * k + 1) / (2 * k)))
        start = np.where(first, np.array(diagonal)[m.astype(int)], 0.0)
        kept = n >= self.lowest

        def by_step(X: Array) -> Array:
            return np.where(kept, X[n.astype(int), m.astype(int)], 0.0)

        moving = {} if self.rates is None else {"dC": by_step(self.rates[0]), "dS": by_step(self.rates[1])}
        return moving | {
            "alpha": np.where(first, 0.0, alpha),
            "beta": np.where(first, 0.0, beta),
            "start": start,
            "turn": np.where(first & (m > 0), 1.0, 0.0),
            "C": by_step(self.C),
            "S": by_step(self.S),
            "m": m,
            "radial": n + m + 1,
        }

    def gradient(self, r: Array, t: Any = 0.0) -> Array:
        """grad U (3,) at r, in the axes of the field, at time t. On floats, symbols and numbers of many digits."""
        r2 = r @ r
        distance = sqrt(r2)
        sx, sy, u = (e / distance for e in r)
        rho = self.radius / distance
        x, y, rho_u, rho2 = rho * sx, rho * sy, rho * u, rho * rho
        table = self._tables

        def step(state: Any, k: Any) -> Any:
            b1, b2, db1, db2, f, h, g_before, h_before, ax, ay, az, ar = state
            at = {name: lookup(k, row) for name, row in table.items()}
            alpha, beta = at["alpha"], at["beta"] * rho2
            b = alpha * rho_u * b1 - beta * b2 + at["start"]  # (1)
            db = alpha * (rho_u * db1 + rho * b1) - beta * db2  # (2)
            turn, stay = at["turn"], 1.0 - at["turn"]  # a new order: F turns on
            g_before, h_before = stay * g_before + turn * rho * f, stay * h_before + turn * rho * h
            f, h = stay * f + turn * (x * f - y * h), stay * h + turn * (x * h + y * f)
            C, S, mb = at["C"], at["S"], at["m"] * b
            if self.rates is not None:
                C, S = C + at["dC"] * t, S + at["dS"] * t
            D = C * f + S * h
            ax = ax + mb * (C * g_before + S * h_before)
            ay = ay + mb * (S * g_before - C * h_before)
            az = az + db * D
            ar = ar - (at["radial"] * b + u * db) * D  # (3)
            return b, b1, db, db1, f, h, g_before, h_before, ax, ay, az, ar

        state: Any = (0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        steps = len(table["C"])
        if self.degree <= UNROLLED:
            for k in range(steps):
                state = step(state, float(k))
        else:
            state = scan(step, state, steps)
        ax, ay, az, ar = state[8:]
        return np.array([ax + ar * sx, ay + ar * sy, az + ar * u]) / r2
