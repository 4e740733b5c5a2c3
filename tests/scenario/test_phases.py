"""Files in phases of any kind: each phase has its own laws, motors, environment, events; no book is left open."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat import control, scenario
from gyrostat.model import ModelError


def servicer():
    """A hub with four wheels, and an arm of two joints whose axes do not meet."""
    upper = gs.Joint("shoulder", "revolute", "hub", (1.0, 0.1, 0.2), axis=(0, 0, 1))
    fore = gs.Joint("elbow", "revolute", "upper", (1.2, 0.0, 0.05), axis=(0, 1, 0))
    bodies = [
        gs.Body("hub", 400.0, com=(0.02, 0.0, -0.01), inertia=[90.0, 110.0, 100.0]),
        gs.Body("upper", 12.0, com=(0.6, 0.0, 0.0), inertia=[0.2, 1.5, 1.5], joint=upper),
        gs.Body("fore", 8.0, com=(0.5, 0.02, 0.0), inertia=[0.1, 0.8, 0.8], joint=fore),
        *control.wheel_pyramid("hub", 0.1, max_torque=5.0, max_speed=600.0),
    ]
    return gs.Spacecraft.build("servicer", bodies, frames=[gs.Frame("tool", "fore", (1.0, 0.0, 0.0))])


def client(wheels=False):
    body = gs.Body("box", 150.0, com=(0.03, -0.02, 0.01), inertia=[30.0, 40.0, 25.0])
    spin = [gs.Wheel("reel", "box", axis=(0, 0.6, 0.8), spin_inertia=0.05)] if wheels else []
    frames = [gs.Frame("grip", "box", (-0.5, 0.0, 0.0)), gs.Frame("port", "box", (0.5, 0.1, 0.0))]
    return gs.Spacecraft.build("client", [body, *spin], frames=frames)


HEAD = """
spacecraft = "servicer.toml"
[start.joints]
shoulder = "20 deg"
elbow = "-30 deg"
[run]
rtol = 1e-11
atol = 1e-13
"""
MET = """
[target]
spacecraft = "client.toml"
[target.start]
position = [3.5803, 0.9141, 0.9132]
velocity = ["-2 cm/s", 0, 0]
angular_velocity = ["1 deg/s", "-2 deg/s", "1.5 deg/s"]
"""
HOLD = '[control]\nlaw = "pd"\nbandwidth = "0.05 Hz"\ndamping = 1.0\n'
ORBIT = '[environment.orbit]\naltitude = "500 km"\ninclination = "50 deg"\n'


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("phases")
    gs.save(servicer(), found / "servicer.toml")
    gs.save(client(), found / "client.toml")
    gs.save(client(wheels=True), found / "spinner.toml")
    return found


def load(folder, text):
    path = folder / "case.toml"
    path.write_text(text)
    return scenario.load(path)


CAPTURE = (
    HEAD
    + MET
    + ORBIT
    + HOLD
    + """
[[phase]]
name = "wait"
kind = "coast"
duration = "1 s"

[[phase]]
name = "approach"
kind = "approach"
duration = "60 s"
until = { frames = ["tool", "grip"], closer_than = "4 cm" }

[[phase]]
name = "grasp"
kind = "grasp"
duration = "2 s"
grasp = [{ frames = ["tool", "grip"], name = "claw" }]

[[phase]]
name = "stop"
kind = "detumble"
duration = "60 s"
attach = ["claw"]
control = { law = "detumble_by_wheels", rate = 0.5 }
until = { of = "body_rate", frame = "hub", below = "0.1 deg/s" }

[[phase]]
name = "turn"
duration = "5 s"
control = { law = "wheel_attitude", attitude = [0, 0, "5 deg"], duration = "5 s" }
[[phase.waypoint]]
at = "4 s"
joints = { elbow = "-20 deg" }

[[phase]]
name = "let go"
kind = "release"
duration = "1 s"
release = ["claw"]
"""
)


@pytest.fixture(scope="module")
def capture(folder):
    return load(folder, CAPTURE).run()


def test_one_trajectory_goes_through_phases_of_all_kinds(capture):
    assert [r.phase.name for r in capture.phases] == ["wait", "approach", "grasp", "stop", "turn", "let go"]
    assert capture.ok and capture["approach"].happened and capture["stop"].happened
    full = capture.craft.nv
    assert [r.trajectory.craft.nv for r in capture.phases] == [full, full, full, full - 6, full - 6, full]
    assert np.abs(capture["wait"].trajectory.signals["tau"].values).max() == 0.0


def test_momentum_and_energy_are_accounted_through_every_phase(capture):
    assert capture.trajectory.audit.worst < 1e-10
    causes = [str(name) for name in capture.trajectory.data["cause"].values]
    assert "environment" in causes and "capture: claw" in causes


def test_the_law_of_a_phase_takes_the_tumble_of_what_is_attached(capture):
    stop = capture["stop"].trajectory
    at = stop.craft.joint("hub").v_at
    first, last = (np.linalg.norm(v[at][:3]) for v in (stop.v[0], stop.final[1]))
    assert last == pytest.approx(np.radians(0.1), rel=1e-6)
    rate = np.log(first / last) / (stop.t_end - stop.time[0])
    assert rate == pytest.approx(0.5, rel=2e-3)  # the law does not know the gravity gradient


def test_times_of_a_phase_count_from_its_start_and_from_where_joints_are_then(capture):
    turn = capture["turn"].trajectory
    elbow = turn.q[:, turn.craft.joint_named("elbow").q_at.start]
    t = turn.time - turn.time[0]
    assert np.degrees(elbow[-1]) == pytest.approx(-20.0, abs=0.1)
    begun = elbow[0]
    half = np.interp(2.0, t, elbow)
    assert half == pytest.approx((begun + np.radians(-20.0)) / 2, abs=2e-3)


def test_a_spacecraft_alone_goes_through_phases(folder):
    alone = """
[[phase]]
name = "reach"
duration = "4 s"
[[phase.waypoint]]
at = "3 s"
joints = { shoulder = "40 deg" }
[[phase]]
name = "back"
duration = "4 s"
[[phase.waypoint]]
at = "3 s"
joints = { shoulder = "10 deg" }
"""
    run = load(folder, HEAD + alone).run()
    at = run.craft.joint_named("shoulder").q_at.start
    ends = [np.degrees(result.trajectory.q[-1, at]) for result in run.phases]
    assert ends == pytest.approx([40.0, 10.0], abs=1e-6) and run.craft.memberships == ()
    assert run.trajectory.audit.worst < 1e-10


def test_a_phase_may_add_to_the_environment_and_change_the_motors(folder):
    text = (
        HEAD.replace('"servicer.toml"', '"servicer.toml"\n' + HOLD.replace("[control]\n", "control = {").replace(
            '\nbandwidth', ', bandwidth').replace("\ndamping", ", damping").replace("1.0\n", "1.0 }\n"))
        + ORBIT
        + """
[[phase]]
name = "still"
duration = "2 s"
[[phase]]
name = "wind"
duration = "2 s"
[phase.environment.drag]
surface = [{ body = "hub", area = 9.0 }]
density = 1e-9
[[phase]]
name = "soft"
duration = "2 s"
actuators = { lag = "0.2 s" }
"""
    )  # fmt: skip
    run = load(folder, text).run()
    assert run.ok and run.trajectory.audit.worst < 1e-10
    for result, force, lag in zip(run.phases, (0, 1, 0), (0, 0, 1), strict=True):
        env = result.given["environment"]
        drag = env.wrenches(run.craft, 1.0, *run.phases[0].started) - run.phases[0].given["environment"].wrenches(
            run.craft, 1.0, *run.phases[0].started
        )
        assert (np.abs(drag).max() > 1e-3) == bool(force)
        assert (result.given["actuators"] is not None) == bool(lag)


def test_what_is_met_may_have_a_law_of_its_own(folder):
    """Joints by its own names, loads in its own place; in one phase another one."""
    text = (
        HEAD
        + MET.replace("client.toml", "spinner.toml")
        + """
[[target.torque]]
at = "1 s"
joints = { reel = "0.1 N m" }
[[phase]]
name = "one"
duration = "3 s"
[[phase]]
name = "two"
duration = "2 s"
[[phase.of.client.torque]]
at = "1 s"
joints = { reel = "-0.3 N m" }
"""
    )
    run = load(folder, text).run()
    at = run.craft.joint_named("reel").v_at.start
    one, two = (result.trajectory for result in run.phases)
    tau = [np.asarray(x.signals["tau"].values)[:, at] for x in (one, two)]
    assert set(np.round(tau[0], 12)) == {0.0, 0.1} and set(np.round(tau[1], 12)) == {0.0, -0.3}
    assert np.abs(np.delete(one.signals["tau"].values, at, axis=1)).max() == 0.0
    assert run.trajectory.audit.worst < 1e-10


def test_several_are_met_each_by_a_name_of_its_own(folder):
    two = MET.replace("[target]", '[[target]]\nname = "first"') + MET.replace(
        "[target]", '[[target]]\nname = "second"').replace("3.5803", "5.5803")  # fmt: skip
    work = load(folder, HEAD + two + '[[phase]]\nname = "drift"\nduration = "1 s"\n')
    assert [m.name for m in work.craft.memberships] == ["servicer", "first", "second"]
    apart = gs.frame_pose(work.craft, work.q0, "second.grip").p - gs.frame_pose(work.craft, work.q0, "first.grip").p
    np.testing.assert_allclose(apart, [2.0, 0.0, 0.0], atol=1e-12)
    again = two.replace('name = "second"\n', 'name = "first"\n')
    with pytest.raises(ModelError, match="two spacecraft are named 'first'"):
        load(folder, HEAD + again + '[[phase]]\nname = "drift"\nduration = "1 s"\n')


# ---- events

FALL = '[start]\nvelocity = [0.1, 0, 0]\nangular_velocity = [0, 0, 0.02]\n[run]\nduration = "4 s"\n'
PLAIN = 'spacecraft = "client.toml"\n' + FALL


def test_events_are_told_and_end_a_run_where_they_say_so(folder):
    event = '[[event]]\nname = "far"\nof = "position_error"\nposition = [0, 0, 0]\nabove = "20 cm"\n'
    told = load(folder, PLAIN + event).simulate(progress=False)
    assert [e.name for e in told.events] == ["far"] and told.ok and told.time[-1] == 4.0
    assert np.linalg.norm(told.events[0].q[4:7]) == pytest.approx(0.2, abs=1e-9)
    ended = load(folder, PLAIN + event + "stop = true\n").simulate(progress=False)
    assert ended.t_end == pytest.approx(told.events[0].t)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('of = "torque_share"\nabove = 0.5\n', "is of loads, and events see the state alone"),
        ('of = "body_rate"\nabove = "1 m"\n', "a length; expected an angular rate"),
        ('of = "body_rate"\n', "an event has one level"),
        ('of = "body_rate"\nfirst = "grip"\nabove = 1\n', "body_rate has no key 'first'"),
        ('of = "body_rate"\nframe = "gripp"\nabove = 1\n', "Did you mean 'grip'"),
        ('of = "body_rat"\nabove = 1\n', "Did you mean 'body_rate'"),
        ('of = "body_rate"\nabove = 1\nstopp = true\n', "Did you mean 'stop'"),
    ],
)
def test_events_that_are_wrong(folder, text, words):
    with pytest.raises(ModelError) as caught:
        load(folder, PLAIN + '[[event]]\nname = "x"\n' + text)
    assert words in str(caught.value) and caught.value.findings[0].line >= 7


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('kind = "coast"', 'kind = "cost"', "kind is 'cost'"),
        ('kind = "coast"', 'kind = "release"', 'kind "release" has release; here is none'),
        ('kind = "coast"', 'kind = "coast"\ncontrol = { law = "pd" }', "no law acts: leave control out"),
        ('kind = "coast"', 'kind = "attach"', "attaches nothing"),
        ('attach = ["claw"]', 'attach = ["clau"]', "attaches 'clau', which is not held. Did you mean 'claw'"),
        ('name = "claw" }]', 'name = "claw", kind = "point" }]', "attaches 'claw', which is no weld"),
        ('below = "0.1 deg/s"', 'below = "0.1 deg/s", closer_than = 1', "go without a signal"),
        (', below = "0.1 deg/s"', "", "one level: below or above"),
        ('frame = "hub", below', "below", "say of which body or frame"),
        ("joints = { elbow", "joints = { elbw", "no joint 'elbw'"),
        ('name = "turn"', 'name = "turn"\nlimits = "stop"', "unknown key 'limits'"),
        ('kind = "coast"', "[phase.environment.orbit]\naltitude = 3e5", "the orbit is that of the whole run"),
        ('kind = "coast"', '[phase.of.clent.control]\nlaw = "pd"', "no other spacecraft 'clent'. Did you mean"),
        ('law = "wheel_attitude"', 'law = "gyro_attitude", momentum = 1', "gyro_attitude does not follow"),
        ('spacecraft = "servicer.toml"', 'spacecraft = "client.toml"', "two spacecraft are named 'client'"),
    ],
)
def test_phases_that_are_wrong(folder, old, new, words):
    assert old in CAPTURE
    text = CAPTURE.replace(old, new, 1)
    if "[phase." in new:  # keys after a table of their own would be that table's
        text = text.replace(f'{new}\nduration = "1 s"', f'duration = "1 s"\n{new}')
    with pytest.raises(ModelError) as caught:
        load(folder, text)
    assert words in str(caught.value) and all(finding.line for finding in caught.value.findings)


def test_what_bounces_off_is_not_held_and_keeps_its_share(folder):
    """Of the energy that a weld would take, e^2 is given back; momentum stays."""
    text = HEAD + MET + '[[phase]]\nname = "near"\nduration = "0.1 s"\n[[phase]]\nname = "touch"\nduration = "0.2 s"\n'
    text += 'kind = "grasp"\ngrasp = [{ frames = ["tool", "grip"], name = "claw" }]\n'
    held, bounced = (load(folder, text + more).run() for more in ("", "restitution = 0.4\n"))
    lost = [run["touch"].capture.energy_lost for run in (held, bounced)]
    assert lost[1] == pytest.approx((1.0 - 0.4**2) * lost[0], rel=1e-9) and lost[0] > 0.01
    assert [c.title for c in held["touch"].constraints] == ["claw"] and not bounced["touch"].constraints
    h = bounced.trajectory.momentum()
    np.testing.assert_allclose(h, np.broadcast_to(h[0], h.shape), atol=1e-9)
    with pytest.raises(ModelError, match="what is attached does not bounce off"):
        load(folder, text.replace('kind = "grasp"', 'kind = "attach"') + "restitution = 0.4\n")


def test_what_is_held_by_no_base_cannot_be_attached(folder):
    """Both bases float, but what is grasped is a flap of one and the tool of the other."""
    hinge = gs.Joint("hinge", "revolute", "box", (0, 0.3, 0), axis=(1, 0, 0))
    flap = gs.Body("flap", 2.0, com=(0, 0.2, 0), inertia=[0.05, 0.01, 0.05], joint=hinge)
    edge = gs.Frame("edge", "flap", (0.0, 0.4, 0.0))
    gs.save(gs.Spacecraft.build("client", [*client().bodies, flap], frames=[edge]), folder / "flapped.toml")
    text = CAPTURE.replace("client.toml", "flapped.toml").replace('"grip"', '"edge"')
    with pytest.raises(ModelError, match="'stop': attaches 'claw', neither of whose frames is on a base that floats"):
        load(folder, text)


def test_a_craft_without_wheels_cannot_detumble_by_them(folder):
    with pytest.raises(ModelError, match="client has no wheels to detumble by"):
        load(folder, 'spacecraft = "client.toml"\n[[phase]]\nname = "stop"\nkind = "detumble"\nduration = 1\n')


def test_motors_that_no_phase_has_a_law_for_are_refused(folder):
    motor = '[[actuators.motor]]\njoint = "elbow"\nstall_torque = 1.0\n'
    with pytest.raises(ModelError, match="motors act on what a control law asks for, and there is none"):
        load(folder, HEAD + motor + '[[phase]]\nname = "drift"\nduration = 1\n')
    load(folder, HEAD + motor + '[[phase]]\nname = "stop"\nkind = "detumble"\nduration = 1\n')


def test_a_locked_joint_of_one_of_two_craft_stands_still_in_every_phase(folder):
    text = HEAD.replace('spacecraft = "servicer.toml"', 'spacecraft = "servicer.toml"\nlocked = ["elbow"]') + MET
    phases = HOLD + '\n[[waypoint]]\nat = "2 s"\njoints = { shoulder = "25 deg" }\n'
    phases += '\n[[phase]]\nname = "one"\nduration = "1 s"\n\n[[phase]]\nname = "two"\nduration = "1 s"\n'
    run = load(folder, text + phases).run().trajectory
    joints = {name: run.craft.joint_named(name) for name in ("shoulder", "elbow")}
    rates = {name: np.abs(run.v[:, joint.v_at]).max() for name, joint in joints.items()}
    assert rates["elbow"] == 0.0 and rates["shoulder"] > 1e-5
    assert run.audit.worst < 1e-10


def test_prescribed_joints_of_both_craft_follow_their_own_waypoints_through_phases(folder):
    """Joints of one name, in a manoeuvre that goes on through both phases; each quintic ends at rest where it shall."""
    twin = servicer()
    gs.save(gs.Spacecraft.build("twin", twin.bodies, frames=twin.frames), folder / "twin.toml")
    follow = '\n[{0}control]\nlaw = "prescribed"\n[[{0}waypoint]]\nat = "{1} s"\njoints = {{ shoulder = "{2} deg" }}\n'
    text = HEAD + MET.replace("client.toml", "twin.toml").replace("3.5803", "8.0") + "joints = { elbow = 0.3 }\n"
    text += follow.format("", 2, 25) + follow.format("target.", 1.5, -12)
    text += '\n[[phase]]\nname = "one"\nduration = "1 s"\n\n[[phase]]\nname = "two"\nduration = "1 s"\n'
    run = load(folder, text).run().trajectory
    names = [joint.name for joint in run.craft.joints if joint.name.endswith("shoulder")]
    first, second = (np.degrees(run.q[:, run.craft.joint_named(name).q_at.start]) for name in names)
    u = np.clip(run.time / 2, 0, 1), np.clip(run.time / 1.5, 0, 1)
    quintic = [x**3 * (10 - 15 * x + 6 * x * x) for x in u]
    np.testing.assert_allclose(first, 20 + 5 * quintic[0], atol=1e-8)
    np.testing.assert_allclose(second, -12 * quintic[1], atol=1e-8)
    assert run.audit.worst < 1e-10
