"""Reports say whether the filters that flew were consistent."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

import gyrostat as gs
from gyrostat import control
from gyrostat.control import AttitudeFilter, Imperfection, IntegratingGyro, StarTracker, attitude_error


def hold(craft, t, q, v):
    return np.concatenate([2.0 * attitude_error(q[:4], np.array([1.0, 0, 0, 0])) - 6.0 * v[:3], np.zeros(3)])


def flown(believed=1.0, runs=20, **more):
    craft = gs.Spacecraft.build("probe", [gs.Body("hull", 40.0, inertia=[3.0, 4.0, 5.0])])
    tracker = StarTracker(Imperfection(noise=np.array((1e-4, 1e-4, 6e-4)) * believed))
    estimator = AttitudeFilter(IntegratingGyro(3e-5, 2e-6, 1e-3), tracker, 0.2, every=5, sigma=0.01)
    v = np.tile([0.02, -0.01, 0.03, 0, 0, 0], (runs, 1)) if runs > 1 else [0.02, -0.01, 0.03, 0, 0, 0]
    options = {"control": estimator.controller(hold), "integrator": "rk4", "step": 0.2, "save_at": [0.0, 20.0]}
    return estimator, gs.simulate(craft, None, v, (0, 20), **options, **more)


def rows(run):
    return {f.name.partition(" (95")[0]: (f.final, f.name) for f in run.summary.figures if "95 %" in f.name}


@pytest.mark.parametrize("runs", [1, 20])
def test_nees_and_nis_are_in_the_summary_with_their_bounds(runs, tmp_path):
    estimator, run = flown(runs=runs)
    found = rows(run)
    report = estimator.report(run.data["held_z"].values[..., -1, :])
    assert found["NEES of attitude and gyro bias"][0] == pytest.approx(np.mean(report.nees), rel=1e-12)
    assert found["NIS of the star tracker"][0] == pytest.approx(np.mean(report.nis), rel=1e-12)
    low, high = map(float, re.findall(r"([\d.]+) to ([\d.]+)\)", found["NEES of attitude and gyro bias"][1])[0])
    assert low < 6 < high and high - low == pytest.approx({1: 13.2, 20: 3.04}[runs], abs=0.05)
    run.save(tmp_path / "a.nc")
    assert rows(gs.Trajectory.load(tmp_path / "a.nc")) == found  # a file says the same


@pytest.mark.parametrize("every", [0, 5])
@pytest.mark.parametrize(("bias", "walk", "freedoms"), [(1e-3, 2e-6, 6), (1e-3, 0.0, 6), (0.0, 2e-6, 6), (0.0, 0.0, 3)])
def test_the_bias_counts_where_the_filter_knows_of_one(bias, walk, freedoms, every):
    tracker = StarTracker(Imperfection(noise=1e-4))
    estimator = AttitudeFilter(IntegratingGyro(3e-5, walk, bias), tracker, 0.2, every=every, sigma=0.01)
    craft = gs.Spacecraft.build("probe", [gs.Body("hull", 40.0, inertia=[3.0, 4.0, 5.0])])
    state = gs.neutral(craft), np.full(6, 0.01)
    z = [estimator.step(craft, *state, estimator.memory, control.Place(1, run, 0)) for run in (0, 1)]
    told = estimator.controller(hold).tells(craft, *state, np.array(z))
    assert [row[2] for row in told] == [freedoms, 3][: 2 if every else 1]
    assert ["NIS" in row[0] for row in told] == [False, True][: len(told)] and np.shape(told[0][1]) == (2,)


def test_a_member_tells_under_its_name():
    estimator, alone = flown(runs=1)
    probe = alone.craft
    both = gs.together("pair", [probe, gs.load("client")])
    q = gs.neutral(both)
    law = control.on({"probe": estimator.controller(hold)})
    v = both.v({"base": [0.02, -0.01, 0.03, 0, 0, 0]}) if "base" in {j.name for j in both.joints} else None
    run = gs.simulate(both, q, v, (0, 20), control=law, integrator="rk4", step=0.2, save_at=[0.0, 20.0])
    (name,) = [n for n in rows(run) if "NEES" in n]
    assert name.startswith("probe: ")


def test_a_filter_of_anything_tells_its_nis():
    body = gs.Body("cart", 2.0, inertia=[1, 1, 1], joint=gs.Joint("rail", "prismatic", "ground", axis=(1, 0, 0)))
    craft = gs.Spacecraft.build("rail", [gs.Body("ground", joint=gs.Joint("ground", "fixed")), body])
    f = control.ekf(
        lambda t, x: np.array([x[1], 0.0 * x[0]]),
        {"encoders": control.Measurement(lambda craft, t, q, v, x: x[:1], [1e-3])},
        x0=[0.0, 0.1], P0=[1e-4, 1e-4], space=control.Space(2),
        truth=lambda craft, q, v: np.concatenate([q, v], axis=-1),
    )  # fmt: skip
    law = control.Instruments(encoders=control.Encoders(Imperfection(noise=1e-3)), estimator=f).controller(
        lambda craft, t, q, v: np.zeros(1), 0.1, craft=craft
    )
    run = gs.simulate(
        craft,
        np.zeros((50, 1)),
        np.full((50, 1), 0.1),
        (0, 5),
        control=law,
        integrator="rk4",
        step=0.1,
        save_at=[0.0, 5.0],
    )
    found = rows(run)
    assert found["NEES of the filter"][0] < 4.0


def test_what_cannot_be_told_does_not_lose_the_run():
    estimator, _ = flown(runs=1)
    craft = gs.Spacecraft.build("probe", [gs.Body("hull", 40.0, inertia=[3.0, 4.0, 5.0])])

    def broken(craft, q, v, z):
        raise ValueError("a truth that fails")

    law = replace(estimator.controller(hold), tells=broken)
    with pytest.warns(UserWarning, match="cannot be told .a truth that fails."):
        run = gs.simulate(craft, None, None, (0, 2), control=law, integrator="rk4", step=0.2)
    assert run.ok and not rows(run)
