"""Bad input: what was found, what is allowed."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
import manoeuvre

CRAFT, Q, V = manoeuvre.start()
TWICE = np.array([Q, Q])


def nothing(craft, t, q, v):
    return np.zeros(12)


def case(match, error=ValueError, **options):
    """Options of a run that must be refused with that message; q0, v0 and t_span may be among them."""
    return pytest.param(match, error, options, id=match[:60])


@pytest.mark.parametrize(
    "match, error, options",
    [
        case(r"q0 has shape \(12,\); expected \(13,\), or \(runs, 13\), for servicer", q0=np.zeros(12)),
        case(r"v0 has shape \(\); expected \(12,\)", v0=1.0),
        case(r"q0 holds numbers that are not finite: \[nan\]", q0=np.append(Q[:-1], np.nan)),
        case(r"quaternion of joint 'base' has norm 2; expected 1. It is scalar first", q0=np.append(2 * Q[:4], Q[4:])),
        case(r"q0 \(2, 13\) and v0 \(3, 12\) have different numbers of runs", q0=TWICE, v0=np.zeros((3, 12))),
        case(r"hold no run at all", q0=np.zeros((0, 13)), v0=np.zeros((0, 12))),
        case(r"different numbers of runs: \[2, 3\]", q0=TWICE, parameters={"link_1.mass": [1.0, 2.0, 3.0]}),
        case(r"'link_9.mass' is no parameter: servicer has no body 'link_9'. Did you mean 'link_",
             parameters={"link_9.mass": 1.0}),
        case(r"parameters\['link_1.com'\] has shape \(2,\)", parameters={"link_1.com": [0.0, 1.0]}),
        case(r"t_span is \(1, 0\); expected \(start, end\) in seconds", t_span=(1, 0)),
        case(r"t_span is \(0, inf\)", t_span=(0, np.inf)),
        case(r"t_span is \(0, 1000.*expected \(start, end\) in seconds", t_span=(0, 10**400)),
        case(r"t_span is 'ab'; expected \(start, end\) in seconds", t_span="ab"),
        case(r"t_span is \(0.0, 1e-13\): times nearer than 1e-12 s count as one", t_span=(0, 1e-13)),
        case(r"simulate needs t_span", TypeError, t_span=None),
        case(r"save_at must be increasing times", save_at="now"),
        case(r"resume is 3; expected a Trajectory", TypeError, resume=3),
        case(r"save_at must be increasing times", save_at=[1.0, 0.5]),
        case(r"save_at runs from 0.0 to 3.0 s, beyond t_span \(0.0, 1.0\)", save_at=[0.0, 3.0]),
        case(r"integrator 'dop835' is not known. Did you mean 'dop853'", integrator="dop835"),
        case(r"integrator 'rk4' takes fixed steps: give step= in seconds", integrator="rk4"),
        case(r"step is -0.1; expected a positive number", step=-0.1),
        case(r"max_step is 0; expected a positive number", max_step=0),
        case(r"step is '0.01'; expected a positive number", integrator="rk4", step="0.01"),
        case(r"progress is 'no'; expected True, False, or None", error=TypeError, progress="no"),
        case(r"formulation 'recursiv' is not known. Did you mean 'recursive'", formulation="recursiv"),
        case(r"rtol is 1e-15, which float64 cannot meet; expected 2.3e-14 at least", rtol=1e-15),
        case(r"rtol is -1; expected positive numbers", rtol=-1),
        case(r"atol is 0; expected positive numbers", atol=0),
        case(r"atol has shape \(3,\); expected one number, or one for each of q and v \(25\)", atol=[1e-9] * 3),
        case(r"has no joint 'joint_7'. Did you mean 'joint_", prescribed={"joint_7": 0.0}),
        case(r"has no joint 'elbow'", locked=["elbow"]),
        case(r"joint 'base' is locked, but v0 moves it", locked=["base"]),
        case(r"joint 'joint_1' is both locked and prescribed", locked="joint_1", prescribed={"joint_1": 0.1}),
        case(r"prescribed\['joint_1'\] has shape \(2,\); expected 1 accelerations", prescribed={"joint_1": [0.0, 1.0]}),
        case(r"conserve 'energy' is not known", conserve="energy"),
        case(r"conserve='momentum' holds where nothing acts from outside: leave out the env", conserve="momentum",
             environment=gs.environment.uniform_gravity([0, 0, 1])),
        case(r"the control law returns nan in entry 7 of tau, whatever the state",
             control=lambda craft, t, q, v: np.where(np.arange(12) == 7, np.nan, 0.0)),
        case(r"something loads its base", conserve="momentum", control=lambda craft, t, q, v: -v),
        case(r"something loads its base", conserve="momentum", prescribed={"base": np.zeros(6)}),
        case(r"loads its base: effect of event '<lambda>'", conserve="momentum",
             events=gs.When(lambda craft, t, q, v: q[7], effect=lambda craft, t, q, v: (q, v))),
        case(r"control is 3; expected a function", TypeError, control=3),
        case(r"environment is 3; expected a function", TypeError, environment=3),
        case(r"event 0 is 7; expected a function", TypeError, events=[7]),
        case(r"event 0: direction is 2", events=[gs.When(lambda craft, t, q, v: t, direction=2)]),
        case(r"the control law returned tau of shape \(6,\); expected \(12,\)",
             control=lambda craft, t, q, v: np.zeros(6)),
        case(r"the environment returned wrenches of shape \(2, 6\); expected \(7, 6\)",
             environment=lambda craft, t, q, v: np.zeros((2, 6))),
        case(r"the controller's memory returned z of shape \(1,\); expected \(2,\)",
             control=gs.Controller(lambda craft, t, q, v, z: np.zeros(12), [0.0, 0.0],
                                   lambda craft, t, q, v, z: np.zeros(1))),
        case(r"asks for 'gain', which this run does not have. It may ask for: run, seed", TypeError,
             control=lambda craft, t, q, v, gain: np.zeros(12)),
        case(r"takes 3 arguments \(craft, t, q\); it is given 4: craft, t, q, v", TypeError,
             control=lambda craft, t, q: q),
        case(r"runs has shape \(3,\); expected the numbers of 2 runs", q0=TWICE, runs=[1, 2, 3]),
        case(r"seed is 1.5; expected a whole number", TypeError, seed=1.5),
        case(r"max_steps is 0; expected a whole number, at least one", max_steps=0),
        case(r"max_steps is 1000000.0; expected a whole number, at least one", max_steps=1e6),
        case(r"breakpoints are \[nan\]; expected times", breakpoints=[np.nan]),
        case(r"q0 holds complex128; expected real numbers", q0=Q + 0j),
        case(r"v0 holds <U1; expected real numbers", v0=["a"] * 12),
        case(r"t_span is \('0', '1'\); expected \(start, end\) in seconds", t_span=("0", "1")),
        case(r"rtol is '1e-3'; expected real numbers", rtol="1e-3"),
        case(r"breakpoints holds <U3; expected real numbers", breakpoints=["0.1"]),
        case(r"parameters\['link_3.mass'\] is \(7\+1j\); expected real numbers",
             parameters={"link_3.mass": 7 + 1j}),
        case(r"inputs\['gain'\] is {}; expected real numbers", inputs={"gain": {}},
             control=lambda craft, t, q, v, gain: -gain * v),
        case(r"constraints is 'weld'; expected a list of constraints", TypeError, constraints="weld"),
        case(r"constraints is \[1\]; expected a list of constraints", TypeError, constraints=[1]),
        case(r"constraints is Combined\(.*; expected a list of constraints", TypeError,
             constraints=gs.constraints.weld("tool", "base")),
        case(r"the control law returned tau array\(.*; expected real numbers",
             control=lambda craft, t, q, v: np.append(np.zeros(11), complex(float(v[11]), 0.1))),
        case(r"the environment returned wrenches array\(.*; expected real numbers",
             environment=lambda craft, t, q, v: np.full((7, 6), 0.1j)),
        case(r"an event returned a value .*1j.*; expected real numbers",
             events=lambda craft, t, q, v: np.complex128(1j)),
        case(r"an event returned a value of shape \(13,\); expected one number", events=lambda craft, t, q, v: q),
    ],
)  # fmt: skip
def test_refused(match, error, options):
    q0, v0, t_span = options.pop("q0", Q), options.pop("v0", V), options.pop("t_span", (0, 1))
    with pytest.raises(error, match=match):
        gs.simulate(CRAFT, q0, v0, t_span, **options)


@pytest.mark.parametrize(
    "match, options",
    [
        ("either continuous", {"derivative": nothing, "period": 1.0}),
        ("give its period= in seconds", {"update": nothing}),
        ("period is 0 s; expected a positive number", {"period": 0}),
        ("a Controller with state0 needs derivative= ", {"state0": [1.0]}),
    ],
)
def test_controllers_that_cannot_be(match, options):
    with pytest.raises(ValueError, match=match):
        gs.Controller(nothing, **options)


@pytest.mark.parametrize("value", [1j, "1", [1.0], None, np.nan, -1.0])
@pytest.mark.parametrize(
    "build",
    [
        lambda x: gs.Actuators(lag=x),
        lambda x: gs.Actuators(lag=0.1, rate=x),
        lambda x: gs.Stops(stiffness=x),
        lambda x: gs.Stops(damping=x),
        lambda x: gs.Stops(width=x),
    ],
)
def test_motors_and_stops_that_cannot_be(build, value):
    """A lag of NaN was left out without a word; a stop of negative stiffness drove its joint."""
    with pytest.raises(ValueError, match="expected one number|expected real numbers"):
        build(value)


def test_loads_by_hand_are_real_numbers():
    sim = gs.Simulation(CRAFT)
    sim.reset(Q, V)
    for load in (np.zeros(12) + 1j, np.array(["1"] * 12)):
        with pytest.raises(ValueError, match="the load holds .*; expected real numbers"):
            sim.step(load, 0.1)
    with pytest.raises(ValueError, match="t0 is 'now'; expected a time in seconds"):
        sim.reset(Q, V, t0="now")
    assert sim.t == 0.0


def test_functions_of_one_state_drop_no_part_of_a_number():
    for x in (Q + 0.1j, np.array(["1"] * 13)):
        with pytest.raises(ValueError, match=r"expected an array of shape \(13,\)"):
            gs.mass_matrix(CRAFT, x)
    with pytest.raises(ValueError, match="body 'a': mass is 3j; expected one number"):
        gs.Body("a", 3j, inertia=(1, 1, 1))


def test_torques_by_joint_name():
    tau = gs.joint_torques(CRAFT, {"joint_2": 3.0, "base": np.arange(6.0)})
    np.testing.assert_array_equal(tau, [0, 1, 2, 3, 4, 5, 0, 3, 0, 0, 0, 0])
    with pytest.raises(ValueError, match=r"tau\['base'\] has shape \(\); expected the 6 values of a free joint"):
        gs.joint_torques(CRAFT, {"base": 1.0})
    with pytest.raises(ValueError, match="has no joint 'joint'"):
        gs.joint_torques(CRAFT, {"joint": 1.0})


def test_fixed_bases_have_no_momentum_to_conserve():
    base = gs.Body("base", 1.0, inertia=(1, 1, 1), joint=gs.Joint("base", "fixed"))
    arm = gs.Body("arm", 1.0, inertia=(1, 1, 1), joint=gs.Joint("hinge", "revolute", "base"))
    with pytest.raises(ValueError, match="needs a free base; fixed arm's is fixed"):
        gs.simulate(gs.Spacecraft.build("fixed arm", [base, arm]), t_span=(0, 1), conserve="momentum")


def test_what_a_continued_run_refuses():
    first = gs.simulate(CRAFT, Q, V, (0, 1), save_at=[1.0])
    with pytest.raises(ValueError, match="those of the run that is continued. Leave them out"):
        gs.simulate(CRAFT, Q, resume=first)
    other = gs.Spacecraft.build("other", [gs.Body("body", 1.0, inertia=(1, 1, 1))])
    with pytest.raises(ValueError, match="the trajectory belongs to <Spacecraft servicer"):
        gs.simulate(other, resume=first, t_span=(0, 2))


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("link_3.mass", 51.0),
        ("joint_2.damping", 0.1),
        ("joint_4.position", (0.0, 0.1, 1.0)),
        ("joint_1.axis", (0, 1, 0)),
    ],
)
def test_a_run_does_not_go_on_with_another_spacecraft(parameter, value):
    """It went on as if the craft had been that all the time."""
    craft, q, v = manoeuvre.start()
    run = gs.simulate(craft, q, v, (0, 1))
    other = craft.with_values({parameter: value})
    with pytest.raises(ValueError, match=f"not as it was in the run that is continued: {parameter} is .*, was "):
        gs.simulate(other, resume=run, t_span=(0, 2))
    assert gs.simulate(craft.with_values({}), resume=run, t_span=(0, 2)).ok


def test_a_run_does_not_go_on_with_a_law_of_another_memory():
    craft, q, v = manoeuvre.start()
    run = gs.simulate(craft, q, v, (0, 1))
    law = gs.Controller(lambda craft, t, q, v, z: np.zeros(12), np.zeros(3), derivative=lambda craft, t, q, v, z: -z)
    with pytest.raises(ValueError, match="Give those that it was run with"):
        gs.simulate(craft, resume=run, t_span=(0, 2), control=law)


def test_a_batch_that_does_not_fit_into_memory_says_so_before_it_takes_any():
    """Two terabytes: the process was killed."""
    craft, q, v = manoeuvre.start()
    times = np.linspace(0, 1, 100_000)
    with pytest.raises(MemoryError, match=r"100,000 runs, each kept at 100,000 times, need 3.73e\+03 GiB .*save_at="):
        gs.simulate(craft, np.broadcast_to(q, (100_000, 13)), v, (0, 1), save_at=times)


def test_a_row_that_stands_for_very_many_runs_is_not_written_out_first():
    """Looking whether its numbers are finite took 100 GB: the process was killed."""
    craft, q, v = manoeuvre.start()
    with pytest.raises(MemoryError, match=r"100,000,000,000 runs need 1.49e\+05 GiB .* Make the runs in several calls"):
        gs.simulate(craft, np.broadcast_to(q, (10**11, 13)), v, (0, 1))


@pytest.mark.parametrize("threads", [0, -3, 1.5, True, "2"])
def test_threads_are_counted(threads):
    """Any number was taken, and none of these meant anything."""
    craft, q, v = manoeuvre.start()
    with pytest.raises(ValueError, match="threads is .*; expected a whole number, at least one"):
        gs.simulate(craft, q, v, (0, 1), threads=threads)
    with pytest.raises(ValueError, match="threads is .*; expected a whole number, at least one"):
        gs.compile(gs.mass_matrix, craft, threads=threads)
