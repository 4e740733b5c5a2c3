"""Whatever is dispersed acts, and does so alike alone, in blocks and in a batch; a law believes the nominal craft."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from flap_campaign import ANGLE, CRAFT, W, flap
from gyrostat import campaigns as c
from gyrostat import control, outcomes

ENERGY = {"energy": outcomes.last(outcomes.kinetic_energy())}


def same_alone_and_in_other_blocks(craft, spread, runs=9, **options):
    """The campaign, after its runs were made alone, and in blocks of another size."""
    given = {"t_span": (0.0, 0.5), "rtol": 1e-8, "seed": 5, "outcomes": ENERGY, "block": 4, **options}
    found = gs.campaign(craft, spread, runs, **given)
    other = gs.campaign(craft, spread, runs, **{**given, "block": 7})
    for name, x in found.outcomes.items():
        assert x.tobytes() == other.outcomes[name].tobytes()
        for k in (0, 5, runs - 1):
            assert found.case(k).outcomes[name][0].tobytes() == x[k].tobytes()
        assert len(np.unique(x)) == runs
    return found


@pytest.mark.parametrize("base", ["fixed", "spherical", "planar", "free"])
def test_states_on_every_base(base):
    craft = gs.load("servicer", base=base)
    root = craft.joints[0].name
    spread = {
        "fixed": {},
        "planar": {f"q0:{root}": c.normal(0.0, 0.1), f"v0:{root}": c.normal([0.1, 0.2, 0.3], 0.1)},
        "spherical": {f"attitude:{root}": c.attitude(), f"rate:{root}": c.normal(0.0, 0.1)},
        "free": {f"attitude:{root}": c.attitude(), f"v0:{root}": c.normal(0.0, 0.1)},
    }[base]
    same_alone_and_in_other_blocks(craft, {**spread, "v0:joint_2": c.normal(0.3, 0.1)})


def test_wheels_passive_joints_and_several_craft():
    hub = gs.Body("hub", 400.0, inertia=[90.0, 110.0, 100.0])
    panel = gs.Joint("panel", "revolute", "hub", (1, 0, 0), axis=(0, 1, 0), stiffness=20.0, damping=0.1, driven=False)
    flap_ = gs.Body("flap", 9.0, com=(0.7, 0, 0.1), inertia=[0.4, 2.0, 2.1], joint=panel)
    wheels = control.wheel_pyramid("hub", 0.1, max_torque=2.0, max_speed=600.0)
    craft = gs.Spacecraft.build("sat", [hub, flap_, *wheels])
    spread = {
        "v0:wheel_3": c.normal(0.0, 50.0),
        "q0:panel": c.normal(0.1, 0.05),
        "panel.stiffness": c.scaled(c.log_normal(1.0, 0.2)),
        "wheel_2.spin_inertia": c.scaled(c.uniform(0.9, 1.1)),
        "rate:base": c.direction(0.01),
    }
    same_alone_and_in_other_blocks(craft, spread)
    both = gs.together("both", [craft, gs.load("servicer")])
    roots = [joint.name for joint in both.joints if joint.motion.unbound]
    assert len(roots) == 2
    spread = {f"velocity:{roots[1]}": c.direction(0.2), f"rate:{roots[0]}": c.normal(0.0, 0.02)}
    same_alone_and_in_other_blocks(both, spread)


def test_gains_sensor_errors_environment_constants_and_the_time_of_an_event():
    def law(craft, t, q, v, gain, bias):
        return np.array([-gain * (v[0] + bias)])

    def wind(craft, t, q, v, push):
        return np.array([np.zeros(6), [0.0, 0.0, push, 0.0, 0.0, 0.0]])

    def kick(craft, t, q, v, moment):
        return t - moment

    event = gs.When(kick, effect=lambda craft, t, q, v: (q, v + 0.4))
    spread = {
        "input:gain": c.uniform(0.1, 0.3),
        "input:bias": c.normal(0.0, 0.02),
        "input:push": c.normal(0.0, 0.1),
        "input:moment": c.uniform(0.1, 0.4),
    }
    asked = {"angle": outcomes.last(ANGLE)}
    given = {"control": law, "environment": wind, "events": event, "outcomes": asked, "rtol": 1e-10}
    found = same_alone_and_in_other_blocks(CRAFT, spread, **given)
    for k, angle in enumerate(found.outcomes["angle"]):  # two linear arcs, joined by the kick
        own = {name.removeprefix("input:"): x[k] for name, x in found.values.items()}
        A = np.array([[0.0, 1.0], [-W * W, -own["gain"] / 0.7]])
        rest = -np.linalg.solve(A, [0.0, (own["push"] - own["gain"] * own["bias"]) / 0.7])
        x = np.zeros(2)
        for span, jump in ((own["moment"], 0.4), (0.5 - own["moment"], 0.0)):
            w, V = np.linalg.eig(A)
            x = rest + (V @ np.diag(np.exp(w * span)) @ np.linalg.inv(V)).real @ (x - rest) + [0.0, jump]
        assert angle == pytest.approx(x[0], abs=1e-9)


def gravity_law(craft, t, q, v):
    """Holds the flap by what it takes its inertia to be: critically damped about 0.2 for the craft that it believes."""
    I = gs.mass_matrix(craft, q)[0, 0]
    return np.array([-I * (4.0 * (q[0] - 0.2) + 4.0 * v[0]) + I * W * W * q[0]])


def test_a_law_believes_the_nominal_craft_unless_it_is_to_know_each():
    craft = flap()
    nominal = craft.with_values({"flap.inertia": [1.0, 0.0, 0.0, 1.5, 0.0, 0.7]})
    spread = {"flap.inertia": c.rows([[1.0, 0.0, 0.0, 1.5, 0.0, I] for I in (0.52, 0.7, 2.4)])}
    given = {"t_span": (0.0, 0.8), "seed": 1, "rtol": 1e-10, "outcomes": {"angle": outcomes.last(ANGLE)}}
    found = gs.campaign(nominal, spread, 3, control=gravity_law, **given)
    for k, I in enumerate((0.52, 0.7, 2.4)):  # I theta'' = tau - k theta, tau with I = 0.7
        A = np.array([[0.0, 1.0], [(-0.7 * W * W - 0.7 * (4.0 - W * W)) / I, -0.7 * 4.0 / I]])
        rest = -np.linalg.solve(A, [0.0, 0.7 * 0.8 / I])
        w, V = np.linalg.eig(A.astype(complex))
        if k == 1:  # a double eigenvalue: theta = rest (1 - (1 + 2 t) e^(-2 t)), t = 0.8
            exact = rest[0] * (1 - 2.6 * np.exp(-1.6))
        else:
            exact = (rest - V @ np.diag(np.exp(0.8 * w)) @ np.linalg.inv(V) @ rest).real[0]
        assert found.outcomes["angle"][k] == pytest.approx(exact, abs=1e-8)
        assert found.case(k).outcomes["angle"][0] == found.outcomes["angle"][k]
    knowing = gs.campaign(nominal, spread, 3, control=gravity_law, law_knows="truth", **given)
    assert np.abs(knowing.outcomes["angle"] - found.outcomes["angle"])[[0, 2]].min() > 0.005
    assert knowing.outcomes["angle"][1] == pytest.approx(found.outcomes["angle"][1], abs=1e-12)
    sampled = gs.Controller(gravity_law, period=0.002)
    held = [gs.campaign(nominal, spread, 3, control=sampled, law_knows=w, **given) for w in ("nominal", "truth")]
    assert held[0].outcomes["angle"] == pytest.approx(found.outcomes["angle"], abs=1e-3)
    assert held[1].outcomes["angle"] == pytest.approx(knowing.outcomes["angle"], abs=1e-3)
    with pytest.raises(ValueError, match="law_knows is 'true'; expected one of nominal, truth"):
        gs.campaign(nominal, spread, 3, control=gravity_law, law_knows="true", **given)


def test_what_is_scaled_is_the_value_given_to_all_runs():
    given = {"parameters": {"flap.mass": 5.0}, "t_span": (0, 0.1), "seed": 1, "outcomes": ENERGY}
    found = gs.campaign(CRAFT, {"flap.mass": c.scaled(c.uniform(0.9, 1.1))}, 20, **given)
    assert found.values["flap.mass"].min() > 4.5 and found.values["flap.mass"].max() < 5.5


def test_draws_that_no_craft_has_fail_by_name_and_stop_nobody():
    spread = {"flap.mass": c.normal(1.0, 0.8), "q0:hinge": c.uniform(0.1, 0.2)}
    given = {"t_span": (0, 0.5), "seed": 1, "outcomes": {"angle": outcomes.last(ANGLE)}, "block": 8}
    found = gs.campaign(CRAFT, spread, 40, **given, requirements=["angle < 1 in 90 % of runs"])
    negative = np.flatnonzero(found.values["flap.mass"] < 0)
    assert 1 <= len(negative) < 20 and list(found.failures) == list(negative)
    assert all("mass is -" in why for why in found.failures.values())
    assert set(np.flatnonzero(np.isnan(found.outcomes["angle"]))) == set(negative)
    assert found.verdicts[0].failing == len(negative)
    with pytest.raises(ValueError, match=f"run {negative[0]} cannot be flown.*mass is -"):
        found.case(int(negative[0]))


def test_a_rare_event_of_noise_alone():
    """The sum of sampled noises has a normal tail, though no dispersion moves it: noise is drawn anew along chains."""
    noise = control.Imperfection(noise=1.0, channel="x")
    push = lambda craft, t, q, v, run, sample, seed: noise(np.zeros(1), control.Place(seed, run, sample))
    free = CRAFT.with_values({"hinge.stiffness": 0.0})
    given = {
        "outcome": {"rate": outcomes.last(outcomes.Signal(lambda craft, t, q, v: v[0], "rate", "rad/s"))},
        "control": gs.Controller(push, period=1.0),
        "t_span": (0, 4),
        "rtol": 1e-6,
        "runs": 500,
    }
    spread = {"v0:hinge": c.normal(0.0, 1e-9)}
    found = [c.rare_event(free, spread, above=3.0 * np.sqrt(4.0) / 0.7, seed=k, **given) for k in range(4)]
    assert abs(np.log(np.mean([one.probability for one in found]) / 1.35e-3)) < 0.5
    with pytest.raises(ValueError, match="from rows"):
        c.rare_event(free, {"v0:hinge": c.rows(np.zeros(500))}, above=1.0, **given)


def test_runs_that_cannot_begin_fail_by_name_and_stop_nobody():
    """Some hinges begin where a rod from the inertial frame does not reach; the others go on, as they would alone."""
    craft = gs.load("servicer", base="fixed")
    tip = craft.bodies[-1].name
    q = gs.neutral(craft)
    rod = gs.constraints.grasped(craft, 0.0, q, gs.constraints.point("N", tip))
    given = {"t_span": (0.0, 0.2), "seed": 1, "outcomes": ENERGY, "constraints": [rod], "block": 8}
    spread = {"q0:joint_2": c.discrete([float(q[1]), 0.5], [2, 1]), "link_2.mass": c.scaled(c.normal(1.0, 0.1))}
    found = gs.campaign(craft, spread, 20, **given)
    open_ = np.flatnonzero(found.values["q0:joint_2"] == 0.5)
    assert 2 < len(open_) < 18 and list(found.failures) == list(open_)
    assert all("does not hold at the start" in why for why in found.failures.values())
    assert np.isfinite(found.outcomes["energy"]).sum() == 20 - len(open_)
    fewer = gs.campaign(craft, spread, 20, **{**given, "block": 3})
    assert fewer.outcomes["energy"].tobytes() == found.outcomes["energy"].tobytes()
    assert fewer.failures == found.failures
    with pytest.raises(ValueError, match="does not hold at the start"):  # none can: that is no matter of dispersions
        gs.campaign(craft, {"q0:joint_2": c.uniform(0.4, 0.5)}, 20, **given)
