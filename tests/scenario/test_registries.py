"""Everything that a scenario file can name: each entry runs from a file, each key is refused when misspelt."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from pydantic import ValidationError

import gyrostat as gs
from gyrostat import control, models, scenario
from gyrostat.control.estimators_in_files import ESTIMATORS
from gyrostat.control.laws_in_files import LAWS
from gyrostat.control.sensors_in_files import OF_THE_STATE, SENSORS
from gyrostat.environment import (
    NRLMSIS,
    Plate,
    Sky,
    Sphere,
    air_drag,
    combined,
    in_gcrf,
    solar_pressure,
    tle_ephemeris,
    two_body_gravity,
    zonal_gravity,
)
from gyrostat.environment.in_files import ENVIRONMENTS
from gyrostat.model import ModelError
from gyrostat.model.entries import Angle, Length, Registry, key
from gyrostat.scenario.entry_tables import entry_table, made

HEAD = 'spacecraft = "craft.toml"\n[run]\nduration = "2 s"\n[start]\nangular_velocity = [0.01, -0.02, 0.015]\n'
ARM = "[start.joints]\nshoulder = 0.4\nelbow = -0.9\nwrist = 0.7\nroll = 0.2\npitch = -0.3\nyaw = 0.5\n"
WHEELS = control.wheel_pyramid("hub", 0.1, max_torque=2.0, max_speed=600.0)
CORNERS = [(s * np.roll([1.0, 0.6, 0.0], k), np.roll([0.0, 0.0, d], k))
    for s in (-1, 1) for k in range(3) for d in (-1, 1)]  # fmt: skip


def hub():
    return gs.Body("hub", 400.0, inertia=[90.0, 110.0, 100.0])


def arm():
    """Six joints, none of whose axes meet."""
    axes = [(0, 0, 1), (0, 1, 0), (0, 1, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    names, parent, bodies = ["shoulder", "elbow", "wrist", "roll", "pitch", "yaw"], "hub", []
    for k, (name, axis) in enumerate(zip(names, axes, strict=True)):
        at = (1.0, 0.1, 0.2) if k == 0 else (0.9 - 0.1 * k, 0.02, 0.0)
        inertia = [0.3, 1.0, 1.1]
        joint = gs.Joint(name, "revolute", parent, at, axis=axis)
        bodies.append(gs.Body(f"link_{k}", 12.0 - k, com=(0.3, 0.01, 0.0), inertia=inertia, joint=joint))
        parent = f"link_{k}"
    return bodies


def craft_of(kind):
    frames = [gs.Frame("tool", "link_5", (0.3, 0.0, 0.0))]
    if kind == "gyros":
        return gs.Spacecraft.build("g", [hub(), *control.gyro_pyramid("hub", 0.1)])
    if kind == "thrusters":
        jets = [gs.Thruster(f"jet_{k}", "hub", p, d, 5.0) for k, (p, d) in enumerate(CORNERS)]
        return gs.Spacecraft.build("t", [hub()], thrusters=jets)
    if kind == "wheels":
        return gs.Spacecraft.build("w", [hub(), *WHEELS])
    return gs.Spacecraft.build("a", [hub(), *arm()], frames=frames)


def run(folder, kind, text, *, head=HEAD):
    gs.save(craft_of(kind), folder / "craft.toml")
    path = folder / "case.toml"
    path.write_text(head + text)
    return scenario.load(path)


CASES = {
    "wheel_attitude": ("wheels", 'attitude = [0, 0, "5 deg"]\nduration = "2 s"'),
    "quaternion_feedback": ("wheels", 'attitude = [0, 0, "5 deg"]\nwheel_speed = "20 rad/s"'),
    "sliding_mode": ("wheels", 'attitude = [0, 0, "5 deg"]\nslope = 0.3\nreach = 0.02\nlayer = 0.01'),
    "b_dot": (
        "wheels",
        'gain = 1e7\ndipole = 100.0\nnoise = 1e-9\n[environment.orbit]\naltitude = "500 km"\nepoch = "2025-03-07"',
    ),
    "gyro_attitude": ("gyros", 'momentum = 10.0\nattitude = [0, 0, "2 deg"]'),
    "thruster_pulses": ("thrusters", 'period = "0.5 s"\nticks = 5'),
    "end_effector": ("arm", 'frame = "tool"\nby = ["5 cm", 0, "-3 cm"]\nduration = "2 s"'),
    "reactionless": ("arm", 'joints = { shoulder = "30 deg" }'),
    "impedance": ("arm", 'frame = "tool"\nmass = 20.0\ndamping = 60.0\nstiffness = 40.0'),
    "adaptive": ("arm", "believed = 0.8"),
    "detumble_by_wheels": ("wheels", "rate = 1.0"),
    "detumble_by_couple": ("wheels", 'limit = "3 N m"'),
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Each law's short run, by name."""
    found = {}
    for name, (kind, keys) in CASES.items():
        work = run(
            tmp_path_factory.mktemp(name), kind, (ARM if kind == "arm" else "") + f'[control]\nlaw = "{name}"\n{keys}\n'
        )
        found[name] = (work, work.simulate(progress=False, rtol=1e-9))
    return found


@pytest.mark.parametrize("name", LAWS)
def test_every_law_runs_from_a_file_and_keeps_the_books(runs, name):
    _, done = runs[name]
    assert done.ok and np.abs(done.signals["tau"].values).max() > 0
    assert all(drift is None or drift < 1e-7 for _, drift in done.audit.rows())


def test_a_frame_on_a_line_arrives(runs):
    _, done = runs["end_effector"]
    p = done.frame("tool")[1]
    assert np.linalg.norm(p[-1] - p[0] - [0.05, 0.0, -0.03]) < 2e-3


def test_wheels_take_the_tumble(runs):
    w = runs["detumble_by_wheels"][1].v[:, :3]
    assert np.linalg.norm(w[-1]) == pytest.approx(np.exp(-2.0) * np.linalg.norm(w[0]), rel=1e-5)


TABLES = {"sensors": "sensors", "estimators": "estimator", "environments": "environment"}
ORBIT = '[environment.orbit]\naltitude = "300 km"\ninclination = "50 deg"\n'
NAMED = {
    "harmonics": "degree = 2",
    "drag": 'surface = [{ body = "hub", area = 4.0 }]',
    "sunlight": 'surface = [{ body = "hub", area = 4.0 }]',
    "third_bodies": 'bodies = ["sun"]',
    "planet_light": 'surface = [{ body = "hub", area = 4.0 }]',
    "field": 'file = "field.gfc"',
    "contact": 'probe = "hub"\nsurface = "N"\nstiffness = 100.0\nradius = "1 m"',
}


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_every_environment_acts_from_a_file(tmp_path, name):
    (tmp_path / "field.gfc").write_text(
        "modelname mine\nearth_gravity_constant 3.986004415e14\nradius 6378136.3\nend_of_head\n"
        "gfc 2 0 -4.84e-4 0\ngfc 2 1 0 0\ngfc 2 2 0 0\n"
    )
    work = run(tmp_path, "thrusters", ORBIT + f"[environment.{name}]\n{NAMED[name]}\n")
    plain = run(tmp_path, "thrusters", ORBIT)
    env, without = (w.options["environment"].wrenches(w.craft, 1.0, w.q0, w.v0) for w in (work, plain))
    assert np.abs(env - without).max() > 1e-12


def test_an_environment_without_an_orbit_is_refused(tmp_path):
    with pytest.raises(ModelError, match="drag acts in an orbit, and there is none"):
        run(tmp_path, "thrusters", f"[environment.drag]\n{NAMED['drag']}\n")


def test_of_an_orbit_with_a_date_sun_air_and_fields_are_the_real_ones(tmp_path):
    """Beside a plate that mirrors, one that gives lift; shade and the Moon's shadow are heard, too."""
    orbit = ORBIT + 'epoch = "2025-03-07"\n'
    plate = (
        'surface = [{ body = "hub", area = 4.0, normal = [1, 0, 0], both_sides = true, accommodation = [0.9, 0.8] }]'
    )
    air = f'[environment.drag]\n{plate}\natmosphere = "nrlmsis"\nf107 = 120.0\nf107a = 120.0\nap = 5.0\n'
    light = f"[environment.sunlight]\n{NAMED['sunlight']}\nmoon = true\n"
    work = run(tmp_path, "thrusters", orbit + air + light)
    found = work.options["environment"].wrenches(work.craft, 1.0, work.q0, work.v0)
    sky = Sky("2025-03-07", 2 * 86400.0)
    place = gs.Orbit.circular(300e3, np.radians(50.0), planet=sky.earth)
    surface = Plate("hub", 4.0, (1, 0, 0), both_sides=True, accommodation=(0.9, 0.8))
    expected = combined(
        two_body_gravity(place), air_drag(place, [surface], NRLMSIS(sky, f107=120.0, f107a=120.0, ap=5.0)),
        solar_pressure(place, [Sphere("hub", 4.0)], sky.sun, moon=sky.moon),
    )  # fmt: skip
    np.testing.assert_allclose(found, expected.wrenches(work.craft, 1.0, work.q0, work.v0), rtol=1e-9)
    with pytest.raises(ModelError, match="nrlmsis needs a date"):
        run(tmp_path, "thrusters", ORBIT + air)
    with pytest.raises(ModelError, match="case.toml:.*sunlight: .*has no shapes"):
        run(tmp_path, "thrusters", ORBIT + f'[environment.sunlight]\n{NAMED["sunlight"]}\nshade = ["hub"]\n')


@pytest.mark.parametrize("name", ["drag", "sunlight", "planet_light"])
@pytest.mark.parametrize("member", [False, True], ids=["alone", "of a formation"])
def test_a_surface_on_a_body_that_bends_is_refused_at_its_line(tmp_path, name, member):
    text = f'{ORBIT}[environment.{name}]\nsurface = [{{ body = "left_wing", area = 4.0 }}]\n[run]\nduration = "2 s"\n'
    craft = '[[member]]\nname = "eye"\nspacecraft = "observer"\n'
    path = tmp_path / "case.toml"
    path.write_text(text + craft if member else 'spacecraft = "observer"\n' + text)
    with pytest.raises(ModelError, match=f"{name}: a surface is on flexible body 'left_wing'") as caught:
        scenario.load(path)
    (finding,) = caught.value.findings
    assert path.read_text().splitlines()[finding.line - 1].startswith((f"[environment.{name}]", "surface"))


def test_an_orbit_from_two_lines_goes_through_their_state(tmp_path):
    """The space station, a day after its elements' epoch."""
    lines = (
        "1 25544U 98067A   19343.69339541  .00001764  00000-0  38792-4 0  9991",
        "2 25544  51.6439 211.2001 0007417  17.6667  85.6398 15.50103472202482",
    )
    text = f'[environment.orbit]\ntle = ["{lines[0]}", "{lines[1]}"]\nepoch = "2019-12-10T16:00:00"\n'
    work = run(tmp_path, "thrusters", text + "[environment.harmonics]\ndegree = 2\n")
    sky = Sky("2019-12-10T16:00:00", 2 * 86400.0)
    state = in_gcrf(tle_ephemeris(*lines, [np.datetime64("2019-12-10T16:00:00")])).states[0]
    place = gs.Orbit.from_state(state[:3], state[3:], planet=sky.earth)
    expected = combined(two_body_gravity(place), zonal_gravity(place, 2)).wrenches(work.craft, 1.0, work.q0, work.v0)
    np.testing.assert_allclose(work.options["environment"].wrenches(work.craft, 1.0, work.q0, work.v0), expected)
    for wrong, words in (
        (text.replace("9991", "9992"), "checksum"),
        (text + 'altitude = "300 km"\n', "tle is two lines"),
        (text.replace(f', "{lines[1]}"', ""), "tle is two lines"),
        (text.replace('"]', f'", "{lines[1]}"]'), "tle is two lines"),
        (text.partition("epoch")[0], "tle is two lines"),
    ):
        with pytest.raises(ModelError, match=words):
            run(tmp_path, "thrusters", wrong)


ASKED = {
    "magnetometer": 'frame = "hub"\nnoise = 1e-8',
    "sun_sensor": 'frame = "hub"\nnoise = 1e-3',
    "sun_cells": 'frame = "hub"\nnormals = [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0]]',
    "horizon": 'frame = "hub"\nfield_of_view = "170 deg"',
    "navigation": 'frame = "hub"\nnoise = 5.0\nfixed = true',
    "accelerometer": 'frame = "tool"\nbias = 0.01',
    "force_torque": 'joint = "wrist"\nnoise = 0.1',
    "camera": 'frame = "hub"\ntarget = "tool"\nfield_of_view = "180 deg"\nfarthest = "20 m"',
    "lidar": 'frame = "hub"\ntarget = "tool"\nfield_of_view = "180 deg"\nbias = 0.01',
}


@pytest.mark.parametrize("name", [name for name in SENSORS if name not in OF_THE_STATE])
def test_readings_that_stand_for_no_state_are_asked_for_by_name(tmp_path, name):
    (tmp_path / "mine.py").write_text(
        "import numpy as np\n\n\n"
        f"def law(craft, t, q, v, *, {name}):\n"
        f"    return np.concatenate([np.zeros(6), 1e-3 * {name}.value[:3], np.zeros(3)])\n"
    )
    gs.save(craft_of("arm"), tmp_path / "craft.toml")
    path = tmp_path / "case.toml"
    dated = ORBIT + 'epoch = "2025-03-07"\n'
    text = HEAD + ARM + dated + '[control]\npython = "mine.py:law"\n[sensors]\nperiod = "0.5 s"\n'
    path.write_text(text + f"[sensors.{name}]\n{ASKED[name]}\n")
    done = scenario.load(path, trust=True).simulate(progress=False)
    assert done.ok and np.abs(done.signals["tau"].values[-1]).max() > 0
    if name not in ("accelerometer", "force_torque", "camera", "lidar"):
        path.write_text(text.replace(dated, "") + f"[sensors.{name}]\n{ASKED[name]}\n")
        with pytest.raises(ModelError, match=f"{name} needs an orbit"):
            scenario.load(path, trust=True)


def test_a_tracker_is_blinded_from_a_file(tmp_path):
    text = ARM + '[control]\nlaw = "reactionless"\njoints = { shoulder = 0.5 }\n[sensors]\nperiod = "0.5 s"\n'
    blind = '[sensors.tracker]\nframe = "hub"\nnoise = "10 arcsec"\nsun = "30 deg"\nlimb = "10 deg"\n'
    work = run(tmp_path, "arm", text + ORBIT + 'epoch = "2025-03-07"\n' + blind)
    assert work.simulate(progress=False).ok
    with pytest.raises(ModelError, match="tracker needs an orbit with a date"):
        run(tmp_path, "arm", text + ORBIT + blind)


@pytest.mark.parametrize("name", OF_THE_STATE)
def test_every_sensor_changes_what_the_law_sees(tmp_path, name):
    """On a craft with an arm and a law that uses attitude, rates, positions: its first load is another one."""
    keys = {
        "tracker": 'noise = "1 deg"',
        "gyro": "bias = [0.1, 0, 0]",
        "encoders": "bias = 0.1",
        "tachometers": "bias = 0.1",
    }
    text = ARM + '[control]\nlaw = "reactionless"\njoints = { shoulder = 0.5 }\n'
    plain = run(tmp_path, "arm", text)
    seen = run(tmp_path, "arm", text + f'[sensors]\nperiod = "0.5 s"\n[sensors.{name}]\n{keys[name]}\n')
    law = plain.options["control"](plain.craft, 0.0, plain.q0, plain.v0)
    read = seen.options["control"].output(seen.craft, 0.0, seen.q0, seen.v0, run=0, sample=0, seed=1)
    assert np.abs(np.asarray(read) - law).max() > 1e-3


@pytest.mark.parametrize(
    "line", ['delay = "1 s"', "every = 3", "lost = 0.5", "scale = [0.1, 0, 0]", "first_bias = 1e-2", "walk = 1e-2",
        "limit = 0.01"],
)  # fmt: skip
def test_every_link_of_the_chain_of_errors_acts_from_a_file(tmp_path, line):
    """What a gyro does to a run, against a perfect one."""
    text = '[control]\nlaw = "detumble_by_wheels"\nrate = 1.0\n[sensors]\nperiod = "0.5 s"\n[sensors.gyro]\n'
    plain, other = (run(tmp_path, "wheels", text + more) for more in ("", line + "\n"))
    ends = [work.simulate(progress=False, rtol=1e-9).v[-1, :3] for work in (plain, other)]
    assert np.abs(ends[1] - ends[0]).max() > 1e-5


def test_motors_hold_a_law_within_what_they_give(tmp_path):
    text = ARM + '[control]\nlaw = "pd"\nbandwidth = "1 Hz"\n[[waypoint]]\nat = "1 s"\njoints = { elbow = 1.0 }\n'
    motor = '[[actuators.motor]]\njoint = "elbow"\nstall_torque = 0.5\n'
    work = run(tmp_path, "arm", text + motor)
    done = work.simulate(progress=False, rtol=1e-7)
    at = work.craft.joint_named("elbow").v_at.start
    assert np.abs(done.signals["command"].values[:, at]).max() == pytest.approx(0.5)
    with pytest.raises(ModelError, match="no joint 'elbo'.*Did you mean 'elbow'"):
        run(tmp_path, "arm", text + motor.replace('"elbow"', '"elbo"'))


# ---- what is wrong


def entries():
    for registry in (LAWS, SENSORS, ESTIMATORS, ENVIRONMENTS):
        for entry in registry.values():
            for field in dataclasses.fields(entry.kind):
                yield pytest.param(registry, entry, field.name, id=f"{entry.name}-{field.name}")


@pytest.mark.parametrize(("registry", "entry", "name"), list(entries()))
def test_every_key_is_refused_when_misspelt_with_the_nearest_name(tmp_path, registry, entry, name):
    wrong = name + "x" if len(name) > 1 else name * 2
    keys = f"{wrong} = 1\n"
    place = f'[control]\nlaw = "{entry.name}"\n' if registry is LAWS else (
        f"[{TABLES[registry.title]}.{entry.name}]\n")  # fmt: skip
    path = tmp_path / "case.toml"
    path.write_text('spacecraft = "servicer"\n[run]\nduration = 1\n' + place + keys)
    with pytest.raises(ModelError) as caught:
        scenario.load(path)
    said = [f for f in caught.value.findings if f.code == "unknown-key"]
    assert len(said) == 1 and wrong in said[0].message and said[0].line == len(path.read_text().splitlines())
    if len(name) > 2:
        assert f"'{name}'" in said[0].hint


def test_a_law_that_is_not_there_is_refused_with_the_nearest(tmp_path):
    with pytest.raises(ModelError, match="Did you mean 'wheel_attitude'"):
        run(tmp_path, "wheels", '[control]\nlaw = "wheel_atitude"\n')


def test_a_law_that_cannot_follow_waypoints_says_so(tmp_path):
    text = (
        ARM
        + '[control]\nlaw = "reactionless"\njoints = { elbow = 1 }\n[[waypoint]]\nat = 1\njoints = { wrist = 0.1 }\n'
    )
    with pytest.raises(ModelError, match="reactionless does not follow waypoints"):
        run(tmp_path, "arm", text)


def test_a_craft_without_what_the_law_needs_is_refused(tmp_path):
    with pytest.raises(ModelError, match="end_effector: .*no body or frame 'tol'"):
        run(tmp_path, "arm", ARM + '[control]\nlaw = "end_effector"\nframe = "tol"\nduration = "1 s"\n')


@pytest.mark.parametrize("registry", [LAWS, SENSORS, ESTIMATORS, ENVIRONMENTS], ids=lambda r: r.title)
def test_every_key_of_every_entry_says_what_it_means(registry):
    for entry in registry.values():
        assert entry.says and all(entry.keys.values()), entry.name
        schema = entry_table(registry, entry).model_json_schema()
        assert all(schema["properties"][key]["description"] for key in entry.keys)


def test_a_table_has_the_keys_of_its_entry_with_their_defaults_and_units():
    registry = Registry("samples", "law")

    @registry.add("sample", "what it is")
    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Sample:
        length: Length = key("How long.")
        turn: Angle = key("How far.", 0.5)
        names: list[str] = key("Whose.", ["a", "b"])
        limit: Angle | None = key("At most.", None)

    Sample.__annotations__ |= {"length": Length, "turn": Angle, "names": list[str], "limit": Angle | None}
    table = entry_table(registry, registry["sample"])
    assert [name for name, field in table.model_fields.items() if field.is_required()] == ["law", "length"]
    assert made(Sample, table(law="sample", length="20 cm")) == Sample(length=0.2)
    assert made(Sample, table(law="sample", length=3.0, turn="180 deg", names=[], limit="90 deg")) == Sample(
        length=3.0, turn=np.pi, names=[], limit=np.pi / 2
    )
    for wrong in ({"law": "sample"}, {"law": "other", "length": 1.0}, {"law": "sample", "length": "3 deg"}):
        with pytest.raises(ValidationError):
            table(**wrong)


def test_bundled_models_are_there():
    assert models.file("servicer").is_file()
