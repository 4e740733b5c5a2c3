"""Every entry that a file can name beside laws, sensors and environments (test_registries.py) runs from one, and acts.

Each table of cases is looked up by the names of the registry: a new entry without a case fails here.
"""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest

import gyrostat as gs
from gyrostat import control, scenario
from gyrostat.campaigns.in_files import DISTRIBUTIONS
from gyrostat.control.estimators_in_files import ESTIMATORS
from gyrostat.control.motors_in_files import MotorEntry
from gyrostat.outcomes.tables import REDUCTIONS, SIGNAL_NAMES
from gyrostat.scenario.entry_tables import table_of
from gyrostat.scenario.kinds.formation_requirements import reduced
from gyrostat.scenario.kinds.phased_tables import GraspTable, PhaseKind
from gyrostat.scenario.kinds.phases_of_files import KINDS as GRASPS
from gyrostat.scenario.parts.law import JOINT_LAWS
from gyrostat.scenario.parts.motors import ActuatorTable, StopTable


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A hub with wheels and an arm of one joint, near one of its ends; and a box that is met."""
    found = tmp_path_factory.mktemp("entries")
    limits = gs.Limits(-1.0, 0.5, 2.0, 0.5)
    hinge = gs.Joint("hinge", "revolute", "hub", (0.6, 0.1, 0.2), axis=(0, 0, 1), limits=limits)
    hub = gs.Body("hub", 40.0, com=(0.02, 0.0, -0.01), inertia=[9.0, 11.0, 10.0])
    arm = gs.Body("arm", 4.0, com=(0.3, 0.01, 0.0), inertia=[0.1, 0.3, 0.3], joint=hinge)
    wheels = control.wheel_pyramid("hub", 0.05, max_torque=2.0, max_speed=600.0)
    frames = [gs.Frame("tool", "arm", (0.6, 0.0, 0.0)), gs.Frame("port", "hub", (0.0, 0.5, 0.0))]
    gs.save(gs.Spacecraft.build("arm", [hub, arm, *wheels], frames=frames), found / "craft.toml")
    box = gs.Body("box", 15.0, com=(0.03, -0.02, 0.01), inertia=[1.0, 1.4, 0.9])
    grips = [gs.Frame("grip", "box", (0.0, -0.5, 0.0))]
    gs.save(gs.Spacecraft.build("client", [box], frames=grips), found / "client.toml")
    return found


HEAD = 'spacecraft = "craft.toml"\n'
RUN = '[run]\nduration = "1 s"\nrtol = 1e-9\n[start]\nangular_velocity = [0.01, -0.02, 0.015]\n'
START = RUN + "joints = { hinge = 0.47 }\nrates = { hinge = 0.2, wheel_1 = 20.0 }\n"


def load(folder, text):
    path = folder / "case.toml"
    path.write_text(text)
    return scenario.load(path)


# ---- laws of joints

MOVES = '[[waypoint]]\nat = "0.8 s"\njoints = { hinge = 0.3 }\n'
OF_JOINTS = {
    "computed_torque": 'bandwidth = "1 Hz"\n',
    "pd": 'bandwidth = "1 Hz"\n',
    "pid": 'bandwidth = "1 Hz"\n',
    "prescribed": "",
}


@pytest.mark.parametrize("name", [name for name in JOINT_LAWS if JOINT_LAWS[name] not in control.laws_in_files.LAWS])
def test_every_law_of_joints_brings_them_along_the_waypoints(folder, name):
    text = HEAD + RUN + "joints = { hinge = 0.2 }\n" + f'[control]\nlaw = "{name}"\n{OF_JOINTS[name]}' + MOVES
    done = load(folder, text).simulate(progress=False)
    at = done.craft.joint_named("hinge").q_at.start
    assert done.ok and 0.01 < abs(done.q[-1, at] - 0.2) < 0.2


# ---- estimators

ESTIMATED = {
    "attitude": 'period = "0.1 s"\ntracker_noise = ["1 arcsec", "1 arcsec", "1 arcsec"]\nsigma = "5 deg"\n'
    'off = ["4 deg", 0, 0]\n'
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_stands_between_a_law_and_the_truth(folder, name):
    """A law that is where it wants to be loads nothing at the start, but for what it believes wrongly."""
    text = (
        HEAD
        + RUN.replace("0.01, -0.02, 0.015", "0, 0, 0")
        + '[control]\nlaw = "quaternion_feedback"\nbandwidth = "0.1 Hz"\n'
    )
    loads = []
    for more in ("", f"[estimator.{name}]\n{ESTIMATED[name]}"):
        work = load(folder, text.replace("rtol = 1e-9", 'integrator = "rk4"\nstep = "0.05 s"') + more)
        done = work.simulate(progress=False)
        assert done.ok and all(drift is None or drift < 1e-7 for _, drift in done.audit.rows())
        loads.append(np.abs(done.signals["tau"].values).max())
    assert loads[0] < 1e-12 and loads[1] > 3e-4


# ---- distributions of campaigns

DRAWN = {
    "normal": ("hub.mass", 'change = "scaled"\nmean = 1.0\nsd = 0.1\n'),
    "truncated_normal": ("arm.mass", 'mean = "4 kg"\nsd = "1 kg"\nlow = "3 kg"\nhigh = "5 kg"\n'),
    "uniform": ("q0:hinge", 'low = "-20 deg"\nhigh = "20 deg"\n'),
    "log_normal": ("hinge.damping", "median = 0.1\nsd = 0.5\n"),
    "discrete": ("v0:hinge", 'values = ["5 deg/s", "9 deg/s"]\n'),
    "rows": ("velocity:base", 'rows = [["1 cm/s", 0, 0], [0, "2 cm/s", 0], [0, 0, "3 cm/s"], ["4 cm/s", 0, 0]]\n'),
    "attitude": ("attitude:base", ""),
    "direction": ("rate:base", 'length = "1 deg/s"\nup_to = "3 deg/s"\n'),
    "inertia": ("hub.inertia", "sd = 0.1\n"),
}


def test_every_distribution_disperses_the_runs_of_a_file(folder):
    """All at once: each value differs between runs, and a run alone is that of the campaign."""
    text = HEAD + RUN + "[campaign]\nruns = 4\nseed = 3\n"
    text += '[[campaign.outcome]]\nname = "spin"\noutcome = "last"\nof = "body_rate"\n'
    for name in DISTRIBUTIONS:
        what, keys = DRAWN[name]
        text += f'[[campaign.disperse]]\nwhat = "{what}"\ndistribution = "{name}"\n{keys}'
    work = load(folder, text)
    found = work.sweep(progress=False)
    assert found.complete and not found.failures
    for name, (what, _) in DRAWN.items():
        columns = [x for key, x in found.values.items() if key.split("[")[0] == what]
        assert columns and max(len(np.unique(x)) for x in columns) > 1, name
    alone = work.case(2)
    assert found.outcomes["spin"][2] == pytest.approx(np.linalg.norm(alone.v[0, -1, :3]), rel=1e-12)


# ---- motors and stops

LAW = '[control]\nlaw = "pd"\nbandwidth = "2 Hz"\n' + MOVES
MOTOR = '[[actuators.motor]]\njoint = "hinge"\nstall_torque = 0.4\n'
WEAK = "torque_constant = 0.1\nmax_current = 3.0\n"
CHANGES: dict[tuple[str, str], tuple[str, str]] = {  # two texts whose runs differ
    ("actuators", "saturate"): ("[actuators]\nsaturate = false\n", "[actuators]\nsaturate = true\n"),
    ("actuators", "lag"): ("", '[actuators]\nlag = "0.1 s"\n'),
    ("actuators", "rate"): ('[actuators]\nlag = "0.1 s"\n', '[actuators]\nlag = "0.1 s"\nrate = 1.0\n'),
    ("actuators", "motor"): ("", MOTOR),
    ("motor", "joint"): ("", MOTOR),
    ("motor", "stall_torque"): (MOTOR, MOTOR.replace("0.4", "0.2")),
    ("motor", "no_load_speed"): (MOTOR, MOTOR + "no_load_speed = 0.5\n"),
    ("motor", "efficiency"): (MOTOR, MOTOR + "efficiency = 0.5\n"),
    ("motor", "torque_constant"): (MOTOR + WEAK, MOTOR + WEAK.replace("0.1", "0.05")),
    ("motor", "max_current"): (MOTOR + WEAK, MOTOR + WEAK.replace("3.0", "1.0")),
    ("stops", "stiffness"): ("[stops]\n", "[stops]\nstiffness = 10.0\n"),
    ("stops", "damping"): ("[stops]\n", "[stops]\ndamping = 1.0\n"),
    ("stops", "width"): ("[stops]\n", "[stops]\nwidth = 0.1\n"),
}
ACTING = {"actuators": ActuatorTable, "motor": table_of(MotorEntry), "stops": StopTable}


@pytest.fixture(scope="module")
def ends(folder):
    """Where the joint is in the end, by what stands in the file; each text is run once."""
    known: dict[tuple[str, bool], float] = {}

    def end(text, law):
        if (text, law) not in known:
            done = load(folder, HEAD + START + (LAW if law else "") + text).simulate(progress=False)
            assert done.ok
            known[text, law] = done.q[-1, done.craft.joint_named("hinge").q_at.start]
        return known[text, law]

    return end


@pytest.mark.parametrize(("table", "key"), [(t, key) for t, kind in ACTING.items() for key in kind.model_fields])
def test_every_key_of_motors_and_stops_changes_what_the_joint_does(ends, table, key):
    one, other = (ends(text, table != "stops") for text in CHANGES[table, key])
    assert abs(one - other) > 1e-4


# ---- outcomes and requirements

HINGE = 'of = "joint_error"\njoint = "hinge"\ntarget = "10 deg"\n'
REDUCED = {
    "last": "",
    "largest": "",
    "smallest": "",
    "integral": "",
    "mean": "",
    "time_of": 'level = "12 deg"\n',
    "settling_time": 'below = "12 deg"\n',
    "time_in": 'above = "12 deg"\n',
}
SIGNALS = {
    "attitude_error": "target = [1, 0, 0, 0]\n",
    "pointing_error": 'axis = [1, 0, 0]\ndirection = [0, 1, 0]\nframe = "tool"\n',
    "position_error": "position = [0.1, 0, 0]\n",
    "distance": 'first = "tool"\nsecond = "port"\n',
    "clearance": 'first = "tool"\nsecond = "port"\nradii = "20 cm"\n',
    "body_rate": 'frame = "arm"\n',
    "joint_error": 'joint = "hinge"\ntarget = 0.1\n',
    "joint_rate": 'joint = "hinge"\n',
    "torque_share": 'joint = "hinge"\n',
    "wheel_speed": 'wheel = "wheel_1"\n',
    "wheel_speed_share": "",
    "angular_momentum": "",
    "kinetic_energy": "",
    "control_effort": "",
}


@pytest.fixture(scope="module")
def judged(folder):
    """One run that is asked for all of them."""
    text = HEAD + START.replace("rtol", 'save_every = "1 ms"\nrtol') + LAW
    for name in REDUCTIONS:
        text += f'[[require]]\nname = "{name}"\noutcome = "{name}"\n{HINGE}{REDUCED[name]}at_least = 0\n'
    for name in SIGNAL_NAMES:
        text += f'[[require]]\nname = "of {name}"\noutcome = "mean"\nof = "{name}"\n{SIGNALS[name]}at_least = 0\n'
    work = load(folder, text)
    return work, work.simulate(progress=False)


@pytest.mark.parametrize("name", [*REDUCTIONS, *(f"of {name}" for name in SIGNAL_NAMES)])
def test_every_outcome_of_every_signal_is_that_of_the_saved_states(judged, name):
    """By straight lines between states a millisecond apart, which know nothing of the engine's sums."""
    work, done = judged
    (asked,) = (one.outcome for one in work.requirements if one.outcome.name == name)
    (row,) = (one for one in done.summary.requirements if one.name == name)
    commands = done.signals["command"].values
    if "command" in asked.function.__code__.co_varnames[: asked.function.__code__.co_argcount]:
        values = [asked.function(work.craft, t, q, v, command) for t, q, v, command in
                  zip(done.time, done.q, done.v, commands, strict=True)]  # fmt: skip
    else:
        values = done.signal(asked.function)
    factor = 180 / np.pi if row.unit.startswith("deg") else 1.0
    expected = reduced(asked, done.time, np.asarray(values, dtype=float))
    assert np.isfinite(expected) and row.met and row.value == pytest.approx(factor * expected, rel=2e-3, abs=2e-3)


# ---- phases

MET = HEAD + (
    '[run]\nrtol = 1e-10\n[start.joints]\nhinge = 0.2\n[target]\nspacecraft = "client.toml"\n[target.start]\n'
    'position = [0.0, 1.03, 0.0]\nvelocity = [0, "-2 cm/s", 0]\nangular_velocity = [2e-3, 4e-3, -2e-3]\n'
    '[control]\nlaw = "pd"\nbandwidth = "0.2 Hz"\n'
)
PHASES = {
    "coast": "",
    "approach": 'until = { frames = ["port", "grip"], closer_than = "1 cm" }\n',
    "grasp": 'grasp = [{ frames = ["port", "grip"], name = "claw" }]\n',
    "attach": 'attach = ["claw"]\n',
    "detumble": "",
    "release": 'release = ["claw"]\n',
}


def moved(result):
    """How far the frames that are held slide and turn against each other."""
    craft, run = result.trajectory.craft, result.trajectory
    port, grip = ([gs.frame_pose(craft, q, name) for q in (run.q[0], run.q[-1])] for name in ("port", "grip"))
    slid, turned = ([a.R.T @ (b.p - a.p) for a, b in zip(port, grip, strict=True)],
                    [a.R.T @ b.R for a, b in zip(port, grip, strict=True)])  # fmt: skip
    return np.abs(slid[1] - slid[0]).max(), np.abs(turned[1] - turned[0]).max()


def rate(result, k):
    return np.linalg.norm(result.trajectory.v[k][result.trajectory.craft.joint("hub").v_at][:3])


SHOWN = {
    "coast": lambda here, run: np.abs(here.trajectory.signals["tau"].values).max() == 0.0 < moved(here)[0],
    "approach": lambda here, run: here.happened,
    "grasp": lambda here, run: max(moved(here)) < 1e-7 and here.trajectory.craft.nv == run.craft.nv,
    "attach": lambda here, run: max(moved(here)) < 1e-12 and here.trajectory.craft.nv == run.craft.nv - 6,
    "detumble": lambda here, run: rate(here, -1) < 0.9 * rate(here, 0),
    "release": lambda here, run: here.trajectory.craft.nv == run.craft.nv,
}


@pytest.fixture(scope="module")
def phased(folder):
    text = MET
    for kind in get_args(PhaseKind):
        long = "4 s" if kind in ("approach", "detumble") else "0.5 s"
        text += f'[[phase]]\nname = "{kind}"\nkind = "{kind}"\nduration = "{long}"\n{PHASES[kind]}'
    return load(folder, text).run()


@pytest.mark.parametrize("kind", get_args(PhaseKind))
def test_every_kind_of_phase_does_what_it_is_called_after(phased, kind):
    assert SHOWN[kind](phased[kind], phased)
    assert phased.trajectory.audit.worst < 1e-9


HELD = {"weld": 6, "point": 3, "revolute": 5}  # equations of each


def test_the_kinds_of_grasps_are_those_of_the_file():
    assert set(get_args(GraspTable.model_fields["kind"].annotation)) == set(GRASPS) == set(HELD)


@pytest.mark.parametrize("kind", GRASPS)
def test_every_kind_of_grasp_holds_what_it_says(folder, kind):
    text = MET.replace("1.03", "1.0") + (
        '[[phase]]\nname = "hold"\nduration = "1 s"\n'
        f'grasp = [{{ frames = ["port", "grip"], kind = "{kind}", name = "claw" }}]\n'
    )
    (held,) = load(folder, text).run().phases
    slid, turned = moved(held)
    assert slid < 1e-7 and (turned > 1e-4) == (HELD[kind] < 6)
    assert held.trajectory.audit.worst < 1e-9
