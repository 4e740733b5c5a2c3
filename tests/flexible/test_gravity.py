"""Fields that pull every lump of a bent body: on its pose and on its shape, in runs whose audits close."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.environment import Orbit, combined, modal_loads, two_body_gravity, uniform_gravity, zonal_gravity
from gyrostat.kinematics import mass_at
from gyrostat.structures import Section
from simple_flexible import boom_craft


def _state(craft, size=0.2, seed=3):
    rng = np.random.default_rng(seed)
    q = gs.step_configuration(craft, gs.neutral(craft), size * rng.normal(size=craft.nv))
    return q, size * rng.normal(size=craft.nv)


def _pulled(body, e, field):
    """Force, torque about Bo, and load on the modes, summed over lumps; field(p) in B."""
    force, torque, load = np.zeros(3), np.zeros(3), np.zeros(body.n)
    for node, mount in zip(body.nodes, body.mounts, strict=True):
        p, slope, turn = mount.place(e), mount.slope(e), mount.turn(e)
        f = node.mass * field(p)
        G = np.column_stack([field(p + d) - field(p) for d in np.eye(3)])  # of a linear field
        J = turn.R @ node.inertia @ turn.R.T
        second = 0.5 * np.trace(J) * np.eye(3) - J
        t = sum(np.cross(second[:, k], G[:, k]) for k in range(3))
        force, torque = force + f, torque + np.cross(p, f) + t
        load = load + slope.T @ f + (turn.Jr @ mount.rotation).T @ (turn.R.T @ t)
    return force, torque, load


def test_a_field_does_to_modes_what_it_does_to_all_lumps():
    craft = boom_craft(rotary="exact")
    body, (q, _) = craft.flexible("boom"), _state(boom_craft(rotary="exact"), 0.4)
    g, G = np.array([0.3, -0.5, 0.8]), np.array([[0.2, 0.1, -0.3], [0.1, -0.5, 0.4], [-0.3, 0.4, 0.3]])
    m, c, J = mass_at(craft, q, "boom")
    R = gs.forward_kinematics(craft, q).R_NB[craft.index("boom")]
    for slope in (None, G):
        turned = None if slope is None else R @ slope @ R.T
        found = modal_loads(craft, lambda body, turned=turned: (R @ g, turned), q)
        force, torque, load = _pulled(body, q[body.q_at], lambda p, s=slope: g if s is None else g + s @ (p - c))
        assert found[body.v_at] == pytest.approx(load, abs=1e-13)
        assert not np.delete(found, range(*body.v_at.indices(craft.nv))).any()
        assert force == pytest.approx(m * g)
    second = 0.5 * np.trace(J) * np.eye(3) - J
    about_c = sum(np.cross(second[:, k], G[:, k]) for k in range(3))
    assert torque == pytest.approx(np.cross(c, m * g) + about_c, abs=1e-12)


def test_a_cantilever_hangs_by_its_weight_as_the_closed_form_says():
    section = Section(1e7, 400.0, 300.0, 200.0, 1.5)
    beam = gs.beam("b", 4.0, section, modes=6, motions=["y"], stiffening=False, joint=gs.Joint("wall", "fixed"))
    craft = gs.Spacecraft.build("c", [beam])
    hanging = gs.equilibrium(craft, gs.neutral(craft), environment=uniform_gravity([0.0, -0.02, 0.0]))
    tip = beam.mount("tip").translation[1] @ hanging.q[craft.flexible("b").q_at]
    assert tip == pytest.approx(-1.5 * 0.02 * 4.0**4 / (8 * 300.0), rel=1e-4)  # w L^4 / (8 E I)


@pytest.mark.parametrize(("rotary", "terms"), [("points", "all"), ("exact", "all"), ("points", "leading")])
def test_weight_has_a_potential_and_the_audit_closes(rotary, terms):
    craft = boom_craft(base="spherical", rotary=rotary, terms=terms)
    q, v = _state(craft, 0.1)
    run = gs.simulate(craft, q, v, t_span=(0.0, 3.0), environment=uniform_gravity([0.5, -1.0, -9.0]), rtol=1e-12)
    assert max(run.audit.linear, run.audit.angular, run.audit.energy) < 1e-9
    energy = run.kinetic_energy() + run.potential_energy()
    assert np.ptp(energy) < 1e-9 * np.abs(energy).max()


def test_in_an_orbit_the_craft_bends_as_its_lumps_are_pulled():
    """The centre of mass of free lumps that move far from each other: gravity of each, added; and the audit closes."""
    craft = boom_craft(damping_ratios=0.02)
    orbit = Orbit.circular(500e3)
    outer = combined(two_body_gravity(orbit), zonal_gravity(orbit, 2, gradient_torque=True))
    q, v = _state(craft, 0.1)
    run = gs.simulate(craft, q, v, t_span=(0.0, 20.0), environment=outer, rtol=1e-12)
    assert max(run.audit.linear, run.audit.angular, run.audit.energy) < 1e-10
    assert np.abs(run.q[:, craft.flexible("boom").q_at]).max() > 0.01


def test_the_gradient_bends_a_long_boom_by_what_statics_says():
    """A boom along the radius, held by the gradient: its lumps are pulled apart by 3 n^2 r, which stretches no shape of
    bending; turned by an angle a it bends by 3 n^2 m r sin a cos a across, from lumps alone.
    """
    section = Section(1e7, 3.0, 3.0, 200.0, 1.5)
    craft = gs.Spacecraft.build("c", [
        gs.Body("hub", 1e4, inertia=(1e5, 1e5, 1e5), joint=gs.Joint("base", "fixed")),
        gs.beam("b", 20.0, section, modes=3, motions=["y"], stiffening=False, joint=gs.Joint("root", "fixed", "hub")),
    ])  # fmt: skip
    orbit = Orbit.circular(500e3)
    r = np.asarray(orbit.state(0.0).r)
    out = np.array(r) / np.linalg.norm(r)
    across = np.cross([0.0, 0.0, 1.0], out) if abs(out[2]) < 0.9 else np.cross([0.0, 1.0, 0.0], out)
    across /= np.linalg.norm(across)
    a = 0.5
    x, y = np.cos(a) * out + np.sin(a) * across, -np.sin(a) * out + np.cos(a) * across
    body, n2 = craft.flexible("b"), orbit.planet.mu / np.linalg.norm(r) ** 3
    R = np.column_stack([x, y, np.cross(x, y)])
    turned = gs.Spacecraft.build("c", [
        gs.Body("hub", 1e4, inertia=(1e5, 1e5, 1e5), joint=gs.Joint("base", "fixed", rotation=R)), body,
    ])  # fmt: skip
    found = two_body_gravity(orbit).modal(turned, 0.0, gs.neutral(turned), np.zeros(turned.nv))
    field = n2 * (3.0 * np.outer(R.T @ out, R.T @ out) - np.eye(3))
    _, _, load = _pulled(body, np.zeros(3), lambda p: field @ p)
    assert found == pytest.approx(load, rel=2e-5)
    assert np.abs(load).max() > 1e-6
