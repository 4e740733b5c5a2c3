"""Runs on a card are those of the CPU, to the integrator's rounding: laws with memory and noise, events, outcomes, what
each run has of its own. The card is the text compiled as C++ (helpers/host_card.py).
"""

from __future__ import annotations

import importlib.util
from dataclasses import replace

import numpy as np
import pytest

import gyrostat as gs
import manoeuvre
from controllers import LAWS
from gyrostat.simulation import SimulationWarning
from gyrostat.simulation.engine import cuda_loop, on_card
from gyrostat.simulation.integrators.methods import METHODS
from host_card import needs_gxx, no_card, put_in_place
from same_trajectory import same

RUNS = 5
SAVE = np.linspace(0, 6, 13)
OPTIONS = {
    "dop853": {"integrator": "dop853", "rtol": 1e-11, "atol": 1e-13},
    "rk45": {"integrator": "rk45", "rtol": 1e-10, "atol": 1e-12},
    "rk4": {"integrator": "rk4", "step": 0.1},
}


@pytest.fixture
def card(monkeypatch):
    return put_in_place(monkeypatch)


def starts(count=RUNS):
    craft, q, v = manoeuvre.start()
    rng = np.random.default_rng(5)
    q = q + np.concatenate([np.zeros((count, 7)), 0.1 * rng.normal(size=(count, 6))], axis=1)
    return craft, q, v + 0.02 * rng.normal(size=(count, 12))


def happened(craft, t, q, v):
    return q[7] - 0.31


def agree(card, cpu, tolerance):
    """States, what laws remember, integrals, outcomes, and events."""
    for name in cpu.data.data_vars:
        expected = cpu.data[name].values
        if expected.dtype == float:
            found, bound = card.data[name].values, tolerance
            if name == "audited":  # what was looked at depends on where steps end, which rounding moves
                alike = card.state.steps == cpu.state.steps
                np.testing.assert_array_equal(found[alike, 0], expected[alike, 0])
                found, expected, bound = found[:, 1:], expected[:, 1:], 1e-3
            scale = max(np.abs(expected[np.isfinite(expected)]).max(initial=0.0), 1.0)
            np.testing.assert_allclose(found, expected, rtol=0, atol=bound * scale, err_msg=name)
    assert [(e.run, e.name) for e in card.events] == [(e.run, e.name) for e in cpu.events]
    np.testing.assert_allclose([e.t for e in card.events], [e.t for e in cpu.events], rtol=0, atol=tolerance)
    assert card.status == cpu.status
    for name, value in cpu.outcomes.items():
        np.testing.assert_allclose(card.outcomes[name], value, rtol=0, atol=1e3 * tolerance, err_msg=name)


@needs_gxx
@pytest.mark.parametrize(("law", "method"), [("noisy", "rk4"), ("sampled", "dop853"), ("adaptive", "rk45")])
def test_runs_with_laws_and_events_are_those_of_the_cpu(card, law, method):
    craft, q, v = starts()
    more = {"control": LAWS[law](), "save_at": SAVE, "events": happened, "breakpoints": [2.3], **OPTIONS[method]}
    if law == "noisy":
        more |= {"inputs": {"gain": np.linspace(0.8, 1.2, RUNS)}, "seed": 7}
    on, cpu = (gs.simulate(craft, q, v, (0, 6), device=device, **more) for device in ("cuda", None))
    assert len(cpu.events) >= 1 and "integrate" in card.launches
    agree(on, cpu, 1e-9)


@needs_gxx
def test_outcomes_and_dispersed_masses(card):
    """Extremes, integrals and times, reduced in the kernel; each run with its own mass."""
    craft, q, v = starts()
    outcomes = {
        "largest": gs.outcomes.largest(gs.outcomes.body_rate()),
        "integral": gs.outcomes.integral(lambda craft, t, q, v: v[6] * v[6]),
        "when": gs.outcomes.time_of(lambda craft, t, q, v: v[7]),
        "settled": gs.outcomes.settling_time(gs.outcomes.body_rate(), 0.01),
        "last": gs.outcomes.last(lambda craft, t, q, v: q[8]),
    }
    own = {"parameters": {f"{craft.bodies[3].name}.mass": np.linspace(8.0, 12.0, RUNS)}, "outcomes": outcomes}
    more = {"control": manoeuvre.pd, "save_at": [6.0], **OPTIONS["rk4"], **own}
    on, cpu = (gs.simulate(craft, q, v, (0, 6), device=device, **more) for device in ("cuda", None))
    agree(on, cpu, 1e-12)
    assert np.ptp(on.outcomes["largest"]) > 0


@needs_gxx
def test_terminal_events_and_effects(card):
    """One run stops there, in another a joint is thrown back; a third never comes there."""
    craft, q, v = starts(3)
    q[:, 7], v[:, 6] = [0.2, 0.2, 0.2], [0.05, 0.0, -0.05]

    def back(craft, t, q, v):
        return q, v * np.where(np.arange(craft.nv) == 6, -1.0, 1.0)

    for more in ({"terminal": True}, {"effect": back}):
        event = gs.When(lambda craft, t, q, v: q[7] - 0.3, "there", **more)
        both = (
            gs.simulate(craft, q, v, (0, 6), events=event, save_at=SAVE, device=device, **OPTIONS["dop853"])
            for device in ("cuda", None)
        )
        on, cpu = both
        assert len(cpu.events) >= 1
        agree(on, cpu, 1e-9)


@needs_gxx
def test_an_error_in_an_effect_keeps_all_runs_up_to_it(card):
    """They were lost. Once it is mended they go on there, and on the CPU."""
    craft, q, v = starts(3)
    q[:, 7], v[:, 6] = [0.2, 0.2, 0.2], [0.05, 0.0, -0.05]

    def broken(craft, t, q, v):
        raise ZeroDivisionError("no effect")

    def back(craft, t, q, v):
        return q, v * np.where(np.arange(craft.nv) == 6, -1.0, 1.0)

    event = gs.When(lambda craft, t, q, v: q[7] - 0.3, "there", effect=broken)
    right = {"events": gs.When(event.function, "there", effect=back)}
    with pytest.raises(ZeroDivisionError, match="no effect") as caught:
        gs.simulate(craft, q, v, (0, 6), events=event, save_at=SAVE, device="cuda", **OPTIONS["dop853"])
    part = caught.value.trajectory
    whole = gs.simulate(craft, q, v, (0, 6), save_at=SAVE, device="cuda", **right, **OPTIONS["dop853"])
    met = min(event.t for event in whole.events)
    assert part.interrupted and part.status[0] == "running" and 0.5 * met < part.t_end[0] < met
    same(whole, gs.simulate(craft, resume=part, device="cuda", **right))
    agree(gs.simulate(craft, resume=part, **right), whole, 1e-9)


@needs_gxx
def test_the_same_bits_in_any_shares_of_work(card, monkeypatch):
    """Of steps in a launch, of attempts in all: interrupted, resumed on the card, and on the CPU."""
    craft, q, v = starts()
    more = {"control": LAWS["sampled"](), "save_at": SAVE, "events": happened, **OPTIONS["dop853"]}
    whole = gs.simulate(craft, q, v, (0, 6), device="cuda", **more)
    monkeypatch.setattr(on_card, "SHARE", 7)
    launches = len(card.launches)
    same(whole, gs.simulate(craft, q, v, (0, 6), device="cuda", **more))
    assert len(card.launches) - launches > 5
    with pytest.warns(SimulationWarning):
        part = gs.simulate(craft, q, v, (0, 6), device="cuda", max_steps=20, **more)
    assert set(part.status) == {"running"}
    same(whole, gs.simulate(craft, t_span=(0, 6), resume=part, device="cuda"))
    agree(gs.simulate(craft, t_span=(0, 6), resume=part), whole, 1e-9)


@needs_gxx
@no_card
def test_steps_in_registers_are_those_of_the_loop(card, monkeypatch):
    """Bit for bit, saves between the steps and looks of the audit included; a run that blows up says when."""

    def law(craft, t, q, v, gain):
        return np.concatenate([np.zeros(6), gain * (manoeuvre.KP * (manoeuvre.START - q[7:]) - manoeuvre.KD * v[6:])])

    craft, q, v = starts()
    own = {"parameters": {f"{craft.bodies[3].name}.mass": np.linspace(8.0, 12.0, RUNS)}}
    own["inputs"] = {"gain": np.array([1.0, 0.5, 2.0, 1.0, 3e4])}
    more = {"control": law, "save_at": [0.33, 2.0, 6.0], "breakpoints": [1.23], **OPTIONS["rk4"], **own}
    found, asked, quickly = [], [], cuda_loop.steps_in_registers
    for quick in (True, False):
        told = lambda *a, quick=quick, **k: asked.append((a, quickly(*a, **k))) or quick
        monkeypatch.setattr(cuda_loop, "steps_in_registers", told)
        with pytest.warns(SimulationWarning):
            found.append(gs.simulate(craft, q, v, (0, 6), device="cuda", **more))
    same(*found)
    (system, rk4), answer = asked[0]
    assert answer is True and not quickly(system, rk4, fixed=False)
    assert not any(quickly(system, METHODS[name], fixed=True) for name in ("dop853", "rk45", "gauss6"))
    assert not quickly(replace(system, specs=(1,)), rk4, fixed=True)
    other = replace(rk4, weights=lambda theta: [0.0, theta, 0.0, 0.0, 0.0])  # no cubic through both ends
    assert [quickly(replace(system, tracked=(1,)), m, fixed=True) for m in (rk4, other)] == [True, False]
    assert found[0].status == ("done",) * 4 + ("not_finite",)
    with pytest.warns(SimulationWarning):
        cpu = gs.simulate(craft, q, v, (0, 6), **more)
    assert cpu.status == found[0].status
    np.testing.assert_array_equal(cpu.state.steps, found[0].state.steps)
    np.testing.assert_allclose(found[0].q[:4], cpu.q[:4], rtol=0, atol=1e-11)


@needs_gxx
@no_card
def test_outcomes_in_registers_are_those_of_the_loop(card, monkeypatch):
    """Extremes within steps, changes of sign and integrals, over stops at which loads jump; nearly all steps in
    registers.
    """

    def law(craft, t, q, v):
        jump = gs.algebra.where(t < 1.23, 1.0, -0.5)
        return np.concatenate([np.zeros(6), jump * manoeuvre.KP * (manoeuvre.START - q[7:]) - manoeuvre.KD * v[6:]])

    def rate(craft, t, q, v):
        return v[7] - 0.003

    craft, q, v = starts()
    kinds = ("largest", "smallest", "integral", "time_of", "time_in")
    outcomes = {name: getattr(gs.outcomes, name)(rate) for name in kinds}
    outcomes["settled"] = gs.outcomes.settling_time(lambda craft, t, q, v: v[7] * v[7], 1e-4)
    own = {"parameters": {f"{craft.bodies[3].name}.mass": np.linspace(8.0, 12.0, RUNS)}, "outcomes": outcomes}
    more = {"control": law, "save_at": [0.33, 6.0], "breakpoints": [1.23], "integrator": "rk4", "step": 0.02, **own}
    found, texts, written = [], [], on_card.loop_text
    monkeypatch.setattr(on_card, "loop_text", lambda *a, **k: texts.append(written(*a, **k)) or counting(texts[-1]))
    for quick in (True, False):
        if not quick:
            monkeypatch.setattr(cuda_loop, "steps_in_registers", lambda *a, **k: False)
        found.append(gs.simulate(craft, q, v, (0, 6), device="cuda", **more))
    assert "fixed_steps" in texts[0] and "fixed_steps" not in texts[1]
    module = next(m for text, m in card.texts.items() if "fixed_steps" in text)
    assert 0 < module.counted() < 0.2 * found[0].state.steps.sum()
    agree(*found, 1e-13)
    agree(found[0], gs.simulate(craft, q, v, (0, 6), **more), 1e-11)
    assert all(len(set(found[0].outcomes[name])) > 2 for name in outcomes)


def counting(text):
    """Steps that the loop makes, one at a time, are counted."""
    counted = 'static long steps_of_loop = 0; extern "C" long counted() { return steps_of_loop; }\n'
    return counted + text.replace("if (advance(", "if (++steps_of_loop, advance(", 1)


@needs_gxx
def test_runs_that_fail_say_how(card):
    """One has no number in its load, one needs steps that are too small."""

    def law(craft, t, q, v, gain):
        return np.concatenate([np.zeros(6), gain / (2.0 - t) * np.ones(6)])

    craft, q, v = starts(3)
    inputs = {"gain": np.array([0.0, 1e-3, np.nan])}
    found = []
    for device in ("cuda", None):
        with pytest.warns(SimulationWarning):
            found.append(gs.simulate(craft, q, v, (0, 3), control=law, inputs=inputs, device=device, integrator="rk45"))
    assert found[0].status == found[1].status and len(set(found[0].status)) > 1


@needs_gxx
def test_a_campaign_on_the_card(card):
    craft, q, v = starts(1)
    spread = {f"{craft.bodies[2].name}.mass": gs.campaigns.scaled(gs.campaigns.normal(1.0, 0.05))}
    more = {"outcomes": {"rate": gs.outcomes.largest(gs.outcomes.body_rate())}, "control": manoeuvre.pd}
    more |= {"q0": q[0], "v0": v[0], "t_span": (0, 2), "seed": 3, **OPTIONS["rk4"]}
    on, cpu = (gs.campaign(craft, spread, 6, executor=who, **more) for who in ("cuda", None))
    np.testing.assert_allclose(on.outcomes["rate"], cpu.outcomes["rate"], rtol=1e-11)
    assert np.ptp(on.outcomes["rate"]) > 0 and "integrate" in card.launches


def test_what_the_card_cannot_do_is_refused_by_name(monkeypatch):
    put_in_place(monkeypatch)
    craft, q, v = starts(1)
    for more, message in (
        ({"integrator": "gauss16"}, "device='cuda' cannot run integrator 'gauss16'"),
        ({"integrator": "gauss6", "step": 0.1}, "'gauss6', which solves for its stages"),
        ({"threads": 2}, "threads= are those of the CPU"),
        ({"device": "tpu"}, "device is 'tpu'; expected \"cuda\""),
    ):
        with pytest.raises(ValueError, match=message):
            gs.simulate(craft, q[0], v[0], (0, 1), **{"device": "cuda", **more})

    def python(craft, t, q, v):
        return np.array([float(x) for x in np.zeros(12) + q[0]])

    with pytest.warns(SimulationWarning), pytest.raises(ValueError, match="of this run would be called from Python"):
        gs.simulate(craft, q[0], v[0], (0, 1), control=python, device="cuda")


@pytest.mark.skipif(importlib.util.find_spec("cupy") is not None, reason="CuPy is here")
def test_where_there_is_no_cupy_a_message_says_how_to_install_it():
    craft, q, v = starts(1)
    with pytest.raises(ImportError, match=r"pip install 'gyrostat\[cuda\]'"):
        gs.simulate(craft, q[0], v[0], (0, 1), device="cuda")
    more = {"outcomes": {"rate": gs.outcomes.largest(gs.outcomes.body_rate())}, "t_span": (0, 1)}
    with pytest.raises(ImportError, match="CuPy is not installed"):
        gs.campaign(craft, {}, 2, executor="cuda", **more)
