"""Where things stand in the vectors of a run.

    x = (t, y, held, constants),   y = (q, v, z, load, integrals, S)

z: memory of a continuous controller; load: what lagging actuators deliver; integrals: impulse and work of each cause;
S: derivatives of (q, v, z, load) by what is varied, row by row. held: what a sampled controller holds, its torque,
memory, the number of its last sample, and derivatives of the first two. constants: the run's number, its epoch,
momentum, inputs and parameters, derivatives of the momentum.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...algebra import Array

_STATE = ("q", "v", "z", "load", "integrals", "S")
_VARIED = ("q", "v", "z", "load")
_HELD = ("held", "held_z", "sample", "held S")


class Layout:
    """Slices of x by name, in order; those of y and held, too."""

    def __init__(self, sizes: Mapping[str, int]) -> None:
        self._at: dict[str, slice] = {}
        place = 0
        for name, size in sizes.items():
            self._at[name] = slice(place, place + size)
            place += size
        self.size = place
        self.state = slice(self._at[_STATE[0]].start, self._at[_STATE[-1]].stop)
        self.held = slice(self._at[_HELD[0]].start, self._at[_HELD[-1]].stop)
        self.varied = slice(self._at[_VARIED[0]].start, self._at[_VARIED[-1]].stop)  # what has derivatives
        self.n, self.n_held = self.state.stop - self.state.start, self.held.stop - self.held.start

    def __getitem__(self, name: str) -> slice:
        return self._at[name]

    def width(self, name: str) -> int:
        return self._at[name].stop - self._at[name].start

    def row(self, name: str) -> slice:
        """Where it stands in a row (y, held), as the engine saves it."""
        return slice(self._at[name].start - self.state.start, self._at[name].stop - self.state.start)

    def constant(self, name: str) -> slice:
        """Where it stands among the constants."""
        return slice(self._at[name].start - self.held.stop, self._at[name].stop - self.held.stop)

    def part(self, rows: Array, name: str) -> Array:
        """Of rows (..., y and held)."""
        return rows[..., self.row(name)]
