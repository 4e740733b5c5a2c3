"""Flexible bodies where they meet everything else: exports, derivatives, steps by hand, closed loops, bases."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.environment import ContactLaw, Orbit, Plate, air_drag, contact_with_plane
from gyrostat.export import to_casadi
from gyrostat.verification import verify
from simple_flexible import boom, boom_craft


@pytest.fixture(scope="module")
def moving():
    craft = boom_craft(damping_ratios=0.02)
    rng = np.random.default_rng(11)
    q = gs.step_configuration(craft, gs.neutral(craft), 0.2 * rng.normal(size=craft.nv))
    return craft, q, 0.3 * rng.normal(size=craft.nv)


@pytest.mark.parametrize("base", ["fixed", "planar", "spherical", "free"])
def test_a_base_may_bend_itself_on_any_joint(base):
    own = boom(joint=gs.Joint("base", base))
    arm = gs.Body("arm", 2.0, (0.2, 0, 0.1), (0.1, 0.2, 0.25), gs.Joint("j", "universal", "boom.n3"))
    craft = gs.Spacecraft.build("c", [own, arm])
    v = 0.3 * np.random.default_rng(1).normal(size=craft.nv)
    run = gs.simulate(craft, gs.neutral(craft), v, t_span=(0.0, 2.0), rtol=1e-12)
    assert max(run.audit.linear, run.audit.angular, run.audit.energy) < 1e-10


def test_recordings_in_another_language_are_the_same(moving):
    pytest.importorskip("casadi")
    craft, q, v = moving
    tau = np.linspace(-1.0, 1.0, craft.nv)
    found = to_casadi(gs.compile(gs.forward_dynamics, craft))(q, v, tau)
    assert np.ravel(np.array(found)) == pytest.approx(gs.forward_dynamics(craft, q, v, tau), abs=1e-11)
    assert all(one.worst < one.allowed for one in verify(craft).comparisons)


def test_motion_is_differentiated_by_frequency_and_damping(moving):
    craft, q, v = moving
    names = ["boom.mode_1.frequency", "boom.mode_2.damping_ratio"]
    run = gs.simulate(craft, q, v, t_span=(0.0, 0.6), rtol=1e-12, sensitivities=names)
    h, values = 1e-5, np.array([craft.value(name) for name in names])
    varied = values[:, None] + h * np.array([[1, -1, 0, 0], [0, 0, 1, -1]])
    runs = gs.simulate(craft, np.stack([q] * 4), np.stack([v] * 4), t_span=(0.0, 0.6), rtol=1e-12,
                       parameters=dict(zip(names, varied, strict=True)))  # fmt: skip
    ends = runs.q[:, -1]
    for k, name in enumerate(names):
        difference = gs.configuration_difference(craft, ends[2 * k + 1], ends[2 * k]) / (2 * h)
        assert np.ravel(run.sensitivity("q", name, at_end=True)) == pytest.approx(difference, abs=1e-6)


def test_steps_by_hand_are_those_of_a_run(moving):
    craft, q, v = moving
    sim = gs.Simulation(craft)
    sim.reset(q, v)
    sim.step(np.zeros(craft.nv), dt=0.3)
    assert sim.q == pytest.approx(gs.simulate(craft, q, v, t_span=(0.0, 0.3)).q[-1], abs=1e-9)


def test_a_grasp_on_a_node_keeps_momentum_and_stays_closed():
    """Two craft that bend, welded by a frame on a node of each: a loop through both booms' shapes."""
    both = gs.together("two", [boom_craft("a"), boom_craft("b")])
    grasp = gs.constraints.weld("a.eye", "b.eye")
    q = gs.neutral(both)
    base, modal = both.joint_named("b.base").q_at, both.joint_named("a.boom.modes")
    q[modal.q_at] = [0.1, -0.05]
    X, Y = gs.frame_pose(both, q, "a.eye"), gs.frame_pose(both, q, "b.eye")
    R = X.R @ Y.R.T  # of b's base, which is at the origin
    q[base] = np.concatenate([gs.algebra.quat_from_rotation(R), X.p - R @ Y.p])
    v = np.zeros(both.nv)
    v[modal.v_at] = [0.4, 0.2]
    q, v = gs.constraints.project(both, 0.0, q, v, [grasp])
    run = gs.simulate(both, q, v, t_span=(0.0, 2.0), constraints=[grasp], rtol=1e-11)
    assert max(run.audit.linear, run.audit.angular, run.audit.energy) < 1e-8
    moved = [np.abs(run.q[:, both.joint_named(f"{name}.boom.modes").q_at]).max() for name in "ab"]
    assert min(moved) > 0.01
    ends = [run.frame(f"{name}.eye")[1] for name in "ab"]
    assert ends[0] == pytest.approx(ends[1], abs=1e-8)


def test_a_run_goes_on_and_one_of_another_body_is_refused(moving):
    craft, q, v = moving
    first = gs.simulate(craft, q, v, t_span=(0.0, 0.4), rtol=1e-11)
    on = gs.simulate(craft, resume=first, t_span=(0.4, 0.8), rtol=1e-11)
    assert on.q[-1] == pytest.approx(gs.simulate(craft, q, v, t_span=(0.0, 0.8), rtol=1e-11).q[-1], abs=1e-9)
    other = craft.with_values({"boom.mode_1.frequency": 2.0})
    with pytest.raises(ValueError, match="boom.stiffness is"):
        gs.simulate(other, resume=first, t_span=(0.4, 0.8))
    heavier = boom_craft(rotary="exact", damping_ratios=0.02)
    with pytest.raises(ValueError, match="boom.rotary is"):
        gs.simulate(heavier, resume=first, t_span=(0.4, 0.8))


def test_a_craft_that_bends_is_shown_in_notebooks():
    html = boom_craft()._repr_html_()
    assert "bends: 2 modes" in html and "boom" in html


def test_contact_at_a_node_bends_the_body_and_keeps_energy():
    """A probe on the boom's node bounces off the ground: the force at the node does work on the shape."""
    craft = boom_craft()
    q = gs.neutral(craft)
    q[6] = 0.05 - gs.frame_pose(craft, q, "eye").p[2]
    ground = contact_with_plane("eye", "N", ContactLaw(500.0))
    down = craft.v({"base": [0.0, 0.0, 0.0, 0.0, 0.0, -0.5]})
    run = gs.simulate(craft, q, down, t_span=(0.0, 1.0), environment=ground, rtol=1e-11)
    assert max(run.audit.linear, run.audit.angular, run.audit.energy) < 1e-10
    assert np.abs(run.q[:, craft.flexible("boom").q_at]).max() > 0.05
    energy = run.kinetic_energy() + run.potential_energy()
    assert np.ptp(energy) < 1e-9 * energy[0]


def test_surfaces_are_on_nodes_or_refused():
    craft = boom_craft()
    q, v = gs.neutral(craft), np.zeros(craft.nv)
    orbit = Orbit.circular(300e3)
    with pytest.raises(ValueError, match="surface is on flexible body 'boom'.*'boom.n3', say"):
        air_drag(orbit, [Plate("boom", 1.0, (0, 0, 1), (1.0, 0, 0))]).wrenches(craft, 0.0, q, v)
    pushed = air_drag(orbit, [Plate("boom.n2", 1.0, (0, 1, 0), both_sides=True)])
    assert pushed.wrenches(craft, 0.0, q, v)[craft.index("boom.n2")].any()
