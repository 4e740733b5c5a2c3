"""Any combination of options, on any craft: stepped, it is what it is in one run, bit for bit, or refused as there."""

from __future__ import annotations

import os
import warnings

import numpy as np
import pytest

import gyrostat as gs
from random_options import draw, driven

CASES = int(os.environ.get("GYROSTAT_SEAMS", "16"))
FIRST = int(os.environ.get("GYROSTAT_SEAMS_FIRST", "0"))
DT, STEPS = 0.1, 3
ENDS = DT * np.arange(1, STEPS + 1)
OF_A_WHOLE_RUN = ("save_at", "runs", "sensitivities", "max_steps", "threads")


def attempted(run):
    """What it gives, or the words in which it was refused."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", gs.SimulationWarning)
            return run(), ""
    except ValueError as error:
        return None, str(error)


def both(seed):
    """(one run, stepped) of a random case; loads are given where it has no control law."""
    case = draw(seed)
    options = {name: value for name, value in case.options.items() if name not in OF_A_WHOLE_RUN}
    loads = np.zeros((STEPS + 1, case.craft.nv))
    at = driven(case.craft)
    loads[:, at] = 0.3 * np.random.default_rng(seed).normal(size=(STEPS + 1, len(at)))
    given = options.get("control") is None

    def table(craft, t, q, v, sample):
        return loads[int(float(sample))]

    def whole():
        breakpoints = [*options.get("breakpoints", ()), *([] if given else ENDS)]
        law = gs.Controller(table, period=DT) if given else options["control"]
        more = {**options, "control": law, "breakpoints": breakpoints, "save_at": [0.0, *ENDS]}
        return gs.simulate(case.craft, case.q, case.v, (0.0, ENDS[-1]), **more)

    def stepped():
        sim = gs.Simulation(
            case.craft, record=True, **{k: v for k, v in options.items() if k != "control" or not given}
        )
        sim.reset(case.q, case.v)
        for load in loads[:STEPS]:
            if sim.state.status != ("running",):
                break
            sim.step(load if given else None, DT)
        return sim.trajectory()

    return attempted(whole), attempted(stepped), case


@pytest.mark.parametrize("seed", range(FIRST, FIRST + CASES))
def test_steps_are_the_run_or_are_refused_as_it_is(seed):
    (one, words), (steps, others), case = both(seed)
    assert (one is None) == (steps is None), (case.options, words, others)
    if one is None or steps is None:
        return
    rows = min(len(one.time), len(steps.time)) - (steps.status != ("done",))
    for name in ("q", "v", "work", "impulse"):
        found, expected = steps.data[name].values[:rows], one.data[name].values[:rows]
        np.testing.assert_array_equal(found, expected, err_msg=f"{name}: {case.options}")
    assert steps.status == one.status and [(e.name, e.t) for e in steps.events] == [(e.name, e.t) for e in one.events]
    for found, expected in zip(steps.final, one.final, strict=True):
        np.testing.assert_array_equal(found, expected, err_msg=str(case.options))
    assert steps.audit.worst == pytest.approx(one.audit.worst, rel=1.0, abs=1e-12)


def test_most_random_cases_are_made():
    """So that the test above does not pass by refusing everything."""
    assert sum(both(seed)[0][0] is not None for seed in range(20)) >= 10
