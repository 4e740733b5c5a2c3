"""gs.linearize against differences of the simulation's own right-hand side, against its runs, and against closed
forms.
"""

from __future__ import annotations

import inspect
from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import expm

import gyrostat as gs
from formation_crafts import box
from gyrostat import constraints as gc
from gyrostat.algebra import rotation_from_rpy
from gyrostat.linear.sensitivities import point_of, rates
from gyrostat.simulation.problem.request import Request
from gyrostat.simulation.simulate_craft import simulate
from random_trees import ALL_KINDS, random_spacecraft, random_state

TILT = rotation_from_rpy(np.array([0.3, -0.4, 0.8]))


def sprung_tree(seed, base="free", kinds=ALL_KINDS):
    """A random tree whose joints all have springs, dampers and friction."""
    craft = random_spacecraft(seed, kinds=kinds, links=4, base=base)
    rng = np.random.default_rng(seed)
    bodies = []
    for body in craft.bodies:
        joint = body.joint
        if joint.nq and joint.parent is not None:
            joint = replace(joint, stiffness=rng.uniform(1, 9), rest=0.2, damping=rng.uniform(0.1, 1), friction=1e-3)
        bodies.append(replace(body, joint=joint))
    return gs.Spacecraft.build("sprung", bodies)


def pulled(craft, t, q, v):
    """Wrenches that depend on time, attitude and rates of every body: as rough as an environment can be."""
    at = gs.forward_kinematics(craft, q)
    g = np.array([0.3, -0.2, 0.5]) * (1.0 + 0.1 * t)
    rows = [np.concatenate([np.zeros(3), body.mass * (at.R_NB[k].T @ g)]) for k, body in enumerate(craft.bodies)]
    twist = gs.jacobian(craft, q, craft.base) @ v
    rows[0] = rows[0] - 0.3 * np.concatenate([at.R_NB[0].T @ twist[:3], at.R_NB[0].T @ twist[3:]])
    return np.array(rows)


def law(craft, t, q, v, z):
    """Loads everything by state and memory; its gain is one of the run's inputs."""
    return -0.4 * v + 0.1 * np.sin(1.0) * np.concatenate([z, np.zeros(craft.nv - 2)]) + 0.2 * q[0] * np.ones(craft.nv)


CONTROLLER = gs.Controller(law, (0.3, -0.2), derivative=lambda craft, t, q, v, z: np.array([v[0] - z[0], q[1] * z[1]]))


def differences(point, h=1e-4):
    """Of vdot, zdot and load rates by every change of the state and of the loads, to fourth order."""

    def f(d):
        moved = point.moved(d)
        now = rates(moved)
        return np.concatenate([now.vdot, now.zdot, now.load_rate])

    columns = []
    for e in np.eye(point.size):
        columns.append((8 * (f(h * e) - f(-h * e)) - (f(2 * h * e) - f(-2 * h * e))) / (12 * h))
    return np.stack(columns, axis=-1)


OPTIONS = {
    "springs": {},
    "environment": {"environment": pulled},
    "memory": {"control": CONTROLLER, "environment": pulled},
    "lagging motors": {"control": CONTROLLER, "actuators": gs.Actuators(saturate=False, lag=0.3)},
}


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("base", ["free", "planar", "fixed", "spherical"])
def test_rates_of_a_run_answer_as_they_do_in_the_run(name, base):
    """Every joint kind, wheels, every base, off every axis and in motion."""
    craft = sprung_tree(3 if base == "free" else 5, base)
    q, v = random_state(craft, 1, speed=0.5)
    tau = np.random.default_rng(0).normal(size=craft.nv)
    linear = gs.linearize(craft, q, v, tau, t=0.7, **OPTIONS[name])
    point = point_of(Request(craft=craft, q0=q, v0=v, t_span=(0.7, 0.7), **OPTIONS[name]), tau)
    expected = differences(point)
    n, rows = point.parts["u"].start, slice(len(linear.states) - len(expected), None)
    kept = np.flatnonzero(linear.basis.any(axis=1))
    near = 3e-7 * np.abs(expected).max()
    np.testing.assert_allclose(linear.A[rows], expected[:, :n][:, kept], atol=near)
    np.testing.assert_allclose(linear.B[rows], expected[:, n:], atol=near)
    np.testing.assert_allclose(linear.vdot, rates(point).vdot)


def hanging(base="fixed", **more):
    """Two sprung links under gravity, off every axis."""
    bodies = [
        gs.Body("b", 30.0, (0.1, 0.2, 0.0), (6.0, 8.0, 9.0), gs.Joint("root", base, axis=(0.0, 0.6, 0.8))),
        gs.Body(
            "one",
            4.0,
            (0.3, 0.05, -0.1),
            (0.2, 0.5, 0.4),
            gs.Joint("first", "revolute", "b", (0.3, 0, 0.1), TILT, axis=(1, 2, 2), stiffness=9.0, damping=0.4, **more),
        ),
        gs.Body(
            "two",
            2.0,
            (0.2, -0.1, 0.1),
            (0.1, 0.2, 0.2),
            gs.Joint("second", "spherical", "one", (0.6, 0, 0), TILT, stiffness=5.0, damping=0.2),
        ),
    ]
    return gs.Spacecraft.build("hanging", bodies)


def test_runs_near_an_equilibrium_follow_the_matrix_exponential():
    """Under gravity, with an integrating law: the difference of two runs is exp(A t) times that of their starts."""
    craft = hanging()
    g = gs.environment.uniform_gravity((0.5, -0.3, -1.0))
    law = gs.Controller(
        lambda craft, t, q, v, z: np.concatenate([-2.0 * z, np.zeros(3)]) - 0.1 * v,
        (0.0,),
        derivative=lambda craft, t, q, v, z: np.array([q[0] - 0.3]),
    )
    rest = gs.equilibrium(craft, environment=g, control=law)
    linear = gs.linearize(craft, rest.q, rest.v, environment=g, control=law, memory=rest.memory)
    rng, size = np.random.default_rng(2), 1e-5
    x0 = size * rng.normal(size=len(linear.states))
    start = replace(law, state0=rest.memory + x0[-1])
    q0, v0 = gs.step_configuration(craft, rest.q, x0[:4]), x0[4:8]
    run = gs.simulate(craft, q0, v0, (0, 4.0), control=start, environment=g, rtol=1e-12, atol=1e-14)
    x = expm(4.0 * linear.A) @ x0
    found = np.concatenate([gs.configuration_difference(craft, rest.q, run.q[-1]), run.v[-1]])
    assert np.abs(found - x[:-1]).max() < 30 * size**2
    assert np.abs(found - x0[:-1]).max() > 0.1 * size  # it moved


def test_a_sprung_panel_on_a_free_base_swings_at_the_root_of_stiffness_over_effective_inertia():
    """Hinge through both centres of mass: 1 / J_eff = 1 / J_panel + 1 / J_bus, as a torsion pendulum."""
    k, J1, J2 = 7.0, 3.0, 11.0
    panel = gs.Body("panel", 4.0, inertia=(2.0, 2.5, J1), joint=gs.Joint("hinge", "revolute", "bus", stiffness=k))
    craft = gs.Spacecraft.build("flex", [gs.Body("bus", 50.0, inertia=(9.0, 10.0, J2)), panel])
    values = np.linalg.eigvals(gs.linearize(craft).A)
    assert np.abs(values.imag).max() == pytest.approx(np.sqrt(k * (1 / J1 + 1 / J2)), rel=1e-12)


def test_damping_and_a_hinge_off_the_centre_of_mass():
    """Panel on a planar cart: M = [[m + M, -m l], [-m l, J + m l^2]] about one plane, k and c in the hinge; quadratic
    eigenvalue problem.
    """
    m, big, l, J, k, c = 4.0, 30.0, 0.7, 0.5, 6.0, 0.8
    slide = gs.Joint("slide", "prismatic", axis=(0, 1, 0))
    hinge = gs.Joint("hinge", "revolute", "cart", axis=(0, 0, 1), stiffness=k, damping=c)
    cart = gs.Spacecraft.build(
        "cart",
        [gs.Body("cart", big, inertia=(1, 1, 1), joint=slide), gs.Body("p", m, (l, 0, 0), (0.1, 0.5, J), hinge)],
    )
    M, K, D = np.array([[m + big, m * l], [m * l, J + m * l * l]]), np.diag([0, k]), np.diag([0, c])
    A = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.linalg.solve(M, K), -np.linalg.solve(M, D)]])
    np.testing.assert_allclose(gs.linearize(cart).A, A, atol=1e-12)


# ---- constraints


def pair(stiff=8.0):
    """A craft with a sprung hand, and a client with a sprung panel."""
    one = gs.Spacecraft.build(
        "one",
        [
            gs.Body("bus", 60.0, (0.1, 0, 0), (8, 9, 10)),
            gs.Body(
                "link",
                5.0,
                (0.3, 0, 0.1),
                (0.3, 0.8, 0.9),
                gs.Joint(
                    "j", "universal", "bus", (0.6, 0, 0), TILT, (0, 0, 1), (0, 1, 0), stiffness=stiff, damping=0.3
                ),
            ),
        ],
        frames=[gs.Frame("hand", "link", (0.7, 0.1, 0), TILT)],
    )
    two = gs.Spacecraft.build(
        "two",
        [
            gs.Body("client", 40.0, (0, 0.1, 0), (5, 6, 7)),
            gs.Body(
                "panel",
                3.0,
                (0, 0.8, 0),
                (0.9, 0.1, 1.0),
                gs.Joint("p", "revolute", "client", (0, 0.4, 0), axis=(1, 0, 1), stiffness=4.0),
            ),
        ],
        frames=[gs.Frame("grip", "client", (-0.5, 0.1, 0.2), TILT.T)],
    )
    both = gs.together("both", [one, two])
    q, v = gs.joined_state(
        both,
        [
            (one, gs.neutral(one), np.zeros(one.nv)),
            (two, np.r_[np.cos(0.2), 0, np.sin(0.2), 0, 2.0, 0.3, -0.1, 0.0], np.zeros(two.nv)),
        ],
    )
    return one, two, both, q, v


def spectrum(A):
    values = np.linalg.eigvals(A)
    return np.sort_complex(values[np.abs(values) > 1e-4])


def test_a_weld_gives_the_spectrum_of_the_tree_that_it_makes():
    """Two free craft held together: 6 + 2 + 1 freedoms, and the eigenvalues of the craft attached."""
    one, two, both, q, v = pair()
    weld = gc.grasped(both, 0.0, q, gc.weld("hand", "grip"))
    linear = gs.linearize(both, q, v, constraints=[weld])
    pose = gc.relative_pose(both, q, "hand", "grip")
    tree = gs.attach(one, two, at="hand", by="grip", pose=pose)
    alone = gs.linearize(tree, *gs.transfer_state(both, q, v, tree))
    assert linear.A.shape == alone.A.shape == (18, 18)
    np.testing.assert_allclose(spectrum(linear.A), spectrum(alone.A), rtol=1e-8)


@pytest.mark.parametrize("kind", ["point", "revolute", "prismatic", "distance"])
def test_states_that_keep_the_constraints_are_those_that_a_run_reaches(kind):
    """Positions and velocities of a run that starts a little off, along the basis, stay on the constraints and follow
    exp(A t).
    """
    _, _, both, q, v = pair()
    arguments = {"distance": (1.0,), "point": ()}.get(kind, ((1.0, 2.0, 2.0),))
    held = [gc.grasped(both, 0.0, q, getattr(gc, kind)("hand", "grip", *arguments))]
    linear = gs.linearize(both, q, v, constraints=held)
    size, nv = 1e-5, both.nv
    x0 = size * np.random.default_rng(1).normal(size=len(linear.states))
    full = linear.basis @ x0
    q0, v0 = gc.project(both, 0.0, gs.step_configuration(both, q, full[:nv]), full[nv : 2 * nv], held)
    run = gs.simulate(both, q0, v0, (0, 1.5), constraints=held, rtol=1e-12, atol=1e-14)
    found = np.concatenate([gs.configuration_difference(both, q, run.q[-1]), run.v[-1]])
    expected = linear.basis @ (expm(1.5 * linear.A) @ x0)
    np.testing.assert_allclose(found, expected[: 2 * nv], atol=300 * size**2)


def test_redundant_rows_of_a_planar_loop_are_found():
    """Two parallel equal bars on hinges to a coupler, springs in the first: a parallelogram has one freedom and one
    frequency.
    """
    k, m, l = 5.0, 2.0, 0.8
    bar = lambda name, x: gs.Body(
        name,
        1e-9,
        inertia=(1e-9, 1e-9, 1e-9),
        joint=gs.Joint(
            f"{name}_j", "revolute", "ground", (x, 0, 0), axis=(0, 0, 1), stiffness=k if name == "a" else 0.0
        ),
    )
    ground = gs.Body("ground", 1.0, inertia=(1, 1, 1), joint=gs.Joint("g", "fixed"))
    coupler = gs.Body(
        "coupler", m, (0.5, 0.0, 0.0), (0.1, 0.1, 0.1), gs.Joint("c", "revolute", "a", (0, l, 0), axis=(0, 0, 1))
    )
    craft = gs.Spacecraft.build(
        "loop",
        [ground, bar("a", 0.0), bar("b", 1.0), coupler],
        frames=[gs.Frame("end", "coupler", (1.0, 0, 0)), gs.Frame("tip", "b", (0, l, 0))],
    )
    linear = gs.linearize(craft, constraints=[gc.revolute("tip", "end")])
    assert linear.A.shape == (2, 2)
    assert np.abs(np.linalg.eigvals(linear.A).imag).max() == pytest.approx(np.sqrt(k / (m * l * l)), rel=1e-6)


def test_a_knife_edge_takes_a_velocity_and_leaves_the_position():
    """A skate: three positions in the plane and two speeds are left of 6 + 6 under plane and upright constraints."""
    craft = gs.Spacecraft.build("skate", [gs.Body("s", 3.0, (0.1, 0, 0), (0.2, 0.3, 0.4), gs.Joint("root", "planar"))])
    edge = [gc.knife_edge("N", "s", (0, 1, 0))]
    linear = gs.linearize(craft, constraints=edge)
    assert linear.A.shape == (5, 5)
    moving = gs.linearize(craft, None, np.array([0.0, 2.0, 0.0]), constraints=edge)
    # gliding at 2 m/s with the centre of mass 0.1 m ahead of the edge, turning dies out: J' wdot = -m a v w
    values = np.linalg.eigvals(moving.A)
    assert values.real.min() == pytest.approx(-3.0 * 0.1 * 2.0 / (0.4 + 3.0 * 0.01), rel=1e-9)


def test_a_driven_constraint_is_followed_and_its_open_state_refused():
    _, _, both, q, v = pair()
    rod = gc.driven(gc.grasped(both, 0.0, q, gc.distance("hand", "grip", 1.0)), lambda t: 0.1 * t)
    with pytest.raises(ValueError, match="driven distance of hand and grip does not hold at the start"):
        gs.linearize(both, q, v, constraints=[rod])
    q0, v0 = gc.project(both, 0.0, q, v, [rod])
    assert gs.linearize(both, q0, v0, constraints=[rod]).A.shape == (2 * 15 - 2,) * 2


# ---- options


def test_locked_and_prescribed_joints_are_no_states():
    craft = hanging("free")
    linear = gs.linearize(craft, locked=["first"])
    assert linear.A.shape == (2 * 9,) * 2 and not any("first" in name for name in linear.states)
    stiff = gs.Spacecraft.build("stiff", [*craft.bodies[:1], _fixed(craft.bodies[1]), craft.bodies[2]])
    np.testing.assert_allclose(spectrum(linear.A), spectrum(gs.linearize(stiff).A), rtol=1e-9)
    driven = gs.linearize(craft, prescribed={"first": 0.3})
    assert driven.vdot[6] == pytest.approx(0.3) and driven.A.shape == linear.A.shape


def _fixed(body):
    return replace(body, joint=replace(body.joint, kind="fixed", stiffness=0.0, damping=0.0))


def test_pressed_stops_stiffen_and_parameters_count():
    craft = hanging(limits=gs.Limits(-0.2, 0.2))
    q = gs.neutral(craft)
    q[0] = 0.25
    soft = gs.linearize(craft, q)
    hard = gs.linearize(craft, q, stops=gs.Stops(stiffness=1e4))
    assert np.abs(np.linalg.eigvals(hard.A)).max() > 10 * np.abs(np.linalg.eigvals(soft.A)).max()
    heavy = gs.linearize(craft, q, parameters={"one.mass": 40.0, "first.stiffness": 1.0})
    again = gs.linearize(craft.with_values({"one.mass": 40.0, "first.stiffness": 1.0}), q)
    np.testing.assert_allclose(heavy.A, again.A, rtol=1e-12)


def test_outputs_and_inputs_by_name():
    craft = hanging("free")
    place = lambda craft, t, q, v: np.concatenate([gs.frame_pose(craft, q, "two").p, gs.jacobian(craft, q, "two") @ v])
    q, _ = random_state(craft, 4)
    linear = gs.linearize(craft, q, outputs=place)
    J = np.asarray(gs.jacobian(craft, q, "two"), dtype=float)
    nv = craft.nv
    np.testing.assert_allclose(linear.C[:3, :nv], J[3:], atol=1e-12)
    np.testing.assert_allclose(linear.C[3:, nv:], J, atol=1e-12)
    assert not linear.D.any() and linear.inputs[6] == "tau first (N m)"
    np.testing.assert_array_equal(linear.inputs_of("second"), [7, 8, 9])
    assert linear.state("first (rad)") == 6 and linear.state("first (rad/s)") == nv + 6
    with pytest.raises(ValueError, match="no state 'first'"):
        linear.state("first")


def test_wheels_have_a_speed_and_no_angle():
    craft = gs.Spacecraft.build("w", [gs.Body("bus", 10.0, inertia=(2, 3, 4)), gs.Wheel("rw", "bus", (0, 0, 1), 0.1)])
    linear = gs.linearize(craft)
    assert linear.A.shape == (13, 13) and "rw (rad/s)" in linear.states and "rw (rad)" not in linear.states


def test_laws_that_have_no_derivative_are_refused():
    craft = hanging()
    sampled = gs.Controller(lambda craft, t, q, v: -v, period=0.1)
    with pytest.raises(ValueError, match="sampled every 0.1 s.*to_control\\(\\).sample\\(0.1\\)"):
        gs.linearize(craft, control=sampled)
    with (
        pytest.warns(gs.SimulationWarning, match="cannot be compiled"),
        pytest.raises(ValueError, match="control law cannot be traced, so it cannot be differentiated"),
    ):
        gs.linearize(craft, control=lambda craft, t, q, v: np.zeros(craft.nv) if float(q[0]) > 0 else v)
    with pytest.raises(ValueError, match="memory has shape .2,.; expected .0,."):
        gs.linearize(craft, memory=(1.0, 2.0))
    with pytest.raises(ValueError, match="q has shape .2, 5.; expected one state"):
        gs.linearize(craft, np.tile(gs.neutral(craft), (2, 1)))
    with pytest.raises(ValueError, match="tau has shape"):
        gs.linearize(craft, None, None, np.zeros(2))


def test_a_law_may_ask_for_inputs():
    craft = hanging()
    law = lambda craft, t, q, v, gain: -gain * v
    found = gs.linearize(craft, control=law, inputs={"gain": 2.0})
    np.testing.assert_allclose(found.A, gs.linearize(craft, control=lambda craft, t, q, v: -2.0 * v).A)


def test_python_control_receives_names_and_the_same_step_response():
    control = pytest.importorskip("control")
    craft = hanging("free")
    linear = gs.linearize(craft)
    system = linear.to_control(["first"])
    assert system.ninputs == 1 and system.nstates == len(linear.states)
    assert system.state_labels == list(linear.states) and system.input_labels == ["tau first (N m)"]
    times = np.linspace(0, 1, 5)
    response = control.forced_response(system, times, np.full(5, 1e-4)).outputs
    push = lambda craft, t, q, v: gs.joint_torques(craft, {"first": 1e-4})
    run = gs.simulate(craft, None, None, (0, 1), control=push, save_at=times, rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(run.v.T, response[craft.nv :], atol=1e-8)


@pytest.mark.parametrize("door", [gs.linearize, gs.equilibrium])
def test_options_are_those_of_simulate(door):
    """The same names, types and defaults; what a door has of its own is no option of `simulate`."""
    asked = {p.name: p for p in inspect.signature(simulate).parameters.values() if p.kind is p.KEYWORD_ONLY}
    own = {p.name: p for p in inspect.signature(door).parameters.values() if p.kind is p.KEYWORD_ONLY}
    common = asked.keys() & own.keys()
    assert len(common) > 8
    for name in common:
        assert (own[name].annotation, own[name].default) == (asked[name].annotation, asked[name].default)


@pytest.mark.parametrize("door", [gs.linearize, gs.equilibrium, gs.modes])
def test_a_formation_is_refused_by_name(door):
    formation = gs.Formation({"a": box()})
    with pytest.raises(TypeError, match="expected a Spacecraft, got Formation.*gs.together"):
        door(formation)
