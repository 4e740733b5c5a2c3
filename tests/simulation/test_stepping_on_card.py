"""gs.Simulation on a card is the one on the CPU, to the integrator's rounding. The card is the text compiled as C++
(helpers/host_card.py).
"""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
import manoeuvre
from controllers import LAWS
from gyrostat.simulation import SimulationWarning
from host_card import REAL, needs_gxx, put_in_place

RUNS = 5


@pytest.fixture
def card(monkeypatch):
    return put_in_place(monkeypatch)


def starts():
    craft, q, v = manoeuvre.start()
    rng = np.random.default_rng(5)
    q = q + np.concatenate([np.zeros((RUNS, 7)), 0.1 * rng.normal(size=(RUNS, 6))], axis=1)
    return craft, q, v + 0.02 * rng.normal(size=(RUNS, 12))


def both(craft, **options):
    return [gs.Simulation(craft, runs=RUNS, device=device, **options) for device in ("cuda", None)]


def agree(on, cpu, tolerance=1e-11):
    np.testing.assert_array_equal(on.t, cpu.t)
    for name in ("q", "v"):
        np.testing.assert_allclose(getattr(on, name), getattr(cpu, name), rtol=0, atol=tolerance)


@needs_gxx
@pytest.mark.parametrize("options", [{"integrator": "rk4", "step": 0.02}, {"integrator": "dop853", "rtol": 1e-11}])
def test_loads_from_python_resets_snapshots_and_audit(card, options):
    """Each run with its own mass and load; some are put back; what is kept here goes on there."""
    craft, q, v = starts()
    name = f"{craft.bodies[3].name}.mass"
    masses = np.linspace(8.0, 12.0, RUNS)
    on, cpu = both(craft, parameters={name: masses}, **options)
    loads = np.random.default_rng(2).normal(size=(8, RUNS, craft.nv)) * 0.2
    loads[:, :, :6] = 0.0
    for sim in (on, cpu):
        sim.reset(q, v)
        for load in loads[:3]:
            sim.step(load, 0.1)
    agree(on, cpu)
    assert card.launches.count("go_on") >= 3
    kept, there = on.snapshot(), cpu.snapshot()
    for sim in (on, cpu):
        sim.advance(0.55)
        sim.reset(q[:2], v[:2], runs=[1, 3], parameters={name: masses[:2] + 1.0})
        for load in loads[3:]:
            sim.step(load, 0.05)
    agree(on, cpu)
    assert on.t[1] == 0.25 and on.t[0] == pytest.approx(0.8)
    on.restore(there)  # each goes on from where the other was
    cpu.restore(kept)
    for sim in (on, cpu):
        sim.step(loads[3], 0.1)
        sim.advance(0.5)
    agree(on, cpu)
    one, other = on.trajectory(), cpu.trajectory()
    # where chosen steps end, and are looked at, rounding moves
    bound = 1e-9 if "step" in options else 1e-2 if REAL else 1e-3
    np.testing.assert_allclose(one.data["audited"].values, other.data["audited"].values, rtol=0, atol=bound)
    assert max(one.audit.worst, other.audit.worst) < (1e-7 if "step" in options else 1e-9)


@needs_gxx
def test_under_a_sampled_law_with_noise_inputs_and_rows_of_every_step(card):
    craft, q, v = starts()
    options = {"control": LAWS["noisy"](), "inputs": {"gain": np.linspace(0.8, 1.2, RUNS)}, "seed": 7, "record": True}
    on, cpu = both(craft, integrator="rk4", step=0.05, **options)
    for sim in (on, cpu):
        sim.reset(q, v)
        for k in range(6):
            sim.step({"gain": np.full(RUNS, 1.0 + 0.05 * k)}, 0.1)
        sim.step(None, 0.07)  # between two samples
    agree(on, cpu)
    one, other = on.trajectory(), cpu.trajectory()
    assert one.time.shape == (8,)
    np.testing.assert_allclose(one.q, other.q, rtol=0, atol=1e-11)
    np.testing.assert_allclose(one.signals["command"], other.signals["command"], rtol=0, atol=1e-9)


@needs_gxx
def test_what_goes_wrong_is_told_as_on_the_cpu(card):
    craft, q, v = starts()
    on, cpu = both(craft, integrator="rk4", step=0.02)
    bad, wild = np.zeros((RUNS, craft.nv)), np.zeros((RUNS, craft.nv))
    bad[2, 7], wild[3, 8] = np.nan, 1e200
    said = []
    for sim in (on, cpu):
        sim.reset(q, v)
        before = sim.q
        with pytest.raises(ValueError, match="of run 2 is nan; expected finite numbers. Nothing has moved.") as error:
            sim.step(bad, 0.1)
        np.testing.assert_array_equal(sim.q, before)
        with pytest.warns(SimulationWarning, match="run 3: stopped at t = ") as warned:
            sim.step(wild, 0.1)
        with pytest.raises(RuntimeError, match="It cannot go on"):
            sim.step(wild, 0.1)
        sim.reset(q[3], v[3], runs=[3])
        sim.step(np.zeros(craft.nv), 0.1)
        said.append((str(error.value), str(warned[0].message)))
    assert said[0] == said[1]
    agree(on, cpu)
    with pytest.raises(RuntimeError, match="max_steps=3 attempted steps were not enough"):
        few = gs.Simulation(craft, integrator="rk4", step=0.02, max_steps=3, device="cuda")
        few.reset(q[0], v[0])
        few.step(np.zeros(craft.nv), 1.0)


def test_what_the_card_cannot_do_is_refused_by_name(monkeypatch):
    put_in_place(monkeypatch)
    craft, _, _ = manoeuvre.start()
    for more, message in (
        ({"integrator": "gauss16"}, "device='cuda' cannot run integrator 'gauss16'"),
        ({"events": lambda craft, t, q, v: q[7]}, "gs.Simulation has no events there"),
        ({"threads": 2}, "threads= are those of the CPU"),
        ({"device": "tpu"}, "device is 'tpu'; expected \"cuda\""),
    ):
        with pytest.raises(ValueError, match=message):
            gs.Simulation(craft, **{"device": "cuda", **more})
