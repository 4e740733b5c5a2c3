"""Steps of fixed size in registers, on a card: those after which nothing is to be done but another step.

The time loop (cuda_loop.py) keeps stages in memory, a few kilobytes a thread, which is more than a card's caches hold.
Between two stops, saves and looks none of that is needed: a Runge-Kutta method whose stages use the one before alone,

    k_1 = f(t, y),  k_{i+1} = f(t + c_i h, y + h a_i k_i),  y_new = y + h (b_1 k_1 + ... + b_s k_s)

needs y, one sum and one stage, and one copy of f in a loop over the stages. Sums are those of
`integrators/explicit.py`, in its order. Whether a step is made here depends on the run alone, not on how the work is
cut.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..integrators.explicit import Explicit
from ..integrators.method import AbstractMethod
from .context import Context, Lane
from .measures import DUE
from .system import System

SLIVER = 1e-6  # as in stepper.py


def steps_in_registers(system: System, method: AbstractMethod, *, fixed: bool) -> bool:
    """Whether there are such steps: nothing is looked at within them, and the method is of that kind."""
    if not fixed or not isinstance(method, Explicit) or method.errors or system.specs or system.tracked is not None:
        return False
    return all(not any(row[:-1]) for row in method.a)


def fixed_text(system: System, method: AbstractMethod, looks: list[int]) -> str:
    """The function `fixed_steps(ctx, most)`, which returns how many. looks: where groups of measures stand."""
    assert isinstance(method, Explicit)
    n, s = system.n, method.stages
    lane = {name: f"ctx->lanes[{int(Lane[name])}]" for name in ("t", "h", "stop", "save", "steps", "begun")}
    due = " && ".join([f"steps + 1.0 < ctx->lanes[{at + DUE}]" for at in looks] or ["true"])
    a, b, c = (_chosen(row) for row in ([row[-1] for row in method.a] + [0.0], method.b, (*method.c[1:], 1.0)))
    return f"""
struct Here {{  // the argument of the right-hand side: time and state at hand, the rest in the thread's memory
  double t; const double* y; const double* x;
  __device__ __forceinline__ double operator[](int i) const {{ return i == 0 ? t : i <= {n} ? y[i - 1] : x[i]; }}
}};
static __device__ __noinline__ i64 fixed_steps(Memory* ctx, i64 most) {{
  const double h = {lane["h"]}, stop = {lane["stop"]}, save = {lane["save"]};
  double t = {lane["t"]}, steps = {lane["steps"]};
  double y[{n}], K[{n}], sum[{n}], at[{n}];
  #pragma unroll
  for (int i = 0; i < {n}; i++) {{ y[i] = ctx->y[i]; K[i] = ctx->K[i]; }}
  i64 made = 0;
  bool finite = true;
  while (made < most && stop - t > h * {1.0 + SLIVER!r} && save > t + h && {due}) {{
    #pragma unroll 1
    for (int g = 0; g < {s}; g++) {{
      const double a = {a}, b = {b}, c = {c};
      #pragma unroll
      for (int i = 0; i < {n}; i++) {{
        sum[i] = g == 0 ? K[i] * b : sum[i] + K[i] * b;
        at[i] = y[i] + h * (g < {s - 1} ? K[i] * a : sum[i]);
      }}
      rhs_block(Here{{t + c * h, at, ctx->x}}, (double*)K, ctx->scratch);
    }}
    double size = 0.0;
    #pragma unroll
    for (int i = 0; i < {n}; i++) size = size + fabs(at[i]);
    finite = size < gs_infinity;
    if (!finite) break;  // the loop makes this step again, and says what failed
    #pragma unroll
    for (int i = 0; i < {n}; i++) y[i] = at[i];
    t = t + h;
    steps = steps + 1.0;
    made++;
  }}
  #pragma unroll
  for (int i = 0; i < {n}; i++) {{ ctx->y[i] = y[i]; ctx->K[i] = K[i]; }}
  {lane["t"]} = t;
  {lane["steps"]} = steps;
  if (made) ctx->words[{int(Context.until_look)}] = 0;  // they were not counted: the loop asks whether a look is due
  if (!finite) {{
    {lane["begun"]} = 0.0;
    start(ctx);
  }}
  return made;
}}
"""


def _chosen(row: Sequence[float]) -> str:
    """The number of stage g."""
    *others, last = [repr(float(x)) for x in row]
    return " : ".join([*(f"g == {k} ? {x}" for k, x in enumerate(others)), last])
