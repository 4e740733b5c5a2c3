"""What every attitude parameterisation offers. C = C_BN takes N components to B components: C = R_NB^T. w = w_NB_B.

    w = S qdot,   qdot = Gamma w,   Phi(q) = 0,   Xi = dPhi/dq                                          (1)
    Xi Gamma = 0,   S Gamma = 1,   rank [S; Xi] = nq                                                    (2)
    (Sdot - dw/dq) Gamma = -w^,     dw/dq = d(S qdot)/dq at fixed qdot                                  (3)
    d(C^T s)/dq Gamma = -C^T s^,    d(C s)/dq Gamma = (C s)^                                            (4)

They hold for q with Phi(q) = 0 and, (3), for qdot with Xi qdot = 0. Off that set S is a choice: S + A(q) Xi serves as
well. Forbes, Rigid-body equations of motion (2019), "Key identities"; de Ruiter & Forbes, J. Appl. Mech. 81 (2014)
071007.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from ..algebra.directional import derivative_along, gradient
from ..algebra.elementary import Array


class AbstractParameterisation(ABC):
    """nq numbers q with nq - 3 constraints Phi(q) = 0. `singular` says in words where Gamma does not exist."""

    name: ClassVar[str]
    labels: ClassVar[tuple[str, ...]]
    singular: ClassVar[str] = ""

    @property
    def nq(self) -> int:
        return len(self.labels)

    @property
    def nc(self) -> int:
        """Number of constraints."""
        return self.nq - 3

    @abstractmethod
    def C(self, q: Array) -> Array:
        """C_BN, (3, 3)."""

    @abstractmethod
    def S(self, q: Array) -> Array:
        """(3, nq) with w = S qdot."""

    @abstractmethod
    def Gamma(self, q: Array) -> Array:
        """(nq, 3) with qdot = Gamma w."""

    @abstractmethod
    def from_C(self, C: Array) -> Array:
        """q (nq,) of a rotation matrix C_BN."""

    def Phi(self, q: Array) -> Array:
        """(nc,), zero for every attitude; empty unless the parameterisation says otherwise."""
        return np.zeros(0)

    def Xi(self, q: Array) -> Array:
        """dPhi/dq, (nc, nq)."""
        return np.zeros((0, self.nq))

    def margin(self, q: Array) -> Any:
        """One far from the singularity, zero there; one everywhere where there is none."""
        return 1.0

    def project(self, q: Array) -> Array:
        """The nearby q with Phi(q) = 0, and away from the singularity where another q means the same attitude."""
        return q

    def rotation(self, q: Array) -> Array:
        """R_NB = C^T, (3, 3)."""
        return self.C(q).T

    # ---- derivatives, exact

    def S_rate(self, q: Array, qdot: Array) -> Array:
        """Sdot along qdot, (3, nq)."""
        return derivative_along(self.S, q, qdot)

    def Xi_rate(self, q: Array, qdot: Array) -> Array:
        """Xidot along qdot, (nc, nq)."""
        return derivative_along(self.Xi, q, qdot) if self.nc else np.zeros((0, self.nq))

    def w_gradient(self, q: Array, qdot: Array) -> Array:
        """dw/dq = d(S(q) qdot)/dq at fixed qdot, (3, nq)."""
        return gradient(lambda at: self.S(at) @ qdot, q)

    def __repr__(self) -> str:
        return f"<attitude as {self.name}: {', '.join(self.labels)}>"
