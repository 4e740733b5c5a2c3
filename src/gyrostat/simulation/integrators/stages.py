"""Stages of collocation in memory, a lane being a stage; sums over them,
and the polynomial through those of the step before.

With 8 lanes one block of n vectors holds all stages, with 4 or 2 lanes several do.
"""

from __future__ import annotations

from typing import Any

from ...tracing.loops import Block, Mask, Vector
from ..engine.context import Context, Lane, StepFunction
from .gauss_numbers import Collocation

FARTHEST = 2.0  # steps that the polynomial of the step before is continued over


class Stages:
    """Where the stages of a run stand: `now` of the step that is tried, `before` of the one before;
    and memory to solve them in.

    weight: what a change of a stage's derivative is multiplied with in the norm.
    rest, pairs: residual and correction of Newton's iteration; columns, factors:
    its Jacobian and what it is factored into.
    """

    def __init__(self, f: StepFunction, method: Collocation) -> None:
        blocks = len(method.c) // f.lanes
        self.now = [f.K(1 + k) for k in range(blocks)]
        self.before = [f.K(1 + blocks + k) for k in range(blocks)]
        memory, n = f.block(Context.solver), f.n
        self.weight = memory
        self.rest = [memory.after(n * (1 + k)) for k in range(blocks)]
        self.pairs = [memory.after(n * (1 + blocks + k)) for k in range(blocks)]
        self.spans = [memory.after(n * (1 + 2 * blocks + k)) for k in range(blocks)]
        square, start = n * n, n * (1 + 3 * blocks)
        self.factors = [memory.after(start + square * k) for k in range(blocks)]
        self.columns = memory.after(start + square * blocks)


def predict(f: StepFunction, method: Collocation, stages: Stages) -> None:
    """The polynomial through the stages of the step before, at the present ones; f(t, y) where there is none."""
    lane, c = f.lane, method.c
    fresh = ~(lane[Lane.h_before] > 0.0)
    ratio = lane[Lane.h_tried] / fresh.where(1.0, lane[Lane.h_before])
    ratio = (ratio <= FARTHEST).where(ratio, 0.0)
    for k, now in enumerate(stages.now):
        theta = 1.0 + part(f, c, k) * ratio
        factors = [theta - node for node in c]
        rising: list[Any] = [f.vector(1.0)]
        for factor in factors[:-1]:
            rising.append(rising[-1] * factor)
        falling: list[Any] = [f.vector(1.0)]
        for factor in reversed(factors[1:]):
            falling.insert(0, falling[0] * factor)
        weights = [a * b * w for a, b, w in zip(rising, falling, method.lagrange, strict=True)]
        with f.loop(f.n) as i:
            now[i] = fresh.where(f.K0[i], weighted(f, weights, stages.before, i))


def part(f: StepFunction, numbers: Any, k: int) -> Vector:
    """Of one number per stage, those of block k."""
    values = [float(x) for x in numbers[k * f.lanes : (k + 1) * f.lanes]]
    return f.lane_by_lane(values)


def weighted(f: StepFunction, weights: Any, K: list[Block], i: Any) -> Vector:
    """sum_j weights[j] K_j, component i, in all lanes."""
    total = None
    for j, weight in enumerate(weights):
        if not (isinstance(weight, float) and weight == 0.0):
            term = f.broadcast(K[j // f.lanes].address(i).number(j % f.lanes)) * weight
            total = term if total is None else total + term
    assert total is not None
    return total


def mix(f: StepFunction, a: Any, K: list[Block], i: Any, k: int) -> Vector:
    """sum_j a_sj K_j for the stages s of block k."""
    return weighted(f, [part(f, [row[j] for row in a], k) for j in range(len(a))], K, i)


def over_lanes(f: StepFunction, x: Vector) -> Vector:
    """The sum over the lanes, in all of them."""
    width = f.lanes
    while width > 1:
        width //= 2
        places = [(k + width) % f.lanes for k in range(f.lanes)]
        x = x + f.shuffle(x, places)
    return x


def in_turn(f: StepFunction, pair: Any) -> Vector:
    """One number in even lanes, the other in odd ones."""
    return f.lane_by_lane([float(x) for x in pair] * (f.lanes // 2))


def swapped(f: StepFunction, x: Vector) -> Vector:
    """Neighbours in each other's place."""
    return f.shuffle(x, [k ^ 1 for k in range(f.lanes)])


def only(f: StepFunction, k: int) -> Mask:
    """Lane k."""
    return f.only(k)
