"""Springs of every kind of joint are gradients of a potential, and a run stores and gives back their energy."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.control.passive import Stops, passive_forces, spring_energy
from gyrostat.model import KINDS, Joint
from gyrostat.tracing import compile

SPRUNG = [kind for kind in KINDS if kind not in ("fixed", "wheel")]
TILT = gs.algebra.rotation_from_rpy(np.array([0.3, -0.4, 0.8]))


def sprung(kind, base="free", stiffness=5.0, **more):
    """A body off every axis on a sprung joint, on a base of the given kind."""
    joint = Joint(
        "j", kind, "b", (0.3, -0.2, 0.1), TILT, axis=(1, 2, 2), axis2=(2, 1, -2), stiffness=stiffness, rest=0.3, **more
    )
    bodies = [
        gs.Body("b", 40.0, (0.1, 0.2, 0.0), (6.0, 8.0, 9.0), gs.Joint("root", base, axis=(0.0, 0.6, 0.8))),
        gs.Body("k", 5.0, (0.2, -0.1, 0.15), (3.0, 4.0, 5.0), joint),
    ]
    return gs.Spacecraft.build("sprung", bodies)


@pytest.mark.parametrize("kind", SPRUNG)
@pytest.mark.parametrize("far", [0.4, 1.5, 6.0])
def test_a_springs_load_is_minus_the_gradient_of_its_energy(kind, far):
    """Along each rate, on the manifold, at any angle: beyond half a turn of ball and free joints, whole turns of the
    others.
    """
    craft, rng, h = sprung(kind), np.random.default_rng(3), 1e-5
    for _ in range(6):
        q = gs.step_configuration(craft, gs.neutral(craft), far * rng.normal(size=craft.nv))
        load = passive_forces(craft, q, np.zeros(craft.nv))
        for k in range(craft.nv):
            ahead, behind = (gs.step_configuration(craft, q, s * h * np.eye(craft.nv)[k]) for s in (1, -1))
            slope = (spring_energy(craft, ahead) - spring_energy(craft, behind)) / (2 * h)
            assert load[k] == pytest.approx(-slope, abs=1e-7 * (1 + far**2))


@pytest.mark.parametrize("kind", ["spherical", "free"])
def test_a_balls_spring_is_linear_to_a_right_angle_and_smooth_at_half_a_turn(kind):
    motion = KINDS[kind](np.eye(3)[2], np.eye(3)[0])
    q0, axis = motion.step(motion.neutral(), 0.4 * np.ones(len(motion.v_units))), np.array([2.0, -1.0, 2.0]) / 3.0
    rest = np.zeros(len(motion.v_units) - 3)
    at = lambda angle: motion.step(q0, np.concatenate([angle * axis, rest]))
    for angle, near in ((0.0, 0.0), (1e-9, 1e-14), (0.3, 1e-14), (np.pi / 3, 1e-10), (np.pi / 2, 5e-6), (2.1, 4e-3)):
        assert np.abs(motion.spring_load(at(angle), q0)[:3] + angle * axis).max() <= near * angle + 4e-16
        assert motion.spring_energy(at(angle), q0) == pytest.approx(angle**2 / 2, rel=max(near, 1e-13), abs=1e-24)
        scaled = np.concatenate([-1.5 * at(angle)[:4], at(angle)[4:]])  # the same attitude
        assert np.abs(motion.spring_load(scaled, q0)[:3] - motion.spring_load(at(angle), q0)[:3]).max() < 1e-14
    for h in (1e-3, 1e-2):
        before, after = at(np.pi - h), at(np.pi + h)
        assert motion.spring_energy(before, q0) == pytest.approx(motion.spring_energy(after, q0), rel=1e-13)
        mirrored = motion.spring_load(before, q0)[:3] + motion.spring_load(after, q0)[:3]
        assert np.abs(mirrored).max() < 1e-13 and np.abs(motion.spring_load(before, q0)[:3]).max() < 20 * h
    energies = [motion.spring_energy(at(a), q0) for a in np.linspace(0, np.pi, 50)]
    assert (np.diff(energies) > 0).all()


@pytest.mark.parametrize("kind", SPRUNG)
@pytest.mark.parametrize("base", ["free", "fixed", "planar"])
def test_an_undamped_spring_keeps_the_energy_for_ever(kind, base):
    """Kinetic plus stored: six to 935 J in 100 s it was, on a planar joint. Fast enough to turn past half a turn."""
    craft, rng = sprung(kind, base), np.random.default_rng(7)
    v = 0.3 * rng.normal(size=craft.nv)
    v[craft.joint("k").v_at] = 4.0 + rng.normal(size=craft.joint("k").nv)
    run = gs.simulate(craft, None, v, (0.0, 30.0), rtol=1e-11, atol=1e-12)
    assert run.status == ("done",)
    stored = run.potential_energy()
    np.testing.assert_allclose(stored, compile(spring_energy, craft)(run.q))
    total = run.kinetic_energy() + stored
    assert np.abs(total - total[0]).max() < 1e-9 * total[0]
    assert np.ptp(stored) > 0.1 * total[0]


def test_a_planar_joint_turns_past_whole_turns_against_its_spring():
    body = gs.Body("k", 5.0, inertia=(0.3, 0.4, 0.5), joint=Joint("j", "planar", "b", stiffness=0.05))
    craft = gs.Spacecraft.build("p", [gs.Body("b", 500.0, inertia=(100, 120, 140)), body])
    run = gs.simulate(craft, None, np.r_[np.zeros(6), 4.0, 0.3, 0.1], (0, 6), rtol=1e-11)
    assert run.status == ("done",) and run.q[:, 9].max() > 2.5 * np.pi
    total = run.kinetic_energy() + compile(spring_energy, craft)(run.q)
    assert np.abs(total - total[0]).max() < 1e-9 * total[0]


@pytest.mark.parametrize("kind", SPRUNG)
def test_a_spring_is_at_ease_where_its_first_rate_brings_rest(kind):
    """No load there, and the least energy: the joint's first rate for one second at `rest`."""
    craft = sprung(kind)
    dv = np.zeros(craft.nv)
    dv[craft.joint("k").v_at.start] = 0.3
    q = gs.step_configuration(craft, gs.neutral(craft), dv)
    assert np.abs(passive_forces(craft, q, np.zeros(craft.nv))).max() < 1e-14
    assert spring_energy(craft, q) == pytest.approx(0.0, abs=1e-28)


def test_potential_energy_adds_springs_and_environment():
    craft = sprung("universal")
    g = np.array([0.3, -0.1, 0.2])
    run = gs.simulate(craft, None, np.ones(craft.nv), (0, 3), environment=gs.environment.uniform_gravity(g), rtol=1e-11)
    fall = -sum(body.mass for body in craft.bodies) * run.center_of_mass() @ g
    np.testing.assert_allclose(run.potential_energy() - fall, run.spring_energy(), atol=1e-10)
    total = run.kinetic_energy() + run.potential_energy()
    assert np.ptp(total) < 1e-8 * np.ptp(run.potential_energy())


def test_springs_of_a_batch_are_those_of_each_run():
    craft = sprung("spherical")
    k = np.array([1.0, 4.0])
    run = gs.simulate(craft, None, np.ones((2, craft.nv)), (0, 2), parameters={"j.stiffness": k})
    alone = [gs.simulate(sprung("spherical", stiffness=x), None, np.ones(craft.nv), (0, 2)) for x in k]
    for own, one in zip(run.potential_energy(), alone, strict=True):
        np.testing.assert_allclose(own, one.potential_energy(), rtol=1e-7)


def test_pressed_stops_store_what_they_push_with():
    craft = sprung("revolute", stiffness=0.0, limits=gs.Limits(-0.5, 0.8))
    stops, h, rest = Stops(stiffness=100.0, damping=10.0, width=0.01), 1e-6, np.zeros(craft.nv)
    for angle in (-0.7, -0.502, 0.3, 0.8005, 1.1):
        q = gs.neutral(craft)
        q[7] = angle
        dq = h * np.eye(len(q))[7]
        slope = (spring_energy(craft, q + dq, stops) - spring_energy(craft, q - dq, stops)) / (2 * h)
        assert passive_forces(craft, q, rest, stops)[6] == pytest.approx(-slope, abs=1e-7)
    assert spring_energy(craft, gs.neutral(craft), stops) == 0.0
