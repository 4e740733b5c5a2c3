"""By what a run is differentiated: `sensitivities=["q0", "v0", "link_6.mass", "input:gain"]`, one or several columns
each.

q0 is varied on the manifold: its column k turns or moves the start as `step_configuration` does with the k-th unit
vector.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...algebra import Array
from ...kinematics import configuration_rate
from ...model import Spacecraft, nearest
from ...tracing import compile, jacobian_of
from .balance import held_by

INPUT = "input:"


class Varied(NamedTuple):
    """One of the names. columns: where its derivatives stand; shape: of what is varied."""

    name: str
    columns: slice
    shape: tuple[int, ...]

    @property
    def entry(self) -> str | None:
        """Its name in the layout of x; None for the initial state."""
        if self.name in ("q0", "v0"):
            return None
        return f"input {self.name[len(INPUT) :]}" if self.name.startswith(INPUT) else f"value {self.name}"

    @property
    def parameter(self) -> str | None:
        """Of the spacecraft, if it is one."""
        return None if self.entry is None or self.name.startswith(INPUT) else self.name


def varied_of(craft: Spacecraft, names: Sequence[str], inputs: Mapping[str, tuple[int, ...]]) -> tuple[Varied, ...]:
    """The names, checked, with their columns. inputs: shapes of those that the run has."""
    found: list[Varied] = []
    start = 0
    for name in names:
        if any(name == other.name for other in found):
            raise ValueError(f"sensitivities name '{name}' twice. Name it once.")
        shape = _shape(craft, name, inputs)
        size = int(np.prod(shape, dtype=int))
        found.append(Varied(name, slice(start, start + size), shape))
        start += size
    return tuple(found)


def _shape(craft: Spacecraft, name: str, inputs: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
    if name in ("q0", "v0"):
        return (craft.nv,)
    if name.startswith(INPUT):
        own = name[len(INPUT) :]
        if own not in inputs:
            hint = nearest(own, list(inputs)) if inputs else "The run has no inputs=."
            raise ValueError(f"sensitivities: there is no input '{own}'. {hint}")
        return inputs[own]
    try:
        return np.shape(craft.value(name))
    except (ValueError, KeyError) as error:
        hint = " An input of the run is written 'input:" + name + "'." if name in inputs else ""
        raise ValueError(
            f"sensitivities: '{name}' is neither 'q0', 'v0', 'input:...' nor a value of {craft.name}. {error}{hint}"
        ) from None


def names_given(given: Any) -> list[str]:
    """One name, or several."""
    names = [given] if isinstance(given, str) else list(given or ())
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"sensitivities hold {name!r}; expected names: 'q0', 'v0', 'link_3.mass', 'input:gain'.")
    return names


def values_needed(craft: Spacecraft, names: Sequence[str], parameters: Mapping[str, Any] | None) -> dict[str, Any]:
    """The parameters of a run, with those that are varied at their own values unless they are given."""
    found = dict(parameters or {})
    for name in names:
        if name not in ("q0", "v0") and not name.startswith(INPUT) and name not in found:
            _shape(craft, name, {})
            found[name] = craft.value(name)
    return found


def count(varied: Sequence[Varied]) -> int:
    """Of columns."""
    return varied[-1].columns.stop if varied else 0


def labels(craft: Spacecraft, varied: Sequence[Varied], v_names: Sequence[str]) -> list[str]:
    """Of each column."""
    found: list[str] = []
    for one in varied:
        if one.entry is None:
            found += [f"{one.name} {name}" for name in v_names]
        elif one.shape == ():
            found.append(one.name)
        else:
            found += [f"{one.name}{list(map(int, at))}" for at in np.ndindex(one.shape)]
    return found


def sizes_of(craft: Spacecraft, varied: Sequence[Varied], inputs: Mapping[str, Array]) -> Array:
    """How large what is varied is, for each column: a change that is not small; 1 for the initial state, and for zeros.

    Of the spacecraft: its own values, whatever the runs of a batch have. inputs: of all runs by the names of the
    layout, (runs, size).
    """
    sizes = np.ones(count(varied))
    for one in varied:
        if one.entry is not None:
            own = np.ravel(craft.value(one.parameter)) if one.parameter is not None else inputs[one.entry]
            sizes[one.columns] = np.linalg.norm(own, axis=-1).max(initial=0.0) or 1.0
    return sizes


def tangent_map(craft: Spacecraft, q: Array) -> Array:
    """What q changes by with each small step on the manifold, (..., nq, nv), compiled."""
    zero = np.zeros(craft.nv)
    return np.asarray(compile(jacobian_of(configuration_rate, "v"), craft)(q, zero))


def initial(craft: Spacecraft, varied: Sequence[Varied], q: Array, v: Array) -> Array:
    """Derivatives of (q0, v0), (runs, nq + nv, columns)."""
    S = np.zeros((len(q), craft.nq + craft.nv, count(varied)))
    for one in varied:
        if one.name == "q0":
            S[:, : craft.nq, one.columns] = tangent_map(craft, q)
        elif one.name == "v0":
            S[:, craft.nq :, one.columns] = np.eye(craft.nv)
    return S


def of_momentum(
    craft: Spacecraft, varied: Sequence[Varied], q: Array, v: Array, parameters: Mapping[str, Array]
) -> Array:
    """Derivatives of the momentum that a run has from its start, (runs, 6, columns)."""

    def momentum(craft: Spacecraft, q: Array, v: Array) -> Array:
        return held_by(craft, q, v).momentum

    own = [one for one in varied if one.parameter is not None]
    derivatives = jacobian_of(momentum, ("q", "v", *(one.name for one in own)))
    kernel = compile(derivatives, craft, parameters=list(parameters))
    by_q, by_v, *by_values = kernel(q, v, parameters=dict(parameters)) if parameters else kernel(q, v)
    start = initial(craft, varied, q, v)
    S = np.asarray(by_q) @ start[:, : craft.nq] + np.asarray(by_v) @ start[:, craft.nq :]
    for one, block in zip(own, by_values, strict=True):
        S[:, :, one.columns] += np.asarray(block).reshape(len(q), 6, -1)
    return S
