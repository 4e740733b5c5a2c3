"""Runs that wait for the caller between two calls, on a card: a thread makes the step of one run, to its next pause.

What a run is between two calls stands in arrays (numbers, runs), as in cuda_loop.py; its load and where it stands are
rows, which belong to the host.
"""

from __future__ import annotations

from ...tracing.cuda_text import THREADS
from ..integrators.method import AbstractMethod
from .context import Context, Lane
from .cuda_loop import POINTERS, RUNS, copied, measures_at, written
from .pausing import write_going_on
from .status import Status
from .system import System


def pausing_text(system: System, method: AbstractMethod, *, fixed: bool, n_control: int) -> str:
    """The kernel `go_on`, with all that it calls."""
    counts = {"n_seats": 1, "n_row": 0}
    parts = written(system, method, fixed=fixed, n_control=n_control, more=write_going_on, counts=counts)
    return f"{parts}\n{_kernel(system)}"


def _kernel(system: System) -> str:
    """Every run that waits to its next pause, or as far as `most` attempted steps; those that were not there yet, from
    where they are.
    """
    n, held = system.n, system.n_held
    own = system.x_size - 1 - n - held
    lanes = int(Lane.size) + len(system.fresh)
    width = 2 + n + held
    arrays = ", ".join(f"double* {name}" for name in RUNS)
    tables = ", ".join(f"const double* {name}" for name in POINTERS)
    status, begun = (f"ctx->lanes[{int(lane)}]" for lane in (Lane.status, Lane.begun))
    word = {name: f"ctx->words[{int(Context[name])}]" for name in ("pending", "until_look", "n_loads", "n_most")}
    at = {name: f"ctx->words[{int(Context[name])}]" for name in ("loads", "shown", "begun", "pace")}
    looks = "".join(f"    if (ctx->lanes[{k}] == 1.0) look(ctx, ctx->group);\n" for k in measures_at(system))
    waits = f"{float(Status.paused)!r}"
    return f"""
extern "C" __global__ void __launch_bounds__({THREADS}) go_on(i64 total, i64 most, i64 n_loads, i64 row, i64 keep,
    const double* pace, double* loads, double* shown, double* kept, {arrays}, {tables}) {{
  const i64 run = (i64)blockIdx.x * blockDim.x + threadIdx.x;
  if (run >= total) return;
  Memory memory;
  Memory* const ctx = &memory;
  {" ".join(f"ctx->{name} = {name};" for name in POINTERS)}
  {copied("lanes", "lanes", lanes)}
  if ({status} != {waits} && {status} != {float(Status.running)!r}) return;
  {copied("y", "y", n)}
  {copied("held", f"x + {1 + n}", held)}
  {copied("parameters", f"x + {1 + n + held}", own)}
  {word["pending"]} = 0;
  {word["until_look"]} = 0;
  {word["n_loads"]} = n_loads;
  {word["n_most"]} = most;
  {at["loads"]} = (i64)(loads + run * row);
  {at["shown"]} = (i64)(shown + run * {width});
  {at["begun"]} = keep ? (i64)(kept + run * {held}) : 0;
  {at["pace"]} = __double_as_longlong(pace[0]);
  if ({status} != {waits}) {{  // it did not come to its pause in the call before
    {begun} = 0.0;
    start(ctx);
  }}
  step_block(ctx);
  if ({word["pending"]}) {{
{looks}  }}
  {copied("y", "y", n, out=True)}
  {copied("held", f"x + {1 + n}", held, out=True)}
  {copied("lanes", "lanes", lanes, out=True)}
}}
"""
