"""FMUs, run by FMPy: nothing that its validation finds, the motion of `gs.simulate`, and errors in place of crashes."""

from __future__ import annotations

import shutil
import subprocess
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

pytest.importorskip("fmpy")

import fmpy
from fmpy.fmi1 import FMICallException
from fmpy.validation import validate_fmu

import gyrostat as gs
from c_compiler import COMPILERS, STRICT
from fmu_instances import co_simulated, needs_binary, running
from gyrostat import scenario
from gyrostat.algebra import rotation, where
from gyrostat.control.joint_tracking import effective_inertias
from gyrostat.control.passive import has_passive_forces, passive_forces
from gyrostat.environment import uniform_gravity
from gyrostat.export import fmu
from gyrostat.models import servicer
from random_trees import random_spacecraft, random_state

VERSIONS = ("3.0", "2.0")
pytestmark = needs_binary
CRAFT = servicer()
Q0 = CRAFT.q({"joint_2": 0.5, "joint_3": -0.9, "joint_5": 0.4})
V0 = 0.1 * np.array([0.02, -0.03, 0.01, 0.05, 0.0, -0.02, 0.1, -0.1, 0.05, 0.02, -0.1, 0.2])
TAU = 4e-4 * np.linspace(-0.5, 1.0, 12)  # base wrench and joints
STEP = 0.05


def loaded(craft, t, q, v, tau):
    return tau


@pytest.fixture(scope="module", params=VERSIONS)
def plant(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(f"plant{request.param[0]}")
    return fmu(
        CRAFT,
        folder / "plant.fmu",
        version=request.param,
        step=STEP,
        outputs=["momentum", "reaction_wrenches", "kinetic_energy", "center_of_mass"],
        frames=["tool"],
        parameters=["link_6.mass", "link_3.com"],
        q0=Q0,
        v0=V0,
        t_span=(0.0, 100.0),
    )


def inputs(made, tau=TAU):
    return {variable.name: float(x) for variable, x in zip(made.variables.inputs, tau, strict=True)}


def test_fmpy_finds_nothing_wrong(plant):
    assert validate_fmu(str(plant.path)) == []
    described = fmpy.read_model_description(str(plant.path))
    assert described.coSimulation is not None and described.modelExchange is not None
    by_name = {v.name: v for v in described.modelVariables}
    assert by_name["load.base.vx"].unit == "N" and by_name["load.joint_3"].unit == "N.m"
    assert by_name["q.joint_2"].start == "0.5" and by_name["link_6.mass"].variability == "tunable"


def test_its_build_description_is_read_and_its_sources_are_listed(plant):
    described = fmpy.read_model_description(str(plant.path))
    with zipfile.ZipFile(plant.path) as archive:
        names = set(archive.namelist())
    for build in described.buildConfigurations:  # of FMI 2.0, one for each kind
        listed = build.sourceFileSets[0].sourceFiles
        assert listed == [f"fmi{plant.version[0]}.c", "plant_model.c"]
    assert {f"sources/{name}" for name in (*listed, "core.h", "model_data.h", "plant_model.h")} <= names


def test_a_hundred_seconds_of_co_simulation_are_those_of_simulate(plant):
    times = np.arange(0.0, 101.0)
    expected = gs.simulate(
        CRAFT, Q0, V0, (0.0, 100.0), control=loaded, inputs={"tau": TAU}, integrator="rk4", step=STEP, save_at=times
    )
    names = [variable.name for variable in plant.variables.states]
    found = fmpy.simulate_fmu(
        str(plant.path),
        fmi_type="CoSimulation",
        start_values=inputs(plant),
        stop_time=100.0,
        step_size=0.5,
        output_interval=1.0,
        output=names,
    )
    states = np.array([found[name] for name in names]).T
    assert np.abs(expected.q - Q0).max() > 1.0  # it moves
    np.testing.assert_allclose(states, np.hstack([expected.q, expected.v]), rtol=0, atol=2e-12)


def test_a_hundred_seconds_of_model_exchange_are_those_of_simulate(plant, tmp_path):
    expected = gs.simulate(CRAFT, Q0, V0, (0.0, 100.0), control=loaded, inputs={"tau": TAU}, save_at=[0.0, 50.0, 100.0])
    with running(plant, tmp_path, "ModelExchange") as instance:
        instance.begin(**inputs(plant))
        assert instance.next_jump() is None
        instance.fmu.enterContinuousTimeMode()
        y0 = np.hstack([Q0, V0])
        found = solve_ivp(instance.rates, (0.0, 100.0), y0, "DOP853", t_eval=[0.0, 50.0, 100.0], rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(found.y.T, np.hstack([expected.q, expected.v]), rtol=0, atol=2e-8)


def test_fmpys_own_solver_runs_its_model_exchange(plant):
    expected = gs.simulate(CRAFT, Q0, V0, (0.0, 100.0), control=loaded, inputs={"tau": TAU}, save_at=[0.0, 100.0])
    names = [variable.name for variable in plant.variables.states]
    found = fmpy.simulate_fmu(
        str(plant.path),
        fmi_type="ModelExchange",
        start_values=inputs(plant),
        stop_time=100.0,
        output_interval=1.0,
        relative_tolerance=1e-10,
        output=names,
    )
    last = np.array([found[name][-1] for name in names])
    np.testing.assert_allclose(last, np.hstack([expected.q[-1], expected.v[-1]]), rtol=0, atol=1e-5)


def test_outputs_are_those_of_the_trajectory(plant, tmp_path):
    run = gs.simulate(CRAFT, Q0, V0, (0.0, 3.0), control=loaded, inputs={"tau": TAU}, integrator="rk4", step=STEP)
    with running(plant, tmp_path) as instance:
        instance.begin(**inputs(plant)).step(0.0, 3.0)
        names = [variable.name for variable in plant.variables.computed]
        found = dict(zip(names, instance.get(names), strict=True))
    angular = [found[f"momentum.angular.{k}"] for k in "xyz"]
    np.testing.assert_allclose(angular, run.momentum()[-1, :3], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(found["kinetic_energy"], run.kinetic_energy()[-1], rtol=1e-11)
    np.testing.assert_allclose([found[f"center_of_mass.{k}"] for k in "xyz"], run.center_of_mass()[-1], atol=1e-14)
    R, p = run.frame("tool")
    np.testing.assert_allclose([found[f"frame.tool.position.{k}"] for k in "xyz"], p[-1], atol=1e-13)
    quaternion = np.array([found[f"frame.tool.quaternion.{k}"] for k in "wxyz"])
    np.testing.assert_allclose(rotation(quaternion), R[-1], atol=1e-13)
    reactions = run.reaction_wrenches().sel(body="link_4").values[-1]
    names = [f"reaction.link_4.{what}.{k}" for what in ("torque", "force") for k in "xyz"]
    np.testing.assert_allclose([found[name] for name in names], reactions, rtol=1e-9, atol=1e-14)


def test_parameters_change_the_dynamics_as_in_simulate(plant, tmp_path):
    tuned = {"link_6.mass": 30.0, "link_3.com": np.array([0.1, -0.2, 0.05])}
    values = {"link_6.mass": 30.0, "link_3.com[1]": 0.1, "link_3.com[2]": -0.2, "link_3.com[3]": 0.05}
    times = np.array([0.0, 10.0])
    expected = gs.simulate(
        CRAFT, Q0, V0, (0.0, 10.0), control=loaded, inputs={"tau": TAU}, parameters=tuned, integrator="rk4", step=STEP
    )
    found = co_simulated(plant, tmp_path, times, inputs(plant) | values)[-1]
    plain = co_simulated(plant, tmp_path, times, inputs(plant))[-1]
    np.testing.assert_allclose(found, np.hstack(expected.final), rtol=0, atol=1e-12)
    assert np.abs(found - plain).max() > 1e-4


def test_steps_of_any_length_and_another_epoch(plant, tmp_path):
    """Internal steps end where the importer's do, as those of `gs.simulate` end at times to save."""
    times = 1e6 + np.array([0.0, 0.3, 0.33, 1.0, 1.21])
    run = gs.simulate(
        CRAFT,
        Q0,
        V0,
        (times[0], times[-1]),
        control=loaded,
        inputs={"tau": 50.0 * TAU},
        integrator="rk4",
        step=STEP,
        save_at=times,
    )
    found = co_simulated(plant, tmp_path, times, inputs(plant, 50.0 * TAU))
    np.testing.assert_allclose(found, np.hstack([run.q, run.v]), rtol=0, atol=1e-12)


def test_a_snapshot_goes_on_to_the_same_bits_and_another_fmus_bytes_are_refused(plant, tmp_path):
    with running(plant, tmp_path) as instance:
        instance.begin(**inputs(plant)).step(0.0, 1.0)
        get, put, free = (
            (instance.fmu.getFMUstate, instance.fmu.setFMUstate, instance.fmu.freeFMUstate)
            if instance.old
            else (instance.fmu.getFMUState, instance.fmu.setFMUState, instance.fmu.freeFMUState)
        )
        to, back = (
            (instance.fmu.serializeFMUstate, instance.fmu.deSerializeFMUstate)
            if instance.old
            else (instance.fmu.serializeFMUState, instance.fmu.deserializeFMUState)
        )
        kept = get()
        held = to(kept)
        instance.step(1.0, 2.0)
        there = instance.states()
        put(kept)
        instance.step(1.0, 2.0)
        assert (instance.states() == there).all()
        other = back(held)
        put(other)
        instance.step(1.0, 2.0)
        assert (instance.states() == there).all()
        free(kept)
        with pytest.raises(FMICallException):
            back(b"\x01" + held[1:])
        with pytest.raises(FMICallException):
            back(held[:20])


WRONG = {
    "a step back": (lambda i: i.step(0.0, -0.1), "more than zero"),
    "no step": (lambda i: i.step(0.0, 0.0), "more than zero"),
    "no number of a step": (lambda i: i.step(0.0, float("nan")), "more than zero"),
    "a step from elsewhere": (lambda i: i.step(5.0, 0.1), "the instance is at 0 s"),
    "a start when it is under way": (lambda i: i.set({"q.joint_1": 0.1}), "cannot be set in step mode"),
    "what is computed": (lambda i: i.set({"kinetic_energy": 1.0}), "is computed"),
    "no number": (lambda i: i.set({"load.joint_1": float("inf")}), "expected a finite number"),
    "a negative mass": (lambda i: i.set({"link_6.mass": -1.0}), "not below its minimum"),
    "another step when it is under way": (lambda i: i.set({"integration.step": 0.1}), "cannot be set in step mode"),
    "set after termination": (lambda i: (i.fmu.terminate(), i.set({"load.joint_1": 1.0})), "after termination"),
    "a step after termination": (lambda i: (i.fmu.terminate(), i.step(0.0, 1.0)), "after termination"),
    "initialization again": (lambda i: i.fmu.enterInitializationMode(), "cannot be called in step mode"),
}


@pytest.mark.parametrize("how", WRONG)
def test_wrong_use_is_an_error_that_says_why_and_leaves_it_usable(plant, how, tmp_path):
    call, words = WRONG[how]
    with running(plant, tmp_path) as instance:
        instance.begin()
        with pytest.raises(FMICallException) as caught:
            call(instance)
        assert caught.value.status == 3
        assert any(words in message for message in instance.messages), instance.messages
        instance.fmu.reset()
        instance.begin(**inputs(plant)).step(0.0, 1.0)
        assert np.isfinite(instance.states()).all()


def test_a_quaternion_that_is_none_is_refused_at_the_start(plant, tmp_path):
    with running(plant, tmp_path) as instance:
        with pytest.raises(FMICallException):
            instance.begin(**{"q.base.qw": 0.5})
        assert "norm 0.5" in instance.messages[-1]


def test_numbers_that_run_away_are_an_error(plant, tmp_path):
    with running(plant, tmp_path) as instance:
        instance.begin(**{"load.joint_1": 1e300})
        with pytest.raises(FMICallException):
            instance.step(0.0, 10.0)
        assert "no longer finite" in instance.messages[-1]
        with pytest.raises(FMICallException):
            instance.step(0.0, 1.0)


def test_another_descriptions_token_makes_no_instance(plant, tmp_path):
    with pytest.raises(Exception, match="[Ii]nstantiate"), running(plant, tmp_path, token="{another}"):
        pass


def test_model_exchange_takes_no_steps(plant, tmp_path):
    with running(plant, tmp_path, "ModelExchange") as instance:
        instance.begin()
        with pytest.raises(FMICallException):
            instance.rates(float("nan"), np.hstack([Q0, V0]))
        assert "time is set to what is no finite number" in instance.messages[-1]


# ---- what acts


SCENARIO = """
spacecraft = "{craft}"
outputs = ["momentum", "frames"]

[start]
position = ["1 m", "-2 m", "3 m"]
rpy = ["10 deg", "20 deg", "-30 deg"]
angular_velocity = ["0.5 deg/s", "-1 deg/s", "0.3 deg/s"]
[start.joints]
joint_2 = "40 deg"

[run]
duration = "20 s"
save_every = "0.5 s"
integrator = "rk4"
step = "20 ms"

[[waypoint]]
at = "7 s"
joints = {{ joint_1 = "50 deg", joint_3 = "-30 deg" }}

[[torque]]
at = "3.013 s"
joints = {{ base = [0, "0.1 N m", 0, "1 N", 0, 0] }}

[[torque]]
at = "5 s"
joints = {{ base = [0, 0, 0, 0, 0, 0] }}
{more}
"""
MORE = {
    "computed torque": "",
    "pid on an orbit": '[control]\nlaw = "pid"\n[environment.orbit]\naltitude = "500 km"\ninclination = "51 deg"',
    "sampled pd with slow motors": '[control]\nlaw = "pd"\nbandwidth = "0.05 Hz"\nperiod = "0.11 s"\n'
    '[actuators]\nlag = "0.2 s"',
    "prescribed under gravity": '[control]\nlaw = "prescribed"\n[environment]\ngravity = [0, 0, "-1 m/s^2"]',
}


# The C is the same in both versions; one of each does
@pytest.mark.parametrize(
    ("more", "version"), [*((more, "3.0") for more in MORE), ("sampled pd with slow motors", "2.0")]
)
def test_a_scenario_moves_as_by_gyrostat_run(more, version, tmp_path):
    file = tmp_path / "scenario.toml"
    file.write_text(SCENARIO.format(craft="servicer", more=MORE[more]))
    work = scenario.load(file)
    expected = work.simulate()
    made = fmu(work, tmp_path / "scenario.fmu", version=version)
    assert made.step == 0.02 and not made.variables.inputs
    assert validate_fmu(str(made.path)) == []
    found = co_simulated(made, tmp_path / "it", expected.time)
    states = np.hstack([expected.q, expected.v])
    assert np.abs(states - states[0]).max() > 0.3
    np.testing.assert_allclose(found[:, : states.shape[1]], states, rtol=0, atol=1e-11)


def test_model_exchange_meets_jumps_of_loads_as_events(tmp_path):
    file = tmp_path / "scenario.toml"
    file.write_text(SCENARIO.format(craft="servicer", more=""))
    work = scenario.load(file)
    made = fmu(work, tmp_path / "scenario.fmu", kinds=["model-exchange"], step=None)
    expected = work.simulate(integrator="dop853", step=None, save_at=[0.0, 8.0])
    met, t, y = [], 0.0, np.hstack([work.q0, work.v0])
    with running(made, tmp_path / "it", "ModelExchange") as instance:
        instance.begin()
        while t < 8.0:
            jump = instance.next_jump()
            instance.fmu.enterContinuousTimeMode()
            end = min(8.0, jump or 8.0)
            y = solve_ivp(instance.rates, (t, end), y, "DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
            t = end
            instance.rates(t, y)
            instance.fmu.enterEventMode()
            met += [t] if t < 8.0 else []
    assert met == [3.013, 5.0, 7.0]
    np.testing.assert_allclose(y, np.hstack([expected.q[-1], expected.v[-1]]), rtol=0, atol=1e-9)


INERTIAS = np.array(list(effective_inertias(CRAFT, Q0).values()))


def output(craft, t, q, v, z, target, gain):
    return np.concatenate([np.zeros(6), INERTIAS * (gain * (target - q[7:]) - 2.0 * v[6:] + z)])


def update(craft, t, q, v, z, target):
    return z + 0.02 * (target - q[7:])


LAW = gs.Controller(output, state0=0.01 * np.arange(6), update=update, period=0.1)
TARGET = np.array([0.2, 0.4, -0.7, 0.1, 0.5, -0.2])


@pytest.mark.parametrize("version", VERSIONS)
def test_a_sampled_law_with_memory_and_set_points(version, tmp_path):
    starts = {"target": TARGET, "gain": 1.5}
    made = fmu(CRAFT, tmp_path / "law.fmu", version=version, step=0.04, control=LAW, inputs=starts, q0=Q0, v0=V0)
    assert made.kinds == ("co-simulation",) and "sampled, every 0.1 s" in made.notes[0]
    assert [v.name for v in made.variables.inputs] == [f"target[{k}]" for k in range(1, 7)] + ["gain"]
    assert validate_fmu(str(made.path)) == []
    run = gs.simulate(
        CRAFT, Q0, V0, (0.0, 100.0), control=LAW, inputs=starts, integrator="rk4", step=0.04, save_at=[0.0, 37.3, 100.0]
    )
    found = co_simulated(made, tmp_path / "it", run.time)
    np.testing.assert_allclose(found, np.hstack([run.q, run.v]), rtol=0, atol=1e-11)


def test_set_points_of_the_present_are_felt_by_the_sample_of_the_present(tmp_path):
    later = TARGET + 0.3

    def moving(craft, t, q, v, z):
        target = np.array([where(t < 1.0 - 1e-9, a, b) for a, b in zip(TARGET, later, strict=True)])
        return output(craft, t, q, v, z, target, 1.5)

    def moving_update(craft, t, q, v, z):
        target = np.array([where(t < 1.0 - 1e-9, a, b) for a, b in zip(TARGET, later, strict=True)])
        return update(craft, t, q, v, z, target)

    law = gs.Controller(moving, state0=LAW.state0, update=moving_update, period=0.1)
    run = gs.simulate(CRAFT, Q0, V0, (0.0, 2.0), control=law, integrator="rk4", step=0.05, save_at=[0.0, 1.0, 2.0])
    made = fmu(
        CRAFT, tmp_path / "law.fmu", step=0.05, control=LAW, inputs={"target": TARGET, "gain": 1.5}, q0=Q0, v0=V0
    )
    tau = [v.name for v in made.variables.computed]
    with running(made, tmp_path / "it") as instance:
        instance.begin().step(0.0, 1.0)
        instance.set({f"target[{k + 1}]": float(x) for k, x in enumerate(later)})
        np.testing.assert_allclose(instance.get(tau), run.signals["tau"].values[1], rtol=0, atol=1e-12)
        instance.step(1.0, 1.0)
        np.testing.assert_allclose(instance.states(), np.hstack(run.final), rtol=0, atol=1e-12)


def test_loads_from_outside_come_on_top_of_a_law(tmp_path):
    wrench = np.array([0.01, -0.02, 0.03, 0.1, 0.2, -0.1])
    starts = {"target": TARGET, "gain": 1.5}

    def disturbed(craft, t, q, v, z, target, gain, wrench):
        return output(craft, t, q, v, z, target, gain) + np.concatenate([wrench, np.zeros(6)])

    law = gs.Controller(disturbed, state0=LAW.state0, update=update, period=0.1)
    run = gs.simulate(
        CRAFT, Q0, V0, (0.0, 5.0), control=law, inputs=starts | {"wrench": wrench}, integrator="rk4", step=0.05
    )
    made = fmu(CRAFT, tmp_path / "law.fmu", step=0.05, control=LAW, inputs=starts, loads=["base"], q0=Q0, v0=V0)
    names = [v.name for v in made.variables.inputs if v.name.startswith("load.")]
    assert names == [f"load.base.{k}" for k in ("wx", "wy", "wz", "vx", "vy", "vz")]
    found = co_simulated(made, tmp_path / "it", np.array([0.0, 5.0]), dict(zip(names, map(float, wrench), strict=True)))
    np.testing.assert_allclose(found[-1], np.hstack(run.final), rtol=0, atol=1e-11)


@pytest.mark.parametrize("seed", range(20))
def test_twenty_craft_of_every_joint_kind(seed, tmp_path):
    craft = random_spacecraft(seed, links=3)
    q, v = random_state(craft, seed)
    tau = np.random.default_rng(seed).normal(size=craft.nv)
    made = fmu(craft, tmp_path / "any.fmu", version=VERSIONS[seed % 2], kinds=["model-exchange"], q0=q, v0=v)
    assert validate_fmu(str(made.path)) == []
    words = {variable.name.removeprefix("load") for variable in made.variables.inputs}
    rows = [variable.name.removeprefix("v") for variable in made.variables.states[craft.nq : craft.nq + craft.nv]]
    tau = np.where([row in words for row in rows], tau, 0.0)
    values = {f"load{row}": float(x) for row, x in zip(rows, tau, strict=True) if row in words}
    passive = passive_forces(craft, q, v) if has_passive_forces(craft, None) else 0.0
    vdot = gs.forward_dynamics(craft, q, v, tau + passive)
    expected = np.concatenate([gs.configuration_rate(craft, q, v), vdot])
    with running(made, tmp_path / "it", "ModelExchange") as instance:
        instance.begin(**values)
        instance.fmu.enterContinuousTimeMode()
        found = instance.rates(0.0, np.hstack([q, v]))
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())


# ---- sources and binaries


@pytest.mark.parametrize("compiler", COMPILERS)
def test_its_sources_are_clean_under_strict_compilers(plant, compiler, tmp_path):
    with zipfile.ZipFile(plant.path) as archive:
        archive.extractall(tmp_path)
    sources = [f"fmi{plant.version[0]}.c", "plant_model.c"]
    flags = [*STRICT, "-O0", "-fvisibility=hidden", "-shared", "-fPIC"]
    prefix = f"-DFMI{plant.version[0]}_FUNCTION_PREFIX=plant_"
    done = subprocess.run(
        [compiler, *flags, prefix, *sources, "-lm", "-o", "it.so"],
        cwd=tmp_path / "sources",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[:3000]
    names = subprocess.run(
        ["nm", "-D", "--defined-only", "it.so"], cwd=tmp_path / "sources", capture_output=True, text=True, check=True
    )
    shown = [line.split()[-1] for line in names.stdout.splitlines()]
    assert shown and all(name.startswith(f"plant_fmi{plant.version[0]}") for name in shown)


@pytest.mark.skipif(shutil.which("cmake") is None, reason="no cmake here")
@pytest.mark.filterwarnings("ignore:Implicitly cleaning up:ResourceWarning")  # FMPy's folder of the build
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("version", VERSIONS)
def test_an_importer_builds_it_from_its_sources(version, tmp_path):
    """As FMPy does it, by its build description or its list of sources."""
    build = pytest.importorskip("fmpy.build", reason="FMPy before 0.3.26 has no builder")
    made = fmu(CRAFT, tmp_path / "it.fmu", version=version, step=0.1, q0=Q0, v0=V0, binary=False)
    folder = tmp_path / "unpacked"
    fmpy.extract(str(made.path), str(folder))
    build.build_platform_binary(folder)
    run = gs.simulate(CRAFT, Q0, V0, (0.0, 5.0), integrator="rk4", step=0.1)
    found = co_simulated(made, folder, np.array([0.0, 5.0]))[-1]
    np.testing.assert_allclose(found, np.hstack(run.final), rtol=0, atol=1e-12)


MAIN = """
#include "fmi3.c"
static void say(fmi3InstanceEnvironment e, fmi3Status s, fmi3String c, fmi3String m)
{
    (void)e; (void)s; (void)c;
    printf("%s\\n", m);
}
int main(void)
{
    fmi3Boolean event, end, early;
    double last, values[2];
    fmi3FMUState kept = NULL, back = NULL;
    size_t size = 0U;
    const fmi3ValueReference known[2] = {5U, GS_AT_OUTPUTS}, unknown = GS_AT_END;
    fmi3Instance it = fmi3InstantiateCoSimulation("it", GS_TOKEN, NULL, 0, 0, 0, 0, NULL, 0, NULL, say, NULL);
    int wrong = (it == NULL) || (fmi3EnterInitializationMode(it, 0, 0.0, 0.0, 0, 0.0) != fmi3OK);
    wrong |= fmi3ExitInitializationMode(it) != fmi3OK;
    for (int k = 0; k < 20; ++k) {
        wrong |= fmi3DoStep(it, 0.3 * k, 0.3, 1, &event, &end, &early, &last) != fmi3OK;
    }
    wrong |= (fmi3GetFMUState(it, &kept) != fmi3OK) || (fmi3SerializedFMUStateSize(it, kept, &size) != fmi3OK);
    unsigned char *bytes = (unsigned char *)malloc(size);
    wrong |= (fmi3SerializeFMUState(it, kept, bytes, size) != fmi3OK);
    wrong |= (fmi3DeserializeFMUState(it, bytes, size, &back) != fmi3OK) || (fmi3SetFMUState(it, back) != fmi3OK);
    wrong |= fmi3GetFloat64(it, known, 2U, values, 2U) != fmi3OK;
    wrong |= fmi3GetFloat64(it, &unknown, 1U, values, 1U) != fmi3Error;
    wrong |= fmi3SetFloat64(it, &unknown, 1U, values, 1U) != fmi3Error;
    wrong |= fmi3GetFloat64(NULL, known, 2U, values, 2U) != fmi3Error;
    wrong |= fmi3DoStep(NULL, 0.0, 1.0, 1, &event, &end, &early, &last) != fmi3Error;
    wrong |= (fmi3FreeFMUState(it, &kept) != fmi3OK) || (fmi3FreeFMUState(it, &back) != fmi3OK);
    wrong |= (fmi3Terminate(it) != fmi3OK) || (fmi3SetFloat64(it, known, 1U, values, 1U) != fmi3Error);
    wrong |= fmi3Reset(it) != fmi3OK;
    free(bytes);
    fmi3FreeInstance(it);
    fmi3FreeInstance(NULL);
    return wrong;
}
"""


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="no valgrind here")
def test_valgrind_finds_nothing_in_steps_snapshots_and_wrong_use(tmp_path):
    starts = {"target": TARGET, "gain": 1.5}
    made = fmu(CRAFT, tmp_path / "it.fmu", step=0.05, control=LAW, inputs=starts, q0=Q0, v0=V0, binary=False)
    fmpy.extract(str(made.path), str(tmp_path))
    folder = tmp_path / "sources"
    (folder / "main.c").write_text(MAIN)
    subprocess.run(
        [COMPILERS[0], "-g", "-O1", "-std=c99", "main.c", "it_model.c", "-lm", "-o", "it"], cwd=folder, check=True
    )
    command = ["valgrind", "-q", "--error-exitcode=7", "--leak-check=full", "./it"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "cannot be called after termination" in done.stdout


def test_the_same_fmu_is_the_same_bytes(tmp_path):
    first, second = (fmu(CRAFT, tmp_path / folder / "it.fmu", step=0.1, binary=False) for folder in _folders(tmp_path))
    assert first.path.read_bytes() == second.path.read_bytes()


def _folders(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        yield name


def test_without_a_compiler_there_are_sources_alone_and_it_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    made = fmu(CRAFT, tmp_path / "it.fmu", step=0.1)
    assert made.binary is None and "no C compiler (cc, gcc, clang) is here" in made.notes[-1]
    assert validate_fmu(str(made.path)) == []
    with zipfile.ZipFile(made.path) as archive:
        assert not any(name.startswith("binaries") for name in archive.namelist())
    with pytest.raises(ValueError, match="binary=True: no C compiler"):
        fmu(CRAFT, tmp_path / "it.fmu", step=0.1, binary=True)


# ---- what is refused


def in_python(craft, t, q, v):
    return np.concatenate([np.zeros(6), [float(np.linalg.det(np.eye(2) * float(q[7])))] * 6])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"events": lambda craft, t, q, v: q[7]}, "events=: an FMU cannot hold it"),
        ({"conserve": "momentum"}, "conserve=: an FMU cannot hold it"),
        ({"sensitivities": ["v0"]}, "sensitivities=: an FMU cannot hold it"),
        ({"control": in_python}, "control=: an FMU holds it as C, so it must be traceable"),
        (
            {"control": LAW, "inputs": {"target": TARGET, "gain": 1.0}, "kinds": ["model-exchange"]},
            "'model-exchange' is refused",
        ),
        ({"step": None}, "co-simulation is by rk4 with a fixed step; what is given has integrator 'dop853'"),
        ({"step": None, "integrator": "gauss6"}, "what is given has integrator 'gauss6'"),
        ({"step": -1.0}, "step is -1.0"),
        ({"kinds": ["scheduled"]}, "kinds: 'scheduled' is not known"),
        ({"kinds": []}, "kinds: none is given"),
        ({"version": "1.0"}, "version is '1.0'"),
        ({"outputs": ["momentun"]}, "Did you mean 'momentum'"),
        ({"frames": ["tol"]}, "Did you mean 'tool'"),
        ({"parameters": ["link_6.mas"]}, "'mas' is no attribute"),
        ({"parameters": {"link_6.mass": -1.0}}, "body 'link_6': mass is -1.0 kg"),
        ({"loads": ["joint_2"], "locked": ["joint_2"]}, "joint 'joint_2' is locked or prescribed"),
        ({"loads": ["joint_9"]}, "joint_9"),
        ({"mode": "floating", "loads": ["base"]}, "mode 'floating'"),
        ({"inputs": {"gain": 1.0}}, "inputs['gain']"),
    ],
)
def test_what_an_fmu_cannot_hold_is_refused_by_name(options, words, tmp_path):
    with pytest.raises(ValueError) as caught:
        fmu(CRAFT, tmp_path / "it.fmu", **{"step": 0.1, "binary": False, **options})
    assert words in str(caught.value)
    assert not (tmp_path / "it.fmu").exists()


@pytest.mark.parametrize("kind", ["capture", "station"])
def test_scenarios_of_other_kinds_are_refused(kind, tmp_path):

    file = gs.__path__[0] + f"/scenario/{kind}_demo.toml"
    work = scenario.load(file)
    assert type(work) is not scenario.Scenario
    with pytest.raises(ValueError, match="an FMU holds one spacecraft, without phases"):
        fmu(work, tmp_path / "it.fmu", step=0.1)


def test_in_a_mode_loads_are_those_that_it_allows(tmp_path):
    made = fmu(CRAFT, tmp_path / "it.fmu", step=0.1, mode="floating", binary=False)
    assert [v.name for v in made.variables.inputs] == [f"load.joint_{k}" for k in range(1, 7)]


def test_an_environment_is_inside(tmp_path):
    gravity = uniform_gravity([0.3, -0.2, -1.6])
    made = fmu(CRAFT, tmp_path / "it.fmu", step=0.1, environment=gravity, q0=Q0, v0=V0)
    run = gs.simulate(CRAFT, Q0, V0, (0.0, 5.0), environment=gravity, integrator="rk4", step=0.1)
    found = co_simulated(made, tmp_path / "it", np.array([0.0, 5.0]))[-1]
    np.testing.assert_allclose(found, np.hstack(run.final), rtol=0, atol=1e-11)


@pytest.mark.parametrize("version", VERSIONS)
def test_it_does_not_run_past_the_tables_of_its_environment(version, tmp_path):
    gravity = replace(uniform_gravity([0.3, -0.2, -1.6]), span=(0.0, 2.0))
    with pytest.raises(ValueError, match="known from 0 s to 2 s"):
        fmu(CRAFT, tmp_path / "no.fmu", step=0.1, environment=gravity, t_span=(0.0, 3.0), binary=False)
    made = fmu(CRAFT, tmp_path / "it.fmu", step=0.1, environment=gravity, q0=Q0, v0=V0, version=version)
    with running(made, tmp_path / "it") as instance:
        instance.begin().step(0.0, 2.0)
        there = instance.states()
        with pytest.raises(FMICallException):
            instance.step(2.0, 0.5)
        assert "known from 0 s to 2 s" in instance.messages[-1]
        assert (instance.states() == there).all()
    with running(made, tmp_path / "it", "ModelExchange") as instance:
        instance.begin()
        with pytest.raises(FMICallException):
            instance.fmu.setTime(2.5)
        assert "known from 0 s to 2 s" in instance.messages[-1]
    with running(made, tmp_path / "it") as instance, pytest.raises(FMICallException):
        instance.begin(3.0)
