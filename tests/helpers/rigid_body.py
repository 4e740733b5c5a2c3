"""The free asymmetric rigid body in closed form: rates by Jacobi's elliptic functions,
attitude by the angle about the momentum.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ellipj

from gyrostat.algebra import rotation_about

X, Y, Z = np.eye(3)


class FreeBody:
    """Moments A < B < C about x, y, z; started with w = (w1, 0, w3) and circling the z axis (2 E B < L^2)."""

    def __init__(self, A=1.0, B=2.0, C=3.0, w1=0.4, w3=1.1):
        self.A, self.B, self.C = A, B, C
        self.E2 = A * w1**2 + C * w3**2
        self.L2 = A**2 * w1**2 + C**2 * w3**2
        assert self.L2 > self.E2 * B
        self.p = np.sqrt((C - B) * (self.L2 - A * self.E2) / (A * B * C))
        self.m = (B - A) * (C * self.E2 - self.L2) / ((C - B) * (self.L2 - A * self.E2))
        self.w1, self.w3 = w1, w3
        self.w2 = np.sqrt((C * self.E2 - self.L2) / (B * (C - B)))
        self.L = np.sqrt(self.L2)

    def rates(self, t):
        """Landau & Lifshitz, Mechanics, section 37."""
        sn, cn, dn, _ = ellipj(self.p * t, self.m)
        return np.array([self.w1 * cn, self.w2 * sn, self.w3 * dn])

    def _euler(self, t):
        """Nutation and spin (z-x-z) of the body about its angular momentum."""
        h = np.array([self.A, self.B, self.C]) * self.rates(t)
        return np.arccos(h[2] / self.L), np.arctan2(h[0], h[1])

    def attitude(self, t):
        """R_LB, L the frame whose z axis is the angular momentum; its angle about z starts at 0."""

        def precession(s):
            w = self.rates(s)
            return self.L * (self.A * w[0] ** 2 + self.B * w[1] ** 2) / (self.L2 - (self.C * w[2]) ** 2)

        nodes, weights = np.polynomial.legendre.leggauss(16)
        edges = np.linspace(0.0, t, 41)  # panels so short that sixteen points integrate to round-off
        middles, half = (edges[1:] + edges[:-1]) / 2, t / 80
        phi = half * sum(w * precession(m + half * x) for m in middles for x, w in zip(nodes, weights, strict=True))
        theta, psi = self._euler(t)
        return rotation_about(Z, phi) @ rotation_about(X, theta) @ rotation_about(Z, psi)
