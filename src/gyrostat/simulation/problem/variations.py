"""The variational equations of a run, as functions of x: how derivatives of its state change in time, at samples and at
events.

With s = (q, v, z, load) the state, h what a sampled law holds, p what is varied, and S = ds/dp, S_h = dh/dp:

    d/dt S = f_s S + f_h S_h + f_p,   S_h <- u_s S + u_h S_h + u_p  at samples                                  (1)

S of q stands in components of q (nq rows): tangents of the manifold stay tangents. The accelerations a and the
multipliers l of constraints are not differentiated where they are solved for, but where they are short, in the residual
of inverse dynamics (residual.py): with M the mass matrix, P = de/da, B and E the derivatives of the balance of loads
and of the constraints' errors at fixed a and l, along each column,

    P M^-1 P^T dl = P M^-1 B - E,    da = M^-1 (P^T dl - B)                                                     (2)

over the coordinates that are not prescribed.

At an event g(t, s) = 0 with the effect s+ = J(t, s-), the time of the event moves, too (saltation):

    dt/dp = -(g_s S + g_p) / (g_t + g_s f-),    S+ = J_s (S + f- dt/dp) + J_t dt/dp + J_p - f+ dt/dp            (3)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...algebra import Array
from ...algebra.linear import inverse_spd
from ...algebra.semidefinite import least_norm_solution
from ...formulations.recursive import mass_matrix
from ...kinematics import configuration_rate
from ...tracing.derivatives import jacobian, multiplied, pushforward, substitute
from ...tracing.expr import Expr, Trace
from ...tracing.scan import mapped
from .residual import residual
from .varied import count

if TYPE_CHECKING:
    from .equations import Equations


FEW = 6  # columns that are written out; more share one piece of code


class Directions(NamedTuple):
    """What the symbols x change by: (places in x, rows of directions)."""

    places: list[int]
    rows: Array

    def with_column(self, column: Array, t: float = 0.0) -> Directions:
        """One more: the state by `column`, the time by t."""
        more = np.full((len(self.places) + 1, 1), 0.0, dtype=object)
        more[: len(column), 0], more[-1, 0] = column, t
        rows = np.vstack([self.rows, np.full((1, self.rows.shape[1]), 0.0, dtype=object)])
        return Directions([*self.places, 0], np.hstack([rows, more]))


def rates(equations: Equations, x: Array) -> Array:
    """d/dt S, (state, columns)."""
    own = directions(equations, x)
    symbols, columns = list(x[own.places]), own.rows.shape[1]
    if columns <= FEW:
        return _rates(equations, x, lambda values: pushforward(values, symbols, own.rows))
    moved = [i for i, row in enumerate(own.rows) if any(type(e) is not float or e != 0.0 for e in row)]
    direction = _trace(x).inputs("direction", (len(moved),))

    def along(values: Sequence[Any]) -> Array:
        return multiplied(jacobian(values, [symbols[i] for i in moved]), direction[:, None])

    one = _rates(equations, x, along)[:, 0]
    return mapped([_number(e) for e in one], list(direction), own.rows[moved])


def _rates(equations: Equations, x: Array, along: Callable[[Sequence[Any]], Array]) -> Array:
    """along: derivatives of values by the columns."""

    def change(values: Any) -> Array:
        return along([_number(e) for e in np.ravel(values)])

    craft, q, v = equations.own_craft(x), x[equations.layout["q"]], equations.velocity(x)
    signals, zdot, load_rate = equations.signals(x)
    da = _accelerations(equations, x, change, signals)
    da = da[6:] if equations.conserve else da
    return np.vstack([change(configuration_rate(craft, q, v)), da, change(zdot), change(load_rate)])


def samples(equations: Equations, x: Array, results: Sequence[Array]) -> Array:
    """S_h after a sample, (held, columns). results: what is held from now on."""
    found = directions(equations, x)
    flat = [e for part in results for e in np.asarray(part, dtype=object).flat]
    return pushforward(list(map(_number, flat)), list(x[found.places]), found.rows)


def velocities(equations: Equations, x: Array) -> Array:
    """Derivatives of v, the base's too where it follows from the momentum, (nv, columns)."""
    found = directions(equations, x)
    return pushforward(list(map(_number, equations.velocity(x))), list(x[found.places]), found.rows)


class Jump(NamedTuple):
    """At an event: what its time changes by, (columns,); the derivatives of the state afterwards, (state, columns)."""

    dt: Array
    S: Array


def jump(
    equations: Equations, event: Callable[[Array], Any], effect: Callable[[Array], Array] | None, x: Array
) -> Jump:
    """(3). event: its function of x. effect: the state (q, v, z, load) after it, of x; None if it changes nothing."""
    at, own = equations.layout, directions(equations, x)
    before = np.asarray(equations.state_rates(x), dtype=object)
    g = [_number(np.reshape(event(x), ())[()])]
    along = own.with_column(before, 1.0)
    moved = pushforward(g, list(x[along.places]), along.rows)[0]
    dt = np.array([-e / moved[-1] for e in moved[:-1]], dtype=object)
    S = x[at["S"]].reshape(-1, count(equations.varied))
    if effect is None:
        return Jump(dt, S)
    after = np.asarray(effect(x), dtype=object)
    later = np.array(x)
    later[at.varied] = after
    beyond = np.asarray(equations.state_rates(later), dtype=object)
    change = pushforward(list(map(_number, after)), list(x[along.places]), along.rows)
    return Jump(dt, change[:, :-1] + np.outer(change[:, -1] - beyond, dt))


def _accelerations(equations: Equations, x: Array, along: Callable[[Any], Array], signals: Any) -> Array:
    """(2)"""
    craft, trace = equations.own_craft(x), _trace(x)
    rows = sum(c.size for c in equations.constraints)
    a, l = trace.inputs("acceleration", (craft.nv,)), trace.inputs("multiplier", (rows,))
    balance, errors = residual(equations, x, a, l)
    fixed = {k for name in equations.prescribed for k in np.arange(craft.nv)[craft.joint_named(name).v_at].tolist()}
    free = [k for k in range(craft.nv) if k not in fixed]
    B = along(balance[free])
    known = dict(zip(a, map(_number, signals.vdot), strict=True))
    if signals.held is not None:
        known |= dict(zip(l, map(_number, signals.held.multipliers), strict=True))
    M_inverse = inverse_spd(mass_matrix(craft, signals.q)[np.ix_(free, free)])
    da = np.full((craft.nv, B.shape[1]), 0.0, dtype=object)
    if rows:
        E, P = along(errors), jacobian([_number(e) for e in errors], list(a))[:, free]
        B, E, P = (_with(part, known) for part in (B, E, P))
        MB, MP = multiplied(M_inverse, B), multiplied(M_inverse, P.T)
        dl = least_norm_solution(multiplied(P, MP), multiplied(P, MB) - E)
        da[free] = multiplied(MP, dl) - MB
    else:
        da[free] = -multiplied(M_inverse, _with(B, known))
    return da


def directions(equations: Equations, x: Array) -> Directions:
    """What x changes by: the state first, what is held, the momentum and what is varied itself."""
    at, columns = equations.layout, count(equations.varied)
    state = list(range(at.varied.start, at.varied.stop))
    held = [*_places(at["held"]), *_places(at["held_z"])]
    momentum = _places(at["momentum"])
    rows = [x[at[name]].reshape(-1, columns) for name in ("S", "held S", "momentum S")]
    places = [*state, *held, *momentum]
    for one in equations.varied:
        if one.entry is not None:
            places += _places(at[one.entry])
            unit = np.full((one.columns.stop - one.columns.start, columns), 0.0, dtype=object)
            unit[:, one.columns] = np.array([[float(i == j) for j in range(len(unit))] for i in range(len(unit))])
            rows.append(unit)
    return Directions(places, np.vstack([np.asarray(part, dtype=object) for part in rows]))


def _places(at: slice) -> list[int]:
    return list(range(at.start, at.stop))


def _number(e: Any) -> Any:
    return e if isinstance(e, Expr) else float(e)


def _with(values: Array, known: dict[Any, Any]) -> Array:
    """Symbols replaced by what they stand for."""
    out = np.empty(values.size, dtype=object)
    out[:] = substitute([_number(e) for e in values.flat], known)
    return out.reshape(values.shape)


def _trace(x: Array) -> Trace:
    return next(e.trace for e in x if isinstance(e, Expr))
