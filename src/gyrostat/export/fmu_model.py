"""What an FMU holds: the equations of a run as three functions of numbers, and its variables by name.

The equations are those that `gs.simulate` integrates, with everything that acts in them: law, motors, springs, stops,
environment, constraints. Options that an FMU cannot hold are refused by name.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..algebra import Array
from ..algebra.frozen import frozen
from ..control.controller import Controller, call, standing_for
from ..control.modes import demand_mode
from ..model import Role, Spacecraft, nearest
from ..simulation.engine.compiling import SimulationWarning
from ..simulation.prepare import equations_at
from ..simulation.problem.closure import require_closed
from ..simulation.problem.equations import Equations
from ..simulation.problem.idle_options import refuse_unfelt
from ..simulation.problem.request import Request, controller_of, functions_of
from ..simulation.result.signals import residuals_at
from ..tracing.graph import Graph
from ..tracing.recording import trace
from .fmu_variables import Variables, variables_of, wanted_outputs

LOADS = "external_loads"  # the input of the law below, by which loads come in from outside
# Options of `gs.simulate` that say what moves and what acts; they are in the equations, or in the start
HELD = (
    *("q0", "v0", "t_span", "control", "environment", "mode", "formulation", "breakpoints", "constraints"),
    *("stabilisation", "prescribed", "locked", "actuators", "stops", "inputs", "seed"),
)
REFUSED = {
    "events": "An FMU of gyrostat finds no events. Leave them out.",
    "conserve": "It needs an integrator of gyrostat's. Leave it out.",
    "sensitivities": "Leave them out.",
    "precision": "It computes in double precision. Leave it out.",
    "runs": "An FMU is one run. Leave it out.",
    "resume": "Start from the state where the run ended: q0, v0 = trajectory.final.",
    "threads": "Leave it out.",
    "progress": "Leave it out.",
}


@dataclass(frozen=True, eq=False)
class FmuModel:
    """rates, outputs, update: of (t, epoch, y, held, u, p), where t counts from the epoch, y = (q, v, z, load), held is
    what a sampled law holds, u are the inputs and p the parameters, each in one row. update: None without sampled laws.
    """

    craft: Spacecraft
    equations: Equations
    variables: Variables
    rates: Graph
    outputs: Graph
    update: Graph | None
    jumps: tuple[float, ...]  # times at which loads jump

    @property
    def period(self) -> float | None:
        control = self.equations.control
        return None if control is None else control.period

    @property
    def span(self) -> tuple[float, float]:
        """Times that the environment's tables know."""
        outer = self.equations.environment
        return (float("-inf"), float("inf")) if outer is None or outer.span is None else outer.span


def fmu_model(
    craft: Spacecraft,
    options: Mapping[str, Any],
    *,
    outputs: Sequence[str] = (),
    frames: Sequence[str] = (),
    parameters: Sequence[str] | Mapping[str, Any] = (),
    loads: bool | Sequence[str] | None = None,
) -> FmuModel:
    """options: of `gs.simulate`. loads: joints whose loads are inputs, beside those of a law; True for all that may be
    loaded, which is what None means where there is no law.
    """
    for name, value in options.items():
        if name in REFUSED and value is not None:
            raise ValueError(f"{name}=: an FMU cannot hold it. {REFUSED[name]}")
        if name not in HELD and name not in REFUSED:
            raise TypeError(f"{name}=: no option of an FMU. {nearest(name, HELD)}")
    if isinstance(parameters, str):
        parameters = [parameters]
    given = {name: np.asarray(value, dtype=float) for name, value in _values(craft, parameters).items()}
    kept = {name: value for name, value in options.items() if name in HELD and value is not None}
    law = controller_of(kept.get("control"))
    at = _loaded(craft, kept, law, loads)
    inputs = dict(kept.pop("inputs", None) or {})
    if at:
        if LOADS in inputs:
            raise ValueError(f"inputs['{LOADS}']: the name is taken by the loads from outside. Choose another.")
        kept["control"] = with_loads(craft, law, at)
        inputs[LOADS] = np.zeros(len(at))
    request = Request(craft=craft, inputs=inputs or None, parameters=given or None, **{"t_span": (0.0, 1.0), **kept})
    refuse_unfelt(request, request.settings(), functions_of(request), False)
    equations, x = _equations(request)
    _check_start(equations, x)
    chosen = wanted_outputs(craft, outputs, frames, law is not None)
    graphs = {
        name: _traced(equations, function, name)
        for name, function in {
            "rates": equations.state_rates,
            "outputs": lambda x: _outputs(equations, x, chosen),
            "update": equations.update,
        }.items()
        if name != "update" or equations.sampled
    }
    return FmuModel(
        craft,
        equations,
        variables_of(equations, x, chosen, {LOADS: at}),
        graphs["rates"],
        graphs["outputs"],
        graphs.get("update"),
        tuple(sorted({float(t) for t in np.ravel(kept.get("breakpoints", ()))})),
    )


def _values(craft: Spacecraft, parameters: Sequence[str] | Mapping[str, Any]) -> dict[str, Any]:
    """Of the parameters that can be tuned, at the start."""
    return {name: craft.value(name) if not isinstance(parameters, Mapping) else parameters[name] for name in parameters}


def _loaded(
    craft: Spacecraft, options: Mapping[str, Any], law: Controller | None, loads: bool | Sequence[str] | None
) -> tuple[int, ...]:
    """Places in tau that are inputs."""
    follows = {*(options.get("prescribed") or {}), *_names(options.get("locked") or ())}
    if loads is False or (loads is None and law is not None):
        return ()
    if loads is None or loads is True:
        roles = {Role.base, Role.driven, Role.wheel}
        if options.get("mode") is not None:
            mode = demand_mode(craft, options["mode"], list(follows))
            roles -= set() if mode.couple and mode.force else {Role.base}
            roles -= set() if mode.wheels else {Role.wheel}
        free = {k for joint in craft.joints if joint.name not in follows for k in range(*joint.v_at.indices(craft.nv))}
        return tuple(k for k in sorted(free) if craft.roles[k] in roles)
    places: list[int] = []
    for name in _names(loads):
        joint = craft.joint_named(name)
        if name in follows:
            raise ValueError(f"loads: joint '{name}' is locked or prescribed, whatever its load. Leave it out.")
        if not joint.nv:
            raise ValueError(f"loads: joint '{name}' is {joint.kind}: it has nothing to load. Leave it out.")
        places += range(*joint.v_at.indices(craft.nv))
    return tuple(sorted(set(places)))


def _names(names: str | Sequence[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def with_loads(craft: Spacecraft, law: Controller | None, at: Sequence[int]) -> Controller:
    """The law, if there is one, with loads from outside on top of it: its input `LOADS`, in the order of `at`."""
    places = list(at)

    def spread(loads: Any) -> Array:
        tau = np.zeros(craft.nv, dtype=object if np.asarray(loads).dtype == object else float)
        tau[places] = loads
        return tau

    if law is None:

        def alone(craft: Spacecraft, t: Any, q: Array, v: Array, *, external_loads: Any) -> Array:
            return spread(external_loads)

        return Controller(alone)
    if law.propellant is not None:
        raise ValueError("an FMU of a craft that burns propellant is not written: its mass is no part of its state.")
    own = law.output

    def output(*state: Any, external_loads: Any, **more: Any) -> Array:
        return np.asarray(craft.v(call(own, state, more), "tau")) + spread(external_loads)

    def asks(craft: Spacecraft, *, external_loads: Any) -> None:
        """Its signature is read."""

    return replace(law, output=standing_for(output, law.given, (own, len(law.given)), (asks, 1)))


def _equations(request: Request) -> tuple[Equations, Array]:
    """As `gs.simulate` would integrate them; what can only be called from Python is refused."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        equations, x = equations_at(request)
    if equations.python_control or equations.python_environment:
        what = "control" if equations.python_control else "environment"
        reason = next((str(w.message) for w in heard if issubclass(w.category, SimulationWarning)), "")
        raise ValueError(f"{what}=: an FMU holds it as C, so it must be traceable, and it is not.\n{reason}")
    for w in heard:
        warnings.warn_explicit(w.message, w.category, w.filename, w.lineno)
    return equations, x


def _check_start(equations: Equations, x: Array) -> None:
    outer = equations.environment
    if outer is not None and outer.check is not None:
        outer.check(equations.craft, float(equations.time(x)), frozen(x[equations.layout["q"]]))
    if equations.constraints:
        require_closed(equations, residuals_at(equations, x[None, :]))


def _traced(equations: Equations, function: Callable[[Array], Any], name: str) -> Graph:
    """As a function of (t, epoch, y, held, u, p)."""
    at = equations.layout
    ny = sum(at.width(part) for part in ("q", "v", "z", "load"))
    nu = sum(at.width(f"input {part}") for part in equations.inputs)
    np_ = sum(at.width(f"value {part}") for part in equations.parameters)

    def of_parts(t: Any, epoch: Any, y: Array, held: Array, u: Array, p: Array) -> Array:
        pieces = [[t], y, np.zeros(at.width("integrals")), held, [0.0, epoch], u, p]
        return np.asarray(function(np.concatenate([np.asarray(piece) for piece in pieces])))

    of_parts.__name__ = name
    shapes = {"t": (), "epoch": (), "y": (ny,), "held": (at.n_held,), "u": (nu,), "p": (np_,)}
    try:
        return trace(of_parts, None, inputs=shapes)
    except (TypeError, ValueError, AttributeError) as error:
        raise ValueError(
            "an FMU holds everything that acts as C, so it must be traceable; a prescribed motion, or a function of a "
            f"constraint, is not.\n{error}"
        ) from error


def _outputs(equations: Equations, x: Array, chosen: Sequence[Any]) -> Array:
    """All computed outputs, one after the other."""
    signals = equations.signals(x)[0]
    craft = equations.own_craft(x)
    parts = [np.ravel(output.value(craft, signals)) for output in chosen]
    return np.concatenate([np.zeros(0), *parts])
