"""The compiled time loop as CUDA: the one of stepper.py, with a system's own functions in it, a thread a run.

A thread has its memory to itself (`Memory`: what a block of one lane has on the CPU). It takes a run that waits, makes
steps in chunks, leaves the run when it has ended, when it has made its share of this launch, or when an event asks for
the host, and takes the next: threads of a warp meet after each chunk, so that none waits long for the slowest run.

Between launches a run is what `QueueOfRuns` knows of it, rows of `y`, `held` and `lanes`; here these are columns of
arrays (numbers, runs), which neighbouring threads read side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ...tracing import Graph, Kernel
from ...tracing.cuda import CudaCode, with_preamble
from ...tracing.cuda_text import functions_text
from ...tracing.loops import Module
from ..integrators.method import AbstractMethod
from .context import SCRATCH, Context, Lane
from .crossings import near_count
from .cuda_fixed import MEETING, THREADS, fixed_text, steps_in_registers
from .measures import Reduce, look_between
from .measures import Word as MeasureWord
from .status import Status
from .stepper import write_loop
from .system import System
from .tracking import Track
from .tracking import Word as TrackWord

CHUNK = 16  # attempted steps between two meetings of a warp
POINTERS = ("atol", "rtol", "breaks", "samples", "saves", "directions", "track_directions")  # to tables of doubles
RUNS = ("y", "held", "parameters", "lanes", "g", "made")  # arrays (numbers, runs)


def loop_text(system: System, method: AbstractMethod, *, fixed: bool, n_control: int) -> str:
    """The kernel `integrate`, with all that it calls."""
    quick = steps_in_registers(system, method, fixed=fixed)
    registers = fixed_text(system, method, measures_at(system)) if quick else ""
    more = look_between if quick else None
    parts = written(system, method, fixed=fixed, n_control=n_control, more=more)
    return "\n".join([parts, registers, _kernel(system, quick)])


def written(
    system: System,
    method: AbstractMethod,
    *,
    fixed: bool,
    n_control: int,
    more: Callable[[Module, int], None] | None = None,
    counts: Mapping[str, int] | None = None,
) -> str:
    """A thread's memory, the system's functions and the time loop; `more` writes others into the same module. counts:
    words that are known besides.
    """
    functions = _functions(system)
    text, scratch = functions_text({f"{name}_": graph for name, graph in functions.items()})
    known = _known(system, method, fixed, n_control, counts or {})
    module = Module(lambda lanes: CudaCode(known=known))
    write_loop(module, method, 1, tracked=system.tracked is not None)
    if more is not None:
        more(module, 1)
    return with_preamble(
        "\n".join(
            [
                _memory(system, method, scratch),
                text,
                *map(_callable, functions),
                *(_never_called(name) for name in system.functions if name not in functions),
                *(function.code.head for function in module.functions),
                *(function.text() for function in module.functions),
            ]
        )
    )


def _functions(system: System) -> dict[str, Graph]:
    """The graphs that the system is made of, by name."""
    every = {name: function for name, (function, _) in system.functions.items()}
    every |= {f"measures{k}": group.function for k, group in enumerate(system.measures)}
    if system.tracked is not None:
        every["tracked"] = system.tracked.function
    return {name: f.graph for name, f in every.items() if isinstance(f, Kernel)}


def _callable(name: str) -> str:
    """One copy of the code, called from many places: what it works on does not overlap."""
    return (
        f"static __device__ __noinline__ void {name}_call(const double* __restrict__ x, double* __restrict__ y, "
        f"double* __restrict__ scratch) {{ {name}_block(x, y, scratch); }}"
    )


def _never_called(name: str) -> str:
    """Stands where the system has no such function; the loop asks first."""
    return f"static __device__ void {name}_call(const double*, double*, double*) {{}}"


def _sizes(system: System, method: AbstractMethod) -> dict[str, int]:
    """Of the blocks of a thread's memory."""
    n, events = system.n, len(system.specs)
    sizes = {"x": system.x_size, "y": n, "y_new": n, "at": n, "K": n * method.K_blocks(1)}
    sizes |= {"g_old": events, "g_new": events, "g_near": near_count(method, 1) * events, "held_new": system.n_held}
    sizes["lanes"] = int(Lane.size) + len(system.fresh)
    sizes |= {f"measured{k}": group.count + system.x_size for k, group in enumerate(system.measures)}
    sizes["track_work"] = 0 if system.tracked is None else system.tracked.work_vectors
    return sizes


def _memory(system: System, method: AbstractMethod, scratch: int) -> str:
    arrays = [f"double {name}[{max(size, 1)}];" for name, size in _sizes(system, method).items()]
    pointers = [f"const double* {name};" for name in POINTERS]
    words = [f"i64 words[{Context.size}];", "double* rows[1];", "i64 group[1];", "i64 track[1];"]
    return "\n  ".join(["struct Memory {", f"double scratch[{max(scratch, 1)}];", *arrays, *pointers, *words]) + "\n};"


def _known(
    system: System, method: AbstractMethod, fixed: bool, n_control: int, more: Mapping[str, int]
) -> dict[str, str]:
    """What stands at the addresses of the table of words, and of those of measures and tracked signals."""
    blocks = [name for name in _sizes(system, method) if name in Context.__members__]
    words = {Context[name]: f"ctx->{name}" for name in blocks}
    words |= {Context[name]: f"{name}_call" for name in system.functions}
    words |= dict.fromkeys(SCRATCH.values(), "ctx->scratch")
    words |= {Context[name]: f"ctx->{name}" for name in POINTERS if name in Context.__members__}
    words |= {Context.out: "(double*)ctx->rows", Context.measures: "ctx->group", Context.tracked: "ctx->track"}
    counts = {"n": system.n, "n_held": system.n_held, "n_events": len(system.specs), "n_control": n_control}
    counts |= {"fixed": int(fixed), "n_measures": len(system.measures), "n_x": system.x_size}
    counts["n_tracked"] = 0 if system.tracked is None else system.tracked.count
    words |= {Context[name]: str(count) for name, count in {**counts, **more}.items()}
    known = {_address("ctx->words", place): text for place, text in words.items()}
    at = int(Lane.size)
    for k, group in enumerate(system.measures):
        row: dict[int, str] = {MeasureWord.function: f"measures{k}_call", MeasureWord.every: str(group.every)}
        row |= {MeasureWord.known: f"(ctx->lanes + {at})", MeasureWord.work: f"ctx->measured{k}"}
        row[MeasureWord.scratch] = "ctx->scratch"
        row |= {MeasureWord.counts + how: str(group.counts[how]) for how in Reduce}
        for table in ("ctx->group", "group"):  # where it is made, and as an argument
            known |= {_address(table, place): text for place, text in row.items()}
        at += group.numbers
    if system.tracked is not None:
        signals: dict[int, str] = {TrackWord.function: "tracked_call", TrackWord.scratch: "ctx->scratch"}
        signals |= {TrackWord.known: f"(ctx->lanes + {at})", TrackWord.work: "ctx->track_work"}
        signals[TrackWord.directions] = "ctx->track_directions"
        signals |= {TrackWord.counts + kind: str(system.tracked.kinds.count(kind)) for kind in Track}
        known |= {_address("ctx->track", place): text for place, text in signals.items()}
    return known


def _address(table: str, place: int) -> str:
    return CudaCode().word(table, str(int(place)))


def _kernel(system: System, quick: bool) -> str:
    """Runs in and out of a thread."""
    n, held, events = system.n, system.n_held, len(system.specs)
    own = system.x_size - 1 - n - held
    lanes = int(Lane.size) + len(system.fresh)
    chunk = 1 if events or quick else CHUNK
    arrays = ", ".join(f"double* {name}" for name in RUNS)
    tables = ", ".join(f"const double* {name}" for name in POINTERS)
    pending, until = (f"ctx->words[{int(word)}]" for word in (Context.pending, Context.until_look))
    status, begun, root = (f"ctx->lanes[{int(lane)}]" for lane in (Lane.status, Lane.begun, Lane.error_root))
    made = f"(i64)(ctx->lanes[{int(Lane.steps)}] + ctx->lanes[{int(Lane.rejections)}])"
    looks = "".join(f"      if (ctx->lanes[{at}] == 1.0) look(ctx, ctx->group);\n" for at in measures_at(system))
    begin = (
        f"""const i64 made_here = fixed_steps(ctx, left < {MEETING} ? left : {MEETING});
    left -= made_here;
    if (left <= 0 || made_here == {MEETING}) continue;"""
        * quick
    )
    known = f"  for (int i = 0; i < {events}; i++) if (g[i * total + run] == g[i * total + run]) ctx->g_old[i] = "
    known += "g[i * total + run];"
    return f"""
extern "C" __global__ void __launch_bounds__({THREADS}) integrate(i64 count, i64 total, i64 share, i64 most,
    unsigned long long* next, const i64* waiting, double* asked, double* saved, i64 row, {arrays}, {tables}) {{
  Memory memory;
  Memory* const ctx = &memory;
  {" ".join(f"ctx->{name} = {name};" for name in POINTERS)}
  {pending} = 0;
  i64 run = -1, left = 0;
  bool done = false;
  while (true) {{
    if (__all_sync(0xffffffffu, done)) break;  // here threads of a warp meet, and nowhere else: none leaves before
    if (done) continue;
    if (run < 0 || left <= 0 || {status} != {float(Status.running)!r}) {{
      if (run >= 0) {{
        if ({pending}) {{
{looks}          {pending} = 0;
        }}
        {begun} = 0.0;
        {copied("y", "y", n, out=True)}
        {copied("held", f"x + {1 + n}", held, out=True)}
        {copied("lanes", "lanes", lanes, out=True)}
        {copied("g", "g_old", events, out=True)}
      }}
      const i64 place = (i64)atomicAdd(next, 1ULL);
      done = place >= count;
      if (done) continue;
      run = waiting[place];
      {copied("y", "y", n)}
      {copied("held", f"x + {1 + n}", held)}
      {copied("parameters", f"x + {1 + n + held}", own)}
      {copied("lanes", "lanes", lanes)}
      ctx->rows[0] = saved + run * row;
      {until} = 0;
      start(ctx);
    {known}
      left = most - ({made} - (i64)made[run]);
      if (left > share) left = share;
      continue;
    }}
    {begin}
    const double before = {root};
    const i64 steps = left < {chunk} ? left : {chunk};
    if (advance(ctx, steps, {2**62}LL)) {{  // the host finds where, from the state before
      {root} = before;
      asked[run] = 1.0;
      left = 0;
    }}
    left -= steps;
  }}
}}
"""


def measures_at(system: System) -> list[int]:
    """Where what is known of each group begins, `pending` first."""
    found, at = [], int(Lane.size)
    for group in system.measures:
        found.append(at)
        at += group.numbers
    return found


def copied(array: str, block: str, size: int, *, out: bool = False) -> str:
    """Numbers of the run between the arrays of all runs and the thread's memory."""
    here, there = f"(ctx->{block})[i]", f"{array}[i * total + run]"
    both = f"{there} = {here}" if out else f"{here} = {there}"
    return f"for (int i = 0; i < {size}; i++) {both};" if size else ""
