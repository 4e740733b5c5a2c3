"""Control laws, environments, events and motions that cannot be traced:
called from Python, which is said; the same results.
"""

from __future__ import annotations

import linecache
import math
import re
import statistics

import numpy as np
import pytest

import gyrostat as gs
import manoeuvre
from same_trajectory import same

SLOWER = "cannot be compiled and is called from Python"


def in_python(function):
    """The same function, made untraceable: it insists on floats."""

    def wrapped(craft, t, q, v, *memory):
        rows = [np.array([float(x) for x in a]) for a in (q, v, *memory)]
        return np.asarray(function(craft, float(t), *rows), dtype=float)

    return wrapped


def run(**options):
    craft, q, v = manoeuvre.start()
    q = q + np.array([[0.0] * 7 + [0.1 * k] * 6 for k in range(3)])
    return gs.simulate(craft, q, v, (0, 3), save_at=[0.0, 1.0, 3.0], **{"rtol": 1e-9, **options})


def agree(a, b, tolerance=1e-9):
    # what may act is not known of a law in Python; it is looked at at every step
    seen = (
        "audited",
        "cause_impulse",
        "cause_work",
    )
    for name in set(a.data.data_vars) - set(seen):
        np.testing.assert_allclose(a.data[name].values, b.data[name].values, atol=tolerance, err_msg=name)
    for name in a.signals:
        np.testing.assert_allclose(a.signals[name].values, b.signals[name].values, atol=1e3 * tolerance, err_msg=name)


def test_a_law_in_python_gives_the_same_result():
    with pytest.warns(gs.SimulationWarning, match=f"the control law {SLOWER}"):
        slow = run(control=in_python(manoeuvre.pd))
    fast = run(control=manoeuvre.pd)
    agree(slow, fast)
    assert slow.audit.worst < 1e-7


@pytest.mark.parametrize(
    "method",
    [
        {"integrator": "rk4", "step": 0.05, "rtol": None},
        {"integrator": "gauss6", "step": 0.05},
        {"integrator": "rk45"},
        {"integrator": "gauss16"},
    ],
)
def test_with_every_integrator(method):
    with pytest.warns(gs.SimulationWarning):
        slow = run(control=in_python(manoeuvre.pd), **method)
    agree(slow, run(control=manoeuvre.pd, **method), 1e-8)


def test_a_law_with_memory():
    def output(craft, t, q, v, z):
        return manoeuvre.pd(craft, t, q, v) + np.concatenate([np.zeros(6), z])

    def derivative(craft, t, q, v, z):
        return 0.1 * (0.3 - q[7:]) - 0.2 * z

    with pytest.warns(gs.SimulationWarning):
        slow = run(control=gs.Controller(in_python(output), np.full(6, 0.01), in_python(derivative)))
    agree(slow, run(control=gs.Controller(output, np.full(6, 0.01), derivative)))


def test_a_sampled_law_is_called_once_for_each_sample_of_each_run():
    seen = []

    def output(craft, t, q, v, z, run, sample):
        seen.append((int(run), int(sample), float(t)))
        return 0.05 * manoeuvre.pd(craft, t, q, v) + np.concatenate([np.zeros(6), z])

    def update(craft, t, q, v, z):
        return 0.5 * z + 1e-3 * v[6:]

    with pytest.warns(gs.SimulationWarning):
        slow = run(control=gs.Controller(output, np.zeros(6), update=update, period=0.5))
    called = seen[1:]  # the first was to see whether it can do without symbols
    samples = [(k, n, 0.5 * n) for n in range(7) for k in range(3)]
    assert sorted(called) == sorted(samples)

    def plain(craft, t, q, v, z):
        return 0.05 * manoeuvre.pd(craft, t, q, v) + np.concatenate([np.zeros(6), z])

    agree(slow, run(control=gs.Controller(plain, np.zeros(6), update=update, period=0.5)))


def test_an_environment_in_python():
    def drag(craft, t, q, v):
        rows = [np.concatenate([np.zeros(3), -3.0 * v[3:6]])] + [np.zeros(6)] * (craft.nbodies - 1)
        return np.array(rows)

    with pytest.warns(gs.SimulationWarning, match=f"the environment {SLOWER}"):
        slow = run(control=manoeuvre.pd, environment=in_python(drag))
    agree(slow, run(control=manoeuvre.pd, environment=drag))
    assert slow.audit.worst < 1e-7
    with pytest.warns(gs.SimulationWarning) as caught:
        both = run(control=in_python(manoeuvre.pd), environment=in_python(drag))
    assert len(caught) == 2
    agree(both, slow)


def test_an_event_and_a_motion_in_python():
    def level(craft, t, q, v):
        return math.sin(float(q[7])) - math.sin(0.32)

    with pytest.warns(gs.SimulationWarning, match=f"an event {SLOWER}"):
        slow = run(control=manoeuvre.pd, events=level)
    fast = run(control=manoeuvre.pd, events=lambda craft, t, q, v: q[7] - 0.32)
    np.testing.assert_allclose([e.t for e in slow.events], [e.t for e in fast.events], atol=1e-9)
    with pytest.warns(gs.SimulationWarning, match=f"a prescribed motion, or a function of a constraint, {SLOWER}"):
        slow = gs.simulate(
            *manoeuvre.start(), (0, 0.3), prescribed={"joint_1": lambda t: 0.1 * math.cos(float(t))}, rtol=1e-6
        )
    fast = gs.simulate(
        *manoeuvre.start(), (0, 0.3), prescribed={"joint_1": lambda t: 0.1 * gs.algebra.cos(t)}, rtol=1e-6
    )
    np.testing.assert_allclose(slow.q, fast.q, atol=1e-9)


@pytest.mark.parametrize("where", ["control", "environment", "events", "update"])
def test_an_exception_inside_is_raised_as_it_is(where):
    class Burnt(Exception):
        pass

    def late(craft, t, q, v, *more):
        if float(t) > 1.0:
            raise Burnt(f"at {float(t):.1f} s")
        shapes = {"environment": (craft.nbodies, 6), "events": ()}
        return np.ones(()) if where == "events" else np.zeros(shapes.get(where, (craft.nv,)))

    functions = {where: late} if where != "update" else {"control": gs.Controller(late, period=0.25)}
    with pytest.warns(gs.SimulationWarning), pytest.raises(Burnt, match="at 1") as caught:
        run(**functions)
    part = caught.value.trajectory  # what was computed before it was lost
    assert part.interrupted and (part.state.t > 0.0).all() and (part.state.t <= 1.0).all()
    assert "attribute 'trajectory'" in caught.value.__notes__[0]


def test_a_run_that_an_exception_ended_goes_on_bit_for_bit_once_the_law_is_mended(tmp_path):
    mended = []

    def law(craft, t, q, v):
        if float(t) > 1.0 and not mended:
            raise ZeroDivisionError
        return in_python(manoeuvre.pd)(craft, t, q, v)

    with pytest.warns(gs.SimulationWarning, match=SLOWER), pytest.raises(ZeroDivisionError) as caught:
        run(control=law)
    back = gs.Trajectory.load(caught.value.trajectory.save(tmp_path / "part.nc"))
    assert back.interrupted and np.isnan(back.q[:, -1]).all()
    mended.append(True)
    with pytest.warns(gs.SimulationWarning, match=SLOWER):
        whole = run(control=law)
    with pytest.warns(gs.SimulationWarning, match=SLOWER):
        same(gs.simulate(back.craft, resume=back, control=law), whole)


def test_a_law_that_fails_on_numbers_too_is_the_users_error_at_once():
    def wrong(craft, t, q, v):
        return np.zeros(3)

    def broken(craft, t, q, v):
        return float(q[0]) + undefined  # noqa: F821

    with pytest.raises(ValueError, match=r"the control law returned tau of shape \(3,\); expected \(12,\)"):
        run(control=wrong)
    with pytest.raises(NameError, match="undefined"):
        run(control=broken)


def test_conserved_momentum_watches_a_python_law():
    def pushes(craft, t, q, v):
        tau = np.zeros(12)
        tau[3] = 1.0 if float(t) > 0.5 else 0.0
        return tau

    with pytest.warns(gs.SimulationWarning), pytest.raises(ValueError, match="the control law loads the base"):
        run(control=pushes, conserve="momentum")
    with pytest.warns(gs.SimulationWarning):
        slow = run(control=in_python(manoeuvre.pd), conserve="momentum")
    agree(slow, run(control=manoeuvre.pd, conserve="momentum"))


def of_linear_algebra(craft, t, q, v):
    return np.concatenate([np.zeros(6), -np.linalg.pinv(np.diag(1.0 + v[6:] ** 2)) @ v[6:]])  # this line


def of_a_branch(craft, t, q, v):
    tau = np.zeros(craft.nv)
    if v[6] > 0.0:  # this line
        tau[6] = -1.0
    return tau


def of_the_standard_library(craft, t, q, v):
    tau = np.zeros(craft.nv)
    tau[6] = -statistics.fmean([v[6], v[7]])  # this line
    return tau


def of_mathematics(craft, t, q, v):
    tau = np.zeros(craft.nv)
    tau[6] = -math.atan2(v[6], 2.0)  # this line
    return tau


@pytest.mark.parametrize(
    ("law", "hint"),
    [
        (of_linear_algebra, "Use gyrostat.algebra.pinv for np.linalg.pinv."),
        (of_a_branch, "Use gyrostat.algebra.where for if"),
        (of_the_standard_library, "gyrostat.algebra"),
        (of_mathematics, "Use gyrostat.algebra.atan2 for math.atan2."),
    ],
)
def test_the_warning_stands_at_the_users_line_and_says_what_to_write_and_how_much_slower_it_is(law, hint):
    craft, q, v = manoeuvre.start()
    with pytest.warns(gs.SimulationWarning) as told:
        gs.simulate(craft, q, v, (0.0, 0.01), control=law)
    (warning,) = told
    assert warning.filename == __file__
    assert linecache.getline(__file__, warning.lineno).rstrip().endswith("# this line")
    text = str(warning.message)
    assert hint in text
    slower = re.search(r"takes (\d+) microseconds.* at least some (\d+) times slower", text)
    assert slower is not None and int(slower[2]) >= 50
