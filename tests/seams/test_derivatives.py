"""Matrices of a motion and its derivatives, with any combination of options on any craft, are the differences of runs;
or they are refused by name.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

import gyrostat as gs
from random_missions import END, START, random_mission, refused

CASES = max(2, int(os.environ.get("GYROSTAT_SEAMS", "0")) // 4)
FIRST = int(os.environ.get("GYROSTAT_SEAMS_FIRST", "0"))
OF_A_POINT = {"control", "environment", "prescribed", "locked", "actuators", "stops", "formulation", "parameters"}
OF_A_POINT |= {"inputs", "constraints"}
TIGHT = {"rtol": 1e-13, "atol": 1e-14, "progress": False}
SMALL = 1e-4


def of_a_point(mission) -> dict[str, Any]:
    """Options that `linearize` has, without laws of samples."""
    given: dict[str, Any] = {}
    for option in mission.options:
        if set(option.keywords) <= OF_A_POINT:
            given |= option.keywords
    if getattr(given.get("control"), "sampled", False):
        del given["control"]
    if "control" not in given:
        given.pop("actuators", None)
        given.pop("inputs", None)
    return given


def moved(craft, q, v, columns, span, options):
    """How states that begin beside (q, v) differ at the end from the motion itself, by the size of the beginning."""
    nv = craft.nv
    starts = [0.0 * columns[:, 0], *(sign * SMALL * column for column in columns.T for sign in (1.0, -1.0))]
    q0, v0 = np.array([gs.step_configuration(craft, q, d[:nv]) for d in starts]), np.array([v + d[nv:] for d in starts])
    run = gs.simulate(craft, q0, v0, (START, START + span), save_at=[START + span], **options, **TIGHT)
    assert run.ok
    q = run.q[0, -1]
    ends = [
        np.concatenate([gs.configuration_difference(craft, q, a[-1]), b[-1]])
        for a, b in zip(run.q[1:], run.v[1:], strict=True)
    ]
    return (np.array(ends[::2]) - np.array(ends[1::2])).T / (2.0 * SMALL)


@pytest.mark.parametrize("seed", range(FIRST, FIRST + CASES))
def test_a_linear_model_is_the_difference_of_runs(seed):
    mission = random_mission(seed)
    craft, options, nv = mission.craft, of_a_point(mission), mission.craft.nv
    found, words = refused(lambda: gs.linearize(craft, mission.q, mission.v, t=START, **options))
    if found is None:
        assert refused(lambda: gs.simulate(craft, mission.q, mission.v, (START, START + 0.01), **options))[1], words
        return
    N = found.basis
    own = [k for k in range(N.shape[1]) if not N[2 * nv :, k].any()]  # memory and loads begin as they are
    N, A = N[: 2 * nv, own], found.A[:, own]
    h = 2e-3 / max(1.0, np.abs(np.linalg.eigvals(found.A)).max() / 3.0)
    one, half = (moved(craft, mission.q, mission.v, N, span, options) for span in (h, h / 2))
    slope = (4.0 * (half - N) - (one - N)) / h  # of second order
    places = [int(np.flatnonzero(column == 1.0)[0]) for column in N.T]
    rows = [k for k, place in enumerate(places) if np.count_nonzero(N[place]) == 1]
    A = A[[own[k] for k in rows]]
    apart = np.abs(slope[[places[k] for k in rows]] - A).max(axis=1)
    assert (apart < 1e-3 * (1.0 + np.abs(A).max(axis=1))).all(), (str(mission), sorted(options), apart.max())


@pytest.mark.parametrize("seed", range(FIRST, FIRST + CASES))
def test_derivatives_of_a_run_are_differences_of_runs(seed):
    mission, rng = random_mission(seed), np.random.default_rng([seed, 3])
    craft, given = mission.craft, mission.keywords()
    rigid = [b for b in craft.bodies if b.mass > 0 and not craft.flexible(b.name) and not b.joint.motion.spins]
    mass = f"{rigid[int(rng.integers(len(rigid)))].name}.mass"
    names = [mass, *(f"input:{name}" for name in given.get("inputs", ()))]
    names += ["v0"] if craft.nv < 10 else []  # more columns take long to compile
    run, words = refused(lambda: mission_run(mission, sensitivities=names))
    if run is None:
        assert refused(mission.run)[1] or "kick" in words, (str(mission), words)
        return
    assert run.ok, str(mission)
    told = {k for name in mission.following for k in range(*craft.joint_named(name).v_at.indices(craft.nv))}
    free = [k for k in rng.permutation(craft.nv) if k not in told and "constraints" not in given]
    for name in names:
        columns = free[:1] if name == "v0" else [None]
        for column in columns:
            ends = [beside(mission, name, column, sign) for sign in (1.0, -1.0)]
            size = ends[0][0] + ends[1][0]
            by = [
                gs.configuration_difference(craft, ends[1][1].q[-1], ends[0][1].q[-1]) / size,
                (ends[0][1].v[-1] - ends[1][1].v[-1]) / size,
            ]
            for what, expected in zip("qv", by, strict=True):
                found = run.sensitivity(what, name)[-1]
                found = found if column is None else found[..., column]
                scale = 1.0 + np.abs(expected).max()
                assert np.abs(found - expected).max() < 1e-5 * scale, (str(mission), name, column)


def mission_run(mission, **changed):
    given = {**mission.keywords(), "progress": False, **changed}
    q, v = given.pop("q", mission.q), given.pop("v", mission.v)
    return gs.simulate(mission.craft, q, v, (START, START + END), **given)


def beside(mission, name, column, sign):
    """(how far, the run) with a little more or less of it."""
    given = mission.keywords()
    if name == "v0":
        v = mission.v.copy()
        v[column] += sign * 1e-5
        return 1e-5, mission_run(mission, v=v, rtol=1e-12)
    kind, own = ("inputs", name.removeprefix("input:")) if name.startswith("input:") else ("parameters", name)
    value = given.get(kind, {}).get(own, None if kind == "inputs" else mission.craft.value(name))
    changed = {kind: {**given.get(kind, {}), own: value * (1.0 + sign * 1e-5)}}
    return 1e-5 * value, mission_run(mission, rtol=1e-12, **changed)
