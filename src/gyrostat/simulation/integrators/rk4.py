"""The classical method of order 4, for fixed steps."""

from __future__ import annotations

from .explicit import Explicit
from .method import hermite

_B = (1 / 6, 1 / 3, 1 / 3, 1 / 6)
RK4 = Explicit("rk4", 4, (0.0, 0.5, 0.5, 1.0), ((0.5,), (0.0, 0.5), (0.0, 0.0, 1.0)), _B, (), 4, (), hermite(_B))
