"""Whatever the craft: laws load what has a motor and nothing else, conserve momentum, and do what they claim with
springs and dampers.

Bases of every kind, joint frames placed anywhere, passive joints, wheels, craft put together.
"""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat import control
from gyrostat.control.passive import passive_forces
from gyrostat.model import Role
from laws import acceleration, internal_laws, loads, servicer_like, somewhere, sprung, state
from random_trees import ALL_KINDS, BASES, random_spacecraft

SIZE = 1e-9  # of loads and accelerations of order one to a hundred


def momentum_rate(craft, q, v, tau):
    """d/dt of the momentum about the inertial origin, from the wrenches that act on the bodies: by finite differences
    along the motion.
    """
    vdot, h = acceleration(craft, q, v, tau), 1e-5
    ends = []
    for step in (h, -h):
        there = gs.step_configuration(craft, q, step * v + 0.5 * step * step * vdot)
        ends.append(gs.momentum(craft, there, v + step * vdot))
    return (ends[0] - ends[1]) / (2 * h)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("base", BASES)
def test_only_motors_are_loaded(base, seed):
    craft = servicer_like(seed, base=base, panels=seed % 3, bends=seed > 3)
    q, v = state(craft, seed)
    others = craft.at(Role.base, Role.passive, Role.modal)
    assert len(others) == craft.joints[0].nv + seed % 3 + len(craft.at(Role.modal))
    assert len(craft.at(Role.modal)) >= 2 * (seed > 3)
    for name, law in internal_laws(craft).items():
        tau = loads(law, craft, 0.7, q, v)
        assert not tau[others].any(), f"{name} loads {others[np.flatnonzero(tau[others])]}"
        assert np.abs(tau[craft.at(Role.driven)]).max() > 1e-3, name


@pytest.mark.parametrize("seed", range(6))
def test_laws_inside_the_craft_conserve_momentum(seed):
    craft = servicer_like(seed, panels=seed % 3, gyros=seed % 2 == 0, bends=seed == 3)
    q, v = state(craft, seed)
    laws = internal_laws(craft)
    assert ("gyro_attitude" in laws) == (seed % 2 == 0) and ("passivity_tracking" in laws) == (seed == 0)
    for name, law in laws.items():
        tau = loads(law, craft, 0.7, q, v)
        rate = momentum_rate(craft, q, v, tau)
        assert np.abs(rate).max() < 1e-5 * np.abs(tau).max(), f"{name}: {rate}"
    pushed = tau.copy()
    pushed[:6] = 1.0
    assert np.abs(momentum_rate(craft, q, v, pushed)).max() > 0.5  # the check sees a push


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("base", BASES)
def test_the_points_error_obeys_its_equation_with_springs_dampers_friction_and_passive_joints(base, seed):
    """e'' + kd e' + kp e = 0 for the position of the tool, whatever the base does and however the joints are loaded."""
    craft = servicer_like(seed, base=base, panels=2, bends=seed > 3)
    q, v = state(craft, seed + 10)
    task = control.Task("tool", rows=(3, 4, 5))
    weak = control.Damping(onset=1e-9)
    tau = control.resolved_acceleration(somewhere, task, kp=3.0, kd=2.0, damping=weak)(craft, 0.7, q, v)
    vdot = acceleration(craft, q, v, tau)
    J, Jdot = (f(craft, *x, "tool") for f, x in ((gs.jacobian, (q,)), (gs.jacobian_rate, (q, v))))
    wanted, p = somewhere(0.7), gs.frame_pose(craft, q, "tool").p
    e, edot = wanted.X.p - p, wanted.twist[3:] - J[3:] @ v
    eddot = wanted.rate[3:] - (J @ vdot + Jdot @ v)[3:]
    assert np.abs(eddot + 2.0 * edot + 3.0 * e).max() < SIZE * np.abs(vdot).max()


@pytest.mark.parametrize("seed", range(20))
def test_joints_accelerate_as_commanded_whatever_goes_along(seed):
    """Floating mode on any tree, of any base and joint kinds, with any of them passive: driven joints do as told,
    nothing else is loaded.
    """
    craft = sprung(random_spacecraft(seed), seed)
    q, v = state(craft, seed)
    at = craft.at(Role.driven)
    wanted = np.random.default_rng(seed).normal(size=len(at))
    done = control.commanded_loads(craft, q, v, "floating", joints=wanted)
    vdot = acceleration(craft, q, v, done.tau)
    size = 1e-8 * max(1.0, np.abs(vdot).max())
    assert np.abs(vdot[at] - wanted).max(initial=0.0) < size and np.abs(vdot - done.vdot).max() < size
    others = craft.at(Role.base, Role.passive, Role.wheel)
    assert not done.tau[others].any()
    G, g = control.craft_response(craft, q, v, "floating")
    assert np.abs(G @ wanted + g - vdot).max() < size


MODES = {
    "rotation-floating": {"turn"},
    "rotation-flying": {"turn"},
    "translation-flying": {"push"},
    "translation-flying, wheels": {"push", "turn"},
    "flying": {"turn", "push"},
}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("mode", MODES)
def test_base_and_joints_do_as_commanded_in_every_mode_while_panels_swing(mode, seed):
    craft = servicer_like(seed, panels=2, bends=seed > 1)
    q, v = state(craft, seed)
    rng = np.random.default_rng(seed)
    given = {name: rng.normal(size=3) for name in MODES[mode]}
    joints, at = rng.normal(size=7), craft.at(Role.driven)
    tau, mode_name = None, mode.split(",")[0]
    done = control.commanded_loads(craft, q, v, mode_name, joints=joints, **given)
    tau = done.tau
    vdot = acceleration(craft, q, v, tau)
    size = SIZE * np.abs(vdot).max()
    assert np.abs(vdot - done.vdot).max() < size and np.abs(vdot[at] - joints).max() < size
    if "turn" in given:
        assert np.abs(vdot[:3] - given["turn"]).max() < size
    if "push" in given:
        assert np.abs(vdot[3:6] - given["push"]).max() < size
    assert not tau[craft.at(Role.passive, Role.modal)].any()
    G, g = control.craft_response(craft, q, v, mode_name, **given)
    assert np.abs(G @ joints + g - vdot).max() < size
    may = control.MODES[mode_name]
    if not may.force:
        assert not tau[3:6].any()
    if mode_name == "rotation-floating":
        assert not tau[:6].any()
    if mode_name == "translation-flying":  # the force passes through the centre of mass
        X = gs.frame_pose(craft, q, "hull")
        c = X.R.T @ (gs.center_of_mass(craft, q) - X.p)
        np.testing.assert_allclose(tau[:3], np.cross(c, tau[3:6]), atol=1e-9 * np.abs(tau).max())
    if "turn" not in given or may.couple:
        assert not tau[craft.at(Role.wheel)].any()


def test_spare_wheel_motion_is_not_seen_by_the_base():
    craft = servicer_like(1, panels=1)
    q, v = state(craft, 1)
    given = {"joints": np.ones(7), "turn": np.array([0.1, -0.2, 0.3])}
    plain = control.commanded_loads(craft, q, v, "rotation-floating", **given)
    spare = control.commanded_loads(craft, q, v, "rotation-floating", **given, null_motion=np.array([1.0, 2, 3, 4]))
    wheels = craft.at(Role.wheel)
    others = [k for k in range(craft.nv) if k not in wheels]
    np.testing.assert_allclose(spare.vdot[others], plain.vdot[others], atol=1e-10)
    assert np.abs(spare.vdot[wheels] - plain.vdot[wheels]).max() > 0.1
    with pytest.raises(ValueError, match="does not turn the base by wheels: leave out null_motion"):
        control.commanded_loads(craft, q, v, "flying", **given, push=np.zeros(3), null_motion=np.ones(4))


def test_too_few_wheels_are_refused_and_none_divides_by_zero():
    for wheels in (0, 2):
        craft = servicer_like(0, wheels=wheels)
        with pytest.raises(ValueError, match=f"has wheels about {wheels} independent axes; three turn the base"):
            control.detumble_by_wheels()(craft, 0.0, *state(craft, 0))


def test_wheels_without_motors_spin_on():
    from dataclasses import replace

    craft = servicer_like(3)
    bodies = [replace(b, joint=replace(b.joint, driven=False)) if b.name == "wheel_3" else b for b in craft.bodies]
    craft = gs.Spacecraft.build("craft", bodies, frames=craft.frames)
    q, v = state(craft, 3)
    tau = control.detumble_by_wheels()(craft, 0.0, q, v)
    at = craft.joint_named("wheel_3").v_at
    assert not tau[at].any() and tau[craft.at(Role.wheel)].all() and len(craft.at(Role.wheel)) == 3
    vdot = acceleration(craft, q, v, tau)
    np.testing.assert_allclose(vdot[:3], -0.1 * v[:3], atol=1e-9)
    assert control.wheel_axes(craft, q).shape == (3, 3)


@pytest.mark.parametrize("seed", range(3))
def test_laws_on_craft_put_together_say_whose_they_are_for(seed):
    one, other = servicer_like(seed, panels=seed % 2, gyros=True), servicer_like(seed + 50, panels=2)
    both = gs.together("both", [one, other])
    (q1, v1), (q2, v2) = state(one, seed), state(other, seed + 1)
    q, v = gs.joined_state(both, [(one, q1, v1), (other, q2, v2)])
    first, second = both.members
    for name, law in internal_laws(one).items():
        if name.startswith("joint_"):  # these go by the names of joints, wherever they are
            continue
        with pytest.raises(
            ValueError, match=rf"is for one spacecraft; both holds '{one.name}' and '{other.name}'.*control.on"
        ):
            loads(law, both, 0.7, q, v)
        tau = loads(control.on(one.name, law), both, 0.7, q, v)
        assert not second.v(tau).any(), name
        np.testing.assert_array_equal(first.v(tau), loads(law, one, 0.7, q1, v1))
        assert np.abs(momentum_rate(both, q, v, tau)).max() < 1e-5 * np.abs(tau).max(), name


def test_joints_of_several_craft_count_as_joints_and_their_bases_do_not():
    one, other = servicer_like(1), random_spacecraft(5, base="free", kinds=ALL_KINDS)
    both = gs.together("both", [one, other])
    assert control.joint_count(both) == control.joint_count(one) + control.joint_count(other)
    q, v = state(both, 2)
    wanted = np.random.default_rng(1).normal(size=control.joint_count(both))
    tau = control.commanded_loads(both, q, v, "floating", joints=wanted).tau
    assert not tau[both.at(Role.base)].any()
    vdot = acceleration(both, q, v, tau)
    assert np.abs(vdot[both.at(Role.driven)] - wanted).max() < 1e-8 * np.abs(vdot).max()


@pytest.mark.parametrize("loads", [{"damping": 2.0}, {"stiffness": 3.0, "driven": True}, {"friction": 0.5}])
def test_a_tool_keeps_to_its_line_although_its_joints_are_damped_and_sprung(loads):
    from dataclasses import replace

    craft = gs.load("servicer")
    bodies = [craft.bodies[0], *(replace(b, joint=replace(b.joint, **loads)) for b in craft.bodies[1:])]
    craft = gs.Spacecraft.build("sprung", bodies, frames=craft.frames)
    q = gs.neutral(craft)
    q[7:] = [0.3, -0.5, 0.8, 0.2, 0.4, -0.1]
    X = gs.frame_pose(craft, q, "tool")
    path = control.line(X, X.p + [0.2, 0, 0], control.MinimumJerk(10.0))
    law = control.resolved_acceleration(path, control.Task("tool"))
    run = gs.simulate(craft, q, np.zeros(12), (0, 10), control=law, mode="floating", rtol=1e-9, atol=1e-9)
    miss = max(
        np.linalg.norm(gs.frame_pose(craft, x, "tool").p - path(t).X.p) for t, x in zip(run.time, run.q, strict=True)
    )
    assert miss < 1e-7, f"{miss:.2g} m from its line"


def test_modes_refuse_loads_on_bases_and_passive_joints_of_every_member():
    one, other = servicer_like(1), servicer_like(2, panels=1)
    both = gs.together("both", [one, other])
    q, v = state(both, 1)

    def pushing(at):
        return lambda craft, t, q, v: np.eye(craft.nv)[at]

    second = both.members[1]
    for own, message in ((1, "turns 'craft_2.hull'"), (4, "pushes 'craft_2.hull'")):
        with pytest.raises(ValueError, match=rf"mode 'floating': the control law {message} \(tau\["):
            gs.simulate(both, q, v, (0, 0.1), control=pushing(second.v_at[own]), mode="floating")
    hinge = both.joint_named(second.here("hinge_0", "joint")).v_at.start
    with pytest.raises(ValueError, match="loads joint 'craft_2.hinge_0', which has no motor"):
        gs.simulate(both, q, v, (0, 0.1), control=pushing(hinge), mode="floating")
    bent = servicer_like(4, bends=True)
    shape = bent.flexible("boom").v_at.start
    with pytest.raises(ValueError, match="mode 'floating'.*loads joint 'boom.modes', which has no motor"):
        gs.simulate(bent, *state(bent, 1), (0, 0.1), control=pushing(shape), mode="floating")
    still = control.JointReference(*np.zeros((3, 7)))
    for learning in ({}, {"adaptation": 1.0, "estimate": bent}):
        with pytest.raises(ValueError, match="'boom.modes', .* have no motor|'boom' of craft_4 is flexible"):
            law = control.passivity_tracking(lambda t: still, bandwidth=1.0, mode="floating", **learning)
            loads(law, bent, 0.0, *state(bent, 1))
    with pytest.raises(ValueError, match="mode 'flying' is for one spacecraft"):
        gs.simulate(both, q, v, (0, 0.1), mode="flying")
    with pytest.raises(ValueError, match="drives wheel 'craft_2.wheel_0'"):
        wheel = both.joint_named(second.here("wheel_0", "joint")).v_at.start
        gs.simulate(both, q, v, (0, 0.1), control=pushing(wheel), mode="floating")
    fixed = gs.together("pair", [one, servicer_like(3, base="fixed")])
    with pytest.raises(ValueError, match="mode 'floating' needs a base that is free; 'craft_3.root' of pair is fixed"):
        gs.simulate(fixed, *state(fixed, 1), (0, 0.1), mode="floating")


def test_passive_loads_are_left_to_the_run():
    """A law's loads are its own: springs and dampers are added by the run, once."""
    craft = servicer_like(4)
    q, v = state(craft, 4)
    at = craft.at(Role.driven)
    tau = control.commanded_loads(craft, q, v, "floating", joints=np.zeros(7)).tau
    again = gs.hybrid_dynamics(
        craft, q, v, passive_forces(craft, q, v), prescribed={f"j{k}": np.zeros(1) for k in range(7)}
    )
    np.testing.assert_allclose(tau[at], (again.tau - passive_forces(craft, q, v))[at], atol=1e-9 * np.abs(tau).max())
