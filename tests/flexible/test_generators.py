"""Beams, plates and trusses as bodies of a craft, against closed forms."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.linalg import eigh

import gyrostat as gs
from gyrostat.algebra import cos, sin, where
from gyrostat.structures import Bar, PlateSection, Section
from shared_files import shared


def _tip(body, q):
    """How far the tip is off the axis, in m, for q (..., nq)."""
    mount = body.mount("tip")
    return np.array([mount.place(e)[1] for e in np.atleast_2d(q[..., body.q_at])])


def _coupled(craft):
    """Frequencies in Hz that are not zero, at rest."""
    K = np.zeros((craft.nv, craft.nv))
    for body in filter(None, (craft.flexible(b.name) for b in craft.bodies)):
        K[body.v_at, body.v_at] = body.stiffness
    squares = eigh(K, gs.mass_matrix(craft, gs.neutral(craft)), eigvals_only=True)
    return np.sqrt(squares[squares > 1e-3]) / (2 * np.pi)


@pytest.fixture(scope="module")
def closed_form():
    return json.loads(shared("data/boom_small.json").read_text())


def _hub_and_boom(given, modes, **options):
    m = given["model"]
    hub = gs.Body("hub", m["hub"]["mass"], inertia=(200.0, 250.0, m["hub"]["Izz"]))
    b = m["boom"]
    section = Section(b["EA"], b["EI"], b["EI"], 100.0, b["mass"] / b["length"])
    root = gs.Joint("root", "fixed", "hub", b["root"])
    boom = gs.beam("boom", b["length"], section, modes=modes, motions=["y"], elements=80, joint=root, **options)
    return gs.Spacecraft.build("c", [hub, boom])


def test_a_boom_on_a_free_hub_rings_at_the_roots_of_the_closed_form(closed_form):
    craft = _hub_and_boom(closed_form, 12, stiffening=False)
    assert craft.flexible("boom").clamped.frequencies[:3] == pytest.approx(closed_form["clamped_free_Hz"][:3], rel=1e-6)
    assert _coupled(craft)[-12:-9] == pytest.approx(closed_form["system_Hz"][:3], rel=1e-5)


@pytest.mark.parametrize(("modes", "within"), [(4, 1e-3), (12, 1e-5)])
def test_a_pulse_on_the_hub_moves_hub_and_tip_as_the_closed_form(closed_form, modes, within):
    craft = _hub_and_boom(closed_form, modes, stiffening=modes < 12)
    T0 = 0.1 * closed_form["T0"]  # the closed form is linear: at full torque the spin changes phases by 6e-5 in 30 s

    def pulse(craft, t, q, v):
        torque = where(t < 2.0, T0 * sin(0.5 * np.pi * t) ** 2, 0.0 * t)
        return np.array([0.0, 0.0, torque, 0.0, 0.0, 0.0, *[0.0] * modes])

    exact = 0.1 * np.array(closed_form["y"])
    for row in (13, 77, 300):
        span = (0.0, closed_form["time"][row])
        run = gs.simulate(craft, gs.neutral(craft), np.zeros(craft.nv), t_span=span, control=pulse, rtol=1e-12)
        q, v = run.q[-1], run.v[-1]
        found = np.array([2 * np.arctan2(q[3], q[0]), v[2], _tip(craft.flexible("boom"), q)[0]])
        assert np.abs(found - exact[row]) / np.abs(exact).max(axis=0) == pytest.approx(0.0, abs=within)


def test_a_beam_that_is_spun_up_stiffens_and_without_second_order_shapes_diverges():
    """Kane, Ryan and Banerjee (1987); L 10 m, EI 1.4e4 N m^2, 1.2 kg/m, to 6 rad/s in 15 s. A chain of 120 bars:
    -0.468 m at 5 s, -0.363 m at 10 s, largest -0.574 m.
    """

    def spun(stiffening, end, terms="all"):
        section = Section(2.8e7, 1.4e4, 1.4e4, 1e4, 1.2)
        root = gs.Joint("root", "revolute", "wall", axis=(0, 0, 1))
        beam = gs.beam("beam", 10.0, section, modes=3, motions=["y"], joint=root, stiffening=stiffening, terms=terms)
        wall = gs.Body("wall", 1.0, inertia=(1, 1, 1), joint=gs.Joint("wall", "fixed"))
        craft = gs.Spacecraft.build("c", [wall, beam])
        spin = {"root": lambda t: 0.4 * (1.0 - cos(2.0 * np.pi * t / 15.0))}
        run = gs.simulate(craft, gs.neutral(craft), np.zeros(craft.nv), t_span=(0.0, end), prescribed=spin, rtol=1e-9)
        return run.time, _tip(craft.flexible("beam"), run.q)

    t, tip = spun(True, 10.0)
    assert np.interp(5.0, t, tip) == pytest.approx(-0.468, rel=1e-2) and tip[-1] == pytest.approx(-0.363, rel=1e-2)
    assert tip.min() == pytest.approx(-0.574, rel=1e-2)
    assert tip.min() == pytest.approx(-0.576, abs=1e-3) and t[tip.argmin()] == pytest.approx(6.77, abs=0.03)
    _, few = spun(True, 10.0, "leading")
    assert few.min() == pytest.approx(-0.574, rel=1e-2) and few[-1] == pytest.approx(-0.363, rel=1e-2)
    assert spun(False, 10.0)[1][-1] < -10.0


def test_a_heavy_payload_needs_shapes_of_its_node():
    section = Section(1e5, 1724.4555, 1724.4555, 100.0, 10.0 / 6.0)

    def ringing(modes, interfaces):
        boom = gs.beam("boom", 6.0, section, modes=modes, motions=["y"], interfaces=interfaces, elements=40,
                       joint=gs.Joint("wall", "fixed"), stiffening=False)  # fmt: skip
        load = gs.Body("load", 20.0, inertia=(2.0, 2.0, 2.0), joint=gs.Joint("grip", "fixed", "boom.tip"))
        return _coupled(gs.Spacecraft.build("c", [boom, load]))[:3]

    both = {"tip": ("y", "rz")}
    exact = ringing(24, both)
    few, free = np.abs(ringing(4, both) / exact - 1), np.abs(ringing(12, None) / exact - 1)
    assert (few < [1e-6, 1e-5, 1e-4]).all() and free[2] > 0.03


def test_a_flexible_arm_on_a_free_base_keeps_momentum_and_energy():
    section = Section(1e6, 400.0, 300.0, 200.0, 1.5)
    hub = gs.Body("hub", 50.0, (0.02, 0.01, -0.03), (8.0, 9.0, 10.0))
    shoulder = gs.Joint("shoulder", "revolute", "hub", (0.4, 0.1, 0.2), axis=(0, 0.6, 0.8))
    upper = gs.beam("upper", 2.0, section, modes=2, elements=8, joint=shoulder)
    elbow = gs.Joint("elbow", "revolute", "upper.tip", axis=(0, 1, 0))
    lower = gs.beam("lower", 1.5, section, modes=2, elements=8, joint=elbow)
    craft = gs.Spacecraft.build("c", [hub, upper, lower])
    rng = np.random.default_rng(3)
    v = 0.3 * rng.normal(size=craft.nv)
    run = gs.simulate(craft, gs.neutral(craft), v, t_span=(0.0, 10.0), rtol=1e-13)
    assert max(run.audit.linear, run.audit.angular, run.audit.energy) < 1e-12
    assert np.abs(run.q[:, craft.flexible("upper").q_at]).max() > 0.01


def test_plates_and_trusses_are_bodies_with_their_mass_and_frequencies():
    bar = Bar(1e6, 0.2)
    for body, mass in (
        (gs.plate("p", 3.0, 1.2, PlateSection(200.0, 1e6, 0.3, 4.0), modes=3, elements=(5, 3)), 4.0 * 3.0 * 1.2),
        (gs.truss_boom("t", 5.0, 0.2, 6, bar, bar, bar, joint_mass=0.1, modes=3), None),
    ):
        assert mass is None or body.mass == pytest.approx(mass, rel=1e-12)
        assert body.modal_mass == pytest.approx(np.diag(np.diag(body.modal_mass)), abs=1e-9 * body.modal_mass.max())
        assert (np.diff(body.clamped.frequencies) >= -1e-9).all() and body.clamped.frequencies[0] > 0
        craft = gs.Spacecraft.build("c", [body, gs.Body("load", 1.0, inertia=(1, 1, 1), joint=gs.Joint("g", "fixed", f"{body.name}.tip"))])  # fmt: skip # noqa: E501
        assert (np.linalg.eigvalsh(gs.mass_matrix(craft, gs.neutral(craft))) > 0).all()


def test_bad_structures_are_refused_by_name():
    section = Section(1e6, 400.0, 300.0, 200.0, 1.5)
    with pytest.raises(ValueError, match="station 'far' is at 3.0 m"):
        gs.beam("b", 2.0, section, stations={"far": 3.0})
    with pytest.raises(ValueError, match="beam 'b': length is -1"):
        gs.beam("b", -1.0, section)
    with pytest.raises(ValueError, match="there is no station 'tap'"):
        gs.beam("b", 2.0, section, interfaces={"tap": ("y",)})
    with pytest.raises(ValueError, match="frame 9"):
        gs.truss_boom("t", 5.0, 0.2, 6, Bar(1e6, 0.2), Bar(1e6, 0.2), Bar(1e6, 0.2), stations={"tip": 9})
