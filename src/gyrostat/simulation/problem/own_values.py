"""What each of the runs that stay has of its own: parameters, inputs, seed. A reset gives a run others, a step other
inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...algebra import Array
from ...algebra.reals import reals
from ...kinematics import neutral
from ...model import Spacecraft, nearest
from ...tracing.random import seed_number, whole
from .runs import Runs, Shapes, begin


@dataclass(frozen=True, eq=False)
class Values:
    """constants: (runs, k) as the equations take them, the seed last. parameters: (runs, *shape) by name."""

    constants: Array
    parameters: Mapping[str, Array]
    epoch: float

    def copy(self) -> Values:
        return Values(self.constants.copy(), {n: x.copy() for n, x in self.parameters.items()}, self.epoch)


class Own:
    """Of `count` runs; single: one, without an axis of its own."""

    def __init__(
        self,
        craft: Spacecraft,
        count: int,
        single: bool,
        conserve: bool,
        parameters: Mapping[str, Any] | None,
        inputs: Mapping[str, Any] | None,
        seed: Any,
    ) -> None:
        self._craft, self._count, self._single, self._conserve = craft, count, single, conserve
        every = np.arange(count)
        first = self._begin(every, None, None, parameters or {}, inputs or {}, 0.0, np.zeros(count))
        self.shapes: Shapes = first.inputs
        self.values = Values(first.constants.copy(), {n: np.array(x) for n, x in first.parameters.items()}, 0.0)
        self.values.constants[:, -1] = whole(seed_number(seed))
        self._places: dict[str, slice] = {}
        place = 2 + (6 if conserve else 0)
        for name, shape in self.shapes.items():
            self._places[name] = slice(place, place + int(np.prod(shape, dtype=int)))
            place = self._places[name].stop

    # ---- starts

    def begin(
        self,
        chosen: Array,
        q0: Any,
        v0: Any,
        epoch: float,
        seed: Any,
        parameters: Mapping[str, Any],
        inputs: Mapping[str, Any],
    ) -> Runs:
        """The chosen runs at a start, with what they have or are given; checked, and nothing changed yet."""
        given: list[dict[str, Any]] = []
        for what, asked, known in (
            ("parameters", parameters, self.values.parameters),
            ("inputs", inputs, {name: self.input(name) for name in self.shapes}),
        ):
            for name in asked:
                if name not in known:
                    raise ValueError(
                        f"{what}['{name}'] is not among those that the simulation was made with. "
                        f"{nearest(name, known) if known else ''} Name it there with a first value: "
                        f"gs.Simulation(craft, {what}={{'{name}': ...}})."
                    )
            kept = {name: value[chosen] for name, value in known.items()}
            given.append({name: asked.get(name, x[0] if self._single else x) for name, x in kept.items()})
        seeds = self.values.constants[chosen, -1] if seed is None else np.full(len(chosen), whole(seed_number(seed)))
        found = self._begin(chosen, q0, v0, given[0], given[1], epoch, seeds)
        for name, shape in found.inputs.items():
            if shape != self.shapes[name]:
                raise ValueError(f"inputs['{name}'] has shape {shape}; expected {self.shapes[name]} for each run.")
        return found

    def _begin(
        self,
        chosen: Array,
        q0: Any,
        v0: Any,
        parameters: Mapping[str, Any],
        inputs: Mapping[str, Any],
        epoch: float,
        seeds: Array,
    ) -> Runs:
        craft, count = self._craft, len(chosen)
        if not self._single:
            self._refuse_other_counts(count, q0, v0, parameters)
            q0 = neutral(craft) if q0 is None else reals(craft.q(q0), "q0")
            if q0.shape == (craft.nq,):
                q0 = np.broadcast_to(q0, (count, craft.nq))
        numbers = 0 if self._single else chosen
        found = begin(craft, q0, v0, parameters, inputs, numbers, self._conserve, epoch)
        if self._single and not found.single:
            raise ValueError(
                "the simulation was made for one run; q0, v0 or parameters are given along an axis of runs. Make it "
                "with runs=n, or give one state."
            )
        return replace(found, constants=np.hstack([found.constants, seeds[:, None]]))

    def _refuse_other_counts(self, count: int, q0: Any, v0: Any, parameters: Mapping[str, Any]) -> None:
        axes = [("q0", q0, 1), ("v0", v0, 1)]
        axes += [(f"parameters['{name}']", x, np.ndim(self._craft.value(name))) for name, x in parameters.items()]
        for name, x, own in axes:
            shape = np.shape(x)
            if len(shape) > own and shape[0] not in (1, count):
                raise ValueError(
                    f"{name} has shape {shape}: it is given for {shape[0]} runs, but {count} begin. Give one value for "
                    f"all, or {count} along the first axis."
                )

    def keep(self, chosen: Array, runs: Runs, epoch: float) -> None:
        """They begin there."""
        self.values.constants[chosen] = runs.constants
        for name, value in runs.parameters.items():
            self.values.parameters[name][chosen] = value
        self.values = replace(self.values, epoch=epoch)

    # ---- inputs

    def input(self, name: str) -> Array:
        """(runs, *shape)"""
        return self.values.constants[:, self._places[name]].reshape(self._count, *self.shapes[name])

    def changed(self, given: Any) -> dict[str, Array]:
        """Inputs that are given anew, as rows of constants, (runs, size); checked, and nothing changed yet."""
        if not isinstance(given, Mapping):
            raise TypeError(
                f"step got {given!r:.60}; the simulation has a control law, and gives it inputs by name: "
                f"step({{'gain': 2.0}}, dt)."
            )
        found = {}
        for name, value in given.items():
            if name not in self.shapes:
                known = f"Its inputs: {', '.join(self.shapes)}." if self.shapes else "It was made without inputs=."
                raise ValueError(f"step got an input '{name}', which the simulation does not have. {known}")
            array, one = reals(value, f"input '{name}'"), self.shapes[name]
            expected = one if self._single else (self._count, *one)
            if array.shape not in (one, expected):
                raise ValueError(f"input '{name}' has shape {array.shape}; expected {expected}.")
            if not np.isfinite(array).all():
                raise ValueError(f"input '{name}' holds numbers that are not finite. Nothing has moved.")
            found[name] = np.broadcast_to(array, (self._count, *one)).reshape(self._count, -1)
        return found

    def set_input(self, name: str, rows: Array) -> slice:
        """Returns the columns of the constants that have changed."""
        self.values.constants[:, self._places[name]] = rows
        return self._places[name]

    def all(self, q: Array, v: Array) -> Runs:
        """All runs, where they stand."""
        numbers = np.arange(self._count)
        rows = q.reshape(self._count, -1), v.reshape(self._count, -1)
        now = self.values.copy()
        return Runs(rows[0], rows[1], self._single, now.constants, self.shapes, now.parameters, numbers)
