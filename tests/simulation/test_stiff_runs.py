"""Stiff closed loops by gauss16: Newton's iteration against closed forms,
SciPy's Radau and fixed-point iteration; bits; its numbers.
"""

from __future__ import annotations

import os
import subprocess
import sys
from math import factorial
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp
from scipy.special import eval_legendre

import gyrostat as gs
import manoeuvre
from gyrostat.algebra import cos, sin
from gyrostat.simulation.integrators.gauss_numbers import collocation
from same_trajectory import same

T = 20.0


def slider():
    base = gs.Body("base", 1.0, inertia=(1, 1, 1), joint=gs.Joint("base", "fixed"))
    joint = gs.Joint("slider", "prismatic", "base", axis=(1.0, 0.0, 0.0))
    return gs.Spacecraft.build("slider", [base, gs.Body("body", 1.0, inertia=(1, 1, 1), joint=joint)])


def stiff_pd(craft, t, q, v):
    """The manoeuvre's law with bandwidths four times as high: time constants down to some hundredths of a second."""
    target, rate, _ = manoeuvre.reference(t)
    return np.concatenate([np.zeros(6), 16 * manoeuvre.KP * (target - q[7:]) + 4 * manoeuvre.KD * (rate - v[6:])])


def run(method="gauss16", start=None, **options):
    craft, q, v = manoeuvre.start()
    q, v = (q, v) if start is None else start(q, v)
    options = {"control": stiff_pd, "rtol": 1e-12, "atol": 1e-13, "save_at": [0.0, T], **options}
    return gs.simulate(craft, q, v, (0, T), integrator=method, **options)


@pytest.mark.parametrize("k, c", [(1e4, 250.0), (1e6, 1.2e3), (1e8, 3e5)])
def test_a_stiff_spring_and_damper_follow_the_closed_form(k, c):
    """x'' = -k (x - sin t) - c (x' - cos t) from rest: fast transients, then x near sin t;
    steps follow the motion, not the stiffness.
    """

    def law(craft, t, q, v):
        return np.array([-k * (q[0] - sin(t)) - c * (v[0] - cos(t))])

    # x = sin t + e,  e'' + c e' + k e = sin t
    w = 1.0 / ((k - 1.0) + 1j * c)
    roots = np.roots([1.0, c, k])
    start = np.array([-w.imag, -1.0 - w.real])  # e(0) = 0, e'(0) = -1, less those of Im(w exp(i t))
    a = np.linalg.solve(np.array([np.ones(2), roots]), start)
    exact = np.sin(10.0) + (w * np.exp(10j)).imag + (a @ np.exp(10.0 * roots)).real
    traj = gs.simulate(slider(), [0.0], [0.0], (0, 10), control=law, integrator="gauss16", rtol=1e-11, save_at=[10.0])
    assert abs(traj.final[0][0] - exact) < 1e-11
    assert traj.state.steps[0] + traj.state.rejections[0] < 250  # of the others' steps: 10 s times some 1/c


def test_a_stiff_manoeuvre_against_radau():
    craft, q, v = manoeuvre.start()

    def motion(t, y):
        q, v = y[:13], y[13:]
        qdot = gs.configuration_rate(craft, q, v)
        return np.concatenate([qdot, gs.forward_dynamics(craft, q, v, stiff_pd(craft, t, q, v))])

    rate = gs.compile(motion, None, inputs={"t": (), "y": (25,)})
    radau = solve_ivp(lambda t, y: rate(t, y), (0, 4.0), np.concatenate([q, v]), method="Radau", rtol=1e-10, atol=1e-12)
    traj = gs.simulate(
        craft, q, v, (0, 4.0), control=stiff_pd, integrator="gauss16", rtol=1e-12, atol=1e-14, save_at=[4.0]
    )
    np.testing.assert_allclose(np.concatenate(traj.final), radau.y[:, -1], atol=2e-9)
    assert traj.state.steps[0] < 0.2 * len(radau.t)


def test_newton_and_fixed_point_iteration_agree():
    """Steps that are kept short leave nothing to do for Newton's iteration."""
    long, short, other = run(), run(max_step=0.05), run("dop853")
    assert 20 * long.state.steps[0] < short.state.steps[0]
    for traj in (short, other):
        np.testing.assert_allclose(long.q, traj.q, atol=1e-11)
        np.testing.assert_allclose(long.v, traj.v, atol=1e-11)
    assert long.audit.worst < 1e-10


@pytest.mark.parametrize("gain", [1.0, 8.0, 64.0])
def test_tolerances_are_met_in_steps_that_do_not_depend_on_the_stiffness(gain):
    def law(craft, t, q, v):
        target, rate, _ = manoeuvre.reference(t)
        tau = gain**2 * manoeuvre.KP * (target - q[7:]) + gain * manoeuvre.KD * (rate - v[6:])
        return np.concatenate([np.zeros(6), tau])

    exact = run("dop853", control=law, rtol=2.3e-14, atol=1e-15).final
    for rtol in (1e-4, 1e-6, 1e-8, 1e-10, 1e-12):
        traj = run(control=law, rtol=rtol, atol=rtol)
        q, v = traj.final
        assert max(np.abs(q - exact[0]).max(), np.abs(v - exact[1]).max()) < 3 * rtol
        assert traj.state.steps[0] + traj.state.rejections[0] < 80


def crossed(craft, t, q, v):
    return q[7] - 0.3001


@pytest.mark.filterwarnings("ignore:.*Go on with:gyrostat.SimulationWarning")
@pytest.mark.parametrize("breakpoints", [[], [2.5, 3.0, 8.0]])
def test_interrupted_among_newtons_steps_and_resumed_the_bits_are_the_same(breakpoints):
    save = [0.0, 11.0, T]
    whole = run(save_at=save, events=crossed, breakpoints=breakpoints)
    assert whole.events
    for legs in (1, 2, 5):
        part = run(save_at=save, events=crossed, breakpoints=breakpoints, max_steps=legs)
        assert part.interrupted
        while part.interrupted:
            part = gs.simulate(whole.craft, resume=part, save_at=save, max_steps=legs)
        same(part, whole)


def test_members_of_a_batch_equal_runs_alone():
    rng = np.random.default_rng(1)

    def several(q, v):
        return q, v + 0.01 * rng.normal(size=(5, 12))

    batch = run(start=several, events=crossed)
    for k in range(5):
        one = run(start=lambda q, v, k=k: (batch.q[k, 0], batch.v[k, 0]), events=crossed)
        np.testing.assert_array_equal(batch.q[k], one.q)
        np.testing.assert_array_equal(batch.v[k], one.v)
        assert [e.t for e in batch.events if e.run == k] == [e.t for e in one.events]


def test_events_are_as_accurate_as_steps():
    """Roots within Newton's long steps, against short ones."""
    long, short = run(events=crossed), run(events=crossed, max_step=0.05)
    assert len(long.events) == len(short.events) > 0
    for one, other in zip(long.events, short.events, strict=True):
        assert abs(one.t - other.t) < 1e-9
        np.testing.assert_allclose(one.q, other.q, atol=1e-11)


def test_where_stiffness_begins_and_ends_at_jumps():
    """Gains that are switched by breakpoints, up and down."""

    def law(craft, t, q, v):
        gain = gs.algebra.where(t < 5.0, 0.1, gs.algebra.where(t < 15.0, 30.0, 0.3))
        return gain * manoeuvre.pd(craft, t, q, v)

    found, exact = (run(by, control=law, breakpoints=[5.0, 15.0]) for by in ("gauss16", "dop853"))
    np.testing.assert_allclose(found.q, exact.q, atol=1e-10)
    assert 5 * found.state.steps[0] < exact.state.steps[0]


# ---- numbers


def test_coordinates_in_which_a_is_diagonal():
    m = collocation(8)
    into, back, a = np.array(m.pairs.into), np.array(m.pairs.back), np.array(m.a)
    values = np.array(m.pairs.values[::2]) + 1j * np.array(m.pairs.values[1::2])
    wanted = np.zeros((8, 8))
    for k, z in enumerate(values):
        wanted[2 * k : 2 * k + 2, 2 * k : 2 * k + 2] = [[z.real, -z.imag], [z.imag, z.real]]
    np.testing.assert_allclose(into @ back, np.eye(8), atol=1e-12)
    np.testing.assert_allclose(into @ a @ back, wanted, atol=1e-12)


def test_error_of_linear_motions():
    """Partial fractions of z^7 8!/16! / prod |1 - lambda z|^2, and how near it is to r(z) of (3):
    above, and the same where it matters.
    """
    m = collocation(8)
    values, w = (np.array(x[::2]) + 1j * np.array(x[1::2]) for x in (m.pairs.values, m.pairs.beyond))
    for z in (-4.0, -20.0, -100.0, -1e4):
        found = (w / (1 - values * z)).sum().real
        np.testing.assert_allclose(
            found, z**7 * factorial(8) / factorial(16) / np.prod(abs(1 - values * z) ** 2), rtol=1e-7
        )
        r = quad(
            lambda s, z=z: np.exp(z * (1 - s)) * eval_legendre(8, 2 * s - 1), 0, 1, points=[1 + 10 / z], limit=200
        )[0]
        assert 1.0 <= abs(found / r) < (5.0 if z > -10 else 2.0)


PROGRAM = """
from gyrostat.tracing import machine
machine.host_lanes = lambda scalar: {lanes}
import numpy as np
import gyrostat as gs
base = gs.Body("base", 5.0, inertia=(1.0, 2.0, 3.0))
arm = gs.Body("arm", 1.0, (0.3, 0, 0), (0.1, 0.1, 0.1), gs.Joint("hinge", "revolute", "base", (0.5, 0, 0)))
craft = gs.Spacecraft.build("craft", [base, arm])
v = np.array([0.4, 0.1, 1.1, 0.2, 0.0, -0.1, 0.3])
law = lambda craft, t, q, v: np.concatenate([np.zeros(6), -2e4 * q[7:] - 4e2 * v[6:]])
rows = [gs.simulate(craft, gs.neutral(craft), v, (0, 4), control=law, save_at=[4.0], rtol=1e-12, **options)
        for options in ({{"integrator": "gauss16"}}, {{}})]
assert 5 * rows[0].state.steps[0] < rows[1].state.steps[0]
print(*[repr(float(x)) for row in rows for x in np.concatenate(row.final)])
"""


@pytest.mark.parametrize("lanes", [2, 4])
def test_narrower_vectors(lanes):
    environment = {**os.environ, "PYTHONPATH": str(Path(gs.__file__).parents[1])}
    command = [sys.executable, "-c", PROGRAM.format(lanes=lanes)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = np.array([float(x) for x in done.stdout.split()]).reshape(2, -1)
    np.testing.assert_allclose(found[0], found[1], atol=1e-10)
