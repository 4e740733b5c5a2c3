"""Signals of a run (tracking.py) in steps that are made in registers on a card (cuda_fixed.py).

Between the ends of a step of a method with stages K_1..K_s and K_new the state is

    y(t + theta h) = y + h (beta sum_j b_j K_j + alpha K_1 + omega K_new),                                        (1)

if its dense output is of that form, as the cubic through both ends is. Signals are seen at the five points of Lobatto's
rule, as there. A step in which one may have an extremum between them that goes beyond all that was seen, changes its
sign, or has no number, is left to the loop, which follows it: so nothing is sought here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from ..integrators.explicit import Explicit
from .context import Lane
from .system import System
from .tracking import NODES, NOISE, WEIGHTS, Track

FUNCTIONS = """
template <class Y, class Sum, class Rest> struct Between {  // the argument of signals: a state within the step
  double t, h, beta, alpha, omega; const Y& y; const Sum& sum; const Rest& rest; const double *K0, *K1;
  __device__ __forceinline__ double operator[](int i) const {
    if (i == 0) return t;
    if (i > %(n)d) return rest[i - %(n)d - 1];
    return y[i - 1] + h * (sum[i - 1] * beta + K0[i - 1] * alpha + K1[i - 1] * omega);
  }
};
static __device__ __forceinline__ bool gs_parts(double a, double b) {
  return (a < 0.0 && b >= 0.0) || (a > 0.0 && b <= 0.0);
}
static __device__ __forceinline__ double gs_beyond(double best, double seen) {
  return seen <= best || best != best ? best : seen;
}
static __device__ __forceinline__ double gs_promised(double c0, double c1, double c2, double f0, double f1, double f2) {
  const double first = (f1 - f0) * (1.0 / (c1 - c0));
  const double second = ((f2 - f1) * (1.0 / (c2 - c1)) - first) * (1.0 / (c2 - c0));
  const double top = 0.5 * (c0 + c1 - first / second);
  const double height = f0 + first * (top - c0) + second * (top - c0) * (top - c1);
  return second < 0.0 && top > 0.0 && top < 1.0 ? height : -gs_infinity;
}
"""


BETWEEN = "Between<decltype(y), decltype(sum), decltype(rest)>"


def cubic(method: Explicit) -> Callable[[float], tuple[float, float, float]] | None:
    """beta, alpha and omega of (1) for theta; None where the method's dense output is not of that form."""

    def numbers(theta: float) -> tuple[float, float, float]:
        w = [0.0 if x is None else float(x) for x in method.weights(theta)]
        beta = w[1] / method.b[1]
        return beta, w[0] - beta * method.b[0], w[method.stages]

    def fits(theta: float) -> bool:
        w: Sequence[Any] = method.weights(theta)
        beta = numbers(theta)[0]
        return all(math.isclose(w[j], beta * method.b[j], abs_tol=1e-15) for j in range(1, method.stages))

    return numbers if not method.extra and method.stages > 1 and all(map(fits, NODES[1:-1])) else None


def signals_text(system: System, method: Explicit) -> dict[str, str]:
    """Pieces of `fixed_steps`: functions; what it begins with; whether it may begin; in a step, after which `calm` says
    whether it may be made; for one that is made; its end.
    """
    if system.tracked is None:
        return dict.fromkeys(("functions", "begin", "step", "made", "end"), "") | {"may_begin": "true"}
    m, numbers = system.tracked.count, cubic(method)
    assert numbers is not None
    known = int(Lane.size) + sum(group.numbers for group in system.measures)
    at = [(0.0, 0.0, 0.0), *map(numbers, NODES[1:-1]), (1.0, 0.0, 0.0)]
    looks = []
    for j, (theta, (beta, alpha, omega)) in enumerate(zip(NODES, at, strict=True)):
        weights = f"t + {theta!r} * h, h, {beta!r}, {alpha!r}, {omega!r}"
        looks.append(f"    tracked_block({BETWEEN}{{{weights}, y, sum, rest, K0, K}}, node + {m * j}, ctx->scratch);")
    each = f"for (int i = 0; i < {m}; i++)"
    value, seen = f"ctx->lanes[{known + 1} + i]", f"ctx->lanes[{known + 1 + m} + i]"
    return {
        "functions": FUNCTIONS % {"n": system.n},
        "begin": f"""  double value[{m}], seen[{m}], next[{m}], node[{len(NODES) * m}];
  {each} {{ value[i] = {value}; seen[i] = {seen}; }}""",
        "may_begin": f"ctx->lanes[{known}] == 1.0",
        "step": "\n".join(looks)
        + f"\n    for (int i = 0; i < {len(NODES) * m}; i++) calm = calm && fabs(node[i]) < gs_infinity;\n"
        + "\n".join(_reduced(kind, i, m) for i, kind in enumerate(system.tracked.kinds)),
        "made": f"    {each} {{ value[i] = next[i]; seen[i] = node[{(len(NODES) - 1) * m} + i]; }}",
        "end": f"  {each} {{ {value} = value[i]; {seen} = seen[i]; }}",
    }


def _reduced(kind: Track, i: int, m: int) -> str:
    """What is known of signal i after this step, into `next`."""
    nodes = [f"node[{m * j + i}]" for j in range(len(NODES))]
    if kind in (Track.largest, Track.smallest):
        sign = "" if kind is Track.largest else "-"
        seen = [sign + node for node in nodes]
        best = f"{sign}value[{i}]"
        for one in seen:
            best = f"gs_beyond({best}, {one})"
        promised = "-gs_infinity"
        for j in range(len(NODES) - 2):
            points = ", ".join([*(repr(float(c)) for c in NODES[j : j + 3]), *seen[j : j + 3]])
            promised = f"fmax({promised}, gs_promised({points}))"
        return f"""    {{
      const double best = {best}, promised = {promised};
      calm = calm && !(promised - best > {NOISE!r} * fabs(best));
      next[{i}] = {sign}best;
    }}"""
    if kind is Track.integral:
        total = " + ".join(f"{w!r} * {node}" for w, node in zip(WEIGHTS, nodes, strict=True))
        return f"    next[{i}] = value[{i}] + ({total}) * h;"
    pairs = list(pairwise([f"seen[{i}]", *nodes]))
    lines = [f"    calm = calm && !({' || '.join(f'gs_parts({a}, {b})' for a, b in pairs)});"]
    lines.append(f"    next[{i}] = value[{i}];")
    if kind is Track.time_positive:
        shares = zip(pairs[1:], pairwise(NODES), strict=True)
        lines += [
            f"    if ({a} > 0.0 || {b} > 0.0) next[{i}] += {end - begin!r} * h;" for (a, b), (begin, end) in shares
        ]
    return "\n".join(lines)
