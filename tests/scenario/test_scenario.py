"""Scenario files: what they mean, and what is said about those that are wrong."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import gyrostat as gs
from gyrostat import models, scenario
from gyrostat.control.joint_tracking import effective_inertias
from gyrostat.scenario.kinds.one_craft import ONE
from gyrostat.simulation.integrators.methods import METHODS

RUN = '[run]\nduration = "2 s"\n'


def write(folder, text, name="case.toml"):
    path = folder / name
    path.write_text(text)
    return path


def load(folder, text):
    return scenario.load(write(folder, text))


def test_every_integrator_can_be_chosen():
    offered = scenario.json_schema()["$defs"]["Run"]["properties"]["integrator"]["enum"]
    assert set(offered) == set(METHODS)


def test_the_template_runs_as_it_is_and_every_line_in_it_can_be_switched_on(tmp_path):
    text = scenario.template()
    assert load(tmp_path, text).duration == 30.0
    everything = re.sub(r"^# (?=\[|[a-z_0-9]+ = )", "", text, flags=re.MULTILINE)
    everything = everything.replace('integrator = "dop853"', 'integrator = "gauss6"').replace(
        'locked = ["joint_6"]', "locked = []"
    )
    everything = everything.replace('base = "fixed"', 'base = "free"').replace('conserve = "momentum"', "")
    found = load(tmp_path, everything)
    options = found.options
    assert (options["integrator"], options["step"], options["max_step"]) == ("gauss6", 0.01, 1.0)
    assert options["environment"] is not None and options["actuators"].lag == pytest.approx(0.05)
    np.testing.assert_allclose(found.v0[:3], [0, 0, np.radians(1.0)])
    assert options["breakpoints"] == [5.0, 10.0, 20.0, 22.0]


def test_the_start_is_in_si_and_in_gyrostats_order(tmp_path):
    text = f"""
spacecraft = "servicer"
[start]
position = ["1 km", 2, "3 cm"]
rpy = ["0 deg", "0 deg", "90 deg"]
angular_velocity = ["1 deg/s", "2 deg/s", 0.5]
velocity = ["1 mm/s", 0, 0]
[start.joints]
joint_2 = "30 deg"
[start.rates]
joint_6 = "1 rpm"
{RUN}"""
    s = load(tmp_path, text)
    np.testing.assert_allclose(s.q0[:7], [0.5**0.5, 0, 0, 0.5**0.5, 1000, 2, 0.03], atol=1e-15)
    np.testing.assert_allclose(s.v0[:6], [np.radians(1), np.radians(2), 0.5, 1e-3, 0, 0])
    assert s.q0[s.craft.joint_named("joint_2").q_at][0] == pytest.approx(np.pi / 6)
    assert s.v0[s.craft.joint_named("joint_6").v_at][0] == pytest.approx(np.pi / 30)


@pytest.mark.parametrize("law", ["computed_torque", "pd", "pid", "prescribed"])
def test_joints_reach_their_waypoints_and_momentum_is_kept(tmp_path, law):
    text = f"""
spacecraft = "servicer"
[start.joints]
joint_2 = "40 deg"
[run]
duration = "14 s"
[control]
law = "{law}"
{"" if law == "prescribed" else 'bandwidth = "1 Hz"'}
[[waypoint]]
at = "6 s"
joints = {{ joint_1 = "20 deg", joint_3 = "-30 deg" }}
[[waypoint]]
at = "10 s"
joints = {{ joint_1 = "-10 deg" }}
"""
    s = load(tmp_path, text)
    traj = s.simulate()
    joints = np.degrees(traj.q[:, 7:])
    tolerance = {"computed_torque": 1e-6, "prescribed": 1e-6, "pd": 0.2, "pid": 0.2}[law]
    np.testing.assert_allclose(joints[-1], [-10, 40, -30, 0, 0, 0], atol=tolerance)
    at_6 = int(np.argmin(np.abs(traj.time - 6.0)))
    if law in ("computed_torque", "prescribed"):
        np.testing.assert_allclose(joints[at_6], [20, 40, -30, 0, 0, 0], atol=0.05)
    assert traj.audit.worst < 1e-9  # rtol is 1e-10


def test_computed_torque_leaves_sprung_joints_and_wheels_alone(tmp_path):
    """A panel on a spring swings freely while the arm follows its path exactly: the law knows the whole craft."""
    craft = """
gyrostat = 1
name = "panel and arm"
[[body]]
name = "bus"
mass = 100.0
inertia = [20.0, 20.0, 20.0]
[[body]]
name = "panel"
parent = "bus"
mass = 5.0
com = [0.0, 1.0, 0.0]
inertia = [2.0, 0.1, 2.0]
joint = { name = "hinge", position = [0.0, 0.5, 0.0], axis = [1.0, 0.0, 0.0], stiffness = 10.0, damping = 0.1 }
[[body]]
name = "arm"
parent = "bus"
mass = 8.0
com = [1.0, 0.0, 0.0]
inertia = [0.1, 3.0, 3.0]
joint = { name = "shoulder", position = [0.5, 0.0, 0.0], axis = [1.0, 0.0, 1.0] }
[[wheel]]
name = "wheel"
parent = "bus"
axis = [0.0, 0.0, 1.0]
spin_inertia = 0.05
"""
    write(tmp_path, craft, "craft.toml")
    text = """
spacecraft = "craft.toml"
[start.joints]
hinge = "3 deg"
[start.rates]
wheel = "1000 rpm"
[run]
duration = "5 s"
[[waypoint]]
at = "5 s"
joints = { shoulder = "50 deg" }
"""
    traj = load(tmp_path, text).simulate()
    shoulder = traj.joint("shoulder")["q"].values[:, 0]
    u = traj.time / 5.0
    path = np.radians(50.0) * (10 * u**3 - 15 * u**4 + 6 * u**5)
    np.testing.assert_allclose(shoulder, path, atol=1e-7)
    wheel, hinge = traj.joint("wheel"), traj.joint("hinge")
    np.testing.assert_allclose(wheel["tau"].values, 0.0, atol=1e-14)
    np.testing.assert_allclose(hinge["tau"].values, -10.0 * hinge["q"].values - 0.1 * hinge["v"].values, atol=1e-12)
    assert np.ptp(hinge["q"].values) > np.radians(3.0)
    assert traj.audit.worst < 1e-9
    asked = text.replace('shoulder = "50 deg"', 'hinge = "50 deg"')
    with pytest.raises(gs.ModelError, match=r"joint 'hinge' has no motor \(it is passive\)"):
        load(tmp_path, asked).simulate()
    driven = craft.replace("stiffness = 10.0", "driven = true, stiffness = 10.0")
    write(tmp_path, driven, "craft.toml")
    there = load(tmp_path, asked).simulate().joint("hinge")["q"].values[-1, 0]
    assert there == pytest.approx(np.radians(50.0), abs=np.radians(3.5))  # from 3 deg off its path


def test_rates_and_switched_torques_do_what_they_say(tmp_path):
    text = """
spacecraft = "servicer"
[run]
duration = "4 s"
[[rate]]
at = "0 s"
joints = { joint_1 = "2 deg/s" }
[[rate]]
at = "3 s"
joints = { joint_1 = 0 }
[[torque]]
at = "1 s"
joints = { base = ["1 N m", 0, 0, 0, "2 N", 0] }
[[torque]]
at = "2 s"
joints = { base = [0, 0, 0, 0, 0, 0] }
"""
    traj = load(tmp_path, text).simulate()
    command = traj.signals["command"].values
    on = (traj.time >= 1.0) & (traj.time < 2.0)
    np.testing.assert_allclose(command[on][:, :6], np.broadcast_to([1, 0, 0, 0, 2, 0], (on.sum(), 6)))
    np.testing.assert_allclose(command[~on][:, :6], 0.0)
    # N s, turned by what the base turned
    assert np.linalg.norm(traj.momentum()[-1, 3:]) == pytest.approx(2.0, rel=1e-2)
    assert np.degrees(traj.q[-1, 7]) == pytest.approx(6.0, abs=0.5)
    assert traj.audit.worst < 1e-9


def test_gravity_swings_a_pendulum_on_a_fixed_base(tmp_path):
    """Small angles: the period is 2 pi sqrt(I / (m g l))."""
    craft = """
gyrostat = 1
name = "pendulum"
[[body]]
name = "wall"
mass = 1.0
joint = { kind = "fixed" }
[[body]]
name = "rod"
parent = "wall"
mass = 2.0
com = [0.0, 0.0, -0.5]
inertia = [0.1, 0.1, 0.01]
joint = { name = "pivot", axis = [0.0, 1.0, 0.0] }
"""
    write(tmp_path, craft, "pendulum.toml")
    period = 2 * np.pi * np.sqrt((0.1 + 2 * 0.25) / (2 * 9.81 * 0.5))
    text = f"""
spacecraft = "pendulum.toml"
start.joints.pivot = "0.01 deg"
environment.gravity = [0, 0, "-9.81 m/s^2"]
outputs = ["reaction_wrenches", "momentum", "kinetic_energy", "center_of_mass", "poses", "frames"]
run = {{ duration = {period} }}
"""
    traj = load(tmp_path, text).simulate()
    assert traj.q[-1, 0] == pytest.approx(np.radians(0.01), rel=1e-6)
    assert traj.q[len(traj.time) // 2, 0] == pytest.approx(-np.radians(0.01), rel=1e-4)
    assert {"reaction_wrenches", "momentum", "kinetic_energy", "center_of_mass", "R_NB", "p_NB"} <= set(traj.data)
    held = traj.data["reaction_wrenches"].sel(body="rod").values[0, 3:]
    assert np.linalg.norm(held) == pytest.approx(2 * 9.81, rel=1e-3)


def test_an_orbit_drifts_as_clohessy_and_wiltshire_say(tmp_path):
    """A push along the orbit moves a craft backwards: by 3 v T in one period T; linear to some 1e-5 here."""
    craft = 'gyrostat = 1\nname = "cube"\n[[body]]\nname = "cube"\nmass = 10.0\ninertia = [0.1, 0.1, 0.1]\n'
    write(tmp_path, craft, "cube.toml")
    radius = 6378.1363e3 + 622e3
    period = 2 * np.pi * np.sqrt(radius**3 / 3.986004415e14)
    text = f"""
spacecraft = "cube.toml"
start.velocity = [0, "1 cm/s", 0]
environment.orbit = {{ altitude = "622 km" }}
run = {{ duration = {period} }}
"""
    traj = load(tmp_path, text).simulate()
    np.testing.assert_allclose(traj.q[-1, 4:7], [0.0, -3 * 0.01 * period, 0.0], atol=0.05)
    text = text.replace('altitude = "622 km"', 'semi_major_axis = "7000 km", eccentricity = 0.2')
    with pytest.raises(gs.ModelError, match="inside the planet"):
        load(tmp_path, text)


WRONG = [
    ('spacecraf = "servicer"\n' + RUN, 1, "unknown key 'spacecraf'. Did you mean 'spacecraft'?"),
    (RUN, None, "has no 'spacecraft'. Add spacecraft = \"servicer\", or the name of a file."),
    ('spacecraft = "servicer"\n', None, "has no 'run'"),
    ('spacecraft = "servicer"\n[run]\nduraton = "5 s"\n', 3, "Did you mean 'duration'?"),
    ('spacecraft = "servicer"\n[run]\nduration = "5 m"\n', 3, "a length; expected a time"),
    ('spacecraft = "servicer"\n[run]\nduration = "-5 s"\n', 2, "expected more than zero"),
    ('spacecraft = "servicer"\n[run]\nduration = 5\nintegrator = "rk5"\n', 4, "dop853"),
    ('spacecraft = "servicer"\n[run]\nduration = 5\nintegrator = "rk4"\n', 2, 'add step = "0.01 s"'),
    ('spacecraft = "servicr"\n' + RUN, 1, "no spacecraft 'servicr' is bundled. Known: "),
    ('spacecraft = "none.urdf"\n' + RUN, 1, "does not exist beside the scenario"),
    ('spacecraft = "servicer"\n[start.joints]\njoint_7 = 1\n' + RUN, 3, "has no joint 'joint_7'. Did you mean"),
    ('spacecraft = "servicer"\n[start.joints]\njoint_1 = "1 m"\n' + RUN, 3, 'is "1 m", a length; expected an angle'),
    ('spacecraft = "servicer"\n[start.joints]\njoint_1 = [1, 2]\n' + RUN, 3, "holds 2 numbers; expected one number"),
    ('spacecraft = "servicer"\n[start]\nposition = [1, 2]\n' + RUN, 3, "at least 3 items"),
    ('spacecraft = "servicer"\n[start]\nquaternion = [1, 1, 0, 0]\n' + RUN, 2, "norm 1.41421356"),
    ('spacecraft = "servicer"\n[control]\nkp = 1.0\n' + RUN, 2, "kd is missing beside kp"),
    ('spacecraft = "servicer"\n[control]\nlaw = "lqr"\n' + RUN, 3, "computed_torque"),
    ('spacecraft = "servicer"\n[control]\njoints = ["joint_1", "elbow"]\n' + RUN, 3, "has no joint 'elbow'"),
    ('spacecraft = "servicer"\n[control]\nkp = { joint_1 = 1.0 }\nkd = 1.0\n' + RUN, 3, "no gain for joint 'joint_2'"),
    (
        'spacecraft = "servicer"\n'
        + RUN
        + '[[waypoint]]\nat = "1 s"\njoints = { joint_1 = 1 }\n[[waypoint]]\nat = "1 s"\n'
        "joints = { joint_1 = 1 }\n",
        8,
        "expected a time after the one before it",
    ),
    ('spacecraft = "servicer"\n' + RUN + "[[waypoint]]\nat = 0\njoints = { joint_1 = 1 }\n", 5, "after the start"),
    ('spacecraft = "servicer"\n' + RUN + "[[waypoint]]\njoints = { joint_1 = 1 }\n", 4, "has no 'at'"),
    (
        'spacecraft = "servicer"\n' + RUN + "[[waypoint]]\nat = 1\njoints = { base = [1, 0, 0, 0, 0, 0, 0] }\n",
        6,
        "one coordinate",
    ),
    ('spacecraft = "servicer"\nlocked = ["joint_9"]\n' + RUN, 2, "has no joint 'joint_9'"),
    ('spacecraft = "servicer"\noutputs = ["momentums"]\n' + RUN, 2, "momentum"),
    (
        'spacecraft = "servicer"\n[environment]\ngravity = [0, 0, "9.81 N"]\n' + RUN,
        3,
        "a force; expected an acceleration",
    ),
    ('spacecraft = "servicer"\n[environment.orbit]\naltitud = 1\n' + RUN, 3, "Did you mean 'altitude'?"),
    ('spacecraft = "servicer"\n[environment.orbit]\naltitude = "500 min"\n' + RUN, 3, "a time; expected a length"),
    ('spacecraft = "servicer"\n[environment.orbit]\naltitude = 500\n' + RUN, 3, 'in a file "500 km"'),
    (
        'spacecraft = "servicer"\n[environment.orbit]\naltitude = 5e5\ninclination = 51.6\n' + RUN,
        4,
        'in a file "51.6 deg"',
    ),
    ('spacecraft = "servicer"\n[actuators]\nrate = 1.0\n' + RUN, 2, "rate limit needs a lag"),
    ('spacecraft = "servicer\n' + RUN, 1, "is not valid TOML"),
]


@pytest.mark.parametrize(("text", "line", "words"), WRONG, ids=[words[:40] for _, _, words in WRONG])
def test_what_is_wrong_is_said_with_file_and_line(tmp_path, text, line, words):
    with pytest.raises(gs.ModelError) as caught:
        load(tmp_path, text)
    found = [str(f) for f in caught.value.findings if f.level == "error"]
    assert len(found) == 1, found
    assert words in found[0]
    assert found[0].startswith(f"{tmp_path / 'case.toml'}" + (f":{line}:" if line else ":"))


def test_everything_that_is_wrong_is_said_at_once(tmp_path):
    text = 'spacecraft = "servicer"\n[start]\nspeed = 1\nrpy = ["1 m", 0, 0]\n[run]\nduration = "5"\nrtl = 1\n'
    with pytest.raises(gs.ModelError) as caught:
        load(tmp_path, text)
    assert {f.line for f in caught.value.findings} == {3, 4, 7}


def test_a_spacecraft_file_is_no_scenario(tmp_path):
    with pytest.raises(gs.ModelError, match="describes a spacecraft, not a scenario"):
        load(tmp_path, models.file("servicer").read_text())


def test_every_key_is_described():
    docs = Path(__file__).resolve().parents[2] / "docs"
    page = "".join((docs / name).read_text() for name in ("scenarios.md", "scenario-keys.md", "campaigns.md"))
    keys = {key for table in ONE.tables.values() for key in table.model_fields} | {
        f"[[{name}]]" for name in ("waypoint", "rate")
    }
    missing = sorted(key for key in keys if key not in page)
    assert missing == []


@pytest.mark.parametrize("torque", ["", '[[torque]]\nat = "0.5 s"\njoints = { joint_2 = "0.2 N m" }\n'])
def test_a_sampled_law_holds_its_torque_between_samples(tmp_path, torque):
    text = f"""
spacecraft = "servicer"
{RUN}
[control]
law = "pd"
period = "0.25 s"
bandwidth = "0.1 Hz"
[[waypoint]]
at = "2 s"
joints = {{ joint_1 = "5 deg" }}
{torque}
"""
    run = load(tmp_path, text).simulate()
    command, sample = run.signals["command"].values, np.floor(run.time / 0.25 + 1e-9)
    assert run.ok and len(np.unique(sample)) == 9
    for k in np.unique(sample)[:-1]:
        assert np.ptp(command[sample == k], axis=0).max() == 0.0
    assert np.ptp(command, axis=0).max() > 0.01


PUSHED = """
spacecraft = "servicer"
[run]
duration = "3 s"
[control]
law = "pid"
{gains}
[[waypoint]]
at = "2 s"
joints = {{ joint_1 = "20 deg", joint_3 = "-30 deg" }}
[[torque]]
at = "0 s"
joints = {{ joint_2 = "3 N m" }}
"""


def test_pid_is_the_library_s_with_the_gains_given_and_open_loop_loads_added(tmp_path):
    s = load(tmp_path, PUSHED.format(gains="kp = 900\nkd = 300\nki = 200"))
    found = s.simulate()
    names = [j.name for j in s.craft.joints if j.name.startswith("joint_")]
    legs = dict.fromkeys(names, 0.0) | {"joint_1": np.radians(20), "joint_3": np.radians(-30)}
    paths = {name: gs.control.Waypoints((2.0,), (angle,)) for name, angle in legs.items()}
    pid = gs.control.joint_pid(paths, *(dict.fromkeys(names, gain) for gain in (900.0, 300.0, 200.0)))
    push = gs.joint_torques(s.craft, {"joint_2": 3.0})
    law = gs.Controller(lambda c, t, q, v, z: pid.output(c, t, q, v, z) + push, pid.state0, pid.derivative)
    mine = gs.simulate(s.craft, s.q0, s.v0, (0.0, 3.0), control=law, save_at=found.time, rtol=1e-10)
    np.testing.assert_allclose(found.q, mine.q, atol=1e-8)
    assert np.abs(found.q[-1, 8] - found.q[0, 8]) > 1e-4  # joint_2 was pushed


def test_pid_takes_its_gains_from_a_bandwidth(tmp_path):
    """kp = I w^2, kd = 2 damping I w, ki = kp w / 5: given so by hand, the motion is the same."""
    by_width = load(tmp_path, PUSHED.format(gains='bandwidth = "0.5 Hz"\ndamping = 0.8'))
    w = np.pi
    inertia = effective_inertias(by_width.craft, by_width.q0)
    rows = {"kp": w**2, "kd": 2 * 0.8 * w, "ki": w**3 / 5}
    tables = "\n".join(
        f"{name} = {{ {', '.join(f'{joint} = {x * I!r}' for joint, I in ((j, float(inertia[j])) for j in inertia))} }}"
        for name, x in rows.items()
    )
    by_hand = load(tmp_path, PUSHED.format(gains=tables))
    np.testing.assert_allclose(by_width.simulate().q, by_hand.simulate().q, atol=1e-8)


def test_ki_is_of_pid_alone(tmp_path):
    with pytest.raises(gs.ModelError, match='ki belongs to law = "pid"; the law is "pd"'):
        load(tmp_path, PUSHED.format(gains="kp = 9\nkd = 3\nki = 2").replace('"pid"', '"pd"'))


def test_a_run_in_parts_is_the_run_bit_for_bit_and_leaves_its_last_part(tmp_path):
    s = load(tmp_path, PUSHED.format(gains='bandwidth = "1 Hz"'))
    whole, path = s.simulate(), tmp_path / "part.nc"
    found = s.simulate(checkpoint=path, checkpoint_every=1e-6)
    np.testing.assert_array_equal(found.q, whole.q)
    assert found.status == ("done",) and not found.interrupted and path.exists()
    part = gs.Trajectory.load(path)
    assert part.interrupted and 0.0 < float(part.data["t_end"]) < 3.0
    with pytest.warns(gs.SimulationWarning, match="raise max_steps"):
        few = s.simulate(checkpoint=path, checkpoint_every=1e-6, max_steps=200)
    assert 200 <= few.state.steps[0] + few.state.rejections[0] < 500 and not few.ok  # of all parts together


def test_checkpoints_that_cannot_be(tmp_path):
    s = load(tmp_path, PUSHED.format(gains='bandwidth = "1 Hz"'))
    with pytest.raises(ValueError, match="checkpoint_every is 0; expected a positive number"):
        s.simulate(checkpoint=tmp_path / "x.nc", checkpoint_every=0)
    with pytest.raises(ValueError, match="x.h5': a run goes on from NetCDF"):
        s.simulate(checkpoint=tmp_path / "x.h5")


def test_a_run_of_another_scenario_is_not_continued_and_the_line_is_named(tmp_path):
    s = load(tmp_path, PUSHED.format(gains='bandwidth = "1 Hz"'))
    with pytest.warns(gs.SimulationWarning, match="took 5 steps"):
        first = s.simulate(max_steps=5)
    other = load(tmp_path, PUSHED.format(gains='bandwidth = "2 Hz"'))
    with pytest.raises(ValueError, match="line 7 is 'bandwidth = \"2 Hz\"', it was 'bandwidth = \"1 Hz\"'"):
        other.simulate(resume=first)
    longer = load(tmp_path, PUSHED.format(gains='bandwidth = "1 Hz"') + "# more\n")
    with pytest.raises(ValueError, match="line 14 is '# more', it was ''"):
        longer.simulate(resume=first)
    assert s.simulate(resume=first, max_steps=10_000).status == ("done",)
    with pytest.raises(ValueError, match="not of a scenario"):
        s.simulate(resume=gs.simulate(s.craft, t_span=(0, 1)))
