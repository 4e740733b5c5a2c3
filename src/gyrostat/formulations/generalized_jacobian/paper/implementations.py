"""Figure 3: the paper's two ways to H*, C* and J*, partially and fully symbolic.

Partially symbolic: expressions give numbers for T_J, T_L, H_0, H_0m, H_m, H_0^-1 and the derivatives (`symbolic_part`),
linear algebra on those numbers does the rest (`numerical_part`). Fully symbolic: the two composed before anything is
evaluated. Trace `symbolic_part` or `fully_symbolic` to compile them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....algebra import Array
from ..arm import Arm
from ..base_inverse import base_inertia_inverse
from ..direction_cosines import joint_transforms, link_transforms, position_of
from ..inertia_blocks import Blocks, inertia_blocks
from ..link_rates import arm_link_rates
from ..links import arm_links
from .block_rates import block_rates
from .joint_derivatives import arm_link_derivatives
from .point_jacobians import base_jacobian, manipulator_jacobian


class Numbers(NamedTuple):
    """What the partially symbolic implementation evaluates; each may have leading batch axes."""

    T_J: Array  # (N + 2, 4, 4)
    T_L: Array  # (N + 1, 4, 4)
    H: Blocks
    H_0_inverse: Array  # (6, 6)
    Hdot: Blocks  # by time, the base not turning: H*' does not depend on its rotation
    dH: Blocks  # by joint angle: (N, 6, 6), (N, 6, N), (N, N, N)
    J_0: Array  # (6, 6) of the end effector
    J_m: Array  # (6, N)


class Generalized(NamedTuple):
    """H* (N, N), C* (N,) and J* (6, N) of the end effector, in the paper's order."""

    H: Array
    C: Array
    J: Array


def symbolic_part(arm: Arm, T_J0: Array, q: Array, qdot: Array) -> Numbers:
    """Equations (1)-(36), (51)-(61), (66)-(79), (82)-(106)."""
    T_J = joint_transforms(arm, T_J0, q)
    T_L = link_transforms(arm, T_J, q)
    links = arm_links(arm, T_J, T_L)
    Hdot = block_rates(links, arm_link_rates(arm, T_J, T_L, np.zeros(3), qdot))
    dH = [block_rates(links, arm_link_derivatives(arm, T_J, T_L, q, k)) for k in range(1, arm.n + 1)]
    x = position_of(T_J[-1])
    return Numbers(
        np.array(T_J),
        np.array(T_L),
        inertia_blocks(links),
        base_inertia_inverse(links),
        Hdot,
        Blocks(*(np.array(parts) for parts in zip(*dH, strict=True))),
        base_jacobian(T_J, x),
        manipulator_jacobian(arm, T_J, arm.n, x),
    )


def numerical_part(numbers: Numbers, qdot: Array) -> Generalized:
    """Equations (45), (65), (81), (80), (49), (110), for any leading batch axes."""
    H, Hdot, dH = numbers.H, numbers.Hdot, numbers.dH
    X = numbers.H_0_inverse @ H.H_0m
    H_star = H.H_m - _t(H.H_0m) @ X  # (45)
    Hdot_star = _eliminated(Hdot, X)  # (65)
    dH_star = _eliminated(dH, X[..., None, :, :])  # (81), all k at once
    rates = qdot[..., None]
    c_star = -0.5 * (qdot[..., None, None, :] @ dH_star @ rates[..., None, :, :])[..., 0, 0]  # (80)
    C_star = (Hdot_star @ rates)[..., 0] + c_star  # (49)
    return Generalized(H_star, C_star, numbers.J_m - numbers.J_0 @ X)  # (110)


def fully_symbolic(arm: Arm, T_J0: Array, q: Array, qdot: Array) -> Generalized:
    """H*, C*, J* as one expression of the state."""
    return numerical_part(symbolic_part(arm, T_J0, q, qdot), qdot)


def _eliminated(rate: Blocks, X: Array) -> Array:
    half = _t(rate.H_0m) @ X
    return rate.H_m - half - _t(half) + _t(X) @ rate.H_0 @ X


def _t(A: Array) -> Array:
    return np.swapaxes(A, -1, -2)
