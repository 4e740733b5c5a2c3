"""Random combinations of options on random craft: what is accepted is felt, what nothing would feel is refused by name.

Some fifty cases here; `make options` draws thousands.
"""

from __future__ import annotations

import inspect
import os
import warnings

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.control.passive import stoppable
from gyrostat.simulation.phase import Phase
from gyrostat.simulation.phases import simulate_phases
from gyrostat.simulation.simulate_craft import simulate
from random_options import DRAWN, END, FIXED, draw, driven

CASES = int(os.environ.get("GYROSTAT_OPTION_CASES", "32"))
CHUNKS = 8
# numbers do not depend on them, by design: how many threads, whether somebody watches, how far it may go, where it goes
# on from, what is asked of the whole of it
BY_DESIGN = {"threads", "progress", "max_steps", "resume", "outcomes", "device"}
# words by which a refusal may name an option without its own
WORDS = {
    "inputs": ("asks for 'strength'", "inputs"),
    "formulation": ("formulation", "does not support", "not supported"),
    "mode": ("mode", "floating", "flying"),
    "integrator": ("integrator", "step"),
    "locked": ("locked", "prescribed"),
    "constraints": ("bond", "constraint"),
    "parameters": ("mass", "inertia"),
}


def run(case, options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return gs.simulate(case.craft, case.q, case.v, (0.0, END), max_steps=5000, **options)


def said(traj):
    """Everything that a user sees of a run."""
    parts = [traj.time, traj.q, traj.v, traj.tau, traj.momentum(), *traj.final, traj.state.y]
    words = [f"{e.name} {e.t!r}" for e in traj.events] + [str(traj.mode_audit), *traj.status]
    return b"|".join(np.asarray(x, dtype=float).tobytes() for x in parts) + "|".join(words).encode()


def unfelt(case, name, first):
    """Where equal results are right: bounds of steps that something else bounds (gauss16 ends its own at the times to
    save; implicit ones are solved to round-off), a law all of whose motors are held, stops that nothing reaches or may
    push.
    """
    options = case.options
    if name in ("rtol", "atol"):
        return bool({"step", "max_step"} & set(options)) or options.get("integrator") == "gauss16"
    if name == "max_step":
        return options.get("integrator") == "gauss16"
    if name in ("constraints", "stabilisation"):  # a plane on a planar joint: no motion is against it
        rng = np.random.default_rng(0)
        tried = [
            gs.constraints.residuals(case.craft, 0.0, case.q, v, options["constraints"])
            for v in rng.normal(size=(9, case.craft.nv))
        ]
        return max(np.abs(found.velocity).max() for found in tried) < 1e-12
    held = {*options.get("locked", ()), *options.get("prescribed", ())}
    if name == "stops":
        free = [j for j in case.craft.joints if stoppable(j) and j.name not in held]
        reached = [np.abs(first.q[:, j.q_at]).max() > j.limits.upper for j in free]
        return "constraints" in options or not any(reached)
    places = {k for joint in map(case.craft.joint_named, held) for k in range(joint.v_at.start, joint.v_at.stop)}
    return name in ("control", "actuators", "inputs", "seed", "runs") and set(driven(case.craft).tolist()) <= places


def check(seed, run_of):
    """How a case ended: refused, failed with words, or accepted with every option felt."""
    case = draw(seed)
    try:
        first = run_of(case, case.options)
    except (ValueError, TypeError) as error:
        text = str(error)
        named = any(word in text for name in case.options for word in (f"{name}", *WORDS.get(name, ())))
        assert named, f"case {seed}: refused, but none of {sorted(case.options)} is named: {text}"
        return "refused"
    if not first.ok:
        return "failed"  # and says so: constraints that a prescribed motion contradicts
    seen = said(first)
    for name in case.options:
        if name in BY_DESIGN or unfelt(case, name, first):
            continue
        other = case.without(name)
        if name == "integrator" and other["integrator"] in FIXED:
            other["step"] = FIXED[other["integrator"]]
        try:
            second = run_of(case, other)
        except (ValueError, TypeError):
            continue  # without it the others make no sense
        assert said(second) != seen, (
            f"case {seed}: {name}={case.options[name]!r} had no effect in {sorted(case.options)}"
        )
    if first.ok and case.options.get("step") is None and "rtol" not in case.options and "atol" not in case.options:
        assert first.audit.worst < 1e-7, f"case {seed}: {first.audit} with {sorted(case.options)}"
    return "felt"


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_what_simulate_accepts_is_felt(chunk):
    ends = [check(seed, run) for seed in range(chunk, CASES, CHUNKS)]
    assert ends.count("felt") >= len(ends) // 4


class Joined:
    """A run in two phases, as `said` sees it."""

    def __init__(self, phased):
        joined, last = phased.trajectory, phased.phases[-1].trajectory
        self.time, self.q, self.v, self.tau, self.events = joined.time, joined.q, joined.v, joined.tau, joined.events
        self.momentum, self.status, self.mode_audit = joined.momentum, last.status, last.mode_audit
        self.final, self.state, self.ok, self.audit = last.final, last.state, phased.ok, joined.audit


def run_in_phases(case, options):
    phases = [Phase(0.4 * END, "first"), Phase(0.6 * END, "second")]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Joined(simulate_phases(case.craft, case.q, case.v, phases, max_steps=5000, **options))


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_what_simulate_phases_accepts_is_felt(chunk):
    ends = [check(100_000 + seed, run_in_phases) for seed in range(chunk, CASES // 2, CHUNKS)]
    assert ends.count("felt") >= len(ends) // 4


def test_every_option_is_drawn():
    """Or is said above to have no effect by design; seed, runs and step come with others; precision has tests of its
    own (test_single.py).
    """
    options = {p.name for p in inspect.signature(simulate).parameters.values() if p.kind is p.KEYWORD_ONLY}
    assert options == set(DRAWN) | BY_DESIGN | {"seed", "runs", "step", "precision"}


@pytest.mark.parametrize(
    "options, words",
    [
        ({"stabilisation": (1.0, 1.0)}, "stabilisation= is that of constraints"),
        ({"step": 0.1, "max_step": 0.1}, "max_step= bounds steps that are chosen"),
        ({"integrator": "rk4", "step": 0.1, "rtol": 1e-8}, "rtol= has no effect on the fixed steps of 'rk4'"),
        ({"actuators": gs.Actuators(lag=0.1)}, "actuators= act on what a control law asks for"),
        ({"stops": gs.Stops()}, "stops= stand at the limits of joints"),
        ({"inputs": {"gian": 1.0}, "control": lambda craft, t, q, v, gain=1.0: 0.0 * v}, "asks for it.*'gain'"),
        (
            {"actuators": gs.Actuators(), "control": lambda craft, t, q, v: 0.0 * v},
            "saturate at the effort limits of joints",
        ),
    ],
)
def test_options_that_nothing_would_feel(options, words):
    craft = gs.Spacecraft.build("box", [gs.Body("box", 2.0, inertia=(1.0, 2.0, 2.5))])
    with pytest.raises(ValueError, match=words):
        gs.simulate(craft, t_span=(0, 1), **options)
