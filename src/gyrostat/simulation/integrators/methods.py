"""All integrators by name."""

from __future__ import annotations

from .dop853 import DOP853
from .gauss6 import GAUSS6
from .gauss16 import GAUSS16
from .method import AbstractMethod
from .rk4 import RK4
from .rk45 import RK45

METHODS: dict[str, AbstractMethod] = {method.name: method for method in (DOP853, RK45, RK4, GAUSS6, GAUSS16)}
