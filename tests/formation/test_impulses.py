"""Impulses in the midst of a controlled flight: the same as jumps of the velocity by events, whoever sees whom."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from formation_crafts import armed, box
from gyrostat.algebra import rotation
from gyrostat.control.transfers import Impulse
from gyrostat.environment.hill import hill_frame
from gyrostat.formation import Coupling, Formation, simulate, simulate_impulses
from random_trees import random_state

ORBIT = gs.Orbit.circular(altitude=500e3, inclination=0.9)


def remembering(craft, t, q, v, z, q_other):
    """An integral of the distance, through the arm's motors and the thrusters of the base."""
    R = rotation(q[:4])
    return np.concatenate([-0.2 * v[:3], 0.3 * (R.T @ z), -0.1 * v[6:] + 0.05 * z[0]])


MEMORIES = {
    "continuous": gs.Controller(
        remembering, np.zeros(3), lambda craft, t, q, v, z, q_other: q_other[4:7] - q[4:7] - 0.3 * z
    ),
    "sampled": gs.Controller(
        remembering, np.zeros(3), update=lambda craft, t, q, v, z, q_other: 0.8 * z + q_other[4:7] - q[4:7], period=0.35
    ),
}


def pair() -> tuple[Formation, dict]:
    formation = Formation({"a": armed(), "b": box()}, orbit=ORBIT)
    return formation, formation.state({n: random_state(formation.craft(n), k, 0.3) for k, n in enumerate(formation)})


@pytest.mark.parametrize("memory", MEMORIES)
def test_laws_remember_across_impulses(memory):
    """Memory, samples and lagging motors go on: the flight is that of an event which adds the same velocity."""
    formation, state = pair()
    when, dv = (1.2, 2.05), np.array([[0.3, -0.1, 0.2], [0.0, 0.4, 0.1]])
    options = {
        "control": {"a": Coupling(MEMORIES[memory], {"other": "b"})},
        "actuators": {"a": gs.Actuators(lag=0.3)},
        "rtol": 1e-12,
        "atol": 1e-13,
        "save_at": np.array([1.0, 1.7, 3.0]),
    }
    impulses = {"a": [Impulse(t, d) for t, d in zip(when, dv, strict=True)]}
    flown = simulate_impulses(formation, state, (1, 3), impulses, **options)

    def kick(k):
        change = hill_frame(*ORBIT.state(when[k])).R_NH @ dv[k]

        def effect(craft, t, q, v):
            return q, np.concatenate([v[:3], v[3:6] + rotation(q[:4]).T @ change, v[6:]])

        return gs.When(lambda craft, t, q, v: t - when[k], f"kick {k}", effect=effect)

    expected = simulate(formation, state, (1, 3), events={"a": [kick(0), kick(1)]}, **options)
    assert flown.ok and expected.ok
    for g in formation.groups:
        np.testing.assert_allclose(flown.groups[g].q, expected.groups[g].q, atol=1e-9)
        np.testing.assert_allclose(flown.groups[g].v, expected.groups[g].v, atol=1e-9)
        np.testing.assert_allclose(flown.groups[g].data["impulse"], expected.groups[g].data["impulse"], atol=1e-8)
        np.testing.assert_allclose(flown.groups[g].data["work"], expected.groups[g].data["work"], atol=1e-8)
        assert flown.groups[g].audit.worst < 1e-9


def test_a_flight_that_an_event_ends_is_not_flown_on():
    formation, state = pair()
    stop = gs.When(lambda craft, t, q, v: t - 1.5, "enough", terminal=True)
    impulses = {"b": [Impulse(t, np.array([0.1, 0.0, 0.0])) for t in (1.2, 2.0)]}
    times = [1.0, 1.3, 1.6, 2.5]
    run = simulate_impulses(formation, state, (1, 3), impulses, events={"b": stop}, save_at=times)
    assert [event.name for event in run.events] == ["enough"]
    assert len(run.legs) == 2
    np.testing.assert_array_equal(run.time, times)
    np.testing.assert_array_equal(np.isnan(run.groups["b"].q[0, :, 0]), [False, False, True, True])


def test_what_impulses_cannot_do_is_said():
    formation, state = pair()
    many = {g: (np.stack([q, q]), np.stack([v, v])) for g, (q, v) in state.items()}
    with pytest.raises(ValueError, match="flies one run, not a batch"):
        simulate_impulses(formation, many, (0, 1), {})
    run = simulate_impulses(formation, state, (0, 1), {"b": [Impulse(0.5, np.ones(3))]})
    with pytest.raises(ValueError, match="a flight with impulses is not continued"):
        simulate(formation, resume=run, t_span=(0, 2))
