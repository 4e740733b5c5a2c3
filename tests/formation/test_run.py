"""Formations in motion: batches, coupled members on one clock, and what is derived from them."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from formation_crafts import armed, box
from gyrostat.algebra import Pose, cross, rotation, where
from gyrostat.environment import Orbit, two_body_gravity
from gyrostat.formation import Coupling, Formation, Group, ring, simulate
from gyrostat.formulations import spatial_forms as forms
from random_trees import random_state

ORBIT = Orbit.from_elements(7e6, 0.01, 0.9)
STIFF, DAMP = 2.0, 0.5


def spring(craft, t, q, v, q_near, v_near, weight_near):
    """A spring and a damper to every neighbour's base, as a force on this one's (in its axes), acting at its origin."""
    R = rotation(q[:4])
    force = np.zeros(3)
    for k in range(len(weight_near)):
        other = rotation(q_near[k][:4])
        pull = STIFF * (q_near[k][4:7] - q[4:7]) + DAMP * (other @ v_near[k][3:6] - R @ v[3:6])
        force = force + weight_near[k] * pull
    return np.concatenate([np.zeros(3), R.T @ force, np.zeros(craft.nv - 6)])


def scattered(formation, seed=0, speed=0.1):
    states = {}
    for k, name in enumerate(formation):
        q, v = random_state(formation.craft(name), seed + k, speed)
        states[name] = (q, v)
    return formation.state(states)


def test_simulate_is_one_function_for_craft_and_formations():
    formation = Formation({"a": box(), "b": armed()})
    run = gs.simulate(formation, scattered(formation), (0, 1), save_at=[1.0])
    assert run.formation is formation
    assert gs.simulate(box(), None, None, (0, 1)).ok


def test_members_that_see_nobody_fly_as_if_alone():
    """Bit for bit, whoever else is there: own masses, own steps."""
    masses = np.array([5.0, 10.0, 80.0])
    formation = Formation({"swarm": Group(box(com=(0.1, 0.0, 0.05)), "abc", {"hull.mass": masses})}, orbit=ORBIT)
    state = scattered(formation)
    run = simulate(formation, state, (0, 500), environment=two_body_gravity(ORBIT), save_at=[0, 250, 500])
    for k, name in enumerate("abc"):
        alone = gs.simulate(
            box(com=(0.1, 0.0, 0.05)), state["swarm"][0][k], state["swarm"][1][k], (0, 500),
            environment=two_body_gravity(ORBIT), parameters={"hull.mass": masses[k]}, save_at=[0, 250, 500],
        )  # fmt: skip
        np.testing.assert_array_equal(run.member(name).q, alone.q)
        np.testing.assert_array_equal(run.member(name).v, alone.v)
    assert list(run.groups["swarm"].data["member_name"].values) == ["a", "b", "c"]
    assert run.ok


def test_coupled_members_against_one_virtual_tree():
    """Springs between three craft with arms: the same motion as one spacecraft of three free-floating
    branches, by another path.
    """
    names = ["a", "b", "c"]
    formation = Formation({name: armed() for name in names})
    state = scattered(formation, seed=3)
    run = simulate(
        formation,
        state,
        (0, 20),
        control={"a": Coupling(spring, {"near": ring(names)})},
        save_at=[0, 10, 20],
        rtol=1e-11,
    )
    crafts = formation.crafts
    tree = forms.virtual_tree(crafts, "b")
    own = {n: (run.member(n).q[0], run.member(n).v[0]) for n in names}

    def one_law(craft, t, q, v):
        states = forms.member_states(crafts, "b", tree, q, v)
        tau = np.zeros(craft.nv)
        forces = {}
        for n in names:
            seen = [states[m] for m in ring(names)[n]]
            forces[n] = spring(crafts[n], t, *states[n], [s[0] for s in seen], [s[1] for s in seen], [1.0, 1.0])[:6]
        for n in names:
            tau[tree.joint_named(f"{n}/hull").v_at] = forces[n]
        # forces on followers react on nobody in the members' own equations, but a joint's load reacts on the leader
        X_NL = Pose(rotation(states["b"][0][:4]), states["b"][0][4:7])
        total = forces["b"]
        for n in ("a", "c"):
            X = forms.relative_pose(X_NL, Pose(rotation(states[n][0][:4]), states[n][0][4:7]))
            f = X.R @ forces[n][3:]
            total = total + np.concatenate([cross(X.p, f), f])
        tau[tree.joint_named("b/hull").v_at] = total
        return tau

    q, v = forms.tree_state(crafts, "b", own)
    with pytest.warns(gs.SimulationWarning, match="cannot be compiled"):
        whole = gs.simulate(tree, q, v, (0, 20), control=one_law, save_at=[20.0], rtol=1e-10)
    end = forms.member_states(crafts, "b", tree, whole.q[-1], whole.v[-1])
    for n in names:
        np.testing.assert_allclose(run.member(n).p_N[-1], end[n][0][4:7], atol=1e-7)
        np.testing.assert_allclose(run.member(n).v[-1], end[n][1], atol=1e-7)


def test_internal_forces_conserve_the_formations_momentum():
    """Springs are equal and opposite, so linear momentum and centre of mass of all members stay,
    whatever their masses.
    """
    names = [f"m{k}" for k in range(7)]
    masses = np.linspace(5, 40, 7)
    formation = Formation({"swarm": Group(box(), names, {"hull.mass": masses})})
    run = simulate(
        formation, scattered(formation), (0, 60), control={"swarm": Coupling(spring, {"near": ring(names)})}, rtol=1e-11
    )
    p = sum(m * run.member(n).v_N for m, n in zip(masses, names, strict=True))
    size = sum(m * np.linalg.norm(run.member(n).v_N, axis=1).max() for m, n in zip(masses, names, strict=True))
    assert np.abs(p - p[0]).max() < 1e-10 * size
    assert run.groups["swarm"].audit.energy < 1e-9
    # every member's loads and accelerations were recorded with what it saw then
    swarm = run.groups["swarm"]
    for k in (0, 4):
        for i in (0, 200, 400):
            craft = formation.craft(names[k])
            vdot = gs.forward_dynamics(craft, swarm.q[k, i], swarm.v[k, i], swarm.tau[k, i])
            np.testing.assert_allclose(swarm.vdot[k, i], vdot, rtol=1e-10, atol=1e-12)
    forces = np.array([np.einsum("tij,tj->ti", run.member(n).R_NB, swarm.tau[k, :, 3:6]) for k, n in enumerate(names)])
    assert np.abs(forces.sum(axis=0)).max() < 1e-12 * np.abs(forces).max() * 10


def test_tolerance_is_met_on_the_common_clock():
    """Errors fall with rtol; steps are common to all."""
    names = ["a", "b", "c", "d"]
    formation = Formation({n: box() for n in names})
    state = scattered(formation, seed=9, speed=0.5)
    ends = {}
    for rtol in (1e-5, 1e-8, 1e-13):
        run = simulate(
            formation,
            state,
            (0, 30),
            control={"a": Coupling(spring, {"near": ring(names)})},
            rtol=rtol,
            atol=rtol,
            save_at=[30.0],
        )
        ends[rtol] = run.groups["a"].q[:, -1]
        assert len(set(run.groups["a"].state.steps)) == 1
    coarse, fine = (np.abs(ends[r] - ends[1e-13]).max() for r in (1e-5, 1e-8))
    assert coarse < 1e-3
    assert fine < 1e-6
    assert fine < coarse / 50


@pytest.mark.parametrize("integrator", ["rk4", "rk45", "dop853"])
def test_methods_and_saved_times(integrator):
    """Fixed and chosen steps agree; saved states between steps are as good as those at their ends."""
    names = ["a", "b", "c"]
    formation = Formation({n: box() for n in names})
    state = scattered(formation, seed=9)
    options = {"step": 0.01} if integrator == "rk4" else {"rtol": 1e-10}
    times = [0.0, 0.123, 1.0, 3.456, 5.0]
    law = {"a": Coupling(spring, {"near": ring(names)})}
    run = simulate(formation, state, (0, 5), control=law, integrator=integrator, save_at=times, **options)
    best = simulate(formation, state, (0, 5), control=law, rtol=1e-13, atol=1e-14, save_at=times)
    np.testing.assert_allclose(run.groups["a"].q, best.groups["a"].q, atol=1e-7)
    np.testing.assert_allclose(run.groups["a"].v, best.groups["a"].v, atol=1e-7)


def test_leader_of_another_structure_and_members_who_see_fewer():
    """Boxes follow a craft with an arm that does not see them; one of them sees nobody, and drifts."""

    def follow(craft, t, q, v, q_leader, v_leader, weight_leader):
        gap = rotation(q_leader[0][:4]) @ np.array([0.0, -5.0, 0.0])
        R = rotation(q[:4])
        error = q_leader[0][4:7] + gap - q[4:7]
        force = weight_leader[0] * (1.0 * error + 8.0 * (rotation(q_leader[0][:4]) @ v_leader[0][3:6] - R @ v[3:6]))
        return np.concatenate([-2.0 * v[:3], R.T @ force])

    formation = Formation({"chief": armed(), "x": box(), "y": box(), "z": box()})
    state = formation.neutral()
    state["chief"][1][0, 3:6] = [0.1, 0.0, 0.05]
    state["x"][0][:, 4:7] = [[1.0, 2, 3], [-1, -2, 0], [4.0, 0, 0]]
    run = simulate(
        formation, state, (0, 80), control={"x": Coupling(follow, {"leader": {"x": ["chief"], "y": ["chief"]}})}
    )
    for name in ("x", "y"):
        apart = run.relative(name, to="chief")
        np.testing.assert_allclose(apart.position[-1], [0, -5, 0], atol=1e-2)
    np.testing.assert_allclose(run.member("z").p_N[-1], [4.0, 0, 0], atol=1e-12)
    # the leader flies as it would alone
    alone = gs.simulate(armed(), state["chief"][0][0], state["chief"][1][0], (0, 80))
    np.testing.assert_allclose(run.member("chief").q, alone.q, atol=1e-8)


def test_sampled_controllers_see_the_instant_of_the_sample():
    """Torque held for a second: the same as flying each second with a constant load computed from
    everybody's states before it.
    """
    names = ["a", "b"]
    formation = Formation({n: box() for n in names})
    state = scattered(formation, seed=5)

    def law(craft, t, q, v, q_near, v_near):
        return spring(craft, t, q, v, [q_near], [v_near], [1.0])

    pairs = {"near": {"a": "b", "b": "a"}}
    run = simulate(
        formation,
        state,
        (0, 5),
        control={"a": Coupling(gs.Controller(law, period=1.0), pairs)},
        save_at=[5.0],
        rtol=1e-12,
    )
    q, v = (x.copy() for x in state["a"])
    for k in range(5):
        tau = [law(box(), 0.0, q[i], v[i], q[1 - i], v[1 - i]) for i in (0, 1)]
        for i in (0, 1):
            end = gs.simulate(
                box(), q[i], v[i], (k, k + 1), control=lambda c, t, q, v, tau=tau[i]: tau, rtol=1e-12, save_at=[k + 1]
            )
            q[i], v[i] = end.q[-1], end.v[-1]
    np.testing.assert_allclose(run.groups["a"].q[:, -1], q, atol=1e-10)
    np.testing.assert_allclose(run.groups["a"].v[:, -1], v, atol=1e-10)


@pytest.mark.parametrize("options", [{"rtol": 1e-10}, {"integrator": "rk4", "step": 0.25}], ids=["dop853", "rk4"])
def test_samples_and_saved_times_do_not_mix(options):
    """A law that counts its own samples: saved times and fixed steps between them take none."""

    def output(craft, t, q, v, z, q_near, v_near):
        return np.zeros(6)

    def update(craft, t, q, v, z, q_near, v_near):
        return z + 1.0

    formation = Formation({"a": box(), "b": box()})
    law = Coupling(gs.Controller(output, [0.0], update=update, period=1.0), {"near": {"a": "b", "b": "a"}})
    run = simulate(formation, None, (0, 4.5), control={"a": law}, save_at=[0.5, 1.5, 2.25, 3.5, 4.5], **options)
    np.testing.assert_array_equal(run.groups["a"].data["held_z"].values[0, :, 0], [1, 2, 3, 4, 5])


def test_loads_that_jump_at_breakpoints():
    """A push from t = 2 on, exact to round-off where the integrator is told."""

    def law(craft, t, q, v, q_near, v_near):
        return where(t < 2.0, 0.0, 1.0) * np.array([0.0, 0, 0, 10.0, 0, 0])

    formation = Formation({"a": box(), "b": box()})
    run = simulate(
        formation,
        None,
        (0, 5),
        control={"a": Coupling(law, {"near": {"a": "b", "b": "a"}})},
        breakpoints=[2.0],
        save_at=[2.0, 5.0],
    )
    np.testing.assert_allclose(run.member("a").p_N[:, 0], [0.0, 4.5], atol=1e-13)
    np.testing.assert_allclose(run.member("a").v_N[:, 0], [0.0, 3.0], atol=1e-13)


def test_memory_of_continuous_controllers():
    """An integral term beside what is seen: z is the integral of the separation."""

    def output(craft, t, q, v, z, q_near, v_near):
        return np.zeros(6)

    def derivative(craft, t, q, v, z, q_near, v_near):
        return q_near[4:7] - q[4:7]

    formation = Formation({"a": box(), "b": box()})
    state = formation.neutral()
    state["a"][1][1, 3:6] = [1.0, 0.0, 0.5]
    law = Coupling(gs.Controller(output, np.zeros(3), derivative=derivative), {"near": {"a": "b", "b": "a"}})
    run = simulate(formation, state, (0, 4), control={"a": law}, save_at=[4.0])
    np.testing.assert_allclose(run.groups["a"].data["z"].values[:, -1], [[8.0, 0, 4.0], [-8.0, 0, -4.0]], atol=1e-9)


def test_compiled_code_does_not_grow_with_the_number_of_members():
    """Three or three hundred members: the same kernel, the same row."""
    sizes = []
    for count in (3, 300):
        names = [f"m{k}" for k in range(count)]
        formation = Formation({"swarm": Group(box(), names)})
        run = simulate(
            formation,
            scattered(formation),
            (0, 0.1),
            control={"swarm": Coupling(spring, {"near": ring(names)})},
            step=0.1,
            integrator="rk4",
        )
        sizes.append(run.groups["swarm"].equations.layout.size)
    assert sizes[0] == sizes[1] < 60


# ---- derived


def test_relative_motion_is_that_of_a_free_joint():
    formation = Formation({"a": box(), "b": box()})
    run = simulate(formation, scattered(formation, seed=2), (0, 10), save_at=np.linspace(0, 10, 5))
    seen = run.relative("b", to="a")
    for k in range(5):
        (qa, va), (qb, vb) = ((run.member(n).q[k], run.member(n).v[k]) for n in "ab")
        X_a, X_b = Pose(rotation(qa[:4]), qa[4:7]), Pose(rotation(qb[:4]), qb[4:7])
        X = forms.relative_pose(X_a, X_b)
        np.testing.assert_allclose(seen.position[k], X.p, atol=1e-13)
        np.testing.assert_allclose(seen.R_Lj[k], X.R, atol=1e-13)
        Theta = forms.relative_twist(X_a, X_b, va, vb)
        np.testing.assert_allclose(np.concatenate([seen.w_Lj[k], seen.velocity[k]]), Theta, atol=1e-13)
        assert seen.angle[k] == pytest.approx(np.arccos((np.trace(X.R) - 1) / 2), abs=1e-7)


def test_closest_approach_is_audited():
    """Two of twelve pass at 0.3 m; a brute-force search over all pairs and times agrees."""
    names = [f"m{k}" for k in range(12)]
    formation = Formation({"swarm": Group(box(), names)})
    state = formation.neutral()
    state["swarm"][0][:, 4] = 10.0 * np.arange(12)
    state["swarm"][0][3, 4:7] = [40.0, -5.0, 0.3]
    state["swarm"][1][3, 3:6] = [0.0, 1.0, 0.0]
    run = simulate(formation, state, (0, 10))
    near = run.closest_approach()
    assert near.members == ("m3", "m4")
    assert near.distance == pytest.approx(0.3, rel=1e-9)
    assert near.time == pytest.approx(5.0)
    p = run.positions()
    brute = min(np.linalg.norm(p[i] - p[j], axis=1).min() for i in range(12) for j in range(i))
    assert near.distance == pytest.approx(brute, rel=1e-12)
    assert "closest approach 0.3 m, m3 and m4" in str(run)
    with pytest.raises(ValueError, match="two members at least"):
        simulate(Formation({"a": box()}), None, (0, 1)).closest_approach()


def test_a_formation_flies_on_from_its_end():
    formation = Formation({"a": box(), "tug": armed()}, orbit=ORBIT)
    state = scattered(formation)
    options = {"environment": two_body_gravity(ORBIT), "rtol": 1e-12, "atol": 1e-13}
    whole = simulate(formation, state, (0, 200), save_at=[200.0], **options)
    half = simulate(formation, state, (0, 100), save_at=[100.0], **options)
    rest = simulate(formation, half.final, (100, 200), save_at=[200.0], **options)
    for g in formation.groups:
        np.testing.assert_allclose(rest.final[g][0], whole.final[g][0], atol=1e-9)
