"""Adjoints of the rates of a run: f_s^T a and f_p^T a, in a few times the operations of f.

As derivatives along directions (variations.py), those of accelerations are found in the residual of inverse dynamics,
where nothing is solved for. With b the adjoint of the accelerations, M the mass matrix and P = de/da:

    m = M^-1 b,   P M^-1 P^T n = P m,   adjoint of the balance: M^-1 P^T n - m,   of the constraints' errors: -n   (1)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...algebra import Array, solve_spd
from ...algebra.linear import inverse_spd
from ...algebra.semidefinite import least_norm_solution
from ...formulations.recursive import mass_matrix
from ...kinematics import configuration_rate
from ...tracing.derivatives import jacobian, multiplied, pullback, substitute
from ...tracing.expr import Expr, Trace
from .equations import Equations
from .residual import residual


def pulled_rates(equations: Equations, x: Array, vdot: Array, symbols: Sequence[Any], adjoint: Array) -> list[Any]:
    """d (adjoint . d/dt (q, v, z, load)) / d symbols, of which x is made. vdot: the accelerations there, as known."""
    craft, trace, q = equations.own_craft(x), _trace(symbols), x[equations.layout["q"]]
    acting = equations.acting(x)
    rates = [configuration_rate(craft, q, equations.velocity(x)), acting.zdot, acting.load_rate]
    nq, nv = craft.nq, craft.nv
    of_rates = [*adjoint[:nq], *adjoint[nq + nv :]]
    rows = sum(c.size for c in equations.constraints)
    a, l = trace.inputs("acceleration", (nv,)), trace.inputs("multiplier", (rows,))
    balance, errors = residual(equations, x, a, l)
    known = dict(zip(a, map(_number, vdot), strict=True))
    if rows:
        held = equations.signals(x)[0].held
        assert held is not None
        known |= dict(zip(l, map(_number, held.multipliers), strict=True))
    fixed = {k for name in equations.prescribed for k in np.arange(nv)[craft.joint_named(name).v_at].tolist()}
    free = [k for k in range(nv) if k not in fixed]
    M, b = mass_matrix(craft, q)[np.ix_(free, free)], np.asarray(adjoint[nq : nq + nv])[free]
    if not rows:
        of_balance, of_errors = -solve_spd(M[::-1, ::-1], b[::-1])[::-1], np.zeros(0)  # from the tips: zeros stay
    else:
        inverse = inverse_spd(M)
        P = jacobian([_number(e) for e in errors], list(a))[:, free]
        P = np.array(substitute([_number(e) for e in P.flat], known), dtype=object).reshape(P.shape)
        m, MP = multiplied(inverse, b[:, None]), multiplied(inverse, P.T)
        n = least_norm_solution(multiplied(P, MP), multiplied(P, m))
        of_balance, of_errors = (multiplied(MP, n) - m)[:, 0], -n[:, 0]
    outputs = [*np.concatenate(rates), *balance[free], *errors]
    weights = [*of_rates, *of_balance, *of_errors]
    found = pullback([_number(e) for e in outputs], symbols, [_number(e) for e in weights])
    return substitute([_number(e) for e in found], known)


def _number(e: Any) -> Any:
    return e if isinstance(e, Expr) else float(e)


def _trace(symbols: Sequence[Any]) -> Trace:
    return next(e.trace for e in symbols if isinstance(e, Expr))
