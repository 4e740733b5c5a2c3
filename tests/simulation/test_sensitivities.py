"""Derivatives of motion are exact: differences in thirty digits, through samples, memory, constraints and events."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from exact_runs import ExactRun, differences
from gyrostat import constraints as gc
from gyrostat.algebra import sin
from gyrostat.papers.forbes2019 import crafts
from random_trees import random_spacecraft

END = 0.3
TIGHT = {"rtol": 1e-13, "atol": 1e-15}


def start(craft, seed):
    rng = np.random.default_rng(seed)
    q = gs.step_configuration(craft, gs.neutral(craft), rng.normal(size=craft.nv))
    return q, 0.4 * rng.normal(size=craft.nv)


def direction_of(traj, seed):
    """A random change of everything at once, each about as large as what is changed."""
    columns = traj.data.sizes["by"]
    sizes = np.ones(columns)
    for one in traj.equations.varied:
        if one.entry is not None:
            value = traj.constants[0][traj.equations.layout.constant(one.entry)]
            sizes[one.columns] = np.linalg.norm(value) or 1.0
    return sizes * np.random.default_rng(seed).normal(size=columns)


def assert_as_differences(traj, q0, v0, seed=0, dt=0.05, bound=1e-9):
    """q and v at the end of the run, along a random direction of everything that was varied."""
    direction = direction_of(traj, seed)
    run, at = ExactRun(traj, q0, v0, dt), traj.equations.layout

    def end(eps):
        x = run.advance(run.start(direction, eps), float(np.diff(traj.data.attrs["t_span"])[0]))
        return np.concatenate([x[at["q"]], x[at["v"]]])

    expected = differences(end)
    found = np.concatenate([traj.data["q_by"].values[-1], traj.data["v_by"].values[-1]]) @ direction
    nq = len(q0)
    for part in (slice(0, nq), slice(nq, None)):
        np.testing.assert_allclose(found[part], expected[part], rtol=0, atol=bound * np.abs(expected[part]).max())


KINDS = [
    ("free", ("revolute", "universal")),
    ("free", ("spherical", "wheel")),
    ("planar", ("cylindrical", "planar")),
    ("spherical", ("prismatic", "cartesian")),
    ("fixed", ("free", "fixed", "revolute")),
]


def craft_of(base, kinds, seed):
    rng = np.random.default_rng(seed)
    for k in range(200):  # the first tree with just these joints
        craft = random_spacecraft(1000 * seed + k, links=len(kinds), kinds=kinds, base=base)
        if sorted(j.kind for j in craft.joints[1:]) == sorted(kinds):
            return craft, rng
    raise AssertionError(f"no tree with {kinds}")


@pytest.mark.parametrize(("base", "kinds"), KINDS, ids=lambda x: x if isinstance(x, str) else "-".join(x))
def test_all_joint_kinds_and_mass_properties_as_differences_in_thirty_digits(base, kinds):
    craft, _ = craft_of(base, kinds, 3)
    last = craft.bodies[-1]
    names = ["q0", "v0", f"{last.name}.mass", f"{last.name}.com", f"{craft.bodies[1].joint.name}.position"]
    q0, v0 = start(craft, 4)
    traj = gs.simulate(craft, q0, v0, (0.0, END), sensitivities=names, save_at=[END], **TIGHT)
    assert_as_differences(traj, q0, v0)


def crane(stiffness=3.0):
    """A base, two links that share a slider on a spring, a wheel across, a tool off every axis."""
    slider = gs.Joint("slider", "prismatic", "upper", (0.5, 0, 0), axis=(0, 0, 1), stiffness=stiffness, damping=0.4)
    bodies = [
        gs.Body("base", 30.0, (0.02, 0.01, 0.0), (3.0, 4.0, 5.0)),
        gs.Body("upper", 4.0, (0.3, 0, 0.1), (0.02, 0.2, 0.2), gs.Joint("shoulder", "revolute", "base", (0.4, 0, 0))),
        gs.Body("lower", 3.0, (0.2, 0, 0), (0.02, 0.1, 0.1), slider),
        gs.Wheel("wheel", "base", (0, 0.6, 0.8), 0.05),
    ]
    craft = gs.Spacecraft.build("crane", bodies, frames=[gs.Frame("tool", "lower", (0.3, 0.1, -0.2))])
    q, v = gs.neutral(craft), np.zeros(craft.nv)
    q[7:], v[:] = [0.4, -0.1], [0.1, -0.2, 0.15, 0.05, 0.0, -0.1, 0.3, -0.2, 4.0]
    return craft, q, v


def law(craft, t, q, v, gain):
    loads = np.array([sin(0.7 * q[7]) * gain[0] + gain[1] * v[6], 0.0, 0.03 * v[1]])
    return np.concatenate([np.zeros(6), loads])


def drag(craft, t, q, v):
    on_base, nothing = np.concatenate([np.zeros(3), -0.4 * v[3:6]]), np.zeros(6)
    return np.array([on_base, nothing, np.array([0.01, 0.0, 0.02 * q[7], 0.0, 0.1, 0.0]), nothing])


def output(craft, t, q, v, z, gain):
    return np.concatenate([np.zeros(6), [gain[0] * q[7] + gain[1] * v[6] - z[0], 0.0, 0.1 * z[0]]])


def integral(craft, t, q, v, z):
    return np.array([0.5 * q[7] + 0.1 * z[0]])


OPTIONS = {
    "law and environment": {"control": law, "environment": drag},
    "law with memory": {"control": gs.Controller(output, [0.2], derivative=integral)},
    "sampled law with memory": {"control": gs.Controller(output, [0.2], update=integral, period=0.11)},
    "lagging motors": {"control": law, "actuators": gs.Actuators(saturate=False, lag=0.3)},
    "prescribed joint": {"control": law, "prescribed": {"shoulder": lambda t: [0.5 * sin(3.0 * t)]}},
    "another formulation": {"control": law, "formulation": "dual_quaternion"},
}


@pytest.mark.parametrize("name", OPTIONS)
def test_whatever_acts_as_differences_in_thirty_digits(name):
    craft, q0, v0 = crane()
    names = ["q0", "v0", "lower.mass", "wheel.spin_inertia", "slider.stiffness", "slider.damping", "input:gain"]
    inputs = {"gain": np.array([-2.0, -0.5])}
    traj = gs.simulate(
        craft,
        q0,
        v0,
        (5.0, 5.0 + END),
        sensitivities=names,
        inputs=inputs,
        save_at=[5.0 + END],
        **OPTIONS[name],
        **TIGHT,
    )
    assert_as_differences(traj, q0, v0)


def test_closed_loops_as_differences_in_thirty_digits():
    """Of which one row too many is given: multipliers are not unique, motion is. Gravity acts, too."""
    craft, constraints, q0 = crafts.four_bar()
    v0 = gc.project(craft, 0.0, q0, np.linspace(-0.3, 0.4, craft.nv), constraints)[1]
    bodies = [b.name for b in craft.bodies]
    names = ["v0", f"{bodies[1]}.mass", f"{bodies[2]}.com", "input:gain"]
    drive = lambda craft, t, q, v, gain: gs.joint_torques(craft, {"crank": gain - 0.1 * v[6]})
    traj = gs.simulate(
        craft, q0, v0, (0.0, END), control=drive, constraints=constraints, inputs={"gain": 0.7}, sensitivities=names,
        environment=gs.environment.uniform_gravity((0.4, -0.9, 0.2)), save_at=[END], **TIGHT,
    )  # fmt: skip
    assert_as_differences(traj, q0, v0)


def hit(craft, t, q, v):
    return q[7] - 0.43 - 0.1 * q[8]


def rebound(craft, t, q, v, gain):
    """The shoulder bounces off, the slider is moved, the base gets a blow that depends on the state and the time."""
    q, v = np.array(q), np.array(v)
    v[6], v[0], q[8] = -0.6 * v[6], v[0] + gain[0] * v[6] * q[8], 0.9 * q[8] + 0.01 * t
    return q, v


def test_an_event_with_an_effect_moves_with_what_is_varied():
    craft, q0, v0 = crane()
    names = ["q0", "v0", "lower.mass", "input:gain"]
    event = gs.When(hit, "bounce", direction=1, effect=rebound)
    inputs = {"gain": np.array([-2.0, -0.5])}
    traj = gs.simulate(
        craft, q0, v0, (0.0, END), control=law, events=event, inputs=inputs, sensitivities=names, save_at=[END], **TIGHT
    )
    (happened,) = traj.events
    direction = direction_of(traj, 1)
    run, at = ExactRun(traj, q0, v0, 0.05), traj.equations.layout
    g = lambda x: hit(None, None, x[at["q"]], None)

    def through(eps):
        x = run.to_event(run.start(direction, eps), g, happened.t)
        t = x[0]
        q, v = rebound(None, x[0], x[at["q"]], x[at["v"]], x[at["input gain"]])
        x[at["q"]], x[at["v"]] = q, v
        x = run.advance(x, END)
        return np.concatenate([[t], x[at["q"]], x[at["v"]]])

    expected = differences(through)
    moved = traj.event_sensitivity("lower.mass")
    assert moved.shape == (1,)
    found_t = traj.data["t_event_by"].values[0] @ direction
    found = np.concatenate([traj.data["q_by"].values[-1], traj.data["v_by"].values[-1]]) @ direction
    np.testing.assert_allclose(found_t, expected[0], rtol=1e-9)
    np.testing.assert_allclose(found, expected[1:], rtol=0, atol=1e-9 * np.abs(expected[1:]).max())


@pytest.mark.parametrize("effect", [None, rebound], ids=["stops", "jumps and stops"])
def test_the_end_that_an_event_brings_moves_with_what_is_varied(effect):
    craft, q0, v0 = crane()
    names = ["v0", "lower.mass", "input:gain"]
    event = gs.When(hit, "there", terminal=True, direction=1, effect=effect)
    inputs = {"gain": np.array([-2.0, -0.5])}
    traj = gs.simulate(
        craft, q0, v0, (0.0, END), control=law, events=event, inputs=inputs, sensitivities=names, **TIGHT
    )
    assert traj.status == ("stopped",)
    direction = direction_of(traj, 2)
    run, at = ExactRun(traj, q0, v0, 0.05), traj.equations.layout

    def there(eps):
        x = run.to_event(run.start(direction, eps), lambda x: hit(None, None, x[at["q"]], None), float(traj.t_end))
        q, v = x[at["q"]], x[at["v"]]
        if effect is not None:
            q, v = effect(None, x[0], q, v, x[at["input gain"]])
        return np.concatenate([[x[0]], q, v])

    expected = differences(there)
    found = [traj.data[f"{name}_end_by"].values @ direction for name in ("t", "q", "v")]
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-9)
    np.testing.assert_allclose(np.concatenate(found[1:]), expected[1:], rtol=0, atol=1e-9 * np.abs(expected[1:]).max())
    by_mass = traj.sensitivity("t_end", "lower.mass")
    np.testing.assert_array_equal(by_mass, traj.event_sensitivity("lower.mass")[0])


def test_with_conserved_momentum_as_without():
    craft, q0, v0 = crane()
    given = {"control": law, "inputs": {"gain": np.array([-2.0, -0.5])}, "save_at": [0.0, 0.5, 1.0], **TIGHT}
    names = ["q0", "v0", "lower.mass", "base.com", "input:gain"]
    free = gs.simulate(craft, q0, v0, (0.0, 1.0), sensitivities=names, **given)
    kept = gs.simulate(craft, q0, v0, (0.0, 1.0), sensitivities=names, conserve="momentum", **given)
    for name in names:
        for what in ("q", "v"):
            expected = free.sensitivity(what, name)
            np.testing.assert_allclose(
                kept.sensitivity(what, name), expected, rtol=0, atol=1e-10 * np.abs(expected).max()
            )


METHODS = {
    "rk45": {"rtol": 1e-11, "atol": 1e-13},
    "gauss16": {"rtol": 1e-11, "atol": 1e-13},
    "rk4": {"step": 0.001},
    "gauss6": {"step": 0.02},
}


@pytest.mark.parametrize("integrator", METHODS)
def test_every_integrator_has_the_same_derivatives(integrator):
    craft, q0, v0 = crane()
    names = ["v0", "lower.mass", "input:gain"]
    given = {
        "control": law,
        "inputs": {"gain": np.array([-2.0, -0.5])},
        "save_at": [0.0, 0.5, 1.0],
        "sensitivities": names,
    }
    best = gs.simulate(craft, q0, v0, (0.0, 1.0), **given, **TIGHT)
    other = gs.simulate(craft, q0, v0, (0.0, 1.0), integrator=integrator, **given, **METHODS[integrator])
    for name in names:
        expected = best.sensitivity("v", name)
        np.testing.assert_allclose(other.sensitivity("v", name), expected, rtol=0, atol=2e-9 * np.abs(expected).max())


def test_derivatives_are_as_exact_as_asked_even_of_a_craft_at_rest():
    """The motion alone would allow steps of any length: nothing moves. Its derivatives swing."""
    craft, q0, _ = crane(stiffness=400.0)
    q0[8] = craft.joint_named("slider").rest if np.ndim(craft.joint_named("slider").rest) == 0 else 0.0
    given = {"save_at": [4.0], "sensitivities": ["q0", "slider.rest"]}
    fine = gs.simulate(craft, q0, None, (0.0, 4.0), rtol=1e-13, atol=1e-15, **given)
    usual = gs.simulate(craft, q0, None, (0.0, 4.0), rtol=1e-6, atol=1e-8, **given)
    expected = fine.sensitivity("v", "slider.rest")
    assert np.abs(expected).max() > 1.0
    np.testing.assert_allclose(
        usual.sensitivity("v", "slider.rest"), expected, rtol=0, atol=2e-5 * np.abs(expected).max()
    )
    alone = gs.simulate(craft, q0, None, (0.0, 4.0), rtol=1e-6, atol=1e-8)
    assert usual.state.steps[0] > 5 * alone.state.steps[0]


def test_the_motion_is_no_less_exact_than_without():
    craft, q0, v0 = crane()
    exactly = gs.simulate(craft, q0, v0, (0.0, 5.0), save_at=[5.0], **TIGHT)
    alone = gs.simulate(craft, q0, v0, (0.0, 5.0), save_at=[5.0], rtol=1e-7, atol=1e-9)
    beside = gs.simulate(
        craft, q0, v0, (0.0, 5.0), save_at=[5.0], rtol=1e-7, atol=1e-9, sensitivities=["q0", "v0", "base.mass"]
    )
    assert np.abs(beside.v - exactly.v).max() <= 1.5 * np.abs(alone.v - exactly.v).max()


def test_of_frames_and_of_functions_as_differences_of_runs():
    """Position, turn and twist of a frame; a function of state and input; by a value that moves the frame, too."""
    craft, q0, v0 = crane()
    names = ["slider.position", "input:gain"]
    gain = np.array([-2.0, -0.5])
    function = lambda craft, t, q, v, gain: np.outer(v[6:8] + t, gs.center_of_mass(craft, q)) * gain[1]

    def run(direction, eps, **more):
        position = craft.value("slider.position") + eps * direction[:3]
        own = {"parameters": {"slider.position": position}, "inputs": {"gain": gain + eps * direction[3:]}}
        return gs.simulate(craft, q0, v0, (0.0, 1.0), control=law, save_at=[0.0, 0.4, 1.0], **own, **TIGHT, **more)

    def shown(traj, eps, direction):
        R, p = traj.frame("tool")
        own = craft.with_values({"slider.position": traj.parameters["slider.position"][0]})
        rows = [
            function(own, t, q, v, gain + eps * direction[3:])
            for t, q, v in zip(traj.time, traj.q, traj.v, strict=True)
        ]
        return R, p, traj.twist("tool"), np.array(rows)

    traj = run(np.zeros(5), 0.0, sensitivities=names)
    direction, e = np.random.default_rng(5).normal(size=5), 1e-4
    steps = [(shown(run(direction, w * e), w * e, direction), c) for w, c in ((1, 8), (-1, -8), (2, -1), (-2, 1))]
    dR, dp, dV, df = (sum(c * s[k] for s, c in steps) / (12 * e) for k in range(4))
    frame = {name: traj.sensitivity("tool", name) for name in names}
    total = [
        sum(getattr(frame[n], part) @ d for n, d in zip(names, (direction[:3], direction[3:]), strict=True))
        for part in frame[names[0]]._fields
    ]
    turn = np.einsum("tij,tkj->tik", dR, traj.frame("tool")[0])
    np.testing.assert_allclose(total[0], dp, atol=1e-10)
    np.testing.assert_allclose(total[1], np.stack([turn[:, 2, 1], turn[:, 0, 2], turn[:, 1, 0]], axis=-1), atol=1e-10)
    np.testing.assert_allclose(total[2], dV, atol=1e-10)
    of_function = (
        traj.sensitivity(function, names[0]) @ direction[:3] + traj.sensitivity(function, names[1]) @ direction[3:]
    )
    assert of_function.shape == (3, 2, 3)
    np.testing.assert_allclose(of_function, df, atol=1e-10)


def test_runs_of_a_batch_have_the_derivatives_of_each_alone_bit_for_bit():
    craft, q0, v0 = crane()
    masses, names = np.array([2.0, 3.0, 4.5]), ["q0", "lower.mass", "input:gain"]
    gains = np.array([[-2.0, -0.5], [-1.0, 0.2], [0.5, -0.4]])
    given = {"control": law, "save_at": [0.0, 0.5], "sensitivities": names, "step": 0.05}
    batch = gs.simulate(craft, q0, v0, (0.0, 0.5), parameters={"lower.mass": masses}, inputs={"gain": gains}, **given)
    assert batch.sensitivity("q", "q0").shape == (3, 2, craft.nv, craft.nv)
    for k in range(3):
        alone = gs.simulate(
            craft, q0, v0, (0.0, 0.5), parameters={"lower.mass": masses[k]}, inputs={"gain": gains[k]}, runs=k, **given
        )
        for name in names:
            np.testing.assert_array_equal(batch.sensitivity("v", name)[k], alone.sensitivity("v", name))
            for one, two in zip(batch.sensitivity("tool", name), alone.sensitivity("tool", name), strict=True):
                np.testing.assert_allclose(one[k], two, rtol=1e-15)


def test_an_interrupted_run_goes_on_with_its_derivatives(tmp_path):
    craft, q0, v0 = crane()
    names = ["q0", "lower.mass"]
    control = gs.Controller(output, [0.2], update=integral, period=0.11)
    given = {"control": control, "inputs": {"gain": np.array([-2.0, -0.5])}, "sensitivities": names}
    whole = gs.simulate(craft, q0, v0, (0.0, 1.0), save_at=[0.0, 0.4, 1.0], **given)
    with pytest.warns(UserWarning, match="took 7 steps"):
        part = gs.simulate(craft, q0, v0, (0.0, 1.0), save_at=[0.0, 0.4, 1.0], max_steps=7, **given)
    part.save(tmp_path / "part.nc")
    for before in (part, gs.Trajectory.load(tmp_path / "part.nc")):
        after = gs.simulate(craft, resume=before, control=control)
        for name in names:
            np.testing.assert_array_equal(after.sensitivity("v", name), whole.sensitivity("v", name))


def test_a_file_holds_the_derivatives_and_a_run_with_events_goes_on_from_it(tmp_path):
    """Of several events, some happened before the interruption; the file says as much as the run."""
    craft, q0, v0 = crane()
    slides = gs.When(lambda craft, t, q, v: q[8] + 0.11, "slides")
    events = [gs.When(hit, "bounce", direction=1, effect=rebound), slides]
    given = {"control": law, "events": events, "inputs": {"gain": np.array([-2.0, -0.5])}, "save_at": [0.0, 0.1, END]}
    whole = gs.simulate(craft, q0, v0, (0.0, END), sensitivities=["v0", "lower.mass"], **given)
    whole.save(tmp_path / "whole.nc")
    read = gs.Trajectory.load(tmp_path / "whole.nc")
    assert len(whole.events) == 3  # the effect brings the slider back, and it slides once more
    np.testing.assert_array_equal(read.event_sensitivity("v0"), whole.event_sensitivity("v0"))
    for one, two in zip(read.sensitivity("tool", "v0"), whole.sensitivity("tool", "v0"), strict=True):
        np.testing.assert_array_equal(one, two)
    seen = set()
    for steps in (2, 4, 6):
        with pytest.warns(UserWarning, match="steps and reached only"):
            part = gs.simulate(craft, q0, v0, (0.0, END), sensitivities=["v0", "lower.mass"], max_steps=steps, **given)
        seen.add(len(part.events))
        part.save(tmp_path / "part.nc")
        done = gs.simulate(craft, resume=gs.Trajectory.load(tmp_path / "part.nc"), control=law, events=events)
        for name in ("q_by", "v_by", "t_event_by", "q_end_by"):
            np.testing.assert_array_equal(done.data[name].values, whole.data[name].values)
    assert len(seen) > 1


def test_what_cannot_be_differentiated_is_refused_by_name():
    craft, q0, v0 = crane()

    def branching(craft, t, q, v):
        return -v if v[6] > 0 else 0.0 * v

    def stuck(craft, t, q, v):
        return (q, v) if v[6] > 0 else (q, -v)

    def run(names, **options):
        return gs.simulate(craft, q0, v0, (0.0, 0.1), sensitivities=names, **options)

    with pytest.raises(ValueError, match="(?s)sensitivities: the control law cannot be traced.*branching"):
        run(["q0"], control=branching)
    with pytest.raises(ValueError, match="sensitivities: event 'wall' cannot be traced"):
        run(["q0"], events=gs.When(hit, "wall", effect=stuck))
    with pytest.raises(ValueError, match="'q0' twice"):
        run(["q0", "q0"])
    with pytest.raises(ValueError, match="there is no input 'gian'.*gain"):
        run(["input:gian"], control=law, inputs={"gain": np.zeros(2)})
    with pytest.raises(ValueError, match="'lower.mas' is neither.*Did you mean 'mass'"):
        run(["lower.mas"])
    with pytest.raises(TypeError, match="sensitivities hold 3"):
        run([3])
    plain = gs.simulate(craft, q0, v0, (0.0, 0.1))
    with pytest.raises(ValueError, match="was not differentiated by 'lower.mass'.*without sensitivities="):
        plain.sensitivity("q", "lower.mass")
    with pytest.raises(ValueError, match="was not differentiated by 'upper.mass'.*lower.mass"):
        run(["lower.mass"]).sensitivity("q", "upper.mass")
    with pytest.raises(ValueError, match="resume: .*sensitivities"):
        gs.simulate(craft, resume=plain, t_span=(0.0, 0.2), sensitivities=["q0"])
    with pytest.raises(TypeError, match="sensitivities= is no option"):
        gs.simulate_phases(craft, q0, v0, [gs.Phase(0.1)], sensitivities=["q0"])
    formation = gs.Formation({"all": gs.Group(craft, ["one", "two"])})
    with pytest.raises(TypeError, match="sensitivities= is no option of a formation"):
        gs.simulate(formation, None, (0.0, 0.1), sensitivities=["v0"])


@pytest.mark.parametrize("conserve", [None, "momentum"])
def test_of_one_body_whose_mass_matrix_is_a_constant(conserve):
    """Its momentum keeps the derivative by v0 that it has at the start."""
    body = gs.Spacecraft.build("body", [gs.Body("body", 10.0, (0.1, 0.2, 0.0), (2.0, 3.0, 4.0))])
    traj = gs.simulate(body, None, [0.1, 0.2, 0.3, 1, 2, 3], (0, 2), sensitivities="v0", conserve=conserve, rtol=1e-12)
    by_v0 = traj.sensitivity(lambda craft, t, q, v: gs.momentum(craft, q, v), "v0")
    np.testing.assert_allclose(by_v0[-1], by_v0[0], rtol=0, atol=1e-9)
    assert np.abs(by_v0[0]).max() > 1.0
