"""precision="single": accelerations to seven digits, sums in double; what cannot be is refused by name."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat import outcomes
from gyrostat.algebra import sin
from gyrostat.constraints import point
from gyrostat.control import Imperfection, Place

CRAFT = gs.load("servicer")
INERTIA = np.diag(gs.generalized_inertia(CRAFT, gs.neutral(CRAFT)))
STEP = {"integrator": "rk4", "step": 0.01}
ASKED = {
    "turned": outcomes.largest(outcomes.attitude_error()),
    "energy": outcomes.last(outcomes.kinetic_energy()),
}


def law(craft, t, q, v):
    return np.concatenate([np.zeros(6), 0.09 * INERTIA * (0.3 * sin(0.5 * t) - q[7:]) - 0.42 * INERTIA * v[6:]])


def states(count, seed=0):
    rng = np.random.default_rng(seed)
    q, v = np.tile(gs.neutral(CRAFT), (count, 1)), 0.02 * rng.normal(size=(count, CRAFT.nv))
    q[:, 7:] += 0.3 * rng.normal(size=(count, CRAFT.nq - 7))
    return q, v


def both(q, v, end=10.0, **options):
    given = {"control": law, **STEP, **options}
    return [gs.simulate(CRAFT, q, v, (0.0, end), precision=p, **given) for p in ("double", "single")]


@pytest.mark.parametrize("integrator", ["rk4", "rk45", "dop853"])
def test_runs_are_those_of_double_precision_to_seven_digits(integrator):
    q, v = states(40)
    exact, single = both(q, v, integrator=integrator, outcomes=ASKED)
    for a, b in zip(exact.final, single.final, strict=True):
        assert 1e-12 < np.abs(a - b).max() < 2e-6
    for name in ASKED:
        apart = np.abs(exact.outcomes[name] / single.outcomes[name] - 1)
        assert 0 < apart.max() < 2e-5
    assert single.data.attrs["precision"] == "single"


def test_errors_do_not_grow_with_the_number_of_steps():
    """The state is added up in double: a hundredth of the step does not give worse sums."""
    q, v = states(16)
    apart = [
        np.abs(np.subtract(*(np.hstack(x.final) for x in both(q, v, end=1.0, step=h)))).max() for h in (0.01, 0.0001)
    ]
    assert apart[1] < 2.0 * apart[0] < 1e-6


def test_a_run_has_the_same_bits_alone_in_a_batch_and_on_other_threads():
    q, v = states(37)
    given = {"control": law, "precision": "single", "outcomes": ASKED, **STEP}
    whole = gs.simulate(CRAFT, q, v, (0.0, 2.0), **given)
    one = gs.simulate(CRAFT, q, v, (0.0, 2.0), threads=1, **given)
    alone = gs.simulate(CRAFT, q[20], v[20], (0.0, 2.0), **given)
    assert np.isfinite(whole.q).all() and (whole.q == one.q).all() and (whole.q[20] == alone.q).all()
    assert all(whole.outcomes[n][20] == alone.outcomes[n] for n in ASKED)
    with pytest.warns(UserWarning, match="100 steps"):
        half = gs.simulate(CRAFT, q, v, (0.0, 2.0), max_steps=100, **given)
    on = gs.simulate(CRAFT, resume=half)
    assert (on.final[0] == whole.final[0]).all() and on.data.attrs["precision"] == "single"


def test_sampled_laws_events_constraints_and_masses_of_each_run():
    q, v = np.tile(gs.neutral(CRAFT), (9, 1)), np.zeros((9, CRAFT.nv))
    v[:, 6] = np.linspace(0.05, 0.1, 9)
    mass = {"base.mass": np.linspace(1000.0, 1500.0, 9)}
    turned = gs.When(lambda craft, t, q, v: q[7] - 0.02, "turned", effect=lambda craft, t, q, v: (q, 0.5 * v))
    sampled = gs.Controller(law, period=0.1)
    exact, single = both(q, v, 3.0, control=sampled, parameters=mass, events=turned)
    times = [np.array([e.t for e in traj.events]) for traj in (exact, single)]
    assert len(times[0]) == len(times[1]) >= 9 and np.abs(times[0] - times[1]).max() < 1e-5
    assert 0 < np.abs(exact.q - single.q).max() < 1e-6
    loop = gs.constraints.grasped(CRAFT, 0.0, q[0], point("N", CRAFT.bodies[-1].name))
    exact, single = both(q[0], np.zeros(CRAFT.nv), 3.0, constraints=[loop])
    assert 0 < np.abs(exact.q - single.q).max() < 1e-5
    assert np.abs(np.concatenate([np.ravel(x) for x in single.constraint_residuals()])).max() < 1e-5


def noisy(craft, t, q, v, run, seed):
    return Imperfection(noise=1.0, channel="x")(np.zeros(CRAFT.nv), Place(seed, run, 1))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"precision": "half"}, "precision 'half' is not known"),
        ({"step": None, "integrator": None}, "Give a fixed step="),
        ({"integrator": "gauss6"}, "integrator 'gauss6' solves equations to round-off"),
        ({"sensitivities": ["v0"]}, "sensitivities"),
        ({"control": noisy}, "random numbers"),
        ({"control": lambda craft, t, q, v: np.zeros(12) + float(q[7])}, "from Python"),
        ({"device": "cuda"}, "is for the CPU"),
    ],
)
@pytest.mark.filterwarnings("ignore::gyrostat.simulation.SimulationWarning")
def test_what_cannot_be_is_refused_by_name(options, words):
    given = {"control": law, "precision": "single", **STEP, **options}
    with pytest.raises(ValueError, match=words):
        gs.simulate(CRAFT, t_span=(0.0, 1.0), **given)
