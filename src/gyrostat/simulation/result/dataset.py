"""Saved rows of a run as an xarray Dataset with named dimensions and units."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...algebra import Array
from ...model import Spacecraft
from ...outcomes import Outcome
from ..engine.compiling import compiled
from ..engine.measures import LOOKS, REDUCED
from ..engine.system import State
from ..problem.equations import Equations
from . import sensitivities
from .audited import BALANCED, entries, integrals_of

if TYPE_CHECKING:
    import xarray

WRENCH = ("torque x", "torque y", "torque z", "force x", "force y", "force z")
# parts of a row (y, held) beside q and v: dimensions, unit and meaning; those without entries are left out
_OTHERS = {
    "z": (("z_name",), "", "memory of the controller"),
    "load": (("v_name",), "N m, N", "loads of the actuators"),
    "held": (("v_name",), "N m, N", "held torque"),
    "held_z": (("z_name",), "", "memory of the controller"),
    "sample": ((), "", "number of the last sample"),
}


@functools.lru_cache(maxsize=256)
def _names(dimension: str, names: tuple[str, ...]) -> xarray.Coordinates:
    """Names along one dimension.

    Making the index takes longer than a short run; those of a craft are the same in each of its runs.
    """
    import xarray

    return xarray.Coordinates({dimension: list(names)})


def coordinates(craft: Spacecraft, times: Array, **others: Any) -> xarray.Coordinates:
    """Of every Dataset of a craft: times, and the names of what stands along each axis.

    others: names along more axes; numbers of runs.
    """
    import xarray

    q_names, v_names, q_units, v_units = coordinate_names(craft)
    axes = {"q_name": q_names, "v_name": v_names, "body": [body.name for body in craft.bodies], "wrench": WRENCH}
    own: dict[str, Any] = {"time": ("time", times, {"units": "s"})}
    for name, values in others.items():
        (own if isinstance(values, np.ndarray) else axes)[name] = values
    parts = [xarray.Coordinates(own), *(_names(dimension, tuple(names)) for dimension, names in axes.items())]
    variables: dict[Any, Any] = {}
    indexes: dict[Any, Any] = {}
    for part in parts:
        variables |= part.variables
        indexes |= part.xindexes
    units = {"q_units": ("q_name", q_units), "v_units": ("v_name", v_units)}
    return xarray.Coordinates(variables | units, indexes=indexes)


def coordinate_names(craft: Spacecraft) -> tuple[list[str], list[str], list[str], list[str]]:
    """Names of the entries of q and of v, and their units."""
    q: list[str] = []
    v: list[str] = []
    q_units: list[str] = []
    v_units: list[str] = []
    for joint in craft.joints:
        q += joint.q_names
        v += joint.v_names
        q_units += joint.motion.q_units
        v_units += joint.motion.v_units
    return q, v, q_units, v_units


def dataset(
    equations: Equations,
    times: Array,
    rows: Array,
    constants: Array,
    runs: Array | None,
    others: Mapping[str, Any] | None = None,
) -> xarray.Dataset:
    """rows: (runs, times, y and held). runs: their numbers; None for a single one without a batch axis. others:
    variables to have beside.

    Quaternions are scaled to norm one.
    """
    import xarray

    craft, at = equations.craft, equations.layout
    impulses, works = integrals_of(equations.causes, at.part(rows, "integrals"))
    nothing = np.where(np.isnan(rows[..., :1]), np.nan, 0.0)  # where the run did not get
    work, impulse = sum(works, start=nothing[..., 0]), sum(impulses, start=nothing * np.ones(6))
    values: dict[str, Any] = {
        "q": (("q_name",), configurations(equations, rows), "", "configuration"),
        "v": (("v_name",), velocities(equations, times, rows, constants), "", "velocity"),
        "work": ((), work, "J", "work of all causes; springs keep theirs"),
        "impulse": (("wrench",), impulse, "N m s, N s", "impulse of external causes about the centre of mass"),
    }
    for cause, own in zip(equations.causes, works, strict=True):
        if cause.who == "environment":
            values["work_environment"] = ((), own, "J", "work of the environment")
    for name, (dims, unit, title) in _OTHERS.items():
        if at.width(name):
            part = at.part(rows, name)
            values[name] = (dims, part if dims else part[..., 0], unit, title)
    names: dict[str, Any] = {}
    if equations.varied:
        values |= sensitivities.variables(equations, times, rows, constants)
        names["by"] = sensitivities.by_labels(equations, coordinate_names(craft)[1])
    single = runs is None
    lead = ("time",) if single else ("run", "time")
    variables = {
        name: ((*lead, *dims), x[0] if single else x, {"long_name": title} | ({"units": unit} if unit else {}))
        for name, (dims, x, unit, title) in values.items()
    }
    variables |= others or {}
    names |= {name: variables.pop(name)[1] for name in ("cause", "audited_name", "outcome_name") if name in variables}
    return xarray.Dataset(variables, coords=coordinates(craft, times, **names, **({} if single else {"run": runs})))


def causes_at_end(equations: Equations, state: State, single: bool) -> dict[str, Any]:
    """What each cause did until the end of the run: variables cause_impulse
    (NaN where it is internal) and cause_work.
    """
    causes, lead = equations.causes, () if single else ("run",)
    impulses, works = integrals_of(causes, state.y[:, equations.layout.row("integrals")])
    external = iter(impulses)
    nothing = np.full((len(state.y), 6), np.nan)
    impulse = (
        np.stack([next(external) if c.external else nothing for c in causes], axis=1)
        if causes
        else nothing[:, :0, None]
    )
    values = {
        "cause_impulse": (("cause", "wrench"), impulse.reshape(len(state.y), len(causes), 6), "N m s, N s"),
        "cause_work": (("cause",), np.array(works).T.reshape(len(state.y), len(causes)), "J"),
    }
    found = {
        name: (
            (*lead, *dims),
            x[0] if single else x,
            {"long_name": "of each cause, at the end of the run", "units": unit},
        )
        for name, (dims, x, unit) in values.items()
    }
    return found | {"cause": ("cause", [cause.who for cause in causes])}


def looked(equations: Equations, measured: Array, single: bool) -> dict[str, Any]:
    """What the audit saw inside the loop: variable audited; nothing where nobody looked."""
    if not measured.size:
        return {}
    places = len(entries(equations.craft, equations.causes))
    seen = np.column_stack([measured[:, LOOKS], measured[:, REDUCED : REDUCED + places]])
    names = [
        "looks",
        *(
            f"{e.how.name} {e.name}" if e.name in BALANCED else e.name
            for e in entries(equations.craft, equations.causes)
        ),
    ]
    lead = () if single else ("run",)
    attributes = {"long_name": "what the audit saw during the run"}
    return {
        "audited": ((*lead, "audited_name"), seen[0] if single else seen, attributes),
        "audited_name": ("audited_name", names),
    }


def of_outcomes(outcomes: Sequence[Outcome], values: Array, single: bool) -> dict[str, Any]:
    """Variable outcome, from values (runs, outcomes)."""
    if not outcomes:
        return {}
    attributes = {"long_name": "outcomes of the run", "units": ", ".join(one.unit for one in outcomes)}
    lead = () if single else ("run",)
    return {
        "outcome": ((*lead, "outcome_name"), values[0] if single else values, attributes),
        "outcome_name": ("outcome_name", [one.name for one in outcomes]),
    }


def end_states(equations: Equations, state: State, times: Array, constants: Array, single: bool) -> dict[str, Any]:
    """Where each run ended, at a saved time or not: variables t_end, q_end, v_end. times: when, (runs,)."""
    rows = np.hstack([state.y, state.held])[:, None]
    q, v = configurations(equations, rows), velocities(equations, state.t[:, None], rows, constants)
    lead = () if single else ("run",)
    values = {"t_end": ((), times, "s"), "q_end": (("q_name",), q[:, 0], ""), "v_end": (("v_name",), v[:, 0], "")}
    return {
        name: ((*lead, *dims), x[0] if single else x.copy(), {"long_name": "at the end of the run", "units": unit})
        for name, (dims, x, unit) in values.items()
    }


def configurations(equations: Equations, rows: Array) -> Array:
    """q of rows (runs, times, y and held)."""
    q = equations.layout.part(rows, "q").copy()
    for joint in equations.craft.joints:
        if joint.motion.quaternion is not None:
            quat = np.arange(q.shape[-1])[joint.q_at][joint.motion.quaternion]
            q[..., quat] /= np.linalg.norm(q[..., quat], axis=-1, keepdims=True)
    return q


def velocities(equations: Equations, times: Array, rows: Array, constants: Array) -> Array:
    """v of rows; with `conserve`, the base follows from the momentum."""
    at = equations.layout
    if not equations.conserve:
        return at.part(rows, "v").copy()
    x = np.zeros((*rows.shape[:2], at.size))
    x[..., 0], x[..., 1 : 1 + rows.shape[-1]] = times, rows
    x[..., at["run"].start :][..., : constants.shape[1]] = constants[:, None]
    return compiled(equations.velocity, at.size)(x)
