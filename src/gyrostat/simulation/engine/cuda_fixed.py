"""Steps of fixed size in registers, on a card: those after which nothing is saved or decided.

The time loop (cuda_loop.py) keeps stages in memory, a few kilobytes a thread, which is more than a card's caches hold.
Between two stops and saves none of that is needed: a Runge-Kutta method whose stages use the one before alone,

    k_1 = f(t, y),  k_{i+1} = f(t + c_i h, y + h a_i k_i),  y_new = y + h (b_1 k_1 + ... + b_s k_s)

needs y, one sum and one stage, and one copy of f in a loop over the stages. Sums are those of
`integrators/explicit.py`, in its order. y, the sum and what f reads beside the state wait in shared memory while f has
the registers: what spills from those is written through to the second cache. Whether a step is made here depends on the
run alone, not on how the work is cut.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..integrators.explicit import Explicit
from ..integrators.method import AbstractMethod
from .context import Context, Lane
from .cuda_signals import cubic, signals_text
from .measures import DUE
from .system import System

SLIVER = 1e-6  # as in stepper.py
THREADS = 64  # of a block of the time loop
MEETING = 64  # steps after which the threads of a warp wait for each other
SHARED = 48 * 1024  # bytes that a block may have


KEPT = """
template <int first> struct Kept {  // volatile: else they are read long before they are needed, into registers
  __device__ __forceinline__ volatile double& operator[](int i) const {
    return *(volatile double*)&gs_kept[first + i][threadIdx.x];
  }
};"""

LOOK = """    if (%(due)s) {
      for (int i = 0; i < %(n)d; i++) ctx->y[i] = y[i];
      %(t)s = t;
      %(steps)s = steps;
      look_between(ctx);
    }"""


def steps_in_registers(system: System, method: AbstractMethod, *, fixed: bool) -> bool:
    """Whether there are such steps: nothing is looked at within them, and the method is of that kind."""
    if not fixed or not isinstance(method, Explicit) or method.errors or system.specs:
        return False
    if system.tracked is not None and cubic(method) is None:
        return False
    return all(not any(row[:-1]) for row in method.a)


def fixed_text(system: System, method: AbstractMethod, looks: list[int]) -> str:
    """The function `fixed_steps(ctx, most)`, which returns how many. looks: where groups of measures stand."""
    assert isinstance(method, Explicit)
    n, s, own = system.n, method.stages, system.x_size - 1 - system.n
    lane = {name: f"ctx->lanes[{int(Lane[name])}]" for name in ("t", "h", "stop", "save", "steps", "begun")}
    due = " || ".join(f"steps >= ctx->lanes[{at + DUE}]" for at in looks)
    a, b, c = (_chosen(row) for row in ([row[-1] for row in method.a] + [0.0], method.b, (*method.c[1:], 1.0)))
    signals = signals_text(system, method)
    shared = 8 * (2 * n + own) * THREADS <= SHARED
    kept = f"__shared__ double gs_kept[{2 * n + own}][{THREADS}];" + KEPT if shared else ""
    places = (("y", 0, n), ("sum", n, n), ("rest", 2 * n, own))
    arrays = [f"const Kept<{at}> {x}{{}};" if shared else f"double {x}[{max(size, 1)}];" for x, at, size in places]
    return f"""
{kept}
template <class Y, class Rest> struct Here {{  // the argument of f
  double t; const Y& y; const Rest& rest;
  __device__ __forceinline__ double operator[](int i) const {{
    return i == 0 ? t : i <= {n} ? y[i - 1] : rest[i - {n + 1}];
  }}
}};
{signals["functions"]}
static __device__ __forceinline__ i64 fixed_steps(Memory* ctx, i64 most) {{
  const double h = {lane["h"]}, stop = {lane["stop"]}, save = {lane["save"]};
  double t = {lane["t"]}, steps = {lane["steps"]};
  double K[{n}], at[{n}];
  {" ".join(arrays)}
{signals["begin"]}
  #pragma unroll
  for (int i = 0; i < {n}; i++) {{ y[i] = ctx->y[i]; K[i] = ctx->K[i]; }}
  for (int i = 0; i < {own}; i++) rest[i] = ctx->x[{n + 1} + i];
  i64 made = 0;
  const bool may_begin = {signals["may_begin"]};
  bool finite = true, calm = true;
  while (may_begin && made < most && stop - t > h * {1.0 + SLIVER!r} && save > t + h) {{
    double K0[{n}];
    #pragma unroll
    for (int i = 0; i < {n}; i++) K0[i] = K[i];
    #pragma unroll 1
    for (int g = 0; g < {s}; g++) {{
      const double a = {a}, b = {b}, c = {c};
      #pragma unroll
      for (int i = 0; i < {n}; i++) {{
        const double total = g == 0 ? K[i] * b : sum[i] + K[i] * b;
        sum[i] = total;
        at[i] = y[i] + h * (g < {s - 1} ? K[i] * a : total);
      }}
      rhs_block(Here<double[{n}], decltype(rest)>{{t + c * h, at, rest}}, (double*)K, ctx->scratch);
    }}
    double size = 0.0;
    #pragma unroll
    for (int i = 0; i < {n}; i++) size = size + fabs(at[i]);
    finite = size < gs_infinity;
    if (!finite) break;  // the loop makes this step again, and says what failed
{signals["step"]}
    if (!calm) break;  // the loop makes it again, and follows what is to be followed
{signals["made"]}
    #pragma unroll
    for (int i = 0; i < {n}; i++) y[i] = at[i];
    t = t + h;
    steps = steps + 1.0;
    made++;
{LOOK % {"due": due, "n": n, "t": lane["t"], "steps": lane["steps"]} if looks else ""}
  }}
  #pragma unroll
  for (int i = 0; i < {n}; i++) {{ ctx->y[i] = y[i]; ctx->K[i] = K[i]; }}
{signals["end"]}
  {lane["t"]} = t;
  {lane["steps"]} = steps;
  ctx->words[{int(Context.until_look)}] = 0;  // steps were not counted: the loop asks whether a look is due
  if (!finite || !calm) {{  // K is that of the step which was not made
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
