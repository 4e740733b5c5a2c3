"""When stages that are solved by fixed-point iteration with fixed steps count as solved: to round-off, as far as the
tolerances can tell.

How far an iteration has changed the stages is measured in the norm of the tolerances, as errors are: what is not
controlled (the audit's integrals) or is zero but for round-off (a motion in a plane) has no say in it.
"""

from __future__ import annotations

from ...tracing.loops import Block, Vector
from ..engine.context import Context, Lane, StepFunction

MOST_ITERATIONS = 100
ROUND_OFF = 1e-16  # relative change of the stages below which nothing is left to gain
ENOUGH = 1.0  # of the tolerances: at most so large may a change be that no longer becomes smaller


def in_tolerances(f: StepFunction, weight: Block) -> Vector:
    """weight: what a change of a derivative is multiplied with, h / (atol + rtol |y|), component by component;
    returns the largest rtol.
    """
    atol, rtol = f.pointer_at(Context.atol), f.pointer_at(Context.rtol)
    coarsest = f.variable(0.0)
    with f.loop(f.n) as i:
        relative = f.broadcast(rtol.number(i))
        weight[i] = f.lane[Lane.h_tried] / (f.broadcast(atol.number(i)) + relative * f.abs(f.y[i]))
        coarsest[0] = f.max(coarsest[0], relative)
    return coarsest[0]
