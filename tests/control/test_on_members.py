"""`control.on`: a law for one member of craft put together acts as on that craft alone, and on nothing else."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat import control
from gyrostat.control import Encoders, Imperfection, Instruments, StarTracker
from laws import servicer_like, state

ONE, OTHER = servicer_like(1, arm=2, wheels=3), servicer_like(2, arm=3, wheels=0, panels=2)
BOTH = gs.together("both", [ONE, OTHER])
FIRST, SECOND = BOTH.members
STATES = [(ONE, *state(ONE, 1)), (OTHER, *state(OTHER, 2))]
Q, V = gs.joined_state(BOTH, STATES)
OPTIONS = {"rtol": 1e-12, "atol": 1e-12}  # a step of which both error estimates vanish by chance was met at 1e-10


def damper(craft, t, q, v):
    at = craft.at("driven")
    tau = np.zeros(craft.nv)
    return np.array([-3.0 * v[k] if k in at else x for k, x in enumerate(tau)])


def with_gain(craft, t, q, v, gain):
    return gain * damper(craft, t, q, v)


INTEGRAL = gs.Controller(
    lambda craft, t, q, v, z: np.array([-2.0 * z[0] if k == craft.at("driven")[0] else 0.0 for k in range(craft.nv)]),
    [0.1],
    derivative=lambda craft, t, q, v, z: v[craft.at("driven")[:1]],
)


def noisy(craft, t, q, v, z, run, sample, seed):
    shake = gs.tracing.normal(seed, run, sample, 3.0)
    return np.array([shake + z[0] if k == craft.at("driven")[0] else 0.0 for k in range(craft.nv)])


NOISY = gs.Controller(noisy, [0.0], update=lambda craft, t, q, v, z: z + v[craft.at("driven")[:1]], period=0.1)
HELD = gs.Controller(damper, period=0.1)


def alone(k, law, **more):
    craft, q, v = STATES[k]
    return gs.simulate(craft, q, v, (0, 1), control=law, **OPTIONS, **more)


def together(law, **more):
    return gs.simulate(BOTH, Q, V, (0, 1), control=law, **OPTIONS, **more)


def same(run, one=None, two=None):
    """Each member moves as it would alone under its law."""
    for k, (member, law) in enumerate(((FIRST, one), (SECOND, two))):
        expected = law if isinstance(law, gs.Trajectory) else alone(k, law)
        np.testing.assert_allclose(member.q(run.q[-1]), expected.q[-1], atol=1e-8)
        np.testing.assert_allclose(member.v(run.v[-1]), expected.v[-1], atol=1e-7)


@pytest.mark.parametrize("law", [damper, INTEGRAL, NOISY, HELD], ids=["plain", "continuous", "sampled", "held"])
def test_a_member_moves_as_alone_and_the_other_is_left_alone(law):
    same(together(control.on(ONE.name, law)), one=law)
    same(together(control.on(OTHER.name, law)), two=law)


@pytest.mark.parametrize(
    ("one", "two"),
    [(damper, damper), (damper, INTEGRAL), (INTEGRAL, INTEGRAL), (NOISY, HELD), (HELD, NOISY), (NOISY, NOISY)],
)
def test_several_members_have_a_law_each(one, two):
    law = control.on({ONE.name: one, OTHER.name: two})
    run = together(law)
    same(run, one, two)
    memories = [x.state0.size for x in (one, two) if isinstance(x, gs.Controller)]
    if isinstance(law, gs.Controller):
        assert law.state0.size == sum(memories)


def test_inputs_reach_the_laws_that_ask_for_them():
    both = control.on({ONE.name: with_gain, OTHER.name: damper})
    run = together(both, inputs={"gain": 0.5})
    same(run, alone(0, with_gain, inputs={"gain": 0.5}), damper)
    other = together(both, inputs={"gain": 2.0})
    assert np.abs(FIRST.q(other.q[-1]) - FIRST.q(run.q[-1])).max() > 1e-3
    with pytest.raises(TypeError, match="asks for 'gain', which this run does not have"):
        together(both)


def test_noise_is_that_of_the_runs_seed_and_number():
    law = control.on({ONE.name: NOISY, OTHER.name: HELD})
    first, again = together(law, seed=7), together(law, seed=8)
    same(first, alone(0, NOISY, seed=7), HELD)
    assert np.abs(first.q[-1] - again.q[-1]).max() > 1e-6
    batch = gs.simulate(BOTH, np.stack([Q, Q]), np.stack([V, V]), (0, 1), control=law, seed=7, **OPTIONS)
    np.testing.assert_allclose(batch.q[0, -1], first.q[-1], atol=1e-9)
    assert np.abs(batch.q[1, -1] - batch.q[0, -1]).max() > 1e-6


def test_a_law_knows_its_members_own_dispersed_masses():
    """A model-based law with the true, dispersed mass does as it claims; the model has another name for the body."""
    law = control.on(
        OTHER.name, lambda craft, t, q, v: control.commanded_loads(craft, q, v, "floating", joints=np.ones(3)).tau
    )
    name = SECOND.here("link_1")
    run = gs.simulate(BOTH, Q, V, (0, 0.5), control=law, parameters={f"{name}.mass": 25.0}, **OPTIONS)
    at = SECOND.v_at[OTHER.at("driven")]
    np.testing.assert_allclose(run.v[-1][at] - V[at], 0.5 * np.ones(3), atol=1e-8)


def test_instruments_and_gyros_work_for_a_member():
    sensing = Instruments(
        tracker=StarTracker(Imperfection(noise=1e-3, channel=1)), encoders=Encoders(Imperfection(noise=1e-3, channel=2))
    )
    law = sensing.controller(lambda craft, t, q, v: control.detumble_by_wheels()(craft, t, q, v), 0.1)
    same(together(control.on(ONE.name, law), seed=3), alone(0, law, seed=3))


def test_the_servicer_moves_its_tool_and_the_client_tumbles_on():
    """What pushed the client with 55 N m from nowhere."""
    servicer, client = gs.load("servicer"), gs.load("client")
    both = gs.together("b", [servicer, client])
    qs, qc = gs.neutral(servicer), gs.neutral(client)
    qs[7:], qc[4:7] = [0.3, -0.5, 0.8, 0.2, 0.4, -0.1], [10, 0, 0]
    spin = np.array([0.02, -0.01, 0.03, 0, 0, 0])
    q, v = gs.joined_state(both, [(servicer, qs, np.zeros(12)), (client, qc, spin)])
    X = gs.frame_pose(servicer, qs, "tool")
    path = control.line(X, X.p + [0.2, 0, 0], control.MinimumJerk(20.0))
    for law in (
        control.resolved_rate(path, control.Task("tool"), feedback=1.0),
        control.resolved_acceleration(path, control.Task("tool")),
    ):
        with pytest.raises(ValueError, match=r"is for one spacecraft; b holds 'servicer' and 'client'"):
            gs.simulate(both, q, v, (0, 20), control=law)
        run = gs.simulate(
            both, q, v, (0, 20), control=control.on("servicer", law), mode="floating", rtol=1e-9, atol=1e-9
        )
        assert not both.member("client").v(run.tau).any()
        h = run.momentum()
        assert np.abs(h[-1] - h[0]).max() < 1e-8
        miss = gs.frame_pose(both, run.q[-1], "tool").p - (X.p + [0.2, 0, 0])
        assert np.linalg.norm(miss) < 1e-4


def test_a_craft_alone_answers_to_its_own_name():
    np.testing.assert_array_equal(
        control.on(ONE.name, damper)(ONE, 0.0, *STATES[0][1:]), damper(ONE, 0.0, *STATES[0][1:])
    )


def test_what_cannot_be_is_refused_by_name():
    with pytest.raises(ValueError, match=r"both has no member 'craft_3'. Did you mean"):
        control.on("craft_3", damper)(BOTH, 0.0, Q, V)
    with pytest.raises(ValueError, match=r"the law on 'craft_1' gives tau of shape \(3,\); expected"):
        control.on("craft_1", lambda craft, t, q, v: np.zeros(3))(BOTH, 0.0, Q, V)
    with pytest.raises(ValueError, match="'craft_1' every 0.1 s, 'craft_2' at all times"):
        control.on({"craft_1": HELD, "craft_2": damper})
    with pytest.raises(ValueError, match="'craft_1' every 0.1 s, 'craft_2' every 0.2 s"):
        control.on({"craft_1": HELD, "craft_2": gs.Controller(damper, period=0.2)})
    with pytest.raises(TypeError, match="the law is missing"):
        control.on("craft_1")
    with pytest.raises(TypeError, match="not both"):
        control.on({"craft_1": damper}, damper)
    with pytest.raises(TypeError, match="the law for 'craft_1' is 3; expected a function"):
        control.on("craft_1", 3)
    with pytest.raises(ValueError, match="no law is given"):
        control.on({})


def test_a_law_keeps_its_name_and_words():
    """Messages about it say whose fault it is."""
    seen = control.on(FIRST.name, damper)
    assert seen.__name__ == "damper" and seen.__doc__ == damper.__doc__


def test_what_one_of_several_laws_requires_is_required_of_all():
    def asks(craft, t, q, v, gain):
        return gain * damper(craft, t, q, v)

    def has(craft, t, q, v, gain=2.0):
        return gain * damper(craft, t, q, v)

    for laws in ({"craft_1": asks, "craft_2": has}, {"craft_1": has, "craft_2": asks}):
        with pytest.raises(TypeError, match="asks for 'gain', which this run does not have"):
            gs.simulate(BOTH, Q, V, (0.0, 0.1), control=control.on(laws))
    both = control.on({"craft_1": has, "craft_2": has})
    run = gs.simulate(BOTH, Q, V, (0.0, 0.1), control=both)
    wanted = control.on({"craft_1": asks, "craft_2": asks})(BOTH, 0.0, Q, V, gain=2.0)
    np.testing.assert_allclose(run.signals["command"].values[0], wanted)
