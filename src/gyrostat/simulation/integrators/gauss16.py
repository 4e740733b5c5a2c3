"""gauss16: Gauss-Legendre collocation with eight stages, of order 16, all of them evaluated at once:
a lane is a stage, a block is a run.

How stages are solved is in collocation.py and newton.py, how long steps are in collocation_control.py. With fixed steps
it keeps what gauss6 keeps. It has no dense output: its steps end at the times to save.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...tracing.loops import Mask, Vector
from ..engine.context import Context, Lane, StepFunction
from ..engine.crossings import NEAR, look_near, near_block
from .collocation import collocation_trial
from .collocation_control import collocation_step
from .gauss_numbers import Collocation, collocation
from .method import AbstractMethod, Remembered, Row
from .stages import Stages, mix, part


@dataclass(frozen=True, eq=False)
class Gauss16(Collocation, AbstractMethod):
    """Stages of the step that is tried stand among the K after f(t, y), then those of the step before."""

    solves_to_tolerances = True
    fills_block = True
    saves_within = False

    @property
    def between(self) -> Row:  # type: ignore[override]
        """Its steps are long: events are looked at at its stages."""
        return self.c

    @property
    def evaluations(self) -> int:
        """Some seven iterations, and one more."""
        return 8

    def _blocks(self, lanes: int) -> int:
        """Of stages, `lanes` of them in each."""
        return len(self.c) // lanes

    def K_blocks(self, lanes: int) -> int:
        return 1 + 2 * self._blocks(lanes)

    def solver_vectors(self, n: int, lanes: int) -> int:
        """As `Stages` has them."""
        blocks = self._blocks(lanes)
        return n * (1 + 3 * blocks) + n * n * blocks + n * (n // lanes + 1)

    def remembered(self, lanes: int) -> Remembered:
        """The size of the step before and its stages; what is known of its iterations."""
        blocks = self._blocks(lanes)
        return Remembered((Lane.h_before,), tuple(range(1 + blocks, 1 + 2 * blocks)), (Lane.h_fixed_point, Lane.wait))

    def looks_between(self, lanes: int) -> int:
        return self._blocks(lanes)

    def trial(self, f: StepFunction) -> None:
        collocation_trial(f, self)

    def step(self, f: StepFunction, running: Mask, last: Mask) -> tuple[Mask, Vector]:
        return collocation_step(f, self, running, last)

    def keep(self, f: StepFunction, accepted: Mask) -> None:
        """The stages; and what the attempted step has taught."""
        lane, stages = f.lane, Stages(f, self)
        for now, before in zip(stages.now, stages.before, strict=True):
            f.copy(now, before, f.n, accepted)
        lane[Lane.h_before] = accepted.where(lane[Lane.h_tried], lane[Lane.h_before])
        lane[Lane.h_fixed_point], lane[Lane.wait] = lane[Lane.h_fixed_point_next], lane[Lane.wait_next]

    def look_between(self, f: StepFunction) -> None:
        """At the stages, a lane each; the slopes at the ends need the right-hand side there."""
        lane, h, stages = f.lane, f.lane[Lane.h_tried], Stages(f, self)
        for k, K in enumerate(stages.now):
            for m, dt in enumerate((0.0 * h, NEAR * h)):
                with f.loop(f.n) as i:
                    f.stage[i] = f.y[i] + h * mix(f, self.a, stages.now, i, k) + dt * K[i]
                f.x[0] = lane[Lane.t] + part(f, self.c, k) * h + dt
                f.evaluate(Context.events, near_block(f, 2 + 2 * k + m))
        f.copy(f.y, f.stage, f.n)
        f.x[0] = lane[Lane.t]
        f.evaluate(Context.rhs, f.at)
        look_near(f, f.y, f.at, NEAR * h, lane[Lane.t], 0)
        f.evaluate_new(f.at)
        look_near(f, f.y_new, f.at, -NEAR * h, lane[Lane.t_new], 1)

    def seen_between(self, f: StepFunction, i: Any) -> list[tuple[float, Vector, Vector]]:
        seen = []
        for s, c in enumerate(self.c):
            k, lane = divmod(s, f.lanes)
            value, after = (f.broadcast(near_block(f, 2 + 2 * k + m).address(i).number(lane)) for m in (0, 1))
            seen.append((c, value, (after - value) / NEAR))
        return seen


def _of(numbers: Collocation) -> Gauss16:
    return Gauss16(**{name: getattr(numbers, name) for name in numbers.__dataclass_fields__})


GAUSS16 = _of(collocation(8))
